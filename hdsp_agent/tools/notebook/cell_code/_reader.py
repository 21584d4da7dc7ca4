"""Reads a cell as IPython will: by IPython's own transformation, and then by Python's grammar.

What cannot be read that way is looked through line by line, and whatever is in doubt there is asked about.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import shlex
import tokenize
import warnings
from collections.abc import Sequence
from typing import Final

from ._findings import CodeFindings
from ._ipython_calls import IPythonCall, ipython_calls
from ._ipython_shell import ShellNames
from ._literals import Text, texts_that_run
from ._magics import (
    GIVES_TO_SHELL,
    HARMLESS_ALONE,
    HARMLESS_CELL,
    HARMLESS_CONFIG,
    HARMLESS_LINE,
    HARMLESS_VARIABLES,
    KNOWN_LINE,
    PACKAGES,
    RUNS_CODE,
    SCRIPT_PROGRAMS,
    SETS_VARIABLES,
    SHELL_ALIASES,
    WRITES_CELL,
)
from ._programs import flags_in_text, programs_in

__all__ = ["read_cell"]

_DEEPEST: Final = 6
_LONGEST: Final = 50_000
"""Python's own parser holds the interpreter while it works, a second for some megabytes."""
_MOST_TRANSFORMED: Final = 150_000
"""IPython reads the whole cell anew for each of its signs."""
_MOST_LINES: Final = 2_000
_MOST_WORDS: Final = 2_000
_NAME: Final = "<cell>"
_SIGN: Final = re.compile(r"^[ \t]*[!%?,;/]|=[ \t]*[!%]|\?[ \t]*$", re.MULTILINE)
_HELP_AT_END: Final = re.compile(r"\?[ \t]*(?:#.*)?$", re.MULTILINE)
_LONG_NAME: Final = re.compile(r"[\w.*]{400}")
_LONG_GAP: Final = re.compile(r"\S[ \t\f]{80}")
_ODD_LINES: Final = re.compile("[\x1c-\x1e\x85\u2028\u2029]")
"""IPython takes these for ends of lines, and Python does not."""
_AUTOMAGIC: Final = re.compile(r"\s*([\w.*]+)\s*(.*)", re.DOTALL)
_PROMPT: Final = re.compile(r"[ \t]*(?:>>> ?|\.\.\.:? ?|In \[\d+\]: )?[ \t]*")
_SHELL_SIGN: Final = re.compile(r"(?:^|[=:;,(\s\ufeff])!{1,2}(?!=)[ \t]*(\S.*)")
_MAGIC_SIGN: Final = re.compile(r"(?:^|=[ \t]*)%{1,2}([^\s%=]\S*|!)[ \t]*(.*)")
_SPEAKS_TO_IPYTHON: Final = re.compile(
    r"get_ipython|InteractiveShell|run_(?:line|cell)_magic|\bgetoutput\b|\.(?:system|run_cell|magic)\b"
    r"|start_ipython|do_execute|OSMagics|TerminalIPythonApp|run_cell_async"
)
_CALL_IN_BRACES: Final = re.compile(r"""\{.*[\w)\]}"']\s*\(""", re.DOTALL)
_LEAVES_BRACES: Final = frozenset({"debug", "prun", "time", "timeit"})
"""Their line is Python as it stands."""
_SCRIPT_OPTION: Final = re.compile(r"--(?:bg|no-raise-error|(?:out|err|proc)=.*)")
_SCRIPT_VALUE: Final = frozenset({"--out", "--err", "--proc"})
_SHELLS: Final = frozenset({"bash", "sh", "dash", "/bin/bash", "/bin/sh", "/usr/bin/bash"})
_SHELL_OPTIONS: Final = frozenset({"--norc", "--noprofile", "--posix", "-e", "-s", "-u", "-x"})

_NO_CELL: Final = (
    SyntaxError,
    ValueError,
    RuntimeError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    MemoryError,
    tokenize.TokenError,
)
"""What IPython's transformation raises over text that is no code."""


