"""Two servers of a person with folders of their own and one database: both have the same, and nothing is lost."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.memory.memory_folder import ASIDE_FOLDER, CONSOLIDATED, HANDBOOK, SUMMARY
from hdsp_agent.memory.note_files import NoteFile
from hdsp_agent.memory.publication import Publication
from hdsp_agent.memory.run_log import MemoryRun, RunLog
from hdsp_agent.memory.sharing import shared_folder
from hdsp_agent.memory.sharing.shared_names import RECORD
from hdsp_agent.memory.usage_counts import UsageCounts

from .._helpers.postgres import TasksDatabase
from ._helpers.shared_home import SharedHome, content, extracted, in_line, publish, shared_home, versions

psycopg = pytest.importorskip("psycopg")

DAY = "2026-11-30"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "database.md"


def test_what_one_server_has_the_other_gets(here: SharedHome, there: SharedHome) -> None:
    here.notes.add("likes polars", day=DAY)
    here.extracted.put(extracted(1))
    here.folder.write(SUMMARY, "# Summary\n")
    here.folder.write("skills/clean/SKILL.md", "---\nname: clean\n---\n")
    UsageCounts(here.folder).add("summary")
    assert here.shared.sync().given == 5
    assert there.shared.sync().taken == 5
    assert content(there) == content(here)
    assert here.shared.sync().given == there.shared.sync().given == there.shared.sync().taken == 0
    assert oct((there.folder.root / "profile.md").stat().st_mode)[-3:] == "600"
    there.notes.add("uses Korean", day=DAY)
    in_line(there, here)
    assert here.texts() == there.texts() == ["likes polars", "uses Korean"]


def test_notes_that_are_added_on_both_at_once_are_on_both(here: SharedHome, there: SharedHome) -> None:
    here.notes.add("first", day=DAY)
    in_line(here, there)
    here.notes.add("from here", day=DAY)
    there.notes.add("from there", day=DAY)
    in_line(here, there)
    assert sorted(here.texts()) == sorted(there.texts()) == ["first", "from here", "from there"]
    assert content(here) == content(there)


def test_a_note_that_both_changed_is_kept_twice_and_said(here: SharedHome, there: SharedHome) -> None:
    note = here.notes.add("likes polars", day=DAY)
    in_line(here, there)
    here.notes.edit(note.id, "likes pandas")
    there.notes.edit(note.id, "likes duckdb")
    assert there.shared.sync().twice == 0
    assert here.shared.sync().twice == 1
    in_line(there, here)
    assert sorted(here.texts()) == sorted(there.texts()) == ["likes duckdb", "likes pandas"]


def test_folders_that_never_met_are_joined_without_losing_anything(here: SharedHome, there: SharedHome) -> None:
    here.notes.add("from here", day=DAY)
    there.notes.add("from there", day=DAY)
    here.extracted.put(extracted(1))
    there.extracted.put(extracted(2))
    in_line(here, there)
    assert sorted(here.texts()) == ["from here", "from there"]
    assert content(here) == content(there)
    assert here.notes.read().text.count("# What HDSP Agent") == 1


def test_folders_that_never_met_keep_what_the_person_wrote_into_what_was_learned(
    here: SharedHome, there: SharedHome
) -> None:
    publish(here.folder, "learned here")
    (here.folder.root / HANDBOOK).write_text(here.folder.text(HANDBOOK) + "- my own line\n")
    publish(here.folder, "learned here later")
    publish(there.folder, "learned there")
    in_line(there, here)
    assert content(here) == content(there)
    assert "learned there" in there.folder.text(HANDBOOK) and "- my own line" in there.folder.text(HANDBOOK)
    assert not any("learned here" in text for text in content(there).values())
    assert [line.text for line in Publication(there.folder).edits()[HANDBOOK].written] == ["- my own line"]


def test_folders_that_meet_at_the_same_moment_get_each_others_files(
    here: SharedHome, there: SharedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.folder.write("skills/here/SKILL.md", "here\n")
    there.folder.write("skills/there/SKILL.md", "there\n")
    changed = shared_folder.SharedFolder._changed
    late = [there.shared]

    def changed_before_the_other(self: shared_folder.SharedFolder, *arguments: object) -> dict[str, bytes | None]:
        found = changed(self, *arguments)  # type: ignore[arg-type]  # as they came
        if self is here.shared and late:
            late.pop().sync()
        return found

    monkeypatch.setattr(shared_folder.SharedFolder, "_changed", changed_before_the_other)
    here.shared.sync()
    assert late == [] and here.folder.text("skills/there/SKILL.md") == "there\n"
    in_line(there)
    assert content(here) == content(there)


def test_what_is_forgotten_is_in_no_folder_and_in_no_version(
    here: SharedHome, there: SharedHome, postgres_database: TasksDatabase
) -> None:
    note = here.notes.add("a secret", day=DAY)
    here.notes.add("likes polars", day=DAY)
    here.extracted.put(extracted(1, taught="a secret"))
    in_line(here, there)
    there.notes.add("more", day=DAY)
    in_line(there, here)
    assert len(versions(postgres_database, "profile.md")) == 2
    here.notes.delete(note.id)
    here.extracted.delete(extracted(1).task_id)
    in_line(here, there)
    assert there.texts() == ["likes polars", "more"] and list(there.extracted.all()) == []
    with postgres_database.connect() as admin:
        kept = admin.execute("SELECT path FROM memory_files WHERE position('secret'::bytea IN content) > 0").fetchall()
    assert kept == [] and versions(postgres_database, "extracted/00000001.json") == [None]
    assert not any("secret" in text for home in (here, there) for text in content(home).values())
    assert "secret" not in (there.folder.root / RECORD).read_text()


def test_a_forgotten_note_does_not_come_back_with_a_server_that_was_away(here: SharedHome, there: SharedHome) -> None:
    note = here.notes.add("a secret", day=DAY)
    in_line(here, there)
    here.notes.delete(note.id)
    in_line(here)
    there.notes.add("written meanwhile", day=DAY)
    in_line(there, here)
    assert here.texts() == there.texts() == ["written meanwhile"]


def test_uses_are_counted_on_both_together(here: SharedHome, there: SharedHome) -> None:
    here.extracted.put(extracted(1))
    UsageCounts(here.folder).add("summary")
    in_line(here, there)
    for home, times in ((here, 2), (there, 3)):
        for _ in range(times):
            home.extracted.count_use(extracted(1).task_id)
            UsageCounts(home.folder).add("summary")
    in_line(here, there)
    for home in (here, there):
        [found] = home.extracted.all()
        assert (found.usage_count, UsageCounts(home.folder).counts()["summary"].count) == (5, 6)


def test_runs_of_both_are_listed_in_their_order(here: SharedHome, there: SharedHome) -> None:
    def run(minute: int) -> MemoryRun:
        at = f"2026-11-30T10:0{minute}:00Z"
        return MemoryRun(kind="extract", key=f"t-{minute}", began_at=at, ended_at=at, outcome="saved")

    for home, minutes in ((here, (1, 4)), (there, (2, 3))):
        for minute in minutes:
            RunLog(home.folder).add(run(minute))
    in_line(here, there)
    assert RunLog(here.folder).runs() == RunLog(there.folder).runs() == [run(minute) for minute in (1, 2, 3, 4)]


def test_a_file_that_cannot_be_joined_is_kept_in_both_versions(here: SharedHome, there: SharedHome) -> None:
    name = "skills/clean/scripts/clean.py"
    here.folder.write(name, "first\n")
    in_line(here, there)
    here.folder.write(name, "here\n")
    there.folder.write(name, "there\n")
    in_line(there)
    report = here.shared.sync()
    in_line(there, here)
    assert content(here) == content(there) and content(here)[name] == "there\n"
    [aside] = report.aside
    assert aside.startswith(f"{ASIDE_FOLDER}/") and content(there)[aside] == "here\n"


def test_what_a_person_deletes_or_changes_by_hand_is_deleted_or_changed_everywhere(
    here: SharedHome, there: SharedHome
) -> None:
    here.folder.write(HANDBOOK, "# Handbook\n\n- one\n- two\n")
    here.folder.write("skills/clean/SKILL.md", "---\nname: clean\n---\n")
    in_line(here, there)
    (there.folder.root / "skills/clean/SKILL.md").unlink()
    (there.folder.root / HANDBOOK).write_text("# Handbook\n\n- two\n- my own\n")
    in_line(there, here)
    assert content(here) == content(there) == {HANDBOOK: "# Handbook\n\n- two\n- my own\n"}


def test_nobody_gets_what_is_anothers(here: SharedHome, tmp_path: Path, postgres_database: TasksDatabase) -> None:
    here.notes.add("a secret", day=DAY)
    in_line(here)
    with shared_home(tmp_path / "bob", postgres_database, "bob") as his:
        his.notes.add("his own", day=DAY)
        in_line(his)
        assert his.texts() == ["his own"]
        in_line(here)
        assert here.texts() == ["a secret"]
    with postgres_database.connect("bob") as connection:
        for table in ("memory_people", "memory_files", "memory_servers"):
            assert {role for (role,) in connection.execute(f"SELECT role FROM {table}")} == {"bob"}, table
        assert connection.execute("DELETE FROM memory_files WHERE role = 'ada'").rowcount == 0
        for refused in (
            "INSERT INTO memory_files (role, owner, path, version, server) VALUES ('ada', 'me', 'x', 1, 's')",
            "UPDATE memory_files SET content = NULL",
            "UPDATE memory_people SET role = 'ada'",
            "TRUNCATE memory_files",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)
    in_line(here)
    assert here.texts() == ["a secret"]


def test_while_the_database_is_away_the_files_serve_and_are_sent_afterwards(
    here: SharedHome, there: SharedHome, postgres_database: TasksDatabase
) -> None:
    here.notes.add("first", day=DAY)
    in_line(here, there)
    postgres_database.let_in(False)
    here.notes.add("from here", day=DAY)
    there.notes.add("from there", day=DAY)
    for home in (here, there):
        with pytest.raises(StorageUnavailable):
            home.shared.sync()
    assert here.texts() == ["first", "from here"]
    postgres_database.let_in(True)
    in_line(here, there)
    assert sorted(here.texts()) == sorted(there.texts()) == ["first", "from here", "from there"]


@pytest.mark.parametrize("step", range(1, 9))
def test_killed_at_any_step_nothing_is_lost_or_comes_back(
    here: SharedHome, there: SharedHome, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    class Killed(BaseException):
        pass

    first = here.notes.add("first", day=DAY)
    here.extracted.put(extracted(1))
    in_line(here, there)
    there.notes.add("from there", day=DAY)
    there.folder.write(SUMMARY, "# Summary\n")
    there.extracted.delete(extracted(1).task_id)
    in_line(there)
    own = here.notes.add("from here", day=DAY)
    steps = 0

    def killed_before(name: str) -> None:
        whole = getattr(shared_folder, name)

        def call(*arguments: object) -> object:
            nonlocal steps
            steps += 1
            if steps == step:
                raise Killed
            return whole(*arguments)

        monkeypatch.setattr(shared_folder, name, call)

    killed_before("save_record")
    killed_before("replace_file")
    try:
        here.shared.sync()
    except Killed:
        assert steps == step
    monkeypatch.undo()
    # Meanwhile the other one takes out what it got, and what both had.
    in_line(there)
    if own.id in {note.id for note in there.notes.read().notes}:
        there.notes.delete(own.id)
        gone = {own.text, first.text}
    else:
        gone = {first.text}
    there.notes.delete(first.id)
    in_line(there, here)
    assert content(here) == content(there)
    assert sorted(here.texts()) == sorted({"first", "from here", "from there"} - gone)
    assert list(here.extracted.all()) == [] and here.folder.text(SUMMARY) == "# Summary\n"


def test_a_note_that_is_written_while_the_file_is_brought_in_line_stays(
    here: SharedHome, there: SharedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.notes.add("first", day=DAY)
    in_line(here, there)
    there.notes.add("from there", day=DAY)
    in_line(there)
    put = shared_folder.SharedFolder._put
    written: list[NoteFile] = []

    def put_late(self: shared_folder.SharedFolder, *arguments: object) -> bool:
        if not written:
            written.append(here.notes)
            here.notes.add("just now", day=DAY)
        return put(self, *arguments)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(shared_folder.SharedFolder, "_put", put_late)
    in_line(here, there)
    assert sorted(here.texts()) == sorted(there.texts()) == ["first", "from there", "just now"]


def dumped(tasks: TasksDatabase) -> list[tuple[object, ...]]:
    with tasks.connect() as admin:
        return admin.execute("SELECT path, version, content, server FROM memory_files").fetchall()


def restore(tasks: TasksDatabase, dump: list[tuple[object, ...]]) -> None:
    """The dump is of the first change."""
    with tasks.connect() as admin:
        admin.execute("DELETE FROM memory_files")
        admin.execute("UPDATE memory_people SET change = 1")
        for row in dump:
            admin.execute(
                "INSERT INTO memory_files (role, owner, path, version, content, server) "
                "VALUES ('ada', 'me', ?, ?, ?, ?)",
                row,
            )


def test_a_server_that_was_away_when_a_dump_was_restored_gets_what_others_added_since(
    here: SharedHome, there: SharedHome, postgres_database: TasksDatabase
) -> None:
    here.notes.add("first", day=DAY)
    in_line(here, there)
    dump = dumped(postgres_database)
    here.notes.add("second", day=DAY)
    in_line(here, there)
    restore(postgres_database, dump)
    [statement] = re.findall("`(UPDATE hdsp_agent.memory_people .*?)`", GUIDE.read_text(encoding="utf-8"))
    with postgres_database.connect() as admin:
        admin.execute(statement)
    here.notes.add("third", day=DAY)
    here.shared.sync()
    there.shared.sync()
    assert there.texts() == ["first", "second", "third"]


def test_another_database_and_one_that_was_restored_get_what_the_folder_has(
    here: SharedHome, there: SharedHome, postgres_database: TasksDatabase
) -> None:
    here.notes.add("first", day=DAY)
    in_line(here, there)
    dump = dumped(postgres_database)
    here.notes.add("second", day=DAY)
    in_line(here, there)
    restore(postgres_database, dump)
    in_line(there, here)
    assert here.texts() == there.texts() == ["first", "second"]
    with postgres_database.connect() as admin:
        for table in ("memory_files", "memory_people", "memory_servers"):
            admin.execute(f"DELETE FROM {table}")
    in_line(here, there)
    assert here.texts() == there.texts() == ["first", "second"]


def test_a_server_that_was_away_for_months_has_what_was_deleted_deleted(
    here: SharedHome, there: SharedHome, postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.notes.add("a secret", day=DAY)
    here.extracted.put(extracted(1))
    in_line(here, there)
    (here.folder.root / "profile.md").unlink()
    here.shared.sync()
    with postgres_database.connect() as admin:
        admin.execute("UPDATE memory_files SET written_at = now() - interval '91 days'")
    here.extracted.put(extracted(2))
    here.shared.sync()
    assert versions(postgres_database, "profile.md") == [], "that it was deleted is forgotten, too"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 92 * 24 * 3600)
    in_line(there, here)
    assert content(here) == content(there) and "profile.md" not in content(there)
    there.notes.add("a new one", day=DAY)
    in_line(there, here)
    assert here.texts() == ["a new one"]


def test_versions_are_bounded_and_say_which_server_wrote_them(
    here: SharedHome, there: SharedHome, postgres_database: TasksDatabase
) -> None:
    for number in range(7):
        for home in (here, there):
            home.notes.add(f"note {number} of {home.folder.root}", day=DAY)
            in_line(here, there)
    with postgres_database.connect() as admin:
        found = admin.execute(
            "SELECT version, server FROM memory_files WHERE path = 'profile.md' ORDER BY version"
        ).fetchall()
    assert len(found) == 10 and found[-1][0] == 14
    assert len({server for _, server in found}) == 2


def test_what_two_servers_published_is_what_the_first_did_with_the_edits_of_both(
    here: SharedHome, there: SharedHome
) -> None:
    """The second one was cut off while it published, and its job was taken over."""

    publish(here.folder, "old")
    in_line(here, there)
    publish(there.folder, "written there")
    in_line(there)
    publish(here.folder, "written here")
    (here.folder.root / HANDBOOK).write_text(here.folder.text(HANDBOOK) + "- my own line\n")
    in_line(here, there)
    assert content(here) == content(there)
    assert here.folder.text(SUMMARY) == "# Summary\n\n- written there\n"
    assert "written there" in here.folder.text(HANDBOOK) and "my own line" in here.folder.text(HANDBOOK)
    assert not any("written here" in text for text in content(here).values())
    assert Publication(here.folder).edits()[HANDBOOK].written[0].text == "- my own line"
    assert here.folder.text(CONSOLIDATED) == there.folder.text(CONSOLIDATED)
