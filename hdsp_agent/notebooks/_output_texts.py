"""Outputs as a model can take them in: texts joined and cut, no escape sequences, images named but not included.

Bounded outputs keep the form of nbformat. Of a bundle only the first type of ``TEXT_MIMES`` that is there stays, and
``omitted`` lists the others by type and size; cut texts say how much is missing, and so does a list of outputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from ..messages import JsonObject
from ._cells import is_json_mime, joined
from ._document import OutputSummary

__all__ = ["TEXT_MIMES", "bounded_outputs", "full_attachments", "full_output", "summary_of", "without_escapes"]

TEXT_MIMES: Final = ("text/plain", "text/markdown", "text/latex", "application/json", "text/html")
_MOST_CHARACTERS: Final = 8000
_MOST_OUTPUTS: Final = 30

# ECMA-48: control sequences, operating system commands, and the short ones with an intermediate or final byte.
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def without_escapes(text: str) -> str:
    """The text without the escape sequences that colour it in a terminal."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def full_output(output: JsonObject) -> JsonObject:
    """An output whose texts are strings, as nbformat reads it."""
    text, data = output.get("text"), output.get("data")
    if not isinstance(text, list) and not isinstance(data, dict):
        return output
    whole = dict(output)
    if isinstance(text, list):
        whole["text"] = joined(text)
    if isinstance(data, dict):
        whole["data"] = {mime: _joined_unless_json(mime, value) for mime, value in data.items()}
    return whole


def full_attachments(attachments: JsonObject) -> JsonObject:
    """A cell's files by name, whose texts are strings."""
    return {
        name: {mime: _joined_unless_json(mime, value) for mime, value in bundle.items()}
        if isinstance(bundle, dict)
        else bundle
        for name, bundle in attachments.items()
    }


def summary_of(outputs: Sequence[JsonObject]) -> OutputSummary:
    """How many there are, how much text, how many images, and which error."""
    characters = images = 0
    error: str | None = None
    for output in outputs:
        characters += len(joined(output.get("text")))
        if output.get("output_type") == "error":
            error = str(output.get("ename", "")) or "Error"
            characters += len("\n".join(_lines(output.get("traceback"))))
        for mime, value in _data(output).items():
            if mime.startswith("image/"):
                images += 1
            elif mime == "text/plain":
                characters += len(joined(value))
    return OutputSummary(count=len(outputs), characters=characters, images=images, error=error)


def bounded_outputs(outputs: Sequence[JsonObject], *, characters: int = _MOST_CHARACTERS) -> tuple[JsonObject, ...]:
    """The outputs in about this many characters: short texts whole, of the longest ones beginning and end."""
    half = _MOST_OUTPUTS // 2
    left_out = len(outputs) - _MOST_OUTPUTS
    shown = [*outputs[:half], *outputs[-half:]] if left_out > 0 else list(outputs)
    plain = [_plain(output) for output in shown]
    share = _share([len(text) for _, text in plain], characters)
    bounded = [_with_text(output, _cut(text, share)) for output, text in plain]
    if left_out > 0:
        bounded.insert(half, {"output_type": "stream", "name": "stdout", "text": f"[{left_out} outputs left out]\n"})
    return tuple(bounded)


def _plain(output: JsonObject) -> tuple[JsonObject, str]:
    """An output without its text, and the text."""
    match output.get("output_type"):
        case "stream":
            kept: JsonObject = {"output_type": "stream", "name": output.get("name", "stdout")}
            return kept, _last_written(_text(output.get("text")))
        case "error":
            kept = {"output_type": "error", "ename": output.get("ename", ""), "evalue": output.get("evalue", "")}
            return kept, without_escapes("\n".join(_lines(output.get("traceback"))))
        case other:
            return _plain_bundle(output, other)


def _plain_bundle(output: JsonObject, output_type: JsonValue) -> tuple[JsonObject, str]:
    data = _data(output)
    mime = next((each for each in TEXT_MIMES if each in data), None)
    omitted: list[JsonValue] = [
        {"mime": each, "bytes": _size(each, value)} for each, value in data.items() if each != mime
    ]
    kept: JsonObject = {"output_type": output_type, "data": {} if mime is None else {mime: ""}}
    if "execution_count" in output:
        kept["execution_count"] = output["execution_count"]
    if omitted:
        kept["omitted"] = omitted
    if mime is None:
        return kept, ""
    value = data[mime]
    return kept, json.dumps(value, ensure_ascii=False) if is_json_mime(mime) else _text(value)


def _with_text(output: JsonObject, text: str) -> JsonObject:
    match output["output_type"]:
        case "stream":
            return {**output, "text": text}
        case "error":
            return {**output, "traceback": [text] if text else []}
        case _:
            return {**output, "data": dict.fromkeys(_data(output), text)}


def _share(lengths: Sequence[int], characters: int) -> int:
    """The longest a text may be so that all together keep to the limit."""
    left, waiting = characters, len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return left // waiting
        left -= length
        waiting -= 1
    return characters


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    begin = limit // 2
    end = len(text) - (limit - begin)
    return f"{text[:begin]}\n[{end - begin} characters left out]\n{text[end:]}"


def _text(value: JsonValue) -> str:
    return without_escapes(joined(value))


def _last_written(text: str) -> str:
    """The text without what carriage returns wrote over, as progress bars do."""
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _lines(value: JsonValue) -> list[str]:
    return [line for line in value if isinstance(line, str)] if isinstance(value, list) else []


def _data(output: JsonObject) -> dict[str, JsonValue]:
    data = output.get("data")
    return data if isinstance(data, dict) else {}


def _joined_unless_json(mime: str, value: JsonValue) -> JsonValue:
    return joined(value) if isinstance(value, list) and not is_json_mime(mime) else value


def _size(mime: str, value: JsonValue) -> int:
    """About how many bytes it is: base64 carries three in four characters."""
    if is_json_mime(mime):
        return len(json.dumps(value, ensure_ascii=False).encode("utf-8", errors="surrogatepass"))
    text = joined(value)
    if mime.startswith("text/") or mime == "image/svg+xml":
        return len(text.encode("utf-8", errors="surrogatepass"))
    return len("".join(text.split())) * 3 // 4
