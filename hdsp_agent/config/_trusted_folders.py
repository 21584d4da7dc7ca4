"""Which folders a person trusts: what a folder brings for the agent counts only in a trusted one.

Everything here blocks: call it in a thread. Folders are compared by their real paths, so that a link that is made to
lead elsewhere carries no trust along.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, ValidationError

from .._private_files import (
    Identity,
    identity_of,
    locked,
    make_private_folder,
    read_with_identity,
    replace_file,
    set_aside,
)
from ..errors import ForbiddenByOperator, InvalidInput
from ..wire import WireModel
from ._operator_policy import OperatorPolicy

__all__ = ["FolderStanding", "FolderVerdict", "TrustedFolder", "TrustedFolders", "real_folder"]

FolderVerdict: TypeAlias = Literal["trusted", "notTrusted", "undecided"]

_FILE: Final = "trusted-folders.json"
_MOST: Final = 10_000
"""Decisions. The oldest go first: a forgotten one is asked about again."""

logger = logging.getLogger(__name__)


class TrustedFolder(WireModel):
    """What a person decided about one folder."""

    folder: Annotated[str, Field(min_length=1, max_length=32_768)]
    trusted: bool
    decided_at: str


class _Decisions(WireModel):
    version: Literal[1] = 1
    folders: list[TrustedFolder] = Field(default_factory=list)


@dataclass(frozen=True)
class FolderStanding:
    """Whether a folder is trusted, and who says so."""

    folder: Path
    """Where it really is."""
    verdict: FolderVerdict
    decided_by: Literal["person", "operator"] | None = None
    through: Path | None = None
    """The folder that was decided about; another one where it lies inside that."""

    @property
    def is_trusted(self) -> bool:
        """Whether what it brings counts."""
        return self.verdict == "trusted"


class TrustedFolders:
    """The person's decisions, in a file of their storage folder that all of their servers and programs share."""

    def __init__(self, home: Path, policy: Callable[[], OperatorPolicy]) -> None:
        self._home = home
        self._path: Final = home / _FILE
        self._policy = policy
        self._read: tuple[Identity, dict[Path, TrustedFolder]] | None = None
        self._for_now: frozenset[Path] = frozenset()

    def standing(self, folder: Path) -> FolderStanding:
        """How a folder stands now."""
        real, policy = real_folder(folder), self._policy()
        for through in _real_folders("trusted_folders", policy.trusted_folders):
            if real == through or through in real.parents:
                return FolderStanding(real, "trusted", "operator", through)
        if policy.workspace_trust != "ask":
            always = policy.workspace_trust == "always"
            return FolderStanding(real, "trusted" if always else "notTrusted", "operator")
        if real in self._for_now:
            return FolderStanding(real, "trusted", "person", real)
        return self._persons(real)

    def trusted(self, folder: Path) -> Path | None:
        """Where a trusted folder really is: read what it brings from there. None for one that is not trusted."""
        standing = self.standing(folder)
        return standing.folder if standing.is_trusted else None

    def of_team(self) -> tuple[Path, ...]:
        """Where the folders really are that the operator shares with everybody, each once."""
        return tuple(dict.fromkeys(_real_folders("team_folders", self._policy().team_folders)))

    def decisions(self) -> Sequence[TrustedFolder]:
        """What the person decided, by folder."""
        return [decided for _, decided in sorted(self._decided().items())]

    def decide(self, folder: Path, trusted: bool | None) -> FolderStanding:
        """Trust a folder from now on, or do not; None has it asked about again. Raises ForbiddenByOperator, InvalidInput."""
        policy = self._policy()
        if trusted is not None and policy.workspace_trust != "ask":
            raise ForbiddenByOperator(
                "Your administrator decides which folders are trusted. Ask them to list this one.",
                field="folder",
            )
        real = _checked(folder, must_exist=trusted is not None)
        self._for_now -= {real}
        make_private_folder(self._home)
        with locked(self._path, policy.file_lock_timeout_seconds):
            decided = self._decided(to_change=True)
            # A folder that is gone has no other name than the one it was listed under.
            decided.pop(folder, None)
            decided.pop(real, None)
            if trusted is not None:
                at = datetime.now(UTC).isoformat(timespec="seconds")
                decided[real] = TrustedFolder(folder=str(real), trusted=trusted, decided_at=at)
            kept = sorted(decided.values(), key=lambda one: one.decided_at)[-_MOST:]
            replace_file(self._path, _Decisions(folders=kept).to_json().encode())
        self._read = None
        return self.standing(folder)

    def trust_for_now(self, folder: Path) -> None:
        """Trust a folder as long as this program runs, unless the operator decides otherwise."""
        self._for_now |= {real_folder(folder)}

    # ---- inside

    def _persons(self, real: Path) -> FolderStanding:
        decided = self._decided()
        own = decided.get(real)
        if own is not None:
            return FolderStanding(real, "trusted" if own.trusted else "notTrusted", "person", real)
        alone = _only_for_themselves()
        for parent in real.parents:
            above = decided.get(parent)
            if above is not None and parent not in alone:
                # The nearest one says it: below a folder that is not trusted each one is asked about.
                return FolderStanding(real, "trusted", "person", parent) if above.trusted else _undecided(real)
        return _undecided(real)

    def _decided(self, *, to_change: bool = False) -> dict[Path, TrustedFolder]:
        """What the file says; another program may have written it since."""
        identity = identity_of(self._path)
        if identity is None:
            return {}
        if self._read is not None and self._read[0] == identity:
            return dict(self._read[1])
        found = read_with_identity(self._path)
        if found is None:
            return {}
        try:
            read = _Decisions.model_validate_json(found[0])
        except ValidationError:
            logger.warning("%s cannot be read, so none of its folders is trusted", self._path)
            if to_change:
                set_aside(self._path, datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
            return {}
        self._read = found[1], {Path(one.folder): one for one in read.folders}
        return dict(self._read[1])


def real_folder(folder: Path) -> Path:
    """Where a folder really is, links followed. Blocks."""
    return Path(os.path.realpath(folder))


def _checked(folder: Path, *, must_exist: bool) -> Path:
    """The real folder. Raises InvalidInput for what is none, or has a name that cannot be written down."""
    try:
        real = real_folder(folder)
        str(real).encode()
        is_there = real.is_dir()
    except (OSError, ValueError):
        raise InvalidInput("This is not the name of a folder.", field="folder") from None
    if not folder.is_absolute() or (must_exist and not is_there):
        raise InvalidInput(f"{folder} is not a folder. Choose one that exists.", field="folder")
    return real


def _real_folders(option: str, folders: Sequence[str]) -> Iterator[Path]:
    for folder in folders:
        try:
            yield real_folder(Path(folder).expanduser())
        except RuntimeError as error:
            logger.warning("%s names %s, which cannot be found: %s", option, folder, error)


def _undecided(real: Path) -> FolderStanding:
    return FolderStanding(real, "undecided")


def _only_for_themselves() -> frozenset[Path]:
    """The person's home and what is above: everything that is ever cloned or unpacked lies below them."""
    try:
        home = real_folder(Path.home())
    except RuntimeError:
        return frozenset()
    return frozenset((home, *home.parents))