def read_cell(code: str) -> CodeFindings:
    """What a Python cell does beside Python. May take seconds over a cell made for that; never raises."""
    reader = _Reader()
    reader.cell(code, 0)
    return reader.findings


class _Reader:
    def __init__(self) -> None:
        self.findings = CodeFindings()
        self._left = 4 * _LONGEST
        self._shells = ShellNames()

    def cell(self, code: str, depth: int) -> None:
        """Read what is run as a cell of its own."""
        self._left -= len(code)
        if depth > _DEEPEST or self._left < 0:
            self.findings.unknown(code[:_MOST_WORDS])
            return
        transformed = _transformed(code)
        tree = None if transformed is None else _parsed(transformed)
        if self._automagic(code if transformed is None else transformed, is_python=tree is not None, depth=depth):
            return
        if tree is None:
            self._lines(code, depth)
            return
        self._python(tree, depth)

    def _python(self, tree: ast.AST, depth: int) -> None:
        calls, nodes = ipython_calls(tree, self._shells)
        flags, commands = programs_in(tree, nodes)
        self.findings.flags |= flags
        self.findings.started += commands
        for call in calls:
            self._call(call, depth)
        for text in texts_that_run(tree):
            self._left -= len(text)
            if depth >= _DEEPEST or self._left <= 0:
                self.findings.unknown()
                continue
            inner = _parsed(text.lstrip(" \t"))
            if inner is not None:
                match inner.body:
                    case [ast.Expr(value=value)]:
                        # The code around it uses what it gives.
                        inner.body = [ast.copy_location(ast.Return(value), value)]
                    case _:
                        pass
                self._python(inner, depth + 1)

    def _call(self, call: IPythonCall, depth: int) -> None:
        texts = [argument.text for argument in call.arguments]
        if call.kind == "unknown":
            self.findings.unknown("\n".join(texts)[:_MOST_WORDS])
        elif call.kind == "shell":
            self.findings.shell(texts[0]) if _whole(call.arguments) else self.findings.unknown(texts[0])
        elif not _whole(call.arguments):
            self.findings.unknown(" ".join(texts))
        elif call.kind == "code":
            self.cell(texts[0], depth + 1)
        elif call.kind == "line_magic":
            self.line_magic(texts[0], texts[1], depth)
        else:
            self.cell_magic(texts[0], texts[1], texts[2], depth)

    def _automagic(self, code: str, *, is_python: bool, depth: int) -> bool:
        """Whether it is one line that IPython takes for a magic without a sign; read then."""
        line = code.strip()
        found = _AUTOMAGIC.fullmatch(line)
        if found is None or len(line.splitlines()) > 1:
            return False
        name, rest = found.groups()
        if rest[:1] in ("=", ","):
            return False
        if name in KNOWN_LINE:
            gives_text = name in SHELL_ALIASES or name in GIVES_TO_SHELL or name in RUNS_CODE
            if is_python and ((rest[:1] in ("(", "[") and not gives_text) or (not rest and name in HARMLESS_ALONE)):
                return False
            self.line_magic(name, rest, depth)
            return True
        if is_python or not rest or keyword.iskeyword(name) or hasattr(builtins, name) or not name.isidentifier():
            return False
        # A person, or another cell, may have made an alias or a magic of this name.
        self.findings.unknown(line[:_MOST_WORDS])
        return True

    def line_magic(self, name: str, line: str, depth: int) -> None:
        """What ``%name line`` does."""
        line = line.strip()
        if name in GIVES_TO_SHELL or name == "sc":
            self.findings.shell(line.partition("=")[2] if name == "sc" else line)
        elif name in SHELL_ALIASES:
            if name in ("ls", "cat", "cp", "mkdir", "mv", "rm", "rmdir"):
                self.findings.shell(f"{name} {line}")
            else:
                self.findings.unknown(f"{'man' if name == 'man' else 'ls'} {line}")
        elif name in PACKAGES:
            self.findings.package_magic(name, line)
        elif name in RUNS_CODE:
            self._runs_code(name, line, None, depth)
        elif name in SETS_VARIABLES:
            self._environment(line)
        elif name == "config":
            self._config(line, depth)
        elif name == "run":
            self.findings.unknown(f"python {line}")
        elif name in HARMLESS_LINE or (name in ("hist", "history") and not re.search(r"(?:^|\s)-\w*f", line)):
            self._interpolated(line)
        elif not (name in HARMLESS_ALONE and not line):
            self.findings.unknown(f"{name} {line}")

    def cell_magic(self, name: str, line: str, body: str, depth: int) -> None:
        """What ``%%name line`` over a body does."""
        line = line.strip()
        self._interpolated(line, is_worked_out=name not in _LEAVES_BRACES)
        if name in GIVES_TO_SHELL:
            self.findings.shell(body)
        elif name in RUNS_CODE:
            self._runs_code(name, line, body, depth)
        elif name in SCRIPT_PROGRAMS:
            self._script(name, line, body)
        elif name in WRITES_CELL:
            self._writes(name, line)
        elif name not in HARMLESS_CELL:
            self.findings.unknown(f"{name} {line}")

    def _runs_code(self, name: str, line: str, body: str | None, depth: int) -> None:
        """A magic that runs Python: in its line, in its body, or the body behind the line."""
        if name == "capture":
            statement = ""
        elif name == "time":
            words = [word for word in line.split() if word != "--no-raise-error"]
            statement = line if len(words) == len(line.split()) else " ".join(words)
            if any(word.startswith("--n") for word in words):
                self.findings.unknown(statement)
        else:
            statement, options = _without_options(line, RUNS_CODE[name])
            if name == "prun" and options & {"D", "T"}:
                self.findings.unknown(f"prun {line}")
        if name in ("time", "prun", "debug") and not _stays_as_it_is(statement):
            self.findings.unknown(statement)
        if name in ("prun", "debug") and statement and body:
            self.cell(f"{statement}\n{body}", depth + 1)
        if statement:
            self.cell(statement, depth + 1)
        if body:
            self.cell(body, depth + 1)

    def _script(self, name: str, line: str, body: str) -> None:
        """A program gets the body to read."""
        try:
            words = shlex.split(line)
        except ValueError:
            self.findings.unknown(f"{name} {line}\n{body}")
            return
        kept: list[str] = []
        waiting = iter(words)
        for word in waiting:
            if word in _SCRIPT_VALUE:
                next(waiting, None)
            elif not _SCRIPT_OPTION.fullmatch(word):
                kept.append(word)
        command = kept if name == "script" else [name, *kept]
        if not command:
            return
        if command[0] not in _SHELLS or not _SHELL_OPTIONS.issuperset(command[1:]) or re.search(r"[{}$]", line):
            shown = [body] if "sh" in command[0] else []
            self.findings.unknown("\n".join([shlex.join(command), *shown]))
        elif len([row for row in body.splitlines() if row.strip() and not row.lstrip().startswith("#")]) > 1:
            # A program in it would read the lines below, that were judged as commands.
            self.findings.unknown(body)
        else:
            self.findings.shell(body, interpolated=False)

    def _writes(self, name: str, line: str) -> None:
        try:
            words = [word for word in shlex.split(line) if word not in ("-a", "--append")]
        except ValueError:
            words = []
        if len(words) == 1 and not words[0].startswith("-") and not re.search(r"[{}$]", line):
            self.findings.written.append(words[0])
        else:
            self.findings.unknown(f"{name} {line}")

    def _environment(self, line: str) -> None:
        named = re.fullmatch(r"(\w+)(?:=|\s+)(.*)", line, re.DOTALL)
        only_shows = re.fullmatch(r"\w*", line) is not None
        is_harmless = only_shows or (named is not None and named[1] in HARMLESS_VARIABLES)
        if not is_harmless or re.search(r"[{}$]", line):
            self.findings.unknown(f"export {line}")

    def _config(self, line: str, depth: int) -> None:
        """It shows settings, or has Python work out ``cfg.`` and the line."""
        if "=" not in line:
            self._interpolated(line)
        elif line.startswith(HARMLESS_CONFIG):
            self.cell(f"cfg.{line}", depth + 1)
        else:
            self.findings.unknown(f"config {line}")

    def _interpolated(self, line: str, *, is_worked_out: bool = True) -> None:
        """What stands in braces, which IPython works out for most magics."""
        if "{" in line and (_SPEAKS_TO_IPYTHON.search(line) or (is_worked_out and _CALL_IN_BRACES.search(line))):
            self.findings.unknown(line)
        if "{" in line:
            self.findings.flags.update(flags_in_text(line))

    def _lines(self, code: str, depth: int) -> None:
        """What may be commands in code that cannot be read: more than there are, rather than fewer."""
        self.findings.flags.update(flags_in_text(code))
        if _SPEAKS_TO_IPYTHON.search(code):
            self.findings.unknown()
        lines = re.sub(r"\\\n", "  ", code).splitlines()
        if len(lines) > _MOST_LINES:
            self.findings.unknown()
        for text in lines[:_MOST_LINES]:
            line = _PROMPT.sub("", text, count=1)[:_MOST_WORDS]
            self._line(line, depth)

    def _line(self, line: str, depth: int) -> None:
        command = _SHELL_SIGN.search(line)
        if command is not None:
            self.findings.unknown(command[1])
        magic = _MAGIC_SIGN.search(line)
        if magic is not None and magic[1] not in HARMLESS_CELL:
            if depth < _DEEPEST:
                self.line_magic(magic[1], magic[2], depth + 1)
            else:
                self.findings.unknown(f"{magic[1]} {magic[2]}")
        first = line.split(maxsplit=1)
        if len(first) > 1 and first[0] in SHELL_ALIASES | PACKAGES | GIVES_TO_SHELL and first[1][0] not in "=(.[,:":
            self.findings.unknown(line)


