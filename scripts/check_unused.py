"""Fails where something is offered that no code uses: ``python scripts/check_unused.py``.

- A setting, or a field of one, that no code reads.
- A message of the page that no code of the server handles, or that no code of the page sends.
- A message of the server that no code of the server makes, or that no code of the page handles.
- A field of a message, or of a record that is stored, that nobody fills or nobody reads.
- A field of what a REST request brings that the server does not read, or of its answer that the server does not fill.

Names are looked for, not meanings: a field counts as read where any attribute of its name is read.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Final, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hdsp_agent import messages, persistence
from hdsp_agent.comm.rest._rest_endpoint import endpoint_of
from hdsp_agent.comm.rest._routes import routes
from hdsp_agent.config import GlobalSettings, ProviderSettings

_ROOT: Final = Path(__file__).parent.parent
_DECLARING: Final = {"_settings.py", "_provider_settings.py", "_migrations.py"}
_NOT_CODE: Final = ("generated", "__tests__")
_VERBS: Final = ("get", "post", "put", "patch", "delete")
_WORD: Final = re.compile(r"\w+")
_SENT: Final = re.compile(r"\btype:([^,;{}]*)")
_QUOTED: Final = re.compile(r"'(\w+)'")
_HEARD: Final = re.compile(r"case '(\w+)':|\.type [!=]== '(\w+)'|requestMessage\((?:[^;]*?),\s*'(\w+)'\s*\)", re.DOTALL)

NOT_SENT_BY_THE_PAGE: Final = frozenset(
    {
        "checkpointDiff",
        "checkpointRestore",
        "clearTask",
        "deleteMessage",
        "exportSettings",
        "importSettings",
        "saveApiConfiguration",
        "submitEditedMessage",
    }
)
"""Roo Code's pages send them, and they are answered. Our page does the same over REST, or with a look at what it does."""

NOT_HEARD_BY_THE_PAGE: Final = frozenset({"showDeleteMessageDialog", "showEditMessageDialog"})
"""What answers two of those."""

FIELDS_NOBODY_USES: Final[Mapping[str, str]] = {
    "AggregatedCosts.own_cost": "the page shows only the sum and the share of subtasks; Roo Code's form has all three",
    "RewindMark.api_cutoff": "marks on disks have it; it tells a person who reads them what was dropped",
    "StartNewTaskData.new_tab": "Roo Code's clients send it; here no task has a tab of its own",
    "StoredTaskState.last_activity": "programs that read the folders go by it",
}
"""What is read from, or written for, programs other than ours."""


def main() -> int:
    """Print what nobody uses; 1 if there is anything."""
    server, page = server_code(), page_code()
    unread = sorted(unread_settings(words_of_the_server() | page.words))
    for name in unread:
        print(f"No code reads the setting {name}: build it, hide it until its feature exists, or remove it.")
    unused = sorted({*unused_messages(server, page), *unused_fields(server, page)})
    for problem in unused:
        print(f"{problem}: build it, or remove it until its feature exists.")
    return 1 if unread or unused else 0


# ---- settings


def unread_settings(words: set[str]) -> Iterator[str]:
    """The settings a person can change whose names are not among these words."""
    for model in (GlobalSettings, ProviderSettings):
        for name, info in model.model_fields.items():
            if not _is_hidden(info) and not {name, info.alias or name} & words:
                yield f"{model.__name__}.{name}"


def words_of_the_server() -> set[str]:
    """The names and plain strings in the code of the package, without those where settings are declared."""
    return server_code().words


def words_of_the_page() -> set[str]:
    """The words in the page's own code."""
    return page_code().words


def _is_hidden(info: FieldInfo) -> bool:
    extra = info.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("x-hidden"))


# ---- what code does


@dataclass
class ServerCode:
    """What the code of the package does, beside the module that declares messages."""

    words: set[str] = field(default_factory=set)
    """Names that are read, and plain strings, without those where settings are declared."""
    read: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    """The classes something is made of."""
    handled: set[str] = field(default_factory=set)
    """The types of messages that have a handler."""


@dataclass
class PageCode:
    """What the page's own code does."""

    words: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)


@cache
def server_code() -> ServerCode:
    """Read the package."""
    code = ServerCode()
    for path, tree in _modules():
        declares = path.parent.name == "messages"
        handles = path.parent.name == "comm"
        words = set() if path.name in _DECLARING and path.parent.name == "config" else code.words
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    code.read.add(name)
                    words.add(name)
                case ast.Attribute(attr=name) if not declares:
                    code.filled.add(name)
                case ast.Constant(value=str(name)):
                    words.add(name)
                    if not declares:
                        code.read.add(name)
                        code.filled.add(name)
                case ast.keyword(arg=str(name)) if not declares:
                    code.filled.add(name)
                case ast.Call():
                    if isinstance(node.func, ast.Name):
                        code.made.add(node.func.id)
                    if handles:
                        code.handled.update(_handled(node))
                case ast.MatchClass(kwd_attrs=names):
                    code.read.update(names)
                case _:
                    pass
    return code


@cache
def page_code() -> PageCode:
    """Read the sources of the page."""
    code = PageCode()
    for path in (_ROOT / "src").rglob("*.ts*"):
        if not set(_NOT_CODE) & set(path.parts):
            text = path.read_text("utf-8")
            code.words.update(_WORD.findall(text))
            code.sent.update(name for found in _SENT.findall(text) for name in _QUOTED.findall(found))
            code.heard.update(name for found in _HEARD.findall(text) for name in found if name)
    return code


