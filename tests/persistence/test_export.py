"""Conversations go elsewhere whole, and come back the same."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

import nbformat
import pytest

from hdsp_agent.errors import Conflict, InvalidInput, NotFound
from hdsp_agent.messages import AnyAsk, AnySay, ClineMessage, HistoryItem, JsonObject, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    FileStore,
    MessageManager,
    NewTaskRecord,
    SummaryDraft,
    TaskLog,
    ToolDraft,
    effective_ui,
)
from hdsp_agent.persistence.exchange._embedded import embedded_conversation
from hdsp_agent.persistence.exchange._export import ExportFormat, export_task, render_task
from hdsp_agent.persistence.exchange._import import import_tasks
from tests._helpers.long_tests import rounds
from tests.messages._helpers.vocabulary_samples import node
from tests.persistence._helpers.effective_history import effective_api, roo_messages

from ._helpers.conversation import Conversation, text_of
from ._helpers.import_fixtures import anywhere

ROOT = Path(__file__).parents[2]
SAMPLES = Path(__file__).parent / "samples"
ROO = TaskId("11111111-aaaa-4aaa-8aaa-000000000001")
TASK = TaskId("33333333-cccc-4ccc-8ccc-000000000001")
PNG = bytes(range(256)) * 100


@asynccontextmanager
async def a_store(home: Path) -> AsyncIterator[FileStore]:
    store = FileStore(home)
    await store.start()
    try:
        yield store
    finally:
        await store.stop()


async def told(store: FileStore, task_id: TaskId) -> tuple[list[JsonObject], list[JsonObject]]:
    """The effective histories, less when and under which numbers they were recorded."""
    reader = await store.view(task_id)
    marks = [mark async for mark in reader.marks.iterate()]
    ui = effective_ui([message async for message in reader.ui.iterate()], marks)
    api = effective_api([record async for record in reader.api.iterate()], marks)
    dropped = {"seq", "timestamp", "token_count"}
    wires = [{name: value for name, value in record.to_wire().items() if name not in dropped} for record in api]
    return [message.to_wire() for message in ui], wires


async def talk(store: FileStore) -> TaskLog:
    """A conversation with everything in it: tools, images, a truncation, summaries, a rewind, an undo, kinds of ours."""
    log = await store.create(NewTaskRecord(task_id=TASK, workspace="/w", config={"model": "m", "apiKey": "hush-hush"}))
    manager = MessageManager(log)
    artifact = await log.put_artifact(PNG)

    async def say(text: str, kind: str = "text", **more: object) -> int:
        ts = log.next_ts()
        await log.put_ui(ClineMessage.model_validate({"ts": ts, "type": "say", "say": kind, "text": text, **more}))
        return ts

    async def write(role: str, content: object, **more: object) -> int:
        fields = {"role": role, "content": content, "ts": log.next_ts(), **more}
        return (await log.append_api(ApiDraft.model_validate(fields))).seq

    await say("Plot it ``` with fences", images=[f"artifact:{artifact}?type=image/png"])
    await write("user", "<task>\nPlot it\n</task>")
    for turn in range(6):
        await say(f"working {turn}")
        call = {"type": "tool_use", "id": f"c{turn}", "name": "run_cell", "input": {"code": f"print({turn})\n1/{turn}"}}
        await write("assistant", [{"type": "text", "text": f"turn {turn}"}, call])
        await say(f"{turn}", "cell_executed", notebook={"path": "a.ipynb"})
        image = {"type": "image", "source": {"type": "artifact", "media_type": "image/png", "name": artifact}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"c{turn}",
            "content": [{"type": "text", "text": f"{turn}\n"}, image],
        }
        await write("user", [result])
    event = log.next_ts()
    await manager.truncate(truncation_id="T", event_ts=event, fraction=0.3)
    await say("", "sliding_window_truncation", ts=event)
    summary = await write("user", "what happened", isSummary=True, condenseId="C")
    event = log.next_ts()
    await manager.condense(condense_id="C", summary_seq=summary, event_ts=event, through=9)
    details = {"cost": 0, "prevContextTokens": 1, "newContextTokens": 1, "summary": "what happened", "condenseId": "C"}
    await say("", "condense_context", ts=event, contextCondense=details)
    await log.append_summary(SummaryDraft(start_seq=1, end_seq=9, summary="s", original_tokens=9, summary_tokens=1))
    await log.append_tool(ToolDraft(tool_name="run_cell", arguments={}, result="0", status="success", duration_ms=1))
    wrong = await say("taken back later", "user_feedback")
    await write("user", "taken back later")
    await manager.rewind_to_timestamp(wrong)
    await say("in its place 대신", "user_feedback")
    await write("user", "in its place 대신")
    item = HistoryItem(id=TASK, number=3, ts=log.next_ts(), task="Plot it", tokens_in=1, tokens_out=2, total_cost=0.5,
                       title="A plot", is_favorited=True, workspace="/w", forked_from="another")  # fmt: skip
    log.update_state(history_item=item)
    await log.finish()
    return log


@pytest.mark.parametrize("format", ["json", "roo"])
async def test_what_is_exported_and_imported_has_the_same_histories(tmp_path: Path, format: ExportFormat) -> None:
    async with a_store(tmp_path / "one") as one, a_store(tmp_path / "two") as two:
        await talk(one)
        path = await export_task(await one.view(TASK), format, tmp_path / "out" / str(TASK))
        report = await import_tasks(path, two, None, masker=None, may_work_in=anywhere)
        assert [(task.task_id, task.outcome, task.problems) for task in report.tasks] == [(TASK, "imported", [])]
        assert await told(two, TASK) == await told(one, TASK)
        before, after = [await (await store.view(TASK)).read_state() for store in (one, two)]
        # Where it comes in it is given a number of that place.
        assert before.history_item is not None
        assert after.history_item == before.history_item.model_copy(update={"number": 0})
        # And once more, from what came in.
        again = await export_task(await two.view(TASK), format, tmp_path / "again" / str(TASK))
        if format == "roo":
            first = _files(path)
            first["history_item.json"] = first["history_item.json"].replace('"number": 3', '"number": 0')
            assert _files(again) == first


async def test_our_own_export_brings_back_what_was_rewound_too(tmp_path: Path) -> None:
    async with a_store(tmp_path / "one") as one, a_store(tmp_path / "two") as two:
        await talk(one)
        path = await export_task(await one.view(TASK), "json", tmp_path / "task.json")
        await import_tasks(path, two, None, masker=None)
        for stream in ("ui", "marks", "tools", "summaries"):
            counts = [await getattr(await store.view(TASK), stream).count() for store in (one, two)]
            assert counts[0] == counts[1] > 0
        log = await two.resume(TASK)
        manager = MessageManager(log, [mark async for mark in log.marks.iterate()])
        await manager.undo(newer="set_aside")
        assert [message.text for message in await manager.ui_page()][-1] == "taken back later"


def _files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


async def test_a_roo_task_that_came_in_goes_out_as_it_was(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        await import_tasks(SAMPLES / "roo", store, None, masker=None)
        path = await export_task(await store.view(ROO), "roo", tmp_path / "roo")
        was, now = (
            json.loads((folder / "api_conversation_history.json").read_text(encoding="utf-8"))
            for folder in (SAMPLES / f"roo/tasks/{ROO}", path)
        )
        assert now == was
        item = json.loads((path / "history_item.json").read_text(encoding="utf-8"))
        assert item["totalCost"] == 0.012


async def test_roo_code_s_own_schemas_accept_the_layout(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        await import_tasks(SAMPLES / "roo", store, None, masker=None)
        await talk(store)
        every = await store.create(NewTaskRecord(task_id=TaskId("every-kind")))
        for type_, kinds in (("ask", get_args(AnyAsk)), ("say", get_args(AnySay))):
            for kind in kinds:
                fields = {"ts": every.next_ts(), "type": type_, type_: kind, "text": "x"}
                await every.put_ui(ClineMessage.model_validate(fields))
        questions = []
        for task_id in (ROO, TASK, TaskId("every-kind")):
            path = await export_task(await store.view(task_id), "roo", tmp_path / task_id)
            messages = json.loads((path / "ui_messages.json").read_text(encoding="utf-8"))
            questions += [{"schema": "clineMessageSchema", "value": message} for message in messages]
            item = json.loads((path / "history_item.json").read_text(encoding="utf-8"))
            questions.append({"schema": "historyItemSchema", "value": item})
    done = await asyncio.to_thread(
        subprocess.run,
        [node(), str(ROOT / "tests/messages/_helpers/roo_compat.mjs")],
        input=json.dumps(questions),
        capture_output=True, encoding="utf-8", check=False, cwd=ROOT, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert len(verdicts) > 60
    assert [verdict for verdict in verdicts if not verdict["accepted"]] == []


async def test_the_notebook_is_valid_and_has_the_code_with_its_outputs(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        await talk(store)
        path = await export_task(await store.view(TASK), "notebook", tmp_path / "talk.ipynb")
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code] == [f"print({turn})\n1/{turn}" for turn in range(6)]
    assert code[2].outputs[0].text == "2\n"
    assert "image/png" in code[2].outputs[1].data
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert texts[:2] == ["# A plot", "**You**\n\n> Plot it"]
    assert any("대신" in text for text in texts)
    assert not any("taken back" in text for text in texts)


async def test_every_sample_makes_a_valid_notebook_and_readable_markdown(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        for source in ("roo", "cline", "contexts", "early"):
            await import_tasks(SAMPLES / source, store, None, masker=None)
        for task_id in await store.tasks():
            reader = await store.view(task_id)
            path = await export_task(reader, "notebook", tmp_path / f"{task_id}.ipynb")
            nbformat.validate(nbformat.read(path, as_version=nbformat.NO_CONVERT))
            text = (await export_task(reader, "markdown", tmp_path / f"{task_id}.md")).read_text(encoding="utf-8")
            assert text.startswith("# ")
            assert "## You" in text


async def test_markdown_shows_what_a_person_saw_and_no_fence_is_broken(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        await talk(store)
        path = await export_task(await store.view(TASK), "markdown", tmp_path / "talk.md")
        text = path.read_text(encoding="utf-8")
    assert "# A plot" in text
    assert "in its place 대신" in text
    assert "taken back" not in text
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("format", ["markdown", "json", "roo", "notebook"])
async def test_nothing_is_overwritten_and_no_key_and_no_machine_s_name_goes_out(
    tmp_path: Path, format: ExportFormat
) -> None:
    import socket

    async with a_store(tmp_path / "home") as store:
        await talk(store)
        reader = await store.view(TASK)
        target = tmp_path / "there"
        target.write_text("mine")
        with pytest.raises(Conflict, match="already exists"):
            await export_task(reader, format, target)
        assert target.read_text() == "mine"
        folder = tmp_path / "folder"
        folder.mkdir()
        path = await export_task(reader, format, folder)
        assert path.name.startswith(TASK)
        with pytest.raises(Conflict):
            await export_task(reader, format, folder)
        files = [path] if path.is_file() else list(path.iterdir())
        written = "".join(file.read_text(encoding="utf-8") for file in files)
        assert "hush-hush" not in written
        assert f'"hostname": "{socket.gethostname()}"' not in written
        assert await export_task(reader, format, path, overwrite=True) == path
        assert not [entry for entry in (*tmp_path.iterdir(), *folder.iterdir()) if entry.name.startswith(".")]


async def test_overwriting_never_takes_a_folder_with_other_things_in_it(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        await talk(store)
        reader = await store.view(TASK)
        path = await export_task(reader, "roo", tmp_path / "out")
        (path / "notes.txt").write_text("mine")
        again = await export_task(reader, "roo", path, overwrite=True)
        assert (path / "notes.txt").read_text() == "mine"
        assert again == path / TASK


async def test_a_task_without_a_single_message_can_be_exported(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        log = await store.create(NewTaskRecord())
        for format in get_args(ExportFormat):
            await export_task(log, format, tmp_path / f"empty-{format}")
        nbformat.validate(nbformat.read(tmp_path / "empty-notebook", as_version=4))
        assert json.loads((tmp_path / "empty-roo/ui_messages.json").read_text(encoding="utf-8")) == []
        assert b"".join([chunk async for chunk in render_task(log, "json")]).startswith(b"{")


MEASURED = """
import asyncio, resource, sys
from pathlib import Path
from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord
from hdsp_agent.persistence.exchange._export import export_task

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

