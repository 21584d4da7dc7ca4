"""Keep the Korean and Japanese catalogues true to the sources: extract, update, compile, check.

``extract`` collects what people read into ``hdsp_agent/locale/hdsp_agent.pot``; ``update`` carries new texts into each
``.po``; translators fill those in; ``compile`` writes the JSON that JupyterLab serves through the ``jupyterlab.locale``
entry point; ``check`` says what is out of step or not translated, and fails.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from generation.node_script import run_node
from jinja2.ext import babel_extract
from jupyterlab_server.translation_utils import DEFAULT_SCHEMA_SELECTORS

DOMAIN = "hdsp_agent"
LOCALES = ("ko_KR", "ja_JP")
# The front end joins context and text with it to look a translation up.
CONTEXT_DELIMITER = "\x04"
# Dates would change these files each time they are written; the others are Babel's blanks to fill in.
_UNWANTED_HEADERS = tuple(
    b'"' + name
    for name in (
        b"Project-Id-Version",
        b"POT-Creation-Date",
        b"PO-Revision-Date",
        b"Generated-By",
        b"Last-Translator",
        b"Language-Team",
        b"Report-Msgid-Bugs-To",
    )
)
_PLACEHOLDER = re.compile(r"%\d+")
# Texts are written in one way, so that a search for one finds it.
_SIGNS = {"\u2019": "'", "...": "\u2026"}
_HEADER = """\
# Translations of HDSP Agent.
# This file is distributed under the licence of the HDSP Agent project.
#"""

_FIND_CALLS = Path(__file__).with_name("typescript_calls.mjs")
_PYTHON_METHOD = "translated"
_TEMPLATE_FUNCTION = "t"
# What the leading arguments of each translator method are.
_TEXTS = {"__": ("id",), "_n": ("id", "plural"), "_p": ("context", "id"), "_np": ("context", "id", "plural")}

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


class SourceError(Exception):
    """The sources cannot be extracted from; the argument is the list of reasons."""


class Text(NamedTuple):
    """One text people read, and the file that shows it."""

    file: str
    id: str
    plural: str | None = None
    context: str | None = None


class TranslatorCall(TypedDict):
    """One call of the translator, as ``typescript_calls.mjs`` finds it; a text that is not written out is None."""

    line: int
    method: str
    texts: list[str | None]


class Project(NamedTuple):
    """Where a checkout keeps what this script reads and writes."""

    root: Path

    @property
    def sources(self) -> list[Path]:
        """The TypeScript that ships; tests translate nothing."""
        found = [path for pattern in ("*.ts", "*.tsx") for path in (self.root / "src").rglob(pattern)]
        return sorted(path for path in found if "__tests__" not in path.parts)

    @property
    def modules(self) -> list[Path]:
        """The Python that ships; of it, only pages that the server makes are translated there."""
        return sorted((self.root / DOMAIN).rglob("*.py"))

    @property
    def templates(self) -> list[Path]:
        """The pages that the server makes of templates."""
        return sorted((self.root / DOMAIN).rglob("*.html"))

    @property
    def schemas(self) -> list[Path]:
        """The schemas of JupyterLab's own settings editor."""
        return sorted((self.root / "labextension" / "schema").glob("*.json"))

    @property
    def pot(self) -> Path:
        """The template every catalogue follows."""
        return self.root / DOMAIN / "locale" / f"{DOMAIN}.pot"

    def po(self, locale: str) -> Path:
        """What translators edit."""
        return self.root / DOMAIN / "locale" / locale / "LC_MESSAGES" / f"{DOMAIN}.po"

    def json(self, locale: str) -> Path:
        """What JupyterLab reads."""
        return self.po(locale).with_suffix(".json")


def extract(project: Project) -> bytes:
    """The template as the sources have it now."""
    texts = [*_typescript_texts(project), *_schema_texts(project), *_python_texts(project), *_template_texts(project)]
    catalog = Catalog(charset="utf-8", header_comment=_HEADER)
    plurals: dict[tuple[str | None, str], str | None] = {}
    problems = []
    for text in texts:
        known = plurals.setdefault((text.context, text.id), text.plural)
        if known != text.plural:
            # The front end holds one list of forms per text, so the second use would stay English.
            problems.append(f"{text.file}: {text.id!r} is used with and without a plural, or with two; reword one")
        for wrong, right in _SIGNS.items():
            if wrong in text.id + (text.plural or ""):
                problems.append(f"{text.file}: {text.id!r} has {wrong} where our texts have {right}")
        message_id = text.id if text.plural is None else (text.id, text.plural)
        message = catalog.add(message_id, locations=[(text.file, 1)], context=text.context)
        _drop_format_flags(message)
    if problems:
        raise SourceError(problems)
    return _to_po(catalog)


