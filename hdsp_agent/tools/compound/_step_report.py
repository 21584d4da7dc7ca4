"""How a step went, in few words, for a model with little room; and what can be read from these words later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...messages import CellId, JsonObject
from ...notebooks import without_escapes
from ...notebooks.kernels import CellRun, RunError
from .._output_buffer import middle_left_out
from .._tool import PastCall
from ..notebook._model_outputs import outputs_text

__all__ = [
    "NOTHING_DONE",
    "PICTURE",
    "cell_instead",
    "error_in",
    "error_words",
    "failed_cell",
    "failed_in",
    "number_in",
    "ran_something",
    "run_words",
    "same_code",
    "shortened",
    "showed_picture",
    "shown_text",
    "wrote_same",
]

PICTURE: Final = "[picture]"
NOTHING_DONE: Final = " Nothing was done."
_MOST_OUTPUT: Final = 700
_MOST_ERROR: Final = 300
_SAME: Final = "This does what the code does that cell"
_FAILED: Final = re.compile(r"^Cell (\d+) failed", re.MULTILINE)
_INSTEAD: Final = re.compile(r"Change cell (\d+)(?: instead)?\.")
_RAN: Final = re.compile(r"^Cell \d+ ran", re.MULTILINE)
_PICTURES: Final = re.compile(r"\[(?:image/[^\]]*)\]")
_LINE: Final = re.compile(r"^(?:-+> ?|Cell In\[[^\]]*\], line |\s*File .*, line )(\d+)", re.MULTILINE)


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
            return RunError(str(output.get("ename", "")), without_escapes(str(output.get("evalue", ""))))
    return None


def error_words(error: RunError) -> str:
    """The error in one line."""
    return shortened(without_escapes(f"{error.ename}: {error.evalue}"), _MOST_ERROR)


def shortened(text: str, most: int) -> str:
    """Its beginning and its end."""
    return text if len(text) <= most else middle_left_out(text, most, "[…]")


def _why(cell: CellRun) -> str:
    if cell.error is None:
        return cell.advice or cell.state
    what = error_words(cell.error)
    line = _source_line(cell)
    return f"{what}\n{line}" if line else what


def _source_line(cell: CellRun) -> str:
    """The line of the cell itself where it failed."""
    if cell.error is None:
        return ""
    lines = cell.code.split("\n")
    found: int | None = None
    for frame in cell.error.traceback:
        text = without_escapes(frame)
        if "Cell In[" in text or "<cell" in text or "ipython-input" in text:
            marked = re.search(r"^-+> ?(\d+)", text, re.MULTILINE) or _LINE.search(text)
            found = int(marked[1]) if marked else found
    if found is None or not 1 <= found <= len(lines) or not lines[found - 1].strip():
        return ""
    return f"Line {found}: {lines[found - 1].strip()[:160]}"


def failed_cell(call: PastCall) -> int | None:
    """The number of the cell whose code failed in this call."""
    return failed_in(call.result)


def failed_in(result: str) -> int | None:
    """The number of the cell whose code failed, in a result's words."""
    found = _FAILED.findall(result)
    return int(found[-1]) if found else None


def cell_instead(call: PastCall) -> int | None:
    """The number of the cell that the call was told to change."""
    found = _INSTEAD.search(call.result) if call.is_error else None
    return int(found[1]) if found is not None else None


def same_code(number: int) -> str:
    """Why an edit is sent back that changes nothing."""
    return f"{_SAME} {number} has."


def wrote_same(call: PastCall) -> bool:
    """Whether the call gave a cell the code that it had."""
    return call.is_error and _SAME in call.result


def ran_something(call: PastCall) -> bool:
    """Whether the kernel said that a cell was done."""
    return _RAN.search(call.result) is not None


def showed_picture(call: PastCall) -> bool:
    """Whether a cell showed a picture."""
    return PICTURE in call.result


def number_in(numbers: dict[CellId, int], cell_id: CellId | None) -> int | None:
    """Which cell it is."""
    return None if cell_id is None else numbers.get(cell_id)