async def main(home, format):
    store = FileStore(home / "home")
    await store.start()
    async def task(count):
        log = await store.create(NewTaskRecord())
        for first in range(0, count, 200):
            puts = [log.put_ui(ClineMessage(ts=first + n + 1, type="say", say="text", text="u" * 4000)) for n in range(200)]
            await asyncio.gather(*puts)
            roles = ("user", "assistant")
            await asyncio.gather(*(log.append_api(ApiDraft(role=roles[n % 2], content="a" * 4000)) for n in range(200)))
        await log.finish()
        return await store.view(log.task_id)
    small, large = await task(200), await task(10_000)
    await export_task(small, format, home / "small")
    peak = before = resident()
    async def watch():
        nonlocal peak
        while True:
            peak = max(peak, resident())
            await asyncio.sleep(0.002)
    watching = asyncio.create_task(watch())
    path = await export_task(large, format, home / "large")
    watching.cancel()
    size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
    print(peak - before, size)
    await store.stop()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.in_short(1)
@pytest.mark.skipif(sys.platform != "linux", reason="reads the resident memory from /proc")
@pytest.mark.parametrize("format", ["markdown", "json", "roo", "notebook"])
@pytest.mark.slow
def test_ten_thousand_messages_are_exported_in_the_memory_of_a_few(tmp_path: Path, format: ExportFormat) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path), format], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    grown, size = map(int, done.stdout.split())
    assert size > 40_000_000
    assert grown < 16_000_000, f"{grown:,} bytes more were resident while {size:,} bytes were written"


