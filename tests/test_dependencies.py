"""What the package imports is declared, with the oldest version that is tested."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# What the kernel that is looked into has, and a part of pydantic.
NOT_OURS = {"cloudpickle", "hdsp_agent", "ipykernel", "numpy", "pydantic_core", "sqlalchemy"}


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in it and is no expression."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def imported() -> set[str]:
    """The first parts of all that is imported and not of Python itself."""
    names: set[str] = set()
    for file in (ROOT / "hdsp_agent").rglob("*.py"):
        for node in statements(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - NOT_OURS


def test_what_is_imported_is_declared() -> None:
    lines = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    distributions = packages_distributions()
    undeclared = [
        name for name in sorted(imported()) if declared.isdisjoint(map(canonicalize_name, distributions.get(name, [])))
    ]
    assert undeclared == []


def test_the_oldest_versions_can_be_written() -> None:
    lines = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "oldest_versions.py")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    pinned = {canonicalize_name(Requirement(line).name) for line in lines if "==" in line}
    assert {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]} <= pinned
