"""The small defects that are planted: a comparison turned round, a condition dropped, a constant that is another."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeGuard

__all__ = ["Mutant", "mutants_of"]


_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Mult: ast.FloorDiv,
}  # fmt: skip
_TABLES: Final = (ast.Set, ast.Tuple, ast.List, ast.Compare)
_SKIPPED_NAMES: Final = frozenset({"__all__"})


@dataclass(frozen=True)
class Mutant:
    """One defect. ``name`` says where and what, and stays the same when lines move."""

    name: str
    line: int
    plant: Callable[[], None]
    """Changes the tree it was found in."""


def mutants_of(source: str, file: str) -> tuple[ast.Module, list[Mutant]]:
    """The module, and all its mutants; planting one changes the module."""
    module = ast.parse(source)
    counted: Counter[str] = Counter()
    found: list[Mutant] = []
    for place, node, parent in _nodes(module, "", None):
        for before, after, plant in _changes(node, parent):
            name = f"{file}::{place}: {before}  =>  {after}"
            counted[name] += 1
            if counted[name] > 1:
                name = f"{name}  (#{counted[name]})"
            found.append(Mutant(name, getattr(node, "lineno", 0), plant))
    return module, found


def _nodes(node: ast.AST, place: str, parent: ast.AST | None) -> Iterator[tuple[str, ast.AST, ast.AST | None]]:
    yield place or "module", node, parent
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_skipped(child):
                inner = f"{place}.{child.name}".lstrip(".") if isinstance(child, _NAMED) else place
                yield from _nodes(child, inner, node)


_NAMED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_skipped(node: ast.AST) -> bool:
    """What says nothing about what the module does: its imports, its docstrings, its list of names, its types."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()) | ast.Assert():
            return True
        case ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in _SKIPPED_NAMES
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name in _SKIPPED_NAMES
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case _:
            return False


_Change = tuple[str, str, Callable[[], None]]


def _changes(node: ast.AST, parent: ast.AST | None) -> Iterator[_Change]:
    match node:
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield _set(node, "op", other)
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS and not isinstance(node.left, ast.Constant):
            yield _set(node, "op", _OPERATORS[type(operator)]())
        case ast.Constant():
            yield from _constants(node, parent)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield _set(node, "value", ast.Constant(None))
        case _:
            pass
    yield from _conditions(node)
    yield from _statements(node)


def _comparisons(node: ast.Compare) -> Iterator[_Change]:
    for number, operator in enumerate(node.ops):
        operators: list[ast.cmpop] = [*node.ops[:number], _COMPARISONS[type(operator)](), *node.ops[number + 1 :]]
        yield _set(node, "ops", operators)


def _constants(node: ast.Constant, parent: ast.AST | None) -> Iterator[_Change]:
    match node.value:
        case bool():
            yield _set(node, "value", not node.value)
        case int():
            yield _set(node, "value", node.value + 1)
        # Words that are compared or looked up decide; those that are said do not.
        case str() if isinstance(parent, _TABLES) or (isinstance(parent, ast.Dict) and node in parent.keys):
            # Another word from its first letter on: what is compared may be an abbreviation.
            yield _set(node, "value", f"XX{node.value}XX")
        case _:
            return


def _conditions(node: ast.AST) -> Iterator[_Change]:
    """A condition turned round, where its own parts are not already."""
    tests: list[tuple[ast.AST, str, ast.expr]] = []
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        tests.append((node, "test", node.test))
    if isinstance(node, ast.Return) and isinstance(node.value, ast.UnaryOp):
        tests.append((node, "value", node.value))
    for owner, name, test in tests:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield _set(owner, name, test.operand)
        elif not isinstance(test, ast.Compare | ast.Constant):
            yield _set(owner, name, ast.UnaryOp(ast.Not(), test))
    if isinstance(node, ast.comprehension):
        for number, test in enumerate(node.ifs):
            yield _set(node, "ifs", [*node.ifs[:number], ast.UnaryOp(ast.Not(), test), *node.ifs[number + 1 :]])
    if isinstance(node, ast.BoolOp):
        for number, value in enumerate(node.values):
            if not isinstance(value, ast.Compare | ast.BoolOp):
                turned = value.operand if _is_not(value) else ast.UnaryOp(ast.Not(), value)
                yield _set(node, "values", [*node.values[:number], turned, *node.values[number + 1 :]])


def _is_not(node: ast.expr) -> TypeGuard[ast.UnaryOp]:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _statements(node: ast.AST) -> Iterator[_Change]:
    """A step left out: an objection not raised, a check not made."""
    for name, body in ast.iter_fields(node):
        if name not in ("body", "orelse", "finalbody") or not isinstance(body, list):
            continue
        for number, statement in enumerate(body):
            left_out = isinstance(statement, ast.Raise | ast.Continue | ast.Break | ast.AugAssign) or (
                isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant | ast.Yield)
            )
            if left_out:
                yield (_text(statement), "pass", _setter(node, name, [*body[:number], ast.Pass(), *body[number + 1 :]]))


def _set(node: ast.AST, name: str, value: object) -> _Change:
    before = _text(node)
    old = getattr(node, name)
    setattr(node, name, value)
    after = _text(node)
    setattr(node, name, old)
    return before, after, _setter(node, name, value)


def _setter(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, ast.comprehension):
        return ast.unparse(node).strip()
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
