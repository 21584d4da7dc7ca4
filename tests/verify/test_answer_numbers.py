"""Which numbers of an answer stand in what was seen."""

from __future__ import annotations

import pytest

from hdsp_agent.verify import TextAt, answer_numbers


def found(answer: str, *seen: str) -> dict[str, str | None]:
    """Of each number the text it stands in."""
    return {one.text: one.place for one in answer_numbers(answer, [[TextAt(text, text) for text in seen]])}


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("The mean is 12.35.", "12.3456"),
        ("The mean is 12.346", "mean    12.3456"),
        ("1,234,567 rows", "1234567"),
        ("1234567 rows", "1,234,567 rows"),
        ("It grew by 45 %", "0.4512"),
        ("45.1% of all", "45.12%"),
        ("0.451 of all", "45.12 %"),
        ("about 1.2 million", "1234567.0"),
        ("1.2M users", "1.23e6"),
        ("12만 명", "120345"),
        ("3.5億", "351000000"),
        ("It fell by 3.2", "change -3.21"),
        ("p = 1.2e-05", "1.23e-05"),
        ("$1,234.50", "1234.5"),
        ("**42** of them", "<td>42</td>"),
        ("between 10.5 and 20.5", "10.5 20.5"),
        ("a range of 15-25", "15 to 25"),
        ("平均は12.35です", "12.345"),
        ("약1,234건", "1234"),
        ("合計は3.5億円", "350000000"),
        ("2천만 원", "20000000"),
        ("5백만 명", "5e6"),
        ("1억 2천만 원", "120000000"),
        ("3만 5천 명", "35000"),
        ("1万2千人", "12000"),
        ("3만 5000원", "35000"),
        ("1.2 million", "1.23"),
        ("45％", "0.45"),
        ("mean 20.5", "day,10.5,20.5"),
        ("mean 20.5", "[10.5,20.5]"),
        ("In cell 5, 12.35 is the mean", "12.345"),
        ("in cell 5, 1,234 rows", "1234"),
        ("45 % in cells 3 to 5", "0.45"),
        ("p = .032", "0.0321"),
        ("416/1269 tests pass", "416 and 1269"),
        ("It took 2 min 35 s", "fitted in 155.3 s"),
        ("155 s", "Wall time: 2min 35s"),
        ("13분 36초 걸렸습니다", "816.2"),
        ("11分22秒かかりました", "682.1"),
        ("12.3 ms", "0.01234"),
        ("1.2 MB", "1234567"),
        ("2.0 GB", "2147483648"),
        ("5.1 percentage points", "0.0512"),
        ("nearly 48,000", "48213"),
        ("약 48,000건", "48213"),
        ("42.6만행입니다", "426213"),
        ("₩3.07억입니다", "307123456"),
        ("12만 명", "모두 12만 명"),
        ("48.2k人です", "48213"),
        ("3.4 × 10⁻⁵", "3.41e-05"),
        ("3.4×10^-5", "3.41e-05"),
        ("`12.35`", "12.345"),
        ("77.1", "77.12"),
        ("７７．１です", "77.12"),
    ],
)
def test_a_number_stands_where_it_rounds_to_what_is_written(answer: str, output: str) -> None:
    places = found(answer, output)
    assert places and set(places.values()) == {output}


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("The mean is 12.35.", "12.3"),
        ("The mean is 12.35.", "12.3556"),
        ("1,235 rows", "1234"),
        ("45 %", "0.4612"),
        ("45 %", "4.5"),
        ("1.2 million", "1.3e6"),
        ("99.9", ""),
        ("3 million", "3"),
        ("12만 명", "12"),
        ("p = 1.2e-12", "0"),
        ("p = 1.2e-12", "1e-10"),
        ("nearly 48,000", "49213"),
        ("48,000", "48213"),
        ("12.3 ms", "12345"),
        ("2 min 35 s", "255"),
        ("3 * 100 rows", "3e0"),
    ],
)
def test_another_number_is_not_it(answer: str, output: str) -> None:
    assert list(found(answer, output).values()) == [None]


