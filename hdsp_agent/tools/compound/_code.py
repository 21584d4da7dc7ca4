"""Python as small models write it: what can be mended without asking, and what must go back before it runs."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Collection
from typing import Final

__all__ = [
    "cell_tree",
    "is_library",
    "last_names",
    "made_names",
    "mended",
    "parsed",
    "parsed_or_empty",
    "renamed",
    "requoted",
    "spliced",
    "syntax_problem",
    "usual_imports",
    "wanted_names",
    "with_imports",
]

_FENCE: Final = re.compile(r"\A\s*```[\w-]*\n(.*?)(?:\n?```\s*.*)?\Z", re.DOTALL)
_TAIL: Final = re.compile(r"[\s\"'`]*\}+\s*\Z")
"""The end of the object around it, written into it."""
_MAGIC: Final = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_USUAL: Final = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "sp": "import scipy as sp",
    "tf": "import tensorflow as tf",
    "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go",
    "Path": "from pathlib import Path",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
}
_ALIASES: Final = frozenset({"np", "pd", "plt", "sns"})
_MODULES: Final = frozenset(
    {
        "collections", "csv", "datetime", "functools", "itertools", "json", "math", "os", "pathlib", "random", "re",
        "statistics", "string", "sys", "time", "numpy", "pandas", "matplotlib", "scipy", "sklearn",
    }
)  # fmt: skip
_GIVEN: Final = frozenset(dir(builtins)) | {"display", "get_ipython", "In", "Out", "_", "__name__"}
_LIKE_ENOUGH_PERCENT: Final = 60
_FLAGS: Final = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def mended(code: str) -> str:
    """Without fences around it, and with line breaks that were written as two characters."""
    code = code.replace("\r\n", "\n")
    fenced = _FENCE.match(code)
    if fenced is not None:
        code = fenced[1]
    code = "\n".join(line.rstrip() for line in code.split("\n")).strip("\n")
    if cell_tree(code) is None:
        for old, new in (("\\n", "\n"), ('\\"', '"'), ("\\'", "'"), ("\\t", "    ")):
            attempt = code.replace(old, new)
            if attempt != code and cell_tree(attempt) is not None:
                return attempt.strip("\n")
        plain = code.replace("\\n", "\n").replace('\\"', '"')
        for attempt in (plain, _TAIL.sub("", code), _TAIL.sub("", plain)):
            if attempt != code and cell_tree(attempt) is not None:
                return attempt.strip("\n")
    return code


def syntax_problem(code: str) -> str | None:
    """Why this is no Python, in a few words; None if it is, or is something that only IPython reads."""
    if code.lstrip().startswith("%%"):
        return None
    try:
        compile(_without_magics(code), "<cell>", "exec", _FLAGS)
    except (SyntaxError, ValueError) as error:
        if not isinstance(error, SyntaxError):
            return str(error)
        line = (error.text or "").strip()
        return f"line {error.lineno}: {error.msg}" + (f": {line}" if line else "")
    except (RecursionError, MemoryError):
        return "it is nested too deeply"
    return None


def wanted_names(code: str) -> list[str]:
    """Names that the code uses and does not make itself, in the order of their use."""
    tree = cell_tree(code)
    if tree is None:
        return []
    bound = _bound(tree, everywhere=True) - _used_before_made(tree)
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    used.sort(key=lambda node: (node.lineno, node.col_offset))
    return list(dict.fromkeys(node.id for node in used if node.id not in bound and node.id not in _GIVEN))


def _used_before_made(tree: ast.Module) -> set[str]:
    """What is taken up before the code gives it a value, as in ``df = df.dropna()``."""
    early: set[str] = set()
    made: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
            own = _bound(ast.Module([node], []), everywhere=True) - _bound(ast.Module([node], []), everywhere=False)
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                used.add(node.target.id)
            early |= used - own - made
        made |= _bound(ast.Module([node], []), everywhere=False)
    return early


def made_names(code: str) -> frozenset[str]:
    """Names that are there when the code has run."""
    tree = cell_tree(code)
    return frozenset() if tree is None else frozenset(_bound(tree, everywhere=False))


def last_names(code: str) -> list[str]:
    """The names that the last statement gives values to."""
    tree = cell_tree(code)
    if tree is None or not tree.body:
        return []
    last = tree.body[-1]
    targets: list[ast.expr] = []
    if isinstance(last, ast.Assign):
        targets = last.targets
    elif isinstance(last, (ast.AugAssign, ast.AnnAssign)):
        targets = [last.target]
    return [
        name.id
        for target in targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]


def is_library(name: str) -> bool:
    """Whether it is what a library is usually called."""
    return name in _USUAL or name in _MODULES


def usual_imports(code: str, made: Collection[str]) -> list[str]:
    """Names of libraries that the code uses as everybody calls them, and no cell imports: a kernel may know them yet."""
    return [name for name in wanted_names(code) if name in _ALIASES and name not in made]


def with_imports(code: str, missing: list[str]) -> str:
    """The code with the usual imports of these names before it, where there are any."""
    lines = [_USUAL.get(name, f"import {name}") for name in missing if is_library(name)]
    if not lines or code.lstrip().startswith("%%"):
        return code
    begun = re.match(r"(?:import |from )", code)
    return "\n".join([*lines, code]) if begun else "\n".join([*lines, "", code])


def spliced(old: str, new: str) -> str:
    """The new code; if it is but some lines of the old one, changed or not, with the others as they were."""
    before, after = old.split("\n"), new.split("\n")
    if len(before) == len(after) == 1:
        return new if _most_like(new, before, 0) is None else _with_target(old, new)
    if 2 * len(after) > len(before) or all(line in before for line in after):
        # Lines that only went are to go.
        return new
    places: list[int] = []
    begin = 0
    for line in after:
        place = _most_like(line, before, begin)
        if place is None:
            return new
        places.append(place)
        begin = place + 1
    merged = list(before)
    for place, line in zip(places, after, strict=True):
        indent = before[place][: len(before[place]) - len(before[place].lstrip())]
        merged[place] = indent + _with_target(before[place].lstrip(), line.lstrip()) if len(after) == 1 else line
    whole = "\n".join(merged)
    return whole if syntax_problem(whole) is None else new


def _with_target(old: str, new: str) -> str:
    """A line that computes something else, under the name that the old line gave it."""
    trees = [parsed_or_empty(line).body for line in (old, new)]
    match trees:
        case [[ast.Assign(targets=[ast.Name(id=name)])], [ast.Expr(value=ast.Call() | ast.BinOp())]]:
            return f"{name} = {new}"
        case _:
            return new


def _most_like(line: str, lines: list[str], begin: int) -> int | None:
    from rapidfuzz import fuzz  # 25 ms, for the few edits that need it

    best, found = float(_LIKE_ENOUGH_PERCENT), None
    for place in range(begin, len(lines)):
        if lines[place] == line:
            return place
        likeness = fuzz.ratio(lines[place].strip(), line.strip())
        if likeness > best:
            best, found = likeness, place
    return found


def renamed(code: str, old: str, new: str) -> str:
    """The code with a variable called otherwise. Attributes, keyword arguments and texts of the name stay."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code
    lines = code.split("\n")
    depth = 0
    for at in reversed(range(len(tokens))):
        token = tokens[at]
        if token.type == tokenize.OP:
            depth += (token.string in ")]}") - (token.string in "([{")
        if token.type == tokenize.STRING and token.start[0] == token.end[0]:
            row, (begin, end) = token.start[0] - 1, (token.start[1], token.end[1])
            lines[row] = lines[row][:begin] + _renamed_within(token.string, old, new) + lines[row][end:]
        if token.type != tokenize.NAME or token.string != old:
            continue
        before, after = tokens[at - 1].string if at else "", tokens[at + 1].string if at + 1 < len(tokens) else ""
        if before == "." or (depth > 0 and after == "=" and before in ("(", ",", "\n", "")):
            continue
        row, column = token.start[0] - 1, token.start[1]
        lines[row] = lines[row][:column] + new + lines[row][column + len(old) :]
    return "\n".join(lines)


