"""A person's defaults from the operator's USER_CONFIG_API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import from_json

from .._timeouts import wait_at_most
from ..errors import HdspAgentError
from ._fields import wire_names
from ._group_limits import GroupLimits
from ._notices import ConfigNotice
from ._operator_policy import is_whole_path
from ._provider_settings import ProviderSettings, secret_keys
from ._providers import provider_info
from ._settings import GlobalSettings, setting_keys
from ._validation import readable_settings

__all__ = ["Fetch", "UserConfig", "UserConfigSource"]

Fetch = Callable[[str, float], Awaitable[bytes]]
"""Gets the body at an address within so many seconds."""

_SHORT_NAMES: Final = {
    "llm_provider": "apiProvider",
    "provider": "apiProvider",
    "model": "apiModelId",
    "llm_model": "apiModelId",
    "context_length": "modelContextWindow",
}
"""What existing services call a few settings."""


_NOTICE_PERCENT: Final = 80


class _BudgetUse(BaseModel):
    """What is read of how a budget stands."""

    per: str
    period: str
    models: tuple[str, ...]
    unit: Literal["tokens", "dollars"]
    percent: int
    limit: float
    ends: str


@dataclass(frozen=True)
class UserConfig:
    """Defaults below the person's own values, except those that are fixed."""

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    provider: Mapping[str, JsonValue] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    limits: GroupLimits = field(default_factory=GroupLimits)
    """What the person's group may do, where the hub service answers."""
    team_folders: tuple[str, ...] = ()
    """Folders that the person's group shares."""
    notices: tuple[ConfigNotice, ...] = ()
    is_answer: bool = True
    """False where nothing that can be used came back."""


@dataclass(frozen=True)
class UserConfigSource:
    """Where to ask, about whom, and how."""

    url: str
    username: str
    timeout: float
    fetch: Fetch
    retry_seconds: float | None = None
    """After how long to ask again where there was no answer, then after longer and longer; None for never."""
    refresh_seconds: float | None = None
    """After how long to ask whether the answer is another one; None for never."""

    async def load(self) -> UserConfig:
        """Ask. Whatever goes wrong is a notice: a person can work without these defaults."""
        address = self.url.replace("{username}", quote(self.username, safe=""))
        try:
            body = await wait_at_most(self.fetch(address, self.timeout), self.timeout)
            content = from_json(body, allow_inf_nan=False)
        except TimeoutError:
            return _failed(f"there was no answer within {self.timeout:g} seconds")
        except ValueError:
            return _failed("the answer is not JSON")
        except (OSError, HdspAgentError) as error:
            return _failed(str(error) or type(error).__name__)
        except Exception as error:  # noqa: BLE001 -- each HTTP client has errors of its own
            return _failed(f"{type(error).__name__}: {error}")
        if not isinstance(content, dict):
            return _failed("the answer is not a JSON object")
        return _read(content)


def _read(content: dict[str, JsonValue]) -> UserConfig:
    flat = {key: value for key, value in content.items() if not isinstance(value, dict)}
    flat = {_SHORT_NAMES.get(key, key): value for key, value in flat.items()}
    nested = {
        key: value
        for part in ("globalSettings", "providerSettings")
        if isinstance(section := content.get(part), dict)
        for key, value in section.items()
    }
    values = {**flat, **nested}
    secrets = sorted((secret_keys() | setting_keys()) & values.keys())
    provider = {key: value for key, value in values.items() if key in wire_names(ProviderSettings)}
    notices: list[ConfigNotice] = []
    if secrets:
        notices.append(_notice(f"it sent keys ({', '.join(secrets)}), which are not taken from there"))
        provider = {key: value for key, value in provider.items() if key not in secrets}
        values = {key: value for key, value in values.items() if key not in secrets}
    name = provider.get("apiProvider")
    if name is not None and (not isinstance(name, str) or provider_info(name) is None):
        notices.append(_notice(f"it names a provider this version does not know: {str(name)[:100]}"))
        del provider["apiProvider"]
    readable_provider, bad_provider = readable_settings(ProviderSettings, provider)
    readable, bad = readable_settings(GlobalSettings, values)
    notices.extend(_notice(f"{one.field}: {one.params.get('reason')}") for one in (*bad, *bad_provider))
    limits, told = _limits(content.get("limits"))
    notices.extend((*told, *_nearly_used(content.get("budgets"))))
    folders, told_of_folders = _team_folders(content.get("teamFolders"))
    notices.extend(told_of_folders)
    fixed = content.get("fixed")
    return UserConfig(
        settings=readable,
        provider=readable_provider,
        fixed=frozenset(key for key in fixed if isinstance(key, str) and key in {**readable, **readable_provider})
        if isinstance(fixed, list)
        else frozenset(),
        limits=limits,
        team_folders=folders,
        notices=tuple(notices),
    )


def _limits(given: JsonValue) -> tuple[GroupLimits, tuple[ConfigNotice, ...]]:
    """The limits, each by itself: one that this version does not understand does not lift the others."""
    understood: dict[str, JsonValue] = {}
    notices: list[ConfigNotice] = []
    for name, value in given.items() if isinstance(given, dict) else ():
        try:
            GroupLimits.model_validate({name: value})
        except ValidationError as error:
            reason = error.errors(include_url=False, include_input=False)[0]["msg"]
            notices.append(_notice(f"limits.{name[:100]}: {reason}"))
        else:
            understood[name] = value
    return GroupLimits.model_validate(understood), tuple(notices)


def _team_folders(given: JsonValue) -> tuple[tuple[str, ...], list[ConfigNotice]]:
    listed = given if isinstance(given, list) else []
    folders = tuple(one for one in listed if isinstance(one, str) and is_whole_path(one))
    return folders, [] if len(folders) == len(listed) else [_notice("teamFolders: not all of them are full paths")]


def _nearly_used(budgets: JsonValue) -> Iterator[ConfigNotice]:
    """Tell of each budget once most of it is used: in words that stay the same until its period ends."""
    for budget in budgets if isinstance(budgets, list) else ():
        try:
            used = _BudgetUse.model_validate(budget)
        except ValidationError:
            continue
        if used.percent < _NOTICE_PERCENT:
            continue
        day = used.ends[:10]
        is_money = used.unit == "dollars"
        limit = f"{used.limit:,.2f}" if is_money else f"{used.limit:,.0f}"
        yield ConfigNotice(
            code="money_nearly_used" if is_money else "tokens_nearly_used",
            message=f"At least {_NOTICE_PERCENT}% of the budget of {f'US${limit}' if is_money else f'{limit} tokens'} for "
            f"models is used. It starts again on {day}.",
            params={
                "percent": _NOTICE_PERCENT,
                "limit": limit,
                "day": day,
                "budget": " ".join([used.per, used.period, *used.models]),
            },
        )


def _failed(reason: str) -> UserConfig:
    return UserConfig(notices=(_notice(reason),), is_answer=False)


def _notice(reason: str) -> ConfigNotice:
    return ConfigNotice(
        code="user_config_failed",
        message=f"Your defaults from this server's user configuration service could not all be used: {reason}. "
        "Your own settings apply; tell your administrator if this continues.",
        params={"reason": reason},
    )
