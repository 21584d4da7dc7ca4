"""What a notebook's cells were: in memory, and as a file named by its content. The store's methods block."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
import zlib
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, cast

from ..._private_files import make_private_folder, replace_file, storage_error
from ...errors import HdspAgentError, NotFound, StorageUnavailable
from ...messages import JsonObject
from ...notebooks import CellType, NotebookSnapshot, parse_notebook, snapshot_of
from ._timeline_limits import TimelineLimits

__all__ = ["CellDigests", "KeptCell", "NotebookState", "NotebookStates", "StateId", "state_in_file", "state_of"]

_log = logging.getLogger(__name__)

StateId = str
"""sha256 of its content."""

_MAJOR: Final = 4
_FIRST_WITH_IDS: Final = 5
_NOT_THE_CELLS: Final = frozenset(("trusted", "hdsp_checkpoint"))
"""Of a cell's metadata: what is the person's alone to say, and our own pointers."""
_NOT_THE_NOTEBOOKS: Final = frozenset(("hdsp_agent", "hdsp_conversation", "kernelspec", "language_info"))
"""Of a notebook's: which kernel it runs in is a matter of the kernel, not of what was written."""
_DIGITS: Final = 64
_SEEN: Final = ("attachments", "cell_type", "left_out", "outputs", "source")
"""Of a cell, what a person sees."""
_MOST_REMEMBERED: Final = 32


@dataclass(frozen=True)
class KeptCell:
    """One cell as it was."""

    id: str
    cell_type: CellType
    source: str
    execution_count: int | None = None
    outputs: Sequence[JsonObject] = ()
    metadata: JsonObject = field(default_factory=dict)
    left_out: str | None = None
    """It had outputs, too large to be kept; by this they are known again."""
    attachments: JsonObject | None = field(default_factory=dict)
    """Files in it; None where they were not kept."""
    seal: str | None = None
    """Shows that the person trusted the outputs."""

    @property
    def said(self) -> tuple[str, str]:
        """What somebody wrote, in difference to what running it made."""
        return self.cell_type, self.source

    @property
    def shown(self) -> tuple[object, ...]:
        """What running it made."""
        return list(self.outputs), self.execution_count, self.left_out

    @property
    def outputs_hash(self) -> str | None:
        """By this its outputs are known again, kept or not; None without any."""
        return _hash(self.outputs) if self.outputs else self.left_out

    def without_outputs(self) -> KeptCell:
        """The same with nothing large in it, enough to tell what changed."""
        return replace(self, outputs=(), left_out=self.outputs_hash, attachments=None)


class CellDigests(dict[str, bytes]):
    """By cell: equal for cells that say and show the same, however often they ran."""

    has_ids: bool = True


@dataclass(frozen=True)
class NotebookState:
    """All cells of a notebook at one moment."""

    cells: tuple[KeptCell, ...]
    metadata: JsonObject = field(default_factory=dict)
    minor: int = _FIRST_WITH_IDS

    @property
    def has_ids(self) -> bool:
        """Whether ids say which cell is which; below format 4.5 they only say what a cell says."""
        return self.minor >= _FIRST_WITH_IDS

    def without_outputs(self) -> NotebookState:
        """The same with nothing large in its cells."""
        return replace(self, cells=tuple(cell.without_outputs() for cell in self.cells))

    def to_bytes(self) -> bytes:
        """The same bytes for the same state."""
        return self.with_digests()[0]

    def with_digests(self) -> tuple[bytes, CellDigests]:
        """The same bytes for the same state, and what tells its cells apart."""
        written = [_written(cell) for cell in self.cells]
        cells = ",".join(text for text, _ in written)
        rest = _text({"metadata": self.metadata, "nbformat": _MAJOR, "nbformat_minor": self.minor})
        digests = CellDigests({cell.id: digest for cell, (_, digest) in zip(self.cells, written, strict=True)})
        digests.has_ids = self.has_ids
        return f'{{"cells":[{cells}],{rest[1:]}'.encode("ascii"), digests

    @classmethod
    def of_bytes(cls, data: bytes) -> NotebookState:
        """The state in such bytes; raises ValueError, KeyError or TypeError for others."""
        content = json.loads(data)
        cells = tuple(
            KeptCell(**{"attachments": None, **cell, "outputs": tuple(cell["outputs"])}) for cell in content["cells"]
        )
        return cls(cells, dict(content["metadata"]), int(content["nbformat_minor"]))


def state_of(snapshot: NotebookSnapshot, limits: TimelineLimits, whole: Collection[str] = ()) -> NotebookState:
    """What is kept of a snapshot with full outputs; of the cells ``whole`` all, however large."""
    cells: list[KeptCell] = []
    left = limits.notebook_output_bytes
    for cell in snapshot.cells:
        outputs, left_out = cell.outputs, None
        if outputs:
            size = len(_outputs_bytes(outputs)) if cell.id not in whole else 0
            if size > min(left, limits.cell_output_bytes):
                outputs, left_out = (), _hash(outputs)
            else:
                left -= size
        attachments: JsonObject | None = cell.attachments
        if attachments:
            size = len(json.dumps(attachments)) if cell.id not in whole else 0
            if size > min(left, limits.cell_output_bytes):
                attachments = None
            else:
                left -= size
        cells.append(
            KeptCell(
                cell.id, cell.cell_type, cell.source, cell.execution_count, outputs,
                _without(cell.metadata, _NOT_THE_CELLS), left_out, attachments, cell.signature,
            )
        )  # fmt: skip
    minor = snapshot.nbformat_minor if snapshot.nbformat == _MAJOR else 0
    return NotebookState(tuple(cells), _without(snapshot.metadata, _NOT_THE_NOTEBOOKS), minor)


