"""A server that sends without end, or what unpacks to very much, fills no memory."""

from __future__ import annotations

import gzip

import pytest

from hdsp_agent.providers import ModelError, ModelRequest, list_models, open_client
from hdsp_agent.providers import _guarded_http as answers

from .._helpers.model_server import raw_server
from .test_redirects import settings_at

MOST = 100_000


def answer(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


LONG = b'{"object": "list", "data": [], "x": "' + b"x" * MOST + b'"}'
EVENTS = b": nothing\n\n" * (MOST // 10)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("status", "kind"),
    [("200 OK", "plain"), ("200 OK", "packed"), ("200 OK", "events"), ("400 Bad Request", "packed")],
)
async def test_no_more_than_so_much_is_read(
    provider: str, status: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_MOST_BYTES", MOST)
    given = {
        "plain": answer(status, LONG, "Content-Type: application/json"),
        "packed": answer(status, gzip.compress(LONG), "Content-Type: application/json", "Content-Encoding: gzip"),
        "events": answer(status, EVENTS, "Content-Type: text/event-stream"),
    }[kind]
    async with raw_server(given) as server:
        client = await open_client(settings_at(server, provider))
        with pytest.raises(ModelError, match="more than 100,000 bytes"):
            async for _ in client.stream(ModelRequest(system="", messages=(), tools=())):
                pass
        await client.close()


async def test_what_is_just_as_long_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"object": "list", "data": [{"id": "m-of-today"}]}'
    async with raw_server(answer("200 OK", gzip.compress(body), "Content-Type: application/json", "Content-Encoding: gzip")) as server:  # fmt: skip
        monkeypatch.setattr(answers, "_MOST_BYTES", len(body))
        assert [model.id for model in await list_models(settings_at(server, "openai"))] == ["m-of-today"]
        monkeypatch.setattr(answers, "_MOST_BYTES", len(body) - 1)
        with pytest.raises(ModelError):
            await list_models(settings_at(server, "openai"))
