"""Requests to models: checked, reserved, passed on with the provider's key, and counted as their answers pass by."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue
from tornado.http1connection import HTTP1Connection
from tornado.iostream import IOStream, StreamClosedError
from tornado.web import stream_request_body

from .._timeouts import wait_at_most
from ..config import keys_in_use
from ..providers import KnownModel, UsageReport, cost_of
from .budget_book import AdmittedRequest, BudgetRefusal
from .hub_handler import HubHandler
from .model_prices import model_of
from .model_requests import (
    BYTES_PER_TOKEN,
    PROTOCOLS,
    BadModelRequest,
    ModelCall,
    RequestKind,
    read_request,
    reservation_of,
    reserved_usage,
)
from .policies import ProviderProtocol
from .policy_file import LoadedPolicies
from .refusals import Refusal, budget_notice, budget_refusal, model_refusal
from .service import HubService
from .usage_reading import AnswerReader, error_code, whole_usage
from .usage_store import RequestEnd, RequestStart

if TYPE_CHECKING:
    import httpx2

__all__ = ["AllowedModelsHandler", "ProxyHandler"]

logger = logging.getLogger(__name__)

_PATHS: Final[Mapping[RequestKind, str]] = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "compact": "/responses/compact",
    "embeddings": "/embeddings",
    "messages": "/v1/messages",
    "count_tokens": "/v1/messages/count_tokens",
}
_SENT_ON: Final = ("accept", "content-type", "anthropic-version", "anthropic-beta", "openai-beta")
"""Headers of the request. Others may name accounts, or bring keys."""
_SENT_BACK: Final = (
    "content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id", "x-should-retry", "openai-processing-ms",
)  # fmt: skip
_LARGE_BODY: Final = 256 * 1024
_LARGEST_BODY: Final = 64 * 1024 * 1024
_MOST_BODIES: Final = 512 * 1024 * 1024
"""Of all requests under way together."""
_LONGEST_ERROR: Final = 1024 * 1024
_CLIENT_GONE: Final = 499
_CLIENT_GONE_CODE: Final = "client_gone"
_HIDDEN_TOKENS_PER_SECOND: Final = 100
"""What a model thinks, roughly, while it says nothing. Counted where an answer is cut off before its usage was told."""
_PAUSE_SECONDS: Final = 0.5
"""A model that says nothing for longer may think."""
_UNREAD_SECONDS: Final = 60.0


@stream_request_body
class ProxyHandler(HubHandler):
    """One request to a model. Its body is not read before it is known who sends it."""

    def initialize(self, service: HubService, kind: RequestKind = "chat") -> None:
        """What all handlers share, and which of the addresses this is."""
        super().initialize(service)
        self.kind: RequestKind = kind
        self.protocol = PROTOCOLS[kind]
        self._exchange: _Exchange | None = None
        self._pieces: list[bytes] = []
        self._body_bytes = 0

    async def prepare(self) -> None:
        """See who asks, and whether there is room for the body."""
        self._person = await self.user()
        if self.is_left:
            return
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
        connection.set_max_body_size(_LARGEST_BODY)
        length = self.request.headers.get("Content-Length", "")
        expected = int(length) if length.isascii() and length.isdigit() else _LARGEST_BODY
        if expected > _LARGEST_BODY:
            raise Refusal(413, "request_too_large", f"A request may have {_LARGEST_BODY:,} bytes at most.")
        if self.service.body_bytes + expected > _MOST_BODIES:
            raise Refusal(
                503, "service_unavailable", "The hub service has no room for more large requests. Try again later.",
                headers={"x-should-retry": "true", "retry-after": "5"},
            )  # fmt: skip
        self._body_bytes = expected
        self.service.body_bytes += expected

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece of the body."""
        self._pieces.append(chunk)

    def on_finish(self) -> None:
        """There is room for others."""
        self.service.body_bytes -= self._body_bytes
        self._body_bytes = 0

    async def post(self) -> None:
        """Pass it on."""
        began = monotonic()
        person = self._person
        call = await self._read()
        # The same to the end, whatever becomes of the file meanwhile.
        loaded = self.service.policies.now
        policies = loaded.policies
        group, policy = self.policy_of(person)
        provider = policies.provider_of(self.protocol, call.model)
        if provider is None or (provider, call.model) not in policies.models_of(policy):
            raise model_refusal(call.model, policies, policy)
        model = model_of(policies.providers[provider], call.model)
        start = RequestStart(
            self.service.time(), person.name, group, provider, call.model, self.kind, reservation_of(call, model)
        )
        try:
            # Never cancelled: a client that is gone meanwhile is seen to below.
            admitted = await self.service.budgets.admit(start, policies, policy)
        except BudgetRefusal as refused:
            raise budget_refusal(refused, policies, policy) from None
        exchange = self._exchange = _Exchange(self, call, loaded, model, admitted)
        forwarding: asyncio.Task[None] | None = None
        try:
            if not self.is_left:
                forwarding = asyncio.create_task(exchange.run(began), name="hdsp-agent hub request")
                admitted.task = forwarding
                self.service.requests.add(forwarding)
                await asyncio.wait([forwarding])
        finally:
            # Also where it was cancelled before it could begin.
            exchange.settle()
            if forwarding is not None:
                self.service.requests.discard(forwarding)
        if forwarding is not None and not forwarding.cancelled():
            forwarding.result()

    def on_connection_close(self) -> None:
        """The client is gone: nobody needs the rest of the answer."""
        super().on_connection_close()
        if self._exchange is not None:
            self._exchange.leave()
        else:
            # It may never come to its end.
            self.on_finish()

    @property
    def is_left(self) -> bool:
        """Whether the client is gone."""
        return bool(self._connection.closed())

    def break_off(self) -> None:
        """End the client's answer so that nobody takes it for whole."""
        self._connection.close()

    @property
    def _connection(self) -> IOStream:
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
        return connection.stream

    def tell_budgets(self, admitted: AdmittedRequest) -> None:
        """Say in a header which budget is nearly used."""
        nearly = [use for use in admitted.uses if use.is_nearly_used]
        if nearly:
            self.set_header("HDSP-Agent-Budget", budget_notice(max(nearly, key=lambda use: use.share)))

    async def _read(self) -> ModelCall:
        body = b"".join(self._pieces)
        self._pieces.clear()
        try:
            if len(body) > _LARGE_BODY:
                return await asyncio.to_thread(read_request, self.kind, body)
            return read_request(self.kind, body)
        except BadModelRequest as error:
            raise Refusal(400, "invalid_request_error", str(error)) from None


