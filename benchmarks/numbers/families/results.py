"""Ways to write a number that a cell has shown."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pandas as pd

from benchmarks.errands import Language

from .._answer import Phrases, ResultFamily, ShownCell, Written
from .._notebook import printed, shown_frame, shown_value
from .._writing import (
    grouped,
    in_large_units,
    minutes,
    percent,
    powers,
    roughly,
    rounded,
    thousands,
    with_unit,
)

__all__ = ["FAMILIES"]

_ONE: Final[Phrases] = {
    "en": ("The {what} is {a}.", "I get {a} for the {what}.", "For the {what} the notebook shows **{a}**.", "- {what}: {a}"),
    "ko": ("{what}: {a}입니다.", "{what} 값은 **{a}** 정도입니다.", "계산해 보니 {what}은(는) {a}(으)로 나왔습니다.", "- {what}: {a}"),
    "ja": ("{what}は{a}です。", "{what}を計算すると**{a}**でした。", "結果として、{what}は{a}となりました。", "- {what}: {a}"),
}  # fmt: skip
_COUNT: Final[Phrases] = {
    "en": ("There are {a} rows in all.", "After cleaning, {a} records are left.", "The table has {a} entries."),
    "ko": ("모두 {a}개의 행이 있습니다.", "정리하고 나면 {a}건이 남습니다.", "표에는 {a}행이 있습니다."),
    "ja": ("全部で{a}行あります。", "整理すると{a}件が残ります。", "表には{a}行があります。"),
}
_SHARE: Final[Phrases] = {
    "en": ("{a} of the flats are let.", "The share of repeat customers is {a}.", "About {a} of the values are missing.", "Accuracy rose to {a}."),
    "ko": ("전체의 {a}가 임대 중입니다.", "재구매 고객의 비율은 {a}입니다.", "값의 약 {a}가 비어 있습니다.", "정확도는 {a}까지 올랐습니다."),
    "ja": ("全体の{a}が貸し出し中です。", "リピーターの割合は{a}です。", "値の約{a}が欠けています。", "正解率は{a}まで上がりました。"),
}  # fmt: skip
_MONEY: Final[Phrases] = {
    "en": ("The total revenue is {a}.", "Sales add up to {a} in this period.", "That makes {a} altogether."),
    "ko": ("총매출은 {a}입니다.", "이 기간의 판매액은 모두 {a}입니다.", "합하면 {a}이 됩니다."),
    "ja": ("総売上は{a}です。", "この期間の売上は合計{a}です。", "合わせて{a}になります。"),
}
_FALL: Final[Phrases] = {
    "en": ("The index fell by {a}.", "That is a drop of {a}.", "It is down {a} from the week before."),
    "ko": ("지수가 {a} 하락했습니다.", "지난주보다 {a} 줄었습니다.", "{a}만큼의 감소입니다."),
    "ja": ("指数は{a}下がりました。", "前の週より{a}減りました。", "{a}の減少です。"),
}
_P_VALUE: Final[Phrases] = {
    "en": ("The difference is significant (p = {a}).", "The p-value is {a}.", "With p = {a} we reject the hypothesis."),
    "ko": ("차이는 유의합니다(p = {a}).", "p값은 {a}입니다.", "p = {a}이므로 가설을 기각합니다."),
    "ja": ("差は有意です(p = {a})。", "p値は{a}です。", "p = {a}なので仮説を棄却します。"),
}
_RANGE: Final[Phrases] = {
    "en": ("Values range from {a} to {b}.", "It lies between {a} and {b}.", "The middle half is {a}–{b}.", "The interval is [{a}, {b}]."),
    "ko": ("값은 {a}에서 {b} 사이입니다.", "{a}~{b} 범위에 있습니다.", "구간은 [{a}, {b}]입니다.", "최솟값 {a}, 최댓값 {b}입니다."),
    "ja": ("値は{a}から{b}の間です。", "{a}〜{b}の範囲にあります。", "区間は[{a}, {b}]です。", "最小は{a}、最大は{b}です。"),
}  # fmt: skip
_TIMES: Final[Phrases] = {
    "en": ("It is {a} times as large.", "That is {a}x faster than before.", "Rents in Oban are {a}× those in Wick."),
    "ko": ("{a}배 큽니다.", "전보다 {a}배 빨라졌습니다.", "오반의 임대료는 위크의 {a}배입니다."),
    "ja": ("{a}倍の大きさです。", "以前より{a}倍速くなりました。", "オーバンの家賃はウィックの{a}倍です。"),
}
_POINTS: Final[Phrases] = {
    "en": ("It rose by {a} percentage points.", "The gap is {a} pp.", "That is {a} points more than last year."),
    "ko": ("{a}%p 올랐습니다.", "격차는 {a}퍼센트포인트입니다.", "지난해보다 {a}포인트 높습니다."),
    "ja": ("{a}ポイント上がりました。", "差は{a}%ポイントです。", "昨年より{a}ポイント高いです。"),
}
_TOOK: Final[Phrases] = {
    "en": ("The fit took {a}.", "Training ran for {a}.", "In all this took {a}."),
    "ko": ("학습에 {a} 걸렸습니다.", "실행 시간은 {a}입니다.", "모두 {a}가 걸렸습니다."),
    "ja": ("学習に{a}かかりました。", "実行時間は{a}です。", "全部で{a}かかりました。"),
}
_SPREAD: Final[Phrases] = {
    "en": ("The mean is {a} ± {b}.", "On average {a} (±{b}).", "Mean {a}, standard deviation {b}."),
    "ko": ("평균은 {a} ± {b}입니다.", "평균 {a} (±{b})입니다.", "평균 {a}, 표준편차 {b}입니다."),
    "ja": ("平均は{a} ± {b}です。", "平均{a}(±{b})です。", "平均{a}、標準偏差{b}です。"),
}
_OF: Final[Phrases] = {
    "en": ("{a} of {b} flats have a garden.", "{a} out of {b} rows match.", "{a}/{b} tests pass."),
    "ko": (
        "{b}채 중 {a}채에 정원이 있습니다.",
        "{b}행 가운데 {a}행이 일치합니다.",
        "테스트 {b}건 중 {a}건이 통과합니다.",
    ),
    "ja": ("{b}戸のうち{a}戸に庭があります。", "{b}行中{a}行が一致します。", "テスト{b}件中{a}件が通ります。"),
}
_TABLE: Final[Phrases] = {
    "en": ("| town | {what} |\n| --- | --- |\n| Oban | {a} |\n| Wick | {b} |", "Per town:\n\n- Oban: {a}\n- Wick: {b}", "Oban has {a}, Wick {b}."),
    "ko": ("| 도시 | {what} |\n| --- | --- |\n| 오반 | {a} |\n| 위크 | {b} |", "도시별로는:\n\n- 오반: {a}\n- 위크: {b}", "오반은 {a}, 위크는 {b}입니다."),
    "ja": ("| 町 | {what} |\n| --- | --- |\n| オーバン | {a} |\n| ウィック | {b} |", "町ごとには:\n\n- オーバン: {a}\n- ウィック: {b}", "オーバンは{a}、ウィックは{b}です。"),
}  # fmt: skip
_SETTING: Final[Phrases] = {
    "en": ("The test set is {a} of the data.", "I split off {a} for testing.", "{a} of the rows are held back."),
    "ko": ("테스트 세트는 데이터의 {a}입니다.", "{a}를 테스트용으로 나누었습니다.", "행의 {a}를 따로 두었습니다."),
    "ja": ("テスト用はデータの{a}です。", "{a}をテスト用に分けました。", "行の{a}を取り分けました。"),
}

_SAMPLE: Final[Phrases] = {
    "en": ("The sample is small (n = {a}).", "This rests on n={a}.", "Of the flats (N = {a}) most are let."),
    "ko": ("표본이 작습니다(n = {a}).", "n={a}인 결과입니다.", "대부분의 집(N = {a})이 임대 중입니다."),
    "ja": ("標本は小さいです(n = {a})。", "n={a}の結果です。", "ほとんどの部屋(N = {a})が貸し出し中です。"),
}
_CORRELATION: Final[Phrases] = {
    "en": ("They correlate strongly (r = {a}).", "R² is {a}.", "The correlation is {a}."),
    "ko": ("강하게 상관됩니다(r = {a}).", "R²는 {a}입니다.", "상관계수는 {a}입니다."),
    "ja": ("強く相関します(r = {a})。", "R²は{a}です。", "相関係数は{a}です。"),
}
_FROM_TO: Final[Phrases] = {
    "en": ("It rose from {a} to {b}.", "The loss went {a} → {b}.", "Before it was {a}, now it is {b}."),
    "ko": ("{a}에서 {b}(으)로 올랐습니다.", "손실은 {a} → {b}입니다.", "전에는 {a}, 지금은 {b}입니다."),
    "ja": ("{a}から{b}に上がりました。", "損失は{a} → {b}です。", "以前は{a}、今は{b}です。"),
}
_MORE: Final[Phrases] = {
    "en": ("It is more than {a}.", "The rest stays below {a}.", "At least {a} are affected."),
    "ko": ("{a} 이상입니다.", "나머지는 {a} 미만입니다.", "적어도 {a}에 영향이 있습니다."),
    "ja": ("{a}以上です。", "残りは{a}未満です。", "少なくとも{a}に影響します。"),
}
_YEAR: Final[Phrases] = {
    "en": ("The oldest house was built in {a}.", "It goes back to {a}.", "{a} was the best year."),
    "ko": ("가장 오래된 집은 {a}년에 지어졌습니다.", "{a}년까지 거슬러 올라갑니다.", "{a}년이 가장 좋았습니다."),
    "ja": ("最も古い家は{a}年に建てられました。", "{a}年までさかのぼります。", "{a}年が最もよい年でした。"),
}
_PER: Final[Phrases] = {
    "en": ("That is {a} per day.", "{a}/h on average.", "Each town has {a} flats on average."),
    "ko": ("하루에 {a}입니다.", "평균 {a}/시간입니다.", "도시마다 평균 {a}채가 있습니다."),
    "ja": ("一日あたり{a}です。", "平均{a}/時です。", "町ごとに平均{a}戸あります。"),
}
_LIKE_ADVICE: Final[Phrases] = {
    "en": (
        "- Lower quartile: {a}", "Lower bound {a} of the {what}.", "Increase in the {what}: {a}", "Use of electricity rose to {a}.",
        "Set A has a {what} of {a}.", "Pick rates fell to {a}.", "The default rate was {a}.", "Conventional loans cost {a} on average.",
        "If you drop outliers, the {what} is {a}.", "Assuming normality, the {what} is {a}.", "To use the model, I trained it; the {what} was {a}.",
    ),
    "ko": ("기본값 모델의 {what}은(는) {a}였습니다.", "만약 이상값을 빼면 {what}은(는) {a}입니다.", "관측값의 {what}은(는) {a}입니다."),
    "ja": ("デフォルト率は{a}でした。", "もし外れ値を除いたら、{what}は{a}です。", "既定のモデルの{what}は{a}でした。"),
}  # fmt: skip
_NO_NAME: Final[Phrases] = {
    "en": (
        "In this case {a} rows were dropped.", "Per customer {a} dollars are spent.", "After this step {a} rows remain.",
        "On that day {a} orders came in.", "In each group {a} patients are left.",
    ),
    "ko": ("이 단계가 끝나면 {a}건이 남습니다.", "그날 주문이 {a}건 들어왔습니다.", "고객 한 명이 {a}달러를 씁니다."),
    "ja": ("この段階で{a}件が残ります。", "その日の注文は{a}件でした。", "顧客一人が{a}ドルを使います。"),
}  # fmt: skip
_SIZE: Final[Phrases] = {
    "en": ("The table takes {a} of memory.", "The file has {a}.", "Memory usage is {a}."),
    "ko": ("표는 메모리 {a}를 차지합니다.", "파일은 {a}입니다.", "메모리 사용량은 {a}입니다."),
    "ja": ("表はメモリーを{a}使います。", "ファイルは{a}です。", "メモリー使用量は{a}です。"),
}
_FAST: Final[Phrases] = {
    "en": ("One call takes {a}.", "It takes {a} on average.", "The query returns after {a}."),
    "ko": ("한 번 호출에 {a} 걸립니다.", "평균 {a}입니다.", "질의는 {a} 만에 돌아옵니다."),
    "ja": ("一回の呼び出しに{a}かかります。", "平均{a}です。", "クエリは{a}で返ります。"),
}
_NEAR: Final[Phrases] = {
    "en": ("There were {a} visitors.", "It has {a} entries.", "We count {a} of them."),
    "ko": ("방문자는 {a}명입니다.", "항목은 {a}개입니다.", "모두 {a}건입니다."),
    "ja": ("訪問者は{a}人です。", "項目は{a}個です。", "全部で{a}件です。"),
}
_ELAPSED: Final[Phrases] = {
    "en": ("It ran for {a}.", "The median latency is {a}.", "Each step takes {a}."),
    "ko": ("실행에 {a} 걸렸습니다.", "지연 시간의 중앙값은 {a}입니다.", "한 단계에 {a} 걸립니다."),
    "ja": ("実行に{a}かかりました。", "遅延の中央値は{a}です。", "一段階に{a}かかります。"),
}
_GAP: Final[Phrases] = {
    "en": ("The gap is {a} percentage points.", "It grew by {a} points.", "That is {a} pp above the mean."),
    "ko": ("차이는 {a}%포인트입니다.", "{a}포인트 늘었습니다.", "평균보다 {a}%p 높습니다."),
    "ja": ("差は{a}パーセントポイントです。", "{a}ポイント増えました。", "平均より{a}%pt高いです。"),
}
_PLUS: Final[Phrases] = {
    "en": ("The change is +{a}.", "{what}: +{a}", "(+{a} to the year before)"),
    "ko": ("변화는 +{a}입니다.", "{what}: +{a}", "(전년 대비 +{a})"),
    "ja": ("変化は+{a}です。", "{what}: +{a}", "(前年比 +{a})"),
}
_SMALL: Final[Phrases] = {
    "en": ("The error is only {a}.", "The tolerance was {a}.", "It converges to {a}."),
    "ko": ("오차는 {a}에 불과합니다.", "허용 오차는 {a}였습니다.", "{a}(으)로 수렴합니다."),
    "ja": ("誤差は{a}だけです。", "許容誤差は{a}でした。", "{a}に収束します。"),
}
_ODDS: Final[Phrases] = {
    "en": ("The odds are {a} : 1.", "That makes {a}:1.", "The ratio is {a} to 1."),
    "ko": ("비율은 {a} : 1입니다.", "{a}:1이 됩니다.", "{a} 대 1의 비율입니다."),
    "ja": ("比は{a} : 1です。", "{a}:1になります。", "{a}対1の割合です。"),
}

Write = Callable[[float, Language, Random], Written]


def _measured(rng: Random) -> float:
    return rng.uniform(11, 900)


def _mean_cell(rng: Random) -> ShownCell:
    value = _measured(rng)
    return shown_value("df['rent'].mean()", rng.choice((f"{value!r}", f"np.float64({value!r})", f"{value:.4f}")), value)


def _decimals(most: int) -> Write:
    return lambda value, language, rng: rounded(value, rng.randint(1, most))


def _whole(least: int, most: int, *, comma: bool) -> Callable[[Random], ShownCell]:
    def show(rng: Random) -> ShownCell:
        value = rng.randint(least, most)
        text = f"{value:,}" if comma else str(value)
        return rng.choice(
            (printed("print(len(df))", text, value), printed("print('rows:', len(df))", f"rows: {text}", value))
        )

    return show


def _share_cell(rng: Random) -> ShownCell:
    value = round(rng.uniform(0.011, 0.989), rng.randint(4, 8))
    return rng.choice(
        (
            shown_value("df['let'].mean()", repr(value), value),
            printed("print(f'share: {share}')", f"share: {value}", value),
            shown_value("scores", str({"accuracy": value, "support": rng.randint(40, 900)}), value),
        )
    )


def _percent_cell(rng: Random) -> ShownCell:
    percents = round(rng.uniform(1.1, 98.9), 2)
    return printed("print(f'{share:.2%} of all')", f"{percents:.2f}% of all", percents / 100)


def _as_share(value: float, language: Language, rng: Random) -> Written:
    return rounded(value, rng.choice((2, 3)))


def _money_cell(rng: Random) -> ShownCell:
    value = round(rng.uniform(1_050, 98_000), 2)
    return rng.choice(
        (
            printed("print(df['price'].sum())", f"{value}", value),
            printed("print(f'total: {total:,.2f}')", f"total: {value:,.2f}", value),
        )
    )


def _in_money(value: float, language: Language, rng: Random) -> Written:
    decimals = rng.choice((0, 2)) if language == "en" else 0
    before, after = {
        "en": (("$", ""), ("€", ""), ("£", ""), ("", " USD"), ("EUR ", "")),
        "ko": (("", "원"), ("₩", ""), ("", " 원")),
        "ja": (("", "円"), ("¥", ""), ("￥", "")),
    }[language][rng.randrange(3)]
    return with_unit(rounded(value, decimals, comma=True), before, after)


def _large_cell(rng: Random) -> ShownCell:
    value = float(rng.randint(1_200_000, 9_800_000_000))
    return rng.choice(
        (
            shown_value("df['sales'].sum()", f"{value}", value),
            shown_value("df['sales'].sum()", f"{value:.0f}", value),
            printed("print(f'{total:,.0f}')", f"{value:,.0f}", value),
        )
    )


def _ten_thousands_cell(rng: Random) -> ShownCell:
    value = rng.randint(10_500, 960_000)
    return shown_value("len(df)", str(value), value)


def _in_units(value: float, language: Language, rng: Random) -> Written:
    unit = rng.choice({"en": ("kg", " ms", " km/h", "°C", " m²", "GB", "s"), "ko": ("kg", "점", "세", "℃", "㎡", "초"), "ja": ("kg", "点", "歳", "℃", "㎡", "秒")}[language])  # fmt: skip
    return with_unit(rounded(value, rng.choice((1, 2))), "", unit)


def _change_cell(rng: Random) -> ShownCell:
    value = -rng.uniform(1.2, 98)
    return printed("print(change)", f"{value:.5f}", value)


def _with_minus(value: float, language: Language, rng: Random) -> Written:
    return with_unit(rounded(value, rng.choice((1, 2))), rng.choice(("-", "−")), "")


def _tiny_cell(rng: Random) -> ShownCell:
    value = rng.uniform(1.1, 9.8) * 10.0 ** -rng.randint(4, 12)
    return shown_value(
        "stats.ttest_ind(a, b)", f"TtestResult(statistic={rng.uniform(3, 9)!r}, pvalue={value!r})", value
    )


def _small_p_cell(rng: Random) -> ShownCell:
    value = rng.uniform(0.0102, 0.0498)
    return printed("print(result.pvalue)", f"{value!r}", value)


def _without_zero(value: float, language: Language, rng: Random) -> Written:
    written = rounded(value, 3)
    return Written(written.text.removeprefix("0"), written.spans)


def _huge_cell(rng: Random) -> ShownCell:
    value = float(f"{rng.uniform(1.1, 9.9):.3f}e{rng.randint(5, 8)}")
    mantissa, _, power = f"{value:.3e}".partition("e")
    return shown_value("df['sales'].describe()['max']", f"{mantissa}e{power}", value)


def _grouped(value: float, language: Language, rng: Random) -> Written:
    return grouped(value)


def _two(least: float, most: float) -> Callable[[Random], ShownCell]:
    def show(rng: Random) -> ShownCell:
        low, high = sorted((rng.uniform(least, most), rng.uniform(least, most)))
        return rng.choice(
            (
                printed("print(low, high)", f"{low:.5f} {high:.5f}", low, high),
                shown_value("np.quantile(x, [0.25, 0.75])", f"array([{low:.8f}, {high:.8f}])", low, high),
                shown_value("(low, high)", f"({low!r}, {high!r})", low, high),
            )
        )

    return show


def _one_decimal(value: float, language: Language, rng: Random) -> Written:
    return rounded(value, 1)


def _ratio_cell(rng: Random) -> ShownCell:
    value = rng.uniform(1.15, 60)
    return shown_value("after / before", repr(value), value)


def _seconds_cell(rng: Random) -> ShownCell:
    value = rng.uniform(75, 3500)
    return printed("print(f'fitted in {took:.1f} s')", f"fitted in {value:.1f} s", round(value, 1))


def _in_minutes(value: float, language: Language, rng: Random) -> Written:
    return minutes(value, language)


def _spread_cell(rng: Random) -> ShownCell:
    mean, spread = rng.uniform(20, 300), rng.uniform(1.2, 19)
    table = pd.DataFrame({"rent": [float(rng.randint(40, 90)), mean, spread]}, index=["count", "mean", "std"])
    return shown_frame("df[['rent']].agg(['count', 'mean', 'std'])", table, mean, spread)


def _of_cell(rng: Random) -> ShownCell:
    part, whole = rng.randint(110, 480), rng.randint(1_000, 4_000)
    return printed("print(has_garden.sum(), len(df))", f"{part} {whole}", part, whole)


def _counted(value: float, language: Language, rng: Random) -> Written:
    return rounded(value, 0, comma=rng.random() < 0.5)


def _towns_cell(rng: Random) -> ShownCell:
    oban, wick = rng.uniform(400, 990), rng.uniform(400, 990)
    table = pd.DataFrame({"rent": [oban, wick, rng.uniform(400, 990)]}, index=["Oban", "Wick", "Tain"])
    return shown_frame("df.groupby('town')[['rent']].mean()", table, oban, wick)


def _split_cell(rng: Random) -> ShownCell:
    share = rng.choice((0.15, 0.23, 0.35, 0.37, 0.45, 0.12))
    return printed(f"X_train, X_test = train_test_split(X, test_size={share})\nprint('ok')", "ok", share)


def _whole_percent(value: float, language: Language, rng: Random) -> Written:
    text = f"{round(100 * value)}"
    return Written(
        f"{text}%", [((float(text) - 0.5) / 100, (float(text) + 0.5) / 100), (float(text) - 0.5, float(text) + 0.5)]
    )


def _in_code(value: float, language: Language, rng: Random) -> Written:
    return with_unit(rounded(value, rng.choice((2, 3))), "`", "`")


def _full_width(value: float, language: Language, rng: Random) -> Written:
    written = rounded(value, rng.choice((1, 2)))
    wide = written.text.translate(str.maketrans("0123456789.", "０１２３４５６７８９．"))
    return Written(wide if language == "ja" else written.text, written.spans)


def _exact(value: float, language: Language, rng: Random) -> Written:
    return Written(repr(value), [(value, value)])


def _exact_cell(rng: Random) -> ShownCell:
    value = rng.uniform(0.2, 40)
    return shown_value("loss", repr(value), value)


def _millions_of_money(value: float, language: Language, rng: Random) -> Written:
    written = in_large_units(value, language, rng)
    before, after = rng.choice({"en": (("$", ""), ("€", ""), ("", " dollars")), "ko": (("", "원"), ("₩", "")), "ja": (("", "円"), ("¥", ""))}[language])  # fmt: skip
    return with_unit(written, before, after)


def _correlation_cell(rng: Random) -> ShownCell:
    value = rng.uniform(0.11, 0.98)
    return shown_value("df['rent'].corr(df['size'])", rng.choice((repr(value), f"np.float64({-value!r})")), value)


def _signed_score(value: float, language: Language, rng: Random) -> Written:
    written = rounded(value, rng.choice((2, 3)))
    text = written.text.removeprefix("0") if rng.random() < 0.3 else written.text
    return Written(rng.choice(("", "", "-", "−")) + text, written.spans)


def _year_cell(rng: Random) -> ShownCell:
    year = rng.randint(1790, 2009)
    return shown_value("df['built'].min()", f"np.int64({year})", year)


def _degrees_cell(rng: Random) -> ShownCell:
    value = -rng.uniform(11, 35)
    return printed("print('coldest:', coldest)", f"coldest: {value:.3f}", value)


def _degrees(value: float, language: Language, rng: Random) -> Written:
    return with_unit(
        rounded(value, 1),
        rng.choice(("-", "−", "minus " if language == "en" else "-")),
        rng.choice((" °C", "°C", "℃", "°")),
    )


def _bytes_cell(rng: Random) -> ShownCell:
    value = rng.randint(11_000_000, 9_000_000_000)
    return shown_value("df.memory_usage(deep=True).sum()", str(value), value)


def _in_bytes(value: float, language: Language, rng: Random) -> Written:
    scale, unit = (1e9, "GB") if value >= 1e9 else (1e6, "MB")
    written = rounded(value / scale, 1)
    [(low, high)] = written.spans
    return Written(f"{written.text} {unit}", [(low * scale, high * scale), (low, high)])


def _fast_cell(rng: Random) -> ShownCell:
    value = rng.uniform(0.0112, 0.97)
    return printed("print(took)", repr(value), value)


def _in_milliseconds(value: float, language: Language, rng: Random) -> Written:
    written = rounded(value * 1e3, rng.choice((0, 1)))
    [(low, high)] = written.spans
    unit = rng.choice({"en": (" ms", "ms", " milliseconds"), "ko": ("ms", "밀리초"), "ja": ("ms", "ミリ秒")}[language])
    return Written(written.text + unit, [(low / 1e3, high / 1e3), (low, high)])


def _near(value: float, language: Language, rng: Random) -> Written:
    digits = rng.choice((2, 3))
    power = len(str(round(value))) - digits
    number = round(value / 10**power) * 10**power
    before = rng.choice({"en": ("nearly ", "almost ", "about ", "some ", "over "), "ko": ("약 ", "거의 ", "대략 "), "ja": ("約", "ほぼ", "およそ")}[language])  # fmt: skip
    step = 10.0**power
    slack = 1.0 if before in ("nearly ", "almost ", "over ", "거의 ", "ほぼ") else 0.5
    return Written(f"{before}{number:,}", [(number - slack * step, number + slack * step)])


def _gap_cell(rng: Random) -> ShownCell:
    value = rng.uniform(0.0111, 0.29)
    return printed("print(after - before)", f"{value!r}", value)


def _in_points(value: float, language: Language, rng: Random) -> Written:
    written = rounded(100 * value, rng.choice((1, 2)))
    [(low, high)] = written.spans
    return Written(written.text, [(low / 100, high / 100), (low, high)])


FAMILIES: Final = (
    ResultFamily("mean-rounded", _ONE, _mean_cell, _decimals(3)),
    ResultFamily("whole-grouped", _COUNT, _whole(1_100, 9_900_000, comma=False), _grouped),
    ResultFamily("whole-ungrouped", _COUNT, _whole(1_100, 99_000, comma=True), lambda v, language, rng: rounded(v, 0)),
    ResultFamily("whole-short", _COUNT, _whole(14, 990, comma=False), lambda v, language, rng: rounded(v, 0)),
    ResultFamily("share-as-percent", _SHARE, _share_cell, percent),
    ResultFamily("percent-kept", _SHARE, _percent_cell, percent),
    ResultFamily("percent-as-share", _ONE, _percent_cell, _as_share),
    ResultFamily("money", _MONEY, _money_cell, _in_money),
    ResultFamily("large-units", _MONEY, _large_cell, in_large_units),
    ResultFamily("thousands-short", _COUNT, _ten_thousands_cell, thousands),
    ResultFamily("myriads", _COUNT, _ten_thousands_cell, in_large_units),
    ResultFamily("unit-attached", _ONE, _mean_cell, _in_units),
    ResultFamily("negative-signed", _ONE, _change_cell, _with_minus),
    ResultFamily("negative-in-words", _FALL, _change_cell, _decimals(2)),
    ResultFamily("scientific", _P_VALUE, _tiny_cell, powers),
    ResultFamily("without-zero", _P_VALUE, _small_p_cell, _without_zero),
    ResultFamily("from-scientific", _MONEY, _huge_cell, _grouped),
    ResultFamily("range", _RANGE, _two(11, 90), _one_decimal),
    ResultFamily("mean-and-spread", _SPREAD, _spread_cell, _one_decimal),
    ResultFamily("times-as-many", _TIMES, _ratio_cell, _one_decimal),
    ResultFamily("percentage-points", _POINTS, _ratio_cell, _decimals(2)),
    ResultFamily("minutes-and-seconds", _TOOK, _seconds_cell, _in_minutes),
    ResultFamily("part-of-whole", _OF, _of_cell, _counted),
    ResultFamily("table-of-values", _TABLE, _towns_cell, _decimals(2)),
    ResultFamily("about-rounded", _COUNT, _ten_thousands_cell, roughly),
    ResultFamily("setting-as-percent", _SETTING, _split_cell, _whole_percent),
    ResultFamily("in-code-marks", _ONE, _mean_cell, _in_code),
    ResultFamily("full-width", _ONE, _mean_cell, _full_width),
    ResultFamily("all-digits", _ONE, _exact_cell, _exact),
    ResultFamily("sample-size", _SAMPLE, _whole(14, 9_900, comma=False), _counted),
    ResultFamily("correlation", _CORRELATION, _correlation_cell, _signed_score),
    ResultFamily("money-in-millions", _MONEY, _large_cell, _millions_of_money),
    ResultFamily("from-to", _FROM_TO, _two(0.11, 90), _decimals(2)),
    ResultFamily("more-than", _MORE, _mean_cell, _decimals(1)),
    ResultFamily("old-year", _YEAR, _year_cell, lambda v, language, rng: rounded(v, 0)),
    ResultFamily("degrees", _ONE, _degrees_cell, _degrees),
    ResultFamily("bytes", _SIZE, _bytes_cell, _in_bytes),
    ResultFamily("milliseconds", _FAST, _fast_cell, _in_milliseconds),
    ResultFamily("per-day", _PER, _mean_cell, _decimals(1)),
    ResultFamily("near-round", _NEAR, _ten_thousands_cell, _near),
    ResultFamily("kilo", _NEAR, _ten_thousands_cell, thousands),
    ResultFamily("elapsed-milliseconds", _ELAPSED, _fast_cell, _in_milliseconds),
    ResultFamily("megabytes", _SIZE, _bytes_cell, _in_bytes),
    ResultFamily("power-of-ten", _P_VALUE, _tiny_cell, powers),
    ResultFamily("wide-digits", _ONE, _mean_cell, _full_width),
    ResultFamily("gap-in-points", _GAP, _gap_cell, _in_points),
    ResultFamily("plus-sign", _PLUS, _ratio_cell, _decimals(2)),
    ResultFamily("very-small", _SMALL, _tiny_cell, powers),
    ResultFamily("tiny-number", _SMALL, _small_p_cell, powers),
    ResultFamily("odds", _ODDS, _ratio_cell, _decimals(1)),
    ResultFamily("like-advice", _LIKE_ADVICE, _mean_cell, _decimals(2)),
    ResultFamily("count-not-a-name", _NO_NAME, _whole(110, 9_900, comma=False), lambda v, language, rng: rounded(v, 0)),
)
