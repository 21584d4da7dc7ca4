"""The first run: what is there to work with, and a profile made of it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue, SecretStr

from ...config import ContextProxy, ProviderSettings, keys_in_use, provider_info
from ...errors import InvalidInput
from ...providers import check_key
from ..setup_candidates import find_candidates, is_ready, use_candidate
from ._models import profile_asked
from ._profiles import ProfilesBase
from ._rest_bodies import KeyCheckView, KeyToTry, ProfileView, SetupCandidates, SetupUse
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["KeyCheckHandler", "SetupCandidatesHandler", "SetupUseHandler"]


class SetupCandidatesHandler(ProfilesBase):
    """`GET setup/candidates`"""

    @endpoint("List keys and model servers that already exist", answer=SetupCandidates)
    async def get(self) -> SetupCandidates:
        """Looked for now: on this machine only, and for two seconds at most."""
        config = self.services.config
        found = await find_candidates(config)
        return SetupCandidates(
            ready=await is_ready(config) and await self._has_embedded_model(),
            candidates=list(found.offered),
            refused=list(found.refused),
        )

    async def _has_embedded_model(self) -> bool:
        settings = self.services.config.profiles.settings(self.services.config.profiles.current.id)
        return await self.services.local_models.can_run(settings)


class SetupUseHandler(ProfilesBase):
    """`POST setup/use`"""

    @endpoint(
        "Create a profile from a candidate, and make it current",
        answer=ProfileView,
        body=SetupUse,
        action="write",
        status=201,
    )
    async def post(self, *, body: SetupUse) -> ProfileView:
        """An empty profile is filled, an equal one used again."""
        return self.view(await use_candidate(self.services.config, body.id, body.model, body.name))


class KeyCheckHandler(RestHandler):
    """`POST setup/check`"""

    @endpoint("Test a key with its provider before it is saved", answer=KeyCheckView, body=KeyToTry, action="write")
    async def post(self, *, body: KeyToTry) -> KeyCheckView:
        """Twenty seconds at most, and no model is asked for anything."""
        config = self.services.config
        check = await check_key(await _to_try(config, body), policy=config.policy)
        return KeyCheckView(verdict=check.verdict, kind=check.kind)


async def _to_try(config: ContextProxy, body: KeyToTry) -> ProviderSettings:
    info = provider_info(body.provider)
    if info is None:
        raise InvalidInput(f"There is no provider {body.provider!a}.", field="provider")
    changes: dict[str, JsonValue] = {}
    if body.base_url is not None and info.base_url_field is not None:
        changes[info.base_url_field] = body.base_url.strip() or None
        config.profiles.check(changes)
    if body.key is None or info.key_field is None:
        return await _asked(config, body.profile, info.id, changes)
    typed = body.key.strip()
    keys_in_use.add(typed)
    settings = await _asked(config, body.profile, info.id, changes, without=frozenset({info.key_field}))
    attributes = {field.alias or name: name for name, field in ProviderSettings.model_fields.items()}
    return settings.model_copy(update={attributes[info.key_field]: SecretStr(typed)})


async def _asked(
    config: ContextProxy,
    profile: str | None,
    provider: str,
    changes: Mapping[str, JsonValue],
    without: frozenset[str] = frozenset(),
) -> ProviderSettings:
    """What to ask with: a saved key only where it was given for, whatever address is tried."""
    name = profile if profile is not None else profile_asked(config, provider)
    return await config.with_keys(name, provider, changes=changes, without=without)
