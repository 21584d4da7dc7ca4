"""What a person's server is told of its settings: the answer that ``user_config_api_url`` stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from pydantic import JsonValue

from .model_prices import model_of

if TYPE_CHECKING:
    from .policies import GroupPolicy, HubPolicies

__all__ = ["ANSWERED_SETTINGS", "settings_answer"]

ANSWERED_SETTINGS: Final = frozenset(
    {
        "anthropicBaseUrl",
        "apiModelId",
        "apiProvider",
        "openAiBaseUrl",
        "openAiModelId",
        "openAiNativeBaseUrl",
    }
)
"""The settings that say where models are and which one a person starts with."""

_OPENAI: Final = "https://api.openai.com/v1"
_ProfileProvider = Literal["anthropic", "openai", "openai-native"]


def settings_answer(policies: HubPolicies, policy: GroupPolicy, budgets: Sequence[JsonValue]) -> dict[str, JsonValue]:
    """The settings of a member of a group, in the form that servers read. Blocks where the catalogue is not read yet."""
    answer: dict[str, JsonValue] = {**policy.settings, **policy.fixed}
    allowed = list(policies.models_of(policy))
    default = policy.default_model or next((model for _, model in allowed), None)
    provider = next((name for name, model in allowed if model == default), None)
    if default is not None and provider is not None:
        profile = _profile_provider(policies, provider)
        answer["apiProvider"] = profile
        answer["apiModelId"] = default
        if profile == "openai" and (window := _smallest_window(policies, allowed)) is not None:
            answer.setdefault("modelContextWindow", window)
    answer["fixed"] = [*sorted(policy.fixed)]
    answer["limits"] = policy.limits.model_dump(mode="json", exclude_unset=True)
    answer["teamFolders"] = list(policy.team_folders)
    answer["budgets"] = list(budgets)
    return answer


def _profile_provider(policies: HubPolicies, name: str) -> _ProfileProvider:
    """What a profile that uses this provider says its provider is."""
    provider = policies.providers[name]
    if provider.protocol == "anthropic":
        return "anthropic"
    return "openai-native" if provider.address == _OPENAI else "openai"


def _smallest_window(policies: HubPolicies, allowed: Sequence[tuple[str, str]]) -> int | None:
    """What fits into each of the models that no catalogue knows; None if that of one is unknown."""
    windows = [
        model_of(policies.providers[name], model).context_window
        for name, model in allowed
        if _profile_provider(policies, name) == "openai"
    ]
    known = [window for window in windows if window is not None]
    return min(known) if known and len(known) == len(windows) else None
