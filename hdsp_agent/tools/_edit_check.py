"""What all changes of a text file share: what may be changed, how it is shown, and that nothing newer is overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changed
from typing import Final, Literal

from .._threads import Stop, in_thread
from ..checkpoints import Hunk
from ..checkpoints.files.text_diff import text_hunks
from ..config import ModeConfig, path_matches
from ..messages import ClineSayTool, DiffStats, ProgressStatus
from ..persistence import PLACEHOLDER, Vault
from ._action import ActionRequest
from ._file_access import Stamp, read_whole, replace
from ._path_policy import NOTEBOOK_ADVICE, CheckedPath
from ._text_file import MOST_EDITED_BYTES, TextFile
from ._tool import Proposal, ToolContext, ToolResult, answered, denied
from ._tool_failed import ToolFailed

__all__ = ["Change", "ChangedFileText", "Fill", "change_file", "known_only", "unified_diff"]

_MOST_DIFFED_LINES: Final = 20_000
_MOST_SHOWN: Final = 200_000
_BLOCKS_ICON: Final = "diff-multiple"
"""As Roo Code has it, beside the number of blocks of a diff."""

Fill = Callable[[str], str]
"""Puts masked values back into what the model wrote."""


@dataclass(frozen=True)
class Before:
    """A file as a change finds it; ``file`` is None if there is none yet."""

    shown: str
    file: TextFile | None
    is_newer_than_seen: bool


@dataclass(frozen=True)
class ChangedFileText:
    """What a change makes of a file, and what the model should hear of how."""

    file: TextFile
    notes: tuple[str, ...] = ()


Change = Callable[[Before, Fill], ChangedFileText]
"""Computes a change; called more than once. Raises ToolFailed."""


@dataclass(frozen=True)
class _Plan:
    place: CheckedPath
    old: bytes | None
    new: bytes
    new_if_by_person: bytes
    changed: ChangedFileText
    changed_by_person: ChangedFileText
    before: str
    diff: str
    stats: DiffStats
    content: str

    @property
    def puts_back_masked(self) -> bool:
        return self.new != self.new_if_by_person


async def change_file(
    tool: str,
    kind: Literal["editedExistingFile", "appliedDiff"],
    path: str,
    change: Change,
    context: ToolContext,
    *,
    blocks: int | None = None,
) -> ToolResult:
    """Compute a change, have it approved, and write it if the file is still what it was.

    ``blocks`` says of how many parts the change is, where it is of parts.
    """
    plan = await in_thread(lambda stop: _plan(path, change, context, stop))
    if plan.old == plan.new_if_by_person:
        raise ToolFailed(f"{plan.place.shown} already is like that: nothing would change.")
    action = ActionRequest(
        risks=plan.place.write_risks, tool=tool, path=plan.place.shown, puts_back_masked=plan.puts_back_masked
    )
    approval = await context.approve(
        action, "tool", _shown(plan, kind).to_json(), proposal=_proposal(plan, kind, action, context),
        progress=None if blocks is None else ProgressStatus(icon=_BLOCKS_ICON, text=str(blocks)),
    )  # fmt: skip
    if not approval.approved:
        return denied(approval)
    if approval.edited is not None:
        edited = approval.edited[0]
        plan = await in_thread(lambda _stop: _edited(plan, edited, context))
    data = plan.new_if_by_person if approval.by_person else plan.new
    # Not to be abandoned half way: once begun, a write of a file of this size ends soon.
    stamp = await in_thread(lambda _stop: _write(plan, data, context))
    context.state.seen.saw(plan.place.path, stamp)
    verb = "Created" if plan.old is None else "Changed"
    lines = [f"{verb} {plan.place.shown}: {plan.stats.added} lines added, {plan.stats.removed} removed."]
    lines.extend(plan.changed.notes)
    if plan.puts_back_masked and not approval.by_person:
        lines.append("Masked values were left as placeholders, because no person approved giving them back.")
    return answered(approval, ToolResult("\n".join(lines)))


def _shown(plan: _Plan, kind: Literal["editedExistingFile", "appliedDiff"]) -> ClineSayTool:
    is_new = plan.old is None
    return ClineSayTool(
        tool="newFileCreated" if is_new else kind,
        path=plan.place.shown,
        diff=None if is_new else plan.diff,
        content=plan.content if is_new else None,
        diff_stats=plan.stats,
        is_outside_workspace=plan.place.is_outside or None,
        is_protected=plan.place.is_protected or None,
    )


def _proposal(
    plan: _Plan, kind: Literal["editedExistingFile", "appliedDiff"], action: ActionRequest, context: ToolContext
) -> Proposal | None:
    """The whole file as it would be, unless it is too long to be shown whole."""
    text = context.mask(plan.changed_by_person.file.text)
    if len(text) > _MOST_SHOWN:
        return None

    async def judged(texts: Sequence[str]) -> tuple[ActionRequest, str]:
        changed = await in_thread(lambda _stop: _edited(plan, texts[0], context))
        return action, _shown(changed, kind).to_json()

    return Proposal([(plan.place.shown, text)], judged)


def _edited(plan: _Plan, text: str, context: ToolContext) -> _Plan:
    """The change as the person made it of this one. The file must be what it was when they were asked."""
    file = plan.changed_by_person.file.become(context.vault.unmask(text))
    data = file.encode(plan.place.shown)
    diff, stats = unified_diff(context.mask(plan.before), context.mask(file.text), plan.place.shown)
    return with_changed(
        plan, new=data, new_if_by_person=data, changed=ChangedFileText(file), diff=diff, stats=stats,
        content=_bounded(context.mask(file.text)),
    )  # fmt: skip


def _plan(path: str, change: Change, context: ToolContext, stop: Stop) -> _Plan:
    place = context.paths.resolve(path)
    if place.path.suffix.lower() == ".ipynb" or path.lower().endswith(".ipynb"):
        raise ToolFailed(f"{place.shown} {NOTEBOOK_ADVICE}")
    _check_mode(place.shown, context.mode)
    old, stamp = _content(place, stop)
    file = None if old is None else TextFile.decode(old, place.shown)
    newer = stamp is not None and context.state.seen.has_changed(place.path, stamp)
    before = Before(place.shown, file, newer)
    raw = "" if file is None else file.raw
    changed = change(before, known_only(context.vault, raw))
    by_person = change(before, context.vault.unmask)
    old_shown = "" if file is None else context.mask(file.text)
    new_shown = context.mask(by_person.file.text)
    diff, stats = unified_diff(old_shown, new_shown, place.shown)
    return _Plan(
        place=place,
        old=old,
        new=changed.file.encode(place.shown),
        new_if_by_person=by_person.file.encode(place.shown),
        changed=changed,
        changed_by_person=by_person,
        before="" if file is None else file.text,
        diff=diff,
        stats=stats,
        content=_bounded(new_shown),
    )


def _content(place: CheckedPath, stop: Stop) -> tuple[bytes | None, Stamp | None]:
    if not place.path.exists():
        return None, None
    return read_whole(place, most=MOST_EDITED_BYTES, stop=stop)


def _write(plan: _Plan, data: bytes, context: ToolContext) -> Stamp:
    context.paths.again(plan.place)
    now, _ = _content(plan.place, lambda: False)
    if now != plan.old:
        what = "was deleted" if now is None else "was created" if plan.old is None else "was changed by somebody else"
        raise ToolFailed(
            f"{plan.place.shown} {what} while the change waited for approval. Nothing was overwritten. "
            "Read the file again and repeat the change if it is still right."
        )
    return replace(plan.place, data)


def _check_mode(shown: str, mode: ModeConfig) -> None:
    for options in mode.edit_limits():
        if options.file_regex is not None and not path_matches(options.file_regex, shown):
            what = f" ({options.description})" if options.description else ""
            raise ToolFailed(
                f"The mode {mode.slug} may only change files that match {options.file_regex}{what}, and {shown} does "
                "not. Switch to a mode that may, or leave the file."
            )


def known_only(vault: Vault, old: str) -> Fill:
    """Puts back values the file has already: the model saw them masked, and writes back what it saw."""

    def value(placeholder: str) -> str:
        secret = vault.unmask(placeholder)
        return secret if secret in old else placeholder

    return lambda text: PLACEHOLDER.sub(lambda found: value(found[0]), text)


def unified_diff(old: str, new: str, shown: str) -> tuple[str, DiffStats]:
    """What changes between two texts, for a person, and how much."""
    before, after = _ended_lines(old), _ended_lines(new)
    hunks = text_hunks(before, after)
    stats = DiffStats(added=_count(hunks, "+"), removed=_count(hunks, "-"))
    if before.count("\n") + after.count("\n") > _MOST_DIFFED_LINES:
        return f"[{shown} is too long to show what changes]", stats
    lines = [f"--- a/{shown}", f"+++ b/{shown}"] if hunks else []
    for hunk in hunks:
        old_range, new_range = _range(hunk.old_start, hunk.old_lines), _range(hunk.new_start, hunk.new_lines)
        lines += [f"@@ -{old_range} +{new_range} @@", *hunk.lines]
    return _bounded("\n".join(lines)), stats


def _ended_lines(text: str) -> str:
    """The text with ends of lines that are all the same: how a line ends is no change to show."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if not text or text.endswith("\n") else f"{text}\n"


def _count(hunks: Iterable[Hunk], sign: str) -> int:
    return sum(line.startswith(sign) for hunk in hunks for line in hunk.lines)


def _range(start: int, lines: int) -> str:
    """As unified diffs have it."""
    return str(start) if lines == 1 else f"{start},{lines}"


def _bounded(text: str) -> str:
    return (
        text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}\n[… {len(text) - _MOST_SHOWN:,} characters more …]"
    )
