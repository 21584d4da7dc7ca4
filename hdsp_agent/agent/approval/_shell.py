"""A shell command as the commands it consists of, read with the shell's real grammar.

Only what is known to be harmless passes: a construct that is not listed here is a doubt, and a doubt is asked about.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["Script", "SimpleCommand", "Word", "parse_script"]

_LONGEST: Final = 100_000
_PLAIN: Final = frozenset(
    {"program", "list", "pipeline", "command", "command_name", "word", "number", "string", "string_content", "raw_string", "concatenation",
     "redirected_statement", "file_redirect", "file_descriptor", "heredoc_redirect", "heredoc_start", "heredoc_body", "heredoc_content", "heredoc_end",
     "herestring_redirect", "negated_command", "subshell", "compound_statement", "do_group", "if_statement", "elif_clause", "else_clause", "while_statement",
     "for_statement", "case_statement", "case_item", "test_command", "unary_expression", "binary_expression", "parenthesized_expression", "negation_expression",
     "test_operator", "regex", "extglob_pattern", "variable_name", "special_variable_name", "simple_expansion", "expansion", "command_substitution",
     "process_substitution", "arithmetic_expansion", "variable_assignment", "ansi_c_string", "translated_string", "comment", "brace_expression",
     "array", "subscript"}
)  # fmt: skip
_HARMLESS_EXPANSION: Final = re.compile(
    r"\$\{#?\w+(?:\[[\w@*]+\])?(?:(?::?[-+?]|%%?|##?|//?|\^\^?|,,?|:(?!=))[^`$\\\[{}]*)?\}"
)
_HARMLESS_ARITHMETIC: Final = re.compile(r"\$\(\([\d\s+\-*/%()<>=!&|^~]*\)\)")
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_WRITES: Final = (">", ">>", "&>", "&>>", ">|", ">&", "<>")


@dataclass(frozen=True)
class Word:
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
    words: tuple[Word, ...]
    assignments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    """A whole command line."""

    commands: tuple[SimpleCommand, ...]
    reads: tuple[Word, ...] = ()
    writes: tuple[str, ...] = ()
    """The redirections into files, as they are written."""
    doubts: tuple[str, ...] = ()
    """Why it cannot be judged by its words."""


def parse_script(text: str) -> Script:
    """Read a command line; what cannot be read is a doubt, never an error."""
    doubts = list(_strange_characters(text))
    if len(text) > _LONGEST:
        return Script((), doubts=("it is too long to be judged",))
    joined = re.sub(r"(?<=[ \t])\\\n|\\\n(?=[ \t])", "  ", text)
    if "\\\n" in joined:
        doubts.append("a word goes over the end of a line")
    source = joined.encode("utf-8", "replace")
    # The grammar's scanner can crash the process on letters beyond ASCII. To a shell they are letters like any other,
    # so the tree of the text with other letters in their places is the same, byte for byte.
    root = _parser().parse(_BEYOND_ASCII.sub(b"x", source)).root_node
    if root.has_error:
        doubts.append("it is not a complete shell command")
    reader = _Reader(source)
    reader.read(root)
    return Script(
        tuple(reader.commands), tuple(reader.reads), tuple(reader.writes), tuple(dict.fromkeys(doubts + reader.doubts))
    )


class _Reader:
    """Walks the syntax tree once."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self.commands: list[SimpleCommand] = []
        self.reads: list[Word] = []
        self.writes: list[str] = []
        self.doubts: list[str] = []

    def read(self, root: Node) -> None:
        for node in _descendants(root):
            if node.type == "((":
                self.doubts.append("it computes, and may set variables")
            if not node.is_named or node.type == "ERROR":
                continue
            if node.type not in _PLAIN:
                self.doubts.append(_DOUBTS.get(node.type, f"it uses {node.type.replace('_', ' ')}"))
            self._look_at(node)

    def _look_at(self, node: Node) -> None:
        kind = node.type
        if kind == "command":
            self.commands.append(self._command(node))
        elif kind == "test_command":
            name = "[[" if self._text(node).startswith("[[") else "["
            self.commands.append(SimpleCommand(self._text(node), (Word(name, name),)))
        elif kind == "file_redirect":
            self._redirection(node)
        elif kind == "expansion" and not _HARMLESS_EXPANSION.fullmatch(self._text(node)):
            self.doubts.append(f"{self._text(node)} may run or change something")
        elif kind == "arithmetic_expansion" and not _HARMLESS_ARITHMETIC.fullmatch(self._text(node)):
            self.doubts.append(f"{self._text(node)} may run something")
        elif kind == "variable_assignment" and (node.parent is None or node.parent.type != "command"):
            self.doubts.append(f"it sets a variable: {self._text(node)}")
        elif kind in ("translated_string", "array", "subscript"):
            self.doubts.append(f"{self._text(node)} is not plain text")

    def _command(self, node: Node) -> SimpleCommand:
        words: list[Word] = []
        assignments: list[str] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                assignments.append(self._text(child))
            elif child.type == "command_name":
                words.append(self._word(child.named_children[0] if child.named_children else child))
            elif not child.type.endswith("_redirect"):
                words.append(self._word(child))
        return SimpleCommand(self._text(node), tuple(words), tuple(assignments))

    def _redirection(self, node: Node) -> None:
        operator = next((self._text(child) for child in node.children if not child.is_named), "")
        target = node.child_by_field_name("destination")
        if target is None:
            # Closing a descriptor, as in 2>&-.
            return
        word = self._word(target)
        if operator == "<":
            self.reads.append(word)
        elif operator in (">&", "<&") and word.text.isdigit():
            return
        elif operator not in _WRITES or word.text != "/dev/null" or word.dynamic:
            self.writes.append(self._text(node))

    def _word(self, node: Node) -> Word:
        source = self._text(node)
        text, dynamic = self._value(node)
        unquoted = "".join(self._text(child) for child in _plain_pieces(node))
        brace = re.search(r"\{[^{}]*(?:,|\.\.)[^{}]*\}", unquoted) is not None
        return Word(text, source, dynamic or brace, pattern=re.search(r"(?<!\\)[*?\[]", unquoted) is not None)

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


_DOUBTS: Final = {
    "function_definition": "it defines a function",
    "declaration_command": "it sets variables",
    "unset_command": "it unsets variables",
    "c_style_for_statement": "it uses an arithmetic loop",
}


def _descendants(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _plain_pieces(node: Node) -> Iterator[Node]:
    if node.type == "concatenation":
        yield from (child for child in node.children if child.type not in ("raw_string", "string"))
    elif node.type not in ("raw_string", "string"):
        yield node


def _strange_characters(text: str) -> Iterator[str]:
    """What looks like something else than it is."""
    for char in text:
        category = unicodedata.category(char)
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co") and char not in "\n\t":
            yield f"it contains the invisible character U+{ord(char):04X}"
        elif category == "Zs" and char != " ":
            yield f"it contains the unusual space U+{ord(char):04X}"


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
