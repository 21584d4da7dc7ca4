"""How a step went, in few words, for a model with little room; and what can be read from these words later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...messages import JsonObject
from ...notebooks import without_escapes
from ...notebooks.kernels import CellRun, RunError
from .._output_buffer import middle_left_out
from .._tool import PastCall, SinceAsked
from ..notebook._model_outputs import outputs_text

__all__ = [
    "AGAIN",
    "PICTURE",
    "cell_to_change",
    "error_in",
    "error_words",
    "failed_at_last",
    "failing_line",
    "is_effect",
    "is_step",
    "last_output",
    "run_words",
    "shortened",
    "shown_text",
]

AGAIN: Final = "This was done already, and is not done again. Tell the person what came of it."
PICTURE: Final = "[picture]"
_MOST_OUTPUT: Final = 700
_MOST_ERROR: Final = 300
_MOST_LINE: Final = 160
_EFFECTS: Final = frozenset({"add_cell", "edit_cell", "run_cell", "rename_variable", "add_text", "delete_cell"})
_TO_CHANGE: Final = re.compile(
    r"Change cell (\d+)|^The (?:person|request) means cell (\d+)\.|^Cell (\d+) failed", re.MULTILINE
)
_RAN: Final = re.compile(r"^Cell \d+ ran\. Output:\n", re.MULTILINE)
_PICTURES: Final = re.compile(r"\[(?:image/[^\]]*)\]")
_LINE: Final = re.compile(r"^-+> ?(\d+)|^Cell In\[[^\]]*\], line (\d+)", re.MULTILINE)


def run_words(number: int | None, cell: CellRun, more: str = "") -> str:
    """One cell's run. ``more`` is what else there is to say of it."""
    name = "The code" if number is None else f"Cell {number}"
    if cell.state != "ok":
        return f"{name} failed: {_why(cell)}" + (f"\n{more}" if more else "")
    text = shown_text(cell.outputs.outputs)
    if text:
        return f"{name} ran. Output:\n{text}" + (f"\n{more}" if more else "")
    return f"{name} ran without output." + (f" {more}" if more else "")


def shown_text(outputs: Sequence[JsonObject]) -> str:
    """Outputs as text, pictures as a word."""
    text = outputs_text(outputs)
    pictures = len(_PICTURES.findall(text))
    plain = _PICTURES.sub("", text)
    lines = [line for line in plain.split("\n") if not re.fullmatch(r"\s*<Figure size .*>\s*", line)]
    return "\n".join(
        part for part in (shortened("\n".join(lines).strip("\n"), _MOST_OUTPUT), PICTURE if pictures else "") if part
    )


def error_in(outputs: Sequence[JsonObject]) -> RunError | None:
    """The error among them."""
    for output in outputs:
        if output.get("output_type") == "error":
            lines = output.get("traceback")
            traceback = tuple(str(line) for line in lines) if isinstance(lines, list) else ()
            return RunError(str(output.get("ename", "")), without_escapes(str(output.get("evalue", ""))), traceback)
    return None


def error_words(error: RunError) -> str:
    """The error in one line."""
    return shortened(without_escapes(f"{error.ename}: {error.evalue}"), _MOST_ERROR)


def shortened(text: str, most: int) -> str:
    """Its beginning and its end."""
    return text if len(text) <= most else middle_left_out(text, most, "[…]")


def failing_line(error: RunError, code: str) -> int | None:
    """The number of the line of the cell itself where it failed."""
    found: int | None = None
    for frame in error.traceback:
        text = without_escapes(frame)
        if "Cell In[" in text or "<cell" in text or "ipython-input" in text:
            marked = _LINE.search(text)
            found = int(marked[1] or marked[2]) if marked else found
    lines = code.split("\n")
    return found if found is not None and 1 <= found <= len(lines) and lines[found - 1].strip() else None


# ---- what was done, from the words that told of it


def is_step(call: PastCall) -> bool:
    """Whether a small model made the call: a larger one may have worked on the request before."""
    return call.name in _EFFECTS or call.name == "answer"


def is_effect(call: PastCall) -> bool:
    """Whether the call changed or ran something, and it worked."""
    return call.name in _EFFECTS and not call.is_error and call.result != AGAIN


def failed_at_last(since: SinceAsked) -> PastCall | None:
    """The last step, if it was in vain."""
    last = next((call for call in reversed(since.calls) if call.name in _EFFECTS and call.result != AGAIN), None)
    return None if last is None or is_effect(last) else last


def cell_to_change(call: PastCall) -> int | None:
    """The number of the cell that is to be changed after a call in vain."""
    found = _TO_CHANGE.search(call.result) if call.is_error else None
    return None if found is None else int(next(number for number in found.groups() if number))


def last_output(since: SinceAsked) -> str:
    """What the last cell showed that ran, as text."""
    for call in reversed(since.calls):
        if is_effect(call):
            return _RAN.split(call.result)[-1].replace(PICTURE, "").strip("\n") if _RAN.search(call.result) else ""
    return ""


def _why(cell: CellRun) -> str:
    if cell.error is None:
        return cell.advice or cell.state
    what = error_words(cell.error)
    line = failing_line(cell.error, cell.code)
    return what if line is None else f"{what}\nLine {line}: {cell.code.split(chr(10))[line - 1].strip()[:_MOST_LINE]}"
