"""The tools that steer the task: asking, planning, switching modes, handing over, finishing."""

from __future__ import annotations

import json
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from ..config import ModeSlug
from ..memory import LONGEST_NOTE, NoteScope
from ..messages import ClineSayTool, FollowUpData, NoteSuggestion, Suggestion
from ._action import ActionRequest
from ._todo_checklist import format_todos, parse_todos
from ._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied, with_images
from ._tool_failed import ToolFailed

__all__ = [
    "AskFollowupQuestion",
    "AskFollowupQuestionArguments",
    "AttemptCompletion",
    "AttemptCompletionArguments",
    "NewTask",
    "NewTaskArguments",
    "SwitchMode",
    "SwitchModeArguments",
    "UpdateTodoList",
    "UpdateTodoListArguments",
]

Prose = Annotated[str, StringConstraints(min_length=1, max_length=100_000, strip_whitespace=True)]
Checklist = Annotated[str, StringConstraints(max_length=100_000)]


class SuggestedAnswer(BaseModel):
    """An answer offered to the person."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    text: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    """A complete answer, without gaps for the person to fill."""
    mode: ModeSlug | None = None
    """The mode to switch to if this answer is chosen."""


class AskFollowupQuestionArguments(ToolArguments):
    """The arguments of ``ask_followup_question``."""

    question: Prose
    """One clear, specific question."""
    follow_up: Annotated[list[SuggestedAnswer], Field(min_length=1, max_length=4)]
    """One to four likely answers, the likeliest first."""


class AskFollowupQuestion(SimpleTool[AskFollowupQuestionArguments]):
    """Asks the person."""

    name: ClassVar[str] = "ask_followup_question"
    description: ClassVar[str] = (
        "Ask the person something you need to know and cannot find out with the other tools. Suggest likely answers."
    )

    async def _run(self, arguments: AskFollowupQuestionArguments, context: ToolContext) -> ToolResult:
        suggest = [Suggestion(answer=each.text, mode=each.mode) for each in arguments.follow_up]
        reply = await context.ask("followup", FollowUpData(question=arguments.question, suggest=suggest).to_json())
        text = f"<user_message>\n{reply.text or ''}\n</user_message>"
        return with_images(ToolResult(text), reply.images)


class WorthRemembering(BaseModel):
    """A note that is offered to the person."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    text: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NOTE, strip_whitespace=True)]
    """One or two sentences that can be understood alone, in the person's language."""
    scope: NoteScope = "person"
    """person: wherever they work. workspace: in this folder. notebook: about this notebook."""


_NO_WORDS: Final = frozenset({"", "none", "null", "n/a", "nothing", "undefined"})


def _as_worth(given: object) -> object:
    """What is no note is none: it must not keep a model from finishing. Some give the text alone."""
    fields = {"text": given} if isinstance(given, str) else given
    if isinstance(fields, dict):
        fields = {key: value for key, value in fields.items() if key == "text" or value is not None}
    try:
        worth = WorthRemembering.model_validate(fields)
    except ValidationError:
        return None
    return None if worth.text.casefold().strip(". ") in _NO_WORDS else worth


class AttemptCompletionArguments(ToolArguments):
    """The arguments of ``attempt_completion``."""

    result: Prose
    """What was done, for the person to read. Final: it does not end in a question or an offer."""
    worth_remembering: Annotated[WorthRemembering | None, BeforeValidator(_as_worth)] = None
    """A preference, decision or correction that the person voiced here and that later conversations need. It is offered to
    them, and kept only if they agree. Mostly there is none: leave it out then."""


class AttemptCompletion(SimpleTool[AttemptCompletionArguments]):
    """Finishes the task."""

    name: ClassVar[str] = "attempt_completion"
    description: ClassVar[str] = (
        "Present the result when the task is done, and only after the outcome of earlier tools is known to be good. The "
        "person may come back with something to improve."
    )

    async def _run(self, arguments: AttemptCompletionArguments, context: ToolContext) -> ToolResult:
        still_open = [item for item in context.flow.todos if item.status != "completed"]
        if still_open and context.settings.prevent_completion_with_open_todos:
            raise ToolFailed(
                f"The plan has {len(still_open)} open items, and the settings want it done before the task ends. Finish them, "
                f"or take them off the list with update_todo_list:\n{format_todos(still_open)}"
            )
        worth = arguments.worth_remembering
        suggestion = None if worth is None else NoteSuggestion(text=context.mask(worth.text), scope=worth.scope)
        completion = await context.flow.complete(arguments.result, suggestion)
        if completion.accepted and not completion.feedback:
            return ToolResult("The result was accepted.")
        text = (
            "The person has read the result and says:\n"
            f"<user_message>\n{completion.feedback or ''}\n</user_message>\nGo on with that, and then finish again."
        )
        return with_images(ToolResult(text), completion.images)


