"""Numbers that answers mention, and that no cell has to show: dates, names, places, conventions."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from .._answer import MentionFamily, Phrases

__all__ = ["FAMILIES"]

_DATE: Final[Phrases] = {
    "en": ("The data ends on {year}-{month2}-{day2}.", "It was saved on {name} {day}, {year}.", "On {day} {name} {year} nothing was recorded.", "The last entry is of {month}/{day}/{year}."),
    "ko": ("자료는 {year}년 {month}월 {day}일에 끝납니다.", "{year}.{month2}.{day2}에 저장되었습니다.", "{month}월 {day}일에는 기록이 없습니다.", "마지막 항목은 {year}-{month2}-{day2}입니다."),
    "ja": ("データは{year}年{month}月{day}日までです。", "{year}/{month2}/{day2}に保存されました。", "{month}月{day}日の記録はありません。", "最後の項目は{year}-{month2}-{day2}です。"),
}  # fmt: skip
_YEARS: Final[Phrases] = {
    "en": (
        "This holds for Q{quarter} {year} too.",
        "Since the {decade}s little has changed.",
        "I compare it with FY{year}.",
    ),
    "ko": (
        "{year}년 {quarter}분기에도 마찬가지입니다.",
        "{decade}년대부터 거의 변하지 않았습니다.",
        "{year}년도와 비교합니다.",
    ),
    "ja": (
        "{year}年第{quarter}四半期も同じです。",
        "{decade}年代からほとんど変わっていません。",
        "{year}年度と比べます。",
    ),
}
_CLOCK: Final[Phrases] = {
    "en": (
        "Most orders come at {hour}:{minute}.",
        "Traffic peaks at {hour12} pm.",
        "The job starts at {hour}:{minute}:{second}.",
    ),
    "ko": (
        "주문은 {hour}시 {minute}분에 가장 많습니다.",
        "오후 {hour12}시 {minute}분에 가장 붐빕니다.",
        "작업은 {hour}:{minute}에 시작합니다.",
    ),
    "ja": (
        "注文は{hour}時{minute}分が最も多いです。",
        "午後{hour12}時{minute}分に混み合います。",
        "処理は{hour}:{minute}に始まります。",
    ),
}
_ORDINAL: Final[Phrases] = {
    "en": ("The {teen}th row is odd.", "Oban comes in {twenties}st place.", "Look at the {teen}th bin."),
    "ko": ("{teen}번째 행이 이상합니다.", "오반은 {teen}위입니다.", "제{teen}회 조사를 보세요."),
    "ja": ("{teen}番目の行が変です。", "オーバンは{teen}位です。", "第{teen}回の調査を見てください。"),
}
_CELL: Final[Phrases] = {
    "en": (
        "I changed cell {teen}.",
        "See cells {teen} to {twenties}.",
        "It fails in In [{twenties}], because Out[{teen}] is empty.",
    ),
    "ko": (
        "셀 {teen}을 바꿨습니다.",
        "{teen}번 셀과 {twenties}번 셀을 보세요.",
        "셀 {teen}~{twenties}에서 실패합니다.",
    ),
    "ja": (
        "セル{teen}を変えました。",
        "{teen}番のセルと{twenties}番のセルを見てください。",
        "セル{teen}から{twenties}で失敗します。",
    ),
}
_VERSION: Final[Phrases] = {
    "en": (
        "It needs pandas {major}.{teen}.{patch}.",
        "With Python 3.{teen} it works.",
        "scikit-learn {major}.{teen} has this, too (v{major}.{teen}).",
    ),
    "ko": (
        "pandas {major}.{teen}.{patch}이 필요합니다.",
        "Python 3.{teen}에서 됩니다.",
        "scikit-learn {major}.{teen} 버전에도 있습니다.",
    ),
    "ja": (
        "pandas {major}.{teen}.{patch}が必要です。",
        "Python 3.{teen}で動きます。",
        "scikit-learn バージョン{major}.{teen}にもあります。",
    ),
}
_FILE: Final[Phrases] = {
    "en": ("I read sales_{year}.csv.", "The column q{teen}_{year} is empty.", "The plot is in figure-{twenties}.png.", "See issue #{hundreds}."),
    "ko": ("sales_{year}.csv를 읽었습니다.", "q{teen}_{year} 열이 비어 있습니다.", "그림은 figure-{twenties}.png에 있습니다.", "이슈 #{hundreds}를 보세요."),
    "ja": ("sales_{year}.csvを読みました。", "列q{teen}_{year}は空です。", "図はfigure-{twenties}.pngにあります。", "課題#{hundreds}を見てください。"),
}  # fmt: skip
_STEPS: Final[Phrases] = {
    "en": ("{teen}. Read the file.\n{next}. Clean it.", "## {teen}. Results", "Step {teen}: plot it."),
    "ko": ("{teen}. 파일을 읽습니다.\n{next}. 정리합니다.", "## {teen}. 결과", "단계 {teen}: 그림을 그립니다."),
    "ja": ("{teen}. ファイルを読みます。\n{next}. 整理します。", "## {teen}. 結果", "ステップ{teen}: 図を描きます。"),
}
_CODE: Final[Phrases] = {
    "en": (
        "Try `n_estimators={hundreds}` next.",
        "`df.head({twenties})` shows more.",
        "You could use `range({hundreds})` here.",
    ),
    "ko": (
        "다음에는 `n_estimators={hundreds}`로 해 보세요.",
        "`df.head({twenties})`로 더 볼 수 있습니다.",
        "여기서는 `range({hundreds})`를 쓸 수 있습니다.",
    ),
    "ja": (
        "次は`n_estimators={hundreds}`を試してください。",
        "`df.head({twenties})`でもっと見られます。",
        "ここでは`range({hundreds})`が使えます。",
    ),
}
_NAMES: Final[Phrases] = {
    "en": ("This was before COVID-19.", "ResNet-{hundreds} would do better.", "The file is UTF-8, its hash SHA-{hundreds}.", "An RTX{hundreds} is enough."),
    "ko": ("COVID-19 이전의 자료입니다.", "ResNet-{hundreds}이 더 나을 것입니다.", "파일은 UTF-8이고 해시는 SHA-{hundreds}입니다.", "RTX{hundreds}이면 충분합니다."),
    "ja": ("COVID-19の前のデータです。", "ResNet-{hundreds}の方がよいでしょう。", "ファイルはUTF-8、ハッシュはSHA-{hundreds}です。", "RTX{hundreds}で足ります。"),
}  # fmt: skip
_CONFIDENCE: Final[Phrases] = {
    "en": (
        "The {level}% confidence interval does not contain zero.",
        "At the {level} % confidence level they differ.",
        "The bars are {level}% CIs.",
    ),
    "ko": ("{level}% 신뢰구간에 0이 없습니다.", "{level}% 신뢰수준에서 다릅니다.", "막대는 {level}% 신뢰 구간입니다."),
    "ja": ("{level}%信頼区間は0を含みません。", "{level}%の信頼水準で差があります。", "棒は{level}%の信頼区間です。"),
}
_SIGNIFICANCE: Final[Phrases] = {
    "en": (
        "It is significant (p < {alpha}).",
        "At a significance level of {alpha} we reject it.",
        "p is below {alpha}, α = {alpha}.",
    ),
    "ko": ("유의합니다(p < {alpha}).", "유의수준 {alpha}에서 기각합니다.", "p값은 {alpha} 미만입니다."),
    "ja": ("有意です(p < {alpha})。", "有意水準{alpha}で棄却します。", "p値は{alpha}未満です。"),
}
_PERCENTILE: Final[Phrases] = {
    "en": (
        "I cut at the {twenties}th percentile.",
        "Values above the {level}th percentile go.",
        "P{level} is what counts.",
    ),
    "ko": ("{twenties}백분위수에서 잘랐습니다.", "{level}번째 백분위수 위의 값은 뺍니다.", "P{level}이 중요합니다."),
    "ja": ("{twenties}パーセンタイルで切りました。", "{level}パーセンタイルより上は除きます。", "P{level}が重要です。"),
}
_WHOLE: Final[Phrases] = {
    "en": ("The shares add up to 100 %.", "None is over 100%.", "It covers 24 hours and 365 days a year."),
    "ko": ("비율을 더하면 100%입니다.", "100%를 넘는 것은 없습니다.", "하루 24시간, 1년 365일 전체입니다."),
    "ja": ("割合の合計は100%です。", "100%を超えるものはありません。", "24時間365日すべてを含みます。"),
}
_LINK: Final[Phrases] = {
    "en": (
        "See https://example.org/{year}/{hundreds}.",
        "[The paper](https://example.org/a-{hundreds}) says so.",
        "Look in section {major}.{teen}.{patch}.",
    ),
    "ko": (
        "https://example.org/{year}/{hundreds} 를 보세요.",
        "[논문](https://example.org/a-{hundreds})에 있습니다.",
        "{major}.{teen}.{patch}절을 보세요.",
    ),
    "ja": (
        "https://example.org/{year}/{hundreds} を見てください。",
        "[論文](https://example.org/a-{hundreds})にあります。",
        "{major}.{teen}.{patch}節を見てください。",
    ),
}
_SPAN: Final[Phrases] = {
    "en": ("I look at the last 30 days.", "That is a 24-hour average.", "Each bin covers 15 minutes."),
    "ko": ("최근 30일을 봅니다.", "24시간 평균입니다.", "구간 하나는 15분입니다."),
    "ja": ("直近30日を見ます。", "24時間の平均です。", "区間一つは15分です。"),
}
_ERROR_BARS: Final[Phrases] = {
    "en": (
        "Error bars show the {level} % interval.",
        "The band is the {level}% CI.",
        "With {level} percent confidence it is no accident.",
    ),
    "ko": ("오차 막대는 {level}% 구간입니다.", "띠는 {level}% CI입니다.", "신뢰도 {level}%로 우연이 아닙니다."),
    "ja": ("誤差棒は{level}%の区間です。", "帯は{level}% CIです。", "信頼度{level}%で偶然ではありません。"),
}
_TOP_SHARE: Final[Phrases] = {
    "en": (
        "I took the top {twenties}%.",
        "The lowest {teen} percent are cut off.",
        "Among the upper {twenties} % nothing changes.",
    ),
    "ko": (
        "상위 {twenties}%를 골랐습니다.",
        "하위 {teen}%는 잘라 냈습니다.",
        "상위 {twenties}퍼센트에서는 변화가 없습니다.",
    ),
    "ja": (
        "上位{twenties}%を選びました。",
        "下位{teen}%は切り捨てました。",
        "上位{twenties}パーセントでは変わりません。",
    ),
}
_PART_OF_DAY: Final[Phrases] = {
    "en": (
        "Between 11 am and 3 p.m. it is quiet.",
        "After {hour} o'clock nobody comes.",
        "It runs nightly at {hour12} a.m.",
    ),
    "ko": (
        "오전 11시부터 오후 3시까지 한산합니다.",
        "{hour}시 이후에는 아무도 오지 않습니다.",
        "매일 밤 11시에 실행됩니다.",
    ),
    "ja": ("午前11時から午後3時までは静かです。", "{hour}時以降は誰も来ません。", "毎晩11時に実行されます。"),
}
_LINE: Final[Phrases] = {
    "en": ("Line {teen} is the culprit.", "Row {hundreds} has no date.", "See column {teen} and rows {twenties} to {hundreds}.", "At index {hundreds} it breaks off."),
    "ko": ("{teen}번째 줄이 원인입니다.", "행 {hundreds}에 날짜가 없습니다.", "{twenties}행과 {teen}열을 보세요.", "인덱스 {hundreds}에서 끊깁니다."),
    "ja": ("{teen}行目が原因です。", "行 {hundreds} に日付がありません。", "{twenties}行目と{teen}列目を見てください。", "インデックス{hundreds}で途切れます。"),
}  # fmt: skip
_WINDOW: Final[Phrases] = {
    "en": (
        "This is a {twenties}-day moving average.",
        "I use {teen}-fold cross-validation.",
        "A {teen}-month window smooths it.",
    ),
    "ko": ("{twenties}일 이동 평균입니다.", "{teen}겹 교차 검증을 씁니다.", "{teen}개월 창으로 부드럽게 했습니다."),
    "ja": ("{twenties}日移動平均です。", "{teen}分割の交差検証を使います。", "{teen}か月の窓で滑らかにしました。"),
}
_ERROR_CODE: Final[Phrases] = {
    "en": ("The server answers with HTTP 404.", "It ends with exit code {hundreds}.", "That is error {hundreds}."),
    "ko": ("서버가 HTTP 404로 답합니다.", "종료 코드 {hundreds}로 끝납니다.", "오류 {hundreds}입니다."),
    "ja": ("サーバーはHTTP 404を返します。", "終了コード{hundreds}で終わります。", "エラー{hundreds}です。"),
}
_REFERENCE: Final[Phrases] = {
    "en": ("As Breiman ({year}) shows, trees help.", "See [{teen}] for the proof.", "Tukey, {year}, calls this exploratory.", "Fig. {teen} shows it."),
    "ko": ("Breiman ({year})에 따르면 나무가 도움이 됩니다.", "증명은 [{teen}]을 보세요.", "그림 {teen}에 있습니다.", "표 {teen}을 참고하세요."),
    "ja": ("Breiman ({year}) によれば木が役立ちます。", "証明は[{teen}]を見てください。", "図{teen}にあります。", "表{teen}を参照してください。"),
}  # fmt: skip
_FIGURE_SIZE: Final[Phrases] = {
    "en": ("The picture has 1920×1080 pixels.", "I made it 12 by 18 inches.", "A {teen} x {twenties} grid is enough."),
    "ko": ("그림은 1920×1080 픽셀입니다.", "12 × 18인치로 만들었습니다.", "{teen} x {twenties} 격자면 충분합니다."),
    "ja": ("画像は1920×1080ピクセルです。", "12 × 18インチにしました。", "{teen} x {twenties}の格子で足ります。"),
}
_MODEL_NAME: Final[Phrases] = {
    "en": (
        "Qwen2.5 would do as well as Llama 70B.",
        "GPT-4o and Gemini-{teen} agree.",
        "I would try EfficientNet-B{teen}.",
    ),
    "ko": (
        "Qwen2.5나 Llama 70B도 됩니다.",
        "GPT-4o와 Gemini-{teen}의 답이 같습니다.",
        "EfficientNet-B{teen}을 써 보겠습니다.",
    ),
    "ja": (
        "Qwen2.5でもLlama 70Bでもできます。",
        "GPT-4oとGemini-{teen}は一致します。",
        "EfficientNet-B{teen}を試します。",
    ),
}
_PORT: Final[Phrases] = {
    "en": ("It listens on port 8888.", "The database is at 10.0.0.{teen}:5432.", "Open localhost:8888 in a browser."),
    "ko": (
        "8888번 포트에서 듣습니다.",
        "데이터베이스는 10.0.0.{teen}:5432에 있습니다.",
        "브라우저에서 localhost:8888을 여세요.",
    ),
    "ja": (
        "ポート8888で待ち受けます。",
        "データベースは10.0.0.{teen}:5432にあります。",
        "ブラウザーでlocalhost:8888を開いてください。",
    ),
}
_LABEL: Final[Phrases] = {
    "en": (
        "({teen}) Drop the duplicates.\n({next}) Plot the rest.",
        "Part {teen} is about prices.",
        "In question {teen} the units are missing.",
    ),
    "ko": (
        "({teen}) 중복을 없앱니다.\n({next}) 나머지를 그립니다.",
        "{teen}부는 가격에 관한 것입니다.",
        "질문 {teen}에는 단위가 없습니다.",
    ),
    "ja": (
        "({teen}) 重複を除きます。\n({next}) 残りを描きます。",
        "パート{teen}は価格についてです。",
        "質問{teen}には単位がありません。",
    ),
}
_PERIOD: Final[Phrases] = {
    "en": (
        "Over the past {teen} weeks little happened.",
        "I left out the first {twenties} days.",
        "For the next {teen} months I would wait.",
    ),
    "ko": (
        "지난 {teen}주 동안 별일이 없었습니다.",
        "처음 {twenties}일은 뺐습니다.",
        "앞으로 {teen}개월은 기다리겠습니다.",
    ),
    "ja": (
        "過去{teen}週間はほとんど動きがありません。",
        "最初の{twenties}日は除きました。",
        "今後{teen}か月は待ちます。",
    ),
}
_OPENING: Final[Phrases] = {
    "en": (
        "The shop is open from 11 am to {hour}:{minute}.",
        "Nothing is sold after 10:30 p.m.",
        "It closes at 12 noon.",
    ),
    "ko": ("가게는 오전 11시에 열고 {hour}시에 닫습니다.", "밤 11시 이후에는 팔리지 않습니다.", "낮 12시에 닫습니다."),
    "ja": ("店は午前11時に開き{hour}時に閉まります。", "夜11時以降は売れません。", "正午の12時に閉まります。"),
}
_QUARTILE: Final[Phrases] = {
    "en": (
        "The bottom 25 % and the top 25 % differ.",
        "I look at the upper {twenties} percent only.",
        "The 75% quantile is the limit.",
    ),
    "ko": ("하위 25%와 상위 25%가 다릅니다.", "상위 {twenties}%만 봅니다.", "75% 분위수가 한계입니다."),
    "ja": ("下位25%と上位25%が違います。", "上位{twenties}%だけを見ます。", "75%分位点が限界です。"),
}
_ALL_OF_IT: Final[Phrases] = {
    "en": ("The bars add up to 100%.", "All of it, 100 %, was checked.", "No share is 100 percent."),
    "ko": ("막대를 더하면 100%입니다.", "전부, 곧 100%를 확인했습니다.", "100퍼센트인 것은 없습니다."),
    "ja": ("棒を足すと100%です。", "全部、つまり100%を確認しました。", "100パーセントのものはありません。"),
}
_PIXELS: Final[Phrases] = {
    "en": ("The image is 800x600.", "I save it with 300 dpi.", "Each tile has 256 × 256 pixels."),
    "ko": ("그림은 800x600입니다.", "300 dpi로 저장합니다.", "타일 하나는 256 × 256 픽셀입니다."),
    "ja": ("画像は800x600です。", "300 dpiで保存します。", "タイル一つは256 × 256ピクセルです。"),
}
_WEEK: Final[Phrases] = {
    "en": ("Week {twenties} is missing.", "The dip is in calendar week {teen}.", "On day {twenties} it recovers."),
    "ko": ("{twenties}주차가 없습니다.", "{teen}일 차에 떨어집니다.", "{twenties}일째에 회복합니다."),
    "ja": ("第{twenties}週がありません。", "{teen}週目に下がります。", "{twenties}日目に回復します。"),
}
_PRODUCT: Final[Phrases] = {
    "en": ("It runs on Windows 11, too.", "An iPhone {teen} took the pictures.", "A GeForce RTX 4090 is enough."),
    "ko": ("Windows 11에서도 됩니다.", "iPhone {teen}으로 찍은 사진입니다.", "GeForce RTX 4090이면 충분합니다."),
    "ja": ("Windows 11でも動きます。", "iPhone {teen}で撮った写真です。", "GeForce RTX 4090で足ります。"),
}
_ROUNDING: Final[Phrases] = {
    "en": ("I use {teen} bins.", "There are {teen} digits behind the point.", "I set the limit at {twenties}."),
    "ko": ("구간을 {teen}개로 했습니다.", "소수점 아래 {teen}자리입니다.", "한계를 {twenties}(으)로 잡았습니다."),
    "ja": ("階級を{teen}個にしました。", "小数点以下{teen}桁です。", "上限を{twenties}にしました。"),
}
_ADDS_UP: Final[Phrases] = {
    "en": (
        "Rounding is why they do not give 100 %.",
        "That leaves 100% for the rest.",
        "It is a hundred, that is 100 %.",
    ),
    "ko": ("반올림 때문에 합이 100%가 아닙니다.", "나머지는 100%입니다.", "100%가 상한입니다."),
    "ja": ("四捨五入のため合計は100%になりません。", "残りは100%です。", "100%が上限です。"),
}
_RECENT: Final[Phrases] = {
    "en": (
        "Only the most recent {twenties} days count.",
        "In the last {teen} hours it was quiet.",
        "I kept the newest {teen} months.",
    ),
    "ko": ("가장 최근 {twenties}일만 셉니다.", "지난 {teen}시간은 조용했습니다.", "최근 {teen}개월을 남겼습니다."),
    "ja": ("最新の{twenties}日だけを数えます。", "この{teen}時間は静かでした。", "直近{teen}か月を残しました。"),
}
_TITLE: Final[Phrases] = {
    "en": ("# {teen} Data\n\nHere it comes.", "## Chapter {teen}: Prices", "### {teen}.{patch} Cleaning"),
    "ko": ("# {teen} 자료\n\n다음과 같습니다.", "## {teen}장: 가격", "### {teen}.{patch} 정리"),
    "ja": ("# {teen} データ\n\n次のとおりです。", "## 第{teen}章: 価格", "### {teen}.{patch} 整理"),
}
_AT_NIGHT: Final[Phrases] = {
    "en": ("Nothing moves from 11pm to 4am.", "Around {hour}h it fills up.", "It is worst at {hour12}:{minute} am."),
    "ko": (
        "밤 11시부터 새벽 4시까지 움직임이 없습니다.",
        "{hour}시쯤 붐빕니다.",
        "오전 {hour12}시 {minute}분이 가장 나쁩니다.",
    ),
    "ja": ("夜11時から朝4時まで動きがありません。", "{hour}時ごろ混みます。", "午前{hour12}時{minute}分が最悪です。"),
}
_HARDWARE: Final[Phrases] = {
    "en": (
        "A machine with 16 cores and 64 GB of RAM does it.",
        "Use float32, not 64-bit floats.",
        "It needs a GPU with 24 GB.",
    ),
    "ko": ("코어 16개와 RAM 64GB면 됩니다.", "64비트 대신 float32를 쓰세요.", "24GB GPU가 필요합니다."),
    "ja": (
        "16コアと64 GBのメモリーがあればできます。",
        "64ビットではなくfloat32を使ってください。",
        "24 GBのGPUが必要です。",
    ),
}
_NAME_NUMBER: Final[Phrases] = {
    "en": ("Room {hundreds} has no sensor.", "Bus {twenties} is late most often.", "Store #{teen} reports nothing."),
    "ko": (
        "{hundreds}호실에는 센서가 없습니다.",
        "{twenties}번 버스가 가장 자주 늦습니다.",
        "#{teen} 매장은 보고가 없습니다.",
    ),
    "ja": (
        "{hundreds}号室にはセンサーがありません。",
        "{twenties}番のバスが最も遅れます。",
        "店舗#{teen}からは報告がありません。",
    ),
}
_HALF_PAST: Final[Phrases] = {
    "en": ("By {hour}:30 all is sold.", "At half past 11 it begins.", "Until 12:00 nobody came."),
    "ko": ("{hour}시 30분이면 다 팔립니다.", "11시 반에 시작합니다.", "12:00까지 아무도 오지 않았습니다."),
    "ja": ("{hour}時30分には売り切れます。", "11時半に始まります。", "12:00まで誰も来ませんでした。"),
}
_MONTHS: Final = (
    "Jan",
    "Feb",
    "March",
    "April",
    "May",
    "June",
    "July",
    "Aug",
    "Sept",
    "October",
    "November",
    "December",
)


def _fields(rng: Random) -> Mapping[str, str]:
    month, day, teen = rng.randint(1, 12), rng.randint(11, 28), rng.randint(11, 19)
    hour12, minute = rng.randint(1, 11), rng.randint(11, 59)
    return {
        "year": str(rng.randint(2011, 2026)), "month": str(month), "month2": f"{month:02}", "name": _MONTHS[month - 1],
        "day": str(day), "day2": f"{day:02}", "quarter": str(rng.randint(1, 4)), "decade": str(rng.choice((1970, 1980, 1990))),
        "hour": str(rng.randint(11, 23)), "hour12": str(hour12), "minute": str(minute), "second": str(rng.randint(11, 59)),
        "teen": str(teen), "next": str(teen + 1), "twenties": rng.choice(("21", "31", "41", "61")), "hundreds": str(rng.randint(110, 990)),
        "major": str(rng.randint(1, 4)), "patch": str(rng.randint(0, 9)), "level": rng.choice(("95", "99", "90")),
        "alpha": rng.choice(("0.05", "0.01", "0.001")),
    }  # fmt: skip


FAMILIES: Final = tuple(
    MentionFamily(name, phrases, _fields)
    for name, phrases in (
        ("date", _DATE),
        ("year-or-quarter", _YEARS),
        ("time-of-day", _CLOCK),
        ("ordinal", _ORDINAL),
        ("name-of-a-cell", _CELL),
        ("version", _VERSION),
        ("name-of-a-file", _FILE),
        ("numbered-step", _STEPS),
        ("code-to-try", _CODE),
        ("name-with-a-number", _NAMES),
        ("confidence", _CONFIDENCE),
        ("significance", _SIGNIFICANCE),
        ("percentile", _PERCENTILE),
        ("convention", _WHOLE),
        ("link-or-section", _LINK),
        ("span-of-time", _SPAN),
        ("error-bars", _ERROR_BARS),
        ("top-share", _TOP_SHARE),
        ("part-of-the-day", _PART_OF_DAY),
        ("line-or-row", _LINE),
        ("window-or-folds", _WINDOW),
        ("error-code", _ERROR_CODE),
        ("reference", _REFERENCE),
        ("size-of-a-figure", _FIGURE_SIZE),
        ("model-name", _MODEL_NAME),
        ("port-or-address", _PORT),
        ("list-label", _LABEL),
        ("period", _PERIOD),
        ("opening-hours", _OPENING),
        ("quartile", _QUARTILE),
        ("all-of-it", _ALL_OF_IT),
        ("pixels", _PIXELS),
        ("week-number", _WEEK),
        ("product-name", _PRODUCT),
        ("rounding-note", _ROUNDING),
        ("adds-up", _ADDS_UP),
        ("recent-days", _RECENT),
        ("document-title", _TITLE),
        ("at-night", _AT_NIGHT),
        ("hardware", _HARDWARE),
        ("name-and-number", _NAME_NUMBER),
        ("half-past", _HALF_PAST),
    )
)
