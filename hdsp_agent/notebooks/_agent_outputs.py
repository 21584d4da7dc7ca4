"""Whether a cell shows what the agent's run of it printed. Then no person made that, whenever it came into the notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..messages import JsonObject
from ._document import Cell
from ._output_texts import full_output

__all__ = ["AgentOutput"]


@dataclass(frozen=True)
class AgentOutput:
    """What a run of the agent has printed of one cell that nobody has run since."""

    code: str
    outputs: Sequence[JsonObject]
    execution_count: int | None
    goes_on: bool
    """Whether the notebook may still be behind it."""

    def is_shown_by(self, cell: Cell) -> bool:
        """Whether the cell says what was run, and shows nothing but what that printed: all of it, or its beginning as long as
        it goes on. Outputs that were cleared or written by somebody are not what it printed."""
        if cell.source != self.code:
            return False
        shown = [full_output(output) for output in cell.outputs]
        counts = (self.execution_count, None) if self.goes_on else (self.execution_count,)
        if cell.execution_count not in counts or bool(shown) != bool(self.outputs):
            return False
        printed = [full_output(output) for output in self.outputs]
        if shown == printed:
            return True
        last = len(shown) - 1
        return (
            self.goes_on
            and last < len(printed)
            and shown[:last] == printed[:last]
            and (shown[last] == printed[last] or _begins(shown[last], printed[last]))
        )


def _begins(shown: JsonObject, printed: JsonObject) -> bool:
    """Whether it is the beginning of a stream's text."""
    text, whole = shown.get("text"), printed.get("text")
    return (
        shown.get("output_type") == printed.get("output_type") == "stream"
        and shown.get("name") == printed.get("name")
        and isinstance(text, str)
        and isinstance(whole, str)
        and whole.startswith(text)
    )
