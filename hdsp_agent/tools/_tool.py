"""What a tool is, what it is given and what it returns."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

from ..config import GlobalSettings, ModeConfig, ToolGroup
from ..errors import HdspAgentError, StorageUnavailable
from ..messages import (
    Attachment,
    ClineAsk,
    ClineAskResponse,
    ClineSay,
    CommandRun,
    Ending,
    JsonObject,
    NotebookRef,
    NoteSuggestion,
    ProgressStatus,
    RecalledItem,
    TaskId,
    TodoItem,
)
from ..persistence import Vault
from ._action import ActionRequest
from ._structured import StructuredOutput
from ._tool_failed import PresentCell, ToolFailed

if TYPE_CHECKING:
    from ..memory import TaskMemory
    from ..notebooks import Notebooks
    from ..recall import RecallHit
    from ._mcp_port import McpServers
    from ._path_policy import PathPolicy
    from ._tool_state import ToolState

__all__ = [
    "Approval",
    "ApprovalAsk",
    "AskReply",
    "Completion",
    "FlowPort",
    "PastCall",
    "Proposal",
    "PutBack",
    "SimpleTool",
    "SinceAsked",
    "Tool",
    "ToolArguments",
    "ToolContext",
    "ToolResult",
    "answered",
    "data_url",
    "denied",
    "failed",
    "image_block",
    "with_images",
]

_EDITED = (
    "The person edited what you proposed before approving it. What was done is the edited version. Keep their changes."
)
ApprovalAsk = Literal["tool", "command", "use_mcp_server"]
PutBack = Literal["nothing", "done", "failed"]
"""What came of putting cells back: there was nothing to put back, they are as they were, or somebody has to look at them."""


class ToolArguments(BaseModel):
    """The arguments of a tool, as the model gives them."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, defer_build=True, use_attribute_docstrings=True, str_max_length=10_000_000
    )


@dataclass(frozen=True)
class ToolResult:
    """What the model is told; ``content`` is that of a ``tool_result`` block."""

    content: str | list[JsonObject]
    is_error: bool = False
    artifact: str | None = None
    """Where the whole of a shortened output is kept."""
    counts: bool = True
    """Whether an error counts among the model's mistakes in a row, after which the person is asked."""
    shown: bool = False
    """Whether messages of its own have told the person what came of it."""
    code: str | None = None
    """What kind of error it is, for a program."""
    cells: tuple[PresentCell, ...] = ()
    """Of an error, the cells that are meant, or there are, as they are now."""
    structured: Callable[[], JsonObject] | None = None
    """The same in the shape that the tool's ``Output`` promises, made only for whoever wants that."""
    said: str | None = None
    """What the person said when allowing it, and what they changed, as it stands in front of the content."""


@dataclass(frozen=True)
class Approval:
    """The decision about one action, and what the person said with it."""

    approved: bool
    feedback: str | None = None
    images: tuple[str, ...] = ()
    by_person: bool = False
    """Whether a person decided, not a rule. Only then are masked values put back."""
    runs: str | None = None
    """What is to be run in place of a command that a rule approved: the words that were judged, rendered anew."""
    edited: tuple[str, ...] | None = None
    """What the person made of the proposed texts; only that is approved."""
    edits: str | None = None
    """What they changed, as a diff for the model."""
    run: bool = False
    """Whether the cells that are changed may run, too, as they are then."""


@dataclass(frozen=True)
class Proposal:
    """What a person may edit before approving an action: texts by their names, as they are shown."""

    texts: Sequence[tuple[str, str]]
    judged: Callable[[Sequence[str]], Awaitable[tuple[ActionRequest, str]]]
    """The action that other texts make of it, and what is shown of that. Raises ToolFailed."""


@dataclass(frozen=True)
class Completion:
    """How an attempt to finish was received: taken as finished, or sent back with something to do."""

    accepted: bool
    feedback: str | None = None
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class PastCall:
    """A call that was made, and what the model was told of it."""

    name: str
    arguments: JsonObject
    result: str
    is_error: bool = False


@dataclass(frozen=True)
class SinceAsked:
    """What the model was told and did since the person last spoke."""

    words: str
    surroundings: str
    """How things were then."""
    calls: tuple[PastCall, ...] = ()


