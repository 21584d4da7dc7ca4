"""Slash commands: where they come from, and what they say."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from hdsp_agent.agent.user_messages import SlashCommands, _builtin_commands
from hdsp_agent.agent.user_messages._slash_commands import spoken_command
from hdsp_agent.errors import InvalidInput, NotFound

BUILT_IN = [command.name for command in _builtin_commands.BUILT_IN]


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def trusting(folder: Path) -> Path:
    return folder


def project(tmp_path: Path) -> Path:
    return tmp_path / "work" / ".hdsp" / "commands"


async def test_a_workspaces_command_comes_before_the_persons_and_that_before_a_built_in(tmp_path: Path) -> None:
    person = tmp_path / "home" / "commands"
    write(person, "fix.md", "Mend it my way")
    write(person, "plot.md", "Plot it")
    write(project(tmp_path), "plot.md", "Plot it the team's way: $ARGUMENTS!")
    book = SlashCommands(person, trusting)
    listed = await book.listed(str(tmp_path / "work"))
    assert [command.name for command in listed] == sorted([*BUILT_IN, "plot"])
    assert {command.name: command.source for command in listed} == {
        **dict.fromkeys(BUILT_IN, "built-in"),
        "fix": "global",
        "plot": "project",
    }
    plot = await book.get("plot", str(tmp_path / "work"))
    assert plot is not None
    assert plot.filled(" sales ") == "Plot it the team's way: sales!"
    fix = await book.get("fix", None)
    assert fix is not None
    assert fix.filled("") == "Mend it my way"
    assert fix.filled("cell 3") == "Mend it my way\n\ncell 3"
    assert await book.get("nothing", None) is None


async def test_what_stands_in_front_of_a_command_says_what_it_is(tmp_path: Path) -> None:
    write(
        project(tmp_path),
        "report.md",
        "---\ndescription: Write a report\nargument-hint: [quarter]\nmode: ask\nother: 1\n---\n\nReport on it.\n---\nEnd.\n",
    )
    command = await SlashCommands(trusted=trusting).get("report", str(tmp_path / "work"))
    assert command is not None
    assert (command.shown.description, command.shown.argument_hint, command.mode) == (
        "Write a report",
        "[quarter]",
        "ask",
    )
    assert command.text == "Report on it.\n---\nEnd."


@pytest.mark.parametrize(
    ("fact", "label"),
    [
        ("cell: Check the units", "Check the units"),
        ("cell: true", "Check units"),
        ("cell: false", None),
        ("description: About it", None),
        ("cell: [one, two]", "[one] [two]"),
        (f"cell: {'x' * 100}", "x" * 60),
    ],
)
async def test_a_command_says_whether_the_menus_of_cells_have_it(tmp_path: Path, fact: str, label: str | None) -> None:
    write(project(tmp_path), "check-units.md", f"---\n{fact}\n---\nCheck them.")
    command = await SlashCommands(trusted=trusting).get("check-units", str(tmp_path / "work"))
    assert command is not None
    assert command.shown.cell_label == label


async def test_the_built_in_commands_for_cells_are_about_a_cell() -> None:
    at_cells = [command for command in await SlashCommands().all(None) if command.shown.cell_label is not None]
    assert {"explain", "improve", "document", "test", "speed-up", "add-types"} < {one.shown.name for one in at_cells}
    for command in at_cells:
        assert command.filled("the cell").endswith("\n\nthe cell")


@pytest.mark.parametrize(
    ("name", "label", "wish"),
    [
        ("to-function", "Turn into a Function", "Turn what I name below into a function"),
        ("to-pandas", "Rewrite with pandas", "Rewrite what I name below with pandas"),
        ("to-polars", "Rewrite with Polars", "Rewrite what I name below with Polars"),
        ("to-sql", "Rewrite as SQL", "Rewrite what I name below as SQL"),
        ("to-plot", "Show as a Plot", "Show what I name below as a plot"),
    ],
)
async def test_a_cell_is_converted_by_a_command_of_its_menu(name: str, label: str, wish: str) -> None:
    command = await SlashCommands().get(name, None)
    assert command is not None and command.shown.cell_label == label
    assert command.filled("cell 2").startswith(wish)


async def test_what_is_wrong_with_a_file_spoils_no_other_command(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = project(tmp_path)
    write(folder, "good.md", "Good")
    write(folder, "facts.md", "---\ndescription: [never: closed\n---\nStill said")
    write(folder, "empty.md", "---\ndescription: Nothing\n---\n\n")
    write(folder, "two words.md", "Not to be typed")
    write(folder, "notes.txt", "No command")
    write(folder, "long.md", "x" * 200_001)
    (folder / "binary.md").write_bytes(b"\xff\xfe\xfa")
    (folder / "folder.md").mkdir()
    if os.name == "posix":
        write(tmp_path / "elsewhere", "secret.md", "A key")
        (folder / "secret.md").symlink_to(tmp_path / "elsewhere" / "secret.md")
    with caplog.at_level(logging.WARNING):
        listed = await SlashCommands(trusted=trusting).listed(str(tmp_path / "work"))
    assert sorted({command.name for command in listed} - set(BUILT_IN)) == ["facts", "good"]
    assert "facts.md" in caplog.text
    assert "long.md" in caplog.text


async def test_facts_that_stand_for_more_than_fits_anywhere_are_left_out(tmp_path: Path) -> None:
    lines = [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 12)]
    facts = "\n".join(["a0: &a0 [x]", *lines, "description: *a11"])
    write(project(tmp_path), "sum.md", f"---\n{facts}\n---\nSum up.")
    command = await SlashCommands(None, trusting).get("sum", str(tmp_path / "work"))
    assert command is not None and (command.shown.description, command.text) == (None, "Sum up.")


async def test_a_link_in_the_folder_leads_no_change_of_a_command_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine", "utf-8")
    write(project(tmp_path), "sum.md", "Sum up.")
    (project(tmp_path) / ".sum.md.new").symlink_to(elsewhere)
    book = SlashCommands(None, trusting)
    await book.write("sum", "project", "Sum it up.", str(tmp_path / "work"))
    assert elsewhere.read_text("utf-8") == "mine"
    assert await book.file("sum", "project", str(tmp_path / "work")) == "Sum it up."


async def test_a_command_that_is_no_text_of_its_size_is_not_shown_to_be_changed(tmp_path: Path) -> None:
    write(project(tmp_path), "long.md", "x" * 200_001)
    (project(tmp_path) / "bytes.md").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(project(tmp_path) / "endless.md")
    book = SlashCommands(None, trusting)
    for name, error in (("long", InvalidInput), ("bytes", InvalidInput), ("endless", NotFound), ("none", NotFound)):
        with pytest.raises(error):
            await book.file(name, "project", str(tmp_path / "work"))


async def test_the_built_in_commands_say_something_with_and_without_arguments() -> None:
    for command in await SlashCommands().all(None):
        assert command.shown.description
        assert "$ARGUMENTS" not in command.filled("")
        assert command.filled("cell 7").endswith("cell 7")


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("/fix", ("fix", "")),
        ("  /fix cell 3\nand 4", ("fix", "cell 3\nand 4")),
        ("/clean-up\nall", ("clean-up", "all")),
        ("/usr/bin/python fails", None),
        ("see /fix", None),
        ("/", None),
        ("", None),
    ],
)
def test_only_a_message_that_begins_with_a_name_speaks_a_command(text: str, spoken: tuple[str, str] | None) -> None:
    assert spoken_command(text) == spoken
