"""The models in a repository of the hub, as the hub declares them: commit, size, checksum and license."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ._errors import HubRefused, HubUnreachable, RefusalReason
from ._hub import HUB, fetch_document
from ._model_list import HubSource, LocalModel
from ._partial_download import SourceFailed

__all__ = ["UNKNOWN_CONTEXT", "UNKNOWN_OUTPUT", "estimated_memory", "models_of_repository"]

UNKNOWN_CONTEXT: Final = 8192
"""Tokens a model that we do not know is given room for, unless a profile says otherwise."""
UNKNOWN_OUTPUT: Final = 2048
_LONGEST_CONTEXT: Final = 1_000_000
_MOST_FILES: Final = 200
_NAME: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9][A-Za-z0-9_.-]{0,95})(?::(.{1,500}))?")
_PIECE: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_NO_MODEL: Final = re.compile(r"mmproj|imatrix", re.IGNORECASE)
"""What lies beside models, and is none by itself."""


class _Declared(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class _Checksum(_Declared):
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(gt=0)]


class _File(_Declared):
    name: Annotated[str, Field(alias="rfilename", max_length=500)]
    size: int | None = None
    lfs: _Checksum | None = None


class _Card(_Declared):
    license: str | list[str] | None = None
    license_name: str | None = None


class _Repository(_Declared):
    sha: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    gated: bool | str = False
    card: Annotated[_Card | None, Field(alias="cardData")] = None
    siblings: list[_File] = []


async def models_of_repository(name: str) -> Sequence[LocalModel]:
    """The GGUF files of ``owner/repository``, or the one of ``owner/repository:file``, smallest first.

    Raises HubRefused where there is none that can be used, and HubUnreachable.
    """
    parsed = _NAME.fullmatch(name.strip().removeprefix(f"{HUB}/"))
    if parsed is None:
        raise _refused(name, "name")
    repository, wanted = parsed[1], parsed[2]
    found = await _asked(repository)
    if found.gated:
        raise _refused(repository, "gated")
    files = [file for file in found.siblings if file.name.lower().endswith(".gguf")]
    if wanted is not None:
        files = [file for file in files if file.name == wanted]
    if not files:
        raise _refused(name, "no_gguf" if wanted is None else "no_file")
    whole = [file for file in files if not _PIECE.search(file.name) and not _NO_MODEL.search(file.name)]
    if not whole:
        raise _refused(name, "split" if _PIECE.search(files[0].name) else "no_gguf")
    models = list(_models(repository, found, whole))
    if not models:
        raise _refused(name, "no_checksum")
    return sorted(models, key=lambda model: model.size)[:_MOST_FILES]


def estimated_memory(size: int) -> int:
    """Bytes that a model of so many bytes takes while it runs, or thereabouts: rather too many than too few.

    One of 1.1 GB was measured to take 2.2 GB: its weights, the window, and room to compute in.
    """
    return size * 5 // 4 + 700_000_000


async def _asked(repository: str) -> _Repository:
    try:
        status, text = await fetch_document(f"api/models/{repository}", "?blobs=true")
    except SourceFailed as failure:
        raise HubUnreachable(str(failure)) from None
    # Without a log-in it tells of what is private, and of what is not there, in the same way.
    if status in (401, 403, 404):
        raise _refused(repository, "no_repository")
    if status == 413:
        raise _refused(repository, "too_long")
    if status != 200:
        raise HubUnreachable(f"it answered {status}")
    try:
        return _Repository.model_validate_json(text)
    except ValidationError:
        raise HubUnreachable("its answer cannot be read") from None


def _models(repository: str, found: _Repository, files: Sequence[_File]) -> Iterator[LocalModel]:
    for file in files:
        if file.lfs is None or file.size not in (None, file.lfs.size):
            continue
        stem = PurePosixPath(file.name).stem[:150]
        id = f"{re.sub(r'[^a-z0-9._-]+', '-', stem.lower()).strip('._-') or 'model'}-{file.lfs.sha256[:8]}"
        yield LocalModel(
            id=id,
            name=stem,
            ability="unknown",
            held_out=None,
            file=f"{id}.gguf",
            size=file.lfs.size,
            sha256=file.lfs.sha256,
            licence=_licence(found.card),
            licence_url=f"{HUB}/{repository}/blob/{found.sha}/README.md",
            context=UNKNOWN_CONTEXT,
            longest_context=_LONGEST_CONTEXT,
            output=UNKNOWN_OUTPUT,
            memory=estimated_memory(file.lfs.size),
            offered_from=0,
            sources=(HubSource(kind="hub", address=HUB, repository=repository, revision=found.sha, file=file.name),),
        )


def _licence(card: _Card | None) -> str:
    """What the model card declares; empty if nothing."""
    if card is None or not card.license:
        return ""
    named = card.license if isinstance(card.license, str) else ", ".join(card.license)
    return (card.license_name if named == "other" and card.license_name else named)[:100]


def _refused(name: str, reason: RefusalReason) -> HubRefused:
    return HubRefused(name[:300], reason)