@pytest.mark.parametrize(
    "answer",
    [
        "I changed cell 12 and cells 13, 14 and 15.",
        "See In [23] and Out[23].",
        "셀 12에서, 12번 셀, セル12と12番目のセル",
        "Two of 3 columns, 10 rows.",
        "On 2026-11-29 at 21:45, the 12th time.",
        "With Python 3.11.7:\n\n11. first\n12) second\n- 13. third",
        "```python\nx = 4711\n```\nand x2000, v45, #4711, a_99 and https://a.org/4711",
        "2026년 11월 29일과 3월 15일, 2026年11月29日, 2026年",
        "November 29, 2026 and Dec. 12",
        "Python 3.11, COVID-19, SHA-256, sales-2024.csv",
        "the 97.5th percentile, 1e400 and 1e-400",
        "Q1 2022, FY2024, the 1990s, 15 May 2019, May 2019, 11/29/2026 and 11 pm",
        "14번째 행, 제11회 조사, 12위, 1990년대, 21일째, 41주차, 오전 11시 30분",
        "14番目の行、第11回、12位、1990年代、21日目、14行目、午前11時30分",
        "pandas 2.12, scikit-learn バージョン1.19, 3.17 버전, Llama 70B, Windows 11, RTX 4090",
        "p < 0.05, α = 0.01, a significance level of 0.001, 유의수준 0.05, 有意水準0.05, p値は0.01未満",
        "the 95% CI, with 99 percent confidence, 95% 신뢰구간, 信頼度95%",
        "`n_estimators=500`, `df.head(20)` and `rows[42]`",
        "line 42, row 143, Fig. 12, question 11, HTTP 404, error 617, rows 21 to 143, 그림 12, エラー617",
        "a 30-day window, 11-fold cross-validation, 21일 이동 평균, 14日移動平均, 800x600, 300 dpi",
        "Breiman (2001), Tukey, 1977, and [12]",
        "the top 25 %, 상위 25%, 下位25%",
        "## 11 Results\n\n(12) Drop them",
        "상위 3 조합과 2 만족",
        "",
    ],
)
def test_what_is_no_result_is_left_out(answer: str) -> None:
    assert found(answer, "4711 12 13") == {}


@pytest.mark.parametrize(
    "answer",
    [
        "In 2019 and 2021, since 1950, from 1990 to 2010, the 2008 boom, 2023/24, in 20240315 and 2024-11",
        "11월과 12월에, 11月から12月, 平成30年, 14~16시, 14〜16時, from 11 to 12 pm, UTC+09:00",
        "ISO 8601, RFC 7231, EPSG:4326, §12, 52.5° N, 010-1234-5678, +49 30 1234567, a 16:9 screen at 1080p",
        "Customer 4712, seed 42, cluster 12, page 12 of 40, 시드 42, 고객 4712, クラスター12, 12号",
        "the first 100 rows, the last 30 days, every 15 minutes, 최근 30일, 15분마다, 先頭100行, 15分ごと",
        "aged 18 to 65, in their 40s, the 25-34 age group, 30대 남성, 40代",
        "an 80/20 split, a scale from 0 to 100, per 100,000 people, 10만 명당, 人口10万人当たり",
        "A mile is 1.609 km. 1 inch = 2.54 cm, 1마일은 1.609km, 1日は24時間",
        "16 GB of RAM, Apache 2.0, USB 3.2, `price > 500`, `--epochs 50`, `df.iloc`, sheet “2019 v45”",
        "5% significance, 유의수준 5%, 80 % power, Section 3.12, 표 4.11, equation (12), commit 3fa91c2d, 2019.csv",
        "You asked for 40 bins. It was 30 days ago. 30분 전, 30日前",
    ],
)
def test_what_is_likely_no_result_is_not_marked(answer: str) -> None:
    assert None not in found(answer, "4711 12 13").values()


@pytest.mark.parametrize(
    "answer",
    [
        "Try 500 trees, or set the rate to 0.05.",
        "You could use 500 trees.",
        "Use the rate 0.05, or increase epochs to 500.",
        "The default is 500.",
        "If you have 64 files, it takes longer.",
        "Shall I drop the 4713 others?",
        "Flats above 500 cost more.",
        "학습률을 0.05로 바꿔 보세요.",
        "500개로 늘리세요.",
        "500 이상인 값만 봅니다.",
        "木を500本にしてください。",
        "500以上の値だけを見ます。",
    ],
)
def test_what_is_advised_asked_or_bounds_what_is_looked_at_is_not_marked_but_linked(answer: str) -> None:
    assert found(answer, "4711") == {}
    assert set(found(answer, "500 0.05 64 4713").values()) == {"500 0.05 64 4713"}


