"""What all adapters share of a connection: time-outs, and whatever an SDK raises as one kind of error.

The SDKs do not agree on what a dropped connection is: the Anthropic SDK lets httpx2's own errors through, the OpenAI
SDK wraps some of them, and an answer that merely ends early raises nothing at all.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import anyio

from ..config import provider_info
from ._error_classifier import classify
from ._model_error import ErrorClass, ModelError

if TYPE_CHECKING:
    import httpx2

__all__ = ["Timeouts", "broken_stream", "events_of", "http_timeout", "in_time", "model_error"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

# Telling a server goodbye may not keep anybody waiting.
_CLOSE_SECONDS: Final = 0.1


@dataclass(frozen=True)
class Timeouts:
    """How long to wait, in seconds."""

    connect: float = 15.0
    first: float = 600.0
    """Until the first event: a model on a laptop may read a long conversation for minutes."""
    idle: float = 180.0
    """Between two events."""


def http_timeout(timeouts: Timeouts) -> httpx2.Timeout:
    """The part of the time-outs that the HTTP client keeps itself."""
    import httpx2

    longest = max(timeouts.first, timeouts.idle)
    return httpx2.Timeout(longest, connect=timeouts.connect)


class EventStream(Protocol):
    """What is needed of either SDK's stream."""

    def __aiter__(self) -> AsyncIterator[object]:
        """The events, each the parsed JSON of one server-sent event."""

    async def close(self) -> None:
        """Close the connection."""


async def in_time(work: Awaitable[T], seconds: float, provider: str, waited_for: str) -> T:
    """The result, or ModelError ``timeout``."""
    try:
        with anyio.fail_after(seconds):
            return await work
    except TimeoutError:
        raise _silence(seconds, provider, waited_for) from None


def _silence(seconds: float, provider: str, waited_for: str) -> ModelError:
    return ModelError(
        f"{_name(provider)} sent no {waited_for} for {seconds:g} seconds.", kind="timeout", provider=provider
    )


class _Patience:
    """Bounds each of many waits with one timer. A stream has thousands of events, and a scope for each costs as much as
    reading it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._until: float | None = None
        self._waiting: asyncio.Task[object] | None = None
        self._is_over = False

    async def bounded(self, work: Awaitable[T], seconds: float) -> T:
        """The result; TimeoutError after so long."""
        self._waiting = task = asyncio.current_task()
        self._until = until = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > until:
            self.end()
            self._timer = self._loop.call_at(until, self._look)
        try:
            return await work
        except asyncio.CancelledError:
            # Who is cancelled by somebody else besides has to end.
            if not self._is_over or task is None or task.uncancel() > 0:
                raise
            raise TimeoutError from None
        finally:
            self._until = self._waiting = None

    def end(self) -> None:
        """Nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._until is None or self._waiting is None:
            return
        if self._loop.time() < self._until:
            # What it was set for came in time.
            self._timer = self._loop.call_at(self._until, self._look)
            return
        self._is_over = True
        self._waiting.cancel()


async def events_of(
    open_stream: Callable[[], Awaitable[EventStream]],
    timeouts: Timeouts,
    provider: str,
    lingering: Callable[[], float | None] = lambda: None,
) -> AsyncGenerator[Mapping[str, object], None]:
    """The events of a stream to be opened, closed in any case. Raises ModelError.

    ``lingering`` says how long to wait for more once the answer is whole; from then on nothing is raised.
    """
    begun = False
    stream: EventStream | None = None
    patience = _Patience()
    try:
        stream = await in_time(open_stream(), timeouts.first, provider, "answer")
        iterator = aiter(stream)
        while True:
            seconds = timeouts.idle if begun else timeouts.first
            if (linger := lingering()) is not None:
                seconds = min(seconds, linger)
            try:
                event = await patience.bounded(anext(iterator), seconds)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise _silence(seconds, provider, "further event" if begun else "event") from None
            begun = True
            if not isinstance(event, Mapping):
                raise broken_stream(provider, f"sent an event that is no object: {str(event)[:200]}")
            yield event
    except Exception as error:
        if lingering() is not None:
            logger.debug("%s: the connection broke after the answer's end: %s", provider, error)
            return
        raise model_error(error, provider, begun=begun) from error
    finally:
        patience.end()
        if stream is not None:
            await _close(stream)


