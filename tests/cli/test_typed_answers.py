"""What is typed on a real terminal answers only a question that could be read, and nothing hides in that question."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from hdsp_agent.messages import ClineMessage

from .._helpers.forked_python import forked_python
from .._helpers.stored_tasks import said_in
from ._helpers.homes import PROGRAM, Home
from .test_run import DONE, Place, Turn

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")

PROMPT = "what to do instead: "
WAITS = "until [ -e go ]; do sleep 0.05; done"


def command(text: str, id: str) -> Turn:
    return ({"tool": "execute_command", "arguments": {"command": text}, "id": id},)


class Screen:
    """The program on a pseudo-terminal, and the person before it."""

    def __init__(self, place: Place, task: str = "Do it") -> None:
        self._ours, theirs = pty.openpty()
        self._program = subprocess.Popen(
            [forked_python(), *PROGRAM[1:], "run", "--workspace", str(place.workspace), task],
            env=place.home.environment(TERM="dumb"), cwd=place.home.config, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""
        self._looked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._program.poll() is None:
            self._program.kill()
        self._program.wait()
        os.close(self._ours)

    def until(self, wanted: str) -> str:
        """Read until this is on the screen, behind what was waited for before; what came until then."""
        while (at := self.seen.find(wanted, self._looked)) < 0:
            assert self._read(), f"it ended without {wanted!r}:\n{self.seen}"
        before, self._looked = self.seen[self._looked : at], at + len(wanted)
        return before

    def type(self, keys: str) -> None:
        """Press keys; come back when the terminal has them, which is when they are on the screen."""
        os.write(self._ours, keys.encode())
        self.until(keys.replace("\n", "\r\n"))

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self._program.wait(60)

    def _read(self) -> bool:
        try:
            piece = os.read(self._ours, 4096)
        except OSError:
            return False
        self.seen += piece.decode("utf-8", "replace")
        return bool(piece)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    workspace = tmp_path / "work"
    workspace.mkdir()
    yield Place(Home(tmp_path), workspace)


def ran(place: Place, name: str) -> bool:
    return (place.workspace / name).exists()


@pytest.mark.in_short(2)
@pytest.mark.parametrize(("ahead", "then"), [("y\n", "n\n"), ("y\ny\nyes\n", "n\n"), ("y", "\n"), ("yes, do", " it\n")])
def test_what_was_typed_before_a_question_does_not_answer_it(place: Place, ahead: str, then: str) -> None:
    place.speak(command(WAITS, "a"), command("touch seen", "b"), DONE)
    with Screen(place) as screen:
        screen.until(PROMPT)
        screen.type("y\n")
        screen.until("> runs:")
        screen.type(ahead)
        (place.workspace / "go").touch()
        screen.until("touch seen")
        screen.until(PROMPT)
        screen.type(then)
        if then == "\n":
            # Nothing was said: it asks again.
            screen.until(PROMPT)
            screen.type("n\n")
        assert screen.end() == 3, screen.seen
    assert not ran(place, "seen")


def test_a_yes_typed_after_the_question_counts(place: Place) -> None:
    place.speak(command(WAITS, "a"), command("touch seen", "b"), DONE)
    with Screen(place) as screen:
        screen.until(PROMPT)
        screen.type("y\n")
        screen.until("> runs:")
        screen.type("n\n")
        (place.workspace / "go").touch()
        screen.until("touch seen")
        screen.until(PROMPT)
        screen.type("y\n")
        assert screen.end() == 0, screen.seen
    assert ran(place, "seen")


@pytest.mark.in_short(1)
@pytest.mark.parametrize("pasted", ["y\ny\n", "y\ny", "no\n\ny\n"])
def test_pasted_lines_answer_neither_this_question_nor_the_next(place: Place, pasted: str) -> None:
    place.speak(command("touch one", "a"), command("touch two", "b"), DONE)
    with Screen(place) as screen:
        screen.until(PROMPT)
        screen.type(pasted)
        if pasted.endswith("\n"):
            screen.until("Several lines arrived at once")
            screen.until(PROMPT)
            assert not ran(place, "one")
            screen.type("n\n")
        # The rest of a line that was not ended is gone with the answer before it.
        screen.until("touch two")
        screen.until(PROMPT)
        screen.type("n\n")
        assert screen.end() == 3, screen.seen
    assert not ran(place, "two")


def test_a_pasted_text_is_one_answer_to_a_question_in_words(place: Place) -> None:
    asked = {"question": "Which rows?", "follow_up": [{"text": "all"}]}
    place.speak(({"tool": "ask_followup_question", "arguments": asked},), command("touch two", "b"), DONE)
    with Screen(place) as screen:
        screen.until("number from the list: ")
        screen.type("the first\ny\n")
        screen.until("touch two")
        screen.until(PROMPT)
        screen.type("n\n")
        assert screen.end() == 3, screen.seen
    said = said_in(place.home.path, "ui")
    assert "the first\\\\ny" in said or "the first\\ny" in said
    assert not ran(place, "two")


def test_nothing_hides_in_what_a_person_is_asked(place: Place) -> None:
    hidden = "echo safe \x1b[8m\u202e\u200b\u00a0" + "\n" * 200 + "touch two" + " " * 500 + "# \x9b2J"
    file = {"path": "no\u202ete.txt", "content": "a\x1b]0;x\x07\r\nb\u2066\n"}
    question = {"question": "Is \x1b[2Jthis\u200b" + "\n" * 90 + "right?", "follow_up": [{"text": "y\u202ees"}]}
    place.speak(
        ({"tool": "ask_followup_question", "arguments": question},),
        ({"tool": "write_to_file", "arguments": file, "id": "w"},),
        command(hidden, "c"),
        DONE,
    )
    with Screen(place) as screen:
        asked = screen.until("number from the list: ")
        assert "Is ⟨U+001B⟩[2Jthis⟨U+200B⟩\r\n⟨89 empty lines⟩\r\nright?\r\n  1. y⟨U+202E⟩es" in asked
        screen.type("1\n")
        asked = screen.until(PROMPT)
        assert "no⟨U+202E⟩te.txt" in asked and "a⟨U+001B⟩]0;x⟨U+0007⟩\r\n" in asked and "b⟨U+2066⟩" in asked
        screen.type("n\n")
        asked = screen.until(PROMPT)
        assert (
            "  echo safe ⟨U+001B⟩[8m⟨U+202E⟩⟨U+200B⟩⟨U+00A0⟩\r\n  ⟨199 empty lines⟩\r\n"
            "  touch two ⟨500 spaces⟩ # ⟨U+009B⟩2J\r\n"
        ) in asked
        screen.type("n\n")
        assert screen.end() == 3
    assert (
        re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", screen.seen) is None
    )


def test_answers_in_a_pipe_approve_nothing(place: Place) -> None:
    place.speak(command("touch seen", "a"), DONE)
    done = place.run("Do it", stdin="y\n" * 10)
    assert done.code == 3, done.err
    assert not ran(place, "seen")


def test_a_terminal_that_goes_away_answers_nothing(place: Place) -> None:
    place.speak(command("touch seen", "a"), DONE)
    with Screen(place) as screen:
        screen.until(PROMPT)
        # The end of the input, as Ctrl+D says it.
        os.write(screen._ours, termios.tcgetattr(screen._ours)[6][termios.VEOF])
        assert screen.end() == 3, screen.seen
    assert not ran(place, "seen")


@pytest.mark.skipif("approval_flags" not in ClineMessage.model_fields, reason="questions carry no warnings yet")
def test_warnings_stand_right_before_the_question(place: Place) -> None:
    place.speak(command("rm -rf precious", "a"), DONE)
    with Screen(place) as screen:
        asked = screen.until("Allow this?")
        assert asked.endswith("  rm -rf precious\r\n! It deletes folders with everything in them.\r\n")
        screen.until(PROMPT)
        screen.type("n\n")
        assert screen.end() == 3, screen.seen
