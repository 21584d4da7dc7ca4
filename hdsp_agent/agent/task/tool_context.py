"""What a running tool may do with its task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from ...errors import HdspAgentError
from ...messages import (
    ClineAsk,
    ClineSay,
    ClineSayTool,
    CommandRun,
    NotebookRef,
    ProgressStatus,
    RecalledItem,
)
from ...tools import ActionRequest, Approval, ApprovalAsk, Proposal, ToolFailed, unified_diff
from ..approval import Decision
from ..checkpoints.checkpoint_service import SavedStep
from ..conversation.asks import AskAnswer
from ..conversation.auto_answer import suggested_answers
from ..conversation.dialogue import Beside
from .flow_port import TaskFlow
from .reading_context import ReadingContext

if TYPE_CHECKING:
    from ...memory import TaskMemory
    from ...recall import RecallHit, RecallKind
    from ..conversation.auto_answer import AutoAnswer
    from ..user_messages._expanded_message import Expand
    from .task_state import TaskState

__all__ = ["CallContext", "CallParts", "QuietContext"]

_SEARCHED: Final[frozenset[RecallKind]] = frozenset({"conversation", "notebook"})
_UNSAVED: Final = (
    "The files could not be saved before the agent changes them, so these changes cannot be undone with the "
    "conversation: {reason}"
)


@dataclass(frozen=True)
class CallParts:
    """The parts of a task that its calls reach."""

    flow: TaskFlow
    auto_answer: AutoAnswer
    expand: Expand


class CallContext(ReadingContext):
    """The context of one call.

    ``denied`` says that the person refused what it wanted to do, ``approved_at`` is the time of the question that allowed
    it last.
    """

    _keeps_question = True
    """Whether a question goes on waiting when the work is stopped, to be put again later."""

    def __init__(
        self, state: TaskState, parts: CallParts, *, shown_at: int | None = None, saved: SavedStep | None = None
    ) -> None:
        super().__init__(state)
        self._state = state
        self._parts = parts
        self._shown_at = shown_at
        self._saved = saved
        self.denied = False
        self.approved_at: int | None = None

    @property
    def flow(self) -> TaskFlow:
        """The plan, the mode, subtasks and the end."""
        return self._parts.flow

    @property
    def memory(self) -> TaskMemory:
        """What is remembered between conversations."""
        memory = self._state.memory
        if memory is None or not self._state.settings.memory_enabled:
            raise ToolFailed("Nothing is remembered here: memory is turned off.")
        return memory

    async def search_past(self, query: str, limit: int) -> Sequence[RecallHit]:
        """What the person's earlier conversations and the notebooks say about this."""
        past = self._state.services.past
        if past is None:
            raise ToolFailed("Earlier conversations cannot be searched here.")
        log = self._state.conversation.log
        hits = await past.search(
            log.metadata.user or "",
            query,
            kinds=_SEARCHED,
            limit=limit + 1,
            # What is said to a model on this machine is meant for no other.
            stays_here=bool(log.state.used_local_model),
        )
        # What is said here the model sees.
        return [hit for hit in hits if hit.source.id != self._state.task_id][:limit]

    async def notebooks_here(self, hits: Sequence[RecallHit]) -> Mapping[str, str]:
        """The paths in Jupyter of those found notebooks that it has, by their source's id."""
        past = self._state.services.past
        return {} if past is None else await past.notebooks_here(hits)

    async def note_recalled(self, items: Sequence[RecalledItem]) -> None:
        """Show with the call what of the past it gave the model to read."""
        if items and self.approved_at is not None:
            await self._state.dialogue.recalled(self.approved_at, items)

    async def approve(
        self,
        action: ActionRequest,
        ask: ApprovalAsk,
        text: str,
        *,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        progress: ProgressStatus | None = None,
    ) -> Approval:
        """Whether this may be done, exactly as ``text`` says, or as the person edits it. A rule that forbids it raises
        ToolFailed."""
        state = self._state
        if self._parts.flow.rejected:
            return self._refused(Approval(approved=False))
        decision = await self._decided(action)
        if decision.verdict == "deny":
            raise ToolFailed(f"This is not allowed here: {decision.reason}")
        at = self._question_at(ask)
        protected = True if "write_protected" in action.risks else None
        if decision.verdict == "approve" and not state.asks_everything:
            at = self.approved_at = await state.dialogue.tell_approved(
                ask, text, ts=at, is_protected=protected, progress=progress
            )
            await self._save_first(action, at, meanwhile)
            return Approval(approved=True, runs=decision.runs)
        answer = await self._asked(
            ask,
            text,
            ts=at,
            is_protected=protected,
            progress=progress,
            decision=decision,
            about=action,
            proposal=proposal,
        )
        if answer is None:
            return self._refused(Approval(approved=False))
        expanded = await self._parts.expand(answer)
        run = answer.run and answer.approved
        approval = Approval(answer.approved, expanded.text, expanded.images, by_person=True, run=run)
        if not approval.approved:
            return self._refused(approval)
        if proposal is not None and answer.edited is not None:
            action, approval = await self._edited(proposal, answer, approval, text if ask == "tool" else None)
        self.approved_at = answer.asked_at
        await self._save_first(action, answer.said_at or answer.asked_at, meanwhile)
        return approval

    async def _asked(
        self,
        ask: ApprovalAsk,
        text: str,
        *,
        ts: int | None,
        is_protected: bool | None,
        progress: ProgressStatus | None,
        decision: Decision,
        about: ActionRequest,
        proposal: Proposal | None,
        beside: Beside | None = None,
    ) -> AskAnswer | None:
        """The person's answer; None if the question no longer arises when its turn comes."""
        return await self._state.dialogue.ask(
            ask,
            text,
            ts=ts,
            is_protected=is_protected,
            progress=progress,
            flags=decision.flags,
            about=about,
            proposal=proposal,
            kept=self._keeps_question,
            unless=lambda: self._parts.flow.rejected,
            beside=beside,
        )

    async def _decided(self, action: ActionRequest) -> Decision:
        state = self._state
        await state.look_for_notebook()
        settings, policy, mode = state.settings, state.services.policy(), state.mode

        def decide() -> Decision:
            return state.services.approvals.decide(
                action, settings=settings, policy=policy, mode=mode, is_familiar=self._is_familiar(action)
            )

        if action.command is None and action.same_as is None and action.path is None and not action.paths:
            return decide()
        # A command is decided about with a look at the files that it names, and a file by the mode's patterns.
        return await asyncio.to_thread(decide)

    def _is_familiar(self, action: ActionRequest) -> bool:
        """Whether what is read is open in the browser, or in a folder that the person trusts. Blocks."""
        state = self._state
        if action.path is None or action.risks != {"read"}:
            return False
        if state.services.is_trusted(state.folder):
            return True
        notebooks = state.services.notebooks
        if notebooks is None or action.paths:
            return False
        path = state.folder / action.path
        own = {state.notebook.path} if state.notebook is not None else set()
        root = notebooks.access.root
        return any(
            path == (root / one if root is not None else Path(one)) for one in own | set(notebooks.access.open_paths)
        )

    async def _edited(
        self, proposal: Proposal, answer: AskAnswer, approval: Approval, tool: str | None
    ) -> tuple[ActionRequest, Approval]:
        """What the person made of a proposal is judged and shown in its place; the model is told what they changed."""
        edited = answer.edited or ()
        action, shown = await proposal.judged(edited)
        decision = await self._decided(action)
        if decision.verdict == "deny":
            raise ToolFailed(
                f"The person edited this before approving it, and what they made of it is not allowed here: {decision.reason}"
            )
        texts = zip(proposal.texts, edited, strict=True)
        diffs = [unified_diff(old, self.mask(new), name)[0] for (name, old), new in texts]
        edits = "\n".join(diff for diff in diffs if diff)
        if not edits:
            return action, replace(approval, edited=edited)
        await self._state.dialogue.show_edited(answer.asked_at, shown, decision.flags)
        path = None if tool is None else ClineSayTool.model_validate_json(tool).path
        told = ClineSayTool(tool="editedExistingFile", path=path, diff=edits)
        await self._state.conversation.say("user_feedback_diff", told.to_json(), durable=True)
        return action, replace(approval, edited=edited, edits=edits)

    async def _save_first(
        self, action: ActionRequest, at: int, meanwhile: Callable[[], Awaitable[None]] | None
    ) -> None:
        """Save what is about to be changed; what can go on ``meanwhile`` ends before this does, or fails after it."""
        if meanwhile is None:
            await self._save(action, at)
            return
        for failed in await asyncio.gather(self._save(action, at), meanwhile(), return_exceptions=True):
            if isinstance(failed, BaseException):
                raise failed

    async def _save(self, action: ActionRequest, at: int) -> None:
        """Keep the files as they are now, so that what is about to be done can be taken back with the message ``at``.

        That is not always the newest: calls of the same answer that come later may be shown already.
        """
        if self._saved is None:
            return
        state = self._state
        begun = monotonic()
        try:
            checkpoint = await self._saved.approved(action, at)
        except HdspAgentError as error:
            if not state.told_unsaved:
                state.told_unsaved = True
                await state.conversation.say("error", _UNSAVED.format(reason=error.message))
        else:
            if checkpoint is not None:
                took = round((monotonic() - begun) * 1000)
                await state.checkpoint_messages.put(checkpoint, self._saved.changed_since, took)

    def _refused(self, approval: Approval) -> Approval:
        self.denied = True
        self._parts.flow.rejected = True
        return approval

    async def ask(self, ask: ClineAsk, text: str | None = None, *, verbatim: bool = False) -> AskAnswer:
        """Ask the person something else; wait as long as it takes."""
        async with self._parts.auto_answer.watching(ask, text):
            answer = await self._state.dialogue.ask(ask, text, kept=self._keeps_question)
        if verbatim:
            return answer
        suggested = suggested_answers(text) if ask == "followup" else []
        if any(answer.text in (one, self.mask(one)) for one in suggested):
            # The model's own words, taken with a click or by nobody: they read no file and begin no command.
            along = await self._parts.expand(replace(answer, text=None, images=()))
            words = "\n\n".join(part for part in (answer.text, along.text) if part)
            return replace(answer, text=words, attachments=())
        expanded = await self._parts.expand(answer)
        return replace(answer, text=expanded.text, images=expanded.images, attachments=())

    async def say(
        self,
        say: ClineSay,
        text: str | None = None,
        *,
        partial: bool | None = None,
        ts: int | None = None,
        images: Sequence[str] = (),
        notebook: NotebookRef | None = None,
        command_run: CommandRun | None = None,
    ) -> int:
        """Tell the person something; the time of the message, to say it anew."""
        about = None if notebook is None else notebook.to_wire()
        run = None if command_run is None else command_run.to_wire()
        return await self._state.conversation.say(
            say, text, images=images, partial=partial, ts=ts, notebook=about, command_run=run
        )

    def _question_at(self, ask: ClineAsk) -> int | None:
        """The time of the question that the arguments showed while they streamed; it becomes whole once."""
        if ask != "tool":
            return None
        shown, self._shown_at = self._shown_at, None
        return shown


class QuietContext(CallContext):
    """The context of work that nobody asked for, and that asks nobody: only what the rules allow by themselves is done."""

    async def approve(
        self,
        action: ActionRequest,
        ask: ApprovalAsk,
        text: str,
        *,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        progress: ProgressStatus | None = None,
    ) -> Approval:
        """Whether the rules allow it."""
        if (await self._decided(action)).verdict != "approve":
            return Approval(approved=False)
        await self._state.dialogue.tell_approved(ask, text, progress=progress)
        if meanwhile is not None:
            await meanwhile()
        return Approval(approved=True)
