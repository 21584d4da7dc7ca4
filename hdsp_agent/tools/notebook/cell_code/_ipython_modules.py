"""What code takes from the modules of IPython and its kernel: a closed list of it runs no text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from ._literals import dotted

__all__ = ["takes_from_ipython"]

_MODULES: Final = ("IPython", "ipykernel")
_HARMLESS: Final = (
    "IPython.__file__", "IPython.__version__", "IPython.core.completer", "IPython.core.debugger", "IPython.core.display", "IPython.core.display_functions",
    "IPython.core.error", "IPython.core.formatters", "IPython.core.getipython", "IPython.core.interactiveshell.InteractiveShell", "IPython.core.magic",
    "IPython.core.pylabtools", "IPython.core.ultratb", "IPython.display", "IPython.get_ipython", "IPython.lib.display", "IPython.lib.pretty", "IPython.paths",
    "IPython.release", "IPython.sys_info", "IPython.utils.capture", "IPython.utils.io", "IPython.version_info", "ipykernel.__version__", "ipykernel.comm",
    "ipykernel.get_connection_file", "ipykernel.get_connection_info",
)  # fmt: skip
_ANYWHERE: Final = frozenset(
    {"ExecutionMagics", "IPKernelApp", "OSMagics", "PackagingMagics", "ScriptMagics", "TerminalIPythonApp", "do_execute", "embed_kernel", "run_cell", "run_cell_async",
     "start_ipython"}
)  # fmt: skip
"""They start another IPython, or run a cell, whoever owns them."""


def takes_from_ipython(node: ast.AST, names: Mapping[str, str], parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether this names something of IPython that may run text."""
    match node:
        case ast.Import(names=aliases):
            return any(each.name not in _MODULES and not _is_harmless(each.name) for each in aliases)
        case ast.ImportFrom(module=str(module), names=aliases, level=0):
            return any(each.name in _ANYWHERE or not _is_harmless(f"{module}.{each.name}") for each in aliases)
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _ANYWHERE:
            return True
        case ast.Name(ctx=ast.Load()) | ast.Attribute() | ast.Call() | ast.Subscript():
            return _is_taken(node, names, parents)
        case _:
            return False


def _is_taken(node: ast.expr, names: Mapping[str, str], parents: Mapping[ast.AST, ast.AST]) -> bool:
    name = dotted(node, names)
    if _is_harmless(name):
        return False
    parent = parents.get(node)
    match parent:
        case ast.Expr() | ast.FormattedValue():
            return name not in _MODULES
        case ast.Call(func=ast.Name(id="print" | "dir" | "hasattr" | "repr" | "str")):
            return name not in _MODULES
        case ast.Attribute() | ast.Call():
            # The whole is looked at by itself.
            whole = dotted(parent, names)
            is_on_the_way = any(one == name or one.startswith(f"{name}.") for one in (*_HARMLESS, *_MODULES))
            return not (is_on_the_way and whole.startswith(f"{name}."))
        case _:
            return True


def _is_harmless(name: str) -> bool:
    if name.partition(".")[0] not in _MODULES:
        return True
    return any(name == one or name.startswith(f"{one}.") for one in _HARMLESS)