def requoted(code: str, old: str, new: str) -> str:
    """The code with another text wherever it says just this one: a column's name, or a key."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code
    lines = code.split("\n")
    for token in reversed(tokens):
        if token.type != tokenize.STRING or token.string[0] not in "\"'" or token.string[1:-1] != old:
            continue
        row, quote = token.start[0] - 1, token.string[0]
        lines[row] = lines[row][: token.start[1]] + quote + new + quote + lines[row][token.end[1] :]
    return "\n".join(lines)


def _renamed_within(text: str, old: str, new: str) -> str:
    """An f-string with the name changed in its expressions; before Python 3.12 it is one token."""
    if "f" not in re.split("['\"]", text, maxsplit=1)[0].lower():
        return text
    name = re.compile(rf"(?<![\w.]){re.escape(old)}\b")
    return re.sub(r"\{[^{}]*\}", lambda part: name.sub(new, part[0]), text)


def _bound(tree: ast.Module, *, everywhere: bool) -> set[str]:
    found: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((each.asname or each.name).partition(".")[0] for each in names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                if not everywhere:
                    continue
            case ast.arg(arg=name):
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if not everywhere:
                continue
            case _:
                pass
        waiting.extend(ast.iter_child_nodes(node))
    return found


def parsed(code: str) -> ast.Module | None:
    """The tree of what is Python to the letter."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parsed_or_empty(code: str) -> ast.Module:
    """The tree of what is Python to the letter; an empty one for all else."""
    return parsed(code) or ast.Module([], [])


def cell_tree(code: str) -> ast.Module | None:
    """The tree of what a cell may hold, with magics as if they did nothing; None for what is no Python."""
    try:
        tree = compile(_without_magics(code), "<cell>", "exec", _FLAGS)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Module) else None


def _without_magics(code: str) -> str:
    return _MAGIC.sub(r"\1pass", code)
