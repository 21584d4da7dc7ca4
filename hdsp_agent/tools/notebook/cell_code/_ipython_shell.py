"""Which expressions are IPython's shell object, and what code does with it beside calling its methods."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from ._literals import text_of

__all__ = ["ShellNames", "ShellObjects", "parents_of"]

_CLASSES: Final = ("InteractiveShell", "TerminalInteractiveShell", "ZMQInteractiveShell")
_HARMLESS: Final = frozenset(
    {"__doc__", "__module__", "__name__", "__qualname__", "__version__", "ast_node_interactivity", "colors", "config", "display_formatter", "display_pub", "enable_gui",
     "enable_matplotlib", "enable_pylab", "events", "execution_count", "get_parent", "has_trait", "history_manager", "initialized", "mime_renderers", "push", "set_custom_exc", "set_next_input",
     "show_usage", "showsyntaxerror", "showtraceback", "user_global_ns", "user_module", "user_ns", "user_ns_hidden", "xmode"}
)  # fmt: skip
"""What shows or sets something, and gives nothing that runs text."""
_WAYS_BACK: Final = frozenset({"__self__", "parent", "shell"})
"""Where the parts of the shell keep the shell."""
_ONLY_LOOK: Final = frozenset({"bool", "callable", "dir", "hasattr", "id", "isinstance", "print", "repr", "str"})
_OUTPUT: Final = re.compile(r"_{1,3}|_\d+")
"""What an earlier cell gave."""
_DEEPEST: Final = 8
_MOST_ROUNDS: Final = 8

Kind = Literal["getter", "known", "guessed"]


@dataclass
class ShellNames:
    """Names for the shell; they grow while the texts of a cell are read."""

    known: set[str] = field(default_factory=lambda: set(_CLASSES))
    guessed: set[str] = field(default_factory=lambda: {"_ip", "ip", "ipy", "ipython", "shell"})
    """What another cell may have named it, or something else."""
    getters: set[str] = field(default_factory=lambda: {"get_ipython"})


class ShellObjects:
    """Which expressions of the code are the shell, and which uses of it are not understood."""

    def __init__(self, tree: ast.AST, names: ShellNames, parents: dict[ast.AST, ast.AST]) -> None:
        self._names = names
        self._parents = parents
        self._given = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        } | {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self._import(tree)
        self.all_found = any(not self._grow(tree) for _ in range(_MOST_ROUNDS))
        """False where names are given on and on."""

    def _import(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for each in node.names:
                    if each.asname and each.name == "get_ipython":
                        self._names.getters.add(each.asname)
                    elif each.asname and each.name in _CLASSES:
                        self._names.known.add(each.asname)

    def _grow(self, tree: ast.AST) -> bool:
        """Whether more names for it were found."""
        names = self._names
        before = len(names.known) + len(names.guessed) + len(names.getters)
        for target, value in _assignments(tree):
            kind = self.kind(value)
            if kind is not None:
                {"getter": names.getters, "known": names.known, "guessed": names.guessed}[kind].add(target)
        return len(names.known) + len(names.guessed) + len(names.getters) > before

    def kind(self, node: ast.AST, depth: int = 0) -> Kind | None:
        """What an expression is: the shell, something that may be the shell, or a function that gives it."""
        if depth > _DEEPEST:
            return "known"
        match node:
            case ast.Subscript(value=ast.Name(id="Out" | "_oh")):
                return "guessed"
            case ast.Name(id=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                return self._named(name, is_name=isinstance(node, ast.Name))
            case (
                ast.NamedExpr(value=value)
                | ast.Attribute(value=value, attr="__class__")
                | ast.Call(func=ast.Name(id="type"), args=[value])
            ):
                return self.kind(value, depth + 1)
            case ast.Attribute():
                return self._attribute(node, depth)
            case ast.Call(func=ast.Attribute(value=owner, attr="instance")) if (
                "Shell" in _last_name(owner) or self.kind(owner, depth + 1) == "known"
            ):
                return "known"
            case ast.Call(func=func) if self.kind(func, depth + 1) == "getter":
                return "known"
            case _:
                return None

    def _named(self, name: str, *, is_name: bool) -> Kind | None:
        if name in self._names.getters:
            return "getter"
        if name in self._names.known:
            return "known" if is_name else "guessed"
        return "guessed" if is_name and (name in self._names.guessed or _OUTPUT.fullmatch(name)) else None

    def _attribute(self, node: ast.Attribute, depth: int) -> Kind | None:
        if node.attr == "get_ipython":
            return "getter"
        if node.attr in _CLASSES:
            return "known"
        is_way_back = node.attr in _WAYS_BACK and isinstance(node.value, ast.Attribute)
        if is_way_back and isinstance(node.value, ast.Attribute) and self.kind(node.value.value, depth + 1) == "known":
            return "known"
        return "guessed" if node.attr in _WAYS_BACK or node.attr in self._names.known else None

    def is_strange(self, node: ast.AST) -> bool:
        """Whether this hands the shell on, or takes from it what is not known to be harmless."""
        if text_of(node if isinstance(node, ast.expr) else None).text == "get_ipython":
            return not self._only_looks(node)
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return False
        kind = self.kind(node)
        return kind in ("known", "getter") and not (self._is_followed(node) or self._only_looks(node))

    def _is_followed(self, node: ast.AST) -> bool:
        """Whether it stays in sight: in a name, in an expression that is looked at by itself, or in a harmless part."""
        parent = self._parents.get(node)
        match parent:
            case ast.Attribute(attr=attr):
                whole = self._parents.get(parent)
                is_instance = isinstance(whole, ast.Call) and whole.func is parent and self.kind(whole) == "known"
                return attr in _HARMLESS or self.kind(parent) == "known" or is_instance
            case ast.Call(func=ast.Name(id="getattr"), args=[first, ast.Constant(value=str(attr)), *_]):
                return first is node and attr in _HARMLESS
            case ast.Call(func=func):
                return (func is node and self.kind(node) == "getter") or self.kind(parent) == "known"
            case ast.Assign(targets=targets):
                is_member = isinstance(self._parents.get(parent), ast.ClassDef)
                return not is_member and all(isinstance(target, ast.Name) for target in targets)
            case ast.AnnAssign(target=ast.Name()) | ast.NamedExpr():
                return not isinstance(self._parents.get(parent), ast.ClassDef)
            case _:
                return False

    def _only_looks(self, node: ast.AST) -> bool:
        """Whether it is shown, or asked whether it is there."""
        parent = self._parents.get(node)
        match parent:
            case ast.Expr() | ast.FormattedValue() | ast.UnaryOp(op=ast.Not()):
                return True
            case ast.Compare(ops=[op]):
                is_text = isinstance(node, ast.Constant)
                return isinstance(op, (ast.Is, ast.IsNot)) or (is_text and isinstance(op, (ast.In, ast.NotIn)))
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                return test is node
            case ast.BoolOp():
                return self._only_looks(parent) and not isinstance(self._parents.get(parent), ast.Call)
            case ast.Call(func=ast.Name(id=name), args=args):
                return name in _ONLY_LOOK and name not in self._given and node in args
            case _:
                return False


def parents_of(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """What each node stands in."""
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


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
