"""What is found in a command line with the shell's whole grammar: commands, their words, and where they lead."""

from __future__ import annotations

import pytest

from hdsp_agent.tools._command_line import Script, parse_script


def words_of(script: Script) -> list[list[str]]:
    return [[word.text for word in command.words] for command in script.commands]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("ls", [["ls"]]), ("ls 'a b' \"c d\" e\\ f 7", [["ls", "a b", "c d", "e f", "7"]]), ("ls | wc", [["ls"], ["wc"]]), ("ls; pwd", [["ls"], ["pwd"]]), ("ls && pwd || id", [["ls"], ["pwd"], ["id"]]),
        ("if ls; then pwd; fi", [["ls"], ["pwd"]]), ("( ls )", [["ls"]]), ("{ ls; }", [["ls"]]), ("! ls", [["ls"]]), ("x &", [["x"]]), ("time ls", [["time", "ls"]]), ("case x in a) ls;; esac", [["ls"]]), ("f() { ls; }", [["ls"]]),
        ("x $(ls -l)", [["x", "$(ls -l)"], ["ls", "-l"]]), ("x `ls`", [["x", "`ls`"], ["ls"]]), ("x <(ls)", [["x", "<(ls)"], ["ls"]]), ('x "a $(ls) b"', [["x", "a $(ls) b"], ["ls"]]), ("A=b ls x", [["ls", "x"]]), ("A=$(ls) x", [["x"], ["ls"]]),
        ("[ a > b ]", [["[", "a", ">", "b", "]"]]), ("[[ a > b ]]", [["[[", "a", ">", "b", "]]"]]), ("", []), ("A=b", []), ("for i in a; do ls $i; done", [["ls", "$i"]]), ("x éé 'é' 日本", [["x", "éé", "é", "日本"]]), ('"ls" x', [["ls", "x"]]), ("l's' x", [["ls", "x"]]),
        # Behind a redirection a command goes on.
        ("ls > f x y", [["ls", "x", "y"]]), ("ls 2>/dev/null x", [["ls", "x"]]), ("ls > f x > g y", [["ls", "x", "y"]]), ("cat <<E x\nwords\nE", [["cat", "x"]]), ("cat <<< words", [["cat"]]), ("cat <<< words x", [["cat", "x"]]), ("cat < a x", [["cat", "x"]]), ("ls >f x | wc", [["ls", "x"], ["wc"]]),
        *((f"x > {target} y", [["x", "y"]]) for target in ("$f", "${f}", "$((1))", "$'a'", "{1..2}", "'a'", '"a"', 'a"b"', "5", "f")),
        ("x > $(ls) y", [["x", "y"], ["ls"]]), ("x > <(ls) y", [["x", "y"], ["ls"]]), ("x > f $y", [["x", "$y"]]), ("x > f 'a b'", [["x", "a b"]]),
    ],
)  # fmt: skip
def test_the_commands_of_a_line(text: str, commands: list[list[str]]) -> None:
    assert words_of(parse_script(text)) == commands


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        *((f"ls {sign} f", [], ["f"]) for sign in (">", ">>", "&>", "&>>", ">|", ">&", "2>", "2>>")), ("ls < f", ["f"], []), ("cat < a > b", ["a"], ["b"]), ("ls > f > g", [], ["f", "g"]), ("ls > 'a b'", [], ["a b"]), ("ls > $f", [], ["$f"]),
        ("ls 2>/dev/null", [], []), ("ls 2>&1", [], []), ("ls 2>&12", [], []), ("ls 2>&-", [], []), ("ls > /dev/null2", [], ["/dev/null2"]), ("ls > 7z", [], ["7z"]), ("ls >&2 x", [], []), ("ls &> /dev/null", [], []),
        ("[ a > b ]", [], ["b"]), ("[ a < b ]", ["b"], []), ("[[ a > b ]]", [], []), ("[[ a < b ]]", [], []), ("[ a = > ]", [], ["]"]), ("[ a -gt b ]", [], []), ("for i in a 'b c'; do ls; done", ["a", "b c"], []), ("cat <<< f", [], []), ("cat <<E\nf\nE", [], []),
    ],
)  # fmt: skip
def test_what_a_line_reads_and_writes_by_redirections(text: str, reads: list[str], writes: list[str]) -> None:
    script = parse_script(text)
    assert [word.text for word in script.reads] == reads
    assert [word.text for word in script.writes] == writes
    for word in (*script.reads, *script.writes):
        assert word.source.strip("'") == word.text