class UpdateTodoListArguments(ToolArguments):
    """The arguments of ``update_todo_list``."""

    todos: Checklist
    """The whole plan as a checklist: one `[ ] to do`, `[-] in progress` or `[x] done` a line, in order."""


class UpdateTodoList(SimpleTool[UpdateTodoListArguments]):
    """Keeps the plan."""

    name: ClassVar[str] = "update_todo_list"
    description: ClassVar[str] = (
        "Replace the plan the person sees by this one. Use it for work of several steps: mark a step before you begin it and "
        "when it is done, add what you discover. Not for work of one or two steps."
    )

    async def _run(self, arguments: UpdateTodoListArguments, context: ToolContext) -> ToolResult:
        todos = parse_todos(arguments.todos)
        shown = ClineSayTool(tool="updateTodoList", content=format_todos(todos))
        approval = await context.approve(
            ActionRequest(risks=frozenset({"none"}), tool=self.name), "tool", shown.to_json()
        )
        if not approval.approved:
            return denied(approval)
        now = await context.flow.update_todos(todos)
        if list(now) != todos:
            return answered(approval, ToolResult(f"The person changed the plan. It is now:\n{format_todos(now)}"))
        return answered(approval, ToolResult("The plan was updated."))


class SwitchModeArguments(ToolArguments):
    """The arguments of ``switch_mode``."""

    mode_slug: ModeSlug
    """The slug of the mode."""
    reason: Annotated[str, StringConstraints(max_length=2_000)] | None = None
    """Why, for the person."""


class SwitchMode(SimpleTool[SwitchModeArguments]):
    """Goes on in another mode."""

    name: ClassVar[str] = "switch_mode"
    description: ClassVar[str] = (
        "Go on in another mode, when the work at hand needs tools or instructions this one lacks."
    )

    async def _run(self, arguments: SwitchModeArguments, context: ToolContext) -> ToolResult:
        if arguments.mode_slug == context.mode.slug:
            raise ToolFailed(f"The mode is {context.mode.slug} already.")
        await _check_mode(arguments.mode_slug, context)
        shown = ClineSayTool(tool="switchMode", mode=arguments.mode_slug, reason=arguments.reason)
        approval = await context.approve(
            ActionRequest(risks=frozenset({"mode_switch"}), tool=self.name), "tool", shown.to_json()
        )
        if not approval.approved:
            return denied(approval)
        before = context.mode.slug
        await context.flow.switch_mode(arguments.mode_slug, arguments.reason)
        return answered(approval, ToolResult(f"Switched from {before} to {arguments.mode_slug}."))


class NewTaskArguments(ToolArguments):
    """The arguments of ``new_task``."""

    mode: ModeSlug
    """The slug of the mode the subtask works in."""
    message: Prose
    """All the subtask needs to know: it sees nothing of this conversation."""
    todos: Checklist | None = None
    """A plan for it to begin with, as a checklist."""


class NewTask(SimpleTool[NewTaskArguments]):
    """Hands a piece of the work to a subtask."""

    name: ClassVar[str] = "new_task"
    description: ClassVar[str] = (
        "Hand a self-contained piece of the work to a new task in the mode that suits it, and wait for its result. It must be "
        "the last call of a turn."
    )

    async def _run(self, arguments: NewTaskArguments, context: ToolContext) -> ToolResult:
        await _check_mode(arguments.mode, context)
        todos = parse_todos(arguments.todos or "")
        shown = ClineSayTool(tool="newTask", mode=arguments.mode, content=arguments.message)
        approval = await context.approve(
            ActionRequest(risks=frozenset({"subtask"}), tool=self.name), "tool", shown.to_json()
        )
        if not approval.approved:
            return denied(approval)
        said = await context.flow.new_task(arguments.mode, arguments.message, todos)
        return answered(approval, ToolResult(said))


async def _check_mode(slug: str, context: ToolContext) -> None:
    modes = await context.flow.modes()
    if slug not in modes:
        raise ToolFailed(f"There is no mode {json.dumps(slug)}. The modes are: {', '.join(modes)}.")
