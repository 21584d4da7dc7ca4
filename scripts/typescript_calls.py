"""Find the translator calls of TypeScript sources: which texts reach people, and where.

A tokeniser, not a parser: it knows comments, strings, template literals (and the code inside them) and regular
expressions, which is what keeps a call in a comment out and a call inside a template in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Call", "NotLiteral", "find_calls"]

# How many leading arguments of each translator method are texts, and what they are.
METHODS = {"__": ("id",), "_n": ("id", "plural"), "_p": ("context", "id"), "_np": ("context", "id", "plural")}

_SKIP = re.compile(r"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# An apostrophe right after a letter is one in JSX text ("Don't").
_STRING = re.compile(r"(?<!\w)(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")", re.DOTALL)
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r?\n)|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
# After one of these a slash begins a regular expression; after anything else it divides.
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%~^<>") | {"return", "typeof", "case", "in", "of"}


@dataclass(frozen=True)
class Call:
    """One call of the translator."""

    line: int
    id: str
    plural: str | None = None
    context: str | None = None


@dataclass(frozen=True)
class NotLiteral:
    """A call whose text is not written out, which nothing can extract."""

    line: int
    method: str


class _Token(NamedTuple):
    kind: Literal["name", "string", "dynamic", "op"]
    value: str
    offset: int


def find_calls(source: str) -> Iterator[Call | NotLiteral]:
    """Every ``….__()``, ``…._n()``, ``…._p()`` and ``…._np()`` in the order written, nested ones too."""
    tokens = list(_tokens(source))
    for index in range(len(tokens) - 2):
        dot, method, paren = tokens[index : index + 3]
        if dot.value not in (".", "?.") or method.kind != "name" or method.value not in METHODS or paren.value != "(":
            continue
        line = source.count("\n", 0, method.offset) + 1
        names = METHODS[method.value]
        texts = _arguments(tokens, index + 3, len(names))
        if len(texts) < len(names):
            yield NotLiteral(line, method.value)
        else:
            yield Call(line, **dict(zip(names, texts, strict=True)))


def _arguments(tokens: list[_Token], index: int, wanted: int) -> list[str]:
    """The leading arguments that are string literals (or sums of them), at most ``wanted``."""
    found: list[str] = []
    text = ""
    expects_string = True
    for token in tokens[index:]:
        if expects_string:
            if token.kind != "string":
                break
            text += token.value
        elif token.value in (",", ")"):
            found.append(text)
            text = ""
            if token.value == ")" or len(found) == wanted:
                break
        elif token.value != "+":
            break
        expects_string = not expects_string
    return found


def _tokens(source: str) -> Iterator[_Token]:
    tokens, _ = _scan(source, 0, in_template=False)
    return iter(tokens)


def _scan(source: str, position: int, *, in_template: bool) -> tuple[list[_Token], int]:
    """The tokens from a position to the end, or to the brace that closes a template's substitution."""
    tokens: list[_Token] = []
    depth = 0
    while position < len(source):
        if match := _SKIP.match(source, position):
            position = match.end()
        elif source[position] == "`":
            inner, position = _template(source, position)
            tokens += inner
        elif match := _STRING.match(source, position):
            tokens.append(_Token("string", _unescape(match[0][1:-1]), position))
            position = match.end()
        elif match := _NAME.match(source, position):
            tokens.append(_Token("name", match[0], position))
            position = match.end()
        elif (match := _REGEX.match(source, position)) and _may_begin_regex(tokens):
            tokens.append(_Token("dynamic", match[0], position))
            position = match.end()
        else:
            char = "?." if source.startswith("?.", position) else source[position]
            depth += (char == "{") - (char == "}")
            position += len(char)
            if in_template and depth < 0:
                return tokens, position
            tokens.append(_Token("op", char, position))
    return tokens, position


def _may_begin_regex(tokens: list[_Token]) -> bool:
    return not tokens or (tokens[-1].kind != "string" and tokens[-1].value in _BEFORE_REGEX)


def _template(source: str, start: int) -> tuple[list[_Token], int]:
    """A template literal: one string when nothing is substituted, else the code inside it and one dynamic token."""
    tokens: list[_Token] = []
    dynamic = False
    position = start + 1
    while position < len(source) and source[position] != "`":
        if source.startswith("${", position):
            inner, position = _scan(source, position + 2, in_template=True)
            tokens += [_Token("op", "${", position), *inner]
            dynamic = True
        else:
            position += 2 if source[position] == "\\" else 1
    if dynamic:
        tokens.insert(0, _Token("dynamic", "", start))
    else:
        tokens.append(_Token("string", _unescape(source[start + 1 : position]), start))
    return tokens, position + 1


def _unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code:
            return chr(int(code, 16))
        return "" if match[4] else _ESCAPED.get(match[5], match[5])

    return _ESCAPE.sub(replace, text)
