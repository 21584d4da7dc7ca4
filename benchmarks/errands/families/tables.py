"""Changing tables, making others of them, and reading and writing them."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Final

from benchmarks.evals import EndState, Outcome

from .._errand import Family, Made, Scene
from ._judging import column_values, holds, rows_in_order

__all__ = ["FAMILIES"]


def _kept(outcome: Outcome) -> None:
    outcome.added()


def _filter(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    values = sorted(data.numbers(data.measure))
    limit = round(values[len(values) // 2], 0)
    kept = [value for value in data.numbers(data.measure) if value > limit]
    name = scene.rng.choice(["big", "selected", "upper_part"])
    probe = column_values(name, data.measure)

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, f"sorted({probe})", sorted(kept))

    chosen = f"{table}[{table}[{data.measure!r}] > {limit}]"
    return Made(
        judge,
        scene.with_table(f"{name} = {chosen}\n{name}"),
        [
            scene.with_table(chosen),
            scene.with_table(f"{name} = {table}[{table}[{data.measure!r}] < {limit}]"),
            scene.with_table(f"{name} = len({chosen})"),
        ],
        {"limit": f"{limit:g}", "name": name},
        probes=[f"sorted({probe})"],
    )


def _ratio(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    name = scene.rng.choice(["per_unit", "ratio_1", "relative"])
    right = [float(row[data.measure] or 0) / float(row[data.amount] or 1) for row in data.rows if row[data.amount]]
    probe = f"[x for x, n in zip({column_values(table, name)}, {column_values(table, data.amount)}) if n]"

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, probe, right)

    return Made(
        judge,
        scene.with_table(f"{table}[{name!r}] = {table}[{data.measure!r}] / {table}[{data.amount!r}]\n{table}.head()"),
        [
            scene.with_table(f"{table}[{data.measure!r}] / {table}[{data.amount!r}]"),
            scene.with_table(f"{table}[{name!r}] = {table}[{data.amount!r}] / {table}[{data.measure!r}]"),
        ],
        {"name": name},
        probes=[probe],
    )


def _flag(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    name = scene.rng.choice(["is_high", "above_limit", "flag"])
    values = data.numbers(data.measure)
    limit = round(sorted(values)[len(values) // 2] + 0.04, 0)
    probe = f"[int(bool(x)) for x in {column_values(table, name)}]"

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, probe, [int(value > limit) for value in values])

    return Made(
        judge,
        scene.with_table(f"{table}[{name!r}] = {table}[{data.measure!r}] > {limit}"),
        [
            scene.with_table(f"{table}[{name!r}] = {table}[{data.measure!r}] <= {limit}"),
            scene.with_table(f"{name} = {table}[{data.measure!r}] > {limit}"),
        ],
        {"name": name, "limit": f"{limit:g}"},
        probes=[probe],
    )


def _sorted(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    ordered = [str(row[data.label]) for row in sorted(data.rows, key=lambda row: -float(row[data.measure] or 0))]
    code = f"{table}.sort_values({data.measure!r}, ascending=False)[[{data.label!r}, {data.measure!r}]]"
    return Made(
        rows_in_order(ordered),
        scene.with_table(code),
        [
            scene.with_table(f"{table}.sort_values({data.measure!r})"),
            scene.with_table(f"print({table}[{data.measure!r}].tolist())"),
        ],
    )


def _filled(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    mean = statistics.mean(data.numbers(data.measure))
    right = [mean if (value := row[data.measure]) is None else float(value) for row in data.rows]
    probe = column_values(table, data.measure)

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        holds(outcome, probe, right)

    column = f"{table}[{data.measure!r}]"
    return Made(
        judge,
        scene.with_table(f"{column} = {column}.fillna({column}.mean())"),
        [
            scene.with_table(f"{column} = {column}.fillna(0)"),
            scene.with_table(f"{table} = {table}.dropna()"),
            scene.with_table(f"{column}.fillna({column}.mean())"),
        ],
        probes=[probe],
    )


def _unrepeated(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    right = len({tuple(row.values()) for row in data.rows})
    probe = f"[len({table})]"

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        holds(outcome, probe, [right])

    return Made(
        judge,
        scene.with_table(f"{table} = {table}.drop_duplicates()\nlen({table})"),
        [
            scene.with_table(f"{table}.drop_duplicates()"),
            scene.with_table(f"{table} = {table}.drop_duplicates({data.group!r})"),
        ],
        probes=[probe],
    )


def _dates(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    probe = f"[int(__import__('pandas').api.types.is_datetime64_any_dtype({table}[{data.day!r}])), len({table})]"

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        holds(outcome, probe, [1, len(data.rows)])

    return Made(
        judge,
        scene.with_table(
            f"{'' if not scene.loaded else 'import pandas as pd'}\n{table}[{data.day!r}] = pd.to_datetime({table}[{data.day!r}])"
        ),
        [
            scene.with_table(f"{table}[{data.day!r}] = {table}[{data.day!r}].astype(str)"),
            scene.with_table(f"pd.to_datetime({table}[{data.day!r}])"),
        ],
        probes=[probe],
    )


def _months(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    counts = Counter(int(str(day)[5:7]) for day in data.texts(data.day))
    right = [counts[month] for month in sorted(counts)]

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        outcome.tells(*right)

    by_month = f"pd.to_datetime({table}[{data.day!r}]).dt.month"
    return Made(
        judge,
        scene.with_table(f"{by_month}.value_counts().sort_index()"),
        [scene.with_table(f"{table}[{data.measure!r}].sum() + 5000.5")],
    )


def _merged(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    info = {group: f"C{at}" for at, group in enumerate(data.groups, 1)}
    other = "codes"
    lines = [f"{data.group},code", *(f"{group},{code}" for group, code in info.items())]
    name = "joined"
    probe = f"[len({name}), int({name}['code'].notna().sum()), {name}[{data.measure!r}].sum()]"

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, probe, [len(data.rows), len(data.rows), sum(data.numbers(data.measure))])

    before = [*scene.before, f"{other} = pd.read_csv('codes.csv')\n{other}"]
    right = f"{name} = {table}.merge({other}, on={data.group!r})\n{name}.head()"
    made = Made(
        judge,
        _below(before, right),
        [
            _below(before, f"{name} = {table}.merge({other}, how='cross')"),
            _below(before, f"{table}.merge({other}, on={data.group!r})"),
        ],
        {"other": other, "name": name},
        cells=before,
        probes=[probe],
        files={"codes.csv": "\n".join(lines) + "\n"},
    )
    return made


def _written(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    file = scene.rng.choice(["totals.csv", "summary_by_group.csv"])
    sums = sorted(sum(data.numbers(data.amount, group)) for group in data.groups)
    probe = f"sorted(__import__('pandas').read_csv({file!r})[{data.amount!r}].tolist())"

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        holds(outcome, probe, sums)

    grouped = f"{table}.groupby({data.group!r})[{data.amount!r}]"
    return Made(
        judge,
        scene.with_table(f"{grouped}.sum().to_csv({file!r})"),
        [scene.with_table(f"{grouped}.sum()"), scene.with_table(f"{grouped}.mean().round(3).to_csv({file!r})")],
        {"out": file},
        probes=[probe],
    )


def _renamed(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    new = scene.rng.choice(["amount_total", "n_units", "count_1"])
    probe = f"[int({new!r} in {table}.columns), int({data.amount!r} in {table}.columns), len({table})]"

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps()
        holds(outcome, probe, [1, 0, len(data.rows)])

    return Made(
        judge,
        scene.with_table(f"{table} = {table}.rename(columns={{{data.amount!r}: {new!r}}})\n{table}.head()"),
        [
            scene.with_table(f"{table}[{new!r}] = {table}[{data.amount!r}]"),
            scene.with_table(f"{table}.rename(columns={{{data.amount!r}: {new!r}}})"),
        ],
        {"new": new, "old": data.amount},
        probes=[probe],
    )


def _loaded(scene: Scene) -> Made:
    data = scene.data
    name = scene.rng.choice(["raw", "data_1", "records"])
    probe = f"[len({name}), len({name}.columns)]"

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, probe, [len(data.rows), 5])

    read = f"import pandas as pd\n\n{name} = pd.read_csv({data.file!r})"
    return Made(
        judge,
        scene.ends(read),
        [
            scene.ends(f"import pandas as pd\n\npd.read_csv({data.file!r})"),
            scene.ends(f"{name} = open({data.file!r}).read()"),
        ],
        {"name": name},
        probes=[probe],
    )


def _running(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    name = scene.rng.choice(["running_total", "so_far", "cum_1"])
    total, right = 0.0, []
    for value in data.numbers(data.amount):
        total += value
        right.append(total)
    probe = column_values(table, name)

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, probe, right)

    return Made(
        judge,
        scene.with_table(f"{table}[{name!r}] = {table}[{data.amount!r}].cumsum()"),
        [
            scene.with_table(f"{table}[{name!r}] = {table}[{data.amount!r}].sum()"),
            scene.with_table(f"{table}[{data.amount!r}].cumsum()"),
        ],
        {"name": name},
        probes=[probe],
    )


def _pivot(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    name = "overview"
    right = sorted(statistics.mean(data.numbers(data.measure, group)) for group in data.groups)
    probe = f"sorted(float(x) for x in __import__('numpy').ravel({name}.to_numpy()))"

    def judge(outcome: Outcome) -> None:
        _kept(outcome)
        holds(outcome, probe, right)

    return Made(
        judge,
        scene.with_table(
            f"{name} = {table}.pivot_table(index={data.group!r}, values={data.measure!r}, aggfunc='mean')\n{name}"
        ),
        [
            scene.with_table(
                f"{name} = {table}.pivot_table(index={data.group!r}, values={data.measure!r}, aggfunc='max') + 1"
            )
        ],
        {"name": name},
        also_right=[scene.with_table(f"{name} = {table}.groupby({data.group!r})[{data.measure!r}].mean()")],
        probes=[probe],
    )


def _below(cells: list[str], code: str) -> EndState:
    return EndState([*cells, code])


FAMILIES: Final = (
    Family(
        "filter-into-variable",
        "data",
        {
            "en": (
                "put the rows of {table} with {measure} above {limit} into {name}",
                "create {name}: all rows of {table} where {measure} > {limit}",
                "make a table {name} with only those rows of {table} whose {measure} exceeds {limit}",
            ),
            "ko": (
                "{table}에서 {measure} 값이 {limit}보다 큰 행만 {name}에 담아줘",
                "{measure} > {limit} 인 행으로 {name} 만들어줘 ({table})",
                "{table} 중 {measure} 값이 {limit} 초과인 행을 {name} 변수로 저장해줘",
            ),
            "ja": (
                "{table}で{measure}が{limit}より大きい行だけを{name}に入れて",
                "{measure} > {limit} の行から{name}を作って（{table}）",
                "{table}のうち{measure}が{limit}を超える行を変数{name}にして",
            ),
        },
        _filter,
    ),
    Family(
        "ratio-column",
        "data",
        {
            "en": (
                "add a column {name} to {table}: {measure} divided by {amount}",
                "new column {name} = {measure} / {amount} in {table}",
                "in {table}, compute {measure} per {amount} as column {name}",
            ),
            "ko": (
                "{table}에 {measure} 값을 {amount} 값으로 나눈 {name} 열을 추가해줘",
                "{name} = {measure} / {amount} 열 만들어줘 ({table})",
                "{table}에 새 열 {name} 추가: {measure} 나누기 {amount}",
            ),
            "ja": (
                "{table}に{measure}を{amount}で割った列{name}を追加して",
                "{name} = {measure} / {amount} の列を作って（{table}）",
                "{table}に新しい列{name}を足して。{measure}÷{amount}",
            ),
        },
        _ratio,
        loaded=True,
    ),
    Family(
        "flag-column",
        "data",
        {
            "en": (
                "add a column {name} to {table} that is True where {measure} is above {limit}",
                "{table}: new boolean column {name} for {measure} > {limit}",
                "mark rows of {table} with {measure} over {limit} in a column {name}",
            ),
            "ko": (
                "{table}에 {measure} 값이 {limit}보다 크면 True인 {name} 열을 추가해줘",
                "{measure} > {limit} 여부를 {name} 열로 ({table})",
                "{table}에서 {measure} 값이 {limit} 초과인지 {name} 열에 표시해줘",
            ),
            "ja": (
                "{table}に{measure}が{limit}より大きければTrueになる列{name}を追加して",
                "{measure} > {limit} かどうかを列{name}に（{table}）",
                "{table}で{measure}が{limit}を超える行を列{name}で印を付けて",
            ),
        },
        _flag,
        loaded=True,
    ),
    Family(
        "sorted-view",
        "data",
        {
            "en": (
                "show {table} sorted by {measure}, highest first",
                "sort {table} by {measure} descending and show all of it",
                "list {table} from the highest to the lowest {measure}",
            ),
            "ko": (
                "{table_object} {measure} 내림차순으로 정렬해서 보여줘",
                "{measure} 큰 순서대로 {table} 전체를 보여줘",
                "{table} 정렬: {measure} 높은 것부터",
            ),
            "ja": (
                "{table}を{measure}の降順に並べて見せて",
                "{measure}の大きい順に{table}を全部表示して",
                "{table}を{measure}が高い順に並べ替えて表示",
            ),
        },
        _sorted,
    ),
    Family(
        "missing-filled-with-mean",
        "data",
        {
            "en": (
                "fill the missing {measure} in {table} with the mean",
                "replace NaN in {measure} of {table} by its average",
                "{table} has gaps in {measure}: fill them with the mean {measure}",
            ),
            "ko": (
                "{table}의 {measure} 결측값을 평균으로 채워줘",
                "{measure} 빈 값을 평균값으로 대체 ({table})",
                "{table}에서 {measure} 열의 NaN을 그 열의 평균으로 바꿔줘",
            ),
            "ja": (
                "{table}の{measure}の欠損値を平均で埋めて",
                "{measure}の空の値を平均値で置き換えて（{table}）",
                "{table}の{measure}列のNaNをその列の平均で補完して",
            ),
        },
        _filled,
        loaded=True,
        gaps=True,
    ),
    Family(
        "repeated-rows-dropped",
        "data",
        {
            "en": (
                "remove the duplicate rows from {table}",
                "{table} has rows twice, drop the repeats",
                "deduplicate {table}",
            ),
            "ko": (
                "{table}에서 중복된 행을 제거해줘",
                "{table} 중복 행 삭제",
                "{table}에 같은 행이 두 번씩 있어. 하나만 남겨줘",
            ),
            "ja": (
                "{table}から重複した行を取り除いて",
                "{table}の重複行を削除",
                "{table}に同じ行が二回あります。一つだけ残してください",
            ),
        },
        _unrepeated,
        loaded=True,
        repeats=True,
    ),
    Family(
        "days-as-dates",
        "data",
        {
            "en": (
                "convert {day} in {table} to datetime",
                "turn {day} of {table} into real dates",
                "parse {day} of {table} as dates",
            ),
            "ko": (
                "{table}의 {day} 열을 datetime으로 바꿔줘",
                "{day_object} 날짜형으로 변환 ({table})",
                "{table}에서 {day} 열을 날짜 타입으로 만들어줘",
            ),
            "ja": (
                "{table}の{day}列をdatetimeに変換して",
                "{day}を日付型に（{table}）",
                "{table}の{day}を日付として扱えるようにして",
            ),
        },
        _dates,
        loaded=True,
    ),
    Family(
        "rows-per-month",
        "data",
        {
            "en": (
                "how many rows of {table} fall in each month of {day}?",
                "count {table} by month ({day})",
                "number of rows per month, by {day}, in {table}",
            ),
            "ko": (
                "{table}에서 {day} 기준 월별 행 수를 알려줘",
                "{day}의 달마다 몇 건인지 ({table})",
                "{table_object} {day} 월별로 세어줘",
            ),
            "ja": (
                "{table}の{day}の月ごとの行数を教えて",
                "{day}の月別の件数（{table}）",
                "{table}を{day}の月ごとに数えて",
            ),
        },
        _months,
        loaded=True,
    ),
    Family(
        "two-tables-joined",
        "data",
        {
            "en": (
                "join {table} and {other} on {group} into {name}",
                "merge {other} into {table} by {group}, call the result {name}",
                "create {name} from {table} with the matching code of {other} ({group})",
            ),
            "ko": (
                "{table_with} {other_object} {group} 기준으로 합쳐서 {name}에 넣어줘",
                "{group_by} {table}, {other} 조인해서 {name} 만들기",
                "{table}에 {other_object} {group_by} merge한 결과를 {name_by} 저장해줘",
            ),
            "ja": (
                "{table}と{other}を{group}で結合して{name}にして",
                "{group}をキーに{table}と{other}をマージ、結果は{name}",
                "{table}に{other}を{group}で結び付けた表{name}を作って",
            ),
        },
        _merged,
        loaded=True,
    ),
    Family(
        "totals-written-to-file",
        "data",
        {
            "en": (
                "save the total {amount} per {group} of {table} as {out}",
                "write the sums of {amount} by {group} ({table}) to {out}",
                "group {table} by {group}, add up {amount}, store it in {out}",
            ),
            "ko": (
                "{table}의 {group}별 {amount} 합계를 {out} 파일로 저장해줘",
                "{group}별 {amount} 총합을 {out}에 쓰기 ({table})",
                "{table_object} {group_by} 묶어 {amount} 합을 {out_by} 저장",
            ),
            "ja": (
                "{table}の{group}ごとの{amount}の合計を{out}に保存して",
                "{group}別の{amount}の合計を{out}に書き出して（{table}）",
                "{table}を{group}でまとめて{amount}を合計し、{out}として保存",
            ),
        },
        _written,
    ),
    Family(
        "column-renamed",
        "data",
        {
            "en": (
                "rename the column {old} of {table} to {new}",
                "in {table} call {old} {new} from now on",
                "{table}: change the column name {old} into {new}",
            ),
            "ko": (
                "{table}의 {old} 열 이름을 {new_by} 바꿔줘",
                "{old} 열을 {new_by} 이름 변경 ({table})",
                "{table}에서 {old} 컬럼명을 {new_by} 수정해줘",
            ),
            "ja": (
                "{table}の列{old}の名前を{new}に変えて",
                "列名{old}を{new}に変更（{table}）",
                "{table}で{old}という列を{new}という名前にして",
            ),
        },
        _renamed,
        loaded=True,
    ),
    Family(
        "file-into-variable",
        "data",
        {
            "en": (
                "read {file} into {name}",
                "load {file} as a data frame called {name}",
                "open {file} with pandas, variable {name}",
            ),
            "ko": (
                "{file_object} {name_by} 읽어줘",
                "{file} 불러와서 {name} 데이터프레임으로 만들어줘",
                "판다스로 {file} 열어서 {name} 변수에 넣어줘",
            ),
            "ja": (
                "{file}を{name}に読み込んで",
                "{file}を読んで{name}というデータフレームにして",
                "pandasで{file}を開いて変数{name}に入れて",
            ),
        },
        _loaded,
        loaded=False,
    ),
    Family(
        "running-total",
        "data",
        {
            "en": (
                "add a running total of {amount} to {table} as {name}",
                "cumulative sum of {amount} in a new column {name} ({table})",
                "{table}: column {name} with {amount} added up so far",
            ),
            "ko": (
                "{table}에 {amount} 누적합을 {name} 열로 추가해줘",
                "{amount}의 누적 합계를 {name} 열에 ({table})",
                "{table}에 새 열 {name}: 지금까지의 {amount} 합",
            ),
            "ja": (
                "{table}に{amount}の累積和を列{name}として追加して",
                "{amount}の累計を列{name}に（{table}）",
                "{table}に{name}という列を足して、{amount}のそこまでの合計を入れて",
            ),
        },
        _running,
        loaded=True,
    ),
    Family(
        "pivot-of-means",
        "data",
        {
            "en": (
                "make a pivot table {name} with the mean {measure} for each {group} of {table}",
                "{name} = pivot of {table}: {group} as rows, average {measure}",
                "pivot {table} by {group} with mean {measure} into {name}",
            ),
            "ko": (
                "{table_by} {group}별 {measure} 평균 피벗 테이블 {name} 만들어줘",
                "{name}: {group} 행, {measure} 평균 피벗 ({table})",
                "{table_object} {group} 기준으로 피벗해서 평균 {measure_object} {name}에 담아줘",
            ),
            "ja": (
                "{table}から{group}ごとの{measure}の平均のピボットテーブル{name}を作って",
                "{name}：行は{group}、{measure}の平均のピボット（{table}）",
                "{table}を{group}でピボットして平均{measure}を{name}に入れて",
            ),
        },
        _pivot,
    ),
)
