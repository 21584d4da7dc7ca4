"""Questions about a table whose answer is a value."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Final

from .._errand import Family, Made, Scene
from ._judging import all_told, named_alone, one_told, told

__all__ = ["FAMILIES"]


def _mean(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    value = statistics.mean(data.numbers(data.measure))
    return Made(
        told(value),
        scene.with_table(f"{table}[{data.measure!r}].mean()"),
        [
            scene.with_table(f"{table}[{data.amount!r}].mean()"),
            scene.with_table(f"{table}[{data.measure!r}].mean()", "It is 3.25."),
        ],
    )


def _median(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    return Made(
        told(statistics.median(data.numbers(data.amount))),
        scene.with_table(f"print({table}[{data.amount!r}].median())"),
        [scene.with_table(f"{table}[{data.measure!r}].median() + 0.77"), scene.ends(answer="The median is -8.")],
    )


def _total_of_group(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    group = scene.rng.choice(data.groups)
    chosen = f"{table}[{table}[{data.group!r}] == {group!r}]"
    return Made(
        told(sum(data.numbers(data.amount, group))),
        scene.with_table(f"{chosen}[{data.amount!r}].sum()"),
        [
            scene.with_table(f"{table}[{data.amount!r}].sum() + 1"),
            scene.with_table(f"{chosen}[{data.amount!r}].sum()", "-4 in all."),
        ],
        {"value": group},
    )


def _mean_per_group(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    means = [statistics.mean(data.numbers(data.measure, group)) for group in data.groups]
    grouped = f"{table}.groupby({data.group!r})[{data.measure!r}]"
    return Made(told(*means), scene.with_table(f"{grouped}.mean()"), [scene.with_table(f"{grouped}.max() + 1000")])


def _count_above(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    values = sorted(data.numbers(data.measure))
    limit = round(values[len(values) // 2] + 0.04, 0)
    count = sum(value > limit for value in values)
    return Made(
        told(count),
        scene.with_table(f"int(({table}[{data.measure!r}] > {limit}).sum())"),
        [scene.with_table(f"{table}[{table}[{data.measure!r}] > {limit}][{data.measure!r}].sum() + 0.5")],
        {"limit": f"{limit:g}"},
    )


def _largest_row(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    best = str(max(data.rows, key=lambda row: float(row[data.measure] or 0))[data.label])
    others = [label for label in data.texts(data.label) if label != best]
    return Made(
        named_alone(best, others),
        scene.with_table(f"{table}.loc[{table}[{data.measure!r}].idxmax(), {data.label!r}]"),
        [scene.with_table(f"{table}[{data.measure!r}].max()"), scene.ends(answer=f"{others[0]}.")],
        also_right=[
            scene.with_table(f"{table}.sort_values({data.measure!r}, ascending=False)[[{data.label!r}]].head(1)")
        ],
    )


def _lowest_three(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    ordered = [str(row[data.label]) for row in sorted(data.rows, key=lambda row: float(row[data.measure] or 0))]
    return Made(
        all_told(ordered[:3], ordered[3:]),
        scene.with_table(f"{table}.nsmallest(3, {data.measure!r})"),
        [
            scene.with_table(f"{table}.sort_values({data.measure!r})[[{data.label!r}]].head(4)"),
            scene.with_table(f"{table}.head(3).describe()"),
        ],
    )


def _missing(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    count = len(data.rows) - len(data.numbers(data.measure))
    return Made(
        told(count),
        scene.with_table(f"int({table}[{data.measure!r}].isna().sum())"),
        [
            scene.with_table(f"{table}[{data.measure!r}].notna().sum() + 100"),
            scene.ends(answer=f"There are {count + 5}."),
        ],
    )


def _distinct(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    return Made(
        told(len(data.groups)),
        scene.with_table(f"{table}[{data.group!r}].nunique()"),
        [scene.with_table(f"len({table}) + 100"), scene.ends(answer="There are 17.")],
    )


def _correlation(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    value = statistics.correlation(data.numbers(data.amount), data.numbers(data.measure))
    return Made(
        told(value, within=0.011),
        scene.with_table(f"{table}[[{data.amount!r}, {data.measure!r}]].corr()"),
        [scene.with_table(f"{table}[{data.amount!r}].cov({table}[{data.measure!r}]) + 55")],
    )


def _share(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    group = scene.rng.choice(data.groups)
    share = data.texts(data.group).count(group) / len(data.rows)
    return Made(
        one_told(share, 100 * share),
        scene.with_table(f"({table}[{data.group!r}] == {group!r}).mean() * 100"),
        [scene.with_table(f"({table}[{data.group!r}] == {group!r}).sum() + 333")],
        {"value": group},
        also_right=[scene.with_table(f"({table}[{data.group!r}] == {group!r}).mean()")],
    )


def _percentile(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    value = statistics.quantiles(data.numbers(data.measure), n=10, method="inclusive")[8]
    return Made(
        told(value),
        scene.with_table(f"{table}[{data.measure!r}].quantile(0.9)"),
        [scene.with_table(f"{table}[{data.measure!r}].quantile(0.1) - 0.9")],
    )


def _days(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    days = sorted(data.texts(data.day))
    return Made(
        all_told([days[0], days[-1]], sorted({*days} - {days[0], days[-1]})),
        scene.with_table(f"print({table}[{data.day!r}].min(), {table}[{data.day!r}].max())"),
        [scene.with_table(f"{table}[{data.day!r}].min()"), scene.with_table(f"print({table}[{data.day!r}].tolist())")],
    )


def _rows_per_group(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    counts = Counter(data.texts(data.group))
    return Made(
        told(*counts.values()),
        scene.with_table(f"{table}[{data.group!r}].value_counts()"),
        [scene.with_table(f"{table}.groupby({data.group!r})[{data.measure!r}].sum() + 1000")],
    )


def _best_group(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    means = {group: statistics.mean(data.numbers(data.amount, group)) for group in data.groups}
    best = max(means, key=lambda group: means[group])
    others = [group for group in means if group != best]
    grouped = f"{table}.groupby({data.group!r})[{data.amount!r}].mean()"
    return Made(
        named_alone(best, others),
        scene.with_table(f"{grouped}.idxmax()"),
        [scene.with_table(f"{grouped}.idxmin()"), scene.ends(answer=f"{others[0]} has the highest.")],
        also_right=[scene.with_table(f"{grouped}.sort_values(ascending=False)")],
    )


def _shape(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    return Made(
        told(len(data.rows)),
        scene.with_table(f"{table}.shape"),
        [scene.with_table(f"{table}.size + 500"), scene.ends(answer=f"It has {len(data.rows) + 7} rows.")],
    )


def _difference(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    one, other = scene.rng.sample(data.groups, 2)
    gap = abs(statistics.mean(data.numbers(data.measure, one)) - statistics.mean(data.numbers(data.measure, other)))

    grouped = f"{table}.groupby({data.group!r})[{data.measure!r}].mean()"
    return Made(
        one_told(gap, -gap),
        scene.with_table(f"means = {grouped}\nmeans[{one!r}] - means[{other!r}]"),
        [scene.with_table(f"{grouped} + 1000")],
        {"one": one, "other": other},
    )


FAMILIES: Final = (
    Family(
        "mean-of-column",
        "data",
        {
            "en": (
                "what is the average {measure} in {table}?",
                "mean {measure} of {table} please",
                "compute the mean of {measure} in {table}",
            ),
            "ko": (
                "{table}에서 {measure}의 평균은?",
                "{table}의 {measure} 평균 구해줘",
                "{measure} 평균값 알려줘 ({table})",
            ),
            "ja": (
                "{table}の{measure}の平均は？",
                "{table}で{measure}の平均を求めて",
                "{measure}の平均値を教えて（{table}）",
            ),
        },
        _mean,
    ),
    Family(
        "median-of-column",
        "data",
        {
            "en": (
                "what's the median {amount} in {table}?",
                "give me the median of {amount} ({table})",
                "find the median {amount}, data is {table}",
            ),
            "ko": (
                "{table}에서 {amount}의 중앙값은?",
                "{table}의 {amount} 중앙값을 구해줘",
                "{amount} 중앙값이 얼마야? {table} 사용",
            ),
            "ja": (
                "{table}の{amount}の中央値は？",
                "{table}の{amount}の中央値を計算して",
                "{amount}の中央値を教えてください。データは{table}",
            ),
        },
        _median,
    ),
    Family(
        "total-of-one-group",
        "data",
        {
            "en": (
                "total {amount} for {value} in {table}?",
                "what do the {amount} values of {value} add up to in {table}?",
                "sum up {amount} where {group} is {value} ({table})",
            ),
            "ko": (
                "{table}에서 {group_subject} {value}인 것의 {amount} 합계는?",
                "{value}의 {amount} 총합을 구해줘 ({table})",
                "{table}: {value} {amount} 다 더하면 얼마야?",
            ),
            "ja": (
                "{table}で{group}が{value}の{amount}の合計は？",
                "{value}の{amount}を合計して（{table}）",
                "{table}で{value}の{amount}は全部でいくつ？",
            ),
        },
        _total_of_group,
    ),
    Family(
        "mean-per-group",
        "data",
        {
            "en": (
                "average {measure} per {group} in {table}",
                "what's the mean {measure} for each {group}? use {table}",
                "group {table} by {group} and average {measure}",
            ),
            "ko": (
                "{table}에서 {group}별 {measure} 평균",
                "{group}별로 {measure} 평균을 내줘 ({table})",
                "{table}의 {group}마다 {measure}의 평균이 얼마인지 보여줘",
            ),
            "ja": (
                "{table}の{group}ごとの{measure}の平均",
                "{group}別に{measure}の平均を出して（{table}）",
                "{table}で{group}ごとに{measure}の平均を見せて",
            ),
        },
        _mean_per_group,
    ),
    Family(
        "count-above-limit",
        "data",
        {
            "en": (
                "how many rows of {table} have {measure} above {limit}?",
                "count the entries in {table} with {measure} > {limit}",
                "number of rows where {measure} is more than {limit} ({table})",
            ),
            "ko": (
                "{table}에서 {measure} 값이 {limit}보다 큰 행은 몇 개야?",
                "{measure} > {limit} 인 행 개수 ({table})",
                "{table} 중 {measure} 값이 {limit} 초과인 게 몇 건인지 세어줘",
            ),
            "ja": (
                "{table}で{measure}が{limit}より大きい行はいくつ？",
                "{measure} > {limit} の行数（{table}）",
                "{table}のうち{measure}が{limit}を超えるのは何件か数えて",
            ),
        },
        _count_above,
    ),
    Family(
        "row-with-largest",
        "data",
        {
            "en": (
                "which {label} has the highest {measure} in {table}?",
                "{table}: {label} with the largest {measure}?",
                "find the {label} with the biggest {measure} in {table}",
            ),
            "ko": (
                "{table}에서 {measure} 값이 가장 큰 {label_topic}?",
                "{measure} 최대인 {label} 찾아줘 ({table})",
                "{table}에서 {measure} 값이 제일 높은 {label} 하나만 알려줘",
            ),
            "ja": (
                "{table}で{measure}が一番大きい{label}は？",
                "{measure}が最大の{label}を探して（{table}）",
                "{table}の中で{measure}が最も高い{label}を教えて",
            ),
        },
        _largest_row,
    ),
    Family(
        "three-lowest",
        "data",
        {
            "en": (
                "show the 3 rows of {table} with the lowest {measure}",
                "which three have the smallest {measure} in {table}?",
                "bottom 3 of {table} by {measure}",
            ),
            "ko": (
                "{table}에서 {measure} 값이 가장 작은 3개 행을 보여줘",
                "{measure} 기준 하위 3개 ({table})",
                "{measure} 값이 낮은 순으로 세 개만 보여줘, {table}",
            ),
            "ja": (
                "{table}で{measure}が小さい順に3行見せて",
                "{measure}の下位3件（{table}）",
                "{table}の中で{measure}が最も小さい三つを表示して",
            ),
        },
        _lowest_three,
    ),
    Family(
        "missing-in-column",
        "data",
        {
            "en": (
                "how many values of {measure} are missing in {table}?",
                "count the missing {measure} values in {table}",
                "{table}: number of NaN in {measure}?",
            ),
            "ko": (
                "{table}에서 {measure}의 결측값은 몇 개야?",
                "{measure} 결측치 개수 세어줘 ({table})",
                "{table}의 {measure} 열에 비어 있는 값이 몇 개인지 알려줘",
            ),
            "ja": (
                "{table}の{measure}の欠損値はいくつ？",
                "{measure}の欠損値の数を数えて（{table}）",
                "{table}の{measure}列で空の値は何個ありますか",
            ),
        },
        _missing,
        gaps=True,
    ),
    Family(
        "distinct-values",
        "data",
        {
            "en": (
                "how many different {group} values are there in {table}?",
                "number of distinct {group} in {table}",
                "count the unique values of {group} ({table})",
            ),
            "ko": (
                "{table}에 {group} 종류가 몇 가지 있어?",
                "{group}의 고유값 개수 ({table})",
                "{table}에서 서로 다른 {group}의 수를 세어줘",
            ),
            "ja": (
                "{table}に{group}は何種類ありますか？",
                "{group}のユニークな値の数（{table}）",
                "{table}で異なる{group}の数を数えて",
            ),
        },
        _distinct,
    ),
    Family(
        "correlation-of-two",
        "data",
        {
            "en": (
                "how are {amount} and {measure} correlated in {table}?",
                "correlation between {amount} and {measure} ({table})",
                "compute the correlation of {measure} with {amount} in {table}",
            ),
            "ko": (
                "{table}에서 {amount_with} {measure}의 상관계수는?",
                "{amount}, {measure} 상관관계 계산해줘 ({table})",
                "{table}의 {amount} 그리고 {measure} 사이 상관계수를 구해줘",
            ),
            "ja": (
                "{table}の{amount}と{measure}の相関係数は？",
                "{amount}と{measure}の相関を計算して（{table}）",
                "{table}で{amount}と{measure}はどのくらい相関していますか",
            ),
        },
        _correlation,
    ),
    Family(
        "share-of-group",
        "data",
        {
            "en": (
                "what percentage of the rows in {table} have {group} {value}?",
                "share of {value} among all rows of {table}, in percent",
                "which fraction of {table} is {value}?",
            ),
            "ko": (
                "{table}에서 {group} 값이 {value}인 행의 비율은 몇 %야?",
                "{value} 비율을 퍼센트로 ({table})",
                "{table} 전체 중 {value}의 비중이 얼마나 돼?",
            ),
            "ja": (
                "{table}で{group}が{value}の行は何パーセント？",
                "{value}の割合をパーセントで（{table}）",
                "{table}全体のうち{value}が占める割合を求めて",
            ),
        },
        _share,
    ),
    Family(
        "ninetieth-percentile",
        "data",
        {
            "en": (
                "90th percentile of {measure} in {table}?",
                "what is the 0.9 quantile of {measure} ({table})",
                "compute the 90% quantile of {measure} in {table}",
            ),
            "ko": (
                "{table}에서 {measure}의 90 백분위수는?",
                "{measure} 0.9 분위수 구해줘 ({table})",
                "{table}의 {measure} 90% 분위값 계산",
            ),
            "ja": (
                "{table}の{measure}の90パーセンタイルは？",
                "{measure}の0.9分位点を求めて（{table}）",
                "{table}の{measure}の90%分位数を計算して",
            ),
        },
        _percentile,
    ),
    Family(
        "first-and-last-day",
        "data",
        {
            "en": (
                "what are the first and the last {day} in {table}?",
                "earliest and latest {day} in {table}?",
                "which period does {day} cover in {table}? just the first and last day",
            ),
            "ko": (
                "{table}에서 {day}의 가장 이른 날과 가장 늦은 날은?",
                "{day} 최소, 최대 날짜 ({table})",
                "{table}의 {day} 시작일과 마지막일만 알려줘",
            ),
            "ja": (
                "{table}の{day}の最初と最後の日は？",
                "{day}の最小と最大の日付（{table}）",
                "{table}の{day}は何日から何日までですか",
            ),
        },
        _days,
    ),
    Family(
        "rows-per-group",
        "data",
        {
            "en": (
                "how many rows per {group} in {table}?",
                "count rows by {group} ({table})",
                "number of {rows} for each {group} in {table}",
            ),
            "ko": (
                "{table}에서 {group}별 행 수는?",
                "{group}별 개수 ({table})",
                "{table}에 {group}마다 몇 건씩 있는지 보여줘",
            ),
            "ja": (
                "{table}の{group}ごとの行数は？",
                "{group}別の件数（{table}）",
                "{table}で{group}ごとに何件あるか見せて",
            ),
        },
        _rows_per_group,
    ),
    Family(
        "group-with-highest-mean",
        "data",
        {
            "en": (
                "which {group} has the highest average {amount} in {table}?",
                "{table}: {group} with the largest mean {amount}?",
                "find the {group} whose average {amount} is highest ({table})",
            ),
            "ko": (
                "{table}에서 {amount} 평균이 가장 높은 {group_topic}?",
                "평균 {amount} 값이 제일 큰 {group} ({table})",
                "{table}에서 어느 {group}의 {amount} 평균이 가장 커?",
            ),
            "ja": (
                "{table}で{amount}の平均が最も高い{group}は？",
                "平均{amount}が一番大きい{group}（{table}）",
                "{table}でどの{group}の{amount}の平均が一番高いですか",
            ),
        },
        _best_group,
    ),
    Family(
        "size-of-file",
        "data",
        {
            "en": (
                "how many rows does {file} have?",
                "load {file} and tell me the number of rows",
                "what's the size of the table in {file}? rows please",
            ),
            "ko": ("{file}에는 행이 몇 개 있어?", "{file} 읽어서 행 수를 알려줘", "{file}의 데이터는 몇 줄이야?"),
            "ja": ("{file}は何行ありますか？", "{file}を読み込んで行数を教えて", "{file}のデータの行数は？"),
        },
        _shape,
        loaded=False,
    ),
    Family(
        "difference-of-means",
        "data",
        {
            "en": (
                "how much do the average {measure} of {one} and {other} differ in {table}?",
                "difference in mean {measure} between {one} and {other} ({table})",
                "compare {one} with {other} in {table}: by how much does the mean {measure} differ?",
            ),
            "ko": (
                "{table}에서 {one_with} {other}의 {measure} 평균 차이는?",
                "{one}, {other} 사이 평균 {measure} 차이를 계산해줘 ({table})",
                "{table}의 {one} {measure} 평균에서 {other} 평균을 빼면?",
            ),
            "ja": (
                "{table}で{one}と{other}の{measure}の平均の差は？",
                "{one}と{other}の平均{measure}の差を計算して（{table}）",
                "{table}の{one}の{measure}の平均から{other}の平均を引くといくつ？",
            ),
        },
        _difference,
    ),
)