async def random_talk(rng: random.Random) -> Conversation:
    """Messages, tools, condensations, truncations and rewinds in any order."""
    conversation = Conversation()
    for number in range(rng.randint(4, 25)):
        match rng.randint(0, 9):
            case 0 | 1:
                conversation.ask(f"q{number}")
            case 2 | 3:
                conversation.answer(f"a{number}")
            case 4 | 5:
                conversation.use_tools(f"t{number}", answered=[f"t{number}"] if rng.random() < 0.8 else [])
            case 6 if conversation.api:
                with contextlib.suppress(InvalidInput):
                    await conversation.condense(f"C{number}", through=max(1, len(conversation.api) - rng.randint(0, 3)))
            case 7:
                await conversation.truncate(f"T{number}", 0.5)
            case 8 if await conversation.seen():
                shown = await conversation.manager.ui_page(limit=1_000)
                await conversation.manager.rewind_to_timestamp(rng.choice(shown).ts)
            case _:
                with contextlib.suppress(NotFound, Conflict):
                    await conversation.manager.undo()
    return conversation


def without_markers(texts: list[str]) -> list[str]:
    return [text for text in texts if "Sliding window truncation" not in text]


async def test_any_conversation_is_the_same_after_a_journey_through_roo_s_layout(tmp_path: Path) -> None:
    rng = random.Random(11)
    talks = {f"t{number}": await random_talk(rng) for number in range(rounds(20, 60))}
    for name, conversation in talks.items():
        folder = tmp_path / "tasks" / name
        folder.mkdir(parents=True)
        ui = [message.to_wire() for message in effective_ui(conversation.ui, conversation.marks)]
        api = [message.to_wire() for message in roo_messages(conversation.api, conversation.marks)]
        (folder / "ui_messages.json").write_text(json.dumps(ui or [{"ts": 1, "type": "say", "say": "text"}]))
        (folder / "api_conversation_history.json").write_text(json.dumps(api))
    async with a_store(tmp_path / "home") as store:
        await import_tasks(tmp_path / "tasks", store, None, masker=None)
        for name, conversation in talks.items():
            reader = await store.view(TaskId(name))
            marks = [mark async for mark in reader.marks.iterate()]
            kept = effective_api([record async for record in reader.api.iterate()], marks)
            assert without_markers([text_of(record) for record in kept]) == without_markers(await conversation.sent())
            # Ours may say once for several markers side by side what came out of them one by one.
            assert any(record.is_truncation_marker for record in kept) == any(
                "Sliding window truncation" in text for text in await conversation.sent()
            )


