"""What every REST verb has in common: who may, what comes in, what goes out, and how an error looks.

A verb is an ordinary method that takes path arguments and (when declared) a validated body or query, and returns a
model. The declaration is kept on the method, so that the OpenAPI document is derived from what really runs.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, TypeVar, cast
from urllib.parse import quote, unquote

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from pydantic import JsonValue, ValidationError
from pydantic_core import from_json
from tornado import web
from tornado.iostream import StreamClosedError

from ..._portable_names import portable
from ...errors import HdspAgentError, InvalidInput
from ...messages import ErrorBody, error_body
from ...persistence import AuditAction
from ...wire import WireModel
from ..identity import owner_of
from ..request_body import RequestBody
from ..services import Services

__all__ = [
    "API_PATH",
    "AUTH_RESOURCE",
    "Download",
    "Endpoint",
    "NoQuery",
    "RestHandler",
    "download",
    "endpoint",
    "endpoint_of",
]

AUTH_RESOURCE = "hdsp_agent"
API_PATH = "/hdsp-agent/api"

HandlerT = TypeVar("HandlerT", bound="RestHandler")
P = ParamSpec("P")

_PARSED_APART_BYTES = 64 * 1024
"""A larger body is parsed in a thread."""

_CODES_BY_STATUS = {400: "invalid_input", 401: "not_allowed", 403: "not_allowed", 404: "not_found", 405: "unsupported"}


class NoQuery(WireModel):
    """The query of an endpoint that has none."""


@dataclass(frozen=True)
class Endpoint:
    """The declaration of one verb."""

    summary: str
    action: Literal["read", "write"]
    answer: type[WireModel] | None
    """None if it is a file, of one of the ``media_types``."""
    body: type[WireModel] | None
    query: type[WireModel]
    status: int
    media_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Download:
    """A file for the person to save, made while it is sent."""

    name: str
    media_type: str
    chunks: AsyncIterator[bytes]


@web.stream_request_body
class RestHandler(APIHandler):
    """The base of our REST handlers: typed errors, our services, no activity from polling."""

    def initialize(self, *args: object, **kwargs: object) -> None:
        """Nothing of the body is there yet."""
        super().initialize(*args, **kwargs)
        self._body = RequestBody(self.services.max_body_bytes)

    def data_received(self, chunk: bytes) -> None:
        """Keep the next piece."""
        self._body.add(chunk)

    @property
    def services(self) -> Services:
        """The object graph the app built."""
        services: Services = self.settings["hdsp_agent_services"]
        return services

    async def parse(self, model: type[WireModel]) -> WireModel:
        """The request's body as ``model``, or a typed error naming the field that is wrong."""
        body = self._body.whole()
        try:
            if len(body) > _PARSED_APART_BYTES:
                return await asyncio.to_thread(_parsed, model, body)
            return _parsed(model, body)
        except ValidationError as error:
            raise _invalid(error) from None
        except ValueError as error:
            raise InvalidInput(f"The request's body is not JSON: {error}.") from None

    def parse_query(self, model: type[WireModel]) -> WireModel:
        """The query string as ``model``; parameters it does not know are other people's and ignored."""
        known = {field.alias or name for name, field in model.model_fields.items()}
        given = {name: self.get_query_argument(name) for name in known if name in self.request.query_arguments}
        try:
            return model.model_validate(given)
        except ValidationError as error:
            raise _invalid(error) from None

    def audit(self, declared: Endpoint) -> None:
        """Record who read or changed a conversation, if this is about one."""
        place = self.request.path.rpartition(f"{API_PATH}/")[2].split("/")
        match place:
            # The folders and notebooks that conversations are about are told of all of them.
            case ["history"] | ["history", "places"]:
                action: AuditAction = "list"
            case ["history" | "tasks", _, *_]:
                action = "read" if declared.action == "read" else "change"
                action = "delete" if self.request.method == "DELETE" else action
                action = "export" if place[-1] == "export" else action
                action = "export" if place[-1] == "share" and action == "change" else action
            case _:
                return
        task = None if action == "list" else unquote(place[1])
        shape = "/".join(place if task is None else [place[0], "{task}", *place[2:3]])
        self.services.audit.record(owner_of(self), action, f"{self.request.method} {shape}", task)

    async def send(self, file: Download) -> None:
        """Send a file as it is made, to be saved and never shown."""
        # What goes wrong before the first bytes is still an error like any other.
        first = await anext(file.chunks, b"")
        self.set_header("Content-Type", file.media_type)
        self.set_header("Content-Disposition", f"attachment; {_file_name(file.name)}")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.write(first)
        try:
            await self.flush()
            async for chunk in file.chunks:
                self.write(chunk)
                await self.flush()
        except StreamClosedError:
            raise
        except Exception:
            self.log.exception("HDSP Agent: the answer to %s was cut off", self.request.path)
            # Ended in good order, half a file would pass for a whole one.
            self.detach().close()
            return
        await self.finish(set_content_type=file.media_type)

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Every error leaves as {code, message, params, field?}; details of the unexpected stay in the log."""
        exc_info = kwargs.get("exc_info")
        error = exc_info[1] if isinstance(exc_info, tuple) else None
        if isinstance(error, HdspAgentError):
            body = error_body(error)
        elif isinstance(error, web.HTTPError):
            code = _CODES_BY_STATUS.get(status_code, "internal" if status_code >= 500 else "invalid_input")
            message = error.log_message % error.args if error.log_message and error.args else error.log_message
            body = ErrorBody(code=code, message=message or error.reason or self._reason, params={})
        else:
            reference = secrets.token_hex(4)
            self.log.error("HDSP Agent: unexpected error, reference %s", reference)
            message = f"Something went wrong on the server. Its log has the details under {reference}."
            body = ErrorBody(code="internal", message=message, params={"reference": reference})
        self.finish(body.to_json())

    def send_error(self, status_code: int = 500, **kwargs: object) -> None:
        """Give our own errors their status; Tornado knows only its own."""
        exc_info = kwargs.get("exc_info")
        if isinstance(exc_info, tuple) and isinstance(exc_info[1], HdspAgentError):
            status_code = exc_info[1].status
        super().send_error(status_code, **kwargs)

    def log_exception(self, *args: object) -> None:
        """Our own errors are answers, not incidents: one line, no traceback."""
        error = args[1] if len(args) > 1 else None
        # %r: what a request quotes must not forge lines of the log.
        if isinstance(error, HdspAgentError):
            self.log.info(
                "HDSP Agent: %s %s answered %s: %r", self.request.method, self.request.path, error.code, error.message
            )
            return
        if isinstance(error, StreamClosedError):
            self.log.debug("HDSP Agent: %s %s: the caller did not wait", self.request.method, self.request.path)
            return
        super().log_exception(*args)  # type: ignore[arg-type]  # Tornado passes the three parts of exc_info


Verb = Callable[Concatenate[HandlerT, P], Awaitable[None]]


def endpoint(
    summary: str,
    *,
    answer: type[WireModel],
    body: type[WireModel] | None = None,
    query: type[WireModel] = NoQuery,
    action: Literal["read", "write"] = "read",
    status: int = 200,
) -> Callable[[Callable[Concatenate[HandlerT, P], Awaitable[WireModel]]], Verb[HandlerT, P]]:
    """Declare a verb. Authentication is outermost, as Jupyter Server's own check expects."""

    def decorate(
        method: Callable[Concatenate[HandlerT, P], Awaitable[WireModel]],
    ) -> Verb[HandlerT, P]:
        declared = Endpoint(summary, action, answer, body, query, status)

        @wraps(method)
        async def run(handler: HandlerT, *args: P.args, **kwargs: P.kwargs) -> None:
            if body is not None:
                kwargs["body"] = await handler.parse(body)
            if query is not NoQuery:
                kwargs["query"] = handler.parse_query(query)
            result = await method(handler, *args, **kwargs)
            handler.audit(declared)
            handler.set_status(status)
            await handler.finish(result.to_json())

        return _guarded(declared, cast("Verb[HandlerT, P]", run))

    return decorate


