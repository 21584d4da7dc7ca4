"""What a task's logs tell whoever takes it up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from ...messages import ClineMessage, JsonObject, TodoItem
from ...persistence import INTERRUPTED, ApiRecord, HistoryView, Masker, TaskLog
from .task_limits import Spending
from .todo_list import todos_of
from .usage_meter import UsageMeter, request_of

__all__ = ["INTERRUPTED", "SERVER_STOPPED", "RecordedState", "last_that_counts", "recall", "unanswered_calls"]

SERVER_STOPPED: Final = "The server stopped while the model was answering."

_RESUME: Final = frozenset({"resume_task", "resume_completed_task"})
_PAGE: Final = 50


@dataclass
class RecordedState:
    """``last`` is the last word that counts, ``pending`` the question that waits for its answer, if that is it.

    ``torn`` are messages that were streaming, ``request`` one whose outcome was never written down and ``spoken`` what the
    model had said in answer to it, ``calls`` what it asked for and got no result of; ``said`` are the person's words, of
    which the model knows those until ``told_until``. ``aside`` is a question that waits and is not about the model's work.
    """

    usage: UsageMeter = field(default_factory=UsageMeter)
    spending: Spending = field(default_factory=Spending)
    todos: list[TodoItem] = field(default_factory=list)
    first: ClineMessage | None = None
    last: ClineMessage | None = None
    newest: ClineMessage | None = None
    torn: list[ClineMessage] = field(default_factory=list)
    request: ClineMessage | None = None
    spoken: list[ClineMessage] = field(default_factory=list)
    calls: list[JsonObject] = field(default_factory=list)
    said: list[ClineMessage] = field(default_factory=list)
    told_until: int = 0
    aside: ClineMessage | None = None
    told_too_many: bool = False
    """The person was told that there are too many tools."""

    @property
    def unheard(self) -> list[ClineMessage]:
        """What the person said and the model was never told, because the server stopped between the two."""
        return [message for message in self.said if message.ts > self.told_until]

    @property
    def pending(self) -> ClineMessage | None:
        """The question that waits for its answer."""
        newest = self.newest
        if newest is None or newest.type != "ask" or newest.is_answered is not None or newest.partial:
            return None
        return newest

    @property
    def completed(self) -> bool:
        """Whether the task's last word is its result."""
        return self.last is not None and "completion_result" in (self.last.ask, self.last.say)


async def recall(
    log: TaskLog,
    view: HistoryView,
    masker: Masker,
    *,
    counted_from: int = 0,
    side_by_side: bool = False,
    aside: Callable[[ClineMessage], bool] = lambda message: False,
) -> RecordedState:
    """Read the logs once. What was spent stays spent when it is rewound; a fork counts from ``counted_from`` on.

    ``side_by_side`` says that calls do not wait for each other's results. ``aside`` tells which questions and answers are not about the model's work.
    """
    # What was stopped in the middle of being recorded has been handed over: it comes, though nobody waits for it.
    await log.sync()
    recalled = RecordedState()
    visible = view.visible_ui.membership()
    async for message in log.ui.iterate():
        masker.vault.reserve(message.text or "")
        for attachment in message.attachments or ():
            masker.vault.reserve(attachment.content or "")
        if message.ts > counted_from:
            _count(recalled, message)
        if not visible(message.ts):
            continue
        if aside(message):
            if message.type == "ask":
                recalled.aside = message if message.is_answered is None else None
            continue
        _look_at(recalled, message)
    async for record in log.api.iterate():
        _reserve(record, masker)
        if record.role != "system" and record.seq in view.api:
            recalled.told_until = max(recalled.told_until, record.ts or 0)
    async for tool in log.tools.iterate():
        recalled.usage.tried(tool.tool_name, failed=tool.status == "error")
    recalled.calls = await (all_unanswered_calls(log, view) if side_by_side else unanswered_calls(log, view))
    return recalled


async def all_unanswered_calls(log: TaskLog, view: HistoryView) -> list[JsonObject]:
    """All calls that have no result, where one may begin before another has ended.

    A result that the person took back is one all the same: its call was done, and it comes back with an undo.
    """
    waiting: dict[str, JsonObject] = {}
    async for record in log.api.iterate():
        if record.seq in view.api:
            waiting.update((str(block.get("id")), block) for block in _blocks(record, "tool_use"))
        for block in _blocks(record, "tool_result"):
            waiting.pop(str(block.get("tool_use_id")), None)
    return list(waiting.values())


async def unanswered_calls(log: TaskLog, view: HistoryView) -> list[JsonObject]:
    """The calls of the last answer that have no result."""
    await log.sync()
    answered: set[str] = set()
    before: int | None = None
    while page := await log.api.page(before=before, limit=_PAGE):
        for record in reversed(page):
            if record.seq not in view.api or record.role == "system":
                continue
            if record.role == "assistant":
                return [block for block in _blocks(record, "tool_use") if block.get("id") not in answered]
            answered.update(str(block.get("tool_use_id")) for block in _blocks(record, "tool_result"))
        before = page[0].seq
    return []


def _count(recalled: RecordedState, message: ClineMessage) -> None:
    request = request_of(message)
    if request is not None:
        recalled.usage.add(request)
        recalled.spending.requests += 1
        recalled.spending.cost += request.cost or 0.0
    elif message.context_condense is not None:
        condensed = message.context_condense
        recalled.usage.condensed(condensed.cost, condensed.new_context_tokens)
        recalled.spending.cost += condensed.cost
    elif message.ask == "auto_approval_max_req_reached" and message.is_answered:
        recalled.spending.reset()


def _look_at(recalled: RecordedState, message: ClineMessage) -> None:
    if recalled.first is None or message.say == "user_feedback":
        recalled.said.append(message)
    if recalled.first is None:
        recalled.first = message
    recalled.newest = message
    if message.partial:
        recalled.torn.append(message)
    request = request_of(message)
    if request is not None:
        ended = request.cost is not None or request.tokens_in is not None or request.cancel_reason is not None
        recalled.request = None if ended else message
        recalled.spoken = []
    elif recalled.request is not None and message.say == "text":
        recalled.spoken.append(message)
    recalled.told_too_many |= message.say == "too_many_tools_warning"
    todos = todos_of(message)
    if todos is not None:
        recalled.todos = todos
    if _counts_as_word(message):
        recalled.last = message


def last_that_counts(messages: Sequence[ClineMessage]) -> str | None:
    """The kind of the last word, as ``RecordedState.last`` has it, of the newest messages of a conversation."""
    last = next((message for message in reversed(messages) if _counts_as_word(message)), None)
    return None if last is None else last.ask or last.say


def _counts_as_word(message: ClineMessage) -> bool:
    return message.ask not in _RESUME and message.say not in ("reasoning", "checkpoint_saved")


def _reserve(record: ApiRecord, masker: Masker) -> None:
    if isinstance(record.content, str):
        masker.vault.reserve(record.content)
        return
    for block in record.content:
        for value in block.values():
            if isinstance(value, str) and block.get("type") != "image":
                masker.vault.reserve(value)
            elif block.get("type") in ("tool_use", "tool_result"):
                masker.vault.reserve(str(value))


def _blocks(record: ApiRecord, kind: str) -> list[JsonObject]:
    blocks = cast("list[JsonObject]", [] if isinstance(record.content, str) else record.content)
    return [block for block in blocks if block.get("type") == kind]
