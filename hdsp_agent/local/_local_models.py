"""The embedded models of this process: which there are, getting and removing them, and the one that runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Final, Literal

import filelock

from ..config import OperatorPolicy, ProviderSettings
from ..errors import Conflict, HdspAgentError, NotFound, Unavailable
from ..messages import ErrorBody, error_body
from ._download import Consent, check_consent, get_weights
from ._errors import WeightsMissing
from ._hub_repository import estimated_memory, models_of_repository
from ._machine import available_memory, check_processor
from ._model_limits import ModelLimits, limits_of_file, limits_of_model, model_limits
from ._model_list import Catalogue, LocalModel, catalogue
from ._model_process import ModelFile
from ._partial_download import Progress, Report, SourceKind
from ._runtime import LocalRuntime, is_installed
from ._weights_folder import WeightsFolder, default_weights_folder, storage_error

__all__ = ["LocalModelView", "LocalModels"]

logger = logging.getLogger(__name__)

_IDLE_MINUTES: Final = 10
_MOST_LOOKED_UP: Final = 1000


class LocalModelView(LocalModel):
    """An embedded model, and what there is of it on this machine."""

    is_offered: bool
    """Whether it is the one to offer where nobody has chosen: the most able that fits into the memory that is free."""
    is_added: bool
    """Whether a person added it, by its name on a hub."""
    state: Literal["absent", "partial", "getting", "ready"]
    """``partial``: a part was fetched, and the next try goes on from there."""
    done: int
    """Bytes that are there; while ``source`` is ``check``, bytes that were looked over."""
    source: SourceKind | None = None
    """Where it is being fetched from just now."""
    failure: ErrorBody | None = None
    """Why the last try ended."""


class _Attempt:
    """A try to get a model: how far it is, and why it failed."""

    def __init__(self, getting: Callable[[Report], Coroutine[None, None, Path]], name: str) -> None:
        self.progress: Progress | None = None
        self.task = asyncio.create_task(getting(self._see), name=f"get {name}")
        self.task.add_done_callback(self._log)

    @property
    def failure(self) -> HdspAgentError | None:
        """Why it failed, if it did."""
        error = self.task.exception() if self.task.done() and not self.task.cancelled() else None
        if error is None or isinstance(error, HdspAgentError):
            return error
        return Unavailable(f"The download failed: {type(error).__name__}: {error}. The server's log has the details.")

    def _see(self, progress: Progress) -> None:
        self.progress = progress

    def _log(self, task: asyncio.Task[Path]) -> None:
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, HdspAgentError):
            logger.error("The download of an embedded model failed", exc_info=error)


class LocalModels:
    """See the module. One of them a process; nothing is read or begun before somebody asks."""

    def __init__(self, folder: Path | None = None, *, policy: Callable[[], OperatorPolicy] = OperatorPolicy) -> None:
        self.folder = WeightsFolder(folder or default_weights_folder())
        self.runtime = LocalRuntime()
        self._policy = policy
        self._looked_up: dict[str, LocalModel] = {}
        self._attempts: dict[str, _Attempt] = {}
        self._stopping = False

    @property
    def allowed(self) -> bool:
        """Whether embedded models may be used."""
        return self._policy().allows_provider("local")

    @property
    def others_allowed(self) -> bool:
        """Whether models may be used that are not of our list."""
        return self.allowed and self._policy().allow_unlisted_models

    def check_allowed(self, *, is_listed: bool = True) -> None:
        """Raise ForbiddenByOperator where the operator does not want embedded models, or none but those of our list."""
        self._policy().check_provider("local")
        if not is_listed:
            self._policy().check_unlisted_models()

    async def states(self) -> list[LocalModelView]:
        """All models, the one that is offered first."""
        models, offered = (await asyncio.to_thread(self.listed)).models, await self._offered()
        return [await self._state(model, offered) for model in sorted(models, key=lambda model: model.id != offered)]

    async def state(self, id: str | None) -> LocalModelView:
        """One model. Raises NotFound."""
        return await self._state(await self._find(id), await self._offered())

    async def suggested(self) -> str:
        """The id of the model to use where nobody names one: the first that is here, else the one that is offered."""
        states = await self.states()
        return next((state.id for state in states if state.state == "ready"), states[0].id)

    async def look_up(self, name: str) -> list[LocalModelView]:
        """The models of a repository of the hub, or the one file of it that is named. Nothing is fetched.

        Raises ForbiddenByOperator, HubRefused, HubUnreachable.
        """
        self.check_allowed(is_listed=False)
        found = await models_of_repository(name)
        if len(self._looked_up) > _MOST_LOOKED_UP:
            self._looked_up.clear()
        self._looked_up |= {model.id: model for model in found}
        return [await self._state(model, offered="") for model in found]

    async def begin(self, id: str | None, consent: Consent | None, *, path: Path | None = None) -> None:
        """Begin to get a model; ``states`` tells how it goes, and ``got`` waits. One that is being got goes on.

        Raises what can be told at once: NotFound, ForbiddenByOperator, CpuTooOld, ConsentMissing.
        """
        self.check_allowed()
        model = await self._find(id)
        is_ours = await asyncio.to_thread(_is_ours, model)
        self.check_allowed(is_listed=is_ours)
        await asyncio.to_thread(check_processor, model.name)
        check_consent(model, consent)
        if self._stopping:
            raise Unavailable("The server is stopping. Try again when it is running.")
        if self._running(model) is None:
            if not is_ours:
                await asyncio.to_thread(self.folder.change_added, model, is_kept=True)
            getting = partial(get_weights, model, self.folder, consent, path=path)
            self._attempts[model.id] = _Attempt(lambda report: getting(report=report), model.id)

    async def got(self, id: str | None, report: Report = lambda progress: None) -> Path:
        """The weights, once the getting that was begun has ended. Cancelling ends the getting too."""
        model = await self._find(id)
        attempt = self._attempts[model.id]
        try:
            while not attempt.task.done():
                await asyncio.wait([attempt.task], timeout=0.1)
                if attempt.progress is not None:
                    report(attempt.progress)
        except asyncio.CancelledError:
            await self.cancel(model.id)
            raise
        return attempt.task.result()

    async def cancel(self, id: str | None) -> None:
        """Stop getting a model; what has come is kept. Raises NotFound."""
        attempt = self._running(await self._find(id))
        if attempt is not None:
            attempt.task.cancel()
            await asyncio.wait([attempt.task])

    async def remove(self, id: str | None) -> int:
        """Delete a model's weights, whole or not; how many bytes were freed. Raises Conflict while it is at work."""
        model = await self._find(id)
        await self.cancel(model.id)
        if self.runtime.runs(model.id) and not await self.runtime.release():
            raise Conflict(f"{model.name} is answering a request. Stop that task, or wait, then remove it.")
        self._attempts.pop(model.id, None)
        return await asyncio.to_thread(self._remove, model)

    async def can_run(self, settings: ProviderSettings) -> bool:
        """Whether the profile's embedded model can be asked as things are; of other providers nothing is said."""
        if settings.api_provider != "local":
            return True
        return self.allowed and await asyncio.to_thread(self._is_there, settings)

    async def file_of(self, settings: ProviderSettings) -> ModelFile:
        """What is to be run for a profile. Raises WeightsMissing, WrongChecksum, NotAModelFile, ForbiddenByOperator."""
        self.check_allowed()
        return await asyncio.to_thread(self._file_of, settings)

    def listed(self) -> Catalogue:
        """Our models and those that people added. It reads files: call it in a thread."""
        ours = catalogue()
        return ours.model_copy(update={"models": (*ours.models, *self.folder.added())})

    def limits(self, settings: ProviderSettings) -> ModelLimits:
        """See ``model_limits``; a model that was added has those of its file, once that is here."""
        if settings.local_model_path or not (added := self._added(settings.api_model_id)):
            return model_limits(settings)
        is_here = self.folder.presence(added)[0] == "ready"
        return limits_of_file(settings, self.folder.file(added)) if is_here else limits_of_model(settings, added)

    async def stop(self) -> None:
        """End what runs and what is being got."""
        self._stopping = True
        tasks = [attempt.task for attempt in self._attempts.values() if attempt.task.cancel()]
        if tasks:
            await asyncio.wait(tasks)
        await self.runtime.stop()

    async def _find(self, id: str | None) -> LocalModel:
        found = self._looked_up.get(id or "")
        return found or (await asyncio.to_thread(self.listed)).find(id)

    def _added(self, id: str | None) -> LocalModel | None:
        return next((model for model in self.folder.added() if model.id == id), None)

    def _running(self, model: LocalModel) -> _Attempt | None:
        attempt = self._attempts.get(model.id)
        return attempt if attempt is not None and not attempt.task.done() else None

    async def _offered(self) -> str:
        """The most able of ours that fits into the free memory, and what a running one would give back."""
        own = (await self.runtime.status()).memory or 0
        free = await asyncio.to_thread(available_memory)
        return (await asyncio.to_thread(catalogue)).offered(free + own)

    async def _state(self, model: LocalModel, offered: str) -> LocalModelView:
        is_added = not await asyncio.to_thread(_is_ours, model)
        about = {**dict(model), "is_offered": model.id == offered, "is_added": is_added}
        if (running := self._running(model)) is not None:
            now = running.progress
            return LocalModelView(
                **about, state="getting", done=now.done if now else 0, source=now.source if now else None
            )
        presence, done = await asyncio.to_thread(self.folder.presence, model)
        last = self._attempts.get(model.id)
        failure = last.failure if last is not None and presence != "ready" else None
        return LocalModelView(**about, state=presence, done=done, failure=error_body(failure) if failure else None)

    def _is_there(self, settings: ProviderSettings) -> bool:
        if not is_installed():
            return False
        if settings.local_model_path:
            return Path(settings.local_model_path).expanduser().is_file()
        try:
            return self.folder.presence(self.listed().find(settings.api_model_id))[0] == "ready"
        except NotFound:
            return False

    def _file_of(self, settings: ProviderSettings) -> ModelFile:
        if settings.local_model_path:
            self.check_allowed(is_listed=False)
            limits, path = self.limits(settings), Path(settings.local_model_path).expanduser().absolute()
            memory = estimated_memory(path.stat().st_size)
        else:
            model = self.listed().find(settings.api_model_id)
            self.check_allowed(is_listed=_is_ours(model))
            weights = self.folder.checked(model)
            if weights is None:
                raise _missing(model)
            limits, path, memory = self.limits(settings), weights, model.memory
        idle = 60.0 * (settings.local_idle_minutes or _IDLE_MINUTES)
        return ModelFile(limits.id, limits.name, path, limits.context, limits.output, memory, idle)

    def _remove(self, model: LocalModel) -> int:
        if not self.folder.path.is_dir():
            return 0
        try:
            with filelock.FileLock(self.folder.lock(model), timeout=0, mode=0o600):
                freed = self.folder.remove(model)
        except filelock.Timeout:
            raise Conflict(f"{model.name} is being downloaded by another program of yours. Stop that first.") from None
        except OSError as error:
            raise storage_error(self.folder.lock(model), "lock", error) from None
        if self._added(model.id) is not None:
            self.folder.change_added(model, is_kept=False)
        return freed


def _is_ours(model: LocalModel) -> bool:
    return any(model.id == other.id for other in catalogue().models)


def _missing(model: LocalModel) -> WeightsMissing:
    return WeightsMissing(
        f"{model.name} is not on this machine yet. To download it, run: hdsp-agent model get {model.id}", model=model.id
    )