def state_in_file(data: bytes, path: str, limits: TimelineLimits) -> NotebookState:
    """What a notebook's file says; raises InvalidInput or Unsupported for what is none."""
    notebook = parse_notebook(data.decode("utf-8", "replace"), path)
    return state_of(snapshot_of(notebook, path=path, revision="", source="disk", outputs="full"), limits)


class NotebookStates:
    """States in a folder, each compressed in a file of its own, written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digests: OrderedDict[StateId, CellDigests] = OrderedDict()

    def keep(self, state: NotebookState) -> StateId:
        """Write a state if it is not there; its name."""
        data, digests = state.with_digests()
        name = hashlib.sha256(data).hexdigest()
        self._remember(name, digests)
        path = self._folder / name
        try:
            # As young as if it were written now: nothing names it yet.
            os.utime(path)
        except FileNotFoundError:
            make_private_folder(self._folder.parent)
            make_private_folder(self._folder)
            replace_file(path, zlib.compress(data, 1))
        except OSError as error:
            raise storage_error(path, "write", error) from error
        return name

    def load(self, name: StateId) -> NotebookState:
        """A state that was kept."""
        if len(name) != _DIGITS or not name.isalnum():
            raise NotFound(f"There is no state {name} of a notebook.", state=name, why="cells_gone")
        try:
            data = zlib.decompress((self._folder / name).read_bytes())
            if hashlib.sha256(data).hexdigest() != name:
                raise ValueError("its content is another")
            return NotebookState.of_bytes(data)
        except FileNotFoundError:
            raise NotFound(
                "This state of the notebook was deleted to save space. Choose another one.",
                state=name,
                why="cells_gone",
            ) from None
        except OSError as error:
            raise storage_error(self._folder / name, "read", error) from error
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise StorageUnavailable(
                f"The state {name} of a notebook is damaged. Choose another.", state=name, why="cells_damaged"
            ) from error

    def find(self, name: StateId | None) -> NotebookState | None:
        """The state, or None where it cannot be had any more."""
        if name is None:
            return None
        try:
            return self.load(name)
        except HdspAgentError as error:
            _log.warning("A state of a notebook is missing: %s", error)
            return None

    def digests(self, name: StateId | None) -> CellDigests | None:
        """What tells a state's cells apart; None where it cannot be had any more."""
        known = self._digests.get(name) if name is not None else None
        if known is not None or name is None:
            return known
        state = self.find(name)
        return self._remember(name, state.with_digests()[1]) if state is not None else None

    def _remember(self, name: StateId, digests: CellDigests) -> CellDigests:
        self._digests[name] = digests
        while len(self._digests) > _MOST_REMEMBERED:
            self._digests.popitem(last=False)
        return digests

    def size(self) -> int:
        """The bytes they take."""
        return sum(size for _, size, _ in self._all())

    def collect(
        self, pinned: Collection[StateId], others: Sequence[StateId], *, most_bytes: int, spared_seconds: float
    ) -> None:
        """Drop all states but these, and those younger than so many seconds. Of the others, the first stay that take no more
        than so many bytes."""
        found = {path.name: (path, size, changed) for path, size, changed in self._all()}
        keep, size = set(pinned), 0
        for name in others:
            if name in found and name not in keep:
                size += found[name][1]
                if size > most_bytes:
                    break
                keep.add(name)
        before = time.time() - spared_seconds
        for name, (path, _, changed) in found.items():
            if name not in keep and changed <= before:
                with suppress(OSError):
                    path.unlink()

    def _all(self) -> list[tuple[Path, int, float]]:
        found: list[tuple[Path, int, float]] = []
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((Path(entry.path), status.st_size, status.st_mtime))
        return found


def _written(cell: KeptCell) -> tuple[str, bytes]:
    """A cell as it is kept, and by what it is known again."""
    fields = {
        "attachments": cell.attachments, "cell_type": cell.cell_type, "execution_count": cell.execution_count,
        "id": cell.id, "left_out": cell.left_out, "metadata": cell.metadata, "outputs": list(cell.outputs),
        "seal": cell.seal, "source": cell.source,
    }  # fmt: skip
    pieces = {name: _text(value) for name, value in fields.items()}
    seen = "\n".join(pieces[name] for name in _SEEN)
    text = ",".join(f'"{name}":{piece}' for name, piece in pieces.items())
    return f"{{{text}}}", hashlib.blake2b(seen.encode("ascii"), digest_size=16).digest()


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _hash(outputs: Sequence[JsonObject]) -> str:
    return hashlib.sha256(_outputs_bytes(outputs)).hexdigest()


def _outputs_bytes(outputs: Sequence[JsonObject]) -> bytes:
    return json.dumps(list(outputs), sort_keys=True).encode("ascii")


def _without(metadata: Mapping[str, object], keys: Collection[str]) -> JsonObject:
    # A key without a value cannot be told from one that is not there.
    return cast(JsonObject, {key: value for key, value in metadata.items() if key not in keys and value is not None})
