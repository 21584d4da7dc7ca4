"""The table of risks: what the person, the operator and the mode have decided about each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ...config import GlobalSettings, ModeConfig, OperatorPolicy, ToolGroup, overridden
from ...messages import ApprovalFlag
from ...tools import ActionRequest, Risk
from ..modes import allows_group, file_refusal
from ._command_approval import CommandDecision, CommandPart, Verdict, decide_command
from ._command_rules import longest, read_rules

__all__ = ["ApprovalEngine", "ApprovalSummary", "Decision", "standing"]


@dataclass(frozen=True)
class Decision:
    """What is decided about an action, and why, in a sentence for the person or the model."""

    verdict: Verdict
    reason: str
    parts: tuple[CommandPart, ...] = ()
    rule: str | None = None
    runs: str | None = None
    """What is run of a command that is approved: the judged words, rendered anew."""
    flags: tuple[ApprovalFlag, ...] = ()
    """What to warn the person of."""
    only_here: bool = False
    """Whether only a person may say yes, or the operator wants to be asked for: never in a program's own window."""


# Each risk, the setting that takes it without asking, and what it is called.
_SETTINGS: Final[dict[Risk, tuple[Callable[[GlobalSettings], bool], str]]] = {
    "read": (lambda settings: settings.always_allow_read_only, "reading"),
    "read_outside": (
        lambda settings: settings.always_allow_read_only_outside_workspace,
        "reading outside the workspace",
    ),
    "write": (lambda settings: settings.always_allow_write, "editing"),
    "write_outside": (lambda settings: settings.always_allow_write_outside_workspace, "editing outside the workspace"),
    "write_protected": (lambda settings: settings.always_allow_write_protected, "editing protected files"),
    "run_code": (lambda settings: settings.always_allow_run_cells, "running code"),
    # It takes all variables along, or breaks off what somebody else runs: more than to run a cell, and it ends a process.
    "kernel": (
        lambda settings: settings.always_allow_run_cells and settings.always_allow_execute,
        "restarting and interrupting kernels",
    ),
    "shell": (lambda settings: settings.always_allow_execute, "running shell commands"),
    "install": (lambda settings: settings.always_allow_install_packages, "installing packages"),
    "network": (lambda settings: settings.always_allow_network, "using the network"),
    "mcp": (lambda settings: settings.always_allow_mcp, "using MCP tools"),
    "mode_switch": (lambda settings: settings.always_allow_mode_switch, "switching modes"),
    "subtask": (lambda settings: settings.always_allow_subtasks, "subtasks"),
    "followup": (lambda settings: settings.always_allow_followup_questions, "answering questions"),
}
# The tools of which group take each risk; without one it is taken in every mode.
_GROUPS: Final[dict[Risk, ToolGroup]] = {
    "read": "read",
    "read_outside": "read",
    "write": "edit",
    "write_outside": "edit",
    "write_protected": "edit",
    "run_code": "command",
    "kernel": "command",
    "shell": "command",
    "install": "command",
    "network": "read",
    "mcp": "mcp",
}
_ALL_ALLOWED: Final[Mapping[str, JsonValue]] = {
    "autoApprovalEnabled": True,
    "askBeforeReading": False,
    **{
        info.alias or name: True
        for name, info in GlobalSettings.model_fields.items()
        if name.startswith("always_allow_")
    },
}
_COMMAND_RULES: Final = frozenset({"allowedCommands", "deniedCommands"})
_NO_ACTIONS: Final[frozenset[Risk]] = frozenset({"followup"})
_WRITES: Final[frozenset[Risk]] = frozenset({"write", "write_outside", "write_protected"})


@dataclass(frozen=True)
class ApprovalSummary:
    """What is done at once, and what is asked about first, each by what it is called.

    What the mode has no tools for is in neither. ``commands`` are the rules for shell commands that are done at once.
    """

    at_once: tuple[str, ...]
    asked: tuple[str, ...]
    commands: tuple[str, ...] = ()


def standing(settings: GlobalSettings, policy: OperatorPolicy, mode: ModeConfig) -> ApprovalSummary:
    """What is decided for each kind of action, before anything is known of a single one."""
    risks = [risk for risk in _SETTINGS if risk not in _NO_ACTIONS and allows_group(mode, _GROUPS.get(risk))]
    switched_on = policy.allow_auto_approval and settings.auto_approval_enabled
    at_once = [risk for risk in risks if switched_on and _SETTINGS[risk][0](settings)]
    commands = _commands_at_once(settings) if "shell" in at_once else ()
    if not commands:
        at_once = [risk for risk in at_once if risk != "shell"]
    return ApprovalSummary(
        tuple(_SETTINGS[risk][1] for risk in at_once),
        tuple(_SETTINGS[risk][1] for risk in risks if risk not in at_once),
        commands,
    )


def _commands_at_once(settings: GlobalSettings) -> tuple[str, ...]:
    """The rules that allow commands, but for those that one at least as long denies."""
    denied = read_rules(settings.denied_commands)
    allowed = read_rules(settings.allowed_commands)
    against = [(rule, longest(denied, rule.words, any_case=True)) for rule in allowed]
    return tuple(rule.source for rule, deny in against if deny is None or len(deny.words) < len(rule.words))


