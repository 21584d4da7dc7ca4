"""Names in archives: whoever unpacks one, on whatever system, finds each file below the folder that they named."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_portable", "portable", "portable_path"]

# A backslash separates folders on Windows, and a colon follows a drive or begins a hidden stream of a file.
_UNSAFE: Final = r"[\x00-\x1f\x7f/\\:\ud800-\udfff]|[. ]\Z"
_IS_UNSAFE: Final = re.compile(_UNSAFE)
_ESCAPED: Final = re.compile(rf"{_UNSAFE}|%(?=[0-9A-F]{{2}}|u[0-9A-F]{{4}})")
# Windows opens a device by such a name, whatever its extension.
_DEVICE: Final = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?=\s*(?:\.|\Z))", re.IGNORECASE)


def is_portable(part: str) -> bool:
    """Whether this is a file's or folder's name everywhere, and no way to another folder."""
    return bool(part) and _IS_UNSAFE.search(part) is None and _DEVICE.match(part) is None


def portable(part: str) -> str:
    """The name of one file or folder with ``%5C`` and the like for what is unsafe. Different names stay different."""
    part = _ESCAPED.sub(_escaped, part)
    device = _DEVICE.match(part)
    if device is None:
        return part
    last = device.end() - 1
    return part[:last] + _escaped_text(part[last]) + part[device.end() :]


def portable_path(path: bytes) -> str:
    """A relative path with slashes, as the file system has it, in the same form."""
    return "/".join(portable(part) for part in path.decode("utf-8", "surrogateescape").split("/") if part)


def _escaped(found: re.Match[str]) -> str:
    return _escaped_text(found[0])


def _escaped_text(character: str) -> str:
    if "\ud800" <= character < "\udc80" or "\udcff" < character <= "\udfff":
        # Half a character, which Windows allows in names; it stands for no byte, as others of its kind do.
        return f"%u{ord(character):04X}"
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
