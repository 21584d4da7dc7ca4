"""``config.json``: read leniently, changed under a lock, watched for changes made by others."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from .._background_tasks import STOP_SECONDS, BackgroundTasks
from .._private_files import (
    Identity,
    identity_of,
    locked,
    make_private_folder,
    read_with_identity,
    replace_file,
    set_aside,
)
from ..errors import StorageUnavailable
from ._migrations import CURRENT_VERSION, migrate
from ._notices import ConfigNotice

__all__ = ["ConfigDocument", "ConfigStore", "dump_json"]

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.4
"""How often the file is looked at; a change by someone else must be noticed within a second."""


class _CorruptFile(Exception):
    """The file's content is not a configuration."""


@dataclass(frozen=True)
class ConfigDocument:
    """The whole content of ``config.json``, with what this version does not know."""

    content: dict[str, JsonValue] = field(default_factory=lambda: {"version": CURRENT_VERSION})

    @property
    def settings(self) -> dict[str, JsonValue]:
        """The raw global settings; what is put in here is kept."""
        return self._writable("globalSettings")

    @property
    def profiles(self) -> dict[str, JsonValue]:
        """The raw provider profiles section; what is put in here is kept."""
        return self._writable("providerProfiles")

    def copy(self) -> ConfigDocument:
        """The same content, free to be changed."""
        return ConfigDocument(json.loads(json.dumps(self.content)))

    def section(self, name: str) -> dict[str, JsonValue]:
        """A section to look at."""
        section = self.content.get(name)
        return section if isinstance(section, dict) else {}

    def _writable(self, name: str) -> dict[str, JsonValue]:
        section = self.content.setdefault(name, {})
        if not isinstance(section, dict):
            raise TypeError(f"{name} was not checked when it was read")
        return section

    @classmethod
    def parse(cls, data: bytes) -> ConfigDocument:
        """Read the file's bytes; raises ``_CorruptFile`` saying what is wrong."""
        try:
            content = json.loads(data.decode("utf-8-sig"))
            if not isinstance(content, dict):
                raise _CorruptFile("it does not hold a JSON object")
            _check_objects(content, ("globalSettings", "providerProfiles"))
            document = cls(migrate(content))
        except (ValueError, RecursionError) as error:
            raise _CorruptFile(str(error)) from error
        _check_objects(document.section("providerProfiles"), ("apiConfigs", "modeApiConfigs", "pinnedApiConfigs"))
        return document


def _check_objects(content: dict[str, JsonValue], names: tuple[str, ...]) -> None:
    for name in names:
        if not isinstance(content.get(name, {}), dict):
            raise _CorruptFile(f"{name} is not an object")


@dataclass(frozen=True)
class _State:
    document: ConfigDocument = field(default_factory=ConfigDocument)
    identity: Identity | None = None
    problem: ConfigNotice | None = None
    aside: tuple[ConfigNotice, ...] = ()