@pytest.mark.parametrize(
    "answer",
    [
        "The mean is above 48.7.",
        "More than 4,821 rows are left.",
        "I used 48 trees.",
        "The test set has 48 rows.",
        "As you can see, it is 48.7.",
        "평균은 48.7입니다. 값을 확인하세요.",
        "결과로 48을 얻었습니다.",
        "平均は48.7です。図を見てください。",
        "The loss went 0.61 -> 0.42.",
        "It took 30s.",
        "Your data has 48 rows.",
        "Memory: 487 MB of memory",
        "> 48.7 is the mean",
        "The mean is '48.7'.",
        "- Lower quartile: 12.4",
        "Lower bound 0.31, upper bound 0.47.",
        "Pass rate is 87.4 %.",
        "Increase in sales: 45.3 %",
        "Increase 2020 to 2021: 45.3 %",
        "Use of electricity rose to 412.5 GWh.",
        "Set A has a mean of 45.3.",
        "Women and lower classes: 38.2 %",
        "Pick rates fell to 33.1.",
        "The default rate was 3.27 %.",
        "デフォルト率は3.27%でした。",
        "기본값 모델의 정확도는 0.8412였습니다.",
        "Conventional loans cost 412.5 on average.",
        "If you drop outliers, the mean is 45.37.",
        "만약 이상값을 빼면 평균은 45.37입니다.",
        "もし外れ値を除いたら平均は45.37です。",
        "Assuming normality, p is 0.0312.",
        "To use the model, I trained it; the loss was 0.3312.",
        "As you may notice, the mean is 45.37.",
        "Accuracy is considered good at 0.93.",
        "In this case 1234 rows were dropped.",
        "Per customer 350 dollars are spent.",
        "After this step 842 rows remain.",
        "On that day 842 orders came in.",
        "In the last step 842 rows remain.",
        "The count fell from 2000 to 1850.",
        "Fewer are left, since 1820 were empty.",
    ],
)
def test_what_is_stated_is_marked(answer: str) -> None:
    assert found(answer, "4711") and set(found(answer, "4711").values()) == {None}


def test_how_many_there_are_is_a_result_and_which_one_it_is_is_none() -> None:
    assert found("The table has 143 rows; row 17 is odd.", "143") == {"143": "143"}
    assert found("모두 143행이고, 행 17이 이상합니다.", "143") == {"143": "143"}
    assert found("Sales rose 12-fold", "12") == {"12": "12"}


def test_of_several_places_it_is_the_nearest_and_of_equal_ones_the_last() -> None:
    texts = [TextAt("first", "12.3"), TextAt("second", "12.34"), TextAt("third", "12.30")]
    [number] = answer_numbers("12.3", [texts])
    assert number.place == "third"


def test_a_group_is_asked_only_for_what_the_one_before_does_not_have() -> None:
    outputs, code = [TextAt("output", "20.5")], [TextAt("code", "20.5 and 30.5")]
    numbers = answer_numbers("20.5, 30.5, 40.5 and 20.5 again", [outputs, code])
    assert [(one.text, one.place) for one in numbers] == [("20.5", "output"), ("30.5", "code"), ("40.5", None)]


@pytest.mark.in_short(6)
@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "1",
        "1:",
        "cell" + " " * 40,
        "1억 ",
        '"',
        "1/",
        "```\n",
        "in 2019, ",
        "if you, ",
        "~",
        "1,",
        "<",
        "1.",
        "1e",
        "cells 1, ",
        "- ",
        "번",
        "`a(",
        "1 min ",
        "rows 1, ",
        "about ",
        "you asked ",
        "if you ",
        "ab1",
    ],
)
def test_a_hostile_text_is_looked_through_once(piece: str) -> None:
    # What takes the square of its length would not come to an end.
    text = piece * (200_000 // len(piece))
    assert len(answer_numbers(text, [[TextAt(0, text)]])) <= 200