def _handled(node: ast.Call) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr="handle"), args=[ast.Constant(value=str(name)), *_]):
            yield name
        case ast.Call(func=ast.Attribute(attr="handle_all"), args=[ast.Dict(keys=keys)]):
            yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        case _:
            pass


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    # One after the other: all at once are millions of objects, which Python then looks through again and again.
    for path in (_ROOT / "hdsp_agent").rglob("*.py"):
        yield path, ast.parse(path.read_text("utf-8"))


# ---- messages


def unused_messages(server: ServerCode, page: PageCode) -> Iterator[str]:
    """The messages that go nowhere, or come from nowhere."""
    for name in _types(messages.WebviewMessage):
        if name not in server.handled:
            yield f"The server does not handle the message {name}"
        if name not in page.sent | NOT_SENT_BY_THE_PAGE:
            yield f"The page does not send the message {name}"
    for name, model in _types(messages.ExtensionMessage).items():
        if model.__name__ not in server.made:
            yield f"The server does not send the message {name}"
        if name not in page.heard | NOT_HEARD_BY_THE_PAGE:
            yield f"The page does not handle the message {name}"


def _types(union: object) -> dict[str, type[BaseModel]]:
    return {model.model_fields["type"].default: model for model in _arms(union)}


def _arms(union: object) -> list[type[BaseModel]]:
    return list(get_args(get_args(union)[0]))


# ---- fields


def unused_fields(server: ServerCode, page: PageCode) -> Iterator[str]:
    """The fields of messages and of stored records that nobody fills, or nobody reads."""
    yield from (problem for name, problem in _unused_fields(server, page) if name not in FIELDS_NOBODY_USES)


def needless_exceptions(server: ServerCode, page: PageCode) -> set[str]:
    """The fields that are excepted without need."""
    return set(FIELDS_NOBODY_USES) - {name for name, _ in _unused_fields(server, page)}


def _unused_fields(server: ServerCode, page: PageCode) -> Iterator[tuple[str, str]]:
    requests = _types(messages.WebviewMessage)
    sent = _models(*(model for name, model in requests.items() if name not in NOT_SENT_BY_THE_PAGE))
    told = _models(*_arms(messages.ExtensionMessage))
    outside = _models(*_arms(messages.IpcMessage)) - told
    for model in _models(*requests.values()):
        yield from _without(model, server.read, "The server does not read")
    for model in sent:
        yield from _without(model, page.words, "The page does not fill")
    for model in told:
        yield from _without(model, server.filled, "The server does not fill")
        # What is stored as well may be for the server itself.
        readers = server.read | page.words if _is_record(model) else page.words
        yield from _without(model, readers, "Nobody reads" if _is_record(model) else "The page does not read")
    for model in outside:
        yield from _without(model, server.read | server.filled, "The server neither reads nor fills")
    asked, answered = _rest()
    for model in asked:
        yield from _without(model, server.read, "The server does not read")
    for model in answered - told:
        yield from _without(model, server.filled, "The server does not fill")
    for model in _stored():
        yield from _without(model, server.read | page.words, "Nobody reads")
        yield from _without(model, server.filled, "Nobody fills")


def _without(model: type[BaseModel], names: set[str], problem: str) -> Iterator[tuple[str, str]]:
    for name, info in model.model_fields.items():
        # The types are what messages are told apart by, and answers find their requests by the other.
        if name not in ("type", "request_id") and not {name, info.alias or name} & names:
            yield f"{model.__name__}.{name}", f"{problem} {model.__name__}.{name}"


def _is_record(model: type[BaseModel]) -> bool:
    return any(base.__name__ == "Record" for base in model.__mro__)


def _models(*annotations: object) -> set[type[BaseModel]]:
    """The models these are, or consist of. What is set is looked after as settings."""
    found: set[type[BaseModel]] = set()

    def look(annotation: object) -> None:
        if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
            if annotation not in found and not annotation.__module__.startswith("hdsp_agent.config"):
                found.add(annotation)
                for info in annotation.model_fields.values():
                    look(info.annotation)
        else:
            for part in get_args(annotation):
                look(part)

    for annotation in annotations:
        look(annotation)
    return found


@cache
def _rest() -> tuple[set[type[BaseModel]], set[type[BaseModel]]]:
    """The models of what REST requests bring, and of what they are answered."""
    verbs = (getattr(handler, name, None) for handler in routes().values() for name in _VERBS)
    declared = [found for verb in verbs if verb is not None and (found := endpoint_of(verb)) is not None]
    asked = _models(*(model for one in declared for model in (one.body, one.query) if model is not None))
    return asked, _models(*(one.answer for one in declared if one.answer is not None))


@cache
def _stored() -> frozenset[type[BaseModel]]:
    """The models that the store's own modules declare."""
    found: set[type[BaseModel]] = set()
    for module in walk_packages(persistence.__path__, f"{persistence.__name__}."):
        for value in vars(import_module(module.name)).values():
            if inspect.isclass(value) and issubclass(value, BaseModel) and value.__module__ == module.name:
                found.add(value)
    return frozenset(found)


if __name__ == "__main__":
    sys.exit(main())
