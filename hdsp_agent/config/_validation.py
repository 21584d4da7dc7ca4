"""Checks values one by one, so that a bad one costs only itself and is named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, JsonValue, ValidationError

from ..errors import InvalidSetting
from ._fields import is_nullable, wire_names
from ._notices import ConfigNotice

__all__ = ["as_text", "check_setting", "is_text", "readable_settings"]


def is_text(value: str) -> bool:
    """Whether it can be told to others: JSON may hold halves of characters, UTF-8 may not."""
    return as_text(value) == value


def as_text(value: str) -> str:
    """The text with a question mark for each half of a character."""
    return value.encode("utf-8", "replace").decode()


def check_setting(model: type[BaseModel], key: str, value: JsonValue, *, field: str | None = None) -> JsonValue:
    """The value as it is to be stored; ``None`` puts the setting back to its default.

    Raises InvalidSetting, which never quotes the value: it may be a secret.
    """
    name = wire_names(model).get(key)
    if name is None:
        raise InvalidSetting(f"There is no setting named {key[:100]}.", field=field or key[:100], reason="unknown")
    info = model.model_fields[name]
    if value is None or (value == "" and is_nullable(info)):
        return None
    reason = _fault(model, key, value)
    if reason is not None:
        raise InvalidSetting(
            f"{info.title or key}: {reason}. The setting was not changed.", field=field or key, reason=reason
        )
    return value


def readable_settings(
    model: type[BaseModel], raw: Mapping[str, JsonValue], *, where: str = ""
) -> tuple[dict[str, JsonValue], tuple[ConfigNotice, ...]]:
    """The values in ``raw`` that this version understands, and a notice about each that is not valid."""
    names = wire_names(model)
    known: dict[str, JsonValue] = {key: value for key, value in raw.items() if key in names and value is not None}
    if _fault_of_all(model, known) is None:
        return known, ()
    good: dict[str, JsonValue] = {}
    notices: list[ConfigNotice] = []
    for key, value in known.items():
        try:
            checked = check_setting(model, key, value)
        except InvalidSetting as error:
            notices.append(_invalid_value_notice(where + key, str(error.params.get("reason"))))
        else:
            if checked is not None:
                good[key] = checked
    return good, tuple(notices)


def _invalid_value_notice(field: str, reason: str) -> ConfigNotice:
    return ConfigNotice(
        code="setting_ignored",
        message=f"The value of {field} in config.json is not valid: {reason}. The default is used until you change it.",
        params={"field": field, "reason": reason},
        field=field,
    )


def _fault(model: type[BaseModel], key: str, value: JsonValue) -> str | None:
    return _fault_of_all(model, {key: value})


def _fault_of_all(model: type[BaseModel], values: Mapping[str, JsonValue]) -> str | None:
    try:
        data = json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "contains half a character"
    except (TypeError, ValueError, RecursionError):
        return "is not JSON, is too large a number, or is nested too deeply"
    try:
        model.model_validate_json(data, strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        # Of a union's branches, the one that got furthest is the one that was meant.
        furthest = max(faults, key=lambda fault: len(fault["loc"]))
        return _sentence(furthest["msg"], furthest["loc"][1:])
    return None


def _sentence(message: str, inside: Iterable[int | str]) -> str:
    text = re.sub(
        r"^(?:Value error, |\w+(?: \w+)? should )", lambda found: "must " if "should" in found[0] else "", message
    )
    # A path of numbers and names of ours; the rest are names of union members, which mean nothing to people.
    path = ".".join(str(step) for step in inside if isinstance(step, int) or str(step).isidentifier())
    text = text.rstrip(".")
    return f"{text} (at {path})" if path else text
