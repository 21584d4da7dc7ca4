"""``hdsp-agent checkpoint``: what a workspace's files were, and the way back."""

from __future__ import annotations

import argparse
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from .._command import CliCommand, ExitCode, UsageError
from .._options import positive

if TYPE_CHECKING:
    from ...checkpoints import AsyncFileCheckpoints, OperationRecord
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_ID: Final = "its id from list, or the start of its commit"


def _arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, help: str) -> ArgumentParser:
        one = actions.add_parser(name, help=help, allow_abbrev=False)
        one.add_argument(
            "--workspace", metavar="FOLDER", type=Path, help="whose checkpoints (default: this folder, or one above)"
        )
        # What may stand after `checkpoint` may stand after `checkpoint save` too.
        for option, meaning in (("--json", "print JSON"), ("--quiet", "no progress, no notes, no warnings")):
            one.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=meaning)
        return one

    save = action("save", "save the files as they are")
    save.add_argument("--reason", metavar="TEXT", default="by hand", help="what to call it (default: by hand)")
    found = action("list", "list checkpoints, newest first")
    found.add_argument("--limit", metavar="N", type=positive, help="show only the newest N")
    found.add_argument("--task", metavar="ID", help="only those of this task")
    found.add_argument("--operations", action="store_true", help="all operations, including restores")
    diff = action("diff", "show what differs between two checkpoints, or since one")
    diff.add_argument("old", nargs="?", metavar="OLD", help=f"{_ID}; or beginning (default: the newest)")
    diff.add_argument("new", nargs="?", metavar="NEW", default="now", help="another checkpoint (default: now)")
    diff.add_argument("--only", metavar="PATH", action="append", help="only this file; may be repeated")
    diff.add_argument("--names", action="store_true", help="only list the files that differ")
    restore = action("restore", "restore a checkpoint")
    restore.add_argument("checkpoint", metavar="CHECKPOINT", help=_ID)
    restore.add_argument("--dry-run", action="store_true", help="only show what would be done")
    restore.add_argument("--only", metavar="PATH", action="append", help="only this file or folder; may be repeated")
    restore.add_argument(
        "--overwrite", metavar="PATH", action="append", default=[], help="also this file, although you changed it"
    )
    restore.add_argument(
        "--variables",
        action="store_true",
        help="restore kernel variables instead of files, through the running Jupyter Server",
    )
    restore.add_argument("--notebook", metavar="PATH", help="with --variables: only for this notebook's kernel")
    restore.add_argument(
        "--leave-variable", metavar="NAME", action="append", default=[], help="skip this variable; may be repeated"
    )
    restart = action(
        "restart", "restart a notebook's kernel and run its cells again, through the running Jupyter Server"
    )
    restart.add_argument("notebook", metavar="NOTEBOOK", help="whose kernel")
    up_to = restart.add_mutually_exclusive_group(required=True)
    up_to.add_argument("--cell", metavar="ID", help="from the top up to this cell")
    up_to.add_argument("--checkpoint", metavar="CHECKPOINT", help="up to the cell that ran last before this checkpoint")
    restart.add_argument("--yes", action="store_true", help="approve the cells without being asked")
    undo = action("undo", "undo a restore")
    undo.add_argument(
        "operation", nargs="?", metavar="OPERATION", help="which restore (default: the newest that is not undone)"
    )
    for one in (restore, undo):
        one.add_argument("--leave", metavar="PATH", action="append", default=[], help="skip this file or folder")
        one.add_argument("--overwrite-all", action="store_true", help="also overwrite your own changes")
    recover = action("recover", "roll back an interrupted restore, or keep the current state")
    recover.add_argument(
        "choice", choices=("roll-back", "keep"), help="roll back: the state before the restore; keep: the current state"
    )
    export = action("export", "export a checkpoint as a zip file or a Git repository")
    export.add_argument("checkpoint", metavar="CHECKPOINT", help=_ID)
    export.add_argument("--to", metavar="PATH", type=Path, required=True, help="where to write it; must not exist yet")
    export.add_argument("--format", choices=("zip", "git"), default="zip", help="(default: zip)")
    action("gc", "delete what exceeds the limits, and repack the rest")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from .._checkpoint_stores import checkpoints_of

    async with checkpoints_of(
        terminal, options.workspace, may_begin=options.action in ("save", "restart")
    ) as checkpoints:
        match options.action:
            case "save":
                await _save(terminal, checkpoints, options.reason)
            case "list":
                await _list(terminal, checkpoints, options)
            case "diff":
                return await _diff(terminal, checkpoints, options)
            case "restore":
                return await _restore(terminal, checkpoints, options)
            case "restart":
                from .._checkpoint_kernels import restart_kernel

                return await restart_kernel(terminal, checkpoints, options)
            case "undo":
                return await _undo(terminal, checkpoints, options)
            case "recover":
                return await _recover(terminal, checkpoints, options.choice)
            case "export":
                await _export(terminal, checkpoints, options)
            case _:
                await _collect(terminal, checkpoints)
    return ExitCode.OK


