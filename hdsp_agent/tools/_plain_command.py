"""Command lines that say all of what they do: literal words, a few operators, a few redirections.

Only such a line may run without a person's yes, and then not as it was written: it is rendered anew from what was read
here (``render``). So it does not matter whether a shell would have read the original in another way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ._deceptive_characters import strange_characters

__all__ = ["NotPlain", "Operator", "PlainCommand", "PlainRedirection", "PlainScript", "PlainWord", "parse_plain"]

Operator: TypeAlias = Literal["|", "&&", "||", ";", "\n"]
RedirectionKind: TypeAlias = Literal["nowhere", "to_output", "read", "write", "append"]

_LONGEST: Final = 10_000
_BLANKS: Final = " \t"
_ENDS_WORD: Final = " \t\n;&|<>()"
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ODD_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\+=|\[)")
_OPERATOR: Final = re.compile(r"&>|&&|\|\||\|&|;;|;&|[\n;|&]")
_REDIRECTION: Final = re.compile(r"<<<|<<-?|<>|<&|<|>>|>\||>&|>")
_DESCRIPTOR: Final = re.compile(r"\d+(?=[<>])")
_BRACKETS: Final = re.compile(r"\[!?[\w.,-]+\]")
_AFTER_LITERAL_DOLLAR: Final = frozenset(" \t\n;|&)<>/,.:%")
_ESCAPED: Final = re.compile(r"\$'((?:[^'\\\n]|\\[tn\\'])*)'")
"""Quotes in which a tab and a new line are written out."""
_ESCAPES: Final = {"\\t": "\t", "\\n": "\n", "\\\\": "\\", "\\'": "'"}
_RESERVED: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "{", "}", "!", "[[", "]]", "coproc", "in"}
)  # fmt: skip
_SIMPLE_SOURCE: Final = re.compile(r"""(?:[\w@%+=:,./-]|'[^'\\!{}$`]*'|"[^"\\!{}$`]*")+""")


class NotPlain(Exception):
    """The line is none of these. The message says why, as the end of a sentence."""


@dataclass(frozen=True)
class PlainWord:
    """One literal word."""

    text: str
    source: str
    pattern: str | None = None
    """The pattern of file names that it is, if it is one; characters that were quoted stand in brackets."""


@dataclass(frozen=True)
class PlainRedirection:
    """Where a command's input comes from, or where its output goes."""

    descriptor: int
    kind: RedirectionKind
    target: str = ""
    """The file, or the descriptor that the output joins."""


@dataclass(frozen=True)
class PlainCommand:
    """One program with its arguments."""

    source: str
    words: tuple[PlainWord, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirections: tuple[PlainRedirection, ...] = ()


@dataclass(frozen=True)
class PlainScript:
    """A whole line: the commands, and what stands between each and the next."""

    commands: tuple[PlainCommand, ...]
    operators: tuple[Operator, ...]
    is_exact: bool
    """Whether a shell cannot but read the text itself as this: nothing in it needs more than plain quotes."""


def parse_plain(text: str) -> PlainScript:
    """Read a command line. Raises NotPlain for every line of which anything is not literal."""
    if len(text) > _LONGEST:
        raise NotPlain("it is too long to be judged")
    for doubt in strange_characters(text):
        raise NotPlain(doubt)
    return _Reader(text).read()


@dataclass
class _Begun:
    """A command that is being read."""

    start: int
    end: int = 0
    words: list[PlainWord] = field(default_factory=list)
    assignments: list[tuple[str, str]] = field(default_factory=list)
    redirections: list[PlainRedirection] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.assignments or self.redirections)


