"""What all tabs of one owner share: the numbered stream, the requests under way, and the answers given."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..errors import Unavailable
from ..messages import (
    ClientHello,
    ClineMessage,
    ExtensionMessage,
    MessageCreated,
    MessageDelta,
    MessageUpdated,
    ServerClosing,
    StateMessage,
    WebviewMessage,
)
from ._answered_requests import AnsweredRequests
from ._bad_input_log import BadInputLog
from ._channel_limits import ChannelLimits
from ._coalescer import Delta, DeltaCoalescer, utf16_length
from ._dispatch import Dispatcher, RequestContext, refusal
from ._frame_encoding import body
from ._frame_ring import Ring
from ._owner import Owner
from ._tab_session import GOING_AWAY, Session, SessionStats, Socket, StateSnapshot

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["Arrival", "Channel", "StateOf", "TabChange"]

REPLACED = 4002

Arrival = Callable[[Owner], Awaitable[None]]
TabChange = Callable[[Owner, str], None]

StateOf = Callable[[Owner], StateMessage]
"""Makes the ``state`` of an owner. It must not wait, so that it is the truth as of one sequence number."""


class Channel:
    """One owner's channel: everything published here reaches all of their tabs."""

    def __init__(
        self,
        owner: Owner,
        *,
        limits: ChannelLimits,
        dispatcher: Dispatcher,
        state_of: StateOf,
        on_tab: TabChange,
        log: Log,
    ) -> None:
        self.owner = owner
        self._on_tab = on_tab
        self.limits = limits
        self._dispatcher = dispatcher
        self._state_of = state_of
        self._log = log
        self._ring = Ring(max_frames=limits.ring_frames, max_bytes=limits.ring_bytes)
        self._coalescer = DeltaCoalescer(
            self._publish_delta, interval=limits.delta_seconds, max_waiting=limits.delta_chars
        )
        self._sessions: set[Session] = set()
        self._tabs: dict[str, Session] = {}
        self._answers: OrderedDict[str, AnsweredRequests] = OrderedDict()
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def epoch(self) -> str:
        """Names the life of this channel's sequence numbers."""
        return self._ring.epoch

    @property
    def newest(self) -> int:
        """The last sequence number given."""
        return self._ring.newest

    @property
    def clients(self) -> list[SessionStats]:
        """The connected tabs."""
        return [session.stats for session in self._tabs.values() if not session.closed]

    def publish(self, message: ExtensionMessage) -> None:
        """Send a message to all tabs, those that are away for a moment included."""
        match message:
            case MessageCreated(task_id=task_id, message=about) | MessageUpdated(task_id=task_id, cline_message=about):
                self._coalescer.settle(task_id, about.ts, _lengths(about) if about.partial else None)
            case StateMessage():
                self._coalescer.flush_all()
            case _:
                pass
        self._append(message)

    def delta(self, task_id: str, ts: int, field: str, append: str) -> None:
        """Add text to a field (``text`` or ``reasoning``) of a message that was published as partial."""
        self._coalescer.add(task_id, ts, field, append)

    def forget_task(self, task_id: str) -> None:
        """Let go of what is remembered about a task's streaming messages: it is closed."""
        self._coalescer.forget_task(task_id)

    async def send_to(self, client_id: str, message: ExtensionMessage, *, at_once: bool = False) -> None:
        """Send a message to one tab only, waiting while too much waits for it already; ``at_once`` if its answer is awaited."""
        tab = self._tabs.get(client_id)
        if tab is None or not await tab.send(body("msg", message.to_json().encode()), at_once=at_once):
            raise Unavailable("The browser tab for this is not connected. Open it again, or use another one.")

    def join(self, socket: Socket) -> Session:
        """Give a new socket its session; it takes part once it has been attached."""
        session = Session(socket, self._ring, self._snapshot, limits=self.limits, log=self._log)
        self._sessions.add(session)
        return session

    def attach(self, session: Session, comm_id: str, hello: ClientHello, answer: Callable[[bool], bytes]) -> None:
        """Let a session take part as the tab ``hello`` names; ``answer(resumed)`` is what it hears first."""
        earlier = self._tabs.get(hello.client_id)
        if earlier is not None:
            # Usually a connection that is dead without our knowing; if not, two pages must not share one id.
            earlier.end(body("close", _replaced().to_json().encode()), REPLACED, "replaced")
        self._tabs[hello.client_id] = session
        last_seq = hello.last_seq if hello.epoch == self.epoch else None
        resumed = session.attach(hello.client_id, comm_id, last_seq, answer)
        self._answers_of(hello.client_id)
        self._log.info("Tab %r %s", hello.client_id, "resumed" if resumed else "connected")
        self._on_tab(self.owner, hello.client_id)

    def leave(self, session: Session) -> None:
        """Forget a session whose socket is closed; its requests go on."""
        session.close(GOING_AWAY, "gone")
        self._sessions.discard(session)
        if self._tabs.get(session.client_id) is session:
            del self._tabs[session.client_id]
            self._on_tab(self.owner, session.client_id)

    async def request(self, session: Session, request: WebviewMessage, complaints: BadInputLog) -> None:
        """Begin what a tab asks for, or join or repeat the answer if it asked before; the answer goes to ``session``."""
        answers = self._answers_of(session.client_id)
        if not answers.knows(request.request_id):
            await self._wait_for_turn(answers)
        answer = answers.find(request.request_id)
        if answer is not None:
            await session.send(body("ack", answer))
        elif answers.join(request.request_id, session):
            context = RequestContext(self.owner, session.client_id, request.request_id)
            task = asyncio.create_task(self._run(answers, context, request, complaints))
            answers.tasks.add(task)
            self._running.add(task)
            task.add_done_callback(answers.tasks.discard)
            task.add_done_callback(self._running.discard)

    def beat(self) -> None:
        """Look after the heartbeats of all tabs."""
        for session in list(self._sessions):
            session.beat()

    async def stop(self) -> None:
        """Let requests and tabs finish for a moment, then end them."""
        self._stopping = True
        await _finish(self._running, self.limits.stop_seconds)
        self._coalescer.stop()
        sessions = list(self._sessions)
        for session in sessions:
            session.end(None, GOING_AWAY, "the server stops")
        await _finish({session.writer for session in sessions}, self.limits.stop_seconds)
        for session in sessions:
            self.leave(session)

    async def _wait_for_turn(self, answers: AnsweredRequests) -> None:
        if self._stopping:
            raise Unavailable("The server is stopping. The request is sent again when it is running.")
        if len(answers.tasks) >= self.limits.running_requests:
            await asyncio.wait(
                answers.tasks, timeout=self.limits.request_patience_seconds, return_when=asyncio.FIRST_COMPLETED
            )
        if len(answers.tasks) >= self.limits.running_requests:
            raise Unavailable("Too many requests are running. Try again when one of them is done.")

    async def _run(
        self, answers: AnsweredRequests, context: RequestContext, request: WebviewMessage, complaints: BadInputLog
    ) -> None:
        try:
            answer = await self._dispatcher.answer(context, request, complaints)
        except asyncio.CancelledError:
            if self._stopping:
                answers.abandon(context.request_id)
                raise
            # Nobody cancels a request but stop(): the handler waited for something that was cancelled.
            answer = refusal(context, Unavailable("What this request waited for was cancelled. Try it again."))
        for session in answers.finish(context.request_id, answer):
            await session.send(body("ack", answer))

    def _answers_of(self, client_id: str) -> AnsweredRequests:
        answers = self._answers.get(client_id)
        if answers is None:
            answers = self._answers[client_id] = AnsweredRequests(
                max_answers=self.limits.answers, max_bytes=self.limits.answer_bytes
            )
        self._answers.move_to_end(client_id)
        for other in list(self._answers):
            if len(self._answers) <= self.limits.remembered_clients:
                break
            if other not in self._tabs and not self._answers[other].tasks:
                del self._answers[other]
        return answers

    def _publish_delta(self, delta: Delta) -> None:
        self._append(
            MessageDelta(
                task_id=delta.task_id, ts=delta.ts, field=delta.field, offset=delta.offset, append=delta.append
            )
        )

    def _append(self, message: ExtensionMessage) -> None:
        self._ring.append(body("msg", message.to_json().encode(), self._ring.newest + 1))
        for session in self._tabs.values():
            session.wake()

    def _snapshot(self) -> StateSnapshot:
        # Text that still waits is in the state already; sent after it, it would not fit.
        self._coalescer.flush_all()
        data = self._state_of(self.owner).to_json().encode()
        return StateSnapshot(self._ring.newest, data)


def _lengths(message: ClineMessage) -> dict[str, int]:
    return {"text": utf16_length(message.text or ""), "reasoning": utf16_length(message.reasoning or "")}


def _replaced() -> ServerClosing:
    return ServerClosing(
        code="conflict", message="This panel was opened in another tab. Reload this one to use it here.", params={}
    )


async def _finish(tasks: set[asyncio.Task[None]], seconds: float) -> None:
    """Wait for tasks, then cancel those that take longer."""
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
