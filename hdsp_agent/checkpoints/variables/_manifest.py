"""What is known about a kernel's variables at one moment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from pydantic import ConfigDict

from ...wire import WireModel

__all__ = [
    "ClassDefinition",
    "Environment",
    "ManifestId",
    "RecordedRun",
    "StoredPart",
    "VariableEntry",
    "VariableGroup",
    "VariableManifest",
    "VariableStatus",
]

ManifestId = str
"""Sixteen hexadecimal digits."""

VariableStatus = Literal["saved", "module", "live", "failed", "too_large", "skipped"]
"""``live`` has no bytes (an open file, a lock); ``skipped``: the next cell began before it could be saved."""


class _Stored(WireModel):
    """A newer version's fields are dropped on reading."""

    model_config = ConfigDict(extra="ignore")


class StoredPart(_Stored):
    """Bytes in the store, as pieces named by their content."""

    size: int
    keys: tuple[str, ...]
    readonly: bool = False


class VariableGroup(_Stored):
    """Variables that share objects and are restored together."""

    names: tuple[str, ...]
    digest: str
    bytes: int
    inline: str | None = None
    """A small stream, in base64."""
    stream: StoredPart | None = None
    buffers: tuple[StoredPart, ...] = ()
    blobs: tuple[StoredPart, ...] = ()
    classes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Classes of which it holds attributes: the very objects, whatever those are in the class."""
    libraries: tuple[str, ...] = ()
    """Libraries whose objects are in it."""
    assumed: bool = False
    """No cell named it since it was last looked at, so it was not looked at again."""

    def parts(self) -> Iterator[StoredPart]:
        """All it has in the store."""
        if self.stream is not None:
            yield self.stream
        yield from self.buffers
        yield from self.blobs


class VariableEntry(_Stored):
    """One variable."""

    type: str
    status: VariableStatus
    number: int = 0
    """Its object's id in that life of the kernel: by it what cannot be saved is known again."""
    why: str | None = None
    """Of a module its name; of what is not saved the reason."""
    partial: bool = False
    """It holds so much that not all of it was looked through: what it shares with others may come back as copies."""
    needs: tuple[str, ...] = ()
    """Variables that functions in it read."""


class ClassDefinition(_Stored):
    """A class that the notebook defined."""

    name: str
    skeleton: str
    state: str
    classes: tuple[str, ...]
    digest: str


class RecordedRun(_Stored):
    """A cell that ran, and what its text says about it."""

    run: int
    cell: str | None = None
    count: int | None = None
    """Its execution count, where the kernel does not know its cell."""
    source: str | None = None
    """Absent where it was too long to keep."""
    ok: bool = True
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    """Names whose objects it changes in place."""
    effects: tuple[str, ...] = ()
    """What running it again would do besides: ``files``, ``network``, ``database``, ``processes``, ``input``, ``chance``,
    ``time``."""
    opaque: bool = False
    """It runs text or reaches for the namespace itself, so that it may read and write any name."""
    ts: int = 0


class Environment(_Stored):
    """What decides whether another kernel can read the values."""

    implementation: str
    python: str
    libraries: Mapping[str, str]


class VariableManifest(_Stored):
    """A kernel's variables at one moment; their bytes are in the store."""

    id: ManifestId
    parent: ManifestId | None = None
    """The one before it of the same life of the kernel: the runs of all of them are what ran in it."""
    ts: int
    kernel_id: str
    life: str
    """Another text after each restart of the kernel."""
    sweep: int
    run: int
    """How many cells had run."""
    seconds: float = 0.0
    """How long the kernel was kept."""
    environment: Environment
    variables: Mapping[str, VariableEntry]
    groups: tuple[VariableGroup, ...]
    classes: Mapping[str, ClassDefinition]
    runs: tuple[RecordedRun, ...] = ()
    """Cells that ran since the parent."""
    runs_only: bool = False
    """Its variables were dropped; the cells are known for the sake of later ones."""

    @property
    def state_hash(self) -> str:
        """Sixteen digits that are equal when all variables are: for a cell's metadata."""
        digests = {name: group.digest for group in self.groups for name in group.names}
        state = [
            [name, entry.status, digests.get(name, entry.why or entry.type)]
            for name, entry in sorted(self.variables.items())
        ]
        definitions = sorted(one.digest for one in self.classes.values())
        return hashlib.sha256(json.dumps([state, definitions]).encode()).hexdigest()[:16]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables a person made, without modules: for a cell's metadata."""
        return tuple(sorted(name for name, entry in self.variables.items() if entry.status != "module"))

    @property
    def unsaved(self) -> Mapping[str, VariableEntry]:
        """What cannot be brought back from the store, with the reason."""
        return {name: one for name, one in self.variables.items() if one.status not in ("saved", "module")}

    def group_of(self, name: str) -> VariableGroup | None:
        """The group a variable is saved in."""
        return next((group for group in self.groups if name in group.names), None)

    def classes_of(self, groups: Iterable[VariableGroup]) -> Mapping[str, ClassDefinition]:
        """The classes that some groups need, and those that these need."""
        found: dict[str, ClassDefinition] = {}
        todo = [token for group in groups for token in (*group.classes, *group.aliases)]
        while todo:
            token = todo.pop()
            if token not in found and token in self.classes:
                found[token] = self.classes[token]
                todo += found[token].classes
        return found

    def without_variables(self) -> VariableManifest:
        """What later ones need of it."""
        return self.model_copy(update={"variables": {}, "groups": (), "classes": {}, "runs_only": True})

    def keys(self) -> Iterator[str]:
        """All pieces it needs."""
        for group in self.groups:
            for part in group.parts():
                yield from part.keys
