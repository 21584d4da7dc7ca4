"""Traces of turns for OpenTelemetry, by its conventions for generative AI. Nothing of it is loaded unless it is configured."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from .._background_tasks import STOP_SECONDS
from .._daemon_calls import Unresponsive, call_in_daemon
from ..events import Emitter, ModelRequestEnded, ToolCallEnded, TurnEnded, TurnStarted, WorkEvent
from ._tool_names import shown_tool

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer
    from opentelemetry.util.types import AttributeValue

__all__ = ["TurnTraces", "start_traces"]

logger = logging.getLogger(__name__)

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_AGENT: Final = "HDSP Agent"
_PROVIDERS: Final[Mapping[str, str]] = {
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-native": "openai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""What the conventions call a provider, where they call it something else."""


class TurnTraces:
    """A span for each turn, and within it one for each request to a model and each call of a tool."""

    def __init__(self, tracer: Tracer, shut_down: Callable[[], None]) -> None:
        self._tracer = tracer
        self._shut_down = shut_down
        self._turns: dict[str, Span] = {}

    async def stop(self) -> None:
        """End what is open, and send what is not sent yet."""
        for task_id in tuple(self._turns):
            self.heed(TurnEnded(task_id, "stopped"))
        try:
            # A collector that does not answer would be waited for ten seconds.
            await call_in_daemon(self._shut_down, STOP_SECONDS)
        except Unresponsive:
            logger.warning("The last traces could not be sent: the collector does not answer.")

    def heed(self, event: WorkEvent) -> None:
        """Trace a part of the agent's work."""
        match event:
            case TurnStarted():
                self._turns[event.task_id] = self._tracer.start_span(
                    f"invoke_agent {_AGENT}",
                    attributes={
                        "gen_ai.operation.name": "invoke_agent",
                        "gen_ai.agent.name": _AGENT,
                        "gen_ai.conversation.id": event.task_id,
                    },
                )
            case TurnEnded():
                if (span := self._turns.pop(event.task_id, None)) is not None:
                    _end(span, None if event.outcome == "done" else event.outcome)
            case ModelRequestEnded():
                self._request(event)
            case ToolCallEnded():
                tool = shown_tool(event.tool)
                attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
                failure = None if event.outcome == "done" else event.outcome
                _end(self._begun(f"execute_tool {tool}", event, attributes), failure)

    def _request(self, event: ModelRequestEnded) -> None:
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(event.provider, event.provider),
            "gen_ai.request.model": event.model,
            "gen_ai.request.stream": True,
            "gen_ai.usage.input_tokens": event.tokens_in + event.tokens_cached,
            "gen_ai.usage.output_tokens": event.tokens_out,
        }
        if event.first_seconds is not None:
            attributes["gen_ai.response.time_to_first_chunk"] = event.first_seconds
        _end(self._begun(f"chat {event.model}", event, attributes), None if event.status == "ok" else event.status)

    def _begun(
        self, name: str, event: ModelRequestEnded | ToolCallEnded, attributes: Mapping[str, AttributeValue]
    ) -> Span:
        """A span for what has ended already."""
        from opentelemetry.trace import SpanKind, set_span_in_context

        turn = self._turns.get(event.task_id)
        return self._tracer.start_span(
            name,
            context=None if turn is None else set_span_in_context(turn),
            kind=SpanKind.CLIENT if isinstance(event, ModelRequestEnded) else SpanKind.INTERNAL,
            attributes={"gen_ai.conversation.id": event.task_id, **attributes},
            start_time=time.time_ns() - round(event.seconds * 1_000_000_000),
        )


async def start_traces(events: Emitter, environ: Mapping[str, str]) -> TurnTraces | None:
    """Trace from now on, if the environment says where traces are sent. What is wrong there never stops the agent."""
    is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or environ.get("OTEL_TRACES_EXPORTER") == "none"
    if is_off or not any(environ.get(name) for name in _ENDPOINTS):
        return None
    if "grpc" in (environ.get(name) for name in _PROTOCOLS):
        logger.warning(
            "OpenTelemetry is configured for grpc, but traces are sent by HTTP. Name your collector's HTTP port."
        )
    try:
        traces = await asyncio.to_thread(_traces, environ)
    except ImportError:
        logger.warning("OpenTelemetry is configured, but not installed. Run: pip install 'hdsp-agent[otel]'")
        return None
    except Exception as error:  # noqa: BLE001 -- the SDK raises whatever its many variables lead to
        logger.warning("Traces are off: OpenTelemetry cannot be set up as its variables say. %s", error)
        return None
    events.on_work(traces.heed)
    return traces


def _traces(environ: Mapping[str, str]) -> TurnTraces:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # What is said here comes before the environment.
    name = {} if environ.get("OTEL_SERVICE_NAME") else {"service.name": "hdsp-agent"}
    provider = TracerProvider(resource=Resource.create(name), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return TurnTraces(provider.get_tracer("hdsp_agent"), provider.shutdown)


def _end(span: Span, failure: str | None) -> None:
    from opentelemetry.trace import StatusCode

    # That a person said no is no error.
    if failure is not None and failure not in ("stopped", "cancelled", "denied"):
        span.set_attribute("error.type", failure)
        span.set_status(StatusCode.ERROR)
    span.end()
