"""A web server on loopback that a test's handler answers for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["page_server"]


@contextmanager
def page_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Its address, while it runs."""
    pages = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=pages.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{pages.server_address[1]}"
    pages.shutdown()
    pages.server_close()
    thread.join()
