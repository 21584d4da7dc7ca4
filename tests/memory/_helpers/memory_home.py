"""A home folder with finished conversations, and the memory work on it: real store, index and loop, a scripted model."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hdsp_agent.agent.memory import LoopConsolidator
from hdsp_agent.config import GlobalSettings, ProviderSettings
from hdsp_agent.memory import MEMORY_SCHEMA, MemoryFolder, NoteFiles
from hdsp_agent.memory.extracted_files import ExtractedFiles
from hdsp_agent.memory.memory_folder import person_folder
from hdsp_agent.memory.memory_jobs import MemoryJobs, StateJobDatabase
from hdsp_agent.memory.model_port import MemoryModels, ModelNeededElsewhere
from hdsp_agent.memory.no_model import NoModel
from hdsp_agent.memory.pipeline import MemoryPipeline
from hdsp_agent.memory.sources import sources_by_code
from hdsp_agent.messages import ClineMessage, HistoryItem, JsonObject, ModelRecord, NotebookRef, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    HistoryIndex,
    NewTaskRecord,
    StateDatabase,
    TaskKey,
    TaskStore,
    ToolDraft,
    history_database,
    task_records,
)
from hdsp_agent.providers import ModelClient, ModelRequest, ScriptedModel
from hdsp_agent.providers._scripted import Step, Turn, call_tool

from ..._helpers.stored_tasks import backend_under_test, make_store

__all__ = ["ME", "MemoryHome", "OneModel", "extraction_answer", "handbook", "memory_home", "summary", "writes_memory"]

ME = "me"
HOUR = 3600


@dataclass
class MemoryHome:
    """What a test of the memory work looks at."""

    home: Path
    store: TaskStore
    index: HistoryIndex
    database: StateDatabase
    pipeline: MemoryPipeline
    model: ScriptedModel
    folder: MemoryFolder
    settings: list[GlobalSettings]
    """Those in force: a test may put others in place of them."""
    clock: list[float] = field(default_factory=list)

    @property
    def extracted(self) -> ExtractedFiles:
        return ExtractedFiles(self.folder)

    async def conversation(
        self,
        said: str = "Clean churn.csv. I always want polars.",
        answer: str = "Done with polars: ages are in months.",
        *,
        task_id: str | None = None,
        source: str = "jupyterlab",
        parent: TaskId | None = None,
        owner: str = ME,
        tools: Sequence[str] = (),
        own_settings: JsonObject | None = None,
        profile: str | None = None,
        used_local_model: bool | None = None,
    ) -> TaskId:
        """A conversation that was had just now and is over."""
        log = await self.store.create(
            NewTaskRecord(
                task_key=TaskKey(task_source=source),
                config={"settings": own_settings} if own_settings else {},
                user=owner,
                parent_task_id=parent,
                workspace=str(self.home / "work"),
                notebook=NotebookRef(path="churn.ipynb"),
                task_id=TaskId(task_id) if task_id else None,
            )
        )
        blocks: list[JsonObject] = [
            {"type": "text", "text": f"<user_message>\n{said}\n</user_message>"},
            {"type": "text", "text": "<environment_details>\nCells: SURROUNDINGS\n</environment_details>"},
        ]
        await log.append_api(ApiDraft(role="system", content="You are SYSTEM PROMPT."))
        await log.append_api(ApiDraft(role="user", content=blocks))
        await log.append_api(ApiDraft(role="assistant", content=[{"type": "text", "text": answer}]))
        for name in tools:
            await log.append_tool(ToolDraft(tool_name=name, arguments={}, result="x", status="success", duration_ms=1))
        message = await log.append_ui(ClineMessage(ts=1, type="say", say="text", text=said))
        item = HistoryItem(
            id=log.task_id, number=0, ts=message.ts, task=said, tokens_in=1, tokens_out=1, total_cost=0.0,
            status="completed", parent_task_id=parent, api_config_name=profile,
        )  # fmt: skip
        log.update_state(history_item=item, used_local_model=used_local_model)
        await log.finish("completed")
        await self.index.upsert(item, text=said, owner=owner)
        return log.task_id

    def later(self, hours: float) -> None:
        """So much time passes."""
        self.clock[0] += hours * HOUR

    def code(self, task_id: TaskId) -> str:
        """What stands for the conversation."""
        return next(code for code, each in sources_by_code(self.extracted.all()).items() if each.task_id == task_id)


@dataclass
class OneModel:
    """One scripted model for everything; ``busy`` while a conversation would use it."""

    model: ModelClient
    busy: Callable[[], bool] = lambda: False
    why_not: NoModel | None = None

    @property
    def unusable(self) -> NoModel | None:
        return self.why_not

    def may_read(self, profile: str | None, *, used_local_model: bool = False) -> bool:
        return profile != "stays here" and not used_local_model

    async def client(self) -> ModelClient:
        return self.model

    def check_free(self) -> None:
        if self.busy():
            raise ModelNeededElsewhere


@dataclass
class AgentModels:
    """The same for the loop."""

    model: ModelClient

    def profile_for(self, mode: str, now: str | None = None) -> str:
        return "default"

    def settings_of(self, profile: str) -> ProviderSettings | None:
        return ProviderSettings(api_provider="fake-ai")

    def mistake_limit(self, profile: str) -> int:
        return 3

    def rate_limit_seconds(self, profile: str) -> float:
        return 0

    async def client(self, profile: str) -> ModelClient:
        return self.model

    async def known(self) -> ModelRecord:
        return {}

    async def close(self) -> None:
        pass


@asynccontextmanager
async def memory_home(
    home: Path,
    turns: Sequence[Turn] = (),
    *,
    settings: GlobalSettings | None = None,
    busy: Callable[[], bool] = lambda: False,
    models: MemoryModels | None = None,
) -> AsyncIterator[MemoryHome]:
    """The memory work on this folder, by a clock that the test moves."""
    current = [settings or GlobalSettings()]
    store = make_store(home, heartbeat_seconds=5)
    database = StateDatabase(history_database(home, backend_under_test()))
    database.add(MEMORY_SCHEMA)
    index = HistoryIndex(database, source=lambda: task_records(store, ME))
    model = ScriptedModel(turns)
    clock = [time.time()]
    own_models = models or OneModel(model, busy)

    def folder_of(owner: str) -> MemoryFolder:
        return MemoryFolder(person_folder(home, owner, ME))

    async def opened_store() -> TaskStore:
        return store

    async def opened_index() -> HistoryIndex:
        return index

    pipeline = MemoryPipeline(
        MemoryJobs(StateJobDatabase(database, lambda: clock[0])),
        store=opened_store,
        index=opened_index,
        folder_of=folder_of,
        notes_of=lambda owner: NoteFiles(folder_of(owner).root, lambda folder: None).person().read().told,
        settings=lambda: current[0],
        models=own_models,
        consolidator=LoopConsolidator(AgentModels(model), own_models, lambda: current[0], lambda: "default"),
        clock=lambda: clock[0],
    )
    await store.start()
    try:
        async with database, index:
            yield MemoryHome(home, store, index, database, pipeline, model, folder_of(ME), current, clock)
    finally:
        await store.stop()


def extraction_answer(fact: str = "Ages are in months.", slug: str | None = "churn_cleaning") -> list[Step]:
    """What a model says that learned something."""
    return call_tool(
        "save_memory",
        {
            "rollout_summary": f"# Cleaning churn.csv\n\nOutcome: success\n\n- {fact}",
            "rollout_slug": slug,
            "raw_memory": f"---\ndescription: churn\n---\n- 2026-11-27: {fact}",
        },
    )


NOTHING: list[Step] = call_tool("save_memory", {"rollout_summary": "", "rollout_slug": None, "raw_memory": ""})


def summary(code: str, fact: str = "Ages are in months") -> str:
    return (
        f"## User Profile\n- Wants polars [{code}]\n\n## General Tips\n- {fact} [{code}]\n\n"
        "## What's in Memory\n- churn: cleaning\n"
    )


def handbook(code: str, file: str, fact: str = "Ages are in months") -> str:
    return (
        "# Task Group: churn\nscope: work\n\n## Task 1: clean churn.csv\n### rollout_summary_files\n"
        f"- {file}\n### keywords\n- churn\n### learnings\n- {fact} [{code}]\n"
    )


def writes_memory(fact: str = "Ages are in months") -> list[Turn]:
    """A model that writes both files of the first conversation it is told of, and finishes."""

    def told(request: ModelRequest) -> tuple[str, str]:
        text = json.dumps([message.to_wire() for message in request.messages], ensure_ascii=False)
        begin = text.index("- [") + 3
        code, rest = text[begin : begin + 4], text[begin + 6 :]
        return code, rest.split("\\n", 1)[0].split('"', 1)[0]

    def writes(request: ModelRequest) -> list[Step]:
        code, file = told(request)
        return [
            *call_tool("write_to_file", {"path": "memory_summary.md", "content": summary(code, fact)}, stop=False),
            *call_tool(
                "write_to_file", {"path": "MEMORY.md", "content": handbook(code, file, fact)}, id="call_2", index=1
            ),
        ]

    return [writes, lambda request: call_tool("attempt_completion", {"result": "Written."})]
