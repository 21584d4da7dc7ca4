"""Operations on a shared notebook, so that others who type in it lose neither a letter nor their place.

A text changes only where it differs, nothing that holds other shared things is put in another's place, and ids stay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, assert_never, cast

from pydantic import JsonValue

from ...messages import (
    AppendOutput,
    CellId,
    ChangeCellType,
    ClearOutputs,
    DeleteCell,
    ExtendStream,
    InsertCell,
    JsonObject,
    MoveCell,
    NotebookOperation,
    OutputChange,
    PutOutput,
    ReplaceSource,
    SetAttachments,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
    TruncateOutputs,
)
from .._cell_changes import new_cell, with_type
from .._cells import cell_ids
from .._document import CellType, Operation
from .._dry_run import DryRun, DryRunCell
from ._shared_types import SharedArray, SharedMap, SharedNotebook, SharedText

__all__ = [
    "SharedCells",
    "after_changes",
    "change_outputs",
    "content_of",
    "outputs_in",
    "outputs_on_the_way",
    "place_of",
    "set_text",
]

_RUNTIME_KEYS: Final = ("execution_state",)
"""What a shared cell has beside what nbformat gives it."""


_TRUSTED: Final = "trusted"
"""In a code cell's metadata, while a notebook is open; it is never in the file."""


class SharedCells:
    """The cells of a shared notebook as they are now. It holds until control goes back to the loop."""

    def __init__(self, notebook: SharedNotebook) -> None:
        self._notebook = notebook
        self._cells = notebook.ycells
        shared = [self._cells[place] for place in range(len(self._cells))]
        known = [_identity(cell) for cell in shared]
        self._order = cell_ids(known)
        self._shared = dict(zip(self._order, shared, strict=True))
        self._known = known

    def rehearse(self, operations: Sequence[Operation], path: str) -> list[NotebookOperation]:
        """The operations as the wire has them, if they can be done; else CellConflict or InvalidInput."""
        rehearsed = {
            cell_id: DryRunCell(cast(CellType, cell["cell_type"]), str(cell["source"]), str(cell["source"]))
            for cell_id, cell in zip(self._order, self._known, strict=True)
        }
        return DryRun(path, rehearsed).operations(operations)

    def do(self, operations: Sequence[NotebookOperation]) -> None:
        """All of them as one step. They must have been rehearsed: a transaction that breaks off is not taken back."""
        with self._notebook.ydoc.transaction():
            for operation in operations:
                self._do(operation)

    def _do(self, operation: NotebookOperation) -> None:
        match operation:
            case SetNotebookMetadata():
                _set_metadata(self._notebook.ydoc["meta"], operation.key, operation.value)
            case InsertCell():
                cell = new_cell(operation, split=False)
                if operation.trusted and operation.outputs:
                    cell["metadata"] = {**(operation.metadata or {}), "trusted": True}
                self._insert({**cell, "id": operation.cell_id}, operation.after)
            case DeleteCell():
                self._take_out(operation.cell_id)
            case MoveCell():
                # Yjs has no moving that all its versions understand: Lab, too, takes the cell out and puts it in again.
                cell = _cell_json(self._shared[operation.cell_id])
                self._take_out(operation.cell_id)
                self._insert({**cell, "id": operation.cell_id}, operation.after)
            case ChangeCellType():
                self._change_type(operation)
            case ReplaceSource():
                set_text(cast(SharedText, self._shared[operation.cell_id]["source"]), operation.source)
            case SetAttachments():
                _set_attachments(self._shared[operation.cell_id], operation.attachments)
            case SetCellMetadata():
                _set_metadata(self._shared[operation.cell_id], operation.key, operation.value)
            case SetOutputs() | AppendOutput() | ClearOutputs():
                if isinstance(operation, SetOutputs) and operation.trusted is not None:
                    self._set_trust(operation.cell_id, trusted=operation.trusted)
                _set_outputs(self._shared[operation.cell_id], operation)
            case _:
                assert_never(operation)

    def _change_type(self, operation: ChangeCellType) -> None:
        cell = self._shared[operation.cell_id]
        if cell["cell_type"] == operation.cell_type:
            return
        place = self._order.index(operation.cell_id)
        changed = with_type(_cell_json(cell), operation.cell_type)
        self._take_out(operation.cell_id)
        self._insert({**changed, "id": operation.cell_id}, self._order[place - 1] if place else None)

    def _set_trust(self, cell_id: CellId, *, trusted: bool) -> None:
        """Have everybody in the room trust a cell's next outputs, or nobody.

        A page that trusts a cell goes on to, whatever is written about it later: it has to get another in its place.
        """
        cell = _cell_json(self._shared[cell_id])
        metadata = cell.get("metadata")
        known = metadata if isinstance(metadata, dict) else {}
        if trusted:
            _set_metadata(self._shared[cell_id], _TRUSTED, True)
        elif known.get(_TRUSTED) is True:
            place = self._order.index(cell_id)
            self._take_out(cell_id)
            untrusted: JsonObject = {**cell, "id": cell_id, "outputs": [], "metadata": {**known, _TRUSTED: False}}
            self._insert(untrusted, self._order[place - 1] if place else None)

    def _insert(self, cell: JsonObject, after: CellId | None) -> None:
        cell_id = CellId(str(cell["id"]))
        place = 0 if after is None else self._order.index(after) + 1
        shared = self._notebook.create_ycell(cell)
        self._cells.insert(place, shared)
        self._order.insert(place, cell_id)
        self._shared[cell_id] = shared

    def _take_out(self, cell_id: CellId) -> None:
        place = self._order.index(cell_id)
        del self._cells[place]
        del self._order[place]
        del self._shared[cell_id]