def download(
    summary: str, *, media_types: tuple[str, ...], query: type[WireModel] = NoQuery
) -> Callable[[Callable[Concatenate[HandlerT, P], Awaitable[Download]]], Verb[HandlerT, P]]:
    """Declare a verb that answers with a file."""

    def decorate(method: Callable[Concatenate[HandlerT, P], Awaitable[Download]]) -> Verb[HandlerT, P]:
        declared = Endpoint(summary, "read", None, None, query, 200, media_types)

        @wraps(method)
        async def run(handler: HandlerT, *args: P.args, **kwargs: P.kwargs) -> None:
            if query is not NoQuery:
                kwargs["query"] = handler.parse_query(query)
            file = await method(handler, *args, **kwargs)
            handler.audit(declared)
            await handler.send(file)

        return _guarded(declared, cast("Verb[HandlerT, P]", run))

    return decorate


def _guarded(declared: Endpoint, run: Verb[HandlerT, P]) -> Verb[HandlerT, P]:
    # The resource is given, not inherited: the decorator would remember the first subclass's for all.
    guarded = cast("Verb[HandlerT, P]", web.authenticated(authorized(declared.action, resource=AUTH_RESOURCE)(run)))
    setattr(guarded, _DECLARATION, declared)
    return guarded


_DECLARATION = "__hdsp_endpoint__"


def endpoint_of(method: object) -> Endpoint | None:
    """The declaration of a verb, when it has one."""
    declared = getattr(method, _DECLARATION, None)
    return declared if isinstance(declared, Endpoint) else None


def _file_name(name: str) -> str:
    """A name as RFC 6266 has it in a header: a person's file may be called anything, also what another system obeys."""
    name = portable(name)
    if re.fullmatch(r"[\w.@+ -]+", name, re.ASCII):
        return f'filename="{name}"'
    return f"filename*=UTF-8''{quote(name, safe='')}"


def _parsed(model: type[WireModel], body: bytes) -> WireModel:
    return model.model_validate(from_json(body or b"{}", allow_inf_nan=False))


def _invalid(error: ValidationError) -> InvalidInput:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or None
    reason: JsonValue = first["msg"]
    what = f"{field}: {reason}" if field else str(reason)
    return InvalidInput(f"The request is not valid: {what}.", field=field, reason=str(reason))
