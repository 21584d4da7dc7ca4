"""Programs that Python code starts by itself. Not a sandbox: it finds what the code names, and no more."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Container, Iterator, Sequence
from typing import Final

from ....messages import ApprovalFlag
from ._literals import Text, constants, dotted, imported_names, runs_hidden_text, text_of

__all__ = ["flags_in_text", "programs_in"]

_STARTS: Final = re.compile(
    r"(?:subprocess|pexpect|ptyprocess|plumbum|pty|fabric|asyncio\.subprocess)(?:\..*)?"
    r"|(?:os|posix|nt)\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile|fork|forkpty)"
    r"|(?:sh)\..+|.*\.(?:create_subprocess_exec|create_subprocess_shell|subprocess_exec|subprocess_shell|Popen|check_output|check_call|getstatusoutput)"
)
_MODULES: Final = frozenset({"subprocess", "pexpect", "ptyprocess", "plumbum", "pty", "fabric", "sh"})
_HAVE_STARTERS: Final = frozenset({"asyncio", "builtins", "ctypes", "importlib", "nt", "os", "posix"}) | _MODULES
_GETS_TEXT: Final = re.compile(
    r"(?:os|posix)\.(?:system|popen)|.*\.(?:getoutput|getstatusoutput|create_subprocess_shell|subprocess_shell)"
    r"|pexpect\.(?:spawn|run|runu|popen_spawn)"
)
_GETS_WORDS_OR_TEXT: Final = re.compile(
    r"subprocess\.(?:run|call|check_call|check_output|Popen)|.*\.(?:Popen|check_call|check_output)|pty\.spawn"
)
_GETS_WORDS: Final = re.compile(r".*\.(?:create_subprocess_exec|subprocess_exec)")
_EXECS: Final = re.compile(r"(?:os|posix)\.(?P<kind>exec|spawn|posix_spawn)(?P<form>[lv]?)p?e?")
_NAMED: Final = re.compile(
    r"\b(?:subprocess|pexpect|ptyprocess|plumbum|pty\.spawn|os\.(?:system|popen|exec[lv]|spawn[lv]|posix_spawn|startfile)"
    r"|create_subprocess_(?:exec|shell)|Popen)"
)
_PIP: Final = frozenset({"pip.main", "pip._internal.main", "pip._internal.cli.main.main"})
"""Where pip is called as a library: what it is given is what it would be given in a terminal."""
_REMOVES: Final = re.compile(r"\brmtree\b")


def flags_in_text(code: str) -> Iterator[ApprovalFlag]:
    """What code names that cannot be read as Python."""
    if _NAMED.search(code):
        yield "runs_programs"
    if _REMOVES.search(code):
        yield "deletes_recursively"


def programs_in(tree: ast.AST, besides: Container[ast.AST]) -> tuple[set[ApprovalFlag], list[str]]:
    """What the code does with programs, besides these calls, and the commands that it writes out."""
    names = imported_names(tree)
    known = constants(tree)
    flags: set[ApprovalFlag] = set()
    commands: list[str] = []
    for node in ast.walk(tree):
        flags.update(_flags_of(node, names))
        if isinstance(node, ast.Call) and node not in besides:
            if runs_hidden_text(node, names, known):
                flags.add("runs_programs")
            command = _command(node, dotted(node.func, names), known)
            if command is not None:
                flags.add("runs_programs")
                commands += [command] if command.strip() else []
    return flags, commands


def _flags_of(node: ast.AST, names: dict[str, str]) -> Iterator[ApprovalFlag]:
    match node:
        case ast.Import(names=aliases):
            if any(each.name.partition(".")[0] in _MODULES for each in aliases):
                yield "runs_programs"
        case ast.ImportFrom(module=str(module), names=aliases, level=0):
            if any(_starts(f"{module}.{each.name}") for each in aliases):
                yield "runs_programs"
            if any(each.name == "rmtree" for each in aliases):
                yield "deletes_recursively"
        case ast.Name(ctx=ast.Load()) | ast.Attribute() | ast.Call() | ast.Subscript():
            whole = dotted(node, names)
            if _starts(whole) and whole != "fabric":
                yield "runs_programs"
            if whole.endswith(".rmtree"):
                yield "deletes_recursively"
            if (
                isinstance(node, ast.Call)
                and whole == ""
                and (_hides_a_module(node, names) or _hides_a_function(node, names))
            ):
                yield "runs_programs"
        case _:
            pass


def _starts(name: str) -> bool:
    return _STARTS.fullmatch(name) is not None


def _hides_a_module(node: ast.Call, names: dict[str, str]) -> bool:
    """Whether it imports a module that only the run knows by name."""
    return dotted(node.func, names) == "__import__" and bool(node.args) and not text_of(node.args[0]).whole


def _hides_a_function(node: ast.Call, names: dict[str, str]) -> bool:
    """Whether it takes from such a module what only the run knows by name."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[module, attr, *_]):
            return dotted(module, names) in _HAVE_STARTERS and not text_of(attr).whole
        case _:
            return False


def _command(node: ast.Call, name: str, known: dict[str, str]) -> str | None:
    """The command that a call starts, as far as it is written out; None where the call starts none."""
    first = node.args[0] if node.args else next((each.value for each in node.keywords if each.arg in _FIRST), None)
    execs = _EXECS.fullmatch(name)
    if execs is not None:
        return _exec(node.args[1:] if execs["kind"] == "spawn" else node.args, execs["form"], known)
    if first is None:
        return None
    if _GETS_TEXT.fullmatch(name) or (name.endswith(".system") and len(node.args) == 1):
        return text_of(first, known).text
    if name in _PIP:
        given = first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
        return _words([ast.Constant("pip"), *given], known)
    if _GETS_WORDS_OR_TEXT.fullmatch(name) or _looks_like_subprocess(node, name, first):
        return _words(first.elts, known) if isinstance(first, (ast.List, ast.Tuple)) else text_of(first, known).text
    if _GETS_WORDS.fullmatch(name):
        return _words(node.args, known)
    if name.startswith("sh."):
        return _words([ast.Constant(name.removeprefix("sh.").replace(".", " ")), *node.args], known)
    return None


_FIRST: Final = frozenset({"args", "cmd", "command"})


def _looks_like_subprocess(node: ast.Call, name: str, first: ast.expr) -> bool:
    """Whether it is ``sp.run(["git", "log"])``, where another cell says what ``sp`` is."""
    if name.rpartition(".")[2] not in ("run", "call"):
        return False
    if any(each.arg == "shell" and isinstance(each.value, ast.Constant) and each.value.value for each in node.keywords):
        return True
    return isinstance(first, ast.List) and bool(first.elts) and text_of(first.elts[0]).whole


def _exec(arguments: Sequence[ast.expr], form: str, known: dict[str, str]) -> str:
    if not arguments:
        return ""
    program, rest = arguments[0], list(arguments[1:])
    if form != "l" and rest:
        rest = list(rest[0].elts) if isinstance(rest[0], (ast.List, ast.Tuple)) else [rest[0]]
    # The first of these is the name that the program is told of itself.
    return _words([program, *rest[1:]], known)


def _words(items: Sequence[ast.expr], known: dict[str, str]) -> str:
    return " ".join(_quoted(text_of(item, known)) for item in items)


def _quoted(text: Text) -> str:
    return shlex.quote(text.text) if text.whole else text.text
