"""Fetching: only when turned on, only public addresses, bounded, and as text."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.tools import _fetch_url
from hdsp_agent.tools._public_addresses import is_public
from tests._helpers.loop_stalls import measured

from .._helpers.page_server import page_server
from ._helpers.recording_context import RecordingContext


@cache
def _packed(megabytes: int) -> bytes:
    """So many zeros, as gzip packs them."""
    packer, zeros = zlib.compressobj(9, zlib.DEFLATED, 31), bytes(1 << 20)
    return b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()


_GUIDE = """<title>Guide</title><body><a href="javascript:x()">Menu</a>
<h1>Guide <a href="#guide">¶</a></h1><p>Use <code>a_b*c</code>, see <a href="sub/page.html?q=1#x">the page</a>.</p>
<div class="highlight-python"><div class="highlight"><pre><span>def</span> f(x):
    if x:
        return   1
</pre></div></div>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>하나</td><td>1</td></tr></table>
<ul><li>one<ul><li>nested</li></ul></li></ul>
<img src="data:image/png;base64,AAAA" alt="a plot"><img src="/p.png" alt="pic">"""


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answers: dict[str, tuple[int, dict[str, str], bytes]] = {
            "/page": (
                200,
                {"Content-Type": "text/html; charset=utf-8"},
                "<title>T</title><script>no()</script><p>한글 <b>bold</b></p><p>two</p>".encode(),
            ),
            "/docs/guide.html": (200, {"Content-Type": "text/html; charset=utf-8"}, _GUIDE.encode()),
            "/data.json": (200, {"Content-Type": "application/json"}, b'{"a": 1}'),
            "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
            "/moved": (302, {"Location": "/data.json"}, b""),
            "/away": (302, {"Location": "http://localhost:1/x"}, b""),
            "/round": (302, {"Location": "/round"}, b""),
            "/huge": (200, {"Content-Type": "text/plain"}, b"x" * 8_000_000),
            "/bomb": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, _packed(500)),
            "/twice": (
                200,
                {"Content-Type": "text/plain", "Content-Encoding": "gzip, gzip"},
                gzip.compress(_packed(500)),
            ),
            "/brotli": (200, {"Content-Type": "text/plain", "Content-Encoding": "br"}, b"x"),
            "/lie": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, b"not packed at all"),
            "/gzip": (
                200,
                {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
                gzip.compress(b"one ") + gzip.compress("둘".encode()),
            ),
            "/deflate": (200, {"Content-Type": "text/plain", "Content-Encoding": "deflate"}, zlib.compress(b"flat")),
            "/raw": (
                200,
                {"Content-Type": "text/plain", "Content-Encoding": "deflate"},
                zlib.compress(b"headless")[2:-4],
            ),
            "/deep": (200, {"Content-Type": "text/html"}, b"<b>" * 200_000),
            "/slow": (200, {"Content-Type": "text/html"}, b"<b>" * 400_000 + b"</i>" * 900_000),
            "/odd": (200, {"Content-Type": "text/plain; charset=punycode"}, b"a-" * 100_000),
            "/host": (200, {"Content-Type": "text/plain"}, (self.headers["Host"] or "").encode()),
        }
        status, headers, body = answers.get(self.path, (404, {"Content-Type": "text/plain"}, b"gone"))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def server() -> Iterator[str]:
    """A web server on loopback; its address."""
    with page_server(_Pages) as address:
        yield address


@pytest.fixture
def fetching(workspace: Path) -> RecordingContext:
    """A task that may fetch, also from private addresses."""
    return RecordingContext(workspace, GlobalSettings(fetch_url_enabled=True, fetch_private_addresses=True))


async def test_a_page_becomes_text(fetching: RecordingContext, server: str) -> None:
    text = await fetching.text("fetch_url", url=f"{server}/page")
    assert "answered 200" in text
    assert "# T" in text
    assert "한글" in text
    assert "no()" not in text
    approved = fetching.approvals[0]
    assert approved.action.risks == {"network"}
    assert approved.ask == "use_mcp_server"
    assert approved.shown["uri"] == f"{server}/page"


async def test_code_links_and_tables_of_a_page_stay_what_they_are(fetching: RecordingContext, server: str) -> None:
    text = await fetching.text("fetch_url", url=f"{server}/docs/guide.html")
    assert (
        text.partition("\n\n")[2]
        == f"""Menu

# Guide

