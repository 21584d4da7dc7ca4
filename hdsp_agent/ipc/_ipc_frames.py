r"""The frames of node-ipc 12: ``{"type": "message", "data": <IpcMessage>}`` as JSON, then a form feed.

JSON writes a form feed inside a text as ``\f``, so the delimiter cannot occur in a frame. To node-ipc's two fields we
add one that its clients neither send nor see: ``requestId``. Who sends it gets exactly one frame that carries it, when
the command is done: the event that answers it, the error, or ``{"type": "done", "data": {}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from ..errors import FrameTooLarge, HdspAgentError, InvalidInput, MalformedFrame, NotAllowed, UnknownMessageType
from ..messages import IpcAck, IpcError, IpcTaskCommand, IpcTaskEvent, TaskCommand

__all__ = [
    "FrameSplitter",
    "IpcRequest",
    "RefusedRequest",
    "RequestDone",
    "ServerFrame",
    "done_frame",
    "message_frame",
    "parse_request",
    "parse_server_frame",
    "warm_up_frames",
]

DELIMITER: Final = b"\f"
_LONGEST_ID: Final = 128
_LONGEST_QUOTE: Final = 300

RequestId: TypeAlias = str | int | None
ServerMessage: TypeAlias = IpcAck | IpcTaskEvent | IpcError


@dataclass(frozen=True)
class IpcRequest:
    """A command, and the number under which its sender waits for the end of it."""

    command: TaskCommand
    id: RequestId


class RefusedRequest(Exception):
    """A frame that cannot be obeyed: why, and which request waits, if that could be read."""

    def __init__(self, error: HdspAgentError, request_id: RequestId = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.request_id = request_id


@dataclass(frozen=True)
class RequestDone:
    """A request was obeyed, and there is nothing to tell but which task it was about."""

    task_id: str | None = None


@dataclass(frozen=True)
class ServerFrame:
    """What a server said, and which request it answers."""

    said: ServerMessage | RequestDone
    request_id: RequestId


class FrameSplitter:
    """Cuts a stream into frames, however it was chopped. A frame that is too large is skipped, not kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._begun = bytearray()
        self._skipped = 0

    @property
    def pending(self) -> int:
        """Bytes of a frame that has not ended."""
        return len(self._begun) + self._skipped

    def feed(self, data: bytes) -> Iterator[bytes | FrameTooLarge]:
        """The frames that end in this piece of the stream, or what is wrong with them."""
        *ends, rest = data.split(DELIMITER)
        for end in ends:
            self._grow(end)
            if self._skipped:
                yield self._too_large()
            else:
                yield bytes(self._begun)
            self._begun.clear()
            self._skipped = 0
        self._grow(rest)

    def _grow(self, piece: bytes) -> None:
        if self._skipped or len(self._begun) + len(piece) > self._max_bytes:
            self._skipped += len(self._begun) + len(piece)
            self._begun.clear()
        else:
            self._begun += piece

    def _too_large(self) -> FrameTooLarge:
        return FrameTooLarge(
            f"A frame of {self._skipped} bytes is too large. The limit is {self._max_bytes}.",
            size=self._skipped,
            limit=self._max_bytes,
        )


def message_frame(message: IpcAck | IpcTaskCommand | IpcTaskEvent | IpcError, request_id: RequestId = None) -> bytes:
    """The message as it goes over the socket."""
    try:
        data = message.to_json()
    except PydanticSerializationError:
        # Half a surrogate pair is JSON only as an escape.
        data = json.dumps(message.to_wire(), separators=(",", ":"))
    waits = "" if request_id is None else f',"requestId":{json.dumps(request_id)}'
    return f'{{"type":"message","data":{data}{waits}}}\f'.encode()


def done_frame(request_id: RequestId, task_id: str | None = None) -> bytes:
    """The end of a command that has no answer, and the task its client means from now on."""
    data = {} if task_id is None else {"taskId": task_id}
    return f'{{"type":"done","data":{json.dumps(data)},"requestId":{json.dumps(request_id)}}}\f'.encode()


def parse_request(raw: bytes, client_id: str) -> IpcRequest:
    """The command in a client's frame. Raises Refused, with a reason that never repeats more than a name."""
    frame = _parse_object(raw)
    request_id = _request_id(frame)
    try:
        if frame.get("type") != "message":
            raise UnknownMessageType("A frame's type must be 'message'.", field="type")
        return IpcRequest(_command(frame.get("data"), client_id), request_id)
    except HdspAgentError as error:
        raise RefusedRequest(error, request_id) from None


def parse_server_frame(raw: bytes) -> ServerFrame | None:
    """What a server said; None for what this version does not know. Raises Refused if it is no frame."""
    frame = _parse_object(raw)
    request_id = _request_id(frame)
    if frame.get("type") == "done":
        data = frame.get("data")
        task_id = data.get("taskId") if isinstance(data, dict) else None
        return ServerFrame(RequestDone(task_id if isinstance(task_id, str) else None), request_id)
    if frame.get("type") != "message":
        return None
    try:
        return ServerFrame(_server_messages().validate_python(frame.get("data")), request_id)
    except ValidationError as error:
        raise RefusedRequest(_explained(error), request_id) from None


def warm_up_frames() -> None:
    """Build the validators. Takes a few tenths of a second: call it in a thread."""
    IpcTaskCommand.model_rebuild()
    _server_messages()


def _command(message: object, client_id: str) -> TaskCommand:
    if not isinstance(message, dict):
        raise MalformedFrame("A frame's data must be an object.", field="data")
    if message.get("type") != "TaskCommand":
        raise UnknownMessageType("A client can only send 'TaskCommand'.", field="data.type")
    try:
        wanted = IpcTaskCommand.model_validate(message)
    except ValidationError as error:
        raise _explained(error) from None
    if wanted.client_id != client_id:
        raise NotAllowed(
            f"This connection's clientId is {client_id}, as its Ack said; a command of another was not run.",
            field="data.clientId",
        )
    return wanted.data


def _parse_object(raw: bytes) -> dict[str, object]:
    try:
        # Not the standard library's parser: this one bounds depth and digits.
        frame: object = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise RefusedRequest(MalformedFrame(f"The frame is not JSON: {error}.")) from None
    if not isinstance(frame, dict):
        raise RefusedRequest(MalformedFrame("A frame must be a JSON object."))
    return frame


def _request_id(frame: dict[str, object]) -> RequestId:
    given = frame.get("requestId")
    if isinstance(given, str) and len(given) <= _LONGEST_ID:
        return given
    return given if isinstance(given, int) and abs(given) < 2**53 else None


def _explained(error: ValidationError) -> InvalidInput:
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(str(part) for part in ("data", *problem["loc"]))[:_LONGEST_QUOTE]
    return InvalidInput(f"{path}: {problem['msg'][:_LONGEST_QUOTE]}", field=path)


@cache
def _server_messages() -> TypeAdapter[ServerMessage]:
    return TypeAdapter(Annotated[ServerMessage, Field(discriminator="type")])
