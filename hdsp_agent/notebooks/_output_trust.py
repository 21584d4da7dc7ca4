"""Seals on outputs the person trusts: whoever kept such outputs can show later that they were trusted.

A seal is made with the secret of the person's notary, over a code cell's source and outputs. It cannot be made up, and it
says nothing of other outputs, in this notebook or in another.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..messages import CellId, InsertCell, JsonObject, ReplaceSource, SetOutputs
from ._cells import cell_source, cells_of, outputs_of, type_of
from ._document import Cell, NotebookSnapshot, Operation
from ._output_texts import full_output

__all__ = ["restore_trust", "sign_outputs", "signed_places"]

_PURPOSE: Final = b"hdsp-agent: outputs of one cell"
"""What the notary signs with the same secret is never taken for a seal, nor a seal for a notebook's signature."""


def sign_outputs(
    snapshot: NotebookSnapshot, secret: bytes, is_trusted: Callable[[Cell], bool] = lambda cell: True
) -> NotebookSnapshot:
    """The snapshot, with full outputs, with seals on those that are trusted: by default all."""
    cells = tuple(
        replace(cell, signature=_seal(cell.source, cell.outputs, secret)) if cell.outputs and is_trusted(cell) else cell
        for cell in snapshot.cells
    )
    return replace(snapshot, cells=cells)


def restore_trust(
    operations: Sequence[Operation], sources: Mapping[CellId, str], signatures: Collection[str], secret: bytes | None
) -> list[Operation]:
    """Operations that say of all outputs they bring whether the person trusts them: whether they have one of these seals.

    ``sources`` are the cells' before the operations; by the seal, outputs belong to what their cell says in the end.
    """
    says = {**sources, **{one.cell_id: one.source for one in operations if isinstance(one, InsertCell | ReplaceSource)}}

    def trusted(cell_id: CellId, outputs: Sequence[JsonObject]) -> bool:
        full = [full_output(output) for output in outputs]
        return secret is not None and bool(signatures) and _seal(says.get(cell_id, ""), full, secret) in signatures

    return [
        one.model_copy(update={"trusted": trusted(one.cell_id, one.outputs)})
        if isinstance(one, InsertCell | SetOutputs) and one.outputs is not None
        else one
        for one in operations
    ]


def signed_places(notebook: JsonObject, signatures: Collection[str], secret: bytes) -> frozenset[int]:
    """At which places are code cells whose outputs have one of these seals."""
    return frozenset(
        place
        for place, cell in enumerate(cells_of(notebook))
        if type_of(cell) == "code"
        and _seal(cell_source(cell), [full_output(output) for output in outputs_of(cell)], secret) in signatures
    )


def _seal(source: str, outputs: Sequence[JsonObject], secret: bytes) -> str:
    key = hmac.digest(secret, _PURPOSE, hashlib.sha256)
    content = json.dumps([source, list(outputs)], sort_keys=True, separators=(",", ":")).encode("ascii")
    return hmac.new(key, content, hashlib.sha256).hexdigest()
