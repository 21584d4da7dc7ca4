"""Questions that a program may put in its own window: an answer there counts only where the person allows that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.agent import AskNotOpen
from hdsp_agent.agent.external.program_questions import LONGEST_QUESTION
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.errors import ForbiddenByOperator
from hdsp_agent.messages import ClineMessage

from .._helpers.scripted_agent import until
from ._helpers.program import CLAUDE, Program, program, text_of

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

ASKING = GlobalSettings(client_questions={"Claude Code": True})
WRITE: Mapping[str, object] = {"path": "made.txt", "content": "made\n"}


@dataclass
class Window:
    """The program's own window, and the person before it."""

    texts: list[str] = field(default_factory=list)
    given: asyncio.Future[bool | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    taken_back: int = 0

    async def ask(self, text: str) -> bool | None:
        """Show it, and wait for what the person chooses."""
        self.texts.append(text)
        try:
            return await asyncio.shield(self.given)
        except asyncio.CancelledError:
            self.taken_back += 1
            raise


@asynccontextmanager
async def asking(
    home: Path, settings: GlobalSettings = ASKING, policy: OperatorPolicy | None = None, *sources: str
) -> AsyncIterator[tuple[Program, Window]]:
    """A program that can ask."""
    async with program(home, *sources, settings=settings, policy=policy, notebooks=bool(sources)) as claude:
        claude.client, claude.window = replace(CLAUDE, can_ask=True), Window()
        yield claude, claude.window


async def asked_row(claude: Program) -> ClineMessage:
    """The row of the one thing it asked."""
    [row] = await claude.agent.asks(claude.task_id, "tool")
    return row


@pytest.mark.parametrize("yes", [True, False])
async def test_an_answer_there_counts_as_one_here(tmp_path: Path, yes: bool) -> None:
    async with asking(tmp_path) as (claude, window):
        heard: list[str] = []
        claude.sessions.on_answer = lambda client, task_id: heard.append(f"{client.name} {task_id}")
        call = claude.begin("write_to_file", **WRITE)
        question = await claude.asked()
        await until(lambda: window.texts)
        window.given.set_result(yes)
        assert (await call).is_error is not yes
        assert (claude.agent.workspace / "made.txt").exists() is yes
        row = await asked_row(claude)
        assert (row.is_answered, row.denied, row.answered_in) == (yes, None if yes else True, "Claude Code")
        await until(lambda: heard == [f"Claude Code {claude.task_id}"])
        with pytest.raises(AskNotOpen):
            await claude.answer(question, "noButtonClicked")


async def test_the_question_there_shows_all_that_is_done_and_nothing_hides_in_it(tmp_path: Path) -> None:
    async with asking(tmp_path, ASKING, None, "print('harmless') #\u202e noitceles") as (claude, window):
        call = claude.begin("run_cells", path="a.ipynb", cells=["c1"])
        await until(lambda: window.texts)
        assert window.texts[0].splitlines()[:4] == ["Allow this in JupyterLab?", "", "runCells a.ipynb", "cell 1:"]
        assert "print('harmless') #⟨U+202E⟩ noitceles" in window.texts[0]
        window.given.set_result(False)
        assert (await call).is_error


async def test_the_first_answer_counts_and_the_other_question_is_taken_back(tmp_path: Path) -> None:
    async with asking(tmp_path) as (claude, window):
        call = claude.begin("write_to_file", **WRITE)
        question = await claude.asked()
        await until(lambda: window.texts)
        await claude.answer(question, "noButtonClicked")
        assert (await call).is_error
        assert window.taken_back == 1
        window.given.set_result(True)
        row = await asked_row(claude)
        assert (row.denied, row.answered_in) == (True, None)
        assert not (claude.agent.workspace / "made.txt").exists()


async def test_of_two_answers_at_once_one_counts(tmp_path: Path) -> None:
    async with asking(tmp_path) as (claude, window):
        call = claude.begin("write_to_file", **WRITE)
        question = await claude.asked()
        await until(lambda: window.texts)
        here = asyncio.create_task(claude.answer(question, "noButtonClicked"))
        window.given.set_result(True)
        [refused] = await asyncio.gather(here, return_exceptions=True)
        row = await asked_row(claude)
        # Whichever it was, what was done is what the row says.
        assert (await call).is_error is (row.denied is True)
        assert isinstance(refused, AskNotOpen) is (row.answered_in == "Claude Code")
        assert (claude.agent.workspace / "made.txt").exists() is (row.is_answered is True)


async def test_a_call_that_is_given_up_takes_both_questions_back(tmp_path: Path) -> None:
    async with asking(tmp_path) as (claude, window):
        call = claude.begin("write_to_file", **WRITE)
        await until(lambda: window.texts)
        call.cancel()
        await asyncio.wait({call})
        assert window.taken_back == 1
        assert (await asked_row(claude)).is_answered is False


@pytest.mark.parametrize("said", [None, ConnectionResetError("gone"), ValueError("rubbish")])
async def test_what_is_no_answer_leaves_the_question_here(tmp_path: Path, said: Exception | None) -> None:
    async with asking(tmp_path) as (claude, window):
        call = claude.begin("write_to_file", **WRITE)
        question = await claude.asked()
        await until(lambda: window.texts)
        if said is None:
            window.given.set_result(None)
        else:
            window.given.set_exception(said)
        await claude.answer(question, "yesButtonClicked")
        assert not (await call).is_error
        assert (await asked_row(claude)).answered_in is None


@pytest.mark.parametrize(
    ("settings", "fixed"),
    [
        (GlobalSettings(), {}),
        (GlobalSettings(client_questions={"claude code": True}), {}),
        (ASKING, {"clientQuestions": {}}),
        (ASKING, {"clientApprovals": {"Claude Code": "ask"}}),
        (ASKING, {"alwaysAllowWrite": False}),
        (ASKING, {"autoApprovalEnabled": False}),
        (ASKING, None),
    ],
)
async def test_it_is_off_at_first_and_never_for_what_the_operator_wants_asked(
    tmp_path: Path, settings: GlobalSettings, fixed: Mapping[str, JsonValue] | None
) -> None:
    policy = OperatorPolicy(allow_auto_approval=False) if fixed is None else OperatorPolicy(fixed_settings=fixed)
    if fixed and "clientQuestions" in fixed:
        settings = GlobalSettings()
    async with asking(tmp_path, settings, policy) as (claude, window):
        call = claude.begin("write_to_file", **WRITE)
        question = await claude.asked()
        window.given.set_result(True)
        await claude.answer(question, "noButtonClicked")
        assert (await call).is_error and window.texts == []


async def test_what_only_a_person_may_allow_is_asked_here_alone(tmp_path: Path) -> None:
    settings = ASKING.model_copy(update={"mcp_server_commands": True})
    async with asking(tmp_path, settings) as (claude, window):
        (claude.agent.workspace / ".hdspignore").write_text("hidden*\n")
        (claude.agent.workspace / "hidden.txt").write_text("")
        call = claude.begin("execute_command", command="cat *.txt")
        await claude.answer(await claude.asked(), "noButtonClicked")
        assert (await call).is_error and window.texts == []


async def test_a_question_that_is_too_long_to_be_seen_whole_is_asked_here_alone(tmp_path: Path) -> None:
    async with asking(tmp_path) as (claude, window):
        call = claude.begin("write_to_file", path="long.txt", content="word\n" * LONGEST_QUESTION)
        await claude.answer(await claude.asked(), "noButtonClicked")
        assert (await call).is_error and window.texts == []


async def test_an_answer_that_comes_after_it_was_switched_off_does_not_count(tmp_path: Path) -> None:
    async with asking(tmp_path) as (claude, window):
        call = claude.begin("write_to_file", **WRITE)
        question = await claude.asked()
        await until(lambda: window.texts)
        assert await claude.sessions.choose_questions(None, "k1", False)
        window.given.set_result(True)
        await asyncio.sleep(0)
        await claude.answer(question, "noButtonClicked")
        assert "denied" in text_of(await call).lower()


async def test_where_only_answers_here_count_it_cannot_be_switched_on(tmp_path: Path) -> None:
    async with asking(tmp_path, GlobalSettings(), OperatorPolicy(allow_auto_approval=False)) as (claude, _):
        claude.sessions.connect(claude.client)
        [listed] = claude.sessions.connected(None)
        assert not listed.can_ask
        with pytest.raises(ForbiddenByOperator):
            await claude.sessions.choose_questions(None, "k1", True)
        assert not await claude.sessions.choose_questions(None, "nobody", True)


async def test_it_is_listed_whether_it_can_and_may(tmp_path: Path) -> None:
    async with asking(tmp_path, GlobalSettings()) as (claude, _):
        claude.sessions.connect(claude.client)
        told: list[tuple[bool, bool]] = []
        for may_ask in (True, False):
            assert await claude.sessions.choose_questions(None, "k1", may_ask)
            told += [(one.can_ask, one.may_ask) for one in claude.sessions.connected(None)]
        assert told == [(True, True), (True, False)]
