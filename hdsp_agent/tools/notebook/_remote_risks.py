"""What a change of cells has JupyterLab fetch, in the words of the approval engine.

JupyterLab shows a Markdown cell as soon as it is in an open notebook. Code and raw cells show their source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...messages import ApprovalFlag, CellId, ChangeCellType, DeleteCell, InsertCell, NotebookOperation, ReplaceSource
from ...notebooks import Cell, CellType
from .._action import Risk
from ._remote_content import RemoteContent, remote_content

__all__ = ["RemoteRisks", "remote_risks", "united"]


@dataclass(frozen=True)
class RemoteRisks:
    """What is risked, and what to warn of."""

    risks: frozenset[Risk] = frozenset()
    flags: tuple[ApprovalFlag, ...] = ()


@dataclass(frozen=True)
class _Text:
    cell_type: CellType
    source: str

    def content(self) -> RemoteContent:
        return remote_content(self.source) if self.cell_type == "markdown" else RemoteContent()


def remote_risks(cells: Iterable[Cell], operations: Sequence[NotebookOperation]) -> RemoteRisks:
    """What these operations bring that was not in the cell before: what is fetched is a risk, a link only a warning."""
    before = {cell.id: _Text(cell.cell_type, cell.source) for cell in cells}
    after = _after(before, operations)
    found = [
        text.content().beyond(was.content() if (was := before.get(cell_id)) is not None else RemoteContent())
        for cell_id, text in after.items()
        if text != before.get(cell_id)
    ]
    fetches = any(one.fetched for one in found)
    warns = fetches or any(one.links for one in found)
    return RemoteRisks(frozenset({"network"}) if fetches else frozenset(), ("remote_content",) if warns else ())


def united(parts: Iterable[RemoteRisks]) -> RemoteRisks:
    """What any of them risks, and warns of."""
    known = list(parts)
    flags = dict.fromkeys(flag for one in known for flag in one.flags)
    return RemoteRisks(frozenset(risk for one in known for risk in one.risks), tuple(flags))


def _after(before: dict[CellId, _Text], operations: Sequence[NotebookOperation]) -> dict[CellId, _Text]:
    after = dict(before)
    for one in operations:
        match one:
            case InsertCell():
                after[one.cell_id] = _Text(one.cell_type, one.source)
            case ReplaceSource() if one.cell_id in after:
                after[one.cell_id] = replace(after[one.cell_id], source=one.source)
            case ChangeCellType() if one.cell_id in after:
                after[one.cell_id] = replace(after[one.cell_id], cell_type=one.cell_type)
            case DeleteCell():
                after.pop(one.cell_id, None)
            case _:
                # The others change neither a source nor what is made of it.
                pass
    return after
