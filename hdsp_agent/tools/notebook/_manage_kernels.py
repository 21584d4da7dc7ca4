"""Which kernels run and which there are; starting, interrupting and restarting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, assert_never

from pydantic import StringConstraints

from ..._threads import in_thread
from ...config import ToolGroup
from ...messages import ClineSayTool, JsonObject, KernelChange, KernelChanged, OwnSayTool
from ...notebooks.kernels import KernelInfo, KernelSpec, Run
from .._action import ActionRequest, Risk
from .._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from ._code_runner import start_kernel
from ._notebook_location import NotebookLocation, NotebookPath, place_of, still_allowed
from ._outputs import AvailableKernel, KernelList, running_kernel

__all__ = ["ListKernels", "ListKernelsArguments", "ManageKernel", "ManageKernelArguments"]

Action = Literal["start", "interrupt", "restart"]
_KINDS: Final[Mapping[Action, OwnSayTool]] = {
    "start": "startKernel",
    "interrupt": "interruptKernel",
    "restart": "restartKernel",
}


class ListKernelsArguments(ToolArguments):
    """``list_kernels`` takes none."""


class ListKernels(SimpleTool[ListKernelsArguments]):
    """Lists kernels."""

    name: ClassVar[str] = "list_kernels"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "See which kernels run, for which notebooks and whether they work, and which can be started."
    )
    parallel_safe: ClassVar[bool] = True
    Output = KernelList

    async def _run(self, arguments: ListKernelsArguments, context: ToolContext) -> ToolResult:
        await context.say("tool", ClineSayTool(tool="listKernels").to_json())
        executor = context.notebooks.executor
        running = await executor.kernels()
        root = context.notebooks.access.root
        seen = await in_thread(lambda _stop: [kernel for kernel in running if _may_be_told(kernel, root, context)])
        specs = await executor.kernel_specs()
        return ToolResult(context.mask(_listed(seen, specs)), structured=lambda: _entries(seen, specs))


class ManageKernelArguments(ToolArguments):
    """The arguments of ``manage_kernel``."""

    action: Action
    """start: a kernel for the notebook, if none runs. interrupt: whatever cell it works on. restart: all variables are lost."""
    path: NotebookPath | None = None
    """The notebook, relative to the workspace; absent for the one the task is about."""
    kernel: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    """For start: the name of the kernel, as list_kernels shows it; absent for the one the notebook was made for."""


class ManageKernel(SimpleTool[ManageKernelArguments]):
    """Starts, interrupts or restarts a kernel."""

    name: ClassVar[str] = "manage_kernel"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Start, interrupt or restart the kernel of a notebook. run_cells starts one by itself. After a restart the cells "
        "whose results are needed have to be run again."
    )

    async def _run(self, arguments: ManageKernelArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        snapshot = await place.document.snapshot()
        kernel = await context.notebooks.kernel(place.path)
        if kernel is not None and arguments.action == "start":
            return ToolResult(f"{kernel.display_name} runs for {place.shown} already ({kernel.state}).")
        wanted = arguments.kernel or snapshot.kernel_name
        if arguments.action == "start":
            # What cannot be started is told before anybody is asked.
            wanted = (await context.notebooks.executor.kernel_spec(wanted)).name
        own = _own_run(place, context) if arguments.action == "interrupt" else None
        shown = ClineSayTool(
            tool=_KINDS[arguments.action],
            path=place.shown,
            kernel=kernel.display_name if kernel is not None else wanted,
            is_outside_workspace=place.checked.is_outside or None,
        )
        action = ActionRequest(risks=frozenset({_risk(arguments.action, own)}), tool=self.name, path=place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        await still_allowed(place, context)
        return answered(approval, ToolResult(await _done(arguments.action, wanted, own, place, context)))


def _risk(action: Action, own: Run | None) -> Risk:
    if action == "start":
        return "run_code"
    # To interrupt what one has begun oneself needs nobody's leave.
    return "none" if own is not None else "kernel"


async def _done(
    action: Action, wanted: str | None, own: Run | None, place: NotebookLocation, context: ToolContext
) -> str:
    executor, path = context.notebooks.executor, place.document.path
    match action:
        case "start":
            kernel = await start_kernel(place, context, wanted)
            return f"Started {kernel.display_name} for {place.shown}."
        case "interrupt":
            await (own.interrupt() if own is not None else executor.interrupt(path))
            await _say("interrupted", place, context)
            return f"Interrupted the kernel of {place.shown}."
        case "restart":
            await executor.restart(path)
            await _say("restarted", place, context)
            return f"Restarted the kernel of {place.shown}. All its variables are gone."
        case _:
            assert_never(action)


async def _say(change: KernelChange, place: NotebookLocation, context: ToolContext) -> None:
    kernel = await context.notebooks.kernel(place.path)
    name = kernel.display_name if kernel is not None else None
    said = KernelChanged(path=place.document.path, change=change, kernel=name)
    await context.say("kernel_status", said.to_json(), notebook=place.ref())


def _own_run(place: NotebookLocation, context: ToolContext) -> Run | None:
    """The run of this task whose cell the kernel works on, if it is one."""
    runs = context.notebooks.executor.runs(place.document.path)
    first = next(iter(runs), None)
    return first if first is not None and first.task_id == context.task_id else None


def _may_be_told(kernel: KernelInfo, root: Path | None, context: ToolContext) -> bool:
    return root is None or not context.paths.hides((root / kernel.path).resolve(), is_directory=False)


def _entries(running: Sequence[KernelInfo], specs: Mapping[str, KernelSpec]) -> JsonObject:
    available = [
        AvailableKernel(name=spec.name, display_name=spec.display_name, language=spec.language)
        for spec in specs.values()
    ]
    told = KernelList(running=[running_kernel(kernel, kernel.path) for kernel in running], available=available)
    return told.model_dump(exclude_none=True)


def _listed(running: Sequence[KernelInfo], specs: Mapping[str, KernelSpec]) -> str:
    lines = ["Running:" if running else "No kernel runs."]
    for kernel in running:
        lines.append(f"- {kernel.path}: {kernel.name} ({kernel.display_name}), {kernel.state}")
    lines.append("Can be started:")
    lines += [f"- {spec.name}: {spec.display_name} ({spec.language})" for spec in specs.values()]
    return "\n".join(lines)
