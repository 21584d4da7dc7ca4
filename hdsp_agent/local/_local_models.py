"""The embedded models of this process: which there are, getting and removing them, and the one that runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import filelock

from ..config import OperatorPolicy, ProviderSettings
from ..errors import Conflict, HdspAgentError, NotFound, Unavailable
from ._download import Consent, check_consent, get_weights
from ._errors import WeightsMissing
from ._gguf import read_head
from ._model_list import LocalModel, catalogue
from ._model_process import ModelFile
from ._partial_download import Progress, Report, SourceKind
from ._processor import check_processor
from ._runtime import LocalRuntime, is_installed
from ._weights_folder import WeightsFolder, default_weights_folder, storage_error

__all__ = ["LocalModels", "ModelLimits", "ModelState", "model_limits"]

logger = logging.getLogger(__name__)

DEFAULT_CONTEXT: Final = 8192
DEFAULT_OUTPUT: Final = 2048
_IDLE_MINUTES: Final = 10
_OVERHEAD: Final = 300_000_000
"""Bytes a file of the person's takes beside its own size, or thereabouts."""

PresenceNow = Literal["absent", "partial", "getting", "ready"]


@dataclass(frozen=True)
class ModelState:
    """A model, and what there is of it."""

    model: LocalModel
    is_default: bool
    presence: PresenceNow
    done: int
    """Bytes that are there; of those that are being looked over, how many were."""
    source: SourceKind | None = None
    """Where it is being fetched from."""
    failure: HdspAgentError | None = None
    """Why the last try ended."""


@dataclass(frozen=True)
class ModelLimits:
    """What a profile's embedded model takes in and says at most, in tokens."""

    id: str
    name: str
    context: int
    output: int


def model_limits(settings: ProviderSettings) -> ModelLimits:
    """The limits of a profile's embedded model: its own, else those of the list; a file of the person's gets modest ones.

    Raises NotFound for an unknown model, NotAModelFile for such a file. It reads files: call it in a thread.
    """
    if settings.local_model_path:
        path = Path(settings.local_model_path).expanduser()
        head = read_head(path)
        context = settings.model_context_window or min(head.context or DEFAULT_CONTEXT, DEFAULT_CONTEXT)
        output = min(settings.model_max_tokens or DEFAULT_OUTPUT, context)
        return ModelLimits(settings.api_model_id or path.stem, head.name or path.stem, context, output)
    model = catalogue().find(settings.api_model_id)
    context = min(settings.model_context_window or model.context, model.longest_context)
    return ModelLimits(model.id, model.name, context, min(settings.model_max_tokens or model.output, context))


