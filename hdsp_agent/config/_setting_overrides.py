"""Settings that hold for one task, one run or one profile, over the person's and below the operator's."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ._fields import wire_names
from ._operator_policy import OperatorPolicy
from ._provider_settings import ProviderSettings
from ._settings import GlobalSettings

__all__ = ["overridden", "tools_left_out", "with_profile"]


def overridden(base: GlobalSettings, overrides: Mapping[str, JsonValue], policy: OperatorPolicy) -> GlobalSettings:
    """The settings with these over them, by their names on the wire. What was denied stays denied."""
    values = {**base.to_wire(), **overrides}
    denied = overrides.get("deniedCommands")
    if isinstance(denied, (list, tuple)):
        values["deniedCommands"] = list(dict.fromkeys([*base.denied_commands, *denied]))
    # The operator may fix settings of providers too, which are none of these.
    known = wire_names(GlobalSettings)
    forced = {name: value for name, value in policy.forced_settings().items() if name in known}
    return GlobalSettings.model_validate({**values, **forced})


def with_profile(settings: GlobalSettings, provider: ProviderSettings | None) -> GlobalSettings:
    """The settings, without the tools that this profile goes without."""
    left_out = tools_left_out(provider) - set(settings.disabled_tools)
    if not left_out:
        return settings
    return settings.model_copy(update={"disabled_tools": (*settings.disabled_tools, *sorted(left_out))})


def tools_left_out(settings: ProviderSettings | None) -> frozenset[str]:
    """The tools a profile goes without."""
    return frozenset({"update_todo_list"} if settings is not None and settings.todo_list_enabled is False else ())