class ApprovalEngine:
    """Decides on the server, and nowhere else, whether an action is done at once, asked about, or refused."""

    def decide(
        self,
        action: ActionRequest,
        *,
        settings: GlobalSettings,
        policy: OperatorPolicy,
        mode: ModeConfig,
        is_familiar: bool = False,
    ) -> Decision:
        """What forbids comes first, then what asks; only what nobody objects to is done at once.

        ``is_familiar`` says that what is read is open before the person, or in a folder that they trust.
        """
        refusal = _refusal(action, settings, policy, mode)
        if refusal is not None:
            return Decision("deny", refusal)
        command = _command_decision(action, settings, mode)
        flags = tuple(dict.fromkeys((*(command.flags if command is not None else ()), *action.flags)))
        if command is not None and command.verdict == "deny":
            return Decision("deny", command.reason, command.parts, flags=flags)
        if not action.risks - {"none"}:
            return Decision("approve", "it changes nothing outside the conversation")
        if action.allowed_before and _only_runs(action) and not flags:
            return Decision("approve", "you allowed it together with the change of these cells")
        asked_for = action.allowed_before and _only_writes(action) and not flags
        if asked_for and not _always_asks(action, settings, policy, mode):
            return Decision("approve", "you asked for it at the cell")
        if is_familiar and policy.allow_auto_approval and _only_reads(action) and not settings.ask_before_reading:
            return Decision("approve", "it reads what you have open, or a folder that you trust", flags=flags)
        objection = _objection(action, settings, policy, command)
        parts = command.parts if command is not None else ()
        if objection is not None:
            return Decision(
                "ask", objection, parts, flags=flags, only_here=_always_asks(action, settings, policy, mode)
            )
        rule = next((part.rule for part in parts if part.rule is not None), None)
        reason, runs = ("your settings allow it", None) if command is None else (command.reason, command.runs)
        return Decision("approve", reason, parts, rule, runs, flags)


def _only_runs(action: ActionRequest) -> bool:
    """Whether code runs that does nothing besides which a setting of its own would have to allow."""
    return action.risks == {"run_code"} and action.command is None and not _needs_person(action)


def _only_reads(action: ActionRequest) -> bool:
    return action.risks == {"read"} and action.command is None and not _needs_person(action)


def _only_writes(action: ActionRequest) -> bool:
    return action.risks == {"write"} and action.command is None and not _needs_person(action)


def _needs_person(action: ActionRequest) -> bool:
    asks = action.always_asks or action.not_always_allowed is not None
    return asks or action.puts_back_masked or action.matches_hidden is not None


def _refusal(action: ActionRequest, settings: GlobalSettings, policy: OperatorPolicy, mode: ModeConfig) -> str | None:
    if policy.allowed_tools is not None and action.tool not in policy.allowed_tools:
        return f"Your administrator does not allow the tool {action.tool}."
    if action.tool in settings.disabled_tools:
        return f"The tool {action.tool} is switched off in the settings."
    if action.same_as is not None:
        same = decide_command(action.same_as, allow=settings.allowed_commands, deny=settings.denied_commands)
        if same.verdict == "deny":
            return same.reason
    if action.risks & _WRITES:
        for path in dict.fromkeys((*((action.path,) if action.path else ()), *action.paths)):
            if refusal := file_refusal(mode, path):
                return refusal
    return None


def _command_decision(action: ActionRequest, settings: GlobalSettings, mode: ModeConfig) -> CommandDecision | None:
    if action.command is None:
        return None
    return decide_command(
        action.command,
        allow=settings.allowed_commands,
        deny=settings.denied_commands,
        workspace=action.cwd,
        allow_installs=settings.always_allow_install_packages,
        allow_outside_reads=settings.always_allow_read_only and settings.always_allow_read_only_outside_workspace,
        may_write=lambda path: _may_edit(path, settings, mode),
    )


def _may_edit(path: str, settings: GlobalSettings, mode: ModeConfig) -> bool:
    """Whether a file may be written without asking by a tool that edits, and so by a redirection."""
    allowed = settings.always_allow_write and allows_group(mode, _GROUPS["write"])
    return allowed and file_refusal(mode, path) is None


def _always_asks(action: ActionRequest, settings: GlobalSettings, policy: OperatorPolicy, mode: ModeConfig) -> bool:
    """Whether it would be asked about even if the person allowed all that they can: the operator wants it, or it is theirs to
    decide each time."""
    allowed = overridden(settings, _ALL_ALLOWED, policy)
    rules = policy.forced_settings().keys() & _COMMAND_RULES
    command = _command_decision(action, allowed, mode) if rules else None
    asks_before_reading = allowed.ask_before_reading and _only_reads(action)
    return asks_before_reading or _objection(action, allowed, policy, command) is not None


def _objection(
    action: ActionRequest, settings: GlobalSettings, policy: OperatorPolicy, command: CommandDecision | None
) -> str | None:
    if not policy.allow_auto_approval:
        return "Your administrator requires approval for every action."
    if not settings.auto_approval_enabled:
        return "Approving automatically is switched off."
    if action.always_asks:
        return "Restoring is always asked about."
    if action.puts_back_masked:
        return "It would be given a key or another masked value, which only you may allow."
    if action.matches_hidden is not None:
        return f"{action.matches_hidden} stands for files too that .hdspignore hides from the agent."
    if action.not_always_allowed is not None:
        return action.not_always_allowed
    for risk in sorted(action.risks - {"none"}):
        allowed, name = _SETTINGS[risk]
        if not allowed(settings):
            return f"The settings have {name} asked about."
    if command is not None and command.verdict != "approve":
        return command.reason
    if command is not None and action.exactly and not command.is_exact:
        return "A shell might read the command otherwise than it was judged."
    return None
