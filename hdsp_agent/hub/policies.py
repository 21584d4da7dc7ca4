"""What the file of policies says: which providers there are, who may use which models, and how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from ..config import GroupLimits, is_whole_path

__all__ = [
    "DEFAULT_GROUP",
    "BudgetScope",
    "GroupPolicy",
    "HubPolicies",
    "Language",
    "ModelPolicy",
    "Period",
    "ProviderPolicy",
    "ProviderProtocol",
    "SharingPolicy",
    "UsageBudget",
    "matches",
]

ProviderProtocol = Literal["openai", "anthropic"]
"""What a provider speaks, and under which address people reach it here."""
Period = Literal["day", "week", "month"]
BudgetScope = Literal["user", "group", "all"]
"""Whether each person has the budget, or the members of a group share it, or everybody does."""
Language = Literal["en", "ko", "ja"]

DEFAULT_GROUP: Final = "default"
"""What the policy of people in no listed group is called."""

_ADDRESSES: Final[Mapping[ProviderProtocol, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


def _http_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must hold no password, query or fragment")
    return value.rstrip("/")


def _whole_path(value: str) -> str:
    if not is_whole_path(value):
        raise ValueError("must be a full path, or begin with ~")
    return value


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (OSError, ValueError, KeyError):
        raise ValueError("must be a time zone such as Asia/Seoul or UTC") from None
    return value


Name = Annotated[str, Field(min_length=1, max_length=200)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelPolicy(_Section):
    """A model of a provider. Prices are US dollars for a million tokens; the catalogue knows those of hosted models."""

    input_price: Dollars | None = None
    output_price: Dollars | None = None
    cache_read_price: Dollars | None = None
    cache_write_price: Dollars | None = None
    context_window: Annotated[int, Field(ge=1)] | None = None
    max_output: Annotated[int, Field(ge=1)] | None = None
    """The longest answer. Reserved for a request that names no limit of its own."""


class ProviderPolicy(_Section):
    """Where models are and with what one gets in. The key itself is never in the file."""

    protocol: ProviderProtocol
    url: Annotated[str, AfterValidator(_http_address)] | None = None
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable that has the key."""
    key_file: Name | None = None
    """The file that has the key, for example a mounted secret."""
    models: Annotated[dict[Name, ModelPolicy | None], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_key(self) -> ProviderPolicy:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("has both key_env and key_file; keep one")
        if self.url is None and self.key_env is None and self.key_file is None:
            raise ValueError("has no key: name it in key_env or key_file")
        return self

    @property
    def address(self) -> str:
        """Where it is."""
        return self.url or _ADDRESSES[self.protocol]


class UsageBudget(_Section):
    """How much may be used in a period: tokens, or US dollars, or both, whichever is reached first."""

    tokens: Annotated[int, Field(ge=1)] | None = None
    """Input, cached input and output together."""
    money: Annotated[float, Field(gt=0, le=1_000_000_000, allow_inf_nan=False)] | None = None
    period: Period
    per: BudgetScope
    models: tuple[Name, ...] = ("*",)
    """What counts, by name, in which * stands for anything."""

    @model_validator(mode="after")
    def _some_limit(self) -> UsageBudget:
        if self.tokens is None and self.money is None:
            raise ValueError("needs tokens or money")
        return self

    def counts(self, model: str) -> bool:
        """Whether requests to the model count."""
        return matches(model, self.models)


class GroupPolicy(_Section):
    """What the members of a group may use."""

    models: tuple[Name, ...]
    """By name, in which * stands for anything."""
    default_model: Name | None = None
    """What new users start with."""
    budgets: tuple[UsageBudget, ...] = ()
    ask: Annotated[str, Field(max_length=500)] | None = None
    """Whom to ask for more; in place of the one for everybody."""
    settings: dict[str, JsonValue] = {}
    """Defaults of people's settings, by the names of the exported settings file."""
    fixed: dict[str, JsonValue] = {}
    """Settings that people see and cannot change."""
    limits: GroupLimits = GroupLimits()
    team_folders: tuple[Annotated[str, AfterValidator(_whole_path)], ...] = ()
    """Folders, as people's servers see them, whose modes, slash commands, rules and notes the group uses."""


class SharingPolicy(_Section):
    """Whether people may share conversations as links, and how much of them the service keeps."""

    allowed: bool = True
    days: Annotated[int, Field(ge=1, le=366)] = 90
    """How long a link may last at most."""
    links: Annotated[int, Field(ge=1, le=1_000)] = 20
    """How many links a person may have at once."""
    mebibytes: Annotated[int, Field(ge=1, le=64)] = 8
    """How large a shared conversation may be, with its images and long outputs."""

    @property
    def most_bytes(self) -> int:
        """The same in bytes."""
        return self.mebibytes * 1024 * 1024


class HubPolicies(_Section):
    """The whole file."""

    language: Language = "en"
    """Of the sentences that people read when something is refused."""
    time_zone: Annotated[str, AfterValidator(_time_zone)] = "UTC"
    """In which days, weeks and months begin."""
    ask: Annotated[str, Field(max_length=500)] = ""
    """Whom people ask for more, for example "Ask the course team: course@example.org."."""
    metrics_with_users: bool = False
    """Whether metrics for Prometheus name people."""
    sharing: SharingPolicy = SharingPolicy()
    """Of conversations, as links."""
    providers: Annotated[
        dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")], ProviderPolicy], Field(min_length=1)
    ]
    budgets: tuple[UsageBudget, ...] = ()
    """Those that hold for everybody."""
    default: GroupPolicy | None = None
    """For people in none of the groups. Without it they may use no model."""
    groups: dict[Name, GroupPolicy] = {}
    """By JupyterHub group. Who is in several has the policy of the first one here."""

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of periods."""
        return ZoneInfo(self.time_zone)

    def named(self) -> Iterator[tuple[str, GroupPolicy]]:
        """All policies by the name of their group."""
        if self.default is not None:
            yield DEFAULT_GROUP, self.default
        yield from self.groups.items()

    def policy_of(self, groups: Iterable[str]) -> tuple[str, GroupPolicy] | None:
        """The policy of a member of these groups, and what it is called."""
        member = frozenset(groups)
        for name, policy in self.groups.items():
            if name in member:
                return name, policy
        return None if self.default is None else (DEFAULT_GROUP, self.default)

    def models_of(self, policy: GroupPolicy) -> Iterator[tuple[str, str]]:
        """The models that a policy allows, each with its provider."""
        for provider, known in self.providers.items():
            for model in known.models:
                if matches(model, policy.models):
                    yield provider, model

    def provider_of(self, protocol: ProviderProtocol, model: str) -> str | None:
        """The provider that has a model."""
        for name, provider in self.providers.items():
            if provider.protocol == protocol and model in provider.models:
                return name
        return None

    def budgets_for(self, policy: GroupPolicy, model: str) -> Iterator[UsageBudget]:
        """What a request of a member counts against."""
        for budget in (*policy.budgets, *self.budgets):
            if budget.counts(model):
                yield budget


def matches(model: str, patterns: Iterable[str]) -> bool:
    """Whether a model is named, in whatever way."""
    return any(fnmatchcase(model, pattern.replace("[", "[[]")) for pattern in patterns)
