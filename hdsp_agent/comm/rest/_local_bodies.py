"""What requests and answers about embedded models carry."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from ...local import RuntimeState, SourceKind
from ...messages import ErrorBody
from ...wire import WireModel

__all__ = [
    "EmbeddedChoice",
    "GetLocalModel",
    "LicenceConsent",
    "LocalModelList",
    "LocalModelView",
    "LocalRuntimeView",
    "RemovedLocalModel",
]


class LocalModelView(WireModel):
    """An embedded model, and what there is of it on this machine."""

    id: str
    name: str
    is_default: bool
    parameters: int
    quantization: str
    size: int
    """Bytes to fetch, and that it then takes on the disk."""
    memory: int
    """Bytes of memory it takes while it runs, or thereabouts."""
    context: int
    """Tokens it takes in."""
    output: int
    """Tokens it says at most."""
    licence: str
    licence_url: str
    state: Literal["absent", "partial", "getting", "ready"]
    """``partial``: a part was fetched, and the next try goes on from there."""
    done: int
    """Bytes that are there; while ``source`` is ``check``, bytes that were looked over."""
    source: SourceKind | None = None
    """Where it is being fetched from just now."""
    failure: ErrorBody | None = None
    """Why the last try ended."""


class LocalRuntimeView(WireModel):
    """The process that runs the embedded model."""

    state: RuntimeState
    """``stopped`` is no fault: it is started when it is needed, and ended when nobody needs it."""
    model: str | None = None
    memory: int | None = None
    """Bytes it takes now; absent where the system does not tell, or nothing runs."""
    waiting: int
    """Requests that wait for their turn."""
    start_seconds: float | None = None
    """How long its last start took."""
    reading_speed: float | None = None
    """Tokens a second of the last request that it had not read before."""
    writing_speed: float | None = None
    """Tokens a second of its last answer."""
    failure: ErrorBody | None = None
    """Why it last did not start, or ended by itself; absent once it is there again."""
    failed_at: datetime | None = None
    restarted_after: ErrorBody | None = None
    """Why it had to be started again, the last time that was so."""
    restarted_at: datetime | None = None


class LocalModelList(WireModel):
    """All embedded models, the default first, and whether they can be used here."""

    allowed: bool
    """False if the administrator does not allow them."""
    installed: bool
    """Whether the extra that runs them is installed."""
    folder: str
    free: int | None = None
    """Bytes free on the folder's disk."""
    free_memory: int | None = None
    """Bytes of memory that a new process can take."""
    models: list[LocalModelView]
    runtime: LocalRuntimeView


class LicenceConsent(WireModel):
    """What the person was shown and agreed to: the licence's id and the size in bytes, as listed."""

    licence: Annotated[str, Field(max_length=100)]
    size: int


class GetLocalModel(WireModel):
    """Fetch a model. Without consent nothing is fetched."""

    consent: LicenceConsent | None = None
    path: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """A file on the server's machine to take it from, instead of fetching it."""


class EmbeddedChoice(WireModel):
    """An embedded model, or a file of the person's with what it may take in and say."""

    model: Annotated[str, Field(max_length=200)] | None = None
    """The default one, if neither this nor a file is named."""
    path: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """A GGUF file on the server's machine, in place of a listed model."""
    context: Annotated[int, Field(ge=256, le=1_000_000)] | None = None
    """Tokens it is given room for."""
    output: Annotated[int, Field(ge=16, le=1_000_000)] | None = None
    """Tokens of its longest answer."""


class RemovedLocalModel(WireModel):
    """How much space deleting a model freed."""

    freed: int
    """Bytes."""
