"""Command lines made by chance: usual ones, and usual ones with what tears a grammar apart put into them."""

from __future__ import annotations

from random import Random

from .marked_programs import BUILT_IN, MARKED

__all__ = ["command_line"]

_WORDS = (
    "-l", "-la", "-n", "5", "--oneline", "a.py", "data/one.csv", "data", ".", "'a b.txt'", '"a b.txt"', "a\\ b.txt", "'it''s'", '"x\\"y"', "*.py", "data/*.csv", "?.py", "[ab].py", "'*'", "\\*", "HEAD~1",
    "HEAD@{1}", "--format='%H > %s'", '"foo$"', "foo$", "-type", "f", "-name", "'*.py'", "x=y", "A=b", "{}", "2", "''", '""', "a#b", "'#'", "\\#", "%s", "+x", "--", "-", "a:b", "@x", "^x", "!", "a,b", "]", "[",
    "=", "~x~", "안녕", "'a\nb'", '"a\nb"', "-x", "in", "if", "do", "time", "then",
)  # fmt: skip
_REDIRECTIONS = (
    "2>/dev/null", ">/dev/null", "2>&1", ">&2", "1>&2", "< notes.txt", "<a.py", "&>/dev/null", "> out.txt", ">>out.txt", "2> err.txt", ">&2024", "2>&-", "<<< x", ">| out.txt", "<> a.py", "3>x", "22>x", "&>>x",
)  # fmt: skip
_OPERATORS = (" | ", "|", " && ", "&&", " || ", "; ", ";", "\n", " \n ", "|\n", "&& # x\n", " & ", "|& ", ";;")
_PIECES = (
    "$(evil)", "`evil`", "; evil", "\nevil\n", "<<EOF\n", "<<E touch PWN\nE", "\nEOF\n", "\\", "\\\n", "# \\\nevil", "'", '"', "$", "${x}", "$'", "$\"", "(", ")", "{", "}", "{a,b}", "{1..3}", "!", "[[", "]]", "#", " #",
    "~", "*", "?", "[", "]", "[^a]", "[[:alpha:]]", "\t", "\r", "\u200b", "\u00a0", "=", "A=b ", "time ", "command ", "if ", "then ", "do ", "done", "fi", "esac", "function f ", "f() ", "exec ", "2", ">", "<",
    ">&", "<&", "|", "&", ";", "2>/dev/null ", "evil", "touch PWN", "&>", "-- \\ #;touch PWN", "\x00"[:0], "$[1]", "$((1))", "@(a)", "+(a)", "\\'", '\\"', "''", '""', "\u2028", "\\;", "{fd}>x", "coproc ",
)  # fmt: skip


def command_line(chance: Random) -> str:
    """One line: some as people write them, most with one to three pieces put where they do not belong."""
    pieces = [_command(chance)]
    while chance.random() < 0.45:
        pieces += [chance.choice(_OPERATORS), _command(chance)]
    text = "".join(pieces)
    for _ in range(chance.choice((0, 0, 1, 1, 1, 2, 3))):
        text = _torn(chance, text)
    return text


def _command(chance: Random) -> str:
    name = chance.choice(
        (
            *MARKED,
            *BUILT_IN,
            "command",
            "time",
            "command -p",
            "nice -n 5",
            "timeout 5",
            "LANG=C",
            "env LANG=C",
            "nohup",
            "'ls'",
            '"git"',
            "l\\s",
        )
    )
    words = [name, *(chance.choice(_WORDS) for _ in range(chance.randint(0, 4)))]
    if chance.random() < 0.3:
        words.insert(
            chance.choice((len(words), len(words), chance.randint(0, len(words)))), chance.choice(_REDIRECTIONS)
        )
    return chance.choice((" ", " ", " ", "  ", "\t")).join(words)


def _torn(chance: Random, text: str) -> str:
    at = chance.randint(0, len(text))
    kind = chance.random()
    if kind < 0.75:
        return text[:at] + chance.choice(_PIECES) + text[at:]
    if kind < 0.9:
        return text[:at] + text[at + chance.randint(1, 3) :]
    other = chance.randint(0, len(text))
    return text[:at] + text[min(at, other) : max(at, other)] + text[at:]