async def test_what_a_search_found_is_written_in_words(tmp_path: Path) -> None:
    hit = {"filePath": "Old flats", "score": 1, "startLine": 1, "endLine": 1, "codeChunk": "cheap rents"}
    found = [{"tool": "codebaseSearch", "content": {"query": "rents", "results": hits}} for hits in ([hit], [])]
    async with a_store(tmp_path) as store:
        log = await store.create(NewTaskRecord())
        for text in (*map(json.dumps, found), "as Roo had it"):
            await log.append_ui(ClineMessage(ts=1, type="say", say="codebase_search_result", text=text))
        log.update_state(
            history_item=HistoryItem(id=log.task_id, number=0, ts=1, task="t", tokens_in=0, tokens_out=0, total_cost=0)
        )
        written = b"".join([part async for part in render_task(log, "markdown")]).decode()
        await log.close()
    assert "```\nOld flats:\ncheap rents\n```" in written
    assert "```\nNothing was found.\n```" in written
    assert "```\nas Roo had it\n```" in written


OTHERS_WORDS = "salaries of the board"


async def searched(store: FileStore) -> TaskLog:
    """A conversation that found something in another one, in a notebook and in memory, and says what it was given."""
    log = await store.create(NewTaskRecord(task_id=TASK))
    hit = {"filePath": OTHERS_WORDS, "score": 1, "startLine": 1, "endLine": 1, "codeChunk": OTHERS_WORDS, "place": "7"}
    kinds: list[JsonObject] = [
        {"kind": "conversation", "ts": 86_400_000},
        {"kind": "notebook", "path": "a.ipynb"},
        {"kind": "memory"},
    ]
    own = {"content": {"query": "rents", "results": [{**hit, **kind} for kind in kinds]}}
    in_code = {"content": {"query": "rents", "results": [{**hit, "filePath": "rents.py", "codeChunk": "rents = 1"}]}}
    given = [{"kind": "note", "source": "n", "title": OTHERS_WORDS, "told": True}]
    for kind, text, recalled in [
        ("text", "Plot the rents", None),
        ("codebase_search_result", json.dumps(own), None),
        ("codebase_search_result", json.dumps(in_code), None),
        ("completion_result", "Plotted.", given),
    ]:
        message = {"ts": log.next_ts(), "type": "say", "say": kind, "text": text, "recalled": recalled}
        await log.append_ui(ClineMessage.model_validate(message))
    call = {"type": "tool_use", "id": "c", "name": "search_tasks", "input": {"query": "rents"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": OTHERS_WORDS}]}
    await log.append_api(ApiDraft.model_validate({"role": "user", "content": "<task>\nPlot the rents\n</task>"}))
    await log.append_api(ApiDraft.model_validate({"role": "assistant", "content": [call]}))
    await log.append_api(ApiDraft.model_validate({"role": "user", "content": [result]}))
    item = HistoryItem(id=TASK, number=0, ts=log.next_ts(), task="t", tokens_in=0, tokens_out=0, total_cost=0)
    log.update_state(history_item=item)
    await log.finish()
    return log


@pytest.mark.parametrize("format", ["markdown", "notebook", "in a notebook"])
async def test_who_gets_a_conversation_reads_nothing_of_the_others_that_it_found(tmp_path: Path, format: str) -> None:
    async with a_store(tmp_path) as store:
        await searched(store)
        reader = await store.view(TASK)
        if format == "in a notebook":
            text = json.dumps(await embedded_conversation(reader, 10_000))
        else:
            text = b"".join([part async for part in render_task(reader, format)]).decode()  # type: ignore[arg-type]
    assert "rents" in text and OTHERS_WORDS not in text
    if format == "markdown":
        places = "Another conversation, 1970-01-02 00:00 UTC\n\nNotebook a.ipynb, cell 7\n\nMemory"
        assert f"```\n{places}\n```" in text
    if format != "notebook":
        assert "rents.py:" in text, "what stands in the workspace's files is part of it"


@pytest.mark.parametrize("format", ["json", "roo"])
async def test_what_is_shown_of_other_conversations_stays_out_and_the_rest_comes_back(
    tmp_path: Path, format: ExportFormat
) -> None:
    async with a_store(tmp_path / "one") as one, a_store(tmp_path / "two") as two:
        await searched(one)
        path = await export_task(await one.view(TASK), format, tmp_path / "out" / str(TASK))
        report = await import_tasks(path, two, None, masker=None)
        assert [(task.outcome, task.problems) for task in report.tasks] == [("imported", [])]
        before, after = await told(one, TASK), await told(two, TASK)
        assert OTHERS_WORDS not in json.dumps(after[0]) and after[1] == before[1]
        assert [message["text"] for message in after[0]] == [
            message["text"] for at, message in enumerate(before[0]) if at != 1
        ]
