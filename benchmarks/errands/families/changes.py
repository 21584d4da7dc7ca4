"""Changes of cells that are there, and of nothing else."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Final

from benchmarks.evals import FIGURES, EndState, Outcome, Text

from .._errand import Family, Made, Scene
from ._judging import drawn

__all__ = ["FAMILIES"]

_PLT: Final = "import matplotlib.pyplot as plt\n\n"


def _changed(
    scene: Scene,
    old: str,
    right: str,
    wrong: Sequence[str],
    *,
    shows: str,
    says: dict[str, str],
    behind: Sequence[str] = (),
    here: bool = True,
) -> Made:
    """A cell is to be another, and to show this then. ``behind`` are cells below it; ``here`` says whether the person is in it."""
    before = [*scene.before, old, *behind]
    number = len(scene.before) + 1

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(number)
        outcome.must(all(cell.source.strip() != old.strip() for cell in outcome.after), "the cell is as it was")
        outcome.must(len(outcome.after) == len(before), "there are other cells than before")
        outcome.must(shows in " ".join(outcome.after[number - 1].text.split()), f"it does not show {shows!r}")

    return Made(
        judge,
        EndState([*scene.before, right, *behind]),
        [EndState([*before, right]), *(EndState([*scene.before, one, *behind]) for one in wrong)],
        {"cell": str(number), **says},
        cells=before,
        at=number if here else None,
        may_change=frozenset({number}),
        means=number,
    )


def _constant(scene: Scene) -> Made:
    name = scene.rng.choice(["rate", "factor", "discount"])
    old, new = scene.rng.sample([0.05, 0.12, 0.2, 0.35, 0.5], 2)
    base = scene.rng.randint(100, 900)
    code = f"{name} = {{value}}\nprint('result', round({base} * {name}, 3))"
    return _changed(
        scene,
        code.format(value=old),
        code.format(value=new),
        [f"{name} = {new}\nprint('result')", f"print('result', {old})"],
        shows=f"result {round(base * new, 3)}",
        says={"name": name, "new": str(new), "old": str(old)},
    )


def _aggregate(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    code = f"value = {table}[{data.measure!r}].{{how}}()\nprint('value:', round(value, 2))"
    right = round(statistics.median(data.numbers(data.measure)), 2)
    return _changed(
        scene,
        code.format(how="mean"),
        code.format(how="median"),
        [code.format(how="max"), f"print('value:', {right})".replace("value:", "median")],
        shows=f"value: {right}",
        says={"old": "mean", "new": "median"},
        behind=("print('done')",),
    )


def _order(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    code = f"ordered = {table}.sort_values({data.measure!r}{{more}})\nprint(ordered[{data.label!r}].iloc[0])"
    first = str(max(data.rows, key=lambda row: float(row[data.measure] or 0))[data.label])
    return _changed(
        scene,
        code.format(more=""),
        code.format(more=", ascending=False"),
        [code.format(more=", ascending=True")],
        shows=first,
        says={},
    )


def _title(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    title = scene.rng.choice(["Overview 2024", "First look", "All values"])
    old = f"{_PLT}plt.plot({table}[{data.amount!r}])\nplt.show()"
    before = [*scene.before, old]
    number = len(before)

    def judge(outcome: Outcome) -> None:
        axes = drawn(outcome)
        outcome.keeps(number)
        outcome.must(len(outcome.after) == len(before), "there are other cells than before")
        titled = [one for one in axes if one["title"] == title]
        outcome.must(titled and any(one["lines"] for one in titled), "the plot has no such title")

    return Made(
        judge,
        EndState([*scene.before, f"{_PLT}plt.plot({table}[{data.amount!r}])\nplt.title({title!r})\nplt.show()"]),
        [
            EndState([*before, f"plt.title({title!r})\nplt.show()"]),
            EndState([*scene.before, f"{_PLT}plt.title({title!r})\nplt.show()"]),
            EndState([*before, Text(f"# {title}")]),
        ],
        {"cell": str(number), "title": title},
        cells=before,
        probes=[FIGURES],
        at=number,
        may_change=frozenset({number}),
        means=number,
    )


def _variable(scene: Scene) -> Made:
    old, new = scene.rng.choice([("tmp", "prices"), ("x1", "temperatures"), ("lst", "ages")])
    values = [scene.rng.randint(1, 50) for _ in range(5)]
    cells = [
        f"{{n}} = {values}",
        "total = sum({n})\nprint(total)",
        "print(f'{{{{len({n})}}}} values, mean {{{{total / len({n})}}}}')",
    ]
    before, after = (
        [cell.format(n=name).replace("{{", "{").replace("}}", "}") for cell in cells] for name in (old, new)
    )

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(1, 2, 3)
        outcome.must(old not in outcome.names(), f"the name {old} is still there")
        outcome.equals(new, values)
        outcome.must(len(outcome.after) == 3, "there are other cells than before")
        outcome.must(f"mean {sum(values) / 5}" in "\n".join(outcome.rerun.texts), "the last cell shows something else")

    return Made(
        judge,
        EndState(after),
        [
            EndState([after[0], before[1], before[2]]),
            EndState([*before, f"{new} = {old}"]),
            EndState([after[0], after[1]]),
        ],
        {"old": old, "new": new},
        cells=before,
        probes=[new],
        may_change=frozenset({1, 2, 3}),
    )


def _function(scene: Scene) -> Made:
    old, new = scene.rng.choice([("f", "area"), ("calc", "rectangle_area"), ("func1", "surface")])
    a, b = scene.rng.randint(2, 20), scene.rng.randint(2, 20)
    cells = [
        "def {n}(width, height):\n    return width * height",
        f"print({{n}}({a}, {b}))",
        f"[{{n}}(side, side) for side in range({a})]",
    ]
    before, after = ([cell.format(n=name) for cell in cells] for name in (old, new))

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(1, 2, 3)
        outcome.must(old not in outcome.names(), f"the name {old} is still there")
        outcome.equals(f"{new}(3, 4)", 12)
        outcome.must(len(outcome.after) == 3, "there are other cells than before")

    return Made(
        judge,
        EndState(after),
        [EndState([after[0], before[1], before[2]]), EndState([*before, f"{new} = {old}"])],
        {"old": old, "new": new},
        cells=before,
        probes=[f"{new}(3, 4)"],
        may_change=frozenset({1, 2, 3}),
    )


def _into_function(scene: Scene) -> Made:
    name = scene.rng.choice(["to_fahrenheit", "net_price", "half_life"])
    formula = {"to_fahrenheit": "{x} * 9 / 5 + 32", "net_price": "{x} / 1.19", "half_life": "0.693 / {x}"}[name]
    first = scene.rng.randint(2, 80)
    value = eval(formula.format(x=first))
    old = f"x = {first}\nresult = {formula.format(x='x')}\nprint(result)"
    before = [*scene.before, old]
    number = len(before)

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(number)
        outcome.must(f"def {name}" in outcome.code, f"there is no function {name}")
        found = outcome.value(f"{name}(10)")
        right = eval(formula.format(x=10))
        outcome.must(isinstance(found, (int, float)) and abs(found - right) < 1e-6, f"{name}(10) is {found}")

    return Made(
        judge,
        EndState([*scene.before, f"def {name}(x):\n    return {formula.format(x='x')}\n\nprint({name}({first}))"]),
        [
            EndState([*scene.before, f"def {name}(x):\n    return x\n\nprint({value})"]),
            EndState([*scene.before, f"{name} = {value}"]),
        ],
        {"cell": str(number), "name": name},
        also_right=[EndState([*before, f"def {name}(x):\n    return {formula.format(x='x')}"])],
        cells=before,
        probes=[f"{name}(10)"],
        at=number,
        may_change=frozenset({number}),
        means=number,
    )


def _deleted(scene: Scene) -> Made:
    extra = [f"print({scene.rng.randint(100, 999)})", f"note_{scene.rng.randint(1, 9)} = 'check again'", "2 + 2"]
    before = [*scene.before, *extra]
    number = len(scene.before) + scene.rng.randint(1, 3)
    left = [cell for at, cell in enumerate(before, 1) if at != number]

    def judge(outcome: Outcome) -> None:
        outcome.keeps(number)
        outcome.must(len(outcome.after) == len(left), "there are more or fewer cells than there should be")
        outcome.must(
            all(cell.source.strip() != before[number - 1].strip() for cell in outcome.after), "the cell is still there"
        )

    return Made(
        judge,
        EndState(left),
        [
            EndState([cell for at, cell in enumerate(before, 1) if at != number % len(before) + 1]),
            EndState([*before, "# deleted"]),
        ],
        {"cell": str(number)},
        cells=before,
        may_change=frozenset({number}),
        means=number,
    )


def _deleted_by_content(scene: Scene) -> Made:
    word = scene.rng.choice(["secret_note", "old_draft", "scratch_pad"])
    extra = [f"print({scene.rng.randint(100, 999)})", f"{word} = 'to be thrown away'", f"{scene.rng.randint(2, 9)} * 7"]
    before = [*scene.before, *extra]
    number = len(scene.before) + 2
    left = [cell for at, cell in enumerate(before, 1) if at != number]

    def judge(outcome: Outcome) -> None:
        outcome.keeps(number)
        outcome.must(len(outcome.after) == len(left), "there are more or fewer cells than there should be")
        outcome.must(word not in outcome.code, "the cell is still there")

    return Made(
        judge,
        EndState(left),
        [EndState([*scene.before, extra[0], extra[1]]), EndState([*before, f"del {word}"])],
        {"name": word},
        cells=before,
        may_change=frozenset({number}),
        means=number,
    )


def _heading(scene: Scene) -> Made:
    title = scene.rng.choice(["Data check", "Notes on the week", "Second part"])
    top = scene.rng.random() < 0.5
    before = [*scene.before, "a = 5", "a * 2"]

    def judge(outcome: Outcome) -> None:
        outcome.keeps()
        new = [cell for cell in outcome.new if not cell.is_code]
        outcome.must(len(new) == 1 and len(outcome.after) == len(before) + 1, "there is not one new text cell")
        outcome.must(
            title.casefold() in new[0].source.casefold() and new[0].source.lstrip().startswith("#"),
            "it is no such heading",
        )
        place = outcome.after[0 if top else -1]
        outcome.must(place.source == new[0].source, "it is not where it should be")

    heading = Text(f"# {title}")
    places = {"en": ("at the top", "at the end"), "ko": ("맨 위에", "맨 아래에"), "ja": ("一番上に", "一番下に")}
    return Made(
        judge,
        EndState([heading, *before] if top else [*before, heading]),
        [EndState([*before, heading] if top else [heading, *before]), EndState([*before, f"print({title!r})"])],
        {"title": title, "place": places[scene.language][0 if top else 1]},
        cells=before,
    )


def _docstring(scene: Scene) -> Made:
    name = scene.rng.choice(["spread", "clip_to", "scale"])
    body = {
        "spread": "def spread(values):\n{doc}    return max(values) - min(values)",
        "clip_to": "def clip_to(value, low, high):\n{doc}    return max(low, min(high, value))",
        "scale": "def scale(values, factor):\n{doc}    return [value * factor for value in values]",
    }[name]
    tail = {"spread": "spread([3, 9, 4])", "clip_to": "clip_to(7, 0, 5)", "scale": "scale([1, 2], 3)"}[name]
    value = {"spread": 6, "clip_to": 5, "scale": [3, 6]}[name]
    before = [*scene.before, body.format(doc=""), tail]
    number = len(scene.before) + 1

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(number)
        outcome.equals(tail, value)
        doc = outcome.value(f"{name}.__doc__")
        outcome.must(isinstance(doc, str) and len(doc.split()) > 2, "the function has no docstring")
        outcome.must(outcome.code.count(f"def {name}") == 1, "the function is there twice")

    doc = '    """Say what it does."""\n'
    return Made(
        judge,
        EndState([*scene.before, body.format(doc=doc), tail]),
        [
            EndState([*scene.before, body.format(doc="    # Say what it does.\n"), tail]),
            EndState([*before, body.format(doc=doc)]),
        ],
        {"name": name},
        cells=before,
        probes=[tail, f"{name}.__doc__"],
        may_change=frozenset({number}),
        means=number,
    )


FAMILIES: Final = (
    Family(
        "constant-changed",
        "change",
        {
            "en": (
                "set {name} to {new} in this cell",
                "change {name} to {new}",
                "use {new} instead of {old} for {name}",
            ),
            "ko": (
                "이 셀에서 {name_object} {new_by} 바꿔줘",
                "{name} 값을 {new_by} 수정",
                "{name_object} {old} 말고 {new_by} 해줘",
            ),
            "ja": ("このセルで{name}を{new}にして", "{name}を{new}に変更", "{name}は{old}ではなく{new}で"),
        },
        _constant,
        loaded=False,
    ),
    Family(
        "mean-to-median",
        "change",
        {
            "en": (
                "use the median instead of the mean in cell {cell}",
                "change cell {cell}: median, not mean",
                "here I want the median rather than the mean",
            ),
            "ko": (
                "{cell}번 셀에서 평균 대신 중앙값을 써줘",
                "{cell}번 셀 mean을 median으로 바꿔줘",
                "여기는 평균 말고 median으로 해줘",
            ),
            "ja": (
                "セル{cell}で平均の代わりに中央値を使って",
                "セル{cell}のmeanをmedianに変えて",
                "ここは平均ではなくmedianにして",
            ),
        },
        _aggregate,
        loaded=True,
    ),
    Family(
        "sort-order-turned",
        "change",
        {
            "en": (
                "sort descending in this cell",
                "change cell {cell} so that the highest {measure} comes first",
                "reverse the sort order here, largest first",
            ),
            "ko": (
                "이 셀에서 내림차순으로 정렬해줘",
                "{cell}번 셀을 {measure} 큰 값이 먼저 오게 바꿔줘",
                "여기 정렬 순서를 반대로, 큰 것부터",
            ),
            "ja": (
                "このセルで降順に並べて",
                "セル{cell}を{measure}が大きい順になるように変えて",
                "ここの並び順を逆にして、大きい方から",
            ),
        },
        _order,
        loaded=True,
    ),
    Family(
        "title-on-plot",
        "change",
        {
            "en": (
                "add the title '{title}' to the plot",
                "give this plot the title {title}",
                "the chart in cell {cell} needs a title: {title}",
            ),
            "ko": (
                "그래프에 '{title}' 제목을 넣어줘",
                "이 그래프 제목을 {title_by} 해줘",
                "{cell}번 셀 차트에 제목 추가: {title}",
            ),
            "ja": (
                "グラフに「{title}」というタイトルを付けて",
                "このグラフのタイトルを{title}にして",
                "セル{cell}の図にタイトルを追加：{title}",
            ),
        },
        _title,
        loaded=True,
    ),
    Family(
        "variable-renamed",
        "rename",
        {
            "en": (
                "rename the variable {old} to {new} everywhere",
                "{old} should be called {new}",
                "replace the name {old} by {new} in all cells",
            ),
            "ko": (
                "변수 {old} 이름을 모든 셀에서 {new_by} 바꿔줘",
                "{old_object} {new}라는 이름으로 변경",
                "변수명 {old} -> {new}",
            ),
            "ja": ("変数{old}の名前を全部{new}に変えて", "{old}を{new}という名前に変更", "変数名 {old} -> {new}"),
        },
        _variable,
        loaded=False,
    ),
    Family(
        "function-renamed",
        "rename",
        {
            "en": (
                "rename the function {old} to {new}",
                "call the function {new} instead of {old}, also where it is used",
                "{old} is a bad name, make it {new}",
            ),
            "ko": (
                "함수 {old} 이름을 {new_by} 바꿔줘",
                "{old} 함수를 쓰는 곳까지 모두 {new_by} 변경",
                "함수명 {old} -> {new}",
            ),
            "ja": (
                "関数{old}の名前を{new}に変えて",
                "関数{old}を使っている所も全部{new}に変更",
                "関数名 {old} -> {new}",
            ),
        },
        _function,
        loaded=False,
    ),
    Family(
        "code-into-function",
        "rename",
        {
            "en": (
                "turn the computation in cell {cell} into a function {name}(x)",
                "make a function {name} of this cell, with x as argument",
                "refactor cell {cell}: put the formula into a function called {name}",
            ),
            "ko": (
                "{cell}번 셀의 계산을 {name}(x) 함수로 만들어줘",
                "이 셀을 x를 인자로 받는 {name} 함수로 바꿔줘",
                "{cell}번 셀 리팩터링: 식을 {name} 함수로",
            ),
            "ja": (
                "セル{cell}の計算を関数{name}(x)にして",
                "このセルをxを引数に取る関数{name}に変えて",
                "セル{cell}をリファクタリング：式を関数{name}に",
            ),
        },
        _into_function,
        loaded=False,
    ),
    Family(
        "cell-deleted",
        "change",
        {
            "en": ("delete cell {cell}", "remove cell {cell} please", "I don't need cell {cell} any more, take it out"),
            "ko": ("{cell}번 셀을 삭제해줘", "셀 {cell} 지워줘", "{cell}번 셀은 필요 없으니 없애줘"),
            "ja": ("セル{cell}を削除して", "{cell}番のセルを消して", "セル{cell}はもう要らないので取り除いて"),
        },
        _deleted,
        loaded=False,
    ),
    Family(
        "cell-deleted-by-content",
        "change",
        {
            "en": ("delete the cell with {name}", "remove the cell that defines {name}", "throw out the {name} cell"),
            "ko": ("{name_subject} 있는 셀을 삭제해줘", "{name_object} 정의하는 셀 지워줘", "{name} 셀은 버려줘"),
            "ja": ("{name}のセルを削除して", "{name}を定義しているセルを消して", "{name}があるセルは捨てて"),
        },
        _deleted_by_content,
        loaded=False,
    ),
    Family(
        "heading-added",
        "add",
        {
            "en": (
                "add a heading '{title}' {place}",
                "put the heading {title} {place} of the notebook",
                "markdown heading {place}: {title}",
            ),
            "ko": (
                "{place} '{title}' 제목 셀을 추가해줘",
                "노트북 {place} {title}라는 제목을 넣어줘",
                "{place} 마크다운 제목: {title}",
            ),
            "ja": (
                "{place}「{title}」という見出しを追加して",
                "ノートブックの{place}{title}という見出しを入れて",
                "{place}マークダウンの見出し：{title}",
            ),
        },
        _heading,
        loaded=False,
    ),
    Family(
        "docstring-added",
        "change",
        {
            "en": (
                "add a docstring to the function {name}",
                "{name} has no docstring, write one",
                "document the function {name} with a docstring",
            ),
            "ko": (
                "함수 {name}에 독스트링을 추가해줘",
                "{name}에 docstring이 없어. 써줘",
                "{name} 함수에 docstring 작성",
            ),
            "ja": (
                "関数{name}にdocstringを追加して",
                "{name}にはdocstringがありません。書いて",
                "関数{name}のdocstringを書いて",
            ),
        },
        _docstring,
        loaded=False,
    ),
)
