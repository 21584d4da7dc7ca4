"""Runs a notebook from the top in a real kernel, and computes the probes of an eval task there."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Final

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import output_from_msg

from hdsp_agent.messages import JsonObject

from ._eval_task import RerunResult, SeenCell

__all__ = ["FIGURES", "FRAMES", "RerunKernel", "rerun_kernel"]

FIGURES: Final = "__figures__()"
"""A probe: all figures drawn, each a list of axes with what is on them."""
FRAMES: Final = "__frames__()"
"""A probe: the shapes of all data frames that have a name."""

_SECONDS: Final = 60
_SHOWN: Final = ("stream", "display_data", "execute_result", "error")
# Faster than %reset, which many judges in a row would wait for.
_PREPARE: Final = """\
__kept__ = globals().get("__kept__") or [*globals(), "__kept__"]
for __name in [name for name in globals() if name not in __kept__ and not name.startswith("_")]:
    del globals()[__name]
%config InlineBackend.close_figures = False
import os as __os__
__os__.chdir({folder!r})
def __told__(value):
    import json
    return json.dumps(value, default=lambda one: one.tolist() if hasattr(one, "tolist") else str(one))
def __frames__():
    return [list(one.shape) for name, one in list(globals().items())
            if type(one).__name__ == "DataFrame" and not name.startswith("_")]
def __number__(value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return None if number != number else number
def __axes__(axes):
    from matplotlib.patches import Rectangle
    patches = [one for one in axes.patches if isinstance(one, Rectangle)]
    return dict(
        title=axes.get_title() or axes.get_title("left") or axes.get_title("right"),
        x_label=axes.get_xlabel(), y_label=axes.get_ylabel(),
        lines=[[[__number__(x), __number__(y)] for x, y in zip(line.get_xdata(), line.get_ydata())] for line in axes.lines],
        bars=[float(one.get_height()) for one in patches], widths=[float(one.get_width()) for one in patches],
        points=[[list(map(__number__, point)) for point in one.get_offsets()] for one in axes.collections],
    )
__drawn__ = []
def __figures__():
    return __drawn__
def __collect__():
    import sys
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is not None:
        __drawn__.extend([__axes__(axes) for axes in plt.figure(number).axes] for number in plt.get_fignums())
        plt.close("all")
"""
# As the kernel of a person closes them at the end of a cell, but not before they were looked at.
_COLLECT: Final = "__collect__()"


class RerunKernel:
    """A kernel that nobody else uses. Blocks."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client

    def outputs(self, sources: Iterable[str], folder: Path) -> list[list[JsonObject]]:
        """What these pieces of code show, one after the other from the top; a failure ends none."""
        self._prepare(folder)
        shown: list[list[JsonObject]] = []
        for source in sources:
            shown.append(self._run(source)[0])
            self._run(_COLLECT)
        return shown

    def run_from_top(self, cells: Sequence[SeenCell], folder: Path, probes: Iterable[str]) -> RerunResult:
        """How the notebook runs from the top; it ends with the first failure."""
        self._prepare(folder)
        texts: list[str] = []
        error: str | None = None
        for cell in cells:
            if error is None and cell.is_code and cell.source.strip():
                outputs, _ = self._run(cell.source)
                self._run(_COLLECT)
                texts.append(SeenCell(cell.id, cell.source, True, outputs).text)
                error = next((f"{o['ename']}: {o['evalue']}" for o in outputs if o["output_type"] == "error"), None)
        values = {probe: value for probe in probes for value in self._value(probe)}
        return RerunResult(error, values, texts)

    def _prepare(self, folder: Path) -> None:
        outputs, _ = self._run(_PREPARE.format(folder=str(folder)))
        assert not any(output["output_type"] == "error" for output in outputs), outputs

    def _value(self, probe: str) -> list[object]:
        """One value, or none if it cannot be computed."""
        _, told = self._run("pass", {"told": f"__told__({probe})"})
        return [] if told is None else [json.loads(ast.literal_eval(told))]

    def _run(self, code: str, probes: dict[str, str] | None = None) -> tuple[list[JsonObject], str | None]:
        """What it shows, and the text of the probe named ``told``, if it could be computed."""
        outputs: list[JsonObject] = []

        def hear(message: dict[str, Any]) -> None:  # as the client has it
            if message["header"]["msg_type"] not in _SHOWN:
                return
            output = dict(output_from_msg(message))  # type: ignore[no-untyped-call]  # nbformat's
            # A kernel sends one print in several pieces if it is slow; a notebook keeps them as one output.
            last = outputs[-1] if outputs else {}
            if output["output_type"] == "stream" and last.get("name") == output["name"]:
                last["text"] = f"{last['text']}{output['text']}"
            else:
                outputs.append(output)

        reply = self._client.execute_interactive(
            code,
            user_expressions=probes,
            output_hook=hear,
            allow_stdin=False,
            timeout=_SECONDS,
            store_history=False,
        )
        found = reply["content"].get("user_expressions", {}).get("told", {})
        return outputs, found["data"]["text/plain"] if found.get("status") == "ok" else None


@contextmanager
def rerun_kernel() -> Iterator[RerunKernel]:
    """A kernel that ends with the block. Blocks."""
    manager, client = start_new_kernel(kernel_name="python3", stderr=DEVNULL)
    try:
        yield RerunKernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