def _whole(arguments: Sequence[Text]) -> bool:
    return all(argument.whole for argument in arguments)


def _stays_as_it_is(statement: str) -> bool:
    """Whether it is the same when a magic took its words apart and put them together: around quotes it need not be."""
    if not re.search("[\"'\\\\]", statement):
        return True
    words = shlex.shlex(statement, posix=False)
    words.whitespace_split = True
    words.commenters = ""
    try:
        return " ".join(words) == statement
    except ValueError:
        return False


def _without_options(line: str, with_value: str) -> tuple[str, set[str]]:
    """The statement behind the options of a magic, and the letters of those."""
    rest = line.lstrip()
    options: set[str] = set()
    while found := re.match(r"-([A-Za-z]+)(\S*)(?:\s+|$)", rest):
        letters = found[1] + found[2]
        rest = rest[found.end() :]
        for at, letter in enumerate(letters):
            options.add(letter)
            if letter in with_value:
                if at == len(letters) - 1:
                    rest = rest.partition(" ")[2].lstrip()
                break
    return rest, options


def _transformed(code: str) -> str | None:
    """The cell as Python, by IPython's own rules; None where that fails, or would take too long."""
    signs = len(_SIGN.findall(code))
    if len(code) > _LONGEST or _ODD_LINES.search(code) or signs * len(code) > _MOST_TRANSFORMED:
        return None
    if _LONG_GAP.search(code):
        # Behind a sign that is not Python's, its tokenizer takes cubic time over these.
        return None
    if _HELP_AT_END.search(code) and _LONG_NAME.search(code):
        # Looking for what help is asked about takes quadratic time over a long name.
        return None
    from IPython.core.inputtransformer2 import TransformerManager

    manager = TransformerManager()  # type: ignore[no-untyped-call]  # it is without types there
    try:
        return manager.transform_cell(code)
    except _NO_CELL:
        return None


def _parsed(code: str) -> ast.Module | None:
    # Idempotent, and for this name alone: what Python has to say about somebody's escape sequences is not ours to log.
    warnings.filterwarnings("ignore", module=re.escape(_NAME))
    try:
        return ast.parse(code, _NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
