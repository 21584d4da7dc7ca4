"""Questions that are answered from what is there, and errands that cannot be done as they are worded."""

from __future__ import annotations

from typing import Final

from benchmarks.evals import EndState, Outcome

from .._errand import Family, Made, Scene

__all__ = ["FAMILIES"]


def _unchanged(outcome: Outcome) -> None:
    """What the person had is there as it was, in its order; no new cell fails."""
    outcome.keeps()
    outcome.runs()


def _explained(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    code = f"result = {table}.groupby({data.group!r})[{data.measure!r}].mean().sort_values(ascending=False)\nresult.head(3)"
    before = [*scene.before, code]

    def judge(outcome: Outcome) -> None:
        _unchanged(outcome)
        said = outcome.unquoted_answer.casefold()
        outcome.must(len(outcome.after) == len(before), "cells were added for an explanation")
        outcome.must(
            any(word in said for word in ("mean", "average", "평균", "平均")), "it does not say that means are taken"
        )
        named = data.group.casefold() in said or any(
            word in said for word in ("group", "그룹", "グループ", "별로", "ごと")
        )
        outcome.must(named, "it does not say by what")

    return Made(
        judge,
        EndState(answer=f"It takes the mean {data.measure} for each {data.group} and shows the three highest."),
        [EndState(answer=f"It loads the {data.group}."), EndState([*scene.before], f"The mean by {data.group}.")],
        {"cell": str(len(before))},
        cells=before,
        at=len(before),
    )


def _why(scene: Scene) -> Made:
    name = scene.rng.choice(["threshold", "weights", "baseline"])
    code = f"scores = [3, 5, 8]\nabove = [score for score in scores if score > {name}]\nprint(above)"
    before = [*scene.before, code]
    number = len(before)

    def judge(outcome: Outcome) -> None:
        outcome.keeps()
        outcome.must(len(outcome.after) == len(before), "cells were added for an explanation")
        said = outcome.unquoted_answer.casefold()
        outcome.must(name in said, f"it does not name {name}")
        hints = (
            "not defined",
            "undefined",
            "never",
            "isn't defined",
            "not been defined",
            "missing",
            "정의",
            "없",
            "定義",
            "未定義",
            "ない",
            "ありません",
            "does not exist",
            "doesn't exist",
            "nameerror",
        )
        outcome.must(any(hint in said for hint in hints), "it does not say that the name is not defined")

    return Made(
        judge,
        EndState(answer=f"The name {name} is not defined before cell {number} uses it."),
        [
            EndState(answer="The list is empty."),
            EndState([*scene.before, f"{name} = 4\n{code}"], f"{name} was not defined."),
        ],
        {"cell": str(number)},
        cells=before,
        at=number,
    )


def _held(scene: Scene) -> Made:
    name = scene.rng.choice(["limits", "weights_kg", "steps"])
    values = [scene.rng.randint(11, 97) for _ in range(3)]
    before = [*scene.before, f"{name} = {values}", "ready = True"]

    def judge(outcome: Outcome) -> None:
        _unchanged(outcome)
        told = f"{outcome.answer}\n{outcome.shown}"
        missing = [value for value in values if str(value) not in told]
        outcome.must(not missing, f"{missing} of {name} are not told")

    return Made(
        judge,
        EndState(answer=f"{name} is the list {values}."),
        [
            EndState(answer=f"{name} is a list of three numbers."),
            EndState([*before, f"{name} = [1, 2, 3]\n{name}"], "[1, 2, 3]"),
        ],
        {"name": name},
        also_right=[EndState([*before, name])],
        cells=before,
    )


def _columns(scene: Scene) -> Made:
    data = scene.data

    def judge(outcome: Outcome) -> None:
        _unchanged(outcome)
        told = f"{outcome.answer}\n{outcome.shown}"
        missing = [column for column in data.words.columns if column not in told]
        outcome.must(not missing, f"these columns are not told: {missing}")

    return Made(
        judge,
        EndState(answer=", ".join(data.words.columns)),
        [EndState(answer=", ".join(data.words.columns[:3])), scene.with_table(f"{scene.variable}.shape")],
        also_right=[scene.with_table(f"list({scene.variable}.columns)")],
    )


def _no_such_column(scene: Scene) -> Made:
    data, table = scene.data, scene.variable
    name = scene.rng.choice(["humidity", "salary_total", "zip_code"])

    def judge(outcome: Outcome) -> None:
        _unchanged(outcome)
        said = outcome.unquoted_answer.casefold()
        outcome.must(name in said, f"it does not name {name}")
        hints = ("no ", "not ", "n't", "없", "ない", "ありません", "無い", "なし")
        outcome.must(any(hint in said for hint in hints), "it does not say that there is no such column")
        outcome.must(name not in outcome.code, "code for a column that is not there was left")

    return Made(
        judge,
        EndState(answer=f"{table} has no column {name}."),
        [
            EndState(answer=f"The mean {name} is {data.numbers(data.measure)[0]}."),
            scene.with_table(f"{table}[{name!r}] = 0\n{table}[{name!r}].mean()", f"There was no {name}."),
        ],
        {"name": name},
    )


def _which_cell(scene: Scene) -> Made:
    extra = [f"print('draft {scene.rng.randint(1, 9)}')", "unused = [1, 2]", "6 * 7"]
    before = [*scene.before, *extra]
    number = len(scene.before) + scene.rng.randint(1, 3)
    left = [cell for at, cell in enumerate(before, 1) if at != number]

    def judge(outcome: Outcome) -> None:
        # Right is the cell that the person names when they are asked, or none.
        outcome.keeps(number)
        gone = len(outcome.after) == len(left) and all(cell.source != before[number - 1] for cell in outcome.after)
        same = [cell.source for cell in outcome.after] == [cell.source for cell in outcome.before]
        outcome.must(
            gone or (same and "?" in outcome.answer.replace("？", "?")),
            "the cell that was meant is still there, and nobody asked",
        )

    return Made(
        judge,
        EndState(left),
        [EndState([cell for at, cell in enumerate(before, 1) if at != number % len(before) + 1]), EndState([])],
        also_right=[EndState(answer="Which cell do you mean?")],
        cells=before,
        may_change=frozenset({number}),
        means=number,
    )


FAMILIES: Final = (
    Family(
        "cell-explained",
        "ask",
        {
            "en": (
                "explain cell {cell}",
                "what does this cell do?",
                "describe in a sentence what cell {cell} computes",
            ),
            "ko": (
                "{cell}번 셀을 설명해줘",
                "이 셀은 뭘 하는 거야?",
                "{cell}번 셀이 무엇을 계산하는지 한 문장으로 설명해줘",
            ),
            "ja": ("セル{cell}を説明して", "このセルは何をしていますか？", "セル{cell}が何を計算するか一文で説明して"),
        },
        _explained,
        loaded=True,
    ),
    Family(
        "error-explained",
        "ask",
        {
            "en": (
                "why does cell {cell} fail? only explain, don't change it",
                "explain this error, but leave the cell alone",
                "what is the reason for the error? (no changes please)",
            ),
            "ko": (
                "{cell}번 셀이 왜 실패해? 고치지 말고 설명만 해줘",
                "이 오류를 설명해줘. 셀은 그대로 둬",
                "오류의 원인이 뭐야? (수정하지 마)",
            ),
            "ja": (
                "セル{cell}はなぜ失敗するの？直さずに説明だけして",
                "このエラーを説明して。セルはそのままで",
                "エラーの原因は何ですか？（変更しないで）",
            ),
        },
        _why,
        loaded=False,
    ),
    Family(
        "variable-told",
        "ask",
        {
            "en": ("what is in {name}?", "tell me the values of {name}", "what does {name} hold right now?"),
            "ko": ("{name}에는 뭐가 들어 있어?", "{name}의 값을 알려줘", "지금 {name} 값이 뭐야?"),
            "ja": ("{name}には何が入っていますか？", "{name}の値を教えて", "今の{name}の値は？"),
        },
        _held,
        loaded=False,
    ),
    Family(
        "columns-told",
        "ask",
        {
            "en": (
                "which columns does {table} have?",
                "list the column names of {table}",
                "what are the columns in {table}?",
            ),
            "ko": ("{table}에는 어떤 열이 있어?", "{table}의 열 이름을 알려줘", "{table} 컬럼 목록"),
            "ja": ("{table}にはどんな列がありますか？", "{table}の列名を教えて", "{table}のカラム一覧"),
        },
        _columns,
    ),
    Family(
        "column-that-is-not-there",
        "ask",
        {
            "en": (
                "what is the mean {name} in {table}?",
                "average of the column {name} in {table}",
                "plot {name} from {table}",
            ),
            "ko": (
                "{table}에서 {name}의 평균은?",
                "{table}의 {name} 열 평균을 구해줘",
                "{table}의 {name_object} 그려줘",
            ),
            "ja": ("{table}の{name}の平均は？", "{table}の列{name}の平均を求めて", "{table}の{name}を描いて"),
        },
        _no_such_column,
        loaded=True,
    ),
    Family(
        "which-cell-is-not-said",
        "change",
        {
            "en": ("delete that cell", "remove the cell I don't need", "take out the superfluous cell"),
            "ko": ("그 셀을 삭제해줘", "필요 없는 셀을 지워줘", "쓸데없는 셀 하나 없애줘"),
            "ja": ("あのセルを削除して", "要らないセルを消して", "余計なセルを取り除いて"),
        },
        _which_cell,
        loaded=False,
    ),
)