@dataclass
class _Word:
    """A word that is being read: its value, and each character's own as the pattern has it."""

    text: list[str] = field(default_factory=list)
    pattern: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    """What stands outside of quotes, with a NUL for each quoted part."""

    def add(self, char: str, *, quoted: bool) -> None:
        self.text.append(char)
        self.pattern.append(f"[{char}]" if quoted and char in "*?[" else char)
        self.bare.append("\0" if quoted else char)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._commands: list[PlainCommand] = []
        self._operators: list[Operator] = []
        self._now = _Begun(0)
        self._is_exact = True

    def read(self) -> PlainScript:
        while self._at < len(self._text):
            self._next()
        self._end_command()
        if self._operators and len(self._operators) == len(self._commands):
            if self._operators[-1] not in (";", "\n"):
                raise NotPlain(f"a command is missing behind {self._operators[-1]}")
            self._operators.pop()
        return PlainScript(tuple(self._commands), tuple(self._operators), self._is_exact)

    def _next(self) -> None:
        char = self._text[self._at]
        if char in _BLANKS:
            self._at += 1
        elif char == "#":
            self._comment()
        elif char in "\n;|&":
            self._operator()
        elif char in "()":
            raise NotPlain("it groups commands, or runs some in a shell of their own")
        elif char in "<>":
            self._redirection(None)
        else:
            self._word_or_number()

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._text[at] if at < len(self._text) else ""

    def _comment(self) -> None:
        comment = self._text[self._at :].partition("\n")[0]
        if "\\" in comment:
            raise NotPlain("a backslash stands in a comment")
        self._is_exact = False
        self._at += len(comment)

    # ---- operators

    def _operator(self) -> None:
        found = _OPERATOR.match(self._text, self._at)
        assert found is not None
        operator = found[0]
        if operator == "&>":
            self._both_redirected()
            return
        self._at = found.end()
        if operator == "&":
            raise NotPlain("it goes on in the background")
        if operator not in ("|", "&&", "||", ";", "\n"):
            raise NotPlain(f"it has {operator}")
        self._end_command()
        self._joined_by(operator)  # type: ignore[arg-type]  # one of the five, by the line above

    def _joined_by(self, operator: Operator) -> None:
        if len(self._operators) < len(self._commands):
            self._operators.append(operator)
        elif operator != "\n":
            raise NotPlain(f"a command is missing before {operator}")
        elif self._operators and self._operators[-1] == ";":
            self._operators[-1] = "\n"

    def _end_command(self) -> None:
        now, self._now = self._now, _Begun(self._at)
        if now.is_empty:
            return
        if not now.words:
            raise NotPlain("it sets variables, or only redirects")
        source = self._text[now.start : now.end]
        self._commands.append(PlainCommand(source, tuple(now.words), tuple(now.assignments), tuple(now.redirections)))

    # ---- redirections

    def _both_redirected(self) -> None:
        """``&>/dev/null``: output and errors."""
        self._begin()
        self._at += 2
        if self._target() != "/dev/null":
            raise NotPlain("output and errors go into a file together")
        self._is_exact = False
        self._now.redirections += [PlainRedirection(1, "nowhere"), PlainRedirection(2, "nowhere")]

    def _redirection(self, descriptor: int | None) -> None:
        self._begin()
        found = _REDIRECTION.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        operator = found[0]
        if operator == "<" and descriptor in (None, 0):
            self._now.redirections.append(PlainRedirection(0, "read", self._target()))
        elif operator in (">", ">>", ">&") and descriptor in (None, 1, 2):
            self._now.redirections.append(self._output(operator, 1 if descriptor is None else descriptor))
        else:
            raise NotPlain(f"it redirects with {'' if descriptor is None else descriptor}{operator}")

    def _output(self, operator: str, descriptor: int) -> PlainRedirection:
        target = self._target()
        if operator == ">&":
            if target not in ("1", "2"):
                raise NotPlain("it redirects to another place than its output and its errors")
            return PlainRedirection(descriptor, "to_output", target)
        if target == "/dev/null":
            return PlainRedirection(descriptor, "nowhere")
        return PlainRedirection(descriptor, "append" if operator == ">>" else "write", target)

    def _target(self) -> str:
        while self._peek() and self._peek() in _BLANKS:
            self._at += 1
        if not self._peek() or self._peek() in _ENDS_WORD or self._peek() == "#":
            raise NotPlain("a redirection leads nowhere")
        if _DESCRIPTOR.match(self._text, self._at):
            raise NotPlain("a redirection leads nowhere")
        word = self._word()
        if self._peek() in ("<", ">") and word.source.startswith("{"):
            raise NotPlain(f"{word.source} may set a variable")
        if word.pattern is not None:
            raise NotPlain("a redirection leads to a pattern")
        if not word.text:
            raise NotPlain("a redirection leads nowhere")
        self._now.end = self._at
        return word.text

    # ---- words

    def _begin(self) -> None:
        if self._now.is_empty:
            self._now.start = self._at

    def _word_or_number(self) -> None:
        self._begin()
        number = _DESCRIPTOR.match(self._text, self._at)
        if number is not None:
            self._at = number.end()
            self._redirection(int(number[0]) if len(number[0]) == 1 else -1)
            return
        word = self._word()
        self._now.end = self._at
        if self._peek() in ("<", ">") and word.source.startswith("{"):
            raise NotPlain(f"{word.source} may set a variable")
        if self._now.redirections:
            raise NotPlain(f"{word.source} stands behind a redirection")
        if not self._now.words and self._assigns(word):
            return
        # Behind the keyword time the shell takes the same words for its own as at the beginning.
        if all(each.source == "time" for each in self._now.words) and _is_for_the_shell(word, self._now.words):
            raise NotPlain(f"{word.source} steers the shell")
        self._now.words.append(word)

    def _assigns(self, word: PlainWord) -> bool:
        if _ODD_ASSIGNMENT.match(word.source):
            raise NotPlain(f"it sets a variable: {word.source}")
        found = _ASSIGNMENT.fullmatch(word.text)
        if found is None or not _ASSIGNMENT.fullmatch(word.source):
            return False
        self._now.assignments.append((found[1], found[2]))
        return True

    def _word(self) -> PlainWord:
        start, word = self._at, _Word()
        if self._peek() == "~":
            raise NotPlain("~ stands for a folder that only the shell knows")
        while self._peek() and self._peek() not in _ENDS_WORD:
            self._piece(word)
        source = self._text[start : self._at]
        bare = "".join(word.bare)
        if _has_braces(bare):
            raise NotPlain(f"{source} stands for several words")
        if not _SIMPLE_SOURCE.fullmatch(source):
            self._is_exact = False
        return PlainWord("".join(word.text), source, self._pattern(word, bare, source))

    def _pattern(self, word: _Word, bare: str, source: str) -> str | None:
        without_sets = _BRACKETS.sub("?", bare)
        if "[" in without_sets and "]" in without_sets[without_sets.index("[") :]:
            raise NotPlain(f"{source} is an unusual pattern")
        if not re.search(r"[*?]", without_sets):
            return None
        if "[" in without_sets:
            raise NotPlain(f"{source} is an unusual pattern")
        return "".join(word.pattern)

    def _piece(self, word: _Word) -> None:
        char = self._peek()
        if char == "'":
            self._single_quoted(word)
        elif char == '"':
            self._double_quoted(word)
        elif char == "\\":
            following = self._peek(1)
            if following in ("", "\n"):
                raise NotPlain("a line goes on behind a backslash")
            word.add(following, quoted=True)
            self._at += 2
        elif char == "`":
            raise NotPlain("it runs a command within a command")
        elif char == "$" and (found := _ESCAPED.match(self._text, self._at)) is not None:
            word.bare.append("\0")
            for escape in re.findall(r"\\.|.", found[1], re.DOTALL):
                word.add(_ESCAPES.get(escape, escape), quoted=True)
            self._at = found.end()
        elif char == "$":
            self._dollar(word, quoted=False)
        else:
            word.add(char, quoted=False)
            self._at += 1

    def _single_quoted(self, word: _Word) -> None:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise NotPlain("a quote is not closed")
        word.bare.append("\0")
        for char in self._text[self._at + 1 : end]:
            word.add(char, quoted=True)
        self._at = end + 1

    def _double_quoted(self, word: _Word) -> None:
        word.bare.append("\0")
        self._at += 1
        while (char := self._peek()) != '"':
            if not char:
                raise NotPlain("a quote is not closed")
            if char == "`":
                raise NotPlain("it runs a command within a command")
            if char == "$":
                self._dollar(word, quoted=True)
                continue
            if char == "\\":
                if self._peek(1) in ("", "\n"):
                    raise NotPlain("a line goes on behind a backslash")
                if self._peek(1) in '$`"\\':
                    self._at += 1
                    char = self._peek()
            word.add(char, quoted=True)
            self._at += 1
        self._at += 1

    def _dollar(self, word: _Word, *, quoted: bool) -> None:
        """A dollar is one only where no name can follow: at the end of a word, or of a regular expression."""
        following = self._peek(1)
        ends = '"' if quoted else ""
        if following not in _AFTER_LITERAL_DOLLAR and following != ends:
            raise NotPlain("it has a part that only the shell can fill in")
        word.add("$", quoted=True)
        self._at += 1


def _is_for_the_shell(word: PlainWord, before: list[PlainWord]) -> bool:
    """Whether the shell itself understands the word where a command begins."""
    return word.source in _RESERVED or (bool(before) and re.match(r"[A-Za-z_]\w*(?:=|\+=|\[)", word.source) is not None)


def _has_braces(bare: str) -> bool:
    """Whether a shell may make several words of it."""
    start, end = bare.find("{"), bare.rfind("}")
    return 0 <= start < end and ("," in bare[start:end] or ".." in bare[start:end])