def update(project: Project, locale: str) -> bytes:
    """The catalogue of a locale with the template's texts: new ones empty, reworded ones fuzzy, dead ones gone."""
    path = project.po(locale)
    catalog = _read(path, locale) if path.exists() else Catalog(locale, header_comment=_HEADER)
    catalog.update(_read(project.pot))
    catalog.obsolete.clear()
    for message in catalog:
        _drop_format_flags(message)
    return _to_po(catalog)


def compile_json(project: Project, locale: str) -> str:
    """The catalogue in the form JupyterLab's front end loads."""
    catalog = _read(project.po(locale), locale)
    served: dict[str, dict[str, str] | list[str]] = {
        "": {
            "domain": DOMAIN,
            "language": locale.replace("_", "-"),
            "plural_forms": catalog.plural_forms.rstrip(";") + ";",
        }
    }
    for message in _messages(catalog):
        forms = _forms(message)
        if message.fuzzy or not all(forms):
            continue
        if message.pluralizable and len(forms) == 1:
            # JupyterLab's gettext takes a list of one form for a text without plural and shows English.
            forms *= 2
        key = _singular(message)
        served[f"{message.context}{CONTEXT_DELIMITER}{key}" if message.context else key] = forms
    return json.dumps(served, ensure_ascii=False, indent=2) + "\n"


def check(project: Project) -> list[str]:
    """What is out of step, untranslated or wrong; nothing when all is well."""
    try:
        fresh = extract(project)
    except SourceError as error:
        return list(error.args[0])
    if not project.pot.exists() or project.pot.read_bytes() != fresh:
        return [f"{_name(project, project.pot)}: not in step with the sources; run make generate"]
    problems = []
    for locale in LOCALES:
        po, served = project.po(locale), project.json(locale)
        if not po.exists():
            problems.append(f"{_name(project, po)}: missing; run make generate")
            continue
        problems += [f"{_name(project, po)}: {problem}" for problem in _catalog_problems(project, locale)]
        if not served.exists() or served.read_text(encoding="utf-8") != compile_json(project, locale):
            problems.append(f"{_name(project, served)}: not in step with the .po file; run make generate")
    return problems


def _catalog_problems(project: Project, locale: str) -> Iterator[str]:
    catalog = _read(project.po(locale), locale)
    template = {(message.context, message.id) for message in _messages(_read(project.pot))}
    for message in _messages(catalog):
        key = (message.context, message.id)
        if key not in template:
            yield f"not in the template: {_singular(message)!r}"
        template.discard(key)
        if message.fuzzy:
            yield f"fuzzy: {_singular(message)!r}"
        elif not all(_forms(message)):
            yield f"not translated: {_singular(message)!r}"
        else:
            yield from _placeholder_problems(message)
    yield from (f"missing: {message_id!r}" for _, message_id in sorted(template, key=str))
    yield from (f"obsolete: {_singular(message)!r}" for message in catalog.obsolete.values())


def _placeholder_problems(message: Message) -> Iterator[str]:
    # A singular may spell its number out ("one file"); a language of one form needs all that the plural has.
    wanted = _placeholders(message.id[-1] if message.pluralizable else _singular(message))
    for form in _forms(message):
        if _placeholders(form) != wanted:
            yield f"placeholders differ: {_singular(message)!r} → {form!r}"


def _typescript_texts(project: Project) -> Iterator[Text]:
    problems = []
    for path, calls in zip(project.sources, _translator_calls(project.sources), strict=True):
        name = _name(project, path)
        for call in calls:
            texts = {
                part: text for part, text in zip(_TEXTS[call["method"]], call["texts"], strict=True) if text is not None
            }
            if len(texts) < len(call["texts"]):
                problems.append(f"{name}:{call['line']}: the text of {call['method']}() is not a literal")
            elif not texts["id"]:
                problems.append(f"{name}:{call['line']}: an empty text means the header of a catalogue")
            else:
                yield Text(name, **texts)
    if problems:
        raise SourceError(problems)


