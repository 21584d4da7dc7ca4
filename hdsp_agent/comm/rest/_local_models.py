"""Embedded models: which there are, getting one, removing it, and the process that runs one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue

from ...config import ProviderSettings
from ...errors import InvalidInput
from ...local import (
    Consent,
    LocalModels,
    LocalModelView,
    LocalRuntimeView,
    available_memory,
    is_installed,
    licence_text,
)
from ...wire import WireModel
from ..embedded_trial import try_embedded_model
from ..setup_candidates import use_settings
from ._profiles import ProfilesBase
from ._rest_bodies import ProfileView
from ._rest_endpoint import RestHandler, endpoint

__all__ = [
    "CancelLocalModelHandler",
    "EmbeddedSetupHandler",
    "HubModelsHandler",
    "LocalModelHandler",
    "LocalModelLicenceHandler",
    "LocalModelsHandler",
    "LocalRuntimeHandler",
]


class LocalModelList(WireModel):
    """All embedded models, the one that is offered first, and whether they can be used here."""

    allowed: bool
    """False if the administrator does not allow them."""
    others_allowed: bool
    """False if the administrator allows none but those of the list."""
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


class HubModelName(WireModel):
    """A repository of the hub, or one of its files: ``owner/repository`` or ``owner/repository:file.gguf``."""

    name: Annotated[str, Field(min_length=1, max_length=700)]


class HubModels(WireModel):
    """The models of a repository, as the hub declares them; each can be fetched by its id."""

    models: list[LocalModelView]


class LicenceText(WireModel):
    """A license in full."""

    licence: str


class EmbeddedChoice(WireModel):
    """An embedded model, or a file of the person's with what it may take in and say."""

    model: Annotated[str, Field(max_length=200)] | None = None
    """If neither this nor a file is named: one that is here, or the one that is offered."""
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
            others_allowed=self.local.others_allowed,
            installed=await asyncio.to_thread(is_installed),
            folder=str(self.local.folder.path),
            free=await asyncio.to_thread(self.local.folder.free),
            free_memory=await asyncio.to_thread(available_memory),
            models=await self.local.states(),
            runtime=await self.local.runtime.status(),
        )


class LocalModelHandler(_LocalModelsBase):
    """`GET`, `POST` and `DELETE local-models/{model}`"""

    @endpoint("Show how much of an embedded model is downloaded", answer=LocalModelView)
    async def get(self, model: str) -> LocalModelView:
        """See the list."""
        return await self.local.state(model)

    @endpoint(
        "Start downloading an embedded model", answer=LocalModelView, body=GetLocalModel, action="write", status=202
    )
    async def post(self, model: str, *, body: GetLocalModel) -> LocalModelView:
        """It goes on in the background; one that was cut goes on from where it stopped."""
        consent = Consent(body.consent.licence, body.consent.size) if body.consent is not None else None
        await self.local.begin(model, consent, path=_path(body.path))
        return await self.local.state(model)

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
        return await self.local.state(model)


class LocalModelLicenceHandler(RestHandler):
    """`GET local-models/{model}/license`"""

    @endpoint("Show the license of a listed model in full", answer=LicenceText)
    async def get(self, model: str) -> LicenceText:
        """Those of other models are told by their hub."""
        return LicenceText(licence=await asyncio.to_thread(licence_text, model))


class HubModelsHandler(_LocalModelsBase):
    """`POST hub-models`"""

    @endpoint("Look up the models of a repository on the hub", answer=HubModels, body=HubModelName, action="write")
    async def post(self, *, body: HubModelName) -> HubModels:
        """Their commit, size, checksum and license, as the hub declares them now. Nothing is downloaded."""
        return HubModels(models=await self.local.look_up(body.name))


class LocalRuntimeHandler(_LocalModelsBase):
    """`GET`, `POST` and `DELETE local-runtime`"""

    @endpoint("The process that runs the embedded model", answer=LocalRuntimeView)
    async def get(self) -> LocalRuntimeView:
        """Its state, memory and speed, and why it last failed."""
        return await self.local.runtime.status()

    @endpoint(
        "Try an embedded model: whether it runs here, and how fast",
        answer=LocalRuntimeView,
        body=EmbeddedChoice,
        action="write",
    )
    async def post(self, *, body: EmbeddedChoice) -> LocalRuntimeView:
        """It is started and says a few words, behind whoever waits for it already."""
        settings = ProviderSettings.model_validate(await _settings(self.local, body))
        await try_embedded_model(settings, self.services.config.policy, self.local)
        return await self.local.runtime.status()

    @endpoint("End the process that runs the embedded model, if it is idle", answer=LocalRuntimeView, action="write")
    async def delete(self) -> LocalRuntimeView:
        """Its memory is free again; the next request starts it."""
        await self.local.runtime.release()
        return await self.local.runtime.status()


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
        local = self.services.local_models
        settings = await _settings(local, body)
        file = await local.file_of(ProviderSettings.model_validate(settings))
        if body.path is None and (await local.state(file.id)).is_added:
            # No list tells these numbers to whoever sees no more than the profile.
            settings |= {"modelContextWindow": file.context, "modelMaxTokens": file.output}
        return self.view(await use_settings(self.services.config, settings, file.name))


async def _settings(local: LocalModels, choice: EmbeddedChoice) -> dict[str, JsonValue]:
    """The settings of a profile that uses it."""
    path = _path(choice.path)
    return {
        "apiProvider": "local",
        "apiModelId": (choice.model or await local.suggested()) if path is None else None,
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
