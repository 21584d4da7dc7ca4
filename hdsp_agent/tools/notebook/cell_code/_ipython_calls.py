"""What code asks of IPython itself: by its signs, which IPython turns into such calls, or written out."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from ._ipython_modules import takes_from_ipython
from ._ipython_shell import ShellNames, ShellObjects, parents_of
from ._literals import Text, imported_names, text_of

__all__ = ["IPythonCall", "ipython_calls"]

_SHELL: Final = frozenset({"getoutput", "system", "system_piped", "system_raw"})
_CODE: Final = frozenset({"ex", "ev", "run_cell", "run_cell_async"})
_MOST_AROUND: Final = 50
_MAGICS: Final = {"run_line_magic": ("magic_name", "line"), "run_cell_magic": ("magic_name", "line", "cell")}
_REACHES_FURTHER: Final = _SHELL | _CODE | frozenset(_MAGICS) | {
    "alias_manager", "define_alias", "kernel", "find_cell_magic", "find_line_magic", "find_magic", "input_transformer_manager", "input_transformers_cleanup",
    "input_transformers_post", "magic", "magics_manager", "prefilter_manager", "run_code", "safe_execfile", "safe_execfile_ipy", "safe_run_module",
}  # fmt: skip
"""What can run text or magics, or change what they mean."""


@dataclass(frozen=True)
class IPythonCall:
    """One call, with those of its arguments that are texts. ``unknown`` is a use that is not understood."""

    kind: Literal["shell", "code", "line_magic", "cell_magic", "unknown"]
    arguments: tuple[Text, ...] = ()


def ipython_calls(tree: ast.AST, names: ShellNames) -> tuple[list[IPythonCall], set[ast.AST]]:
    """The calls in the order of the code, and the nodes that they are. ``names`` grow."""
    parents = parents_of(tree)
    shell = ShellObjects(tree, names, parents)
    imported = imported_names(tree)
    found: list[tuple[tuple[int, int], IPythonCall]] = []
    called: set[ast.AST] = set()
    for node in ast.walk(tree):
        call = _call(node, shell) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and call is not None:
            found.append(((node.lineno, node.col_offset), call))
            called |= {node, node.func}
            if _skipped(node, shell):
                found.append(((node.lineno, node.col_offset), IPythonCall("unknown")))
    shown: set[ast.AST] = set()
    for node in ast.walk(tree):
        if node not in called and (
            _reaches_further(node, shell)
            or (shell.is_strange(node) and not _is_owner(parents.get(node), called))
            or takes_from_ipython(node, imported, parents)
        ):
            words = _texts_around(node, parents, shown)
            found.append(((getattr(node, "lineno", 0), getattr(node, "col_offset", 0)), IPythonCall("unknown", words)))
    calls = [call for _, call in sorted(found, key=lambda one: one[0])]
    return (calls if shell.all_found else [*calls, IPythonCall("unknown")]), called


def _texts_around(node: ast.AST, parents: dict[ast.AST, ast.AST], shown: set[ast.AST]) -> tuple[Text, ...]:
    """The texts in the whole expression, once: one may be the command."""
    for _ in range(_MOST_AROUND):
        parent = parents.get(node)
        if not isinstance(parent, (ast.expr, ast.keyword)):
            break
        node = parent
    if node in shown:
        return ()
    shown.add(node)
    texts = (text_of(each) for each in ast.walk(node) if isinstance(each, ast.Constant))
    return tuple(islice((text for text in texts if text.whole and text.text), _MOST_AROUND))


def _reaches_further(node: ast.AST, shell: ShellObjects) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in _MAGICS or (node.attr in _REACHES_FURTHER and shell.kind(node.value) is not None)


def _is_owner(parent: ast.AST | None, called: set[ast.AST]) -> bool:
    return isinstance(parent, ast.Attribute) and parent in called


def _skipped(node: ast.Call, shell: ShellObjects) -> int:
    """How many arguments come first: a method of the class gets the shell itself."""
    return 1 if node.args and shell.kind(node.args[0]) in ("known", "guessed") else 0


def _call(node: ast.Call, shell: ShellObjects) -> IPythonCall | None:
    if isinstance(node.func, ast.Name):
        is_lookup = node.func.id == "getattr" and bool(node.args) and shell.kind(node.args[0]) == "guessed"
        return IPythonCall("unknown") if is_lookup else None
    if not isinstance(node.func, ast.Attribute):
        return None
    attr = node.func.attr
    skipped = _skipped(node, shell)
    if attr in _MAGICS:
        kind: Literal["line_magic", "cell_magic"] = "line_magic" if attr == "run_line_magic" else "cell_magic"
        return IPythonCall(kind, tuple(_argument(node, skipped + at, name) for at, name in enumerate(_MAGICS[attr])))
    if shell.kind(node.func.value) not in ("known", "guessed"):
        return None
    if attr in _SHELL:
        return IPythonCall("shell", (_argument(node, skipped, "cmd"),))
    if attr in _CODE:
        return IPythonCall("code", (_argument(node, skipped, "raw_cell"),))
    if attr == "magic":
        whole = _argument(node, skipped, "arg_s")
        name, _, line = whole.text.lstrip("%").partition(" ")
        return IPythonCall("line_magic", (Text(name, whole.whole), Text(line, whole.whole)))
    return None


def _argument(node: ast.Call, at: int, name: str) -> Text:
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return text_of(None)
    if at < len(node.args):
        return text_of(node.args[at])
    return text_of(next((each.value for each in node.keywords if each.arg == name), None))
