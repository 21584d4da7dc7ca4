"""Which lines are plain, and how they are written anew."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.tools import NotPlain, parse_plain, render


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ls  -la\t x", "ls -la x"), ("ls 'a b'", "ls 'a b'"), ('ls "a b"', "ls 'a b'"), ("ls a\\ b", "ls 'a b'"), ("echo 'it'\\''s'", "echo 'it'\\''s'"), ("echo \"it's\"", "echo 'it'\\''s'"), ("echo ''", "echo ''"),
        ("ls|wc", "ls | wc"), ("ls;pwd", "ls; pwd"), ("ls\n\npwd\n", "ls\npwd"), ("ls&&pwd||id", "ls && pwd || id"), ("ls |\n wc", "ls | wc"), ("ls;", "ls"), ("", ""), ("  # nothing\n", ""), ("ls # x\npwd", "ls\npwd"),
        ("ls;\npwd", "ls\npwd"), ("ls;\n\npwd", "ls\npwd"), ("ls 2>/dev/null", "ls 2>/dev/null"), ("ls >/dev/null 2>&1", "ls 1>/dev/null 2>&1"), ("ls &>/dev/null", "ls 1>/dev/null 2>/dev/null"), ("ls>&2", "ls 1>&2"), ("wc <f", "wc <f"), ("ls > 'a b'", "ls 1>'a b'"),
        ("ls >>f", "ls 1>>f"), ("x2>/dev/null", "x2 1>/dev/null"), ("LANG=C ls", "LANG=C ls"), ("time ls -l", "time ls -l"), ("time -p ls", "'time' -p ls"), ("if2 x", "if2 x"), ("'if' x", "'if' x"),
        ("'A=b' x", "'A=b' x"), ("grep foo$ x", "grep 'foo$' x"), ('grep "a$" x', "grep 'a$' x"), ('echo "\\$x"', "echo '$x'"), ('echo "a\\nb"', "echo 'a\\nb'"), ("echo a#b '#'", "echo 'a#b' '#'"), ("echo {}", "echo '{}'"),
        ("echo -- - !", "echo -- - '!'"), ("echo HEAD@{1}", "echo 'HEAD@{1}'"), ("cut -d$'\\t' f", "cut '-d\t' f"), ("echo $'a\\'b\\\\'", "echo 'a'\\''b\\'"), ("echo 안녕", "echo '안녕'"), ("[ -f x ]", "[ -f x ']'"),
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
