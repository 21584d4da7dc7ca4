"""The programs that work here: each has a conversation of its own, which is opened when it calls and put aside when it rests."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_OID, uuid4, uuid5

from ..._background_tasks import BackgroundTasks
from ...config import ApprovalPreset, ModeConfig
from ...errors import Conflict, ForbiddenByOperator, HdspAgentError, NotFound, Unavailable, UnknownTask
from ...messages import JsonObject, TaskId
from ...persistence import NewTaskRecord, TaskKey
from ...tools import failure_of
from ..conversation.conversation import masked_json
from ..conversation.history_items import TaskConfig
from ..modes import DEFAULT_MODE
from ..task.outcomes import Again, Begin
from .calls import ProgramContact
from .loop import ArrivedCall, CallDone, CallEnded
from .port import (
    AgentActivity,
    AskProgram,
    ConnectedAgent,
    ExternalClient,
    ExternalResult,
    OfferedResource,
    OfferedTool,
    Progress,
    ResourceContent,
)
from .resources import offered_resources, read_call, resource_contents

if TYPE_CHECKING:
    from .._task_manager import TaskManager
    from ..task.task import Task

__all__ = ["IDLE_SECONDS", "ExternalSessions"]

logger = logging.getLogger(__name__)

IDLE_SECONDS: Final = 3_600.0
"""After so long without a call a conversation is put aside. It goes on when the program calls again."""
_NEW_AFTER_SECONDS: Final = 12 * 3_600.0
"""Who comes back after so long begins another conversation."""
_LOOK_SECONDS: Final = 60.0
_MOST_SESSIONS: Final = 1_000
_MCP: Final = "mcp"
_LONG: Final = 50_000


@dataclass(eq=False)
class _Session:
    """A program, and its conversation once it has called something."""

    client: ExternalClient
    since: float
    task_id: TaskId | None = None
    last_call: float | None = None
    doing: str | None = None
    is_listed: bool = True
    is_over: bool = False
    """It was disconnected: what it still wanted is not begun any more."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)


