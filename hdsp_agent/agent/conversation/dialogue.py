"""Saying and asking: how a question is put, waited for and answered, and what that makes of the task's status."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Final, TypeAlias, overload

from ...errors import InvalidInput
from ...events import Emitter
from ...messages import (
    ApprovalFlag,
    ClineAsk,
    ClineMessage,
    Halt,
    ModelFailure,
    NotebookRef,
    ProgressStatus,
    RecalledItem,
    StoppedBy,
    TaskActive,
    TaskAskResponded,
    TaskId,
    TaskIdle,
    TaskInteractive,
    TaskResumable,
    TaskStatus,
    TaskUserMessage,
    status_during,
)
from ...tools import ActionRequest, Proposal
from .asks import AskAnswer, Asks, GivenAnswer
from .conversation import NOT_YET, Conversation
from .user_text import Spoken

__all__ = ["MOST_RECALLED", "Beside", "Dialogue"]

Beside: TypeAlias = Callable[[ClineMessage], Coroutine[object, object, None]]
"""What is done while a question waits. It raises nothing, and ends soon when it is cancelled."""

MOST_RECALLED: Final = 50
"""Items named with one message."""
_APPROVALS: Final = frozenset({"tool", "command", "use_mcp_server", "auto_approval_max_req_reached", "api_req_failed"})


class Dialogue:
    """What passes between one task and the person. At most one question that stops the work is open at a time."""

    def __init__(self, conversation: Conversation, events: Emitter) -> None:
        self.conversation: Final = conversation
        self.asks: Final = Asks(self._record)
        self._events = events
        self._one_at_a_time = asyncio.Lock()
        self._expected: ClineMessage | None = None
        self._about: tuple[int, ActionRequest | None] = (0, None)
        self._proposed: Proposal | None = None
        self.status: TaskStatus = "none"
        self.on_said: Callable[[NotebookRef | None], None] = lambda may_edit: None
        """Called when the person has said something, with the cell at which they said it if it may be changed."""

    def action_of(self, ts: int) -> ActionRequest | None:
        """What the open question ``ts`` is to approve, if it is open and about that."""
        asked, action = self._about
        return action if asked == ts and self.asks.is_open(ts) else None

    def proposal_of(self, ts: int) -> Proposal | None:
        """What may be edited before the open question ``ts`` is approved."""
        return self._proposed if self._about[0] == ts and self.asks.is_open(ts) else None

    @property
    def task_id(self) -> TaskId:
        """Whose dialogue it is."""
        return self.conversation.task_id

    def expect(self, message: ClineMessage | None) -> None:
        """This question stands in the log without an answer: when it is put again, word for word, it is the same one."""
        self._expected = message

    @overload
    async def ask(
        self,
        kind: ClineAsk,
        text: str | None = None,
        *,
        ts: int | None = None,
        is_protected: bool | None = None,
        progress: ProgressStatus | None = None,
        flags: Sequence[ApprovalFlag] = (),
        about: ActionRequest | None = None,
        model_failure: ModelFailure | None = None,
        stopped_by: StoppedBy | None = None,
        halt: Halt | None = None,
        kept: bool = True,
        beside: Beside | None = None,
    ) -> AskAnswer: ...

    @overload
    async def ask(
        self,
        kind: ClineAsk,
        text: str | None = None,
        *,
        ts: int | None = None,
        is_protected: bool | None = None,
        progress: ProgressStatus | None = None,
        flags: Sequence[ApprovalFlag] = (),
        about: ActionRequest | None = None,
        proposal: Proposal | None = None,
        kept: bool = True,
        unless: Callable[[], bool],
        beside: Beside | None = None,
    ) -> AskAnswer | None: ...

    async def ask(
        self,
        kind: ClineAsk,
        text: str | None = None,
        *,
        ts: int | None = None,
        is_protected: bool | None = None,
        progress: ProgressStatus | None = None,
        flags: Sequence[ApprovalFlag] = (),
        about: ActionRequest | None = None,
        model_failure: ModelFailure | None = None,
        stopped_by: StoppedBy | None = None,
        halt: Halt | None = None,
        proposal: Proposal | None = None,
        kept: bool = True,
        unless: Callable[[], bool] | None = None,
        beside: Beside | None = None,
    ) -> AskAnswer | None:
        """Ask, and wait as long as it takes. With ``ts`` a question that was shown while it streamed becomes whole.

        ``about`` is what is to be approved, ``proposal`` what may be edited first, and ``flags`` what to warn of; ``model_failure``, ``stopped_by`` and ``halt``
        say on the message why it is asked. A question that is not ``kept`` is withdrawn where waiting for it is stopped. While
        it waits, ``beside`` is done, and cancelled once it has an answer.
        None if, when its turn came, ``unless`` said that the question no longer arises.
        """
        text = None if text is None else await self.conversation.mask(text)
        fields = {
            "is_protected": is_protected,
            "progress_status": progress,
            "approval_flags": list(flags) or None,
            "model_failure": model_failure,
            "stopped_by": stopped_by,
            "halt": halt,
        }
        if status_during(kind) == "running":
            return await self._wait(await self._put(kind, text, ts, fields), beside)
        async with self._one_at_a_time:
            if unless is not None and unless():
                return None
            message = await self._put(kind, text, ts, fields)
            self._turn_to(status_during(kind))
            self._about, self._proposed = (message.ts, about), proposal
            try:
                answer = await self._wait(message, beside)
            except asyncio.CancelledError:
                if not kept:
                    await self.withdraw(message)
                raise
            self._turn_to("running")
        return answer

    async def tell_approved(
        self,
        kind: ClineAsk,
        text: str,
        *,
        ts: int | None = None,
        is_protected: bool | None = None,
        progress: ProgressStatus | None = None,
    ) -> int:
        """Show what is done without asking, as a question that was answered already."""
        text = await self.conversation.mask(text)
        await self._supersede(None)
        fields = {"is_protected": is_protected, "progress_status": progress, "is_answered": True}
        message = self._message(kind, text, ts, fields)
        if ts is None:
            return (await self.conversation.create(message)).ts
        await self.conversation.update(message)
        return ts

    async def withdraw(self, message: ClineMessage, failure: str | None = None) -> None:
        """A question that will not be asked any more stays as it is, and nobody can answer it; ``failure`` says why."""
        update = {"partial": False, "is_answered": False, "failure": failure}
        await self.conversation.update(message.model_copy(update=update))

    async def failed(self, ts: int, why: str) -> None:
        """What this question allowed could not be done."""
        message = await self.conversation.log.ui.get(ts)
        if message is not None:
            await self.conversation.update(message.model_copy(update={"failure": why}))

    async def recalled(self, ts: int, items: Sequence[RecalledItem]) -> None:
        """What of the past the model read by what this question allowed."""
        message = await self.conversation.log.ui.get(ts)
        if message is not None:
            named = [
                item.model_copy(update={"title": await self.conversation.mask(item.title)})
                for item in items[:MOST_RECALLED]
            ]
            await self.conversation.update(message.model_copy(update={"recalled": named}))

    async def answer(self, ts: int, given: GivenAnswer) -> AskAnswer:
        """The person's answer. Raises AskNotOpen, and InvalidInput for texts that were not proposed."""
        if given.edited is not None and self.asks.is_open(ts):
            proposal = self.proposal_of(ts)
            texts = 0 if proposal is None else len(proposal.texts)
            if given.response != "yesButtonClicked" or len(given.edited) != texts:
                raise InvalidInput(
                    f"This question has {texts} texts to edit. Approve it with that many texts.",
                    field="edited",
                )
        return await self.asks.answer(ts, given)

    async def show_edited(self, ts: int, text: str, flags: Sequence[ApprovalFlag]) -> None:
        """The question ``ts`` was approved with changes: show what was approved."""
        message = await self.conversation.log.ui.get(ts)
        if message is not None:
            shown = {"text": await self.conversation.mask(text), "approval_flags": list(flags) or None}
            await self.conversation.update(message.model_copy(update=shown), durable=True)

    async def user_said(
        self,
        spoken: Spoken,
        *,
        first: Callable[[int], Awaitable[None]] | None = None,
        may_edit: NotebookRef | None = None,
    ) -> int:
        """Record what the person says; the time of the message, with which ``first`` is done before it is recorded.

        ``may_edit`` is a cell that may be changed with these words without another question.
        """
        message = ClineMessage(
            ts=NOT_YET,
            type="say",
            say="user_feedback",
            text=await self.conversation.mask(spoken.text or ""),
            images=list(spoken.images or ()) or None,
            attachments=await self.conversation.masked_attachments(spoken.attachments) or None,
        )
        if first is None:
            message = await self.conversation.create(message, durable=True)
        else:
            async with self.conversation.log.new_message() as ts:
                await first(ts)
                message = await self.conversation.create(message.model_copy(update={"ts": ts}), durable=True)
        self.on_said(may_edit)
        self._events.emit(TaskUserMessage(payload=(self.task_id,)))
        return message.ts

    def working(self) -> None:
        """The task works."""
        self._turn_to("running")

    def idle(self) -> None:
        """Nothing is under way, and something may come at any time."""
        self._turn_to("idle")

    def at_rest(self) -> None:
        """Nothing is under way and nothing asked."""
        self.status = "none"

    def resting_with(self, kind: ClineAsk) -> None:
        """The task stops with this question as its last word."""
        self._turn_to(status_during(kind))

    # ---- inside

    async def _put(
        self, kind: ClineAsk, text: str | None, ts: int | None, fields: Mapping[str, object]
    ) -> ClineMessage:
        expected = await self._supersede(self._message(kind, text, ts or NOT_YET, fields))
        if expected is not None:
            return await self._with_flags(expected, fields["approval_flags"])
        message = self._message(kind, text, ts, fields)
        if ts is None:
            return await self.conversation.create(message, durable=True)
        await self.conversation.update(message, durable=True)
        return message

    def _message(self, kind: ClineAsk, text: str | None, ts: int | None, fields: Mapping[str, object]) -> ClineMessage:
        message = self.conversation.ask_message(kind, text, ts=ts, partial=None if ts is None else False)
        return message.model_copy(update={name: value for name, value in fields.items() if value is not None})

    async def _supersede(self, message: ClineMessage | None) -> ClineMessage | None:
        """The expected question, if this is the one; else it is withdrawn, because something else is asked instead."""
        expected, self._expected = self._expected, None
        if expected is None:
            return None
        if message is not None and (expected.ask, expected.text) == (message.ask, message.text):
            return expected
        await self.withdraw(expected)
        return None

    async def _with_flags(self, message: ClineMessage, flags: object) -> ClineMessage:
        """A question that is put again warns of what the engine finds now, perhaps after an upgrade."""
        if message.approval_flags == flags:
            return message
        message = message.model_copy(update={"approval_flags": flags})
        await self.conversation.update(message, durable=True)
        return message

    async def _wait(self, message: ClineMessage, beside: Beside | None) -> AskAnswer:
        other = None if beside is None else asyncio.create_task(beside(message), name=f"Beside question {message.ts}")
        try:
            answer = await self.asks.wait(message)
        finally:
            if other is not None:
                other.cancel()
                await asyncio.wait({other})
        self._events.emit(TaskAskResponded(payload=(self.task_id,)))
        return answer

    async def _record(self, message: ClineMessage, given: GivenAnswer) -> AskAnswer:
        """Write the answer down; only then is it acted on and told."""
        approved = message.ask not in _APPROVALS or given.response == "yesButtonClicked"
        await self.conversation.update(
            message.model_copy(
                update={
                    "is_answered": approved,
                    "denied": None if approved else True,
                    "answered_in": given.given_in,
                    "partial": False if message.partial else message.partial,
                }
            ),
            durable=True,
        )
        said_at = None
        if given.says_something:
            said_at = await self.user_said(given, may_edit=given.may_edit)
        return AskAnswer(
            given.response, message.ts, given.text, given.images, given.attachments, said_at, given.edited, given.run
        )

    def _turn_to(self, status: TaskStatus) -> None:
        if status == self.status:
            return
        self.status = status
        match status:
            case "running":
                self._events.emit(TaskActive(payload=(self.task_id,)))
            case "interactive":
                self._events.emit(TaskInteractive(payload=(self.task_id,)))
            case "resumable":
                self._events.emit(TaskResumable(payload=(self.task_id,)))
            case "idle":
                self._events.emit(TaskIdle(payload=(self.task_id,)))
            case "none":
                pass
