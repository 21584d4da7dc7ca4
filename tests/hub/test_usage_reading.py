"""What an answer used, read from its bytes however they come."""

from __future__ import annotations

from hdsp_agent.hub.model_requests import read_request
from hdsp_agent.hub.usage_reading import AnswerReader

from .._helpers.model_server import sse_events
from ._helpers.proxied_models import END, TOLD, piece


def test_events_are_told_apart_however_they_are_cut() -> None:
    call = read_request("chat", b'{"model": "qwen3", "stream": true}')
    stream = sse_events(piece("Hel"), piece("lo"), END, TOLD, "[DONE]").replace(b"\n\n", b"\r\n\r\n")
    for size in range(1, 60):
        reader = AnswerReader(call)
        passed = b"".join(reader.feed(stream[at : at + size]) for at in range(0, len(stream), size)) + reader.finish()
        assert passed == sse_events(piece("Hel"), piece("lo"), END, "[DONE]").replace(b"\n\n", b"\r\n\r\n")
        assert reader.usage is not None and (reader.usage.input, reader.usage.output) == (10, 7)


def test_what_responses_say_again_counts_once() -> None:
    call, text = read_request("responses", b'{"model": "qwen3", "stream": true}'), "x" * 400
    events = sse_events(
        {"type": "response.output_text.delta", "delta": text},
        {"type": "response.output_text.done", "text": text},
        {"type": "response.content_part.done", "part": {"type": "output_text", "text": text}},
        {"type": "response.output_item.done", "item": {"content": [{"type": "output_text", "text": text}]}},
    )
    for size in (10, len(events)):
        reader = AnswerReader(call)
        for at in range(0, len(events), size):
            reader.feed(events[at : at + size])
        assert reader.estimate.output == 100
