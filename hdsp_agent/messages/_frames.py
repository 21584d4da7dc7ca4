"""The frames of the channel between page and server; their verbs are those of Jupyter comms."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, SerializationInfo, SerializerFunctionWrapHandler, model_serializer

from ._base import ClientId, CommId, Count, Message, RequestId
from ._errors import ErrorBody, Params
from ._extension import ExtensionMessage
from ._webview import WebviewMessage

__all__ = [
    "AckFailed",
    "AckOk",
    "ClientClose",
    "ClientClosing",
    "ClientFrame",
    "ClientHello",
    "ClientMsg",
    "ClientOpen",
    "ClientPing",
    "ClientPong",
    "ServerAck",
    "ServerClose",
    "ServerClosing",
    "ServerFrame",
    "ServerHello",
    "ServerMsg",
    "ServerOpen",
    "ServerPing",
    "ServerPong",
]

_CommId = Annotated[CommId, Field(min_length=1, max_length=128)]


class ClientHello(Message):
    """Who opens the channel, and what it has heard already.

    Fields we do not know are let be: a page of another version must get as far as being told so.
    """

    model_config = ConfigDict(extra="ignore")

    target: Annotated[str, Field(max_length=128)]
    client_id: Annotated[ClientId, Field(min_length=1, max_length=128)]
    version: Annotated[str, Field(max_length=64)]
    protocol: Count
    last_seq: Count | None = None
    epoch: Annotated[str, Field(max_length=128)] | None = None


class ClientOpen(Message):
    """The page opens the channel; of whatever version it is, see :class:`ClientHello`."""

    model_config = ConfigDict(extra="ignore")

    op: Literal["open"] = "open"
    comm_id: _CommId
    data: ClientHello


class ClientMsg(Message):
    """The page asks for something."""

    op: Literal["msg"] = "msg"
    comm_id: _CommId
    data: WebviewMessage


class ClientPing(Message):
    """The page is there; ``seq`` is the newest frame it has applied."""

    op: Literal["ping"] = "ping"
    comm_id: _CommId
    seq: Count | None = None


class ClientPong(Message):
    """The page answers a ping."""

    op: Literal["pong"] = "pong"
    comm_id: _CommId
    seq: Count | None = None


class ClientClosing(Message):
    """Why the page leaves."""

    reason: Annotated[str, Field(max_length=1000)] | None = None


class ClientClose(Message):
    """The page closes the channel."""

    op: Literal["close"] = "close"
    comm_id: _CommId
    data: ClientClosing | None = None


ClientFrame = Annotated[ClientOpen | ClientMsg | ClientPing | ClientPong | ClientClose, Field(discriminator="op")]


class ServerHello(Message):
    """What the page needs to know of this life of the server."""

    epoch: str
    version: str
    protocol: int
    resumed: bool
    heartbeat_seconds: float
    max_frame_bytes: int
    now: int
    """The server's time, in milliseconds; all times in messages are by its clock."""


class ServerOpen(Message):
    """The channel is open; ``seq`` is the newest frame there is."""

    op: Literal["open"] = "open"
    comm_id: CommId
    seq: int
    data: ServerHello


class ServerMsg(Message):
    """A message, with ``seq`` if it went to every tab."""

    op: Literal["msg"] = "msg"
    comm_id: CommId
    seq: int | None = None
    data: ExtensionMessage


class AckOk(Message):
    """The request was done."""

    request_id: RequestId
    ok: Literal[True] = True
    result: JsonValue = None


class AckFailed(Message):
    """The request was not done. ``requestId`` is null when not even that could be read."""

    request_id: RequestId | None
    ok: Literal[False] = False
    error: ErrorBody

    @model_serializer(mode="wrap")
    def _keep_null(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, JsonValue]:
        # Absent fields are left out on the wire; here null says something.
        rest: dict[str, JsonValue] = handler(self)
        return {"requestId" if info.by_alias else "request_id": self.request_id, **rest}


class ServerAck(Message):
    """The one answer to a request."""

    op: Literal["ack"] = "ack"
    comm_id: CommId
    data: Annotated[AckOk | AckFailed, Field(discriminator="ok")]


class ServerPing(Message):
    """The server is there."""

    op: Literal["ping"] = "ping"
    comm_id: CommId


class ServerPong(Message):
    """The server answers a ping."""

    op: Literal["pong"] = "pong"
    comm_id: CommId


class ServerClosing(Message):
    """Why the server wants no more of this page."""

    code: str
    message: str
    params: Params


class ServerClose(Message):
    """The server closes the channel; the page does not come back."""

    op: Literal["close"] = "close"
    comm_id: CommId
    data: ServerClosing


ServerFrame = Annotated[
    ServerOpen | ServerMsg | ServerAck | ServerPing | ServerPong | ServerClose, Field(discriminator="op")
]
