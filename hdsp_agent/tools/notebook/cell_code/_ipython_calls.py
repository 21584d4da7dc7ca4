"""What code asks of IPython itself: by its signs, which IPython turns into such calls, or written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ._literals import Text, text_of

__all__ = ["IPythonCall", "ipython_calls"]

_SHELL: Final = frozenset({"getoutput", "system", "system_piped", "system_raw"})
_CODE: Final = frozenset({"ex", "ev", "run_cell", "run_cell_async"})
_MAGICS: Final = {"run_line_magic": ("magic_name", "line"), "run_cell_magic": ("magic_name", "line", "cell")}
_REACHES_FURTHER: Final = _SHELL | _CODE | frozenset(_MAGICS) | {
    "alias_manager", "define_alias", "find_cell_magic", "find_line_magic", "find_magic", "input_transformer_manager", "input_transformers_cleanup",
    "input_transformers_post", "magic", "magics_manager", "prefilter_manager", "run_code", "safe_execfile", "safe_execfile_ipy", "safe_run_module",
}  # fmt: skip
"""What can run text or magics, or change what they mean."""
_MOST_ROUNDS: Final = 4


@dataclass(frozen=True)
class IPythonCall:
    """One call, with those of its arguments that are texts. ``unknown`` is a use that is not understood."""

    kind: Literal["shell", "code", "line_magic", "cell_magic", "unknown"]
    arguments: tuple[Text, ...] = ()


def ipython_calls(tree: ast.AST, names: set[str]) -> tuple[list[IPythonCall], set[ast.AST]]:
    """The calls in the order of the code, and the nodes that they are. ``names`` are known for IPython's shell, and grow."""
    shell = _Shell(tree, names)
    found: list[tuple[tuple[int, int], IPythonCall]] = []
    called: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            call = shell.call(node)
            if call is not None:
                found.append(((node.lineno, node.col_offset), call))
                called |= {node, node.func}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in called and shell.reaches_further(node):
            found.append(((node.lineno, node.col_offset), IPythonCall("unknown")))
    return [call for _, call in sorted(found, key=lambda one: one[0])], called


class _Shell:
    """Which expressions are IPython's shell object."""

    def __init__(self, tree: ast.AST, names: set[str]) -> None:
        self._getters = {"get_ipython", *_other_names(tree)}
        self._names = names
        for _ in range(_MOST_ROUNDS):
            before = len(self._names)
            for target, value in _assignments(tree):
                if self._is_getter(value):
                    self._getters.add(target)
                elif self.is_it(value):
                    self._names.add(target)
            if len(self._names) == before:
                break

    def is_it(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._names
            case ast.NamedExpr(value=value):
                return self.is_it(value)
            case ast.Call(func=ast.Attribute(value=owner, attr="instance")):
                return "Shell" in _last_name(owner)
            case ast.Call(func=func):
                return self._is_getter(func)
            case ast.Attribute(attr=attr):
                return attr == "shell"
            case _:
                return False

    def _is_getter(self, node: ast.expr) -> bool:
        return _last_name(node) in self._getters

    def reaches_further(self, node: ast.Attribute) -> bool:
        return node.attr in _MAGICS or (node.attr in _REACHES_FURTHER and self.is_it(node.value))

    def call(self, node: ast.Call) -> IPythonCall | None:
        if isinstance(node.func, ast.Name):
            is_lookup = node.func.id == "getattr" and bool(node.args) and self.is_it(node.args[0])
            return IPythonCall("unknown") if is_lookup else None
        if not isinstance(node.func, ast.Attribute):
            return None
        attr = node.func.attr
        if attr in _MAGICS:
            kind: Literal["line_magic", "cell_magic"] = "line_magic" if attr == "run_line_magic" else "cell_magic"
            return IPythonCall(kind, tuple(_argument(node, at, name) for at, name in enumerate(_MAGICS[attr])))
        if not self.is_it(node.func.value):
            return None
        if attr in _SHELL:
            return IPythonCall("shell", (_argument(node, 0, "cmd"),))
        if attr in _CODE:
            return IPythonCall("code", (_argument(node, 0, "raw_cell"),))
        if attr == "magic":
            whole = _argument(node, 0, "arg_s")
            name, _, line = whole.text.lstrip("%").partition(" ")
            return IPythonCall("line_magic", (Text(name, whole.whole), Text(line, whole.whole)))
        return None


def _argument(node: ast.Call, at: int, name: str) -> Text:
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return text_of(None)
    if at < len(node.args):
        return text_of(node.args[at])
    return text_of(next((each.value for each in node.keywords if each.arg == name), None))


def _other_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (each.asname for each in node.names if each.name == "get_ipython" and each.asname)


def _assignments(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                yield name, value
            case _:
                pass


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
