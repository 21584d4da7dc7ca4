"""Writes what is derived from the Python models; with ``--check`` only says what is stale."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from generation.cli_page import write_cli_page
from generation.command_text import write_command_text
from generation.errors_page import write_errors_page
from generation.node_script import run_node
from generation.protocol_page import write_protocol_page
from generation.recipe import write_recipe
from generation.rest import write_rest
from generation.rest_page import write_rest_page
from generation.settings_page import write_settings_page
from generation.settings_text import write_settings_text
from generation.shortcuts_page import write_shortcuts_page
from generation.traits_page import write_traits_page
from generation.wire import write_wire

ROOT: Final = Path(__file__).resolve().parent.parent

GENERATED: Final[dict[str, Callable[[], str]]] = {
    "src/generated/wire.ts": write_wire,
    "src/generated/rest.ts": write_rest,
    "src/generated/settingsText.ts": write_settings_text,
    "src/generated/commandText.ts": write_command_text,
    "docs/reference/cli.md": write_cli_page,
    "docs/reference/errors.md": write_errors_page,
    "docs/reference/protocol.md": write_protocol_page,
    "docs/reference/rest.md": write_rest_page,
    "docs/reference/settings.md": write_settings_page,
    "docs/reference/shortcuts.md": write_shortcuts_page,
    "docs/reference/traits.md": write_traits_page,
    "recipe/meta.yaml": write_recipe,
}


def prettier(text: str, path: str) -> str:
    """The text in the house's form for files at ``path``."""
    script = ROOT / "node_modules" / "prettier" / "bin" / "prettier.cjs"
    if not script.exists():
        sys.exit("prettier is not installed. Run `jlpm install` (or `make install`) first.")
    return run_node(script, "--stdin-filepath", path, text=text)


def main() -> int:
    """Write the files, or compare them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    check: bool = parser.parse_args().check
    stale = []
    for path, write in GENERATED.items():
        text = prettier(write(), path)
        target = ROOT / path
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path} is stale; run `make generate`" if check else f"wrote {path}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
