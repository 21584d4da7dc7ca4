"""A kernel's message as an output of a cell."""

from __future__ import annotations

from pydantic import JsonValue

from ...messages import JsonObject
from ._output_collector import OutputCollector
from ._transport import KernelMessage

__all__ = ["as_number", "as_object", "as_text", "collect_output"]


def collect_output(outputs: OutputCollector, message: KernelMessage, content: JsonObject) -> bool:
    """Add what a message prints or shows; whether that changed anything."""
    match message.kind:
        case "stream":
            outputs.stream(as_text(content.get("name")), as_text(content.get("text")))
        case "display_data" | "execute_result" as kind:
            outputs.display(
                "display_data" if kind == "display_data" else "execute_result",
                as_object(content.get("data")),
                as_object(content.get("metadata")),
                size=message.size,
                execution_count=as_number(content.get("execution_count")),
                display_id=_display_id(content),
            )
        case "update_display_data":
            display_id = _display_id(content)
            data, metadata = as_object(content.get("data")), as_object(content.get("metadata"))
            return display_id is not None and outputs.update(display_id, data, metadata, size=message.size)
        case "clear_output":
            outputs.clear(wait=bool(content.get("wait")))
        case "error":
            lines = content.get("traceback")
            traceback = [str(line) for line in lines] if isinstance(lines, list) else []
            outputs.error(as_text(content.get("ename")), as_text(content.get("evalue")), traceback)
        case _:
            return False
    return True


def as_text(value: JsonValue) -> str:
    """It, if it is a text."""
    return value if isinstance(value, str) else ""


def as_number(value: JsonValue) -> int | None:
    """It, if it is a whole number."""
    return value if isinstance(value, int) else None


def as_object(value: JsonValue) -> JsonObject:
    """It, if it is an object."""
    return value if isinstance(value, dict) else {}


def _display_id(content: JsonObject) -> str | None:
    found = as_object(content.get("transient")).get("display_id")
    return found if isinstance(found, str) else None
