"""How large a picture is, read from its first bytes, and whether it is whole enough to be sent.

A model service refuses a request with a picture that is damaged or too large, and the picture would be in every request
after it: so it is looked at before.
"""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["image_size", "looks_whole"]

_FRAME_HEADERS: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WITHOUT_LENGTH: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def image_size(data: bytes, media_type: str) -> tuple[int, int] | None:
    """Width and height in pixels; None if they cannot be read."""
    try:
        match media_type:
            case "image/png":
                size = struct.unpack_from(">II", data, 16) if data[12:16] == b"IHDR" else None
            case "image/gif":
                size = struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                size = _jpeg_size(data)
            case _:
                size = _webp_size(data)
    except struct.error:
        return None
    return size if size is not None and size[0] > 0 and size[1] > 0 else None


def looks_whole(data: bytes, media_type: str) -> bool:
    """Whether the end of the picture is there."""
    match media_type:
        case "image/png":
            return b"IDAT" in data and data.rfind(b"IEND") > 0
        case "image/gif":
            return data.rstrip(b"\0").endswith(b";")
        case "image/jpeg":
            return data.rfind(b"\xff\xd9") > 0
        case _:
            return len(data) >= int.from_bytes(data[4:8], "little") + 8


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        elif marker in _FRAME_HEADERS:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
