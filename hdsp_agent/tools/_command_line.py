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
    from tree_sitter import Language, Node, Parser

__all__ = ["CommandWord", "Script", "SimpleCommand", "parse_script"]

_LONGEST: Final = 10_000
_DEEPEST: Final = 150
"""Each level of a substitution is a few levels of the tree, and its text is looked at on every one."""
_PLAIN: Final = frozenset(
    {"program", "list", "pipeline", "command", "command_name", "word", "number", "string", "string_content", "raw_string", "concatenation",
     "redirected_statement", "file_redirect", "file_descriptor", "heredoc_redirect", "heredoc_start", "heredoc_body", "heredoc_content", "heredoc_end",
     "herestring_redirect", "negated_command", "subshell", "compound_statement", "do_group", "if_statement", "elif_clause", "else_clause", "while_statement",
     "for_statement", "case_statement", "case_item", "test_command", "unary_expression", "binary_expression", "parenthesized_expression", "negation_expression",
     "test_operator", "regex", "extglob_pattern", "variable_name", "special_variable_name", "simple_expansion", "expansion", "command_substitution",
     "process_substitution", "arithmetic_expansion", "variable_assignment", "ansi_c_string", "translated_string", "comment", "brace_expression",
     "array", "subscript"}
)  # fmt: skip
# A name in a subscript or an offset is computed, and what it holds can then be run: only numbers are harmless there.
_HARMLESS_EXPANSION: Final = re.compile(
    r"\$\{#?\w+(?:\[(?:\d+|[@*])\])?(?:(?::?[-+?]|%%?|##?|//?|\^\^?|,,?)[^`$\\\[{}]*|: *-?\d+(?::-?\d+)?)?\}"
)
_HARMLESS_ARITHMETIC: Final = re.compile(r"\$\(\([\d\s+\-*/%()<>=!&|^~]*\)\)")
_LOOP_VARIABLE: Final = re.compile(r"(?!.*_proxy$)[a-z_][a-z0-9_]*")
"""Names of which none is known to change what later commands do, as ``PATH`` and ``IFS`` are."""
_DESCRIPTOR_VARIABLE: Final = re.compile(r"\{\w+(?:\[.*\])?\}")
_SUMS: Final = re.compile(r"\(\(|-(?:eq|ne|lt|le|gt|ge|v|R)\b")
_HERE_DOCUMENT: Final = re.compile(rb"""(['"]?)(\w+)\1""")
_AFTER_HERE_DOCUMENT: Final = re.compile(rb"[\w\s./|&;<>=)-]*")
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_WRITES: Final = (">", ">>", "&>", "&>>", ">|", ">&", "<>")


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
    assignments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    """A whole command line."""

    commands: tuple[SimpleCommand, ...]
    reads: tuple[CommandWord, ...] = ()
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
    root = _new_parser().parse(_BEYOND_ASCII.sub(b"x", source)).root_node
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
        self.reads: list[CommandWord] = []
        self.writes: list[str] = []
        self.doubts: list[str] = []

    def read(self, root: Node) -> None:
        for node, depth in _descendants(root):
            if depth == _DEEPEST:
                self.doubts.append("it is nested too deeply to be judged")
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
            self.commands.append(self._test(node, name))
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
        elif kind == "command_substitution" and self._text(node).startswith("`") and "\\" in self._text(node):
            # The grammar does not look behind backslashes in back quotes; the shell takes them off and runs what is there.
            self.doubts.append(f"{self._text(node)} has back quotes within back quotes")
        elif kind == "for_statement":
            self._loop(node)
        elif kind == "heredoc_redirect":
            self._here_document(node)

    def _test(self, node: Node, name: str) -> SimpleCommand:
        source = self._text(node)
        if name == "[[" and _SUMS.search(source):
            self.doubts.append(f"{source} computes, and may run what a variable holds")
        # The words are only looked through for what is not to be read or written.
        words = [CommandWord(piece, piece) for piece in source.split()[1:]]
        return SimpleCommand(source, (CommandWord(name, name), *words))

    def _loop(self, node: Node) -> None:
        """Its variable is set to each value in turn, and words of the commands in it are made of that."""
        variable = node.child_by_field_name("variable")
        if self._text(node).startswith("select"):
            self.doubts.append("it lets somebody choose")
        elif variable is None or not _LOOP_VARIABLE.fullmatch(self._text(variable)):
            self.doubts.append(f"it sets a variable: {self._text(node).splitlines()[0]}")
        self.reads += [self._word(value) for value in node.children_by_field_name("value") if value.type == "word"]

    def _here_document(self, node: Node) -> None:
        """Where the grammar and the shell could disagree about its end, or the shell works its text out, is a doubt."""
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        found = None if start is None else _HERE_DOCUMENT.fullmatch(self._source, start.start_byte, start.end_byte)
        only_one = self._source.count(b"<<") == 1 + self._source.count(b"<<<")
        if start is None or end is None or found is None or not only_one:
            self.doubts.append("where its here-document ends is not plain")
            return
        lines = self._source.split(b"\n")
        first, last = start.start_point[0] + 1, end.start_point[0]
        # A quote that goes over the end of the line would put the document's beginning elsewhere.
        plain = _AFTER_HERE_DOCUMENT.fullmatch(lines[first - 1][start.end_point[1] :]) is not None
        is_end = [(line.lstrip(b"\t") if self._text(node).startswith("<<-") else line) == found[2] for line in lines]
        body = b"\n".join(lines[first:last])
        if not plain or first > last or not is_end[last] or any(is_end[first:last]):
            self.doubts.append("where its here-document ends is not plain")
        elif not found[1] and re.search(rb"[$`\\]", body):
            self.doubts.append("the shell works out the text of its here-document")

    def _command(self, node: Node) -> SimpleCommand:
        words: list[CommandWord] = []
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

    def _word(self, node: Node) -> CommandWord:
        source = self._text(node)
        text, dynamic = self._value(node)
        unquoted = "".join(self._text(child) for child in _plain_pieces(node))
        brace = re.search(r"\{[^{}]*(?:,|\.\.)[^{}]*\}", unquoted) is not None
        if re.search(r"\{.*,.*\}", unquoted, re.DOTALL):
            self.doubts.append(f"{source} stands for several words")
        if _DESCRIPTOR_VARIABLE.fullmatch(source):
            self.doubts.append(f"{source} may set a variable")
        return CommandWord(text, source, dynamic or brace, pattern=re.search(r"(?<!\\)[*?\[]", unquoted) is not None)

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


def _strange_characters(text: str) -> Iterator[str]:
    """What looks like something else than it is."""
    for char in text:
        category = unicodedata.category(char)
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co") and char not in "\n\t":
            yield f"it contains the invisible character U+{ord(char):04X}"
        elif category == "Zs" and char != " ":
            yield f"it contains the unusual space U+{ord(char):04X}"


def _new_parser() -> Parser:
    """A parser of its own for each text: one is not to be shared between threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())
