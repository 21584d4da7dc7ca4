"""``hdsp-agent checkpoint`` for what is in kernels: variables, and cells that run again, through the server that has the kernels."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..errors import NotFound
from ._amounts import count_text
from ._command import ExitCode
from ._keyboard import says_yes
from ._running_server import RunningServer, server_of

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ..checkpoints import AsyncFileCheckpoints, OperationRecord
    from ..checkpoints.timeline import RestartedRun, RestartPreview, VariablesPreview
    from ._terminal import Terminal

__all__ = ["restart_kernel", "restore_variables", "undo_through_server"]

_PAUSE: Final = 0.2
_TITLES: Final = {
    "load": "loaded",
    "import": "loaded",
    "remove": "removed, because they are newer",
    "lost": "lost",
    "keep_live": "left as they are",
    "keep_unsaved": "left as they are",
}


async def restore_variables(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> ExitCode:
    """Bring the variables of a checkpoint back, or with ``--dry-run`` tell what that would do."""
    from ..checkpoints.timeline import RestorePreview, RestoreResult

    record = await checkpoints.checkpoint(options.checkpoint)
    if not record.variables:
        raise NotFound(
            f"The checkpoint {record.id} has no variables. To see which have some, run hdsp-agent checkpoint list."
        )
    async with server_of(checkpoints.workspace, record.task_id) as server:
        parts: dict[str, JsonValue] = {"variables": True, "overwrite": options.overwrite_all}
        if options.leave_variable:
            parts["leaveVariables"] = list(options.leave_variable)
        if options.notebook is not None:
            parts["path"] = server.notebook(options.notebook)
        path = f"checkpoints/{record.id}"
        preview = await server.post(f"{path}/preview", RestorePreview, parts=parts)
        stays = [one for one in preview.variables if one.why_not is not None]
        if options.dry_run:
            if terminal.json:
                terminal.document(preview.to_wire())
            else:
                terminal.lines(_lines(preview.variables))
            return ExitCode.FOUND if stays or _left(preview.variables) else ExitCode.OK
        if stays and len(stays) == len(preview.variables):
            terminal.lines(_lines(stays))
            terminal.error("nothing was restored")
            return ExitCode.FAILED
        done = await server.post(f"{path}/restore", RestoreResult, parts=parts)
    return _tell(terminal, done.to_wire(), done.operation.id, done.variables)


async def undo_through_server(terminal: Terminal, checkpoints: AsyncFileCheckpoints, done: OperationRecord) -> ExitCode:
    """Take a restore back that was about more than files."""
    from ..checkpoints.timeline import RestoreResult

    async with server_of(
        checkpoints.workspace, done.checkpoint.task_id if done.checkpoint is not None else None
    ) as server:
        undone = await server.post(f"checkpoint-operations/{done.id}/undo", RestoreResult)
    return _tell(terminal, undone.to_wire(), undone.operation.id, undone.variables)


async def restart_kernel(terminal: Terminal, checkpoints: AsyncFileCheckpoints, options: Namespace) -> ExitCode:
    """Restart a notebook's kernel and run its cells again up to one of them, once the person agrees."""
    from ..checkpoints.timeline import RestartedRun, RestartPreview

    record = await checkpoints.checkpoint(options.checkpoint) if options.checkpoint is not None else None
    async with server_of(checkpoints.workspace, record.task_id if record is not None else None) as server:
        up_to: dict[str, JsonValue] = {"path": server.notebook(options.notebook)}
        up_to |= {"checkpoint": record.id} if record is not None else {"cell": options.cell}
        preview = await server.post("kernel-restarts/preview", RestartPreview, **up_to)
        if not options.yes and not await _agrees(terminal, preview):
            terminal.error("nothing was restarted; to approve, answer y or use --yes")
            return ExitCode.BAD_REQUEST
        run = await server.post("kernel-restarts", RestartedRun, **up_to, seen=preview.seen)
        try:
            run = await _to_its_end(terminal, server, run)
        except asyncio.CancelledError:
            # As in JupyterLab: who stops it stops its cells.
            await asyncio.shield(server.post(f"kernel-restarts/{run.id}/stop", RestartedRun))
            raise
    failed = next((cell for cell in run.cells if cell.state != "ok"), None)
    if terminal.json:
        terminal.document(run.to_wire())
    elif failed is None:
        terminal.line(f"{count_text(len(run.cells))} cells of {run.path} ran again.")
    else:
        terminal.line(f"The cell {failed.cell_id} did not finish: {failed.error or failed.state}")
    return ExitCode.OK if failed is None else ExitCode.FOUND


async def _to_its_end(terminal: Terminal, server: RunningServer, run: RestartedRun) -> RestartedRun:
    while not run.done:
        terminal.progress("cells", sum(cell.state == "ok" for cell in run.cells), len(run.cells))
        await asyncio.sleep(_PAUSE)
        run = await server.get(f"kernel-restarts/{run.id}", type(run))
    return run


async def _agrees(terminal: Terminal, preview: RestartPreview) -> bool:
    lost = f"This clears all variables of {preview.kernel}" if preview.kernel is not None else "This starts a kernel"
    terminal.note(f"{lost}, and these cells of {preview.path} run, after a checkpoint is saved:")
    for cell in preview.cells:
        # All of it: nobody agrees to what they have not seen.
        first, *rest = (cell.source or "").splitlines() or [""]
        does = [*cell.effects, *(["effects unknown"] if cell.uncertain else [])]
        terminal.note(f"  {cell.cell}: {first}" + (f"  ({', '.join(does)})" if does else ""))
        for line in rest:
            terminal.note(f"    {line}")
    if terminal.quiet or not sys.stdin.isatty():
        return False
    return await says_yes("Restart and run them?")


def _tell(
    terminal: Terminal, wire: dict[str, JsonValue], operation: str, kernels: Sequence[VariablesPreview]
) -> ExitCode:
    if terminal.json:
        terminal.document(wire)
    else:
        terminal.line(operation)
        for line in _lines(kernels):
            terminal.note(line)
        terminal.note(f"Undo it with hdsp-agent checkpoint undo {operation}")
    return ExitCode.FOUND if _left(kernels) else ExitCode.OK


def _left(kernels: Sequence[VariablesPreview]) -> bool:
    """Whether something is not what it was, although nobody left it out."""
    return any(
        kernel.why_not is not None or any(one.action in ("lost", "keep_unsaved") for one in kernel.variables)
        for kernel in kernels
    )


def _lines(kernels: Sequence[VariablesPreview]) -> Iterator[str]:
    for kernel in kernels:
        if kernel.why_not is not None:
            yield f"{kernel.path}: not restored. {kernel.why_not}"
            continue
        named: dict[str, list[str]] = {}
        for one in kernel.variables:
            if (title := _TITLES.get(one.action)) is not None:
                named.setdefault(title, []).append(f"{one.name} ({one.why})" if one.why else one.name)
        parts = [f"{title}: {', '.join(names)}" for title, names in named.items()]
        if kernel.more_variables:
            parts.append(f"{count_text(kernel.more_variables)} more")
        parts.append(f"{count_text(kernel.right)} already right")
        yield f"{kernel.path}: {'; '.join(parts)}."
        for cell in kernel.rerun.cells:
            yield f"  to recreate what is lost, run {cell.cell or 'this'}: {(cell.source or '').partition(chr(10))[0]}"