class ExternalSessions:
    """See ``ExternalAgents``. ``ready`` returns when conversations can be opened, or raises why they cannot.

    ``clock`` tells the time, in seconds since 1970.
    """

    def __init__(
        self,
        manager: TaskManager,
        *,
        ready: Callable[[], Awaitable[object]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._manager = manager
        self._ready = ready
        self._clock = clock
        self._sessions: dict[tuple[str | None, str], _Session] = {}
        self._held = BackgroundTasks()
        self._looking: asyncio.Task[None] | None = None
        self._stopping = False
        self.on_changed: Callable[[str | None], None] = lambda owner: None
        """Told whose list of connected programs may read differently now."""
        self.on_call: Callable[[ExternalClient, str, TaskId], None] = lambda client, tool, task_id: None
        """Told of each call that was begun: who, which tool, in which conversation."""
        self.on_answer: Callable[[ExternalClient, TaskId], None] = lambda client, task_id: None
        """Told of each question that was answered in a program's own window: whose, in which conversation."""

    # ---- what is offered

    async def tools(self, client: ExternalClient) -> Sequence[OfferedTool]:
        """What this program may call."""
        services = self._manager.services
        task = self._open_task(self._sessions.get((client.owner, client.key)))
        if task is not None:
            return services.external_tools.offered(task.state.mode, services.policy(), task.state.settings)
        return services.external_tools.offered(await self._mode(client), services.policy(), services.settings())

    async def resources(self, client: ExternalClient) -> Sequence[OfferedResource]:
        """What can be read by its address; templates come last."""
        return await offered_resources(self._manager.services, client)

    async def read_resource(self, client: ExternalClient, uri: str) -> Sequence[ResourceContent]:
        """What stands there: a call of the tool that reads it, with all that goes with one."""
        wanted = read_call(uri)
        result = await self.call(client, wanted.tool, wanted.arguments, _tell_nobody)
        return resource_contents(uri, result)

    # ---- who is there

    def connect(self, client: ExternalClient) -> None:
        """A program has come."""
        self._session(client)

    def connected(self, owner: str | None) -> Sequence[ConnectedAgent]:
        """The programs of this person, the newest call first."""
        mine = [session for (of, _), session in self._sessions.items() if of == owner and session.is_listed]
        mine.sort(key=lambda session: session.last_call or session.since, reverse=True)
        return [self._told(session) for session in mine]

    async def disconnect(self, owner: str | None, key: str) -> bool:
        """End what this program is doing and put its conversation aside; whether there was one."""
        session = self._sessions.pop((owner, key), None)
        if session is None:
            return False
        await self._end(session)
        self.on_changed(owner)
        return True

    async def _end(self, session: _Session) -> None:
        """Put its conversation aside for good, also one that is just being opened."""
        session.is_over = True
        async with session.opening:
            await self._put_aside(session)

    async def choose_approvals(self, owner: str | None, key: str, preset: ApprovalPreset | None) -> bool:
        """Let every program of this one's name do so much without asking; whether there is such a program."""
        session = self._sessions.get((owner, key))
        if session is None:
            return False
        await self._manager.services.choose_client_approvals(session.client.name, preset)
        self.on_changed(owner)
        return True

    async def choose_questions(self, owner: str | None, key: str, may_ask: bool) -> bool:
        """Let every program of this one's name ask in its own window, too; whether there is such a program."""
        session = self._sessions.get((owner, key))
        if session is None:
            return False
        if may_ask and not self._manager.services.policy().allow_auto_approval:
            raise ForbiddenByOperator("Your administrator wants every question to be answered here.", field="mayAsk")
        await self._manager.services.choose_client_questions(session.client.name, may_ask)
        self.on_changed(owner)
        return True

    # ---- calls

    async def call(
        self,
        client: ExternalClient,
        name: str,
        arguments: JsonObject,
        progress: Progress,
        ask: AskProgram | None = None,
    ) -> ExternalResult:
        """Do it, and wait as long as that takes. Cancelling it withdraws a question and interrupts a cell."""
        if self._ready is not None:
            await self._ready()
        session = self._session(client)
        session.last_call = self._clock()
        if name not in self._manager.services.external_tools.names:
            raise NotFound(f"There is no tool {name}.", tool=name)
        try:
            task, arrived = await self._begin(session, name, arguments, progress, ask)
            self.on_call(client, name, task.task_id)
            self.on_changed(client.owner)
            done = await self._done(task, arrived)
        finally:
            session.last_call, session.doing = self._clock(), None
            self.on_changed(client.owner)
        if sum(len(str(block.get("text", ""))) for block in done.given.content) > _LONG:
            return await asyncio.to_thread(self._result, task, name, done)
        return self._result(task, name, done)

    async def _begin(
        self, session: _Session, name: str, arguments: JsonObject, progress: Progress, ask: AskProgram | None
    ) -> tuple[Task, ArrivedCall]:
        async def tell(text: str) -> None:
            if session.doing != text:
                session.doing = text
                self.on_changed(session.client.owner)
            # A program that is slow to listen, or gone, holds nothing up.
            self._held.begin(_tell(progress, text))

        for _ in range(3):
            task = await self._task(session)
            assert task.external is not None
            contact = ProgramContact(tell, ask, partial(self._answered, session.client, task.task_id))
            # It may be put aside between being opened and this.
            with suppress(CallEnded):
                return task, task.external.submit(name, arguments, contact)
        raise Unavailable("The conversation of this program could not be opened. Try again.")

    def _answered(self, client: ExternalClient, task_id: TaskId) -> None:
        self.on_answer(client, task_id)

    async def _done(self, task: Task, arrived: ArrivedCall) -> CallDone:
        assert task.external is not None
        try:
            return await asyncio.shield(arrived.done)
        except asyncio.CancelledError:
            await self._held.finish(task.external.give_up(arrived))
            raise
        except CallEnded:
            raise Unavailable("The conversation of this program was put aside before the call was begun.") from None

    def _result(self, task: Task, name: str, done: CallDone) -> ExternalResult:
        result, content = done.given.result, [*done.handed, *done.given.content]
        tool = self._manager.services.external_tools.get(name)
        if tool.Output is None:
            return ExternalResult(content, None, result.is_error)
        if result.structured is not None:
            structured = result.structured()
        else:
            message = "\n".join(str(block["text"]) for block in done.given.content if block.get("type") == "text")
            structured = failure_of(result.code or "failed", message, result.cells)
        words = [str(block["text"]) for block in done.handed if block.get("type") == "text"]
        if said := [*words, *([result.said] if result.said is not None else [])]:
            structured = {**structured, "from_person": [*said]}
        masked = masked_json(structured, task.state.conversation.masker)
        assert isinstance(masked, dict)
        return ExternalResult(content, masked, result.is_error)

    # ---- conversations

    def _session(self, client: ExternalClient) -> _Session:
        key = (client.owner, client.key)
        session = self._sessions.get(key)
        if session is not None and session.client.name != client.name:
            # What was decided was decided of another name, under which the person does not see it any more.
            self._held.begin(self._end(self._sessions.pop(key)))
            session = None
        if session is None:
            self._forget_oldest()
            session = self._sessions[key] = _Session(client, self._clock())
            self.on_changed(client.owner)
        session.client = client
        if not session.is_listed:
            session.is_listed, session.since = True, self._clock()
        if self._looking is None and not self._stopping:
            self._looking = asyncio.create_task(self._look_after(), name="Conversations of other agents that rest")
        return session

    def _open_task(self, session: _Session | None) -> Task | None:
        """The conversation, if it is worked on."""
        return None if session is None or session.task_id is None else self._manager.tasks.opened(session.task_id)

    async def _task(self, session: _Session) -> Task:
        """The program's conversation, worked on."""
        async with session.opening:
            if session.is_over:
                raise Unavailable("The person disconnected this program before the call was begun.")
            task = await self._opened(session)
            if task is None:
                task = await self._created(session)
            assert task.external is not None
            task.external.attach(True)
            return task

    async def _opened(self, session: _Session) -> Task | None:
        """The conversation that it had, unless that is long ago, or was deleted."""
        tasks = self._manager.tasks
        for task_id in self._ids(session.client) if session.task_id is None else [session.task_id]:
            task = tasks.opened(task_id) or await self._taken_up(task_id)
            if task is not None and task.external is not None:
                session.task_id = task_id
                return task
        return None

    async def _taken_up(self, task_id: TaskId) -> Task | None:
        """A conversation that nobody works on, unless it ended long ago, was deleted, or another server works on it."""
        try:
            reader = await self._manager.services.store.view(task_id)
            item = (await reader.read_state()).history_item
            if item is not None and self._clock() - item.ts / 1000 > _NEW_AFTER_SECONDS:
                return None
            return await self._manager.tasks.take_up(task_id, Again())
        except (UnknownTask, Conflict):
            return None

    async def _created(self, session: _Session) -> Task:
        client, services = session.client, self._manager.services
        mode = await self._mode(client)
        for task_id in (self._ids(client)[0], TaskId(str(uuid4()))):
            new = NewTaskRecord(
                task_key=TaskKey(task_source=_MCP),
                config=TaskConfig(external_agent=client.name).to_json(),
                user=client.owner,
                workspace=client.folder or str(services.workspace),
                mode=mode.slug,
                task_id=task_id,
            )
            try:
                session.task_id = await self._manager.tasks.create(new, mode, "", Begin(client.name))
            except Conflict:
                # There is such a conversation, and it is not to go on.
                continue
            return self._manager.tasks.get(session.task_id)
        raise Unavailable("No conversation could be begun for this program. Try again.")

    def _ids(self, client: ExternalClient) -> tuple[TaskId, TaskId]:
        """The ids of what such a program begins today, and began yesterday: after a restart it goes on with that."""
        now = self._clock()
        days = [datetime.fromtimestamp(now - back).date().isoformat() for back in (0, 86_400)]
        named = [client.owner, client.key, client.name, client.folder]
        today, yesterday = (TaskId(str(uuid5(NAMESPACE_OID, json.dumps([*named, day])))) for day in days)
        return today, yesterday

    async def _mode(self, client: ExternalClient) -> ModeConfig:
        """The mode that has all tools, or where the operator does not allow that, the one that the person uses."""
        services = self._manager.services
        slug = DEFAULT_MODE if services.policy().allows_mode(DEFAULT_MODE) else services.settings().mode
        return await self._manager.tasks.mode(slug, client.folder)

    # ---- those who rest

    async def put_aside_idle(self) -> None:
        """Put the conversations aside of programs that have called nothing for long and have nothing running."""
        for session in list(self._sessions.values()):
            if session.is_listed and self._rests(session):
                session.is_listed = False
                await self._put_aside(session)
                self.on_changed(session.client.owner)

    def _rests(self, session: _Session) -> bool:
        if self._clock() - (session.last_call or session.since) < IDLE_SECONDS or session.opening.locked():
            return False
        task = self._open_task(session)
        if task is None or task.external is None:
            return True
        return not task.external.is_busy and not task.state.tool_state.runs.running

    async def _put_aside(self, session: _Session) -> None:
        task = self._open_task(session)
        if task is not None and task.external is not None:
            task.external.attach(False)
            try:
                await self._manager.tasks.close(task.task_id)
            except HdspAgentError as error:
                logger.error("The conversation %s of another agent could not be put aside: %s", task.task_id, error)

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            await self.put_aside_idle()

    def _forget_oldest(self) -> None:
        """Of very many those that rest longest: a program that comes again is known by its conversation."""
        rest = [key for key, session in self._sessions.items() if not self._is_at_work(session)]
        for key in rest[: max(0, len(self._sessions) + 1 - _MOST_SESSIONS)]:
            session = self._sessions.pop(key)
            self._held.begin(self._put_aside(session))

    def _is_at_work(self, session: _Session) -> bool:
        task = self._open_task(session)
        return session.opening.locked() or (task is not None and task.external is not None and task.external.is_busy)

    async def stop(self) -> None:
        """Look after nobody any more. The conversations are put aside by whoever stops all tasks."""
        self._stopping = True
        looking, self._looking = self._looking, None
        if looking is not None:
            looking.cancel()
            await asyncio.wait({looking})
        await self._held.drain()

    def _told(self, session: _Session) -> ConnectedAgent:
        client, task = session.client, self._open_task(session)
        services = self._manager.services
        settings = services.settings()
        notebook = None if task is None else task.state.item.notebook
        activity: AgentActivity = "idle"
        if task is not None and task.external is not None and task.external.is_busy:
            activity = "waiting" if task.state.dialogue.asks.open else "working"
        return ConnectedAgent(
            key=client.key,
            name=client.name,
            version=client.version,
            since=_milliseconds(session.since),
            last_call=None if session.last_call is None else _milliseconds(session.last_call),
            activity=activity,
            doing=session.doing if activity != "idle" else None,
            task_id=session.task_id,
            notebook=None if notebook is None else notebook.path,
            approvals=settings.client_approvals.get(client.name, "ask"),
            can_ask=client.can_ask and services.policy().allow_auto_approval,
            may_ask=settings.client_questions.get(client.name, False),
        )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


async def _tell(progress: Progress, text: str) -> None:
    try:
        await progress(text)
    except Exception as error:  # noqa: BLE001 -- whatever a connection that is gone says
        logger.debug("A program could not be told what it waits for: %r", error)


async def _tell_nobody(text: str) -> None:
    """A resource has no progress."""
