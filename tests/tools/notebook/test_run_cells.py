"""Running cells and code: what is asked, what is told and shown, long runs, and how they end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import CellId, ClineSay, TaskId
from hdsp_agent.notebooks.kernels import CellRun, CellRunSpec, OutputCollector, Run, RunLimits
from hdsp_agent.tools import Approval
from hdsp_agent.tools.notebook import _run_cells
from hdsp_agent.tools.notebook._run_messages import RunMessages
from tests._helpers.parsed_json import parsed

from ...agent._helpers.scripted_agent import until
from .._helpers.recording_context import Approved
from ._helpers.notebook_tasks import NotebookTask, notebook_task, texts

APPROVED = Approval(approved=True, by_person=True)


async def test_cells_run_in_order_and_their_outputs_are_in_the_notebook(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 20", ("markdown", "text"), "print('hi')\nx + 1", "") as task:
        text = await task.text("run_cells", cells=["3", "c1"])
        assert text.index("[cell 1 c1: done, execution count 1") < text.index("[cell 3 c3: done, execution count 2")
        assert text.endswith("hi\n21")
        cells = parsed(await asyncio.to_thread(task.file))["cells"]
        assert cells[2]["execution_count"] == 2
        assert [output["output_type"] for output in cells[2]["outputs"]] == ["stream", "execute_result"]
        [approved] = task.approvals
        assert approved.action.risks == {"run_code"}
        assert [cell["code"] for cell in parsed(approved.shown["cells"])] == ["x = 20", "print('hi')\nx + 1"]


async def test_the_person_sees_a_row_for_each_cell_and_what_it_prints(workspace: Path) -> None:
    async with notebook_task(workspace, "print('a')", "1 / 0", "'never'") as task:
        result = await task.call("run_cells", cells=["all"])
        assert result.is_error
        text = texts(result.content)
        assert "[cell 2 c2: FAILED, execution count 2" in text and "ZeroDivisionError: division by zero" in text
        assert "Not run: cell 3 c3. It was not run." in text
        first, second = task.executed()
        assert (first["cellId"], first["state"], first["executionCount"]) == ("c1", "ok", 1)
        assert (second["state"], second["error"]) == ("error", "ZeroDivisionError: division by zero")
        kinds = [task.said[at].say for at in sorted(task.said)]
        assert kinds == ["kernel_status", "cell_executed", "command_output", "cell_executed", "error"]
        assert all(row.partial is not True for row in task.said.values())
        [printed] = task.rows("command_output")
        assert printed.text == "a" and printed.notebook is not None and printed.notebook.cell_id == "c1"
        assert "\x1b" not in (task.rows("error")[0].text or "")


SHOWN = """
from IPython.display import display
class Shown:
    def __init__(self, **data): self.data = data
    def __repr__(self): return "plain"
    def _repr_mimebundle_(self, **_): return {kind.replace("_", "/"): text for kind, text in self.data.items()}