def place_of(cells: SharedArray, cell_id: CellId, near: int) -> int | None:
    """Where the cell of this id is; it is looked for where it was last, first."""
    count = len(cells)
    places = (near, *range(count)) if near < count else range(count)
    return next((place for place in places if cells[place].get("id") == cell_id), None)


def content_of(text: str) -> JsonValue:
    """What the JSON text of something shared says. Numbers that are whole came as such: Yjs has only one kind."""
    content: JsonValue = json.loads(text, parse_float=_number)
    return content


def set_text(shared: SharedText, text: str) -> None:
    """Change a text only from the first to the last character that differs."""
    before = str(shared)
    begin = _alike(before, text)
    rest_before, rest_after = before[begin:], text[begin:]
    end = _alike(rest_before[::-1], rest_after[::-1])
    gone, new = rest_before[: len(rest_before) - end], rest_after[: len(rest_after) - end]
    place = _bytes(before[:begin])
    if gone:
        del shared[place : place + _bytes(gone)]
    if new:
        shared.insert(place, new)


def outputs_in(cell: SharedMap) -> list[JsonObject]:
    """The outputs of a code cell as they are now."""
    return cast("list[JsonObject]", content_of(str(cell["outputs"])))


def change_outputs(cell: SharedMap, changes: Sequence[OutputChange]) -> None:
    """Take up how the outputs of a code cell went on."""
    outputs = cast(SharedArray, cell["outputs"])
    for change in changes:
        match change:
            case PutOutput():
                place = min(change.index, len(outputs))
                if place < len(outputs):
                    del outputs[place]
                outputs.insert(place, _shared_output(cell, change.output))
            case ExtendStream():
                _extend(cell, outputs, change)
            case TruncateOutputs():
                if change.count < len(outputs):
                    del outputs[change.count :]
            case _:
                assert_never(change)


def after_changes(outputs: Sequence[JsonObject], changes: Sequence[OutputChange]) -> list[JsonObject]:
    """What outputs that are not shared become."""
    after = list(outputs)
    for change in changes:
        match change:
            case PutOutput():
                after[change.index : change.index + 1] = [change.output]
            case ExtendStream():
                kept = str(after[change.index]["text"])[: change.keep]
                after[change.index] = {**after[change.index], "text": kept + change.text}
            case TruncateOutputs():
                del after[change.count :]
            case _:
                assert_never(change)
    return after


