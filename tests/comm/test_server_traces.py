"""Traces of a person's server, as a collector for OpenTelemetry gets them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.events import Emitter, TurnStarted
from hdsp_agent.telemetry import _turn_traces
from hdsp_agent.telemetry._turn_traces import start_traces
from tests.comm._helpers.scripted_pages import Turn, question, speak
from tests.comm.conftest import Connect

READ: Turn = (
    {"text": "I will look at secret plans."},
    {"tool": "list_files", "arguments": {"path": "secret-plans"}, "id": "l"},
    {"usage": {"input": 100, "output": 20, "cacheRead": 30}},
)
DONE: Turn = ({"tool": "attempt_completion", "arguments": {"result": "Secret plans are there."}},)


class _Collector(ThreadingHTTPServer):
    """Takes traces in; ``told`` has them by the address they came to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _CollectorHandler)
        self.told: list[tuple[str, bytes]] = []


class _CollectorHandler(BaseHTTPRequestHandler):
    server: _Collector

    def do_POST(self) -> None:
        self.server.told.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing of it is of interest."""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Collector]:
    """Where traces are sent. Ask for it before the server starts."""
    # The collector is a thread of this busy process.
    monkeypatch.setattr(_turn_traces, "STOP_SECONDS", 60.0)
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otel is not installed")
    with _Collector() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        # Nothing is sent before it is ended.
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
        yield server
        server.shutdown()
        thread.join()


async def test_a_turn_is_told_with_its_requests_and_tools_and_no_word_of_them(
    collector: _Collector, services: Services, connect: Connect, tmp_path: Path
) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    await speak(services, tmp_path, READ, DONE)
    await services.config.update({"autoApprovalEnabled": True, "alwaysAllowReadOnly": True})
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Where are my secret plans?"))["result"]
        await question(panel, "completion_result")
    await services.stop()
    [(path, content)] = collector.told
    assert path == "/v1/traces" and b"ecret" not in content
    told = ExportTraceServiceRequest.FromString(content).resource_spans[0]
    assert ("service.name", "hdsp-agent") in [(one.key, one.value.string_value) for one in told.resource.attributes]
    spans = {span.name: span for span in told.scope_spans[0].spans}
    turn = spans.pop("invoke_agent HDSP Agent")
    assert sorted(spans) == ["chat scripted", "execute_tool attempt_completion", "execute_tool list_files"]
    for span in spans.values():
        assert span.parent_span_id == turn.span_id and span.trace_id == turn.trace_id
        assert turn.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
    asked = next(span for span in told.scope_spans[0].spans if span.name == "chat scripted")
    values = {one.key: one.value for one in asked.attributes}
    assert values["gen_ai.operation.name"].string_value == "chat"
    assert values["gen_ai.provider.name"].string_value == "fake-ai"
    assert values["gen_ai.request.model"].string_value == "scripted"
    assert values["gen_ai.conversation.id"].string_value == task
    assert values["gen_ai.usage.input_tokens"].int_value == 130
    assert values["gen_ai.usage.output_tokens"].int_value == 20


async def test_nothing_is_loaded_where_nothing_is_configured(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    events = Emitter()
    assert await start_traces(events, {}) is None
    for off in ({"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}):
        assert await start_traces(events, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://far", **off}) is None
    assert not [record for record in caplog.records if record.name.startswith("hdsp_agent")]
    events.emit_work(TurnStarted("t"))


async def test_what_is_to_be_installed_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"):
        monkeypatch.setitem(sys.modules, name, None)
    with caplog.at_level(logging.WARNING):
        assert await start_traces(Emitter(), {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://far"}) is None
    assert "hdsp-agent[otel]" in caplog.text


async def test_variables_that_the_sdk_refuses_leave_traces_off(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otel is not installed")
    # Less than the size of a batch.
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "256")
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://far", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with caplog.at_level(logging.WARNING):
        assert await start_traces(Emitter(), environ) is None
    assert "Traces are off" in caplog.text and "sent by HTTP" in caplog.text
