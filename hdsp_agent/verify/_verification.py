"""Running a notebook anew, and judging each of its cells."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Final

from ..config import secret_environment
from ..errors import InvalidInput, NotFound, Unavailable
from ._causes import cause_of, made_names
from ._comparison import ShownOutput, Tolerance, cut, difference, outputs_of
from ._marks import ignores_output, is_skipped, may_fail
from ._report import CellReport, NotebookReport
from ._workspace_copy import copied

if TYPE_CHECKING:
    import nbformat
    from nbclient import NotebookClient

__all__ = ["VerifyOptions", "VerifyProgress", "verify_notebook"]

_CELL_SECONDS: Final = 600
_LATE_OUTPUT_SECONDS: Final = 60
"""What a cell showed may still be on its way when it is done. What does not come is taken for another result."""
_LARGEST: Final = 200_000_000
_LONGEST_ERROR: Final = 200


@dataclass(frozen=True)
class VerifyProgress:
    """The cell that runs: the ``cell``-th of so many, in the first or the second run."""

    run: int
    cell: int
    cells: int


@dataclass(frozen=True)
class VerifyOptions:
    """How to verify. Without a kernel's name it is the notebook's own."""

    kernel: str | None = None
    content: str | None = None
    """The notebook as JSON where its file does not have it as it is to be verified."""
    cell_seconds: float = _CELL_SECONDS
    copy_into: Path | None = None
    """A folder for the copy, which whoever made it deletes in the end, even if this process cannot."""
    in_place: bool = False
    """Whether it runs in the person's own folder, and not in a copy."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    on_progress: Callable[[VerifyProgress], None] = lambda progress: None


@dataclass(frozen=True)
class _Run:
    """What the cells showed, by their places, and how long each took."""

    outputs: Mapping[int, Sequence[ShownOutput]]
    seconds: Mapping[int, float]


async def verify_notebook(path: Path, options: VerifyOptions | None = None) -> NotebookReport:
    """Run the notebook from the top, twice if anything is different, and tell of each cell.

    Raises NotFound, InvalidInput for what is no notebook, Unavailable if the kernel cannot be had or dies.
    """
    options = options or VerifyOptions()
    begun = time.monotonic()
    with _quiet():
        saved = await asyncio.to_thread(_read, path, options.content)
        kernel = options.kernel or (saved.metadata.get("kernelspec") or {}).get("name") or "python3"
        folder = await asyncio.to_thread(lambda: path.absolute().parent)
        first = await _run(folder, saved, kernel, options, 1)
        judged = _judged(saved, first, options.tolerance)
        runs = 1
        again: _Run | None = None
        if any(report.state == "differs" and not _fails(first.outputs[report.number - 1]) for report in judged):
            again, runs = await _run(folder, saved, kernel, options, 2), 2
        cells = await asyncio.to_thread(_explained, saved, judged, first, again, options.tolerance, folder)
    return NotebookReport(str(path), kernel, tuple(cells), time.monotonic() - begun, runs)


class _Nothing(logging.Filter):
    """Lets nothing through."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Never."""
        return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the libraries log: what goes wrong is told as an error."""
    logger, nothing = logging.getLogger("traitlets"), _Nothing()
    logger.addFilter(nothing)
    try:
        yield
    finally:
        logger.removeFilter(nothing)


def _read(path: Path, content: str | None) -> nbformat.NotebookNode:
    import nbformat

    if not path.is_file():
        raise NotFound(f"{path} is not a file. Give the path of a notebook.")
    if path.stat().st_size > _LARGEST:
        raise InvalidInput(f"{path} is larger than {_LARGEST // 1_000_000} MB.", why="too_large")
    try:
        notebook: nbformat.NotebookNode = (
            nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
            if content is None
            else nbformat.reads(content, as_version=4)  # type: ignore[no-untyped-call]
        )
        nbformat.validate(notebook)
    except (ValueError, KeyError, AttributeError, TypeError, nbformat.ValidationError) as error:
        raise InvalidInput(
            f"{path} is no valid notebook: {str(error).partition(chr(10))[0]}", why="not_a_notebook"
        ) from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.", why="not_readable") from None
    return notebook


async def _run(folder: Path, saved: nbformat.NotebookNode, kernel: str, options: VerifyOptions, run: int) -> _Run:
    async with nullcontext(folder) if options.in_place else copied(folder, options.copy_into) as place:
        return await _run_in(place, folder, saved, kernel, options, run)


async def _run_in(
    place: Path, folder: Path, saved: nbformat.NotebookNode, kernel: str, options: VerifyOptions, run: int
) -> _Run:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    notebook = deepcopy(saved)
    client = NotebookClient(
        notebook, kernel_name=kernel, timeout=options.cell_seconds, allow_errors=True,
        resources={"metadata": {"path": str(place)}}, iopub_timeout=_LATE_OUTPUT_SECONDS,
    )  # fmt: skip
    outputs: dict[int, Sequence[ShownOutput]] = {}
    seconds: dict[int, float] = {}
    places = {str(place): str(folder)}
    if place != folder:
        # What stands beside the folder was copied too.
        places[str(place.parent)] = str(folder.parent).rstrip(os.sep)
    number, count = 0, sum(_runs(cell) for cell in notebook.cells)
    try:
        async with _kernel(client, kernel):
            for number, cell in enumerate(notebook.cells, 1):
                if not _runs(cell):
                    continue
                options.on_progress(VerifyProgress(run, len(outputs) + 1, count))
                begun = time.monotonic()
                await client.async_execute_cell(cell, number - 1)
                seconds[number - 1] = time.monotonic() - begun
                outputs[number - 1] = outputs_of(cell, places)
    except CellTimeoutError:
        raise Unavailable(
            f"Cell {number} ran longer than {options.cell_seconds:g} seconds.", cell=number, why="cell_too_long"
        ) from None
    except DeadKernelError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # nbclient takes that for the kernel's death.
            raise asyncio.CancelledError from None
        raise Unavailable(f"The kernel died in cell {number}.", cell=number, why="kernel_died") from None
    return _Run(outputs, seconds)


@asynccontextmanager
async def _kernel(client: NotebookClient, name: str) -> AsyncIterator[None]:
    """A new kernel, which is gone in the end. nbclient's own way takes Ctrl+C for itself."""
    from jupyter_client.kernelspec import NoSuchKernel

    # A notebook of somebody else is not to read the keys of models.
    environment = {key: value for key, value in os.environ.items() if key not in secret_environment()}
    watching = _watched(client)
    try:
        try:
            client.create_kernel_manager()
            await client.async_start_new_kernel(env=environment, stdout=DEVNULL, stderr=DEVNULL)
            await client.async_start_new_kernel_client()
        except NoSuchKernel:
            raise Unavailable(f"There is no kernel {name} here.", kernel=name, why="no_such_kernel") from None
        except (OSError, RuntimeError) as error:
            raise Unavailable(
                f"The kernel {name} does not start: {error}.", kernel=name, why="kernel_not_started"
            ) from None
        yield
    finally:
        await asyncio.shield(_ended(client, watching))


