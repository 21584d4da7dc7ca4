"""What the bridge learns of people's own runs, and that it takes no part in them."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from hdsp_agent.messages import CellId, TaskId
from hdsp_agent.notebooks import PersonRun, freshness_of
from hdsp_agent.notebooks.kernels import CellRunSpec
from hdsp_agent.notebooks.kernels.iopub import IopubListener, IopubListeners, Published
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.long_tests import rounds
from tests._helpers.timing import until as soon
from tests.comm._helpers.jupyterlab_kernels import lab, write_notebook
from tests.comm.conftest import Connect, messages

pytestmark = pytest.mark.filterwarnings(
    # The Bash kernel's own description has a key that traitlets warns about.
    "ignore:Passing unrecognized arguments:DeprecationWarning"
)

NOTEBOOK = "work.ipynb"
FLOOD = rounds(10_000, 50_000)


async def until(holds: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this did not come about"
        await asyncio.sleep(0.02)


def waits_for(file: Path) -> str:
    """Code that runs until this file exists."""
    return f"import pathlib, time\nwhile not pathlib.Path({str(file)!r}).exists(): time.sleep(0.02)"


def runs(services: Services, path: str = NOTEBOOK) -> Sequence[PersonRun]:
    return services.notebooks.notebooks.person_runs(path)


def placed(services: Services, path: str = NOTEBOOK) -> list[tuple[str | None, bool]]:
    """Which cells ran, and whether well."""
    return [(run.cell_id, run.ok) for run in runs(services, path)]


async def freshness(services: Services) -> dict[str, str]:
    notebooks = services.notebooks.notebooks
    snapshot = await notebooks.access.document(NOTEBOOK).snapshot()
    memory = notebooks.memory(NOTEBOOK, await notebooks.kernel(NOTEBOOK))
    return {cell: fresh.state for cell, fresh in freshness_of(snapshot.cells, memory).items()}


async def test_what_the_person_ran_and_what_failed_is_known_by_its_cells(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    cells = ["prices = {}", "def look(name):\n    return prices[name]", "look('tea')"]
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, cells) as work:
        before = int(time.time() * 1000)
        await work.run(*cells)
        await until(lambda: placed(services) == [("c0", True), ("c1", True), ("c2", False)])
        failed = runs(services)[-1]
        assert (failed.execution_count, failed.error, failed.source) == (3, "KeyError: 'tea'", "look('tea')")
        assert before <= failed.ended_at <= time.time() * 1000
        assert failed.traceback is not None and "return prices[name]" in failed.traceback
        assert "\x1b" not in failed.traceback
        assert await freshness(services) == {"c0": "fresh", "c1": "fresh", "c2": "failed"}
        await work.run("prices['tea'] = 3", "look('tea')", "prices = {}")
        await until(lambda: placed(services)[3:] == [(None, True), ("c2", True), ("c0", True)])
        assert await freshness(services) == {"c0": "fresh", "c1": "stale", "c2": "stale"}


async def test_of_equal_cells_the_one_with_the_runs_count_is_meant(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    file = jp_root_dir / NOTEBOOK
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1", "x = 1", "1"]) as work:
        notebook = nbformat.read(file, as_version=4)
        notebook.cells[2].execution_count = 1
        nbformat.write(notebook, file)
        await work.run("1")
        await until(lambda: placed(services) == [("c2", True)])


async def test_a_run_under_way_is_told_when_it_ends_though_its_cell_was_changed_meanwhile(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    slow = waits_for(tmp_path / "go")
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, [slow, "1"]) as work:
        await work.run("1")
        await until(lambda: placed(services) == [("c1", True)])
        request = work.send(slow)
        under_way = services.notebooks.bridge._watches[work.kernel_id].person_log._open
        await until(lambda: [run.cell_id for run in under_way.values()] == ["c0"])
        assert placed(services) == [("c1", True)]
        write_notebook(jp_root_dir / NOTEBOOK, "another = 1", "1")
        (tmp_path / "go").touch()
        await work.replied(request)
        await until(lambda: placed(services) == [("c1", True), ("c0", True)])
        assert (await freshness(services))["c0"] == "stale"


async def test_what_the_agent_runs_is_not_taken_for_the_persons(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    notebooks = services.notebooks.notebooks
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["x = 1", "x", "1 / 0"]) as work:
        run = await notebooks.run(
            NOTEBOOK, [CellRunSpec(CellId("c0"), "x = 1"), CellRunSpec(CellId("c2"), "1 / 0")], task_id=TaskId("t")
        )
        assert await run.wait(60)
        await notebooks.executor.inspect(NOTEBOOK)
        await work.run("x")
        await until(lambda: placed(services) == [("c1", True)])
        await notebooks.executor.release(TaskId("t"))


async def test_outputs_of_a_cell_the_person_ran_again_stay_when_the_agents_old_ones_change(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    file = jp_root_dir / NOTEBOOK
    shows = "d = display('one', display_id=True)\nbefore = globals().get('before', d)"
    notebooks = services.notebooks.notebooks
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, [shows, "before.update('two')"]) as work:
        first = await notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c0"), shows)], task_id=TaskId("t"))
        assert await first.wait(60)
        await notebooks.live_outputs.settled(first)
        await work.run(shows)
        await until(lambda: placed(services) == [("c0", True)])
        notebook = nbformat.read(file, as_version=4)
        notebook.cells[0].outputs = [nbformat.v4.new_output("stream", text="the person's")]
        nbformat.write(notebook, file)
        second = await notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c1"), "before.update('two')")], task_id=TaskId("t"))
        assert await second.wait(60)
        await notebooks.live_outputs.settled(second)
        await asyncio.sleep(0.5)
        assert "two" in str(first.cells[0].outputs.outputs)
        assert [output.get("text") for output in nbformat.read(file, as_version=4).cells[0].outputs] == ["the person's"]
        await notebooks.executor.release(TaskId("t"))


async def test_silent_requests_and_what_extensions_run_behind_every_cell_push_nothing_out(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1 / 0"]) as work:
        await work.run("1 / 0")
        await work.run("2", silent=True)
        for number in range(30):
            await work.run(f"look_at_variables = {number}", store_history=False)
        await until(lambda: placed(services) and placed(services)[0] == ("c0", False))
        # That the last one ended may be heard after its reply.
        await until(lambda: len(runs(services)) <= 6 and runs(services)[-1].source == "look_at_variables = 29")
        assert [run.source for run in runs(services)][1:] == [f"look_at_variables = {n}" for n in range(25, 30)]


async def test_nothing_is_sent_to_the_kernel_and_the_person_sees_only_their_own(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["print('hello')"]) as work:
        await until(lambda: services.notebooks.notebooks.executor.life(work.kernel_id))
        await asyncio.sleep(0.5)
        await work.heard()
        request = work.send("print('hello')")
        await work.replied(request)
        await until(lambda: placed(services) == [("c0", True)])
        heard: list[dict[str, object]] = []
        while [each["msg_type"] for each in heard].count("status") < 2:
            # A kernel welcomes whoever comes to listen, and lets everybody hear it.
            heard += [each for each in await work.heard() if each["msg_type"] != "iopub_welcome"]
            await asyncio.sleep(0.02)
        assert [each["msg_type"] for each in heard] == ["status", "execute_input", "stream", "status"]
        assert {message["parent_header"]["msg_id"] for message in heard} == {request}  # type: ignore[index]


def status_of(panel: object, path: str = NOTEBOOK) -> list[str]:
    told = messages(panel, "kernelStatus")  # type: ignore[arg-type]
    return [str(message["status"]) for message in told if message["path"] == path]


async def test_all_tabs_hear_what_a_kernel_does_from_its_start_to_its_end(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, connect: Connect, tmp_path: Path
) -> None:
    async with connect() as panel, connect() as other:
        async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1"]) as work:
            await panel.until(lambda: status_of(panel)[-1:] == ["idle"])
            request = work.send(waits_for(tmp_path / "go"))
            await panel.until(lambda: status_of(panel)[-1:] == ["busy"])
            (tmp_path / "go").touch()
            await work.replied(request)
            await panel.until(lambda: status_of(panel)[-1:] == ["idle"])
            await work.restart()
            await panel.until(lambda: "restarting" in status_of(panel))
            await work.connect()
            await work.run("1")
            await panel.until(lambda: status_of(panel)[-1:] == ["idle"])
            await work.leave()
            await work.shut_down()
            await panel.until(lambda: status_of(panel)[-1:] == ["dead"])
        await other.until(lambda: status_of(other)[-1:] == ["dead"])
        async with lab(jp_serverapp, jp_fetch, "more.ipynb", ["1"]) as more:
            await more.run("1")
            await panel.until(lambda: status_of(panel, "more.ipynb")[-1:] == ["idle"])
            async with connect() as late:
                await late.until(lambda: status_of(late, "more.ipynb")[-1:] == ["idle"])
        (kernel,) = {told["kernelId"] for told in messages(other, "kernelStatus") if told["path"] == NOTEBOOK}
        assert kernel == work.kernel_id


async def test_a_kernel_that_was_idle_before_anybody_listened_is_not_said_to_start_for_ever(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, connect: Connect
) -> None:
    async with connect() as panel, lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1"]) as work:
        # By then Jupyter itself knows that it is idle: what a kernel publishes as it starts, Jupyter may miss, too.
        await work.run("1")
        await panel.until(lambda: status_of(panel)[-1:] == ["idle"])
        (watch,) = services.notebooks.bridge._watches.values()
        # From here on it hears nothing of the kernel itself.
        assert watch._listener is not None
        await watch._listener.close()
        watch._publisher.now("starting")
        await until(lambda: watch._publisher.status == "idle")


async def test_many_short_cells_tell_the_tabs_at_most_twice_a_second(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, connect: Connect
) -> None:
    async with connect() as panel, lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1"]) as work:
        # What a kernel publishes as it starts may be missed.
        await work.run("1")
        await panel.until(lambda: status_of(panel)[-1:] == ["idle"])
        before, begun = len(status_of(panel)), time.monotonic()
        for _ in range(rounds(100, 200)):
            await work.run("1")
        await asyncio.sleep(0.7)
        await panel.until(lambda: status_of(panel)[-1] == "idle")
        seconds = time.monotonic() - begun
        assert len(status_of(panel)) - before <= 2 * seconds + 1


async def test_after_a_restart_only_what_failed_is_still_told(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["x = 1", "1 / 0"]) as work:
        await work.run("x = 1", "1 / 0")
        await until(lambda: placed(services) == [("c0", True), ("c1", False)])
        await work.restart()
        await work.connect()
        await until(lambda: placed(services) == [("c1", False)])
        await work.run("x = 1")
        await until(lambda: placed(services) == [("c1", False), ("c0", True)])
        assert (await freshness(services))["c0"] == "fresh"


async def test_the_cell_in_which_a_kernel_died_is_known_and_the_next_life_is_heard(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, connect: Connect, tmp_path: Path
) -> None:
    # What a kernel publishes right before its death may be lost.
    deadly = f"{waits_for(tmp_path / 'go')}\nimport os\nos._exit(1)"
    async with connect() as panel, lab(jp_serverapp, jp_fetch, NOTEBOOK, [deadly, "x = 1"]) as work:
        work.send(deadly)
        under_way = services.notebooks.bridge._watches[work.kernel_id].person_log._open
        # Of a run whose kernel is gone no cell is looked for any more.
        await until(lambda: [run.cell_id for run in under_way.values()] == ["c0"])
        (tmp_path / "go").touch()
        await panel.until(lambda: "autorestarting" in status_of(panel))
        await until(lambda: placed(services) == [("c0", False)])
        assert runs(services)[0].error == "The kernel died while this ran."
        await work.connect()
        await work.run("x = 1")
        await until(lambda: placed(services) == [("c0", False), ("c1", True)])


async def test_a_kernel_that_is_listened_to_is_culled_like_any_other(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    kernels = jp_serverapp.kernel_manager
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1"]) as work:
        await work.run("1")
        await until(lambda: placed(services) == [("c0", True)])
        await work.leave()
        kernels.cull_idle_timeout = 1

        async def is_culled() -> bool:
            await kernels.cull_kernel_if_idle(work.kernel_id)
            return work.kernel_id not in kernels

        await soon(is_culled)
        await until(lambda: runs(services) == [])


async def test_a_kernel_in_another_language_is_watched_too(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    assert jp_serverapp.kernel_spec_manager is not None
    jp_serverapp.kernel_spec_manager.kernel_dirs.append(str(Path(sys.prefix, "share", "jupyter", "kernels")))
    cells = ["echo hello", "cd /there/is/nothing"]
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, cells, kernel="bash") as work:
        await work.run(*cells)
        await until(lambda: placed(services) == [("c0", True), ("c1", False)])


async def test_a_notebook_that_is_renamed_keeps_what_ran_in_it(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["x = 1"]) as work:
        await work.run("x = 1")
        await until(lambda: placed(services) == [("c0", True)])
        (jp_root_dir / NOTEBOOK).rename(jp_root_dir / "new.ipynb")
        services.notebooks.notebooks.access.moved(NOTEBOOK, "new.ipynb")
        assert placed(services, "new.ipynb") == [("c0", True)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted where Linux lists them")
async def test_listeners_that_are_closed_leave_no_file_descriptors(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    iopub_listeners = IopubListeners(jp_serverapp.kernel_manager)
    async with lab(jp_serverapp, jp_fetch, NOTEBOOK, ["1"]) as work:

        def opened_files() -> int:
            """Sockets and what belongs to them: databases are opened when they are needed."""
            opened = 0
            for name in os.listdir("/proc/self/fd"):
                with suppress(FileNotFoundError):  # closed since it was listed
                    opened += os.readlink(f"/proc/self/fd/{name}").startswith(("socket:", "anon_inode:"))
            return opened

        async def listen(times: int) -> None:
            for _ in range(times):
                listener = await iopub_listeners.listen(work.kernel_id, lambda message: None)
                await asyncio.sleep(0.02)
                await listener.close()

        before = opened_files()
        await listen(2)
        await asyncio.sleep(0.3)
        once = opened_files()
        await listen(20)
        await until(lambda: opened_files() <= once)
        await iopub_listeners.close()
        await until(lambda: opened_files() <= before)


# What a print sends, without the time a print takes.
_FLOOD = f"""
from ipykernel.kernelapp import IPKernelApp
kernel = IPKernelApp.instance().kernel
content = {{{{"name": "stdout", "text": "x"}}}}
for number in range({FLOOD}):
    kernel.session.send(kernel.iopub_socket, "stream", content, parent=kernel.get_parent(), ident={{topic}})
