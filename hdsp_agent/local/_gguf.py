"""What a GGUF file says of itself, as far as it can be told from its head without loading it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from ._errors import NotAModelFile

__all__ = ["GgufHead", "read_head"]

_VERSIONS: Final = range(2, 4)
_MOST_ENTRIES: Final = 10_000
_MOST_ITEMS: Final = 10_000_000
_LONGEST_TEXT: Final = 16 * 1024 * 1024

Value: TypeAlias = int | float | bool | str | None
_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT: Final = 8
_ARRAY: Final = 9


@dataclass(frozen=True)
class GgufHead:
    """The name of the model in the file, and the longest context it was made for."""

    name: str | None
    context: int | None


class _Broken(ValueError):
    pass


def read_head(path: Path) -> GgufHead:
    """The head of the file. Raises NotAModelFile. It reads a few megabytes: call it in a thread."""
    try:
        with path.open("rb") as file:
            return _head(file)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except (ValueError, struct.error) as error:
        reason = str(error) if isinstance(error, _Broken) else "its header cannot be read"
    raise NotAModelFile(
        f"{path} is not a model that can be used: {reason}. Choose a file in the GGUF format, version 2 or 3.",
        field="localModelPath",
        path=str(path),
        reason=reason,
    )


def _head(file: BinaryIO) -> GgufHead:
    if _exactly(file, 4) != b"GGUF":
        raise _Broken("it does not begin as a GGUF file does")
    version = _whole(file, "<I")
    if version not in _VERSIONS:
        raise _Broken(f"it is GGUF version {version}")
    if _whole(file, "<Q") == 0:
        raise _Broken("it holds no weights")
    found: dict[str, Value] = {}
    for _ in range(_at_most(_MOST_ENTRIES, _whole(file, "<Q"))):
        name = _text(file)
        found[name] = _value(file, _whole(file, "<I"))
    architecture, title = found.get("general.architecture"), found.get("general.name")
    if not isinstance(architecture, str):
        raise _Broken("it does not say what kind of model it holds")
    context = found.get(f"{architecture}.context_length")
    return GgufHead(title if isinstance(title, str) else None, context if isinstance(context, int) else None)


def _value(file: BinaryIO, kind: int) -> Value:
    if kind == _TEXT:
        return _text(file)
    if kind != _ARRAY:
        return _number(file, _form(kind))
    # Arrays are passed over.
    of, count = _whole(file, "<I"), _at_most(_MOST_ITEMS, _whole(file, "<Q"))
    if of != _TEXT:
        file.seek(count * struct.calcsize(_form(of)), 1)
        return None
    for _ in range(count):
        file.seek(_at_most(_LONGEST_TEXT, _whole(file, "<Q")), 1)
    return None


def _text(file: BinaryIO) -> str:
    return _exactly(file, _at_most(_LONGEST_TEXT, _whole(file, "<Q"))).decode()


def _form(kind: int) -> str:
    if kind not in _NUMBERS:
        raise _Broken("its header cannot be read")
    return _NUMBERS[kind]


def _at_most(most: int, count: int) -> int:
    if count > most:
        raise _Broken("its header cannot be read")
    return count


def _whole(file: BinaryIO, form: str) -> int:
    return int(_number(file, form))


def _number(file: BinaryIO, form: str) -> int | float:
    value: int | float = struct.unpack(form, _exactly(file, struct.calcsize(form)))[0]
    return value


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise _Broken("it ends in the middle of its header")
    return data