class AskReply(Protocol):
    """A person's answer."""

    @property
    def response(self) -> ClineAskResponse:
        """Which button, or a message."""

    @property
    def text(self) -> str | None:
        """What they wrote."""

    @property
    def images(self) -> tuple[str, ...]:
        """The pictures they attached, as data URLs."""

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What they point at."""


class FlowPort(Protocol):
    """What the tools that steer a task need of it. Each may raise ToolFailed."""

    @property
    def todos(self) -> Sequence[TodoItem]:
        """The plan as it stands."""

    @property
    def answer_is_cut(self) -> bool:
        """Whether the model's answer reached the limit of its length: what it wrote last may lack its end."""

    async def update_todos(self, todos: Sequence[TodoItem]) -> Sequence[TodoItem]:
        """Make this the plan; the plan after that, with what the person changed about it."""

    async def modes(self) -> Sequence[str]:
        """The slugs of the modes that may be used."""

    async def switch_mode(self, slug: str, reason: str | None) -> None:
        """Go on in another mode. The switch is approved already."""

    async def new_task(self, mode: str, message: str, todos: Sequence[TodoItem]) -> str:
        """Begin a subtask, approved already; what the model is told now."""

    async def since_asked(self) -> SinceAsked:
        """What was asked, and what was done since; without the call that is being made."""

    async def put_back(self, *, failed_only: bool = False) -> PutBack:
        """Give the cells that this request changed the form again that they had before, without asking anybody."""

    async def complete(
        self, result: str, suggestion: NoteSuggestion | None = None, ending: Ending | None = None
    ) -> Completion:
        """Show the result and hear whether the person, or the parent task, is content with it.

        The ``suggestion`` is shown with it, if notes can be kept here, and ``ending`` says how a small model ended.
        """


class ToolContext(Protocol):
    """The task, as far as a tool may see it."""

    @property
    def task_id(self) -> TaskId:
        """The conversation's id."""

    @property
    def workspace(self) -> Path:
        """The folder it works in."""

    @property
    def settings(self) -> GlobalSettings:
        """The settings as they are now."""

    @property
    def mode(self) -> ModeConfig:
        """The mode it is in."""

    @property
    def paths(self) -> PathPolicy:
        """Which files may be touched."""

    @property
    def vault(self) -> Vault:
        """The masked values of the task."""

    @property
    def flow(self) -> FlowPort:
        """The task itself, for the tools that steer it."""

    @property
    def state(self) -> ToolState:
        """What tools remember between calls; closed with the task."""

    @property
    def notebooks(self) -> Notebooks:
        """Notebooks and kernels. Raises ToolFailed where there are none."""

    @property
    def notebook(self) -> NotebookRef | None:
        """The notebook the task is about, by its path in Jupyter."""

    @property
    def memory(self) -> TaskMemory:
        """What is remembered between conversations. Raises ToolFailed where nothing is."""

    @property
    def mcp(self) -> McpServers:
        """The person's MCP servers. Raises ToolFailed where there are none."""

    async def search_past(self, query: str, limit: int) -> Sequence[RecallHit]:
        """What the person's earlier conversations and the notebooks say about this. Raises ToolFailed where nothing can be
        searched."""

    async def notebooks_here(self, hits: Sequence[RecallHit]) -> Mapping[str, str]:
        """The paths in Jupyter of those found notebooks that it has, by their source's id."""

    async def note_recalled(self, items: Sequence[RecalledItem]) -> None:
        """Show with the call what of the past it gave the model to read: memory, conversations, notebooks."""

    def mask(self, text: str) -> str:
        """The text as it may be shown and kept."""

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
        """Have an action decided; ``text`` is what is shown of it, byte for byte what will be done.

        With a ``proposal`` the person may approve other texts; then those are judged, shown and approved.

        ``meanwhile`` is done once it is approved, beside the saving of what the action may change. It must change nothing.

        ``progress`` is shown beside it.
        """

    async def ask(self, ask: ClineAsk, text: str | None = None, *, verbatim: bool = False) -> AskReply:
        """Ask the person and wait for the answer.

        ``verbatim`` is for an answer that goes to strangers: what it names is not attached, and its command not filled in.
        """

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
        """Show something; its time, by which a partial message is shown again with more."""

    async def put_artifact(self, data: bytes) -> str:
        """Keep a long output; its name. What is put must be masked already."""

    async def read_artifact(self, name: str) -> bytes:
        """A kept output. Raises NotFound."""


