"""Check what import-linter cannot say: private modules stay within their package, names are unique, nothing is circular.

A module whose name begins with an underscore belongs to the top-level package it is in; others import from that package.
A public class is defined once in all of ``hdsp_agent``, so that a search finds it. Imports for types count as imports: modules
that need each other's types are one module in two files.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = ROOT / "hdsp_agent"


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    trees = {_name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    imports = {name: frozenset(_imports(name, tree, trees)) for name, tree in trees.items()}
    problems = [*_foreign(imports), *_defined_twice(trees), *_circles(imports)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _name_of(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def _imports(name: str, tree: ast.Module, modules: Mapping[str, object]) -> Iterator[str]:
    """Our own modules that a module imports, whether when it is loaded, later, or for types alone."""
    is_package = (PACKAGE.parent / Path(*name.split("."))).is_dir()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        above = name.split(".")[: None if is_package else -1]
        base = above[: len(above) - node.level + 1] if node.level else []
        target = ".".join([*base, *(node.module or "").split(".")]).strip(".")
        for alias in node.names:
            below = f"{target}.{alias.name}"
            if below in modules:
                yield below
            elif target in modules:
                yield target


def _foreign(imports: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for name, targets in imports.items():
        for target in sorted(targets):
            parts = target.split(".")
            private = next((at for at, part in enumerate(parts) if part.startswith("_")), None)
            if private is not None and private > 1 and name.split(".")[:2] != parts[:2]:
                yield f"{name} imports {target}, which is private to {'.'.join(parts[:2])}"


def _defined_twice(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    places = defaultdict(list)
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    for kind, names in sorted(places.items()):
        if len(names) > 1:
            yield f"The class {kind} is defined in {' and '.join(names)}"


def _circles(imports: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Sets of modules that import each other, however far around, without the packages that only pass names on."""
    for circle in _components(imports):
        if len(circle) > 1:
            yield f"{len(circle)} modules import each other: {', '.join(sorted(circle))}"


def _components(imports: Mapping[str, frozenset[str]]) -> Iterator[list[str]]:
    """Tarjan's strongly connected components, without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in imports:
        if root in index:
            continue
        work = [(root, iter(sorted(imports[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(imports[target]))))
                    break
                if target in on_stack:
                    low[name] = min(low[name], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    component: list[str] = []
                    while not component or component[-1] != name:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    yield component


if __name__ == "__main__":
    sys.exit(main())
