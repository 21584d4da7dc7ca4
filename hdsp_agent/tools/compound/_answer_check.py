"""Whether an answer says what was seen: a small model tells of numbers and deeds that never were."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .._tool import PastCall, SinceAsked
from ._examples import MARKS
from ._step_report import PICTURE, failed_cell, ran_something, showed_picture

__all__ = [
    "UnsupportedClaim",
    "admits_failure",
    "doubt_about",
    "failed_at_last",
    "is_effect",
    "lacks_picture",
    "lacks_value",
    "parroted",
]

_EFFECTS: Final = frozenset({"add_cell", "edit_cell", "run_cell", "rename_variable", "add_text", "delete_cell"})
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_CELL_NUMBER: Final = re.compile(r"\bcells?\s+#?\d+(?:\s*(?:,|and|to|-)\s*\d+)*", re.IGNORECASE)
_LISTED: Final = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)
_DID: Final = re.compile(
    r"(?:\bI(?:'ve| have)?|\b(?:has|have) been|\bwas|\bwere|\bis now|\bsuccessfully)\s+(?:now\s+|successfully\s+)?"
    r"(?:added|created|ran|run|executed|plotted|drawn|renamed|fixed|loaded|deleted|removed|changed|updated|corrected|saved)\b"
    r"|(?:추가|실행|수정|삭제|변경)(?:했|하였|되었|됐)|(?:追加|実行|修正|削除|変更)(?:しました|されました)",
    re.IGNORECASE,
)
_FAILED: Final = re.compile(
    r"fail|error|not work|could not|cannot|couldn't|can't|실패|오류|에러|失敗|エラー", re.IGNORECASE
)
_PLOT: Final = re.compile(
    r"\b(?:plot|draw|chart|graph|histogram|scatter|visuali[sz]e|heatmap|box ?plot)\b|그래프|차트|히스토그램|グラフ|プロット|ヒストグラム",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"\b(?:total|how many|how much|mean|average|sum|count|number of|max\w*|min\w*)\b", re.IGNORECASE
)
_TO_SEE: Final = re.compile(
    r"\b(?:picture|image|figure|diagram|bars?|lines?|trend|look|see|visual\w*|axis|axes|distribution|over time|compare)\b",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"[?？]|^\s*(?:what|why|how|who|when|where|which|is|are|does|do|can|explain|describe|tell|summari[sz]e)\b"
    r"|설명|무엇|뭐|왜|어떻게|알려|説明|何|なぜ|どう|教えて",
    re.IGNORECASE,
)
_EXPLAINS: Final = re.compile(
    r"\b(?:explain|describe|why|what does|what do|how does|how do|mean by|tell me about|summari[sz]e)\b|설명|왜|説明|なぜ",
    re.IGNORECASE,
)
_SHORT: Final = 12
"""Words. What is longer explains something rather than states a value."""
_FEW: Final = 3
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True)
class UnsupportedClaim:
    """What is wrong with an answer: for the model, which is to do something about it, and for the person."""

    for_model: str
    for_person: str


def is_effect(call: PastCall) -> bool:
    """Whether the call changed or ran something, and it worked."""
    return call.name in _EFFECTS and not call.is_error and failed_cell(call) is None


def failed_at_last(since: SinceAsked) -> PastCall | None:
    """The last step, if it was in vain."""
    last = next((call for call in reversed(since.calls) if call.name in _EFFECTS), None)
    return None if last is None or is_effect(last) else last


def admits_failure(text: str) -> bool:
    """Whether an answer says that something did not work."""
    return _FAILED.search(text) is not None


def parroted(text: str, since: SinceAsked) -> bool:
    """Whether an answer tells of the examples, or says what the model was told, and so is no answer."""
    evidence = "\n".join(
        [since.words, since.surroundings, *(f"{call.arguments}\n{call.result}" for call in since.calls)]
    )
    if any(mark in text and mark not in evidence for mark in MARKS):
        return True
    said = text.strip().rstrip(".").casefold()
    if len(said.split()) >= _FEW and said in since.words.casefold():
        return True
    return any(text.strip() == line.strip() for line in since.surroundings.split("\n"))


def lacks_value(since: SinceAsked) -> bool:
    """Whether a value was asked for, nothing to look at, and the last cell showed a picture alone."""
    if not _VALUE.search(since.words) or _PLOT.search(since.words) or _TO_SEE.search(since.words):
        return False
    last = next((call for call in reversed(since.calls) if is_effect(call)), None)
    return last is not None and last.result.endswith(f" ran. Output:\n{PICTURE}")


def lacks_picture(since: SinceAsked) -> bool:
    """Whether something was to be drawn, and no cell has shown a picture."""
    wants = _PLOT.search(since.words) is not None and not _QUESTION.search(since.words)
    return wants and not any(showed_picture(call) for call in since.calls)


def doubt_about(text: str, since: SinceAsked) -> UnsupportedClaim | None:
    """The first thing that an answer claims and nobody saw; None if there is none."""
    done = [call for call in since.calls if is_effect(call)]
    if not any(call.name in _EFFECTS for call in since.calls):
        if not _QUESTION.search(since.words) and len(since.words.split()) > _FEW:
            return UnsupportedClaim(
                "Nothing was done in the notebook yet. Do it with a cell first.", "nothing was done for it"
            )
        if _DID.search(text):
            return UnsupportedClaim(
                "Nothing was added, changed or run yet. Do it first.", "it tells of something that was not done"
            )
        looked = any(not call.is_error and call.name != "answer" for call in since.calls)
        if not looked and len(text.split()) <= _SHORT and not _EXPLAINS.search(since.words):
            return UnsupportedClaim(
                "Find it out with a cell first: add_cell with code that shows it.", "nothing was run to find it out"
            )
    if lacks_value(since):
        return UnsupportedClaim("The value was not shown as text yet. Print it in a cell.", "the value was not shown")
    if lacks_picture(since):
        return UnsupportedClaim(
            "No picture was shown yet. Draw it in a cell that ends with plt.show().", "no picture was shown"
        )
    unseen = _unseen_numbers(text, since, ran=any(ran_something(call) for call in done))
    if unseen:
        number = unseen[0]
        return UnsupportedClaim(
            f"No cell has shown {number}. Run code that shows it.", f"the notebook did not show {number}"
        )
    return None


def _unseen_numbers(text: str, since: SinceAsked, *, ran: bool) -> list[str]:
    plain = _LISTED.sub("", _CELL_NUMBER.sub("", text))
    # An answer that was sent back, and why, is no evidence.
    calls = [call for call in since.calls if call.name != "answer"]
    evidence = "\n".join([since.words, since.surroundings, *(call.result for call in calls)])
    if ran or len(text.split()) > _SHORT:
        evidence += "\n".join(str(call.arguments) for call in calls)
    known = [_value(found) for found in _NUMBER.findall(evidence)]
    return [found for found in _NUMBER.findall(plain) if not _is_known(found, known)]


def _is_known(found: str, known: list[float]) -> bool:
    value = _value(found)
    if value.is_integer() and 0 <= value <= _FEW - 1:
        return True
    decimals = len(found.partition(".")[2].partition("e")[0])
    half = 0.5 * 10.0**-decimals * (1 + _TOLERANCE)
    return any(
        abs(abs(one) - abs(value)) <= _TOLERANCE * max(1.0, abs(value))
        or (decimals and abs(one - value) <= half)
        or abs(one * 100 - value) <= (half if decimals else 0.5)
        for one in known
    )


def _value(number: str) -> float:
    try:
        return float(number.replace(",", ""))
    except (ValueError, OverflowError):
        return float("nan")
