"""One stored task: its facts, logs, artifacts, and the whole of it in a form for elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from ...errors import NotFound
from ...persistence import Records, TaskReader
from ...wire import WireModel
from ..identity import owner_of
from ._history_bodies import (
    AnswerNumbersView,
    AnswerNumberView,
    ExportQuery,
    FindQuery,
    FoundMessages,
    NumbersQuery,
    RecordList,
    RecordQuery,
    SeenContext,
    SeenQuery,
    TaskView,
)
from ._rest_endpoint import Download, RestHandler, download, endpoint

__all__ = [
    "TaskArtifactHandler",
    "TaskContextHandler",
    "TaskExportHandler",
    "TaskFindHandler",
    "TaskHandler",
    "TaskLogHandler",
    "TaskNumbersHandler",
]

_EXPORTS: Final = {
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "json": ("application/json", "json"),
    "notebook": ("application/x-ipynb+json", "ipynb"),
}


class TaskHandler(RestHandler):
    """`GET tasks/{task}`"""

    @endpoint("Show a task", answer=TaskView)
    async def get(self, task: str) -> TaskView:
        """Its metadata and state, and how long its logs are."""
        reader = await self.services.history.task(owner_of(self), task)
        counts = {name: await log.count() for name, log in _logs(reader).items()}
        return TaskView(metadata=reader.metadata, state=await reader.read_state(), counts=counts)


class TaskLogHandler(RestHandler):
    """`GET tasks/{task}/logs/{log}`"""

    @endpoint(
        "A page of one of a task's logs: ui, api, summaries, tools or marks", answer=RecordList, query=RecordQuery
    )
    async def get(self, task: str, log: str, *, query: RecordQuery) -> RecordList:
        """As it was recorded, rewound messages included."""
        logs = _logs(await self.services.history.task(owner_of(self), task))
        if log not in logs:
            raise NotFound(f"A task has no log {log!r}, but {', '.join(logs)}.", log=log)
        page = await logs[log].page(before=query.before, after=query.after, limit=query.limit)
        return RecordList(records=[record.to_wire() for record in page])


class TaskContextHandler(RestHandler):
    """`GET tasks/{task}/context`"""

    @endpoint(
        "Show what the model sees of a task: the next request, and the tokens of each part",
        answer=SeenContext,
        query=SeenQuery,
    )
    async def get(self, task: str, *, query: SeenQuery) -> SeenContext:
        """As the log has it; nothing is asked or changed by looking."""
        reader = await self.services.history.task(owner_of(self), task)
        from ...agent import seen_by_model
        from ._seen_context import seen_context

        manager = await self.services.agent.manager()
        return await seen_context(await seen_by_model(manager.services, reader), query)


class TaskFindHandler(RestHandler):
    """`GET tasks/{task}/find`"""

    @endpoint("Find the messages of a conversation that contain a text", answer=FoundMessages, query=FindQuery)
    async def get(self, task: str, *, query: FindQuery) -> FoundMessages:
        """Of all messages a person sees; rewound ones are left out."""
        reader = await self.services.history.task(owner_of(self), task)
        from ...persistence import find_messages

        found, more = await find_messages(reader, query.text, query.limit)
        return FoundMessages(found=found, more=more)


class TaskNumbersHandler(RestHandler):
    """`GET tasks/{task}/numbers`"""

    @endpoint("Look for the numbers of an answer in outputs", answer=AnswerNumbersView, query=NumbersQuery)
    async def get(self, task: str, *, query: NumbersQuery) -> AnswerNumbersView:
        """In the conversation's notebook as it is now, in what its tools gave, and in what the person said. Nothing is run."""
        reader = await self.services.history.task(owner_of(self), task)
        from ..answer_numbers import numbers_of_answer

        found = await numbers_of_answer(reader, self.services.notebooks.notebooks, query.ts)
        return AnswerNumbersView(
            path=found.path,
            numbers=[
                AnswerNumberView(text=one.text)
                if one.place is None
                else AnswerNumberView(
                    text=one.text, place=one.place.kind, cell_id=one.place.cell_id, cell=one.place.cell
                )
                for one in found.numbers
            ],
            unstated=found.unstated,
        )


class TaskArtifactHandler(RestHandler):
    """`GET tasks/{task}/artifacts/{artifact}`"""

    @download("A long output or image of a task, to be saved", media_types=("application/octet-stream",))
    async def get(self, task: str, artifact: str) -> Download:
        """Never shown by the browser itself: what an agent's tool printed may be anything."""
        reader = await self.services.history.task(owner_of(self), task)
        data = await reader.read_artifact(artifact)

        async def chunks() -> AsyncIterator[bytes]:
            for start in range(0, len(data), _CHUNK):
                yield data[start : start + _CHUNK]

        return Download(artifact, "application/octet-stream", chunks())


class TaskExportHandler(RestHandler):
    """`GET tasks/{task}/export`"""

    @download(
        "A conversation as Markdown, JSON or a notebook",
        media_types=tuple(media_type.partition(";")[0] for media_type, _ in _EXPORTS.values()),
        query=ExportQuery,
    )
    async def get(self, task: str, *, query: ExportQuery) -> Download:
        """Rendered while it is sent, so that a long one takes no memory."""
        reader = await self.services.history.task(owner_of(self), task)
        from ...persistence import render_task

        media_type, suffix = _EXPORTS[query.format]
        return Download(f"{reader.task_id}.{suffix}", media_type, render_task(reader, query.format))


_CHUNK: Final = 256 * 1024


def _logs(reader: TaskReader) -> dict[str, Records[WireModel]]:
    return {
        "ui": reader.ui,
        "api": reader.api,
        "summaries": reader.summaries,
        "tools": reader.tools,
        "marks": reader.marks,
    }
