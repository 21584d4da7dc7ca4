"""Every reason why something cannot be kept or brought back has a code that pages word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import hdsp_agent
from hdsp_agent._private_files import storage_error
from hdsp_agent.checkpoints.failure_codes import Why, WhyCode, why_of
from hdsp_agent.checkpoints.files.records import LeftOut
from hdsp_agent.checkpoints.timeline._reasons import StepTool
from hdsp_agent.errors import HdspAgentError, InvalidInput, NotFound, Unavailable
from hdsp_agent.tools import built_in_tools

PACKAGE = Path(hdsp_agent.__file__).parent
FOLDERS = ("checkpoints", "agent/checkpoints/checkpoint_service.py")
CODES = frozenset(get_args(WhyCode))
OWN_CODES = {"storage_unavailable", "cell_conflict", "unsaved_elsewhere"}
NOT_FOR_PAGES = {
    "A file's raw name must be base64.",  # programs alone say raw names
    "The key of the variable store is too short.",  # a mistake of ours
    "This agent keeps no checkpoints.",  # an agent without a server
    "{} is not in the workspace {}.",
    "The report of {} is larger than {} kB, so it is not kept.",  # said in the log
    "{} is there already. Name another file, or move it away.",  # the command line names files
    "Saving takes longer than {} seconds.",  # said in the conversation
    "{}: {}",
}
"""Said by the command line, or to programs, or in the conversation."""
READERS = {
    "read_file", "list_files", "search_files", "read_notebook", "wait_run", "inspect_variables", "list_kernels",
    "read_command_output", "fetch_url", "ask_followup_question", "update_todo_list", "switch_mode",
    "attempt_completion", "answer", "search_memory", "read_memory", "search_tasks",
    "search_mcp_tools", "list_mcp_resources",
}  # fmt: skip
"""Tools before which nothing is saved."""


def classes(of: type[HdspAgentError] = HdspAgentError) -> Iterator[str]:
    yield of.__name__
    for below in of.__subclasses__():
        yield from classes(below)


def sentence(node: ast.expr) -> str:
    """What is said, with a gap for each value."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join("{}" if isinstance(one, ast.FormattedValue) else sentence(one) for one in values)
        case ast.Call(func=ast.Attribute(value=below)):
            return sentence(below)
        case _:
            return "?"


def raised() -> Iterator[tuple[str, str, str | None, bool]]:
    """Every error that is made there: where, what it says, its code, and whether that is a known one."""
    names = set(classes())
    for place in FOLDERS:
        root = PACKAGE / place
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            if "runtime" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                    why = next((one.value for one in node.keywords if one.arg == "why"), None)
                    codes = [one.value for one in ast.walk(why) if isinstance(one, ast.Constant)] if why else []
                    said = [str(code) for code in codes if isinstance(code, str)]
                    where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                    yield where, sentence(node.args[0]) if node.args else "?", ",".join(said) or None, {*said} <= CODES


def test_every_error_of_checkpoints_names_a_reason_that_pages_know() -> None:
    found = list(raised())
    assert len(found) > 40
    mute = [(where, text) for where, text, code, _ in found if code is None and text not in NOT_FOR_PAGES]
    assert mute == [], "give them a `why`, and words in src/timeline/failuretexts.ts"
    assert [where for where, _, _, is_known in found if not is_known] == []


def test_every_reason_is_given_somewhere() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "failure_codes.py"
    )
    assert [code for code in CODES - OWN_CODES if f'"{code}"' not in text] == []


def worded(file: str, before: str) -> set[str]:
    """What a page has words for, by the keys of a record in a source of its."""
    text = (PACKAGE.parent / "src" / "timeline" / file).read_text(encoding="utf-8").partition(before)[2]
    return set(re.findall(r"^    (\w+): ", text, re.MULTILINE))


def test_pages_have_words_for_every_reason_and_every_tool() -> None:
    assert worded("failuretexts.ts", "export const WORDS") == CODES
    assert worded("checkpointtexts.ts", "export const TOOLS") == set(get_args(StepTool))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Unavailable("…", path="a.ipynb", why="kernel_busy"), "kernel_busy"),
        (storage_error(Path("/x"), "write", OSError(28, "No space left on device")), "storage_unavailable"),
        (NotFound("…"), None),
        (InvalidInput("…", why="a newer version's"), None),
    ],
)
def test_a_reason_comes_with_what_its_words_need(error: HdspAgentError, code: str | None) -> None:
    why = why_of(error)
    assert (why.code if why else None) == code
    assert why is None or dict(why.params) == {name: one for name, one in error.params.items() if name != "why"}


def test_a_reason_in_the_log_that_only_a_newer_version_knows_leaves_its_sentence() -> None:
    line = '{"path": "a.ipynb", "part": "variables", "why": "It is newer.", "coded": {"code": "newer", "params": {}}}'
    assert LeftOut.model_validate_json(line) == LeftOut(path="a.ipynb", part="variables", why="It is newer.")
    known = LeftOut(path="a", part="notebooks", why="…", coded=Why(code="no_kernel"))
    assert LeftOut.model_validate_json(known.model_dump_json()) == known


def test_every_tool_before_which_something_is_saved_is_known_by_name() -> None:
    """A tool that is neither here nor there is new: it needs words in src/timeline/checkpointtexts.ts, or only reads."""
    tools = {tool.name for tool in built_in_tools()}
    assert tools - READERS == set(get_args(StepTool)) - {"restart", "restore"}
