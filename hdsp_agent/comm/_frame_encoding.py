"""Frames in the form in which they are kept: serialised once, whoever they go to.

A body is the JSON text of a frame without its ``commId`` and closing brace, which differ from tab to tab.
"""

from __future__ import annotations

import json
from typing import Literal

__all__ = ["Op", "batch", "body", "ending"]

Op = Literal["open", "msg", "ack", "ping", "pong", "close"]


def body(op: Op, data: bytes | None = None, seq: int | None = None) -> bytes:
    """A frame up to where its ``commId`` goes; ``data`` is JSON text already."""
    parts = [b'{"op":"', op.encode(), b'"']
    if seq is not None:
        parts += (b',"seq":', str(seq).encode())
    if data is not None:
        parts += (b',"data":', data)
    return b"".join(parts)


def ending(comm_id: str) -> bytes:
    """What completes every body for one tab."""
    return b',"commId":' + json.dumps(comm_id).encode() + b"}"


def batch(bodies: list[bytes], end: bytes) -> bytes:
    """One WebSocket message: a frame, or a JSON array of frames."""
    if len(bodies) == 1:
        return bodies[0] + end
    return b"[" + (end + b",").join(bodies) + end + b"]"
