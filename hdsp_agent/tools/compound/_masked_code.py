"""Code with what it computes left out: a small model that sees wrong code copies it, one that sees a gap fills it."""

from __future__ import annotations

import ast

from ._code import parsed_or_empty

__all__ = ["has_gaps", "with_blanks"]


def with_blanks(code: str) -> str | None:
    """The code with ``...`` for the bodies of functions and for computed values; None if nothing in it is computed."""
    tree = parsed_or_empty(code)
    lines = code.split("\n")
    found = False
    for node in reversed(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            begin = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if not begin or begin[0].lineno == node.lineno:
                continue
            first, last = begin[0].lineno - 1, (node.end_lineno or node.lineno)
            indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
            lines[first:last] = [f"{indent}..."]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _is_computed(node.value):
            value = node.value
            last = value.end_lineno or value.lineno
            lines[value.lineno - 1 : last] = [lines[value.lineno - 1][: value.col_offset] + "..."]
        else:
            continue
        found = True
    return "\n".join(lines) if found else None


def _is_computed(value: ast.expr) -> bool:
    return any(
        isinstance(node, (ast.BinOp, ast.Call, ast.Subscript, ast.Compare, ast.IfExp)) for node in ast.walk(value)
    )


def has_gaps(code: str) -> bool:
    """Whether it says ``...`` where code should be."""
    values = [node.value for node in ast.walk(parsed_or_empty(code)) if isinstance(node, (ast.Expr, ast.Assign))]
    return any(isinstance(value, ast.Constant) and value.value is ... for value in values)
