"""What a server wants to know of the person, as ordinary questions in the conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...tools import AskPerson

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

__all__ = ["DECLINE", "answered_by"]

DECLINE: Final = "Decline"
"""The first suggestion of each question: what is chosen where nobody is there to answer must never be a yes."""
_DONE: Final = "I have done that"
_SKIP: Final = "Leave it out"
_YES_NO: Final = ("Yes", "No")
_MOST_FIELDS: Final = 20
_MOST_SUGGESTED: Final = 8
_MOST_TRIES: Final = 3
_LONGEST: Final = 2_000

Answer = str | int | float | bool | list[str]


class _Declined(Exception):
    """The person does not want to answer."""


async def answered_by(ask: AskPerson, server: str, params: ElicitRequestParams) -> ElicitResult:
    """The person's answers to what a server asks."""
    from mcp_types import ElicitResult

    message = params.message[:_LONGEST]
    try:
        if params.mode == "url":
            question = f"{server} asks you to open a page: {message}\n\n{params.url[:_LONGEST]}\n\nOpen it only if you trust it."
            await _said(ask, question, (_DONE,))
            return ElicitResult(action="accept")
        return ElicitResult(action="accept", content=await _form(ask, server, message, params.requested_schema))
    except _Declined:
        return ElicitResult(action="decline")


async def _form(ask: AskPerson, server: str, message: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """One question for each field. Servers may not ask for keys and passwords."""
    properties = schema.get("properties")
    fields = list(properties.items())[:_MOST_FIELDS] if isinstance(properties, dict) else []
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    head = f"{server} asks: {message}"
    if not fields:
        await _said(ask, head, ("OK",))
        return {}
    given: dict[str, Any] = {}
    for name, described in fields:
        if not isinstance(described, dict):
            raise _Declined
        value = await _field(ask, head, str(name), described, is_needed=name in needed)
        if value is not None:
            given[name] = value
        head = f"{server} asks"
    return given


async def _field(
    ask: AskPerson, head: str, name: str, described: Mapping[str, Any], *, is_needed: bool
) -> Answer | None:
    title = str(described.get("title") or name)[:200]
    words = str(described.get("description") or "")[:_LONGEST]
    question = f"{head}\n\n{title}: {words}" if words else f"{head}\n\n{title}"
    suggestions = [*_suggestions(described), *(() if is_needed else (_SKIP,))]
    problem = ""
    for _ in range(_MOST_TRIES):
        said = await _said(ask, f"{question}{problem}", suggestions)
        if said == _SKIP and not is_needed:
            return None
        try:
            return _value(said, described)
        except ValueError as error:
            problem = f"\n\n{error}"
    raise _Declined


async def _said(ask: AskPerson, question: str, suggestions: Sequence[str]) -> str:
    said = (await ask(question, (DECLINE, *suggestions[:_MOST_SUGGESTED]))).strip()
    if said.casefold() in ("", DECLINE.casefold()):
        raise _Declined
    return said


def _suggestions(described: Mapping[str, Any]) -> Sequence[str]:
    if described.get("type") == "boolean":
        return _YES_NO
    titled = _titled(described)
    if titled:
        return [title for title, _ in titled]
    default = described.get("default")
    return () if default is None else (default if isinstance(default, str) else json.dumps(default),)


def _titled(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The choices there are: what a person reads, and what is sent."""
    items = described.get("items")
    source = items if isinstance(items, dict) else described
    choices = source.get("oneOf") or source.get("anyOf")
    if isinstance(choices, list):
        return [
            (str(one.get("title") or one.get("const")), str(one.get("const")))
            for one in choices
            if isinstance(one, dict) and "const" in one
        ]
    values, names = source.get("enum"), source.get("enumNames")
    if not isinstance(values, list):
        return []
    titles = names if isinstance(names, list) and len(names) == len(values) else values
    return [(str(title), str(value)) for title, value in zip(titles, values, strict=True)]


def _value(said: str, described: Mapping[str, Any]) -> Answer:
    """What was said, as the server wants it. Raises ValueError with what to say instead."""
    titled = _titled(described)
    match described.get("type"):
        case "boolean":
            if said.casefold() in ("yes", "true", "no", "false"):
                return said.casefold() in ("yes", "true")
            raise ValueError("Answer with Yes or No.")
        case "integer":
            try:
                return int(said)
            except ValueError:
                raise ValueError("Answer with a whole number.") from None
        case "number":
            try:
                return float(said)
            except ValueError:
                raise ValueError("Answer with a number.") from None
        case "array":
            return [_chosen(one.strip(), titled) for one in said.split(",") if one.strip()]
        case _:
            return _chosen(said, titled) if titled else said


def _chosen(said: str, titled: Sequence[tuple[str, str]]) -> str:
    for title, value in titled:
        if said in (title, value):
            return value
    if titled:
        raise ValueError(f"Answer with one of these: {', '.join(title for title, _ in titled)}.")
    return said
