"""Messages of other programs as ours: masked, large images kept apart, what we do not know in the nearest form we have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar, get_args

from pydantic import JsonValue, ValidationError

from ...messages import AnyAsk, AnySay, ClineMessage, JsonObject
from .._records import ApiDraft, ToolDraft
from ..masking._masker import Masker
from ._import_images import KeptImage, image_block, image_link, kept_apart, kept_block
from ._import_json import ImportFindings

__all__ = ["Converter", "ImportedMessage", "fresh_masker", "is_api_message", "is_ui_message", "whole_number"]

T = TypeVar("T")

_ASKS: Final = frozenset(get_args(AnyAsk))
_SAYS: Final = frozenset(get_args(AnySay))
# What Cline and Kilo call it, and what Roo Code and we do.
_OTHER_SAYS: Final[Mapping[str, str]] = {
    "task": "text",
    "clineignore_error": "rooignore_error",
    "kilocodeignore_error": "rooignore_error",
    "checkpoint_created": "checkpoint_saved",
    "deleted_api_reqs": "api_req_deleted",
    "use_mcp_server": "mcp_server_request_started",
    "mcp_server_request": "mcp_server_request_started",
}
_OTHER_ASKS: Final[Mapping[str, str]] = {"plan_mode_respond": "followup", "act_mode_respond": "followup"}
_NEVER_MASKED: Final = frozenset(
    {"id", "tool_use_id", "type", "name", "media_type", "signature", "encrypted_content", "ts"}
)
_LONGEST_NAMED_VALUE: Final = 4_096
_GREATEST_TS: Final = 2**53 - 1
_LARGEST_COUNT: Final = 2**63 - 1


class ImportedMessage(NamedTuple, Generic[T]):
    """A record to write, and the images that are to be kept for it first."""

    record: T
    images: list[KeptImage]


def fresh_masker(masker: Masker | None) -> Masker | None:
    """A masker of the same kinds for one task: placeholders are numbered anew in each, however often it is imported."""
    if masker is None:
        return None
    rules = masker._rules
    return Masker(rules.kinds if rules is not None else ())


def whole_number(value: JsonValue, *, at_least: int = 0, at_most: int = _LARGEST_COUNT) -> int | None:
    """A number as others write it: whole, with a fraction, or as text; None if it is none or out of bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = int(float(value)) if isinstance(value, (float, str)) else value
    except (ValueError, OverflowError):
        return None
    return number if at_least <= number <= at_most else None


def message_ts(raw: JsonObject) -> int | None:
    """When a message was written, if it says so."""
    return whole_number(raw.get("ts"), at_least=1, at_most=_GREATEST_TS)


def is_ui_message(value: JsonValue) -> bool:
    """Whether this is a message of the UI history, of a kind we know or not."""
    return isinstance(value, dict) and (isinstance(value.get("ask"), str) or isinstance(value.get("say"), str))


