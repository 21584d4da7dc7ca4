"""Japanese conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .wordings import FactKind, FactWording, Language, Preference, Project

__all__ = ["JAPANESE"]

_PROJECTS: Final = (
    Project("解約予測", "契約履歴", "churn_jp", {
        "keiyaku_m": "契約からの月数", "ryokin_cd": "料金プランのコード", "login_last": "最後にログインした日", "ltv_yen": "顧客の生涯価値",
    }, ("佐藤さん", "鈴木さん")),
    Project("中古マンション価格", "成約データ", "mansion", {
        "area_m2": "専有面積", "kai": "何階か", "built_y": "築年", "walk_min": "駅までの徒歩時間",
    }, ("高橋さん", "田中さん")),
    Project("来店客数予測", "レジの記録", "visitors", {
        "v_cnt": "一時間ごとの来店者数", "tmp_feel": "体感温度", "is_hol": "休日かどうか", "promo_id": "実施中の販促",
    }, ("伊藤さん", "渡辺さん")),
    Project("不正決済検知", "決済ログ", "fraud_jp", {
        "kingaku_z": "標準化した金額", "gyoshu": "加盟店の業種", "no_card": "カードが手元にない取引か", "kaisu_day": "一日の利用回数",
    }, ("山本さん", "中村さん")),
    Project("設備の故障予測", "振動センサーの記録", "machine", {
        "vib_rms": "振動の大きさ", "oil_t": "油の温度", "run_h": "前回の点検からの運転時間", "alarm_n": "警報の回数",
    }, ("小林さん", "加藤さん")),
    Project("問い合わせ分類", "問い合わせ履歴", "inquiry", {
        "kaiketsu_h": "解決までの時間", "kinkyu": "緊急度", "madoguchi": "どの窓口に来たか", "saikai_n": "再び開かれた回数",
    }, ("吉田さん", "山田さん")),
)  # fmt: skip

_TUNED: Final[Mapping[FactKind, FactWording]] = {
    "path": FactWording(
        ("{subject}の{data}は{path}にあります。", "{subject}用の{data}を{path}に置いたので、そこから読んでください。"),
        ("{subject}の{data}はどこにありますか?", "{subject}の{data}のファイルはどこでしたっけ?"),
        ("{subject}の{data}を移しました。今は{path}にあります。", "{subject}の古いファイルはもう使わず、{data}は{path}から読んでください。"),
    ),
    "column": FactWording(
        ("{subject}では{column}は{meaning}です。", "{data}の{column}には{meaning}が入っているので注意してください。"),
        ("{meaning}を表す列はどれですか?", "{column}は何の意味ですか?", "{subject}のデータで{meaning}はどの列にありますか?"),
    ),
    "metric": FactWording(
        ("{subject}のモデルは{metric}で評価しましょう。{reason}。", "{subject}の評価指標は{metric}に決めました。{reason}。"),
        ("{subject}のモデルは何で評価していますか?", "{subject}の評価指標は何でしたか?"),
        ("方針が変わり、{subject}は今後{metric}で評価します。", "見直しの結果、{subject}の評価指標を{metric}に変更しました。"),
    ),
    "model": FactWording(
        ("{subject}には{model}を使うことにしました。", "{subject}のモデルは{model}に決定です。"),
        ("{subject}にはどのモデルを使うことにしましたか?", "{subject}のモデルは何でしたっけ?"),
        ("{subject}のモデルを{model}に切り替えます。", "{subject}は前のモデルをやめて、今は{model}を使います。"),
    ),
    "missing": FactWording(
        ("{subject}の{column}の欠損値は{missing}ください。", "{column}が空のときは{missing}ください({subject})。"),
        ("{column}の欠損値はどう処理するんでしたか?", "{subject}で{column}が空のときはどうしますか?"),
    ),
    "deadline": FactWording(
        ("{subject}の報告書は{day}が締め切りです。", "{subject}の発表は{day}にあります。"),
        ("{subject}の報告書の締め切りはいつですか?", "{subject}の発表はいつでしたか?"),
        ("{subject}の報告書の締め切りは{day}に延びました。", "{subject}の発表は{day}に変わりました。"),
    ),
    "result": FactWording(
        ("{subject}で{variant}の結果は{number}でした。", "{subject}の記録:{variant}、{number}。"),
        ("{subject}で{variant}の精度はいくつでしたか?", "{variant}のとき{subject}の結果はどうでしたか?"),
    ),
    "split": FactWording(
        ("{subject}のデータは{split}分けてください。", "{subject}は{split}分割したいです。"),
        ("{subject}の学習用とテスト用はどう分けていますか?", "{subject}のデータの分割方法は何でしたか?"),
    ),
    "dropped": FactWording(
        ("{subject}の特徴量から{column}は外してください。{reason}。", "{subject}では{column}を使わないことにしました。{reason}。"),
        ("{subject}ではどの特徴量を外しましたか?", "{column}はなぜ特徴量に入っていないのですか?"),
    ),
    "threshold": FactWording(
        ("{subject}は予測値が{threshold}を超えたら対応します。", "{subject}のしきい値は{threshold}にしてください。"),
        ("{subject}のしきい値はいくつですか?", "{subject}は予測値がいくつを超えたら対応しますか?"),
    ),
    "person": FactWording(
        ("{data}は{person}の担当なので、{subject}の質問はそちらへ。", "{data}がおかしいときは{person}が助けてくれます({subject})。"),
        ("{data}の担当は誰ですか?", "{subject}のデータに問題があるときは誰に聞けばいいですか?"),
    ),
}  # fmt: skip

_HELD_OUT: Final[Mapping[FactKind, FactWording]] = {
    "path": FactWording(
        ("{subject}の{data}を読み込むときは{path}を使ってください。", "{path}が{subject}に必要な{data}です。"),
        ("{subject}の{data}をどこから読み込めばいい?", "{subject}の資料の保存場所を教えて"),
        ("{subject}の{data}の置き場所が新しくなりました、{path}です。", "今日から{subject}の{data}は{path}から読み込んでください。"),
    ),
    "column": FactWording(
        ("ちなみに{subject}の{column}という項目は{meaning}のことです。", "{column}を見れば{meaning}がわかります。{data}での話ですが。"),
        ("{subject}の{column}って何", "{meaning}がわかる項目を探して", "{column} 意味"),
    ),
    "metric": FactWording(
        ("{subject}で大事なのは{metric}です。{reason}。", "上司が{subject}は{metric}で報告してほしいそうです。{reason}。"),
        ("{subject}はどのスコアで報告すればいい?", "{subject}で大事にしている基準"),
        ("{subject}で大事なのは、これからは{metric}です。", "上司がやはり{subject}は{metric}で報告してほしいそうです。"),
    ),
    "model": FactWording(
        ("{subject}は{model}で作ってください。", "{subject}は{model}が一番安定しているので、それで行きます。"),
        ("{subject}のアルゴリズムは何だっけ", "{subject}をどんなモデルで作ったかもう一度教えて"),
        ("{subject}は{model}で作り直してください。", "{subject}は{model}で行きます。先のものは本番で遅すぎました。"),
    ),
    "missing": FactWording(
        ("{subject}の{column}の空欄は{missing}いただけますか。", "{column}がNaNなら{missing}ほしいです({subject})。"),
        ("{column} NaN 処理", "{column}の空欄をどうしたいと言ったっけ?"),
    ),
    "deadline": FactWording(
        ("{subject}は{day}までに終わらせる必要があります。", "{subject}の結果を{day}に渡す約束です。"),
        ("{subject}はいつまでにやればいい?", "{subject}の結果はいつ渡す約束だっけ"),
        ("{subject}は{day}までに終わらせれば大丈夫です。", "{subject}の結果を渡す約束は{day}になりました。"),
    ),
    "result": FactWording(
        ("{subject}に{variant}を入れたら{number}になりました。", "{subject}のメモ:{variant}で{number}。"),
        ("{subject} {variant} スコア", "{variant}で{subject}はどこまで行った?"),
    ),
    "split": FactWording(
        ("{subject}の検証は{split}お願いします。", "{subject}の検証データは{split}作ります。"),
        ("{subject}の検証はどうやっている?", "{subject}の検証データをどう作れと言ったっけ"),
    ),
    "dropped": FactWording(
        ("{subject}に{column}は入れないでください。{reason}。", "{column}は{subject}のモデルに入ってはいけません。{reason}。"),
        ("{subject}のモデルに入れてはいけないものは?", "{column}は使っていい?"),
    ),
    "threshold": FactWording(
        ("{subject}は{threshold}以上ならすべて印を付けてください。", "{threshold}から{subject}の通知を出します。"),
        ("{subject}は確率がいくつから通知を出す?", "{subject} 基準値"),
    ),
    "person": FactWording(
        ("{subject}の{data}は{person}が集めました。", "{data}を直す前に{person}に声をかけてください。"),
        ("{data}を集めたのは誰?", "{data} 連絡先"),
    ),
}  # fmt: skip

JAPANESE: Final = Language(
    code="ja",
    projects=_PROJECTS,
    tuned=_TUNED,
    held_out=_HELD_OUT,
    preferences=(
        Preference("グラフはいつも色覚に配慮した色で描いてください。", "グラフは色覚に配慮した色で描く。", "{subject}の月ごとの合計をグラフにして。"),
        Preference("説明は二文以内でお願いします。", "説明は二文以内。", "混同行列は{subject}では何を意味しますか?"),
        Preference("# keep と書いたセルには絶対に触らないでください。", "# keep のセルは変更しない。", "{subject}のノートブックを整理して。"),
        Preference("できるだけ pandas ではなく polars を使ってください。", "pandas より polars を使う。", "{data}を月ごとに集計して。"),
        Preference("コメントは日本語で書いてください。", "コードのコメントは日本語で書く。", "{data}を整える関数を書いて。"),
    ),
    requests=(
        "{column}を時系列で描いて。", "KeyError: '{column}' になるので直してください。", "{subject}の{column}のヒストグラムを見せて。",
        "{subject}のノートブックはなぜこんなに遅いの?", "{data}を読むセルの上に見出しを付けて。", "{data}の最初の数行を見せて。",
        "{column}が0の行はいくつ?", "df2という変数名は紛らわしいので変えて。", "{column}と{other}に相関はある?",
        "{subject}の前処理のテストを書いて。", "{subject}の簡単なベースラインを動かしてみて。", "{data}のメモリ使用量は?",
        "{data}の重複行を探して。", "この pandas の警告を説明して。", "{subject}の各分割のスコアを表にして。",
    ),
    replies=(
        "描きました。{column}には外れ値がいくつかあります。", "セルを直しました。動きます。", "{data}は48,213行17列です。",
        "見出しを付け、import を先頭に移しました。", "相関は弱いです。{other}も見ますか?", "行ごとのループが遅かったので、ベクトル演算にしました。",
        "{subject}のベースラインを動かしましたが、分割ごとの差が大きいので参考程度に。", "重複312行を削除しました。",
    ),
    confirmations=("わかりました。そうします。", "はい、覚えておきます。", "はい、{subject}に反映します。"),
    asked_on_day=("{day}に{subject}で何をしましたか?", "{day}に{subject}について何を聞きましたか?"),
    asked_relative=("先週{subject}で何をしましたか?", "{subject} 先週の作業"),
    titles=("{subject}を調べる", "{subject}のデータ整理", "{subject}のモデル", "{subject}の次の作業"),
    values={
        "metric": ("PR AUC", "再現率", "MAPE", "対数損失", "F2 スコア", "平均絶対誤差"),
        "reason": ("クラスの偏りが大きいからです", "外れ値に引っ張られるからです", "正解が漏れるからです", "法務部の依頼です", "顧客にわかりやすいからです"),
        "model": ("LightGBM", "ロジスティック回帰", "CatBoost", "ランダムフォレスト", "XGBoost", "小さなニューラルネット"),
        "missing": ("中央値で埋めて", "-1にして", "行ごと削除して", "前日の値で埋めて", "近傍法で補って"),
        "split": ("時系列で最後の四半期を取り分けて", "同じ顧客が両側に入らないように", "層化5分割で", "シード7の無作為で8対2に"),
        "variant": ("最初のベースライン", "ターゲットエンコーディング", "ラグ特徴量", "早期終了", "対数変換"),
    },
    day="{month}月{day}日",
)  # fmt: skip