Use `a_b*c`, see [the page]({server}/docs/sub/page.html?q=1#x).

```python
def f(x):
    if x:
        return   1
```

| Name | Value |
| --- | --- |
| 하나 | 1 |

- one
  - nested

[a plot]![pic]({server}/p.png)"""
    )


async def test_every_step_goes_to_the_very_address_that_was_checked(
    fetching: RecordingContext, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def address(host: str, port: int, *, allow_private: bool) -> str:
        asked.append(host)
        return "127.0.0.1"

    # A name that nothing else could find: were it looked up again, nothing would be there.
    monkeypatch.setattr(_fetch_url, "public_address", address)
    named = server.replace("127.0.0.1", "data.invalid")
    assert '{"a": 1}' in await fetching.text("fetch_url", url=f"{named}/moved")
    assert asked == ["data.invalid"] * 2


async def test_redirects_stay_with_the_host_that_was_approved(fetching: RecordingContext, server: str) -> None:
    assert '{"a": 1}' in await fetching.text("fetch_url", url=f"{server}/moved")
    assert "leads to another host: http://localhost:1/x" in await fetching.failure("fetch_url", url=f"{server}/away")
    assert "without end" in await fetching.failure("fetch_url", url=f"{server}/round")


async def test_the_host_asked_is_the_one_named(fetching: RecordingContext, server: str) -> None:
    named = server.replace("127.0.0.1", "localhost")
    assert named.removeprefix("http://") in await fetching.text("fetch_url", url=f"{named}/host")


async def test_what_is_no_text_or_too_much_is_bounded(fetching: RecordingContext, server: str) -> None:
    assert "image/png, not text" in await fetching.failure("fetch_url", url=f"{server}/image")
    result = await fetching.call("fetch_url", url=f"{server}/huge")
    assert isinstance(result.content, str)
    assert len(result.content) < 70_000
    assert result.artifact is not None
    assert len(fetching.artifacts[result.artifact]) < 5_001_000
    assert "answered 404" in await fetching.text("fetch_url", url=f"{server}/nowhere")


async def test_what_a_server_packed_is_bounded_by_what_it_stands_for(fetching: RecordingContext, server: str) -> None:
    _packed(500)
    async with measured() as cost:
        result = await fetching.call("fetch_url", url=f"{server}/bomb")
        for path in ("twice", "brotli"):
            assert "packed in a way" in await fetching.failure("fetch_url", url=f"{server}/{path}")
    assert result.artifact is not None
    assert len(fetching.artifacts[result.artifact]) < 5_001_000
    assert cost.memory_mb < 150
    assert "cannot be unpacked" in await fetching.failure("fetch_url", url=f"{server}/lie")


async def test_what_is_packed_as_asked_for_is_read(fetching: RecordingContext, server: str) -> None:
    for path, words in {"gzip": "one 둘", "deflate": "flat", "raw": "headless"}.items():
        assert (await fetching.text("fetch_url", url=f"{server}/{path}")).endswith(words)


@pytest.mark.long
async def test_a_page_that_its_parser_cannot_take_is_an_answer(fetching: RecordingContext, server: str) -> None:
    result = await fetching.call("fetch_url", url=f"{server}/deep")
    assert isinstance(result.content, str)
    assert f"{server}/deep" in result.content
    assert "answered 200" in await fetching.text("fetch_url", url=f"{server}/odd")


async def test_taking_a_page_apart_ends_with_the_time_for_the_whole(
    fetching: RecordingContext, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fetch_url, "_SECONDS", 3.0)
    assert "within 3 seconds" in await fetching.failure("fetch_url", url=f"{server}/slow")


async def test_it_is_off_by_default(task: RecordingContext, server: str) -> None:
    assert "turned off" in await task.failure("fetch_url", url=f"{server}/page")
    assert task.approvals == []


async def test_private_addresses_are_refused_by_any_name(workspace: Path, server: str) -> None:
    task = await asyncio.to_thread(RecordingContext, workspace, GlobalSettings(fetch_url_enabled=True))
    port = server.rpartition(":")[2]
    for host in ("127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
        assert "private network" in await task.failure("fetch_url", url=f"http://{host}:{port}/page"), host


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://x/y", "http://", "http://a b/", "http://u:p@host/", "nonsense"]
)
async def test_other_addresses_are_refused_before_asking(fetching: RecordingContext, url: str) -> None:
    await fetching.failure("fetch_url", url=url)
    assert fetching.approvals == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2002:808:808::", True),
        ("168.63.129.16", False),
        ("::ffff:168.63.129.16", False),
        ("64:ff9b::a83f:8110", False),
        ("64:ff9b:1::1", False),
        ("fec0::1", False),
        ("100.100.100.200", False),
        ("192.0.0.192", False),
        ("0.1.2.3", False),
        ("192.88.99.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::10.0.0.1", False),
        ("::ffff:0:10.0.0.1", False),
        ("ff02::1", False),
        ("fd00:ec2::254", False),
        ("2001:0:7f00:1::", False),
        ("2001:0:808:808:0:0:f5ff:fffe", False),
        ("2001:4860::5efe:10.0.0.1", False),
        ("3fff::1", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_what_hands_passwords_to_machines_is_never_fetched(fetching: RecordingContext) -> None:
    for host in ("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]", "2852039166"):
        assert "cloud's service" in await fetching.failure("fetch_url", url=f"http://{host}/latest/meta-data"), host
