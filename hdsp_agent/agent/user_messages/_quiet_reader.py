"""Reading what the person points at as the model's own tools would read it, without asking anybody."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import ClineAsk, ClineSay, CommandRun, JsonObject, NotebookRef, ProgressStatus, RecalledItem
from ...tools import ActionRequest, Approval, ApprovalAsk, Proposal, Risk, ToolFailed, ToolResult, answer_blocks
from ..conversation.conversation import text_block
from ..task.reading_context import ReadingContext

if TYPE_CHECKING:
    from ...recall import RecallHit

__all__ = ["MOST_CHARACTERS", "NOT_ATTACHED", "QuietReader", "by_tool", "not_attached", "read_quietly", "within"]

MOST_CHARACTERS: Final = 200_000
"""As much as one message brings along of what is read for it."""
NOT_ATTACHED: Final = "[Not attached:"
_PATIENCE_SECONDS: Final = 15.0


async def read_quietly(reading: Awaitable[Sequence[JsonObject]]) -> Sequence[JsonObject]:
    """What is read, or in words why it is not."""
    try:
        return await wait_at_most(reading, _PATIENCE_SECONDS)
    except TimeoutError:
        return [not_attached(f"reading it took longer than {_PATIENCE_SECONDS:.0f} seconds.")]
    except (HdspAgentError, ToolFailed, OSError) as error:
        return [not_attached(str(error))]


async def by_tool(tool: str, arguments: JsonObject, context: QuietReader) -> Sequence[JsonObject]:
    """What one of the model's own tools makes of it, or in words why it does not."""
    result = await context.run(tool, arguments)
    content = [text_block(result.content)] if isinstance(result.content, str) else result.content
    return [not_attached(str(block["text"])) for block in content] if result.is_error else content


def not_attached(why: str) -> JsonObject:
    """In the place of what could not be read."""
    return text_block(f"{NOT_ATTACHED} {why}]")


def within(text: str, left: int) -> str:
    """As much of a text as there is room for."""
    if len(text) <= left:
        return text
    return f"{text[:left]}\n[… the rest is left out: too much was attached at once. Read it with the tools …]"


class QuietReader(ReadingContext):
    """Reads what the person named without asking them again, and without a message that says so."""

    @property
    def unasked(self) -> frozenset[Risk]:
        """What is done without a question. The name may have come in with text that somebody else wrote and the person only
        pasted."""
        return frozenset({"read", "none"})

    @property
    def has_notebooks(self) -> bool:
        """Whether there are notebooks and kernels here."""
        return self._reading.services.notebooks is not None

    def has_resource(self, server: str, uri: str) -> bool:
        """Whether an MCP server lists such a resource."""
        state = self._reading
        if state.mcp is None or not state.settings.mcp_enabled:
            return False
        return any(one.server == server and one.fits(uri) for one in state.mcp.offer.resources)

    async def resource(self, server: str, uri: str) -> Sequence[JsonObject]:
        """What it holds: a stranger's words."""
        self.check(ActionRequest(risks=frozenset({"mcp"}), tool="access_mcp_resource", server=server))
        answer = await self.mcp.read(server, uri)
        self._reading.note_external()
        return await answer_blocks(answer, self)

    async def run(self, tool: str, arguments: JsonObject) -> ToolResult:
        """What one of the model's own tools makes of it."""
        tools = self._reading.services.tools
        result = await tools.get(tool).run(tools.validate(tool, json.dumps(arguments)), self)
        if tools.get(tool).reads_external and not result.is_error:
            self._reading.note_external()
        return result

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
        """Whether it may be read: what is outside the workspace or may hold passwords is left to a tool that asks."""
        self.check(action)
        if action.risks - self.unasked:
            raise ToolFailed(
                f"{action.path or 'It'} is outside the workspace, another person's, or may hold passwords. "
                "If it is needed, read it with a tool: the person is asked then."
            )
        return Approval(approved=True)

    def check(self, action: ActionRequest) -> None:
        """Raise for what somebody has forbidden."""
        state = self._reading
        decision = state.services.approvals.decide(
            action, settings=state.settings, policy=state.services.policy(), mode=state.mode
        )
        if decision.verdict == "deny":
            raise ToolFailed(decision.reason)

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
        """Nothing is said: the person named it themselves."""
        return 0

    async def ask(self, ask: ClineAsk, text: str | None = None, *, verbatim: bool = False) -> NoReturn:
        """Nothing is asked."""
        raise ToolFailed("It cannot be read without asking the person something. Read it with a tool.")

    @property
    def flow(self) -> NoReturn:
        """Nothing is steered."""
        raise _only_reads()

    @property
    def memory(self) -> NoReturn:
        """Nothing is remembered."""
        raise _only_reads()

    async def search_past(self, query: str, limit: int) -> Sequence[RecallHit]:
        """Nothing is searched."""
        raise _only_reads()

    async def notebooks_here(self, hits: Sequence[RecallHit]) -> Mapping[str, str]:
        """Nothing was found."""
        return {}

    async def note_recalled(self, items: Sequence[RecalledItem]) -> None:
        """Nothing was recalled."""


def _only_reads() -> ToolFailed:
    return ToolFailed("What goes along with a message is only read.")
