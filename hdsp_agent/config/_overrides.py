"""Settings that hold for one task or one run, over the person's and below the operator's."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ._fields import wire_names
from ._policy import OperatorPolicy
from ._settings import GlobalSettings

__all__ = ["overridden"]


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
