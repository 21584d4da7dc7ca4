"""What must hold of a change, whatever was asked for. Each tells what is wrong, or nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from types import EllipsisType
from typing import Final

from .._changed_cells import FailedRun
from ._code import cell_tree, made_names, parsed, parsed_or_empty, wanted_names

__all__ = [
    "calls_in",
    "does_nothing",
    "fix_problem",
    "has_all_of",
    "is_other_code",
    "lost_names",
    "made_below",
    "mentions",
    "orphaned_name",
    "same_meaning",
    "still_has",
]

_LEAST_KEPT: Final = 1 / 3
_LEAST_THINGS: Final = 3
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert, ast.Delete, ast.Raise)


def does_nothing(code: str) -> bool:
    """Whether it is but comments and texts."""
    tree = cell_tree(code)
    return tree is not None and all(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, (str, EllipsisType))
        for node in tree.body
    )


def same_meaning(code: str, other: str) -> bool:
    """Whether both are the same Python, but for how it is laid out and its comments."""
    trees = [parsed(one) for one in (code, other)]
    return code.strip() == other.strip() or (None not in trees and ast.dump(trees[0]) == ast.dump(trees[1]))  # type: ignore[arg-type]  # both are there


def made_below(old: str, new: str, above: Collection[str], below: Collection[str]) -> str | None:
    """A name that the new code uses anew and that only cells below make."""
    there = {name for source in above for name in made_names(source)}
    later = {name for source in below for name in made_names(source)} - there
    return next((name for name in wanted_names(new) if name in later and name not in wanted_names(old)), None)


def lost_names(old: str, new: str, others: Sequence[str]) -> list[str]:
    """Names that the old code makes, the new does not, and other cells use."""
    used = {name for source in others for name in wanted_names(source)}
    made = {name for source in others for name in made_names(source)}
    return sorted((made_names(old) - made_names(new)) & used - made)


def orphaned_name(old: str, new: str, above: Sequence[str]) -> str | None:
    """A name that the old code made and the new one uses, and that nothing makes any more."""
    made = made_names(old) - {name for source in above for name in made_names(source)}
    return next((name for name in wanted_names(new) if name in made), None)


def has_all_of(code: str, other: str) -> bool:
    """Whether the code holds all that the other one does, or defines a function or class that the other one defines."""
    trees = parsed_or_empty(code), parsed_or_empty(other)
    mine, theirs = (set(_things(tree)) for tree in trees)
    definitions = [{node.name for node in tree.body if isinstance(node, _DEFINITIONS)} for tree in trees]
    return (len(theirs) >= _LEAST_THINGS and theirs <= mine) or bool(definitions[0] & definitions[1])


def is_other_code(old: str, new: str) -> bool:
    """Whether the new code has next to nothing of the old, and so is no change of it."""
    before = set(_things(parsed_or_empty(old)))
    kept = before & set(_things(parsed_or_empty(new)))
    return bool(before) and len(kept) < _LEAST_KEPT * len(before)


def fix_problem(old: str, new: str, failure: FailedRun) -> str | None:
    """What a fix of a cell that failed must not leave out."""
    if _handlers(new) > _handlers(old):
        return "Do not hide the error: write code that does not fail."
    missing = [name for name in calls_in(old, failure.line) if name not in calls_in(new) and name not in failure.evalue]
    if missing:
        return f"The cell has to call {' and '.join(missing)} still."
    used = [name for name in _used_at(old, failure.line) if name not in failure.evalue]
    if used and not any(name in wanted_names(new) or name in made_names(new) for name in used):
        return f"The cell has to work with {' or '.join(used)} still."
    lost = made_names(old) - made_names(new)
    return f"The cell has to make {' and '.join(sorted(lost))} still." if lost else None


def calls_in(code: str, line: int | None = None) -> list[str]:
    """The names of what the code calls, or of what the statement of this line does, in their order."""
    calls = [node.func for node in ast.walk(_statement_at(code, line)) if isinstance(node, ast.Call)]
    names = [func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls]
    return [name for name in dict.fromkeys(names) if name]


def mentions(code: str, name: str) -> bool:
    """Whether the name stands anywhere in it, be it within a text or a comment."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code) is not None


def still_has(code: str, name: str) -> bool:
    """Whether the code has a name, or a text that is just this."""
    for node in ast.walk(parsed_or_empty(code)):
        match node:
            case ast.Name(id=found) | ast.FunctionDef(name=found) | ast.ClassDef(name=found) | ast.arg(arg=found):
                pass
            case ast.Constant(value=str(found)):
                pass
            case _:
                continue
        if found == name:
            return True
    return False


def _statement_at(code: str, line: int | None) -> ast.AST:
    """The statement of this line, or all of the code."""
    tree = parsed_or_empty(code)
    around = [node for node in ast.walk(tree) if isinstance(node, _SIMPLE) and line is not None and _spans(node, line)]
    return around[-1] if around else tree


def _used_at(code: str, line: int | None) -> list[str]:
    """The names whose values the statement uses, but for what it calls."""
    tree = _statement_at(code, line)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called
    ]
    return list(dict.fromkeys(names))


def _handlers(code: str) -> int:
    return sum(isinstance(node, (ast.Try, ast.With)) and _hides(node) for node in ast.walk(parsed_or_empty(code)))


def _hides(node: ast.Try | ast.With) -> bool:
    """Whether errors within it may go unseen."""
    return isinstance(node, ast.Try) or any("suppress" in ast.dump(item.context_expr) for item in node.items)


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _things(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Constant(value=value) if value is not None:
                yield repr(value)
            case _:
                pass