"""
TABLE = "<style>x</style><table><tr><td>1</td></tr></table>"


@pytest.mark.in_short(2)
@pytest.mark.parametrize(
    ("code", "result", "table"),
    [
        (f"Shown(text_plain='plain', text_html={TABLE!r})", "plain", TABLE),
        ("Shown(text_plain='plain', text_html='<b>1</b>')", "plain", None),
        (f"display(Shown(text_plain='plain', text_html={TABLE!r}), Shown(text_plain='<Figure>', image_png=''))", "plain", TABLE),
        ("display(Shown(text_plain='<Figure>', image_png='aGk='))", "<Figure>\n[image/png]", None),
        (f"Shown(text_plain='plain', text_html={TABLE!r} + ' ' * 60_000)", "plain", None),
        ("Shown(text_plain='plain', text_html='<table><tr><td>sk-ant-<b>api03-' + 'a1B2' * 20 + '</b></td></tr></table>')", "plain", None),
    ],
    ids=["a table", "no table", "a table before a picture", "a picture", "a table that is too long", "a secret"],
)  # fmt: skip
async def test_a_table_is_told_as_one(workspace: Path, code: str, result: str, table: str | None) -> None:
    async with notebook_task(workspace, SHOWN, code) as task:
        await task.text("run_cells", cells=["all"])
        row = task.executed()[-1]
        assert (row["result"], row.get("table")) == (result, table)


async def test_a_long_run_goes_on_and_is_waited_for_and_interrupted(workspace: Path) -> None:
    code = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
    async with notebook_task(workspace, code, "'after'") as task:
        result = await task.call("run_cells", cells=["all"], timeout=0)
        await until(lambda: "begun" in task.shown_texts)
        text = texts((await task.call("wait_run", run="run-1", seconds=0)).content)
        assert "[cell 1 c1: still runs]\nbegun" in text and "Waiting: cell 2 c2." in text
        assert "It still runs, as run-1." in text and not result.is_error
        ended = await task.call("wait_run", run="run-1", interrupt=True)
        assert ended.is_error and "[cell 1 c1: interrupted" in texts(ended.content)
        assert "KeyboardInterrupt" in texts(ended.content)
        assert task.executed()[0]["state"] == "interrupted"
        assert "There is no run run-9." in await task.failure("wait_run", run="run-9")


async def test_a_cancel_stops_its_own_cells_at_once_and_no_others(workspace: Path) -> None:
    code = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
    async with notebook_task(workspace, code, "'mine'") as task:
        others = await task.notebooks.executor.run("work.ipynb", [])
        assert await others.wait(30)
        call = asyncio.create_task(task.call("run_cells", cells=["c1"]))
        await until(lambda: "begun" in task.shown_texts)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: task.executed()[0]["state"] == "interrupted")
        assert (await task.text("run_cells", cells=["c2"])).endswith("'mine'")


async def test_a_cell_that_waits_behind_anothers_is_withdrawn_without_touching_it(workspace: Path) -> None:
    async with notebook_task(workspace, "'mine'") as task:
        may_end = workspace / "may-end"
        waits = f"import os, time\nwhile not os.path.exists({str(may_end)!r}): time.sleep(0.01)\n'theirs'"
        theirs = CellRunSpec(CellId("x"), waits)
        run = await task.notebooks.executor.run("work.ipynb", [theirs], task_id=TaskId("another"))
        await until(lambda: run.cells[0].state == "running")
        call = asyncio.create_task(task.call("run_cells", cells=["c1"]))
        await asyncio.sleep(0.3)
        call.cancel()
        await asyncio.wait({call})
        may_end.touch()
        assert await run.wait(30) and run.cells[0].state == "ok"
        assert task.executed() == []


async def test_what_changed_while_the_question_waited_is_asked_about_anew(workspace: Path) -> None:
    async with notebook_task(workspace, "'as shown'") as task:

        async def decide(asked: Approved) -> Approval:
            if len(task.approvals) == 1:
                await asyncio.to_thread(task.change, "c1", "'as it is now'")
            return APPROVED

        task.decide = decide
        assert "'as it is now'" in await task.text("run_cells", cells=["c1"])
        assert [parsed(approved.shown)["cells"][0]["code"] for approved in task.approvals] == [
            "'as shown'",
            "'as it is now'",
        ]


async def test_what_changed_while_saving_took_long_is_asked_about_anew(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_run_cells, "_JUST_NOW_SECONDS", 0.0)
    async with notebook_task(workspace, "'as shown'") as task:

        async def saved(asked: Approved) -> None:
            if len(task.approvals) == 1:
                await asyncio.to_thread(task.change, "c1", "'as it is now'")

        task.saved = saved
        assert "'as it is now'" in await task.text("run_cells", cells=["c1"])
        assert [parsed(approved.shown)["cells"][0]["code"] for approved in task.approvals] == [
            "'as shown'",
            "'as it is now'",
        ]


async def test_scratch_code_leaves_notebook_and_history_alone(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 2") as task:
        await task.text("run_cells", cells=["all"])
        before = (workspace / "work.ipynb").read_bytes()
        text = await task.text("run_code", code="print('seen', x * 21)\nx")
        assert "seen 42\n2" in text and task.approvals[-1].shown["cells"] == [{"code": "print('seen', x * 21)\nx"}]
        assert (workspace / "work.ipynb").read_bytes() == before
        assert "2" in await task.text("run_code", code="len(In) - 1, x")
        [_, row, *_] = task.executed()
        assert "cellId" not in row and row["result"] == "2"


async def test_a_kernel_that_dies_is_told_and_the_next_cell_gets_another(workspace: Path) -> None:
    async with notebook_task(workspace, "import os\nos._exit(1)", "1 + 1") as task:
        result = await task.call("run_cells", cells=["all"])
        assert result.is_error and "The kernel died" in texts(result.content)
        assert task.executed()[0]["state"] == "dead"
        assert '"change":"died"' in (task.rows("kernel_status")[-1].text or "")
        assert (await task.text("run_cells", cells=["2"])).endswith("2")


async def test_a_kernel_that_dies_before_it_says_that_the_cell_began_is_told_with_that_cell_alone(
    workspace: Path,
) -> None:
    async def stop(run: Run) -> None:
        raise AssertionError("nobody interrupts it")

    async with notebook_task(workspace, "1", "2") as task:
        cells = [CellRun(CellId(name), "1", OutputCollector(RunLimits())) for name in ("c1", "c2")]
        report = RunMessages(task, "work.ipynb", {}, None)
        run = Run("work.ipynb", cells, interrupt=stop, listeners=(report,))
        run.finish("kernel_died", "The kernel died.")
        await report.close()
        assert [(row["cellId"], row["state"]) for row in task.executed()] == [("c1", "dead")]


async def test_a_missing_kernel_is_named_with_those_there_are(workspace: Path) -> None:
    async with notebook_task(workspace) as task:
        await asyncio.to_thread(task.write, "1", kernel="julia-9")
        told = await task.failure("run_cells", cells=["all"])
        assert "no kernel 'julia-9'" in told and "python3" in told and "Nothing was run" in told
        assert "no kernel 'julia-9'" in await task.failure("manage_kernel", action="start")
        assert "Started Python 3" in await task.text("manage_kernel", action="start", kernel="python3")
        assert "2" in await task.text("run_code", code="1 + 1")


async def test_kernels_are_listed_restarted_and_interrupted(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 1") as task:
        assert "No kernel runs." in await task.text("list_kernels")
        assert "No kernel runs for work.ipynb" in await task.failure("manage_kernel", action="restart")
        await task.text("run_cells", cells=["all"])
        listed = await task.text("list_kernels")
        assert "- work.ipynb: python3 (Python 3 (ipykernel)), idle" in listed
        assert "runs for work.ipynb already" in await task.text("manage_kernel", action="start")
        await task.text("manage_kernel", action="restart")
        assert task.approvals[-1].action.risks == {"kernel"}
        assert task.approvals[-1].shown["tool"] == "restartKernel"
        assert "There is no variable x" in await task.text("inspect_variables", names=["x"])
        await task.call("run_code", code="import time; time.sleep(60)", timeout=0)
        await until(
            lambda: any(
                known.run.current is not None and known.run.current.state == "running"
                for known in task.state.runs.running
            )
        )
        await task.text("manage_kernel", action="interrupt")
        assert task.approvals[-1].action.risks == {"none"}
        await until(lambda: not task.state.runs.running)
        await task.text("manage_kernel", action="interrupt")
        assert task.approvals[-1].action.risks == {"kernel"}


async def test_variables_are_told_without_touching_anything(workspace: Path) -> None:
    async with notebook_task(workspace, "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2]})\nn = 7") as task:
        assert "No kernel runs for work.ipynb" in await task.failure("inspect_variables")
        await task.text("run_cells", cells=["all"])
        text = await task.text("inspect_variables")
        assert "n: int" in text and "shape (2, 1)" in text and "columns: a int64" in text
        assert task.approvals[-1].action.risks == {"read"}
        assert "There is no variable nope." in await task.text("inspect_variables", names=["nope"])


async def test_only_names_of_packages_are_installed_and_shown_as_they_run(workspace: Path) -> None:
    async with notebook_task(workspace, "1") as task:
        task.decide = lambda _: Approval(approved=False)
        options = ("--index-url=x", "git+https://x", "./here", "a; rm -rf /", "a b", "$(x)", "-r requirements.txt")
        files = ("here-1.0.tar.gz", "Here.WHL", "here.zip[x]", "here==1.zip", "a[x\nrm -rf y\n]")
        for wrong in (*options, *files):
            assert "cannot be installed this way" in await task.failure("install_packages", packages=[wrong])
        assert task.approvals == []
        await task.call("install_packages", packages=["pandas", "scikit-learn >= 1.4, <2", "jax[cpu]==0.4"])
        [approved] = task.approvals
        assert approved.action.risks == {"install"}
        code = parsed(approved.shown)["cells"][0]["code"]
        assert code == '%pip install pandas "scikit-learn >= 1.4, <2" "jax[cpu]==0.4"'
        assert approved.action.same_as == str(code).removeprefix("%")
        task.decide = lambda _: APPROVED
        assert "already satisfied: pip" in await task.text("install_packages", packages=["pip"])


async def test_a_kernel_of_another_language_runs_and_counts_as_a_shell(workspace: Path) -> None:
    async with notebook_task(workspace) as task:
        await asyncio.to_thread(task.write, "echo hello", kernel="bash")
        assert "hello" in await task.text("run_cells", cells=["1"])
        assert task.approvals[0].action.risks == {"run_code", "shell"}
        assert task.approvals[0].action.command == "echo hello"
        assert "%pip installs for Python only" in await task.failure("install_packages", packages=["x"])
        assert "Only Python kernels" in await task.failure("inspect_variables")


async def test_a_notebook_is_created_with_its_cells(workspace: Path) -> None:
    async with notebook_task(workspace) as task:
        cells = [{"source": "# New", "cell_type": "markdown"}, {"source": "6 * 7"}]
        text = await task.text("create_notebook", path="new.ipynb", cells=cells)
        assert "Created new.ipynb for Python 3" in text and "1 " in text and "# New" in text
        shown = task.approvals[0].shown
        assert shown["tool"] == "createNotebook" and [edit["cellType"] for edit in parsed(shown["cellEdits"])] == [
            "markdown",
            "code",
        ]
        assert parsed(await asyncio.to_thread(task.file, "new.ipynb"))["metadata"]["kernelspec"]["name"] == "python3"
        assert "42" in await task.text("run_cells", path="new.ipynb", cells=["2"])
        assert "something at new.ipynb already" in await task.failure("create_notebook", path="new.ipynb")
        assert "There is no folder" in await task.failure("create_notebook", path="no/where.ipynb")
        assert "no kernel 'nope'" in await task.failure("create_notebook", path="b.ipynb", kernel="nope")


NAMES_A_HIDDEN_FILE = [
    "!cat secret.txt",
    "%time !cat secret.txt",
    "v = %sx cat secret.txt",
    "!cat '{x}' < secret.txt",
    "!echo '\n!cat secret.txt",
    "%%bash\ncat secret.txt",
    "%%time\n%%script perl secret.txt\n1",
    "get_ipython().system('cat secret.txt')",
    "import os\nos.system('cat secret.txt')",
    "subprocess.run(['cat', 'secret.txt'])",
    "%run secret.txt",
    "%load secret.txt",
    "%pycat secret.txt",
    "%cat secret.txt",
    "%%writefile secret.txt\nx",
    "if True: !cat secret.txt",
]


async def test_hidden_files_stay_hidden_from_commands_in_cells(workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("secret.txt\n")
    (workspace / "secret.txt").write_text("hush")
    async with notebook_task(workspace, *NAMES_A_HIDDEN_FILE, "!cat secret.*") as task:
        for number in range(1, len(NAMES_A_HIDDEN_FILE) + 1):
            told = await task.failure("run_cells", cells=[str(number)])
            assert "secret.txt" in told and "hidden from you by .hdspignore" in told
        assert task.approvals == []
        await task.call("run_cells", cells=[str(len(NAMES_A_HIDDEN_FILE) + 1)])
        assert task.approvals[0].action.matches_hidden == "secret.*"


async def test_what_is_asked_says_what_cells_do_beside_python(workspace: Path) -> None:
    cells = ["%time !ls", "import subprocess\nsubprocess.run(['ls'])", "%%writefile .hdspmodes\nx", "1"]
    async with notebook_task(workspace, *cells) as task:
        await task.call("run_cells", cells=["all"])
        [approved] = task.approvals
        assert approved.action.risks == {"run_code", "shell", "write", "write_protected"}
        assert approved.action.command == "ls" and approved.action.exactly and approved.action.same_as == "ls"
        assert approved.action.flags == ("runs_programs",) and approved.action.paths == (".hdspmodes",)
        await task.call("run_code", code="1")
        assert task.approvals[1].action.risks == {"run_code"} and not task.approvals[1].action.exactly


async def test_a_task_that_ends_leaves_nothing_running(workspace: Path) -> None:
    async with notebook_task(workspace, "import time\ntime.sleep(60)") as task:
        await task.call("run_cells", cells=["all"], timeout=0)
        await until(lambda: bool(task.executed()) and task.executed()[0]["state"] == "running")
        await end(task)
        assert task.executed()[0]["state"] == "interrupted"
        assert not task.rows("cell_executed")[0].partial
        assert task.notebooks.executor.runs() == []


async def end(task: NotebookTask) -> None:
    """As the agent ends it."""
    await task.notebooks.executor.release(task.task_id)
    await task.state.close()


async def test_settings_say_how_much_is_told(workspace: Path) -> None:
    settings = GlobalSettings(terminal_output_preview_size="small")
    async with notebook_task(workspace, "print('x' * 9000)", "'the end'", settings=settings) as task:
        text = texts((await task.call("run_cells", cells=["all"])).content)
        assert len(text) < 6_000 and text.endswith("'the end'")


async def test_a_row_becomes_whole_once_and_says_where_a_very_long_output_is(workspace: Path) -> None:
    limits = RunLimits(display_characters=20_000, tail_characters=5_000)
    async with notebook_task(workspace, "for n in range(9000): print('line', n)", limits=limits) as task:
        finals: list[str] = []
        say = task.say

        async def saying(kind: ClineSay, text: str | None = None, **more: Any) -> int:
            if kind == "cell_executed" and not more.get("partial"):
                finals.append(text or "")
            return await say(kind, text, **more)

        task.say = saying  # type: ignore[method-assign, assignment]  # to hear every form of a message
        text = await task.text("run_cells", cells=["all"])
        row = task.executed()[0]
        assert str(row["artifact"]) in text and b"line 4500" in task.artifacts[str(row["artifact"])]
        assert len([one for one in finals if json.loads(one).get("artifact") == row["artifact"]]) == 1
        assert len(finals) <= 2


async def test_a_cell_that_does_not_heed_its_interruption_leaves_no_open_row(workspace: Path) -> None:
    code = (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(60)"
    )
    async with notebook_task(workspace, code) as task:
        await task.call("run_cells", cells=["all"], timeout=0)
        await until(lambda: "deaf" in task.shown_texts)
        await end(task)
        assert task.executed()[0]["state"] == "interrupted"
        assert "had not ended yet" in str(task.executed()[0]["reason"])
        assert [row.partial for row in task.said.values() if row.partial] == []


async def test_a_notebook_deleted_while_the_question_waits_is_told(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 1") as task:

        async def decide(_: object) -> Approval:
            (workspace / "work.ipynb").unlink()
            return APPROVED

        task.decide = decide
        assert "There is no notebook work.ipynb" in await task.failure("run_cells", cells=["all"])
        assert "There is no notebook work.ipynb" in await task.failure(
            "edit_cells", operations=[{"op": "insert", "source": "x"}]
        )
        assert not (workspace / "work.ipynb").exists()


def applied_and_run(_: Approved) -> Approval:
    return Approval(approved=True, by_person=True, run=True)


async def test_cells_may_run_once_as_they_were_when_their_change_was_approved(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2") as task:
        await task.text("read_notebook", view="cells")
        task.decide = applied_and_run
        told = await task.text("edit_cells", operations=[{"op": "replace", "cell": "c1", "source": "a = 10"}])
        assert "allowed you to run the changed cells" in told
        assert task.approvals[-1].shown["canRun"] is True
        task.decide = lambda _: APPROVED
        await task.text("run_cells", cells=["all"])
        assert not task.approvals[-1].action.allowed_before
        await task.text("run_cells", cells=["c1"])
        # The run of all has used it up.
        assert not task.approvals[-1].action.allowed_before


async def test_a_cell_that_was_changed_since_is_asked_about(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1") as task:
        await task.text("read_notebook", view="cells")
        task.decide = applied_and_run
        await task.text("edit_cells", operations=[{"op": "replace", "cell": "c1", "source": "a = 10"}])
        task.decide = lambda _: APPROVED
        await task.text("run_cells", cells=["c1"])
        assert task.approvals[-1].action.allowed_before
        task.decide = applied_and_run
        await task.text("edit_cells", operations=[{"op": "replace", "cell": "c1", "source": "a = 11"}])
        await asyncio.to_thread(task.change, "c1", "a = 12")
        task.decide = lambda _: APPROVED
        await task.text("run_cells", cells=["c1"])
        assert not task.approvals[-1].action.allowed_before


async def test_words_alone_cannot_be_run(workspace: Path) -> None:
    async with notebook_task(workspace, ("markdown", "text")) as task:
        await task.text("read_notebook", view="cells")
        await task.text("edit_cells", operations=[{"op": "replace", "cell": "c1", "source": "words"}])
        assert "canRun" not in task.approvals[-1].shown