def _watched(client: NotebookClient) -> set[asyncio.Task[object]]:
    """The tasks that look whether the kernel lives: a cell that is cancelled leaves its own behind."""
    watch = client._async_poll_kernel_alive
    watching: set[asyncio.Task[object]] = set()

    async def watch_until_ended() -> None:
        task = asyncio.current_task()
        assert task is not None
        watching.add(task)
        try:
            await watch()
        finally:
            watching.discard(task)

    client._async_poll_kernel_alive = watch_until_ended  # type: ignore[method-assign]
    return watching


async def _ended(client: NotebookClient, watching: set[asyncio.Task[object]]) -> None:
    from jupyter_core.utils import ensure_async

    for task in list(watching):
        task.cancel()
    if client.kc is not None:
        client.kc.stop_channels()
    # It may have been stopped while it started.
    if client.km is not None and client.km.has_kernel:
        await ensure_async(client.km.shutdown_kernel(now=True))


def _fails(outputs: Sequence[ShownOutput]) -> bool:
    return any(one.kind == "error" for one in outputs)


def _runs(cell: Mapping[str, object]) -> bool:
    return cell.get("cell_type") == "code" and bool(str(cell.get("source", "")).strip()) and not is_skipped(cell)


def _judged(saved: nbformat.NotebookNode, run: _Run, tolerance: Tolerance) -> list[CellReport]:
    """Each code cell, without why it differs."""
    reports: list[CellReport] = []
    for at, cell in enumerate(saved.cells):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        plain = CellReport(at + 1, cell.get("id", ""), "same", seconds=run.seconds.get(at, 0.0))
        if at not in run.outputs:
            reports.append(replace(plain, state="skipped"))
            continue
        before, now = outputs_of(cell), run.outputs[at]
        fails, failed_before = _fails(now), _fails(before) or may_fail(cell)
        if fails and not failed_before:
            error = next(one.content for one in now if one.kind == "error")
            reports.append(replace(plain, state="differs", detail=cut(error.partition("\n")[0], _LONGEST_ERROR)))
        elif may_fail(cell) and not fails:
            reports.append(replace(plain, state="differs", detail="it does not fail any more"))
        elif not before and cell.get("execution_count") is None:
            reports.append(replace(plain, state="unsaved"))
        elif ignores_output(cell) or may_fail(cell):
            reports.append(plain)
        else:
            found = difference(before, now, tolerance)
            reports.append(plain if found is None else replace(plain, state="differs", detail=found))
    return reports


def _explained(
    saved: nbformat.NotebookNode,
    judged: Sequence[CellReport],
    first: _Run,
    again: _Run | None,
    tolerance: Tolerance,
    folder: Path,
) -> list[CellReport]:
    failed: dict[int, frozenset[str]] = {}
    explained: list[CellReport] = []
    for report in judged:
        if report.state != "differs":
            explained.append(report)
            continue
        at = report.number - 1
        now = first.outputs[at]
        varies = again is not None and difference(now, again.outputs.get(at, ()), tolerance) is not None
        cause, told = cause_of(at, now, saved.cells, failed, varies=varies, folder=folder)
        if _fails(now):
            failed[at] = made_names(saved.cells[at].source)
        explained.append(replace(report, cause=cause, detail=f"{report.detail}. {told}" if report.detail else told))
    return explained
