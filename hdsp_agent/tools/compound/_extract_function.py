"""Code in which calls of a new function stand for what the function computes: the model writes it, the rest is reckoning."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from ._code import parsed_or_empty
from ._edit_check import same_meaning

__all__ = ["with_calls"]

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def with_calls(old: str, new: str) -> str | None:
    """The old code with calls of a function that only the new defines, behind its definition.

    None if the new code defines none, or the old computes nothing that the function does.
    """
    before, after = parsed_or_empty(old), parsed_or_empty(new)
    there = {node.name for node in before.body if isinstance(node, _FUNCTIONS)}
    for function in after.body:
        if not isinstance(function, ast.FunctionDef) or function.name in there:
            continue
        pattern = _computed(function)
        names = [one.arg for one in function.args.args]
        if pattern is None or not names:
            continue
        called = _replaced(old, before, function.name, pattern, names)
        if called is not None:
            imports = [node for node in before.body if isinstance(node, (ast.Import, ast.ImportFrom))]
            head = "\n".join(ast.unparse(node) for node in imports)
            rest = "\n".join(line for line in called.split("\n") if not line.startswith(("import ", "from ")))
            parts = [head, ast.unparse(function), rest.strip("\n")]
            return "\n\n".join(part for part in parts if part)
    return None


def _computed(function: ast.FunctionDef) -> ast.expr | None:
    """What a function returns that does nothing else."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if len(body) == 1 and isinstance(body[0], ast.Return):
        return body[0].value
    if len(body) == 2 and isinstance(body[0], ast.Assign) and isinstance(body[1], ast.Return):
        target, returned = body[0].targets[0], body[1].value
        if isinstance(target, ast.Name) and isinstance(returned, ast.Name) and target.id == returned.id:
            return body[0].value
    return None


def _replaced(code: str, tree: ast.Module, name: str, pattern: ast.expr, names: Collection[str]) -> str | None:
    lines = code.encode().split(b"\n")
    found = False
    places = sorted(
        _places(tree, pattern, names), key=lambda place: (place[0].lineno, place[0].col_offset), reverse=True
    )
    for node, given in places:
        if node.end_lineno != node.lineno or node.end_col_offset is None:
            continue
        call = f"{name}({', '.join(ast.unparse(given[one]) for one in names)})"
        line = lines[node.lineno - 1]
        begin, end = node.col_offset, node.end_col_offset
        while (
            line[begin - 1 : begin] == b"(" and line[end : end + 1] == b")" and line[begin - 2 : begin - 1] in b"= (,"
        ):
            begin, end = begin - 1, end + 1
        lines[node.lineno - 1] = line[:begin] + call.encode() + line[end:]
        found = True
    whole = b"\n".join(lines).decode()
    return whole if found and not same_meaning(whole, code) else None


def _places(node: ast.AST, pattern: ast.expr, names: Collection[str]) -> Iterator[tuple[ast.expr, dict[str, ast.expr]]]:
    """The outermost places that compute what the pattern does, with what stands there for each name."""
    given: dict[str, ast.expr] = {}
    if isinstance(node, ast.expr) and _fits(pattern, node, names, given) and set(given) == set(names):
        yield node, given
        return
    for child in ast.iter_child_nodes(node):
        yield from _places(child, pattern, names)


def _fits(pattern: ast.AST, node: ast.AST, names: Collection[str], given: dict[str, ast.expr]) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id in names:
        if not isinstance(node, ast.expr):
            return False
        known = given.setdefault(pattern.id, node)
        return ast.dump(known) == ast.dump(node)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.Constant) and isinstance(node, ast.Constant):
        return bool(pattern.value == node.value)
    for field in pattern._fields:
        mine, theirs = getattr(pattern, field, None), getattr(node, field, None)
        if field == "ctx":
            continue
        if isinstance(mine, list) and isinstance(theirs, list):
            if len(mine) != len(theirs) or not all(
                _fits(one, other, names, given) if isinstance(one, ast.AST) else one == other
                for one, other in zip(mine, theirs, strict=True)
            ):
                return False
        elif isinstance(mine, ast.AST) and isinstance(theirs, ast.AST):
            if not _fits(mine, theirs, names, given):
                return False
        elif mine != theirs:
            return False
    return True