async def _save(terminal: Terminal, checkpoints: AsyncFileCheckpoints, reason: str) -> None:
    from .._amounts import bytes_text, count_text
    from .._checkpoint_texts import statistics_lines

    record = await checkpoints.save(reason)
    if terminal.json:
        terminal.document(record.to_wire())
        return
    terminal.line(record.id)
    skipped = f", {count_text(record.skipped)} left out" if record.skipped else ""
    terminal.note(f"{count_text(record.files)} files, {bytes_text(record.bytes)}{skipped}.")
    if record.scope == "touched":
        for line in list(statistics_lines(await checkpoints.statistics()))[1:]:
            terminal.warn(line)


async def _list(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> None:
    from ...messages import TaskId
    from .._checkpoint_texts import checkpoint_lines, operation_lines

    if options.operations:
        operations = await checkpoints.operations(options.limit)
        if terminal.json:
            terminal.document({"operations": [done.to_wire() for done in operations]})
        else:
            terminal.lines(operation_lines(operations, terminal.width))
        return
    task = None if options.task is None else TaskId(options.task)
    records = await checkpoints.list(task_id=task, limit=options.limit)
    if terminal.json:
        terminal.document({"checkpoints": [record.to_wire() for record in records]})
    else:
        terminal.lines(checkpoint_lines(records, terminal.width))


async def _diff(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> ExitCode:
    from .._checkpoint_texts import diff_lines

    old = options.old
    if old is None:
        head = await checkpoints.head()
        old = "beginning" if head is None else head.id
    diff = await checkpoints.diff(old, options.new, only=_chosen(options.only), with_content=not options.names)
    if terminal.json:
        terminal.document(diff.to_wire())
    else:
        terminal.lines(diff_lines(terminal, diff, names_only=options.names))
    return ExitCode.FOUND if diff.files else ExitCode.OK


async def _restore(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> ExitCode:
    from .._checkpoint_texts import plan_lines

    _refuse_mixed(options)
    if options.variables:
        from .._checkpoint_kernels import restore_variables

        return await restore_variables(terminal, checkpoints, options)
    only, leave, overwrite = _chosen(options.only), _absolute(options.leave), _absolute(options.overwrite)
    if options.dry_run:
        plan = await checkpoints.plan_restore(
            options.checkpoint, only=only, leave=leave, overwrite=overwrite,
            overwrite_conflicts=options.overwrite_all,
        )  # fmt: skip
        if terminal.json:
            terminal.document(plan.to_wire())
        else:
            terminal.lines(plan_lines(plan))
        return ExitCode.FOUND if plan.conflicts or plan.left else ExitCode.OK
    done = await checkpoints.restore(
        options.checkpoint, only=only, leave=leave, overwrite=overwrite,
        overwrite_conflicts=options.overwrite_all,
    )  # fmt: skip
    record = await checkpoints.checkpoint(options.checkpoint)
    if record.variables:
        terminal.note("It also has kernel variables, which were not restored. Use --variables to restore them.")
    return _tell(terminal, done)


def _refuse_mixed(options: Namespace) -> None:
    """What is said about files says nothing about variables, and the other way round."""
    if options.variables and (options.only or options.overwrite or options.leave):
        raise UsageError("--only, --overwrite and --leave apply to files, and --variables restores no files.")
    if not options.variables and (options.notebook or options.leave_variable):
        raise UsageError("--notebook and --leave-variable need --variables.")


async def _undo(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> ExitCode:
    from ...checkpoints import restore_to_undo

    done = restore_to_undo((await checkpoints.operations())[::-1], options.operation)
    if done.parts is not None and done.parts.beyond_files:
        from .._checkpoint_kernels import undo_through_server

        return await undo_through_server(terminal, checkpoints, done)
    undone = await checkpoints.undo(
        options.operation, leave=_absolute(options.leave), overwrite_conflicts=options.overwrite_all
    )
    return _tell(terminal, undone)


def _tell(terminal: Terminal, done: OperationRecord) -> ExitCode:
    from .._checkpoint_texts import restored_line

    if terminal.json:
        terminal.document(done.to_wire())
    else:
        terminal.line(done.id)
        terminal.note(f"{restored_line(done)} Undo it with hdsp-agent checkpoint undo {done.id}")
        if done.kept:
            terminal.note("To restore those too, use --overwrite PATH, or --overwrite-all for all of them.")
    return ExitCode.FOUND if done.kept else ExitCode.OK


async def _recover(
    terminal: Terminal, checkpoints: AsyncFileCheckpoints, choice: Literal["roll-back", "keep"]
) -> ExitCode:
    from ...checkpoints.timeline import RestoreLock
    from ...errors import Conflict

    # What a server is restoring just now looks like a restore that was cut short.
    async with RestoreLock(checkpoints.folder).taken():
        half = await checkpoints.interrupted()
        if choice == "roll-back" and half is not None and half.parts is not None and half.parts.beyond_files:
            raise Conflict(
                "The interrupted restore also covers notebooks, variables or the conversation. Roll it back in JupyterLab, or "
                "keep the current state with hdsp-agent checkpoint recover keep.",
                operation=half.id,
            )
        done = await checkpoints.recover("keep" if choice == "keep" else "roll_back")
    if done is not None:
        return _tell(terminal, done)
    if terminal.json:
        terminal.document({})
    else:
        terminal.line("No restore was interrupted.")
    return ExitCode.OK


async def _export(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> None:
    target: Path = options.to.expanduser().absolute()
    await checkpoints.export(options.checkpoint, target, options.format)
    if terminal.json:
        terminal.document({"checkpoint": options.checkpoint, "format": options.format, "path": str(target)})
    else:
        terminal.line(str(target))


async def _collect(terminal: Terminal, checkpoints: AsyncFileCheckpoints) -> None:
    from .._checkpoint_texts import statistics_lines

    found = await checkpoints.gc()
    if terminal.json:
        terminal.document(found.to_wire())
    else:
        terminal.lines(statistics_lines(found))


def _chosen(paths: list[str] | None) -> list[str] | None:
    return None if paths is None else _absolute(paths)


def _absolute(paths: list[str]) -> list[str]:
    """Paths on a command line are seen from where one stands, not from the workspace."""
    return [os.path.abspath(os.path.expanduser(path)) for path in paths]


COMMAND: Final = CliCommand(
    help="save, compare and restore a workspace's files",
    run=_run,
    arguments=_arguments,
    details="These are the checkpoints that the agent makes. The server may keep running. A restore saves the current files\n"
    "first, so you can undo it. Your own changes since the newest checkpoint are kept unless you use --overwrite.\n"
    "The exit code is 3 if diff finds a difference, or if restore or undo kept something of yours.",
    interrupted="interrupted; use checkpoint recover to settle an interrupted restore",
)