def is_api_message(value: JsonValue) -> bool:
    """Whether this is a message of the API history."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


class Converter:
    """Turns raw messages of one task into records. What had to be changed is noted down with the file."""

    def __init__(self, masker: Masker | None, findings: ImportFindings) -> None:
        self._masker = masker
        self._findings = findings

    def text(self, text: str) -> str:
        """Masked text."""
        return text if self._masker is None or text.startswith("data:image/") else self._masker.mask(text)

    def value(self, value: JsonValue) -> JsonValue:
        """Masked JSON. A short text is also looked at together with its name, as ``password`` tells what follows."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {
                    name: item if name in _NEVER_MASKED and isinstance(item, str) else self._named(name, item)
                    for name, item in value.items()
                }
            case _:
                return value

    def ui(self, raw: JsonObject, ts: int, path: Path) -> ImportedMessage[ClineMessage]:
        """A message for the UI log, at this time."""
        try:
            return self._ui(raw, ts, path)
        except RecursionError:
            self._findings.add(path, "A message is nested too deeply; only its text was imported.")
            text = raw.get("text")
            kept = self.text(text) if isinstance(text, str) else None
            return ImportedMessage(ClineMessage(ts=ts, type="say", say="text", text=kept), [])

    def api(self, raw: JsonObject, path: Path, *, tagged: bool = False) -> ImportedMessage[ApiDraft]:
        """A message for the API log; ``tagged`` keeps what our own log says about summaries."""
        try:
            return self._api(raw, path, tagged)
        except RecursionError:
            self._findings.add(path, "A message is nested too deeply and was imported without content.")
            role = "assistant" if raw.get("role") == "assistant" else "user"
            return ImportedMessage(ApiDraft(role=role, content="[A message that was nested too deeply]"), [])

    def _ui(self, raw: JsonObject, ts: int, path: Path) -> ImportedMessage[ClineMessage]:
        images: list[KeptImage] = []
        fields = dict(raw)
        self._own_kind(fields)
        self._known_kind(fields, path)
        unknown = sorted(set(fields) - _fields_of_ui())
        if unknown:
            self._findings.add(path, f"Unknown fields were left out: {', '.join(unknown[:8])}.", weight="note")
        fields = {name: value for name, value in fields.items() if name in _fields_of_ui() and value is not None}
        fields["ts"] = ts
        if "text" in fields and not isinstance(fields["text"], str):
            fields["text"] = json.dumps(fields["text"], ensure_ascii=False)
        for name in ("text", "reasoning"):
            if isinstance(text := fields.get(name), str):
                fields[name] = self.text(text)
        condense = fields.get("contextCondense")
        if isinstance(condense, dict):
            fields["contextCondense"] = self.value(
                {"cost": 0, "prevContextTokens": 0, "newContextTokens": 0, "summary": "", **condense}
            )
        listed = fields.get("images")
        if isinstance(listed, list):
            fields["images"] = [self._image(image, images) for image in listed if isinstance(image, str)]
        along = fields.get("attachments")
        if isinstance(along, list):
            # What a file only names nobody has chosen here: it is not read when the conversation goes on.
            fields["attachments"] = [
                {**known, "content": known.get("content") or ""}
                for one in along
                if isinstance(known := self.value(one), dict)
            ]
        return ImportedMessage(self._valid_ui(fields, path), images)

    def _api(self, raw: JsonObject, path: Path, tagged: bool) -> ImportedMessage[ApiDraft]:
        images: list[KeptImage] = []
        fields: dict[str, JsonValue] = {
            name: value for name, value in raw.items() if name in _fields_of_api() and value is not None
        }
        if not tagged:
            for name in ("condenseParent", "truncationId", "truncationParent", "isTruncationMarker"):
                fields.pop(name, None)
        unknown = sorted(set(raw) - _fields_of_api() - {"seq", "timestamp", "token_count"})
        if unknown:
            self._findings.add(path, f"Unknown fields were left out: {', '.join(unknown[:8])}.", weight="note")
        if fields.get("role") not in ("system", "user", "assistant", "tool"):
            self._findings.add(path, f"A message of the unknown role {fields.get('role')!r} counts as the user's.")
            fields["role"] = "user"
        fields["content"] = self._content(raw.get("content"), images)
        fields["ts"] = message_ts(raw)
        for name in ("text", "reasoning_content", "summary", "reasoning_details", "function_call"):
            if name in fields:
                fields[name] = self.value(fields[name])
        return ImportedMessage(self._valid_api(fields, path), images)

    def tool(self, raw: JsonObject, path: Path) -> ToolDraft | None:
        """A tool's run; None if the line makes no sense."""
        names = ToolDraft.model_fields
        fields = {name: self._named(name, value) for name, value in raw.items() if name in names}
        fields["tool_name"] = raw.get("tool_name")
        fields.setdefault("arguments", {})
        fields["duration_ms"] = whole_number(raw.get("duration_ms")) or 0
        try:
            return ToolDraft.model_validate(fields)
        except (ValidationError, RecursionError):
            self._findings.add(path, "The record of a tool call is not valid and was left out.")
            return None

    def _own_kind(self, fields: dict[str, JsonValue]) -> None:
        """The kind that an export of ours put aside, because Roo Code does not know it."""
        kind = fields.pop("hdspAgentKind", None)
        if isinstance(kind, str) and kind in _ASKS:
            fields.update(type="ask", ask=kind, say=None)
        elif isinstance(kind, str) and kind in _SAYS:
            fields.update(type="say", say=kind, ask=None)

    def _known_kind(self, fields: dict[str, JsonValue], path: Path) -> None:
        is_ask = isinstance(fields.get("ask"), str) and (
            fields.get("type") == "ask" or not isinstance(fields.get("say"), str)
        )
        kind = str(fields.get("ask" if is_ask else "say"))
        known = (_OTHER_ASKS if is_ask else _OTHER_SAYS).get(kind, kind)
        if known in (_ASKS if is_ask else _SAYS):
            fields.update(type="ask" if is_ask else "say", ask=known if is_ask else None, say=None if is_ask else known)
            return
        self._findings.add(
            path, f"A message of the unknown kind {kind[:60]!r} was imported as plain text.", weight="note"
        )
        fields.update(type="say", say="text", ask=None)

    def _valid_ui(self, fields: dict[str, JsonValue], path: Path) -> ClineMessage:
        for _ in range(len(fields)):
            try:
                return ClineMessage.model_validate(fields)
            except ValidationError as error:
                wrong = {str(detail["loc"][0]) for detail in error.errors(include_url=False) if detail["loc"]}
                for name in wrong - {"ts", "type"}:
                    self._findings.add(path, f"The field {name} of a message is not valid and was left out.")
                    fields.pop(name, None)
            except RecursionError:
                break
        self._findings.add(path, "A message is not valid; only its text was imported.")
        text = fields.get("text")
        ts = whole_number(fields["ts"]) or 1
        return ClineMessage(ts=ts, type="say", say="text", text=text if isinstance(text, str) else None)

    def _valid_api(self, fields: dict[str, JsonValue], path: Path) -> ApiDraft:
        for _ in range(len(fields)):
            try:
                return ApiDraft.model_validate(fields)
            except ValidationError as error:
                wrong = {str(detail["loc"][0]) for detail in error.errors(include_url=False) if detail["loc"]}
                if "content" in wrong or not wrong:
                    break
                for name in wrong:
                    self._findings.add(path, f"The field {name} of a message is not valid and was left out.")
                    fields.pop(name, None)
            except RecursionError:
                break
        self._findings.add(path, "A message is not valid; only its text was imported.")
        content = fields.get("content")
        role = "assistant" if fields.get("role") == "assistant" else "user"
        return ApiDraft(role=role, content=content if isinstance(content, str) else json.dumps(content, default=str))

    def _content(self, content: JsonValue, images: list[KeptImage]) -> JsonValue:
        match content:
            case str():
                return self.text(content)
            case None:
                return []
            case list():
                return [self._block(block, images) for block in content if block is not None]
            case dict():
                return [self._block(content, images)]
            case _:
                return str(content)

    def _block(self, block: JsonValue, images: list[KeptImage]) -> JsonObject:
        if not isinstance(block, dict):
            return {"type": "text", "text": self.text(block if isinstance(block, str) else json.dumps(block))}
        if block.get("type") == "image":
            kept = kept_block(block)
            if kept is None:
                return block
            images.append(kept)
            return {**block, **image_block(kept.name, kept.media)}
        inner = block.get("content")
        if isinstance(inner, list):
            rest = {name: value for name, value in block.items() if name != "content"}
            masked = self.value(rest)
            assert isinstance(masked, dict)
            return {name: self._content(inner, images) if name == "content" else masked[name] for name in block}
        masked = self.value(block)
        assert isinstance(masked, dict)
        return masked

    def _image(self, image: str, images: list[KeptImage]) -> str:
        kept = kept_apart(image)
        if kept is None:
            return image
        images.append(kept)
        return image_link(kept.name, kept.media)

    def _named(self, name: str, value: JsonValue) -> JsonValue:
        if not isinstance(value, str) or len(value) > _LONGEST_NAMED_VALUE:
            return self.value(value)
        alone = self.text(value)
        if alone != value or self._masker is None:
            return alone
        try:
            whole = json.loads(self._masker.mask(json.dumps({name: value}, ensure_ascii=False)))
        except ValueError:
            return alone
        told = whole.get(name) if isinstance(whole, dict) else None
        return told if isinstance(told, str) else alone


@cache
def _fields_of_ui() -> frozenset[str]:
    return frozenset(field.alias or name for name, field in ClineMessage.model_fields.items())


@cache
def _fields_of_api() -> frozenset[str]:
    return frozenset(field.alias or name for name, field in ApiDraft.model_fields.items())
