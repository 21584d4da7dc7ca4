"""Cells that fail or come out wrong, and are to be put right where they are."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks.evals import EndState, Outcome, Text

from .._errand import Family, Language, Made, Scene

__all__ = ["FAMILIES"]

_FIX: Final[Mapping[Language, Sequence[str]]] = {
    "en": (
        "fix the error",
        "cell {cell} fails, please fix it",
        "this doesn't work, can you repair it?",
        "why the error? put it right",
    ),
    "ko": (
        "오류를 고쳐줘",
        "{cell}번 셀이 안 돼요. 고쳐주세요",
        "이거 왜 안 되지? 제대로 되게 해줘",
        "에러 나는데 수정해줘",
    ),
    "ja": (
        "エラーを直して",
        "セル{cell}が動きません。直してください",
        "これ動かないんだけど、直してくれる？",
        "エラーが出るので修正して",
    ),
}


def _mended(scene: Scene, broken: str, right: str, wrong: Sequence[str], shows: str | Callable[[str], bool]) -> Made:
    """The last cell is broken; mended it shows this, and it is no second cell that does."""
    before = [*scene.before, broken]
    number = len(before)

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(number)
        outcome.must(
            all(cell.source.strip() != broken.strip() for cell in outcome.after), "the broken cell is still there"
        )
        seen = " ".join("\n".join(cell.text for cell in outcome.after).split())
        shown = shows in seen if isinstance(shows, str) else shows(seen)
        outcome.must(shown, f"no cell shows {shows if isinstance(shows, str) else 'what it should'!r}")

    return Made(
        judge,
        EndState([*scene.before, right]),
        [EndState([*before, right]), *(EndState([*scene.before, one]) for one in wrong), EndState(scene.before)],
        {"cell": str(number)},
        cells=before,
        at=number,
        may_change=frozenset({number}),
        means=number,
    )


def _misspelt(word: str, scene: Scene) -> str:
    """The word with one letter gone, or doubled."""
    at = scene.rng.randrange(1, len(word)) if len(word) > 2 else len(word) - 1
    return (
        word[:at] + word[at + 1 :]
        if scene.rng.random() < 0.5 and len(word) > 3
        else word[:at] + word[at] * 2 + word[at + 1 :]
    )


def _name(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    name = scene.rng.choice(["average_value", "highest", "total_count"])
    how = {"average_value": "mean", "highest": "max", "total_count": "sum"}[name]
    head = f"{name} = {table}[{data.measure!r}].{how}()\n"
    numbers = data.numbers(data.measure)
    value = {"mean": statistics.mean(numbers), "max": max(numbers), "sum": sum(numbers)}[how]
    return _mended(
        scene,
        f"{head}print('result:', round({_misspelt(name, scene)}, 2))",
        f"{head}print('result:', round({name}, 2))",
        [f"{head}print('result:', {name}", "print('result:', 0)"],
        f"result: {round(value, 2)}",
    )


def _column(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    value = max(data.numbers(data.measure))
    wrong = _misspelt(data.measure, scene)
    return _mended(
        scene,
        f"best = {table}[{wrong!r}].max()\nprint('best', best)",
        f"best = {table}[{data.measure!r}].max()\nprint('best', best)",
        [f"best = {table}[{data.amount!r}].max() + 1\nprint('best', best)", "best = None\nprint('best', best)"],
        f"best {value}",
    )


def _import(scene: Scene) -> Made:
    numbers = [scene.rng.randint(2, 60) for _ in range(5)]
    value = statistics.median(numbers)
    return _mended(
        scene,
        f"values = {numbers}\nprint('middle', np.median(values))",
        f"import numpy as np\n\nvalues = {numbers}\nprint('middle', np.median(values))",
        [
            f"values = {numbers}\nprint('middle')",
            f"import numpy\nvalues = {numbers}\nprint('middle', np.median(values))",
        ],
        f"middle {float(value)}",
    )


def _text_and_number(scene: Scene) -> Made:
    count = scene.rng.randint(3, 400)
    return _mended(
        scene,
        f"count = {count}\nmessage = 'items found: ' + count\nprint(message)",
        f"count = {count}\nmessage = 'items found: ' + str(count)\nprint(message)",
        [f"count = {count}\nmessage = 'items found: '\nprint(message)", f"count = {count}"],
        f"items found: {count}",
    )


def _beyond(scene: Scene) -> Made:
    numbers = [scene.rng.randint(10, 99) for _ in range(scene.rng.randint(3, 6))]
    return _mended(
        scene,
        f"readings = {numbers}\nlast = readings[{len(numbers)}]\nprint('last reading:', last)",
        f"readings = {numbers}\nlast = readings[-1]\nprint('last reading:', last)",
        [
            f"readings = {numbers}\nlast = readings[0] + 100\nprint('last reading:', last)",
            f"readings = {numbers}\nlast = None\nprint('last reading:', last)",
        ],
        f"last reading: {numbers[-1]}",
    )


def _bracket(scene: Scene) -> Made:
    a, b = scene.rng.randint(2, 30), scene.rng.randint(2, 30)
    return _mended(
        scene,
        f"sides = ({a}, {b}\narea = sides[0] * sides[1]\nprint(f'area is {{area}}')",
        f"sides = ({a}, {b})\narea = sides[0] * sides[1]\nprint(f'area is {{area}}')",
        [
            f"sides = ({a}, {b})\nprint('area is')",
            f"sides = ({a}, {b + 1})\narea = sides[0] * sides[1]\nprint(f'area is {{area}}')",
        ],
        f"area is {a * b}",
    )


def _file(scene: Scene) -> Made:
    data = scene.data
    wrong = _misspelt(data.words.name, scene) + ".csv"
    read = "import pandas as pd\n\ntable = pd.read_csv({file!r})\nprint('rows:', len(table))"
    return _mended(
        scene,
        read.format(file=wrong),
        read.format(file=data.file),
        ["import pandas as pd\n\ntable = pd.DataFrame()\nprint('rows:', len(table))", "print('rows: 3000')"],
        f"rows: {len(data.rows)}",
    )


def _wrong_result(scene: Scene) -> Made:
    numbers = [scene.rng.randint(2, 40) for _ in range(4)]
    right = sum(numbers) / 4
    function = (
        "def average(values):\n    total = 0\n    for value in values:\n        total += value\n    return total / {by}"
    )
    call = f"print(average({numbers}))"
    before = [Text("# averages"), function.format(by="(len(values) - 1)"), call]

    def judge(outcome: Outcome) -> None:
        outcome.runs()
        outcome.keeps(2, 3)
        outcome.equals(f"average({numbers})", right)
        outcome.equals("average([10, 20, 60])", 30)
        outcome.must(outcome.code.count("def average") == 1, "the wrong function is still there")

    return Made(
        judge,
        EndState([before[0], function.format(by="len(values)"), call]),
        [
            EndState([before[0], function.format(by="4"), call]),
            EndState([*before, function.format(by="len(values)")]),
            EndState([before[0], before[1], f"print({right})"]),
        ],
        {"right": f"{right:g}", "numbers": str(numbers)},
        cells=before,
        probes=[f"average({numbers})", "average([10, 20, 60])"],
        at=2,
        may_change=frozenset({2, 3}),
        means=2,
    )


FAMILIES: Final = (
    Family("misspelt-name-fixed", "fix", _FIX, _name, loaded=True),
    Family("misspelt-column-fixed", "fix", _FIX, _column, loaded=True),
    Family("missing-import-fixed", "fix", _FIX, _import, loaded=False),
    Family("text-and-number-fixed", "fix", _FIX, _text_and_number, loaded=False),
    Family("index-beyond-end-fixed", "fix", _FIX, _beyond, loaded=False),
    Family("open-bracket-fixed", "fix", _FIX, _bracket, loaded=False),
    Family("misspelt-file-fixed", "fix", _FIX, _file, loaded=False),
    Family(
        "wrong-average-fixed",
        "fix",
        {
            "en": (
                "average({numbers}) should be {right}, fix the function average",
                "the function average is wrong: for {numbers} it has to give {right}",
                "average gives a wrong result, it should divide by the number of values. fix it",
            ),
            "ko": (
                "average({numbers})는 {right}이어야 해. average 함수를 고쳐줘",
                "average 함수가 틀렸어: {numbers}이면 {right}이 나와야 해",
                "average 결과가 이상해. 값의 개수로 나눠야 하는데. 고쳐줘",
            ),
            "ja": (
                "average({numbers})は{right}になるはず。関数averageを直して",
                "関数averageが間違っています。{numbers}なら{right}になるべきです",
                "averageの結果がおかしい。値の個数で割るべき。直して",
            ),
        },
        _wrong_result,
        loaded=False,
    ),
)
