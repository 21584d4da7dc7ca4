"""Fails where a setting, or a field of one, is offered that no code reads: ``python scripts/check_unused.py``.

A setting counts as read where its name stands in code of the server beside the models that declare it, or its wire name
in code of the page beside what is generated.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic.fields import FieldInfo

from hdsp_agent.config import GlobalSettings, ProviderSettings

_ROOT: Final = Path(__file__).parent.parent
_DECLARING: Final = {"_settings.py", "_provider_settings.py", "_migrations.py"}
_NOT_CODE: Final = ("generated", "__tests__")
_WORD: Final = re.compile(r"\w+")


def main() -> int:
    """Print what nobody reads; 1 if there is anything."""
    unread = sorted(unread_settings(words_of_the_server() | words_of_the_page()))
    for name in unread:
        print(f"No code reads the setting {name}: build it, hide it until its feature exists, or remove it.")
    return 1 if unread else 0


def unread_settings(words: set[str]) -> Iterator[str]:
    """The settings a person can change whose names are not among these words."""
    for model in (GlobalSettings, ProviderSettings):
        for name, info in model.model_fields.items():
            if not _is_hidden(info) and not {name, info.alias or name} & words:
                yield f"{model.__name__}.{name}"


def words_of_the_server() -> set[str]:
    """The names and plain strings in the code of the package, without those where settings are declared."""
    found: set[str] = set()
    for path in (_ROOT / "hdsp_agent").rglob("*.py"):
        if path.name in _DECLARING and path.parent.name == "config":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Constant(value=str(name)):
                    found.add(name)
                case _:
                    pass
    return found


def words_of_the_page() -> set[str]:
    """The words in the page's own code."""
    files = [path for path in (_ROOT / "src").rglob("*.ts*") if not set(_NOT_CODE) & set(path.parts)]
    return {word for path in files for word in _WORD.findall(path.read_text("utf-8"))}


def _is_hidden(info: FieldInfo) -> bool:
    extra = info.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("x-hidden"))


if __name__ == "__main__":
    sys.exit(main())
