"""A shell command as the commands it consists of, read with the shell's whole grammar as far as it can be read.

Nothing is approved by this reading: a shell may read the same text otherwise. It finds what is to be denied, hidden or
warned of, also in lines that only a person may approve. What runs unasked is read in ``_plain_command``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

__all__ = ["CommandWord", "Script", "SimpleCommand", "parse_script"]

_LONGEST: Final = 30_000
_DEEPEST: Final = 150
"""Each level of a substitution is a few levels of the tree, and its text is looked at on every one."""
_LITERAL: Final = frozenset({"word", "number", "raw_string", "string", "concatenation"})
_ONLY_SHELL_KNOWS: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion", "ansi_c_string", "brace_expression",
     "function_definition", "declaration_command", "variable_assignment", "for_statement", "c_style_for_statement"}
)  # fmt: skip
_WRITES: Final = (">", ">>", "&>", "&>>", ">|", ">&")
_HARMLESS_TARGET: Final = re.compile(r"/dev/null|\d+|-")
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True)
class CommandWord:
    """One word of a command, without its quotes. ``dynamic`` when what it will be is known only to the shell."""

    text: str
    source: str
    dynamic: bool = False
    pattern: bool = False
    """Whether the shell replaces it by file names."""


@dataclass(frozen=True)
class SimpleCommand:
    """One program with its arguments."""

    source: str
    words: tuple[CommandWord, ...]


@dataclass(frozen=True)
class Script:
    """A whole command line."""

    commands: tuple[SimpleCommand, ...]
    reads: tuple[CommandWord, ...] = ()
    """What it reads by redirections."""
    writes: tuple[CommandWord, ...] = ()
    """What it writes by redirections."""
    has_hidden_parts: bool = False
    """Whether any of it is known only to the shell, or cannot be read."""
    joins: bool = False
    """Whether what one command writes goes to another: by a pipe, or by a substitution."""


def parse_script(text: str) -> Script:
    """Read a command line; what cannot be read is left out, never an error."""
    if len(text) > _LONGEST:
        return Script((), has_hidden_parts=True)
    source = text.encode("utf-8", "replace")
    # The grammar's scanner can crash the process on letters beyond ASCII. To a shell they are letters like any other,
    # so the tree of the text with other letters in their places is the same, byte for byte.
    reader = _Reader(source)
    reader.read(_new_parser().parse(_BEYOND_ASCII.sub(b"x", source)).root_node)
    return Script(
        tuple(reader.commands), tuple(reader.reads), tuple(reader.writes), reader.has_hidden_parts, reader.joins
    )


class _Reader:
    """Walks the syntax tree once."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self.commands: list[SimpleCommand] = []
        self.reads: list[CommandWord] = []
        self.writes: list[CommandWord] = []
        self.has_hidden_parts = False
        self.joins = False

    def read(self, root: Node) -> None:
        if root.has_error:
            self.has_hidden_parts = True
        for node, depth in _descendants(root):
            if depth == _DEEPEST or node.type in _ONLY_SHELL_KNOWS:
                self.has_hidden_parts = True
            if node.type in ("pipeline", "command_substitution", "process_substitution"):
                self.joins = True
            if node.type == "command":
                self.commands.append(self._command(node))
            elif node.type == "test_command":
                self._test(node)
            elif node.type == "file_redirect":
                self._redirection(node)
            elif node.type == "for_statement":
                self.reads += [self._word(value) for value in node.children_by_field_name("value")]

    def _command(self, node: Node) -> SimpleCommand:
        words: list[CommandWord] = []
        for child in node.named_children:
            if child.type == "command_name":
                words.append(self._word(child.named_children[0] if child.named_children else child))
            elif child.type != "variable_assignment" and not child.type.endswith("_redirect"):
                words.append(self._word(child))
        if node.parent is not None and node.parent.type == "redirected_statement":
            # Words behind a redirection are the command's like any other, only the grammar has them elsewhere.
            for sibling in node.parent.children_by_field_name("redirect"):
                words += self._behind(sibling)
        return SimpleCommand(self._text(node), tuple(words))

    def _behind(self, redirection: Node) -> list[CommandWord]:
        """The words behind where a redirection leads to."""
        literal = [child for child in redirection.named_children if child.type in _LITERAL | _ONLY_SHELL_KNOWS]
        return [self._word(child) for child in literal[0 if redirection.type == "heredoc_redirect" else 1 :]]

    def _test(self, node: Node) -> None:
        pieces = self._text(node).split()
        self.commands.append(SimpleCommand(self._text(node), tuple(CommandWord(piece, piece) for piece in pieces)))
        for at, piece in enumerate(pieces[:-1]):
            # In single brackets it is no comparison.
            if piece in (">", "<") and pieces[0] == "[":
                (self.writes if piece == ">" else self.reads).append(CommandWord(pieces[at + 1], pieces[at + 1]))

    def _redirection(self, node: Node) -> None:
        operator = next((self._text(child) for child in node.children if not child.is_named), "")
        target = node.child_by_field_name("destination")
        if target is None:
            # Closing a descriptor, as in 2>&-.
            return
        word = self._word(target)
        if operator == "<":
            self.reads.append(word)
        elif operator in _WRITES and not _HARMLESS_TARGET.fullmatch(word.text):
            self.writes.append(word)

    def _word(self, node: Node) -> CommandWord:
        text, dynamic = self._value(node)
        unquoted = "".join(self._text(child) for child in _plain_pieces(node))
        brace = re.search(r"\{[^{}]*(?:,|\.\.)[^{}]*\}", unquoted) is not None
        return CommandWord(
            text, self._text(node), dynamic or brace, pattern=re.search(r"(?<!\\)[*?\[]", unquoted) is not None
        )

    def _value(self, node: Node) -> tuple[str, bool]:
        source = self._text(node)
        if node.type in ("word", "number"):
            return re.sub(r"\\(.)", r"\1", source), False
        if node.type == "raw_string":
            return source[1:-1], False
        if node.type == "string":
            dynamic = any(child.type != "string_content" for child in node.named_children)
            return re.sub(r"\\([\"\\$`])", r"\1", source[1:-1]), dynamic
        if node.type == "concatenation":
            values = [self._value(child) if child.is_named else (self._text(child), False) for child in node.children]
            return "".join(text for text, _ in values), any(dynamic for _, dynamic in values)
        return source, True

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _descendants(root: Node) -> Iterator[tuple[Node, int]]:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if depth < _DEEPEST:
            waiting.extend((child, depth + 1) for child in reversed(node.children))


def _plain_pieces(node: Node) -> Iterator[Node]:
    if node.type == "concatenation":
        yield from (child for child in node.children if child.type not in ("raw_string", "string"))
    elif node.type not in ("raw_string", "string"):
        yield node


def _new_parser() -> Parser:
    """A parser of its own for each text: one is not to be shared between threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())
