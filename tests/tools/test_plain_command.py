"""Which lines are plain, and how they are written anew."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.tools import NotPlain, parse_plain, render
from hdsp_agent.tools._plain_command import PlainRedirection


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ls  -la\t x", "ls -la x"), ("ls 'a b'", "ls 'a b'"), ('ls "a b"', "ls 'a b'"), ("ls a\\ b", "ls 'a b'"), ("echo 'it'\\''s'", "echo 'it'\\''s'"), ("echo \"it's\"", "echo 'it'\\''s'"), ("echo ''", "echo ''"),
        ("ls|wc", "ls | wc"), ("ls;pwd", "ls; pwd"), ("ls\n\npwd\n", "ls\npwd"), ("ls&&pwd||id", "ls && pwd || id"), ("ls |\n wc", "ls | wc"), ("ls;", "ls"), ("", ""), ("  # nothing\n", ""), ("ls # x\npwd", "ls\npwd"),
        ("ls;\npwd", "ls\npwd"), ("ls;\n\npwd", "ls\npwd"), ("ls 2>/dev/null", "ls 2>/dev/null"), ("ls >/dev/null 2>&1", "ls 1>/dev/null 2>&1"), ("ls &>/dev/null", "ls 1>/dev/null 2>/dev/null"), ("ls>&2", "ls 1>&2"), ("wc <f", "wc <f"), ("ls > 'a b'", "ls 1>'a b'"),
        ("ls >>f", "ls 1>>f"), ("x2>/dev/null", "x2 1>/dev/null"), ("LANG=C ls", "LANG=C ls"), ("time ls -l", "time ls -l"), ("time -p ls", "'time' -p ls"), ("if2 x", "if2 x"), ("'if' x", "'if' x"),
        ("'A=b' x", "'A=b' x"), ("grep foo$ x", "grep 'foo$' x"), ('grep "a$" x', "grep 'a$' x"), ('echo "\\$x"', "echo '$x'"), ('echo "a\\nb"', "echo 'a\\nb'"), ("echo a#b '#'", "echo 'a#b' '#'"), ("echo {}", "echo '{}'"),
        ("echo -- - !", "echo -- - '!'"), ("echo HEAD@{1}", "echo 'HEAD@{1}'"), ("cut -d$'\\t' f", "cut '-d\t' f"), ("echo $'a\\'b\\\\'", "echo 'a'\\''b\\'"), ("echo 안녕", "echo '안녕'"), ("[ -f x ]", "[ -f x ']'"),
        ("X Xx aX 'X' \"X\" \\X X", "X Xx aX X X X X"), ("ls >X", "ls 1>X"), ("X=X ls", "X=X ls"), ('ls "\\X"', "ls '\\X'"), ("ls X|X;X", "ls X | X; X"), ("ls # X", "ls"), ("echo $'a\\nb\\tc\\\\d\\'e'", "echo 'a\nb\tc\\d'\\''e'"), ("echo 'X*' X$", "echo 'X*' 'X$'"),
    ],
)  # fmt: skip
def test_a_plain_line_is_written_anew(text: str, written: str) -> None:
    assert render(parse_plain(text)) == written


def test_a_program_with_the_name_of_a_keyword_is_written_in_quotes() -> None:
    keywords = subprocess.run(["bash", "-c", "compgen -k"], capture_output=True, text=True, check=True).stdout.split()
    assert "for" in keywords
    for keyword in set(keywords) - {"time"}:
        assert render(parse_plain(f"'{keyword}' x")) == f"'{keyword}' x"


@pytest.mark.parametrize(
    "text",
    [
        "$x", "a$x", '"$x"', "$(x)", "`x`", '"`x`"', "${x}", "$((1))", "$'\\x41'", "$'a", '$"x"', "ls $", "~", "~/x", "~a", "(ls)", "{ ls; }", "! ls", "[[ x ]]", "if x", "for x", "f() { x; }", "function f", "ls &", "ls & pwd",
        "ls |& wc", "ls ;; x", ";ls", "| ls", "ls |", "ls &&", "ls || ", "ls ; ; x", "A=b", "A=b; ls", "A+=b ls", "a[0]=b ls", "> f", "2>/dev/null", ">f ls", "ls >f x", "ls 2>/dev/null x", "<f cat", "ls <<E\nE",
        "ls <<<x", "ls <>x", "ls >|x", "ls &>x", "ls >&x", "ls 2>&-", "ls <&0", "ls 3>x", "ls 22>x", "ls >>2>x", "ls {x}>y", "ls >{x}>y", "ls >*", "ls > ''", "ls >", "ls > # x", "ls > #x", "ls 'x", 'ls "x', "ls x\\", "ls \\\nx",
        'ls "x\\\ny"', "ls # x\\", "ls # \\\ny", "{a,b}", "a{1..3}", "a{b,c{d,e}}", "[^a]", "a[[:alpha:]]", "a[*]b*", "a[b/c]", "[a*", "time A=b x", "time if", "time time if", "coproc x", "ls\r", "ls\x00", "ls\u00a0x", "ls \u202e", "ls \u2028", "ls \u2029", "ls \ue000", "ls \ud800", "ls\u3000x",
        "x" * 10_001, '[""a]', "[''a]", "[$''a]", "@(a)", "+(a)", "<(ls)",
    ],
)  # fmt: skip
def test_what_only_a_shell_can_read_is_not_plain(text: str) -> None:
    if text == "ls $":
        # A dollar at the end is only a dollar.
        assert render(parse_plain(text)) == "ls '$'"
        return
    with pytest.raises(NotPlain) as problem:
        parse_plain(text)
    assert str(problem.value)


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        ("ls -la | wc", True), ("ls 'a b' \"c d\"", True), ("git log --format='%H'", True), ("ls 2>/dev/null", True), ("ls; pwd\nid", True), ("ls *.py", False), ("ls a\\ b", False), ("ls # x", False),
        ("ls '{x}'", False), ("ls '$x'", False), ('ls "a$"', False), ("ls &>/dev/null", False), ("ls '!'", False), ("ls {}", False), ("ls ?", False), ("ls 'a\\b'", False), ("ls a[b]", False), ("[ -f x ]", False),
    ],
)  # fmt: skip
def test_a_line_is_exact_where_nothing_in_it_needs_more_than_plain_quotes(text: str, is_exact: bool) -> None:
    assert parse_plain(text).is_exact is is_exact


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        ("*.py", "*.py"), ("'*'*", "[*]*"), ('"?"?', "[?]?"), ("'['*", "[[]*"), ("a\\*b*", "a[*]b*"), ("'a'*", "a*"), ("'*'", None), ("\\?", None), ("a[bc]?", "a[bc]?"), ("a[bc]", "a[bc]"), ("a[b]*'*'", "a[b]*[*]"), ("[!a]*", "[!a]*"), ("*'x y'", "*x y"),
        ("$'*'*", "[*]*"), ("$'a'?", "a?"), ("a*$", "a*$"), ("x?y", "x?y"), ("]*", "]*"), ("'é'*", "é*"), ("x", None), ("''", None), ("a]", None), ("*{", "*{"),
    ],
)  # fmt: skip
def test_what_of_a_word_is_a_pattern(word: str, pattern: str | None) -> None:
    [command] = parse_plain(f"ls {word}").commands
    assert command.words[1].pattern == pattern
    assert command.words[1].source == word


def test_a_line_is_read_as_its_commands_and_what_stands_between_them() -> None:
    script = parse_plain("  A=b C='d e' ls 'x y' 2>&1 >>f <g;\n\n pwd | wc 2>/dev/null # c")
    first, second, third = script.commands
    assert first.source == "A=b C='d e' ls 'x y' 2>&1 >>f <g"
    assert first.assignments == (("A", "b"), ("C", "d e"))
    assert [word.text for word in first.words] == ["ls", "x y"]
    assert first.redirections == (
        PlainRedirection(2, "to_output", "1"),
        PlainRedirection(1, "append", "f"),
        PlainRedirection(0, "read", "g"),
    )
    assert (second.source, third.source) == ("pwd", "wc 2>/dev/null")
    assert third.redirections == (PlainRedirection(2, "nowhere"),)
    assert script.operators == ("\n", "|")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ls |", "a command is missing behind |"), ("ls &&\n", "a command is missing behind &&"), ("| ls", "a command is missing before |"), ("ls ; ; x", "a command is missing before ;"), ("(ls)", "it groups commands, or runs some in a shell of their own"), ("ls)", "it groups commands, or runs some in a shell of their own"),
        ("ls # \\", "a backslash stands in a comment"), ("ls &", "it goes on in the background"), ("ls |& x", "it has |&"), ("ls ;; x", "it has ;;"), ("ls ;& x", "it has ;&"), ("A=b", "it sets variables, or only redirects"), (">f", "it sets variables, or only redirects"), ("ls; A=b; pwd", "it sets variables, or only redirects"),
        ("ls &>f", "output and errors go into a file together"), ("ls <<E", "it redirects with <<"), ("ls 3>f", "it redirects with 3>"), ("ls 22>f", "it redirects with -1>"), ("ls 1<f", "it redirects with 1<"), ("ls >|f", "it redirects with >|"), ("ls >&x", "it redirects to another place than its output and its errors"), ("ls >&3", "it redirects to another place than its output and its errors"),
        ("ls >", "a redirection leads nowhere"), ("ls > ;", "a redirection leads nowhere"), ("ls > 2>x", "a redirection leads nowhere"), ("ls > #x", "a redirection leads nowhere"), ("ls > ''", "a redirection leads nowhere"), ("ls > {a}<f", "{a} may set a variable"), ("ls {a}>f", "{a} may set a variable"), ("ls >*", "a redirection leads to a pattern"),
        ("ls >f x", "x stands behind a redirection"), ("a+=b ls", "it sets a variable: a+=b"), ("a[0]=b ls", "it sets a variable: a[0]=b"), ("if ls", "if steers the shell"), ("time A=b ls", "A=b steers the shell"), ("time time do", "do steers the shell"), ("~/x", "~ stands for a folder that only the shell knows"), ("ls {a,b}", "{a,b} stands for several words"), ("ls {1..3}", "{1..3} stands for several words"),
        ("ls [^a]", "[^a] is an unusual pattern"), ("ls [a*", "[a* is an unusual pattern"), ("ls x\\", "a line goes on behind a backslash"), ('ls "x\\\ny"', "a line goes on behind a backslash"), ("ls `x`", "it runs a command within a command"), ('ls "`x`"', "it runs a command within a command"), ("ls 'x", "a quote is not closed"), ('ls "x', "a quote is not closed"),
        ("ls $x", "it has a part that only the shell can fill in"), ('ls "$x"', "it has a part that only the shell can fill in"), ("x" * 10_001, "it is too long to be judged"), ("ls \u2028", "it contains the invisible character U+2028"), ("ls\u00a0", "it contains the unusual space U+00A0"),
    ],
)  # fmt: skip
def test_why_a_line_is_not_plain_is_said(text: str, why: str) -> None:
    with pytest.raises(NotPlain) as problem:
        parse_plain(text)
    assert str(problem.value) == why


@pytest.mark.parametrize("text", ["ls;", "ls\n", "ls\n\n", "ls;\n", " ls ; # x"])
def test_nothing_stands_behind_the_last_command(text: str) -> None:
    script = parse_plain(text)
    assert (len(script.commands), script.operators) == (1, ())


def test_a_line_of_ten_thousand_characters_is_read() -> None:
    assert len(parse_plain("x" * 10_000).commands) == 1


@given(st.lists(st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" \n\t'\"\\$`!*?[]{}~#&;|<>()="), max_size=12), min_size=1, max_size=5))  # fmt: skip
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    script = parse_plain(shlex.join(["x", *words]))
    [command] = script.commands
    assert [word.text for word in command.words] == ["x", *words]
    assert all(word.pattern is None for word in command.words)
    assert shlex.split(render(script)) == ["x", *words]


@given(st.text("ab '\"\\$`!*?[]{}~#&;|<>()=\n\t-2", max_size=30))
def test_what_is_written_anew_is_read_as_the_same(text: str) -> None:
    try:
        script = parse_plain(text)
    except NotPlain:
        return
    again = parse_plain(render(script))
    assert render(again) == render(script)
    assert [[word.text for word in each.words] for each in again.commands] == [
        [word.text for word in each.words] for each in script.commands
    ]
    assert again.operators == script.operators
    assert [each.redirections for each in again.commands] == [each.redirections for each in script.commands]
    assert all(word.pattern is None for each in again.commands for word in each.words)


def test_long_and_deep_lines_are_read_in_time() -> None:
    for piece in ("{", "{,", "[", "'", "\\", "a ", "*", "a|", "2>", "$"):
        text = "ls " + piece * (9_990 // len(piece))
        try:
            parse_plain(text)
        except NotPlain:
            continue


@pytest.mark.parametrize(
    "word",
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "{", "}", "!", "[[", "]]", "coproc", "in"],
)  # fmt: skip
def test_a_word_of_the_shells_own_is_none_of_a_command_but_where_it_is_an_argument(word: str) -> None:
    for text in (f"{word} x", f"ls; {word} x", f"ls | {word}", f"A=1 {word} x"):
        with pytest.raises(NotPlain, match="steers the shell"):
            parse_plain(text)
    for text in (f"ls {word}", f"'{word}' x", f"x{word} x" if word.isalpha() else "x x"):
        assert len(parse_plain(text).commands[0].words) == 2, text
