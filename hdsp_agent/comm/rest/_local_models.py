"""Embedded models: which there are, getting one, removing it, and the process that runs one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import JsonValue

from ...config import ProviderSettings
from ...errors import InvalidInput
from ...local import (
    Consent,
    LocalModels,
    ModelState,
    RuntimeFailure,
    RuntimeStatus,
    available_memory,
    is_installed,
)
from ...messages import ErrorBody, error_body
from ..embedded_trial import try_embedded_model
from ..setup_candidates import use_settings
from ._local_bodies import (
    EmbeddedChoice,
    GetLocalModel,
    LocalModelList,
    LocalModelView,
    LocalRuntimeView,
    RemovedLocalModel,
)
from ._profiles import ProfilesBase
from ._rest_bodies import ProfileView
from ._rest_endpoint import RestHandler, endpoint

__all__ = [
    "CancelLocalModelHandler",
    "EmbeddedSetupHandler",
    "LocalModelHandler",
    "LocalModelsHandler",
    "LocalRuntimeHandler",
]


class _LocalModelsBase(RestHandler):
    @property
    def local(self) -> LocalModels:
        """The embedded models of this server."""
        return self.services.local_models


class LocalModelsHandler(_LocalModelsBase):
    """`GET local-models`"""

    @endpoint("List embedded models: what is downloaded, and whether one runs", answer=LocalModelList)
    async def get(self) -> LocalModelList:
        """While one is fetched, ask again to see how far it is."""
        return LocalModelList(
            allowed=self.local.allowed,
            installed=await asyncio.to_thread(is_installed),
            folder=str(self.local.folder.path),
            free=await asyncio.to_thread(self.local.folder.free),
            free_memory=await asyncio.to_thread(available_memory),
            models=[_model(state) for state in await self.local.states()],
            runtime=_runtime(await self.local.runtime.status()),
        )


class LocalModelHandler(_LocalModelsBase):
    """`GET`, `POST` and `DELETE local-models/{model}`"""

    @endpoint("Show how much of an embedded model is downloaded", answer=LocalModelView)
    async def get(self, model: str) -> LocalModelView:
        """See the list."""
        return _model(await self.local.state(model))

    @endpoint(
        "Start downloading an embedded model", answer=LocalModelView, body=GetLocalModel, action="write", status=202
    )
    async def post(self, model: str, *, body: GetLocalModel) -> LocalModelView:
        """It goes on in the background; one that was cut goes on from where it stopped."""
        consent = Consent(body.consent.licence, body.consent.size) if body.consent is not None else None
        await self.local.begin(model, consent, path=_path(body.path))
        return _model(await self.local.state(model))

    @endpoint("Delete an embedded model, or a partial download", answer=RemovedLocalModel, action="write")
    async def delete(self, model: str) -> RemovedLocalModel:
        """Fetching it is stopped first, and so is its process if it is idle."""
        return RemovedLocalModel(freed=await self.local.remove(model))


class CancelLocalModelHandler(_LocalModelsBase):
    """`POST local-models/{model}/cancel`"""

    @endpoint("Stop downloading an embedded model", answer=LocalModelView, action="write")
    async def post(self, model: str) -> LocalModelView:
        """What has come is kept for the next try."""
        await self.local.cancel(model)
        return _model(await self.local.state(model))


class LocalRuntimeHandler(_LocalModelsBase):
    """`GET`, `POST` and `DELETE local-runtime`"""

    @endpoint("The process that runs the embedded model", answer=LocalRuntimeView)
    async def get(self) -> LocalRuntimeView:
        """Its state, memory and speed, and why it last failed."""
        return _runtime(await self.local.runtime.status())

    @endpoint(
        "Try an embedded model: whether it runs here, and how fast",
        answer=LocalRuntimeView,
        body=EmbeddedChoice,
        action="write",
    )
    async def post(self, *, body: EmbeddedChoice) -> LocalRuntimeView:
        """It is started and says a few words, behind whoever waits for it already."""
        settings = ProviderSettings.model_validate(_settings(body))
        await try_embedded_model(settings, self.services.config.policy, self.local)
        return _runtime(await self.local.runtime.status())

    @endpoint("End the process that runs the embedded model, if it is idle", answer=LocalRuntimeView, action="write")
    async def delete(self) -> LocalRuntimeView:
        """Its memory is free again; the next request starts it."""
        await self.local.runtime.release()
        return _runtime(await self.local.runtime.status())


class EmbeddedSetupHandler(ProfilesBase):
    """`POST setup/embedded`"""

    @endpoint(
        "Create a profile for an embedded model, and make it current",
        answer=ProfileView,
        body=EmbeddedChoice,
        action="write",
        status=201,
    )
    async def post(self, *, body: EmbeddedChoice) -> ProfileView:
        """Its weights must be there. An empty profile is filled, an equal one used again."""
        config, settings = self.services.config, _settings(body)
        file = await self.services.local_models.file_of(ProviderSettings.model_validate(settings))
        if body.path is None:
            settings["apiModelId"] = file.id
        return self.view(await use_settings(config, settings, file.name))


def _settings(choice: EmbeddedChoice) -> dict[str, JsonValue]:
    """The settings of a profile that uses it."""
    path = _path(choice.path)
    return {
        "apiProvider": "local",
        "apiModelId": None if path is not None else choice.model,
        "localModelPath": None if path is None else str(path),
        "modelContextWindow": choice.context,
        "modelMaxTokens": choice.output,
    }


def _path(given: str | None) -> Path | None:
    if given is None:
        return None
    path = Path(given).expanduser()
    if not path.is_absolute():
        raise InvalidInput("Give the full path of the file.", field="path")
    return path


def _model(state: ModelState) -> LocalModelView:
    model = state.model
    return LocalModelView(
        id=model.id,
        name=model.name,
        is_default=state.is_default,
        parameters=model.parameters,
        quantization=model.quantization,
        size=model.size,
        memory=model.memory,
        context=model.context,
        output=model.output,
        licence=model.licence,
        licence_url=model.licence_url,
        state=state.presence,
        done=state.done,
        source=state.source,
        failure=error_body(state.failure) if state.failure is not None else None,
    )


def _runtime(status: RuntimeStatus) -> LocalRuntimeView:
    failure, earlier = status.failure, status.restarted_after
    return LocalRuntimeView(
        state=status.state,
        model=status.model,
        memory=status.memory,
        waiting=status.waiting,
        start_seconds=status.start_seconds,
        reading_speed=status.speed.reading,
        writing_speed=status.speed.writing,
        failure=_told(failure),
        failed_at=failure.at if failure is not None else None,
        restarted_after=_told(earlier),
        restarted_at=earlier.at if earlier is not None else None,
    )


def _told(failure: RuntimeFailure | None) -> ErrorBody | None:
    return error_body(failure.error) if failure is not None else None
