"""From a message of the page to the function that acts on it, and from what comes of that to an answer."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from pydantic import JsonValue

from ..errors import HdspAgentError, UnknownTask, Unsupported
from ..messages import AckFailed, AckOk, RequestId, WebviewMessage, error_body
from ._owner import Owner

if TYPE_CHECKING:
    from ._bad_input_log import BadInputLog, Log

__all__ = ["Dispatcher", "Handler", "RequestContext", "TaskExists", "refusal"]

MessageT = TypeVar("MessageT")


@dataclass(frozen=True)
class RequestContext:
    """Who asks, and from which tab."""

    owner: Owner
    client_id: str
    request_id: RequestId


Handler = Callable[[RequestContext, MessageT], Awaitable[JsonValue]]
"""Acts on one type of message; what it returns is the result in the answer, what it raises the error."""

TaskExists = Callable[[Owner, str], Awaitable[bool]]
OnDone = Callable[[RequestContext, WebviewMessage, JsonValue], None]
"""Told of each message that was acted on, and its result."""


class Dispatcher:
    """Knows who handles which type of message."""

    def __init__(
        self, *, log: Log | None = None, task_exists: TaskExists | None = None, on_done: OnDone | None = None
    ) -> None:
        self._log = log or logging.getLogger(__name__)
        self._task_exists = task_exists
        self._on_done = on_done
        self._handlers: dict[str, Handler[WebviewMessage]] = {}

    def handle(self, message_type: str, handler: Handler[NoReturn]) -> None:
        """Let ``handler`` act on messages of this type.

        It may name the exact model of its message: what the type promises, validation has made sure of.
        """
        if message_type in self._handlers:
            raise ValueError(f"{message_type} has a handler already")
        self._handlers[message_type] = cast("Handler[WebviewMessage]", handler)

    def handle_all(self, handlers: Mapping[str, Handler[NoReturn]]) -> None:
        """Let each of these act on the messages of its type."""
        for message_type, handler in handlers.items():
            self.handle(message_type, handler)

    def handles(self, message_type: str) -> bool:
        """Whether anybody acts on messages of this type."""
        return message_type in self._handlers

    async def answer(self, context: RequestContext, message: WebviewMessage, complaints: BadInputLog) -> bytes:
        """Act on a message and return the data of its ack; nothing but a cancellation is ever raised."""
        try:
            result = await self._act(context, message)
            return AckOk(request_id=context.request_id, result=result).to_json().encode()
        except HdspAgentError as error:
            complaints.add(context.client_id, error.code, f"{message.type}: {error.message}")
            return refusal(context, error)
        except Exception:  # noqa: BLE001 -- a handler's bug is logged and told to the tab; it must not end anything
            reference = secrets.token_hex(4)
            self._log.exception("%s of tab %r failed (reference %s)", message.type, context.client_id, reference)
            return refusal(
                context,
                HdspAgentError(
                    f"Something went wrong inside HDSP Agent. The server's log has the details under {reference}.",
                    reference=reference,
                ),
            )

    async def _act(self, context: RequestContext, message: WebviewMessage) -> JsonValue:
        task_id = message.task_id
        if task_id is not None and self._task_exists and not await self._task_exists(context.owner, task_id):
            raise UnknownTask(
                f"There is no task {task_id}. It may have been deleted. Reload the history.",
                task=task_id,
            )
        handler = self._handlers.get(message.type)
        if handler is None:
            raise Unsupported(f"This version of HDSP Agent cannot do {message.type} yet.", type=message.type)
        result = await handler(context, message)
        if self._on_done is not None:
            self._on_done(context, message, result)
        return result


def refusal(context: RequestContext, error: HdspAgentError) -> bytes:
    """The data of the ack of a request that was not done."""
    return AckFailed(request_id=context.request_id, error=error_body(error)).to_json().encode()
