"""From the text a page sent to frames: nothing a page can send makes this raise, or costs a good frame."""

from __future__ import annotations

from functools import cache
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from ..errors import FrameTooLarge, InvalidInput, MalformedFrame, UnknownMessageType
from ._base import RequestId
from ._frames import ClientFrame

__all__ = [
    "MAX_FRAMES",
    "client_frames",
    "parse_client_frame",
    "request_id_of",
    "split_frames",
]

MAX_FRAMES: Final = 1000
"""Most frames one WebSocket message may carry."""
_MAX_PARTS: Final = 200_000
"""Most lists, objects and names in one: while they are made nothing else of the server runs."""

# A message of ours has at most a dozen fields. Checked first, because a complaint is made for every field too many.
_MAX_FIELDS: Final = 64
_LONGEST_QUOTE: Final = 100


@cache
def client_frames() -> TypeAdapter[ClientFrame]:
    """The validator of what a page sends, built at first use."""
    return TypeAdapter(ClientFrame)


def parse_client_frame(value: object) -> ClientFrame:
    """One frame, from what its JSON says. Raises an :class:`InvalidInput` that names what is wrong, never its value."""
    if not isinstance(value, dict):
        raise MalformedFrame("A frame must be a JSON object.")
    data = value.get("data")
    if len(value) > _MAX_FIELDS or (isinstance(data, dict) and len(data) > _MAX_FIELDS):
        raise MalformedFrame(f"A frame may have at most {_MAX_FIELDS} fields.", limit=_MAX_FIELDS)
    try:
        return client_frames().validate_python(value)
    except ValidationError as error:
        raise _explained(error.errors(include_url=False, include_context=False)[0], value) from None


def request_id_of(value: object) -> RequestId | None:
    """The request a frame carries, read as well as can be, so that a refusal can be addressed to it."""
    data = value.get("data") if isinstance(value, dict) else None
    request_id = data.get("requestId") if isinstance(data, dict) else None
    if isinstance(request_id, str) and 1 <= len(request_id) <= 128:
        return RequestId(request_id)
    return None


def split_frames(message: str | bytes, *, max_bytes: int) -> list[object]:
    """The frames in one WebSocket message, as yet unchecked. Raises if it is too large, not JSON, or has too many."""
    try:
        raw = message.encode() if isinstance(message, str) else message
    except UnicodeEncodeError:
        raise MalformedFrame("The frame is not valid Unicode text.") from None
    if len(raw) > max_bytes:
        raise FrameTooLarge(
            f"A message of {len(raw)} bytes is too large; the server takes at most {max_bytes}. Send it in parts.",
            size=len(raw),
            limit=max_bytes,
        )
    if sum(map(raw.count, (b"[", b"{", b'":'))) > _MAX_PARTS:
        raise FrameTooLarge(f"A message has more than {_MAX_PARTS:,} parts. Send it in several.", limit=_MAX_PARTS)
    try:
        # Not the standard library's parser: this one bounds depth and digits and refuses halves of surrogate pairs.
        value: object = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise MalformedFrame(f"The frame is not JSON: {error}.") from None
    if not isinstance(value, list):
        return [value]
    if len(value) > MAX_FRAMES:
        raise MalformedFrame(
            f"A message may carry at most {MAX_FRAMES} frames, this one has {len(value)}.",
            frames=len(value),
            limit=MAX_FRAMES,
        )
    return value


def _explained(problem: ErrorDetails, value: dict[object, object]) -> InvalidInput:
    """The first thing that is wrong, as an error of ours."""
    kind, where = problem["type"], problem["loc"]
    # Deeper there are unions too, but those are parts of a message that is known.
    about_the_whole = len(where) <= 2
    if kind == "union_tag_invalid" and about_the_whole:
        return _unknown_tag(value) if where == () else _unknown_type(value.get("data"))
    if kind in ("union_tag_not_found", "model_attributes_type") and about_the_whole:
        missing = "op" if where == () else "type"
        return MalformedFrame(f"A frame without {missing} cannot be understood.", field=missing)
    # The path begins with the tags of the unions: the op and, in a message, "data" and the type.
    is_message = len(where) > 3 and where[:2] == ("msg", "data")
    path = ".".join(str(part) for part in where[3 if is_message else 1 :])[:_LONGEST_QUOTE]
    explanation = f"{path}: {problem['msg']}"
    return InvalidInput(explanation, field=path) if is_message else MalformedFrame(explanation, field=path)


def _unknown_tag(frame: dict[object, object]) -> InvalidInput:
    op = frame.get("op")
    name = repr(op[:_LONGEST_QUOTE]) if isinstance(op, str) else "anything but text"
    return MalformedFrame(f"A frame's op cannot be {name}.", field="op")


def _unknown_type(data: object) -> InvalidInput:
    name = data.get("type") if isinstance(data, dict) else None
    if not isinstance(name, str):
        return MalformedFrame("A message's type must be text.", field="type")
    name = name[:_LONGEST_QUOTE]
    return UnknownMessageType(f"This version does not know messages of type {name!r}.", field="type", type=name)
