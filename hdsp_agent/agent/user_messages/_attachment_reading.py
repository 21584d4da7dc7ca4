"""What goes along with a message and is read only when the model is told: conversations, checkpoints, web pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..._person import person_of_server
from ..._threads import Stop, in_thread
from ...checkpoints import CheckpointDiff
from ...context import Budget, truncated
from ...errors import InvalidInput, UnknownTask
from ...memory.conversation_text import read_conversation
from ...messages import Attachment, JsonObject, TaskId
from ...providers import model_info
from ...tools import ActionRequest, Risk
from ..checkpoints.diff_text import file_diff_text, may_be_shown
from ..conversation.conversation import text_block
from ._quiet_reader import MOST_CHARACTERS, NOT_ATTACHED, QuietReader, by_tool, not_attached, read_quietly, within

if TYPE_CHECKING:
    from ...tools import PathPolicy
    from ..task.reading_context import ReadingState

__all__ = ["read_attachments", "unread"]

_CONVERSATION: Final = Budget("tokens", 15_000)
_DIFFERENCES: Final = Budget("tokens", 15_000)
_MOST_FILES: Final = 200
_MOST_READ: Final = 10


async def read_attachments(attachments: Sequence[Attachment], state: ReadingState) -> list[Attachment]:
    """All of it with its content. What cannot be read is said in words; nobody is asked anything."""
    told: list[Attachment] = []
    left, read = await _room(state), 0
    for attachment in attachments:
        if attachment.content is not None:
            told.append(attachment)
            continue
        read += 1
        blocks = (
            await read_quietly(_read(attachment, _ChosenReader(state)))
            if read <= _MOST_READ
            else [not_attached(f"more than {_MOST_READ} were to be read at once.")]
        )
        text = within("\n".join(str(block.get("text", "")) for block in blocks), left)
        left = max(0, left - len(text))
        told.append(attachment.model_copy(update={"content": text}))
    return told


def unread(asked: Sequence[Attachment], told: Sequence[Attachment]) -> list[str]:
    """Why some were not read, in words."""
    return [
        f"{now.label}: {now.content.removeprefix(NOT_ATTACHED).strip(' ]')}"
        for before, now in zip(asked, told, strict=True)
        if before.content is None and now.content is not None and now.content.startswith(NOT_ATTACHED)
    ]


async def _room(state: ReadingState) -> int:
    """How many characters are read: a quarter of what the model takes in, and not more than for any other."""
    provider = state.provider
    info = None if provider is None else await asyncio.to_thread(model_info, provider)
    window = None if info is None else info.context_window
    return MOST_CHARACTERS if window is None else min(MOST_CHARACTERS, window)


async def _read(attachment: Attachment, reader: _ChosenReader) -> Sequence[JsonObject]:
    match attachment.kind:
        case "conversation":
            return [text_block(await reader.conversation(TaskId(attachment.path)))]
        case "checkpoint":
            return [text_block(await reader.since_checkpoint(attachment.path))]
        case "page":
            return await by_tool("fetch_url", {"url": attachment.path}, reader)
        case _:
            raise InvalidInput("it came without its content.", field="attachments")


class _ChosenReader(QuietReader):
    """Reads what the person has chosen themselves, which no text that somebody else wrote can do for them."""

    @property
    def unasked(self) -> frozenset[Risk]:
        """A page too, unless every action has to be approved."""
        allowed = self._reading.services.policy().allow_auto_approval
        return super().unasked | (frozenset({"network"}) if allowed else frozenset())

    async def conversation(self, task_id: TaskId) -> str:
        """What is said in another conversation of the same person."""
        # Whoever forbids searching them forbids reading them.
        self.check(ActionRequest(risks=frozenset({"read"}), tool="search_tasks"))
        state = self._reading
        reader = await state.services.store.view(task_id)
        nobody = person_of_server()
        if (reader.metadata.user or nobody) != (state.owner or nobody):
            raise UnknownTask(f"There is no conversation {task_id}.", task=task_id)
        found = await read_conversation(state.services.store, task_id)
        await state.inherit_marks(task_id)
        return truncated(found.text, _CONVERSATION) or "[Nothing was said in it.]"

    async def since_checkpoint(self, checkpoint: str) -> str:
        """How the workspace's files differ now from how they were."""
        # It shows what files contain.
        self.check(ActionRequest(risks=frozenset({"read"}), tool="read_file"))
        state = self._reading
        diff = await state.services.checkpoint_service.diff(state.folder, checkpoint, "now")

        def told(_stop: Stop) -> str:
            # Masked before it is cut: half a secret is not known as one.
            return truncated(self.mask("\n\n".join(_differences(diff, state.paths))), _DIFFERENCES)

        return await in_thread(told) or "No file has changed since."


def _differences(diff: CheckpointDiff, paths: PathPolicy) -> Iterator[str]:
    shown = [file for file in diff.files if may_be_shown(file, paths)]
    if shown:
        yield "What changed in the files since this checkpoint:"
    for file in shown[:_MOST_FILES]:
        was = f" (was {file.renamed_from.path})" if file.renamed_from is not None else ""
        yield f"{file.change}: {file.path}{was}\n{file_diff_text(file)}".rstrip()
    more = len(shown) - _MOST_FILES
    if more > 0:
        yield f"[… {more} more files …]"
    hidden = len(diff.files) - len(shown)
    if hidden:
        yield f"[{hidden} more not shown: hidden from you, or they may hold passwords]"