def _translator_calls(paths: Sequence[Path]) -> list[list[TranslatorCall]]:
    found = run_node(_FIND_CALLS, text=json.dumps([str(path) for path in paths]))
    return cast(list[list[TranslatorCall]], json.loads(found))


def _python_texts(project: Project) -> Iterator[Text]:
    problems = []
    for path in project.modules:
        name = _name(project, path)
        source = path.read_bytes()
        if f".{_PYTHON_METHOD}(".encode() not in source:
            continue
        for line, _, texts, _ in extract_python(BytesIO(source), {_PYTHON_METHOD: None}, [], {}):
            if text := _first(texts):
                yield Text(name, text)
            else:
                problems.append(f"{name}:{line}: the text of {_PYTHON_METHOD}() is not a literal")
    if problems:
        raise SourceError(problems)


def _template_texts(project: Project) -> Iterator[Text]:
    problems = []
    for path in project.templates:
        name = _name(project, path)
        for line, _, texts, _ in babel_extract(BytesIO(path.read_bytes()), [_TEMPLATE_FUNCTION], [], {}):
            if text := _first(texts):
                yield Text(name, text)
            else:
                problems.append(f"{name}:{line}: the text of {_TEMPLATE_FUNCTION}() is not a literal")
    if problems:
        raise SourceError(problems)


def _first(texts: object) -> str:
    """The text of a call; what comes after it is filled in."""
    text = texts[0] if isinstance(texts, tuple | list) and texts else texts
    return text if isinstance(text, str) else ""


def _schema_texts(project: Project) -> Iterator[Text]:
    for path in project.schemas:
        schema = cast(Json, json.loads(path.read_text(encoding="utf-8")))
        if not isinstance(schema, dict):
            raise SourceError([f"{_name(project, path)}: not a JSON object"])
        contexts = [(re.compile(f"/{pattern}"), context) for pattern, context in DEFAULT_SCHEMA_SELECTORS.items()]
        for place, value in _strings(schema, ""):
            context = next((context for pattern, context in contexts if pattern.fullmatch(place)), None)
            if context is not None and value:
                yield Text(_name(project, path), value, context=context)


def _strings(value: Json, place: str) -> Iterator[tuple[str, str]]:
    """Each string of a schema with its path, spelt as jupyterlab_server spells it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, f"{place}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict):
                yield from _strings(inner, f"{place}[{index}]")
    elif isinstance(value, str):
        yield place, value


def _read(path: Path, locale: str | None = None) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=locale, domain=DOMAIN, abort_invalid=True)


def _to_po(catalog: Catalog) -> bytes:
    # A fuzzy header is one that tools do not trust.
    catalog.fuzzy = False
    buffer = BytesIO()
    write_po(buffer, catalog, width=100, sort_by_file=True, include_lineno=False)
    kept = (line for line in buffer.getvalue().splitlines(keepends=True) if not line.startswith(_UNWANTED_HEADERS))
    return b"".join(kept).rstrip(b"\n") + b"\n"


def _drop_format_flags(message: Message) -> None:
    # Babel takes "100% done" for a Python format; ours are %1, %2.
    message.flags.difference_update({"python-format", "python-brace-format"})


def _messages(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def _singular(message: Message) -> str:
    return message.id[0] if isinstance(message.id, tuple) else str(message.id)


def _forms(message: Message) -> list[str]:
    return list(message.string) if isinstance(message.string, tuple) else [str(message.string or "")]


def _placeholders(text: str) -> set[str]:
    return set(_PLACEHOLDER.findall(text.replace("%%", "")))


def _name(project: Project, path: Path) -> str:
    return path.relative_to(project.root).as_posix()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; the exit code is 1 when something must be done."""
    parser = argparse.ArgumentParser(description="Keep the translation catalogues in step with the sources.")
    parser.add_argument("command", choices=["extract", "update", "compile", "check"])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the checkout")
    options = parser.parse_args(arguments)
    project = Project(options.root.resolve())
    problems: list[str] = []
    try:
        match options.command:
            case "extract":
                _write(project.pot, extract(project))
            case "update":
                for locale in LOCALES:
                    _write(project.po(locale), update(project, locale))
            case "compile":
                for locale in LOCALES:
                    _write(project.json(locale), compile_json(project, locale).encode())
            case _:
                problems = check(project)
    except SourceError as error:
        problems = list(error.args[0])
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