def outputs_on_the_way(present: Sequence[JsonObject], wanted: Sequence[JsonObject]) -> list[OutputChange]:
    """How outputs become others with the least that is taken away."""
    same = 0
    while same < min(len(present), len(wanted)) and present[same] == wanted[same]:
        same += 1
    changes: list[OutputChange] = []
    rest = same
    if same < len(present) and same < len(wanted) and _are_one_stream(present[same], wanted[same]):
        before, after = str(present[same]["text"]), str(wanted[same]["text"])
        keep = _alike(before, after)
        changes.append(ExtendStream(index=same, keep=keep, text=after[keep:]))
        rest += 1
    if len(present) > rest:
        changes.append(TruncateOutputs(count=rest))
    return changes + [PutOutput(index=place, output=wanted[place]) for place in range(rest, len(wanted))]


def _identity(cell: SharedMap) -> JsonObject:
    identity: JsonObject = {"cell_type": str(cell["cell_type"]), "source": str(cell["source"])}
    if "id" in cell:
        identity["id"] = str(cell["id"])
    return identity


def _cell_json(cell: SharedMap) -> JsonObject:
    content = cast(JsonObject, content_of(str(cell)))
    return {key: value for key, value in content.items() if key not in _RUNTIME_KEYS}


def _set_metadata(owner: SharedMap, key: str, value: JsonValue) -> None:
    metadata = owner.get("metadata")
    if not _is_shared(metadata, owner):
        # Something else made this cell, and not as the schema has it.
        present = metadata if isinstance(metadata, dict) else {}
        owner["metadata"] = type(owner)({**present, key: value} if value is not None else _without(present, key))
        return
    shared = cast(SharedMap, metadata)
    if value is not None:
        shared[key] = value
    elif key in shared:
        del shared[key]


def _set_attachments(cell: SharedMap, attachments: JsonObject) -> None:
    if attachments:
        cell["attachments"] = attachments
    elif "attachments" in cell:
        del cell["attachments"]


def _without(metadata: dict[str, object], key: str) -> dict[str, object]:
    return {name: value for name, value in metadata.items() if name != key}


def _is_shared(value: object, like: SharedMap) -> bool:
    return isinstance(value, type(like))


def _set_outputs(cell: SharedMap, operation: SetOutputs | AppendOutput | ClearOutputs) -> None:
    present = outputs_in(cell)
    if isinstance(operation, AppendOutput):
        change_outputs(cell, [PutOutput(index=len(present), output=operation.output)])
        return
    wanted = operation.outputs if isinstance(operation, SetOutputs) else []
    count = operation.execution_count if isinstance(operation, SetOutputs) else None
    change_outputs(cell, outputs_on_the_way(present, wanted))
    if cell["execution_count"] != count:
        cell["execution_count"] = count
    if "execution_state" in cell and cell["execution_state"] != "idle":
        cell["execution_state"] = "idle"


def _extend(cell: SharedMap, outputs: SharedArray, change: ExtendStream) -> None:
    output = outputs[change.index]
    text = output["text"]
    if isinstance(text, str | list):
        whole = "".join(cast("list[str]", text)) if isinstance(text, list) else text
        content = cast(JsonObject, content_of(str(output)))
        del outputs[change.index]
        outputs.insert(change.index, _shared_output(cell, {**content, "text": whole[: change.keep] + change.text}))
        return
    shared = cast(SharedText, text)
    place = _bytes(str(shared)[: change.keep])
    del shared[place:]
    if change.text:
        shared.insert(place, change.text)


def _shared_output(cell: SharedMap, output: JsonObject) -> SharedMap:
    """An output as the schema has it: the text of a stream is shared, so that it can grow."""
    text = output.get("text")
    if output.get("output_type") != "stream":
        return type(cell)(output)
    whole = "".join(cast("list[str]", text)) if isinstance(text, list) else str(text or "")
    text_type = type(cast(SharedText, cell["source"]))
    return type(cell)({**output, "text": text_type(whole)})


def _are_one_stream(present: JsonObject, wanted: JsonObject) -> bool:
    return (
        present.get("output_type") == wanted.get("output_type") == "stream"
        and present.get("name") == wanted.get("name")
        and isinstance(present.get("text"), str)
        and isinstance(wanted.get("text"), str)
    )


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", errors="surrogatepass"))