class ConfigStore:
    """The one reader and writer of ``config.json`` in this process.

    ``changed`` is called on the event loop after the file was found to be different, whoever changed it.
    """

    def __init__(self, home: Path, changed: Callable[[], None], *, lock_timeout: float) -> None:
        self.path: Final = home / "config.json"
        self._changed = changed
        self._lock_timeout = lock_timeout
        self._state = _State()
        self._files = asyncio.Lock()
        self._held = BackgroundTasks()
        self._watcher: asyncio.Task[None] | None = None
        self._given_up = threading.Event()

    @property
    def document(self) -> ConfigDocument:
        """The last good content. Not to be changed in place."""
        return self._state.document

    @property
    def notices(self) -> tuple[ConfigNotice, ...]:
        """What is wrong with the file, and what was set aside since the start."""
        problem = (self._state.problem,) if self._state.problem else ()
        return problem + self._state.aside

    async def start(self, prepare: Callable[[ConfigDocument], bool]) -> None:
        """Load the file, let ``prepare`` complete it, and watch it from now on.

        A storage that does not work is a notice, not an error: the agent starts with defaults.
        """
        self._state = await self._held.finish(self._locked(lambda state: self._load_first(state, prepare)))
        self._watcher = asyncio.create_task(self._watch(), name="hdsp-agent config watcher")

    async def stop(self) -> None:
        """Finish what is being written and stop watching. What waits for another process's lock is given up."""
        if self._watcher is not None:
            self._watcher.cancel()
            with suppress(asyncio.CancelledError):
                await self._watcher
            self._watcher = None
        if not await self._held.drain(STOP_SECONDS):
            self._given_up.set()
            await self._held.drain()

    async def modify(self, change: Callable[[ConfigDocument], object]) -> None:
        """Read the file again, apply the change and replace the file, as one step for all processes.

        ``change`` runs in a thread on a fresh document; if it raises, nothing is written.
        """

        async def write() -> None:
            self._state = await self._locked(lambda state: self._write(state, change))
            self._changed()

        await self._held.finish(write())

    async def _locked(self, work: Callable[[_State], _State]) -> _State:
        # The watcher takes turns with writers, else it could put what it read before a write over what was written.
        async with self._files:
            return await asyncio.to_thread(work, self._state)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                before = self._state
                async with self._files:
                    self._state = await asyncio.to_thread(self._look, self._state)
                if self._state is not before:
                    self._changed()
            except Exception:
                # One bad look must not end the watch.
                logger.exception("Could not look at %s", self.path)

    # ---- what follows runs in threads

    def _load_first(self, state: _State, prepare: Callable[[ConfigDocument], bool]) -> _State:
        document = ConfigDocument()
        try:
            make_private_folder(self.path.parent)
            with locked(self.path, self._lock_timeout, self._given_up.is_set):
                state, document = self._read_or_set_aside(state, ConfigDocument())
                if prepare(document):
                    return self._replace(state, document)
                return replace(state, document=document)
        except StorageUnavailable as error:
            logger.warning("%s", error.message)
            # Readable storage that cannot be written is still worth reading.
            with suppress(StorageUnavailable, _CorruptFile):
                if (found := read_with_identity(self.path)) is not None:
                    document = ConfigDocument.parse(found[0])
                    state = replace(state, identity=found[1])
            prepare(document)
            notice = ConfigNotice(code=error.code, message=error.message, params=error.params)
            return replace(state, document=document, problem=notice)

    def _write(self, state: _State, change: Callable[[ConfigDocument], object]) -> _State:
        make_private_folder(self.path.parent)
        with locked(self.path, self._lock_timeout, self._given_up.is_set):
            state, document = self._read_or_set_aside(state, state.document.copy())
            before = dump_json(document.content)
            change(document)
            if state.identity is not None and dump_json(document.content) == before:
                return replace(state, document=document)
            return self._replace(state, document)

    def _read_or_set_aside(self, state: _State, fallback: ConfigDocument) -> tuple[_State, ConfigDocument]:
        found = read_with_identity(self.path)
        if found is None:
            return replace(state, identity=None, problem=None), fallback
        try:
            document = ConfigDocument.parse(found[0])
        except _CorruptFile as error:
            aside = set_aside(self.path, datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
            notice = _corrupt_notice(self.path, str(error), aside)
            logger.warning("%s", notice.message)
            return replace(state, identity=None, problem=None, aside=(*state.aside, notice)), fallback
        return replace(state, identity=found[1], problem=None), document

    def _replace(self, state: _State, document: ConfigDocument) -> _State:
        document.content.setdefault("version", CURRENT_VERSION)
        identity = replace_file(self.path, dump_json(document.content))
        return replace(state, document=document, identity=identity, problem=None)

    def _look(self, state: _State) -> _State:
        """The state as it is now; the very same object if nothing happened."""
        current = identity_of(self.path)
        if current is None:
            # A file that is gone keeps its values: the next write brings it back. What was wrong with it is over.
            return state if state.identity is None else replace(state, identity=None, problem=None)
        # A file that could not be read may be readable now without looking any different.
        unread = state.problem is not None and state.problem.code == StorageUnavailable.code
        if current == state.identity and not unread:
            return state
        try:
            found = read_with_identity(self.path)
            if found is None:
                return state
            data, identity = found
            document = ConfigDocument.parse(data)
        except _CorruptFile as error:
            notice = _corrupt_notice(self.path, str(error), None)
            return replace(state, identity=current, problem=notice)
        except StorageUnavailable as error:
            notice = ConfigNotice(code=error.code, message=error.message, params=error.params)
            return state if notice == state.problem else replace(state, identity=current, problem=notice)
        return replace(state, document=document, identity=identity, problem=None)


def dump_json(content: dict[str, JsonValue]) -> bytes:
    """JSON for a file people may read and edit."""
    try:
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        # Half a surrogate pair in a value we do not know: keep it, escaped as it came.
        return (json.dumps(content, indent=2) + "\n").encode()


def _corrupt_notice(path: Path, reason: str, aside: Path | None) -> ConfigNotice:
    if aside is None:
        return ConfigNotice(
            code="config_corrupt",
            message=f"{path} was changed and cannot be read: {reason}. The previous values still apply. Repair the "
            "file. If you change a setting first, the file is renamed, not overwritten.",
            params={"path": str(path), "reason": reason},
        )
    return ConfigNotice(
        code="config_set_aside",
        message=f"{path} could not be read: {reason}. It was renamed to {aside.name} and nothing in it was changed. "
        "To use it again, repair it and rename it back.",
        params={"path": str(path), "reason": reason, "aside": aside.name},
    )
