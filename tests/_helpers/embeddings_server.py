"""A real server with an OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["EmbeddingsServer", "embeddings_server"]

_DIMENSIONS = 64


@dataclass
class EmbeddingsServer:
    """What it was asked, and what it answers."""

    url: str = ""
    twins: Mapping[str, str] = field(default_factory=dict)
    """Words that mean the same as others."""
    status: int = 200
    location: str | None = None
    """Where it redirects to, if anywhere."""
    paths: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def vector(self, text: str) -> list[float]:
        """Texts of the same words have the same one."""
        counts = [0.0] * _DIMENSIONS
        for word in text.lower().split():
            meant = self.twins.get(word.strip(".-"), word.strip(".-"))
            counts[hashlib.sha256(meant.encode()).digest()[0] % _DIMENSIONS] += 1
        return counts


@contextmanager
def embeddings_server(twins: Mapping[str, str] | None = None) -> Iterator[EmbeddingsServer]:
    """Serve until the end of the block, on this machine alone."""
    told = EmbeddingsServer(twins=twins or {})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.paths.append(self.path)
            told.texts += body["input"]
            told.models.append(body["model"])
            told.keys.append(self.headers["Authorization"])
            data = [{"index": at, "embedding": told.vector(text)} for at, text in enumerate(body["input"])]
            sent = json.dumps({"data": data}).encode()
            self.send_response(told.status)
            if told.location is not None:
                self.send_header("Location", told.location)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        told.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield told
        finally:
            server.shutdown()
            thread.join()
