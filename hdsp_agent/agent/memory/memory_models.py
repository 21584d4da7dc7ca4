"""The model that learns from conversations: that of the profile the person chose for it, else the current one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...config import GlobalSettings, ProviderSettings
from ...errors import Unavailable
from ...memory.model_port import ModelNeededElsewhere
from ...memory.no_model import NoModel, no_model_text
from ...providers import ModelClient
from .._local_providers import place_on_this_machine, stayed_on_this_machine
from .._ports import Models

__all__ = ["ProfileMemoryModels"]


class ProfileMemoryModels:
    """See ``MemoryModels``. ``in_use`` are the profiles of the conversations that work just now."""

    def __init__(
        self,
        models: Models,
        settings: Callable[[], GlobalSettings],
        in_use: Callable[[], Iterable[ProviderSettings | None]],
    ) -> None:
        self._models = models
        self._settings = settings
        self._in_use = in_use

    @property
    def profile(self) -> str:
        """The profile's id or name."""
        settings = self._settings()
        return settings.memory_api_config_id or self._models.profile_for(settings.mode)

    @property
    def unusable(self) -> NoModel | None:
        """Why nothing can be learned."""
        provider = self._models.settings_of(self.profile)
        if provider is None or provider.api_provider is None:
            return "not_set_up"
        return "too_small" if provider.api_provider == "local" else None

    def may_read(self, profile: str | None, *, used_local_model: bool = False) -> bool:
        """Whether the model may read a conversation whose last model was that of this profile.

        Who talked with a model on this machine did not mean another one to hear of it, unless they chose it for memory.
        """
        if self._settings().memory_api_config_id is not None:
            return True
        if not stayed_on_this_machine(profile, self._models.settings_of, used_local_model=used_local_model):
            return True
        return place_on_this_machine(self._models.settings_of(self.profile)) is not None

    async def client(self) -> ModelClient:
        """The model. Raises Unavailable where there is none that could learn."""
        if (why := self.unusable) is not None:
            raise Unavailable(no_model_text(why))
        return await self._models.client(self.profile)

    def check_free(self) -> None:
        """Raise ModelNeededElsewhere while a conversation uses the same model on this machine."""
        own = place_on_this_machine(self._models.settings_of(self.profile))
        if own is not None and any(place_on_this_machine(used) == own for used in self._in_use()):
            raise ModelNeededElsewhere