class LocalModels:
    """See the module. One of them a process; nothing is read or begun before somebody asks."""

    def __init__(self, folder: Path | None = None, *, policy: Callable[[], OperatorPolicy] = OperatorPolicy) -> None:
        self.folder = WeightsFolder(folder or default_weights_folder())
        self.runtime = LocalRuntime()
        self._policy = policy
        self._getting: dict[str, asyncio.Task[Path]] = {}
        self._progress: dict[str, Progress] = {}
        self._failures: dict[str, HdspAgentError] = {}
        self._stopping = False

    def check_allowed(self) -> None:
        """Raise ForbiddenByOperator where embedded models may not be used."""
        self._policy().check_provider("local")

    @property
    def allowed(self) -> bool:
        """Whether embedded models may be used."""
        return self._policy().allows_provider("local")

    async def states(self) -> list[ModelState]:
        """All models, the default first."""
        listed = await asyncio.to_thread(catalogue)
        ordered = sorted(listed.models, key=lambda model: model.id != listed.default)
        return [await self._state(model, is_default=model.id == listed.default) for model in ordered]

    async def state(self, id: str | None) -> ModelState:
        """One model. Raises NotFound."""
        listed = await asyncio.to_thread(catalogue)
        model = listed.find(id)
        return await self._state(model, is_default=model.id == listed.default)

    async def begin(self, id: str | None, consent: Consent | None, *, path: Path | None = None) -> None:
        """Begin to get a model; ``states`` tells how it goes, and ``got`` waits. One that is being got goes on.

        Raises what can be told at once: NotFound, ForbiddenByOperator, CpuTooOld, ConsentMissing.
        """
        self.check_allowed()
        model = (await asyncio.to_thread(catalogue)).find(id)
        await asyncio.to_thread(check_processor, model.name)
        check_consent(model, consent)
        if self._stopping:
            raise Unavailable("The server is stopping. Try again when it is running.")
        running = self._getting.get(model.id)
        if running is None or running.done():
            self._failures.pop(model.id, None)
            self._progress.pop(model.id, None)
            task = asyncio.create_task(self._get(model, consent, path), name=f"get {model.id}")
            # How it ended is told by the state, also if nobody waits for it.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._getting[model.id] = task

    async def got(self, id: str | None, report: Report = lambda progress: None) -> Path:
        """The weights, once the getting that was begun has ended. Cancelling ends the getting too."""
        model = (await asyncio.to_thread(catalogue)).find(id)
        task = self._getting[model.id]
        told: Progress | None = None
        try:
            while not task.done():
                await asyncio.wait([task], timeout=0.1)
                now = self._progress.get(model.id)
                if now is not None and now != told:
                    report(now)
                    told = now
        except asyncio.CancelledError:
            await self.cancel(model.id)
            raise
        return task.result()

    async def cancel(self, id: str | None) -> None:
        """Stop getting a model; what has come is kept. Raises NotFound."""
        model = (await asyncio.to_thread(catalogue)).find(id)
        task = self._getting.get(model.id)
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])

    async def remove(self, id: str | None) -> int:
        """Delete a model's weights, whole or not; how many bytes were freed. Raises Conflict while it is at work."""
        model = (await asyncio.to_thread(catalogue)).find(id)
        await self.cancel(model.id)
        if self.runtime.runs(model.id) and not await self.runtime.release():
            raise Conflict(f"{model.name} is answering a request. Stop that task, or wait, then remove it.")
        self._failures.pop(model.id, None)
        return await asyncio.to_thread(_remove, self.folder, model)

    async def can_run(self, settings: ProviderSettings) -> bool:
        """Whether the profile's embedded model can be asked as things are; of other providers nothing is said."""
        if settings.api_provider != "local":
            return True
        return self.allowed and await asyncio.to_thread(self._is_there, settings)

    async def file_of(self, settings: ProviderSettings) -> ModelFile:
        """What is to be run for a profile. Raises WeightsMissing, WrongChecksum, NotAModelFile, ForbiddenByOperator."""
        self.check_allowed()
        return await asyncio.to_thread(self._file_of, settings)

    async def stop(self) -> None:
        """End what runs and what is being got."""
        self._stopping = True
        tasks = [task for task in self._getting.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self.runtime.stop()

    async def _get(self, model: LocalModel, consent: Consent | None, path: Path | None) -> Path:
        def report(progress: Progress) -> None:
            self._progress[model.id] = progress

        try:
            return await get_weights(model, self.folder, consent, path=path, report=report)
        except HdspAgentError as error:
            self._failures[model.id] = error
            raise
        except Exception as error:
            logger.exception("The download of the embedded model %s failed", model.id)
            self._failures[model.id] = Unavailable(
                f"{model.name} could not be downloaded: {type(error).__name__}: {error}. The server's log has the details."
            )
            raise
        finally:
            self._progress.pop(model.id, None)

    async def _state(self, model: LocalModel, *, is_default: bool) -> ModelState:
        task = self._getting.get(model.id)
        failure = self._failures.get(model.id)
        if task is not None and not task.done():
            progress = self._progress.get(model.id)
            done, source = (progress.done, progress.source) if progress else (0, None)
            return ModelState(model, is_default, "getting", done, source)
        presence, done = await asyncio.to_thread(self.folder.presence, model)
        return ModelState(model, is_default, presence, done, failure=failure if presence != "ready" else None)

    def _is_there(self, settings: ProviderSettings) -> bool:
        if not is_installed():
            return False
        if settings.local_model_path:
            return Path(settings.local_model_path).expanduser().is_file()
        try:
            return self.folder.presence(catalogue().find(settings.api_model_id))[0] == "ready"
        except NotFound:
            return False

    def _file_of(self, settings: ProviderSettings) -> ModelFile:
        limits = model_limits(settings)
        idle = 60.0 * (settings.local_idle_minutes or _IDLE_MINUTES)
        if settings.local_model_path:
            path = Path(settings.local_model_path).expanduser().absolute()
            memory = path.stat().st_size + _OVERHEAD
            return ModelFile(limits.id, limits.name, path, limits.context, limits.output, memory, idle)
        model = catalogue().find(settings.api_model_id)
        weights = self.folder.checked(model)
        if weights is None:
            raise WeightsMissing(
                f"{model.name} is not on this machine yet. To download it, run: hdsp-agent model get {model.id}",
                model=model.id,
            )
        return ModelFile(limits.id, limits.name, weights, limits.context, limits.output, model.memory, idle)


def _remove(folder: WeightsFolder, model: LocalModel) -> int:
    if not folder.path.is_dir():
        return 0
    lock = filelock.FileLock(folder.lock(model), timeout=0, mode=0o600)
    try:
        with lock:
            return folder.remove(model)
    except filelock.Timeout:
        raise Conflict(f"{model.name} is being downloaded by another program of yours. Stop that first.") from None
    except OSError as error:
        raise storage_error(folder.lock(model), "lock", error) from None