@pytest.mark.parametrize(
    "text",
    [
        "x $y", "x ${y}", "x $(ls)", "x `ls`", "x <(ls)", "x >(ls)", "x $((1+1))", "x $'a'", "x {1..3}", "f() { ls; }", "export A", "declare A", "A=b", "A=b ls", "for i in a; do ls; done", "for ((;;)); do ls; done", "a=(x y)", "a[0]=b", "echo ${a[0]}", "x 'a", "ls <> f", "x > $f", 'x "$y"', "x a$y",
    ],
)  # fmt: skip
def test_what_only_the_shell_knows_is_hidden(text: str) -> None:
    assert parse_script(text).has_hidden_parts


@pytest.mark.parametrize("text", ["ls 'a' \"b\" c\\ d 7 *", "ls > f < g", "if ls; then pwd; fi", "[ a > b ]", "while ls; do pwd; done", "x '$y' \\$z", "cat <<'E'\n$y\nE"])  # fmt: skip
def test_other_lines_hide_nothing(text: str) -> None:
    assert not parse_script(text).has_hidden_parts


@pytest.mark.parametrize(
    ("text", "joins"),
    [("ls | wc", True), ("x $(ls)", True), ("x `ls`", True), ("x <(ls)", True), ("ls; wc", False), ("ls && wc", False), ("ls > f; wc < f", False), ("x $y", False)],
)  # fmt: skip
def test_what_is_handed_from_one_command_to_another(text: str, joins: bool) -> None:
    assert parse_script(text).joins is joins


@pytest.mark.parametrize(
    ("word", "text", "is_pattern", "is_dynamic"),
    [
        ("a*", "a*", True, False), ("'a*'", "a*", False, False), ('"a*"', "a*", False, False), ("'a*'b", "a*b", False, False), ('"a*"b', "a*b", False, False), ("a*'b'", "a*b", True, False), ("a\\*", "a*", False, False), ("a?", "a?", True, False), ("[ab]", "[ab]", True, False),
        ("{a,b}", "{a,b}", False, True), ("'{a,b}'x", "{a,b}x", False, False), ('"{1..3}"x', "{1..3}x", False, False), ("{1..3}", "{1..3}", False, True), ("{a}", "{a}", False, False), ("x{a,b}y", "x{a,b}y", False, True), ('"a$b"', "a$b", False, True), ("a$b", "a$b", False, True), ("$b", "$b", False, True),
        ("7", "7", False, False), ('"a\\"b"', 'a"b', False, False), ('"a\\\\b"', "a\\b", False, False), ('"a\\$b"', "a$b", False, False), ('"a\\nb"', "a\\nb", False, False), ("'a\\b'", "a\\b", False, False), ("a'$b'", "a$b", False, False), ('"a"\'b\'$c', "ab$c", False, True), ("''", "", False, False), ("a'b'$", "ab$", False, False),
    ],
)  # fmt: skip
def test_what_a_word_is(word: str, text: str, is_pattern: bool, is_dynamic: bool) -> None:
    [command] = parse_script(f"x {word}").commands
    [found] = command.words[1:]
    assert (found.text, found.source, found.pattern, found.dynamic) == (text, word, is_pattern, is_dynamic)


def test_a_line_of_thirty_thousand_characters_is_read() -> None:
    assert words_of(parse_script("x" * 30_000)) == [["x" * 30_000]]
    too_long = parse_script("x" * 30_001)
    assert (too_long.commands, too_long.has_hidden_parts, too_long.joins) == ((), True, False)


def test_what_is_nested_more_deeply_than_is_followed_is_hidden() -> None:
    # The tree begins with the whole line, and below the innermost brackets are a command, its name, and the word.
    assert not parse_script("( " * 146 + "ls" + " )" * 146).has_hidden_parts
    assert parse_script("( " * 147 + "ls" + " )" * 147).has_hidden_parts
    assert words_of(parse_script("( " * 149 + "ls" + " )" * 149)) == [["ls"]]
    assert words_of(parse_script("( " * 150 + "ls" + " )" * 150)) == []


def test_words_of_a_comparison_are_what_they_are() -> None:
    [command] = parse_script("[ a > b ]").commands
    assert not any(word.dynamic or word.pattern for word in command.words)
    assert not Script(()).has_hidden_parts
