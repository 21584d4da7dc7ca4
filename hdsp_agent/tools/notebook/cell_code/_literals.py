"""Texts that Python code writes out, and what its names stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Text", "constants", "dotted", "imported_names", "runs_hidden_text", "text_of", "texts_that_run"]

_DEEPEST: Final = 8
_OPEN: Final = "{_}"
"""Stands in a text for what is known only when the code runs."""
_MODULE_GETTERS: Final = frozenset({"__import__", "importlib.import_module", "importlib.__import__"})
_RUN_HIDDEN: Final = frozenset({"compile", "eval", "exec"})
_RUN_TEXTS: Final = _RUN_HIDDEN | {"cProfile.run", "profile.run", "timeit.Timer", "timeit.repeat", "timeit.timeit"}
_FIRST: Final = frozenset({"source", "statement", "stmt"})


@dataclass(frozen=True)
class Text:
    """A text in the code. ``whole`` unless a part of it is known only when the code runs."""

    text: str
    whole: bool


def text_of(node: ast.expr | None, known: Mapping[str, str] | None = None, depth: int = 0) -> Text:
    """What an expression is as a text. ``known`` are names with their texts."""
    match node:
        case ast.Constant(value=str(value)):
            return Text(value, True)
        case ast.Constant(value=bytes(value)):
            return Text(value.decode("utf-8", "replace"), True)
        case ast.Name(id=name) if known is not None and name in known:
            return Text(known[name], True)
        case ast.JoinedStr(values=values):
            return _joined([text_of(value) for value in values])
        case ast.BinOp(left=left, op=ast.Add(), right=right) if depth < _DEEPEST:
            return _joined([text_of(left, known, depth + 1), text_of(right, known, depth + 1)])
        case ast.BinOp(left=left, op=ast.Mod()) if depth < _DEEPEST:
            return Text(text_of(left, known, depth + 1).text, False)
        case ast.Call(func=ast.Attribute(value=value, attr="format")) if depth < _DEEPEST:
            return Text(text_of(value, known, depth + 1).text, False)
        case _:
            return Text(_OPEN, False)


def constants(tree: ast.AST) -> dict[str, str]:
    """Names that the code gives just one value, which is a text."""
    found: dict[str, str] = {}
    several: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        if node.id in found:
            several.add(node.id)
        found.setdefault(node.id, "")
    values = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {name: value for name, value in values.items() if name not in several}


def imported_names(tree: ast.AST) -> dict[str, str]:
    """What names stand for by imports: ``sp`` for ``subprocess``, ``system`` for ``os.system``."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names.update((each.asname, each.name) for each in aliases if each.asname)
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                names.update((each.asname or each.name, f"{module}.{each.name}") for each in aliases)
            case _:
                pass
    return names


def dotted(node: ast.expr, names: Mapping[str, str], depth: int = 0) -> str:
    """The full name of what an expression stands for, such as ``os.system``; "" for what has none."""
    if depth >= _DEEPEST:
        return ""
    match node:
        case ast.Name(id=name):
            return names.get(name, name)
        case ast.Attribute(value=value, attr=attr):
            return f"{dotted(value, names, depth + 1)}.{attr}"
        case ast.Call(func=func, args=[module, *_]) if (
            text_of(module).whole and dotted(func, names, depth + 1) in _MODULE_GETTERS
        ):
            return text_of(module).text
        case ast.Call(func=ast.Name(id="getattr"), args=[value, attr, *_]) if text_of(attr).whole:
            return f"{dotted(value, names, depth + 1)}.{text_of(attr).text}"
        case ast.Subscript(
            value=ast.Attribute(value=value, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[value]),
            slice=attr,
        ) if text_of(attr).whole:
            return f"{dotted(value, names, depth + 1)}.{text_of(attr).text}"
        case ast.Subscript(value=value, slice=module) if (
            text_of(module).whole and dotted(value, names, depth + 1) == "sys.modules"
        ):
            return text_of(module).text
        case _:
            return ""


def texts_that_run(tree: ast.AST) -> list[str]:
    """The texts that the code writes out and has Python run."""
    names = imported_names(tree)
    known = constants(tree)
    texts = [
        text_of(_first(node), known)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and dotted(node.func, names).removeprefix("builtins.") in _RUN_TEXTS
    ]
    return [text.text for text in texts if text.whole]


def runs_hidden_text(node: ast.Call, names: Mapping[str, str], known: Mapping[str, str]) -> bool:
    """Whether Python runs a text there that is not written out."""
    first = _first(node)
    if dotted(node.func, names).removeprefix("builtins.") not in _RUN_HIDDEN or first is None:
        return False
    is_compiled = isinstance(first, ast.Call) and dotted(first.func, names).removeprefix("builtins.") == "compile"
    return not is_compiled and not text_of(first, known).whole


def _first(node: ast.Call) -> ast.expr | None:
    return node.args[0] if node.args else next((each.value for each in node.keywords if each.arg in _FIRST), None)


def _joined(parts: list[Text]) -> Text:
    return Text("".join(part.text for part in parts), all(part.whole for part in parts))