class Tool(ABC):
    """Something the model can do."""

    name: ClassVar[str]
    """How the model calls it."""
    group: ClassVar[ToolGroup | None] = None
    """The group that a mode must have for it; None is for every mode."""
    description: ClassVar[str]
    """What the model is told of it."""
    parallel_safe: ClassVar[bool] = False
    """Whether it may run beside others of the same turn: it only reads."""
    reads_external: ClassVar[bool] = False
    """Whether what it gives back was written by strangers, such as a web page."""
    Output: ClassVar[type[StructuredOutput] | None] = None
    """The shape of what it gives programs besides texts; None for texts alone."""
    Arguments: type[ToolArguments]
    """What it takes."""

    @abstractmethod
    async def run(self, arguments: ToolArguments, context: ToolContext) -> ToolResult:
        """Do it. Cancelling ends all it started within 200 ms."""

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        """What to show while its arguments still stream in, as the JSON of a ClineSayTool; None shows nothing."""
        return None


A = TypeVar("A", bound=ToolArguments)


class SimpleTool(Tool, Generic[A]):
    """The base of our tools: failures addressed to the model become error results. It takes what its class is given."""

    Arguments: type[A]

    def __init_subclass__(cls) -> None:
        given = [one for base in cls.__dict__.get("__orig_bases__", ()) for one in get_args(base)]
        if given and isinstance(given[0], type):
            cls.Arguments = given[0]

    async def run(self, arguments: ToolArguments, context: ToolContext) -> ToolResult:
        if not isinstance(arguments, self.Arguments):
            raise TypeError(f"{self.name} was given {type(arguments).__name__}")
        try:
            return await self._run(arguments, context)
        except ToolFailed as failure:
            return failed(failure)
        except StorageUnavailable:
            # Perhaps the conversation itself cannot be recorded any more, and then the task ends.
            raise
        except HdspAgentError as error:
            return ToolResult(error.message, is_error=True, code=error.code)

    @abstractmethod
    async def _run(self, arguments: A, context: ToolContext) -> ToolResult:
        """Do it, or raise ToolFailed."""


def failed(failure: ToolFailed) -> ToolResult:
    """The result of what could not be done."""
    return ToolResult(str(failure), is_error=True, code=failure.code, cells=failure.cells)


def denied(approval: Approval) -> ToolResult:
    """The result of an action that was not allowed."""
    said: JsonObject = {"status": "denied", "message": "The person denied this action. It was not done."}
    if approval.feedback:
        said["feedback"] = approval.feedback
    told = ToolResult(json.dumps(said, ensure_ascii=False), is_error=True, code="denied")
    return with_images(told, approval.images)


def answered(approval: Approval, result: ToolResult) -> ToolResult:
    """The result with what the person said when allowing it, and what they changed, in front."""
    told: JsonObject = {"status": "approved"}
    if approval.feedback:
        told["feedback"] = approval.feedback
    if approval.edits:
        told |= {"message": _EDITED, "user_edits": approval.edits}
    if len(told) > 1:
        said = json.dumps(told, ensure_ascii=False)
        result = replace(result, said=said)
        if isinstance(result.content, str):
            result = replace(result, content=f"{said}\n\n{result.content}")
        else:
            result = replace(result, content=[{"type": "text", "text": said}, *result.content])
    return with_images(result, approval.images)


def with_images(result: ToolResult, images: Sequence[str]) -> ToolResult:
    """The result with images attached to it behind its text."""
    if not images:
        return result
    first: list[JsonObject] = (
        [{"type": "text", "text": result.content}] if isinstance(result.content, str) else list(result.content)
    )
    return replace(result, content=[*first, *(image_block(image) for image in images)])


def image_block(data_url: str) -> JsonObject:
    """An attached image as a content block."""
    kind, _, data = data_url.removeprefix("data:").partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def data_url(block: JsonObject) -> str | None:
    """The image in a content block, as it is attached; None if it is no image."""
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict):
        return None
    return f"data:{source['media_type']};base64,{source['data']}"