"""


@pytest.mark.in_short(1)
@pytest.mark.parametrize(
    ("topic", "most_taken", "most_cpu_seconds"),
    [
        pytest.param("b'stream.stdout'", 100, 0.5, id="printed by ipykernel"),
        # As kernels in other languages do it.
        pytest.param("None", FLOOD + 100, 6.0, id="without a topic"),
    ],
)
async def test_a_flood_of_prints_costs_next_to_nothing(topic: str, most_taken: int, most_cpu_seconds: float) -> None:
    manager = AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel()
    kinds: list[str] = []

    def hear(message: Published) -> None:
        kinds.append(message.kind)

    context = zmq.asyncio.Context()
    listener = IopubListener(manager, context, hear, address="here")
    client = manager.client()
    client.start_channels(iopub=False, stdin=False, hb=False)
    try:
        # What is published before the listener is connected is not heard.
        while "status" not in kinds:
            client.kernel_info()
            await client.get_shell_msg(timeout=60)
            await asyncio.sleep(0.1)
        client.execute("1")
        await client.get_shell_msg(timeout=60)
        await until(lambda: "execute_input" in kinds)
        cpu = time.process_time()
        await asyncio.sleep(1)
        assert time.process_time() - cpu < 0.05, "waiting costs nothing"
        taken, cpu = listener.taken, time.process_time()
        client.execute(_FLOOD.format(topic=topic))
        await client.get_shell_msg(timeout=120)
        client.execute("1 / 0")
        await client.get_shell_msg(timeout=60)
        await until(lambda: "error" in kinds)
        spent = time.process_time() - cpu
        print(f"{listener.taken - taken} messages taken in, {spent:.2f} s of CPU")
        assert listener.taken - taken <= most_taken
        assert spent <= most_cpu_seconds
    finally:
        client.stop_channels()
        await listener.close()
        context.destroy(0)
        await manager.shutdown_kernel(now=True)
        await asyncio.to_thread(manager.context.destroy, 0)
