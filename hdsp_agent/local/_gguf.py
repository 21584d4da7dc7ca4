"""What a GGUF file says of itself, as far as it can be told from its head without loading it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from ._errors import NotAModelFile

__all__ = ["GgufHead", "read_head"]

_MAGIC: Final = b"GGUF"
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
    """The kind of model in the file, its name, and the longest context it was made for."""

    architecture: str
    name: str | None
    context: int | None


def read_head(path: Path) -> GgufHead:
    """The head of the file. Raises NotAModelFile. It reads a few megabytes: call it in a thread."""
    try:
        with path.open("rb") as file:
            return _head(_entries(file))
    except OSError as error:
        raise _refused(path, (error.strerror or str(error)).lower()) from None
    except (ValueError, struct.error, UnicodeDecodeError) as error:
        raise _refused(path, str(error) if isinstance(error, _Broken) else "its header cannot be read") from None


class _Broken(ValueError):
    pass


def _refused(path: Path, reason: str) -> NotAModelFile:
    return NotAModelFile(
        f"{path} is not a model that can be used: {reason}. Choose a file in the GGUF format, version 2 or 3.",
        field="localModelPath",
        path=str(path),
        reason=reason,
    )


def _head(entries: dict[str, Value]) -> GgufHead:
    architecture = entries.get("general.architecture")
    if not isinstance(architecture, str):
        raise _Broken("it does not say what kind of model it holds")
    name, context = entries.get("general.name"), entries.get(f"{architecture}.context_length")
    return GgufHead(
        architecture, name if isinstance(name, str) else None, context if isinstance(context, int) else None
    )


def _entries(file: BinaryIO) -> dict[str, Value]:
    if _exactly(file, 4) != _MAGIC:
        raise _Broken("it does not begin as a GGUF file does")
    version = _number(file, "<I")
    if version not in _VERSIONS:
        raise _Broken(f"it is GGUF version {version}")
    tensors, count = _number(file, "<Q"), _number(file, "<Q")
    if tensors == 0:
        raise _Broken("it holds no weights")
    if count > _MOST_ENTRIES:
        raise _Broken("its header cannot be read")
    found: dict[str, Value] = {}
    for _ in range(int(count)):
        name = _text(file)
        found[name] = _value(file, int(_number(file, "<I")))
    return found


def _value(file: BinaryIO, kind: int) -> Value:
    if kind == _TEXT:
        return _text(file)
    if kind == _ARRAY:
        _pass_over_array(file)
        return None
    if kind not in _NUMBERS:
        raise _Broken("its header cannot be read")
    return _number(file, _NUMBERS[kind])


def _pass_over_array(file: BinaryIO) -> None:
    kind, count = int(_number(file, "<I")), int(_number(file, "<Q"))
    if count > _MOST_ITEMS or kind == _ARRAY:
        raise _Broken("its header cannot be read")
    if kind in _NUMBERS:
        file.seek(count * struct.calcsize(_NUMBERS[kind]), 1)
        return
    for _ in range(count):
        file.seek(_length(file), 1)


def _text(file: BinaryIO) -> str:
    return _exactly(file, _length(file)).decode()


def _length(file: BinaryIO) -> int:
    length = int(_number(file, "<Q"))
    if length > _LONGEST_TEXT:
        raise _Broken("its header cannot be read")
    return length


def _number(file: BinaryIO, form: str) -> int | float:
    value: int | float = struct.unpack(form, _exactly(file, struct.calcsize(form)))[0]
    return value


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise _Broken("it ends in the middle of its header")
    return data