class _Exchange:
    """A request that was admitted, to its end."""

    def __init__(
        self,
        handler: ProxyHandler,
        call: ModelCall,
        loaded: LoadedPolicies,
        model: KnownModel,
        admitted: AdmittedRequest,
    ) -> None:
        self._handler = handler
        self._service = handler.service
        self._call = call
        self._loaded = loaded
        self._model = model
        self._admitted = admitted
        self._reader = AnswerReader(call)
        self._usage: UsageReport | None = None
        self._whole_output = 0
        self._is_whole = False
        self._is_left = False
        self._until_left = asyncio.timeout(None)
        self._is_settled = False
        self._was_sent = False
        self._status = 0
        self._error: str | None = None
        self._sent_at = monotonic()
        self._first_at: float | None = None
        self._said_at = self._sent_at
        self._silent_seconds = 0.0

    async def run(self, began: float) -> None:
        """Ask the provider and pass its answer on."""
        self._service.metrics.active.inc()
        self._sent_at = self._said_at = monotonic()
        self._service.metrics.passed_on(self._sent_at - began)
        try:
            async with self._until_left:
                if not self._is_left:
                    await self._pass_on()
        except TimeoutError:
            # The connection to the provider is closed by now, which ends its work.
            pass
        except asyncio.CancelledError:
            self._is_left = True
            self._handler.break_off()
            raise
        finally:
            self._service.metrics.active.dec()
            self.settle()

    def leave(self) -> None:
        """The client is gone: the provider is to end its work. What it did so far counts, so that nobody evades a budget."""
        if not self._is_left and not self._is_settled:
            self._is_left = True
            if self._was_sent:
                self._until_left.reschedule(asyncio.get_running_loop().time())

    async def _send(self, data: bytes = b"", *, is_last: bool = False) -> None:
        """Pass something on, unless the client is gone. One that does not read for long is."""
        if self._is_left:
            return
        if data:
            self._handler.write(data)
        try:
            await wait_at_most(self._handler.finish() if is_last else self._handler.flush(), _UNREAD_SECONDS)
        except StreamClosedError:
            self.leave()
        except TimeoutError:
            self._handler.break_off()
            self.leave()

    def settle(self) -> None:
        """Count what it used, once."""
        if not self._is_settled:
            self._is_settled = True
            if self._error is None and (self._status == 0 or (self._is_left and not self._is_whole)):
                self._error = _CLIENT_GONE_CODE
            self._service.held.begin(self._settle())

    async def _pass_on(self) -> None:
        import httpx2

        request = self._request()
        self._was_sent = True
        try:
            answer = await self._service.http.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            self._error, self._was_sent = "unreachable", False
            raise Refusal(
                502, "server_error",
                f"The provider {self._admitted.start.provider} could not be reached ({type(error).__name__}). Try again later.",
                headers={"x-should-retry": "true"},
            ) from None  # fmt: skip
        except httpx2.HTTPError as error:
            # It may have come there, and been worked on.
            self._error = "no_answer"
            raise Refusal(
                502, "server_error",
                f"The provider {self._admitted.start.provider} did not answer ({type(error).__name__}). Try again later.",
            ) from None  # fmt: skip
        try:
            self._status = answer.status_code
            if answer.status_code >= 300:
                await self._pass_error(answer)
            elif answer.headers.get("content-type", "").startswith("text/event-stream"):
                await self._pass_stream(answer)
            else:
                await self._pass_whole(answer)
        except httpx2.HTTPError:
            # The connection to the provider broke: so does the client's, as it would without us.
            self._error = "broken_stream"
            self._handler.break_off()
        finally:
            await answer.aclose()

    def _request(self) -> httpx2.Request:
        name = self._admitted.start.provider
        provider = self._loaded.policies.providers[name]
        given = self._handler.request.headers
        headers = {header: given[header] for header in _SENT_ON if header in given}
        # What is packed could not be counted.
        headers["accept-encoding"] = "identity"
        if (key := self._loaded.keys.get(name)) is not None:
            if provider.protocol == "anthropic":
                headers["x-api-key"] = key.get_secret_value()
            else:
                headers["authorization"] = f"Bearer {key.get_secret_value()}"
        address = provider.address.removesuffix("/v1") if provider.protocol == "anthropic" else provider.address
        return self._service.http.build_request(
            "POST", address + _PATHS[self._call.kind], headers=headers, content=self._call.body
        )

    def _begin(self, answer: httpx2.Response) -> None:
        self._first_at = monotonic()
        self._handler.set_status(answer.status_code)
        for name in _SENT_BACK:
            if name in answer.headers:
                self._handler.set_header(name, answer.headers[name])
        self._handler.tell_budgets(self._admitted)

    async def _pass_stream(self, answer: httpx2.Response) -> None:
        self._begin(answer)
        # Proxies in between are not to wait for more.
        self._handler.set_header("X-Accel-Buffering", "no")
        await self._send()
        async with aclosing(answer.aiter_bytes()) as pieces:
            async for piece in pieces:
                said = self._reader.estimate.output
                passed = self._reader.feed(piece)
                if self._reader.estimate.output > said:
                    self._heed_pause()
                if self._reader.has_ended:
                    # A client may close then, and need not wait for the provider to do so.
                    self._is_whole, self._error = True, self._reader.failure
                if passed:
                    await self._send(passed)
        rest = self._reader.finish()
        self._is_whole = True
        self._error = self._reader.failure
        await self._send(rest, is_last=True)

    def _heed_pause(self) -> None:
        """The model said something, or was stopped."""
        now = monotonic()
        if now - self._said_at > _PAUSE_SECONDS:
            self._silent_seconds += now - self._said_at
        self._said_at = now

    async def _pass_whole(self, answer: httpx2.Response) -> None:
        body = await answer.aread()
        self._usage = whole_usage(self._call, body)
        if self._call.kind != "embeddings":
            self._whole_output = -(-len(body) // BYTES_PER_TOKEN)
        self._is_whole = True
        self._begin(answer)
        await self._send(body, is_last=True)

    async def _pass_error(self, answer: httpx2.Response) -> None:
        body = (await answer.aread())[:_LONGEST_ERROR]
        self._is_whole = True
        self._error = _code_in(body)
        if answer.status_code in (401, 403) or answer.is_redirect:
            # Whatever it says is not for the person: the key is the administrator's.
            raise Refusal(
                502, "provider_key_refused",
                f"The provider {self._admitted.start.provider} does not accept the administrator's key, or its address is "
                f"wrong (HTTP {answer.status_code}). Tell your administrator.",
            )  # fmt: skip
        self._begin(answer)
        # Providers quote the key they refuse.
        await self._send(keys_in_use.mask(body.decode("utf-8", "replace")).encode(), is_last=True)

    async def _settle(self) -> None:
        end = self._end()
        self._service.metrics.ended(self._admitted.start, end, with_user=self._loaded.policies.metrics_with_users)
        try:
            await self._service.budgets.settle(self._admitted, end)
        except Exception:
            # At the next start it counts as it was reserved.
            logger.exception("What a request used could not be recorded")

    def _end(self) -> RequestEnd:
        now = monotonic()
        usage, is_estimated = self._used()
        return RequestEnd(
            time=self._service.time(),
            tokens_in=usage.input,
            tokens_cached=usage.cache_read + usage.cache_write,
            tokens_out=usage.output,
            money=cost_of(self._model, usage) or 0.0,
            milliseconds=round((now - self._sent_at) * 1000),
            first_milliseconds=None if self._first_at is None else round((self._first_at - self._sent_at) * 1000),
            status=_CLIENT_GONE if self._error == _CLIENT_GONE_CODE else self._status,
            error=self._error,
            estimated=is_estimated,
        )

    def _used(self) -> tuple[UsageReport, bool]:
        """The tokens that count, and whether they are an estimate."""
        if self._call.kind == "count_tokens" or self._status >= 300 or not self._was_sent:
            # It was refused, or never came to the provider.
            return UsageReport(input=0, output=0), False
        usage = self._usage or self._reader.usage
        if self._is_whole and usage is not None:
            return usage, False
        reserved = reserved_usage(self._call, self._model)
        if self._status == 0 and not self._is_left:
            # The provider may have worked on it to the end.
            return reserved, True
        said = self._reader.estimate
        output = max(said.output, self._whole_output)
        if not self._is_whole:
            self._heed_pause()
            hidden = round(self._silent_seconds * _HIDDEN_TOKENS_PER_SECOND) * self._call.answers
            output = max(output, min(reserved.output, output + hidden))
        if usage is None:
            return UsageReport(input=said.input, output=output), True
        # Cut off: what was said before the end is in no report.
        return UsageReport(usage.input, max(usage.output, output), usage.cache_read, usage.cache_write), True


class AllowedModelsHandler(HubHandler):
    """The models that a person may use, in the form of a provider's list."""

    def initialize(self, service: HubService, protocol: ProviderProtocol = "openai") -> None:
        """What all handlers share, and whose form the list has."""
        super().initialize(service)
        self.protocol = protocol

    async def get(self) -> None:
        """List them."""
        _, policy = self.policy_of(await self.user())
        policies = self.service.policies.now.policies
        entries: list[JsonValue] = [
            _listed(model_of(policies.providers[provider], model), provider)
            for provider, model in policies.models_of(policy)
            if policies.providers[provider].protocol == self.protocol
        ]
        if self.protocol == "anthropic":
            self.answer({"data": entries, "has_more": False})
        else:
            self.answer({"object": "list", "data": entries})


def _listed(model: KnownModel, provider: str) -> JsonValue:
    """A model as lists of models have it; the numbers are for our own panel, which reads them from such lists."""
    prices = {
        "prompt": model.input_price,
        "completion": model.output_price,
        "input_cache_read": model.cache_reads_price,
        "input_cache_write": model.cache_writes_price,
    }
    pricing: dict[str, JsonValue] = {
        name: f"{price / 1_000_000:.12f}" for name, price in prices.items() if price is not None
    }
    return {
        "id": model.id,
        "type": "model",
        "object": "model",
        "display_name": model.name or model.id,
        "owned_by": provider,
        "context_window": model.context_window,
        "pricing": pricing,
    }


def _code_in(body: bytes) -> str:
    from pydantic_core import from_json

    try:
        content = from_json(body)
    except ValueError:
        return "error"
    return error_code(content.get("error")) if isinstance(content, dict) else "error"