async def _close(stream: EventStream) -> None:
    import httpx2

    # Shielded: the connection must go even if whoever reads was cancelled twice.
    with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
        try:
            await stream.close()
        except (OSError, RuntimeError, httpx2.HTTPError) as error:
            logger.debug("A model's connection did not close cleanly: %s", error)


def broken_stream(provider: str, what: str) -> ModelError:
    """The error for an answer that is not whole."""
    return ModelError(f"{_name(provider)} {what}", kind="broken_stream", provider=provider, raw=what)


def model_error(error: Exception, provider: str, *, begun: bool = False) -> ModelError:
    """What an SDK raised, as our error. ``begun`` says whether the answer had begun."""
    if isinstance(error, ModelError):
        return error
    if (ours := next((each for each in _chain(error) if isinstance(each, ModelError)), None)) is not None:
        # Raised by us while the SDK was sending, which it takes for a broken connection.
        return ours
    body = _body(error)
    status = getattr(error, "status_code", None)
    if body is not None or status is not None:
        response = getattr(error, "response", None)
        return classify(
            provider=provider,
            # An error within a stream comes with the stream's own status.
            status=status if isinstance(status, int) and status >= 400 else None,
            body=body if body is not None else str(error),
            code=_text(error, "code"),
            type=_text(error, "type"),
            headers=dict(response.headers) if response is not None else None,
            exception=error,
        )
    errors = _chain(error)
    kind = _kind(errors, begun)
    cause = error.__cause__ if error.__cause__ is not None else error
    words = f"{type(cause).__name__}: {cause}".rstrip(": ")
    sentence = _UNREADABLE if kind == "broken_stream" and not _is_of_transport(errors) else _SENTENCES[kind]
    return ModelError(
        sentence.format(provider=_name(provider)),
        kind=kind,
        provider=provider,
        raw=words,
        is_particular=kind == "authentication",
    )


_UNREADABLE: Final = "{provider} sent something that cannot be read, so its answer ends here."
# No error of these libraries has a base class that says so, and botocore's are not always there.
_NO_CREDENTIALS: Final = re.compile(r"Credential|SSO|AuthToken|TokenRetrieval|ProfileNotFound|RefreshError")
_SENTENCES: Final[dict[ErrorClass, str]] = {
    "timeout": "{provider} took too long to answer.",
    "network": "{provider} could not be reached.",
    "broken_stream": "The answer of {provider} was cut off.",
    "authentication": "There is no usable key for {provider}.",
    "other": "The request to {provider} could not be made.",
}


def _chain(error: Exception) -> list[BaseException]:
    errors: list[BaseException] = [error]
    while (cause := errors[-1].__cause__) is not None and len(errors) < 8:
        errors.append(cause)
    return errors


def _kind(errors: Sequence[BaseException], begun: bool) -> ErrorClass:
    import httpx2

    names = {type(each).__name__ for each in errors}
    if any(isinstance(each, httpx2.TimeoutException) for each in errors) or "APITimeoutError" in names:
        return "timeout"
    if begun or isinstance(errors[0], JSONDecodeError | UnicodeDecodeError):
        return "broken_stream"
    if _is_of_transport(errors):
        return "network"
    if any(_NO_CREDENTIALS.search(name) for name in names) or _lacks_credentials(errors[0]):
        return "authentication"
    return "other"


def _is_of_transport(errors: Sequence[BaseException]) -> bool:
    import httpx2

    return any(
        isinstance(each, httpx2.TransportError | OSError) or type(each).__name__ == "APIConnectionError"
        for each in errors
    )


def _lacks_credentials(error: BaseException) -> bool:
    """What the Anthropic SDK raises when it finds neither keys nor a role."""
    return isinstance(error, RuntimeError) and "credentials" in str(error)


def _name(provider: str) -> str:
    info = provider_info(provider)
    return info.name if info else provider


def _body(error: Exception) -> str | Mapping[str, object] | Sequence[object] | None:
    body = getattr(error, "body", None)
    # Gemini puts its errors into a list.
    return body if isinstance(body, str | Mapping | list) and body else None


def _text(error: Exception, name: str) -> str | None:
    value = getattr(error, name, None)
    return value if isinstance(value, str) else None
