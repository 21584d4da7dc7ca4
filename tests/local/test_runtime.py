"""The process of the embedded model: started on demand, one request after the other, ended with whoever began it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.errors import HdspAgentError, Unavailable
from hdsp_agent.local import (
    CpuTooOld,
    LocalRuntime,
    ModelFile,
    ModelInUse,
    RuntimeFailed,
    RuntimeMissing,
    TooLittleMemory,
)
from hdsp_agent.local import _machine as machine_module
from hdsp_agent.local import _model_process as child_module
from hdsp_agent.local import _runtime as runtime_module
from hdsp_agent.messages import error_body

# Stands in for the runtime where only the process matters: it is ready at once and answers nobody.
READY = """
import json, sys
wanted = json.loads(sys.stdin.readline())
print(json.dumps({"url": "http://127.0.0.1:9"}), flush=True)
sys.stdin.read()
"""

Begun = Callable[[str], None]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begun:
    """Has another program run in the runtime's place."""

    def put(text: str) -> None:
        path = tmp_path / "stand_in.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(child_module, "SCRIPT", path)

    monkeypatch.setattr(runtime_module, "is_installed", lambda: True)
    return put


def file_of(path: Path = Path("x.gguf"), **more: object) -> ModelFile:
    values: dict[str, object] = {
        "id": "small",
        "name": "Small",
        "path": path,
        "context": 512,
        "output": 64,
        "memory": 0,
    }
    return ModelFile(**{**values, **more})  # type: ignore[arg-type]  # the test's own values


async def a_file() -> ModelFile:
    return file_of()


async def another_file() -> ModelFile:
    return file_of(id="other")


async def held(made: LocalRuntime, begun: asyncio.Event) -> None:
    """What may be left undone, and takes for ever."""
    async with made.spare_turn(a_file):
        begun.set()
        await asyncio.Event().wait()


@asynccontextmanager
async def runtime() -> AsyncIterator[LocalRuntime]:
    made = LocalRuntime()
    try:
        yield made
    finally:
        await made.stop()


async def process_of(made: LocalRuntime) -> int:
    process = made.process_id
    assert process is not None
    return process


async def gone(process: int, seconds: float = 60) -> bool:
    """Whether the process ends within the time."""
    for _ in range(int(seconds * 20)):
        try:
            if Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z":
                return True
            os.kill(process, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_one_process_serves_many_requests_and_ends_with_the_server(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        assert (await made.status()).state == "stopped"
        async with made.turn(file_of()) as first:
            assert (await made.status()).state == "busy"
        process = await process_of(made)
        async with made.turn(file_of()) as second:
            pass
        assert first == second and len(first.key) > 30
        assert await process_of(made) == process
        assert (await made.status()).memory
    assert await gone(process)
    with pytest.raises(Unavailable, match="stopping"):
        async with made.turn(file_of()):
            pass


async def test_nobody_gets_the_key_from_the_process_list(script: Begun) -> None:
    script(READY)
    async with runtime() as made, made.turn(file_of()) as endpoint:
        process = await process_of(made)
        for name in ("cmdline", "environ"):
            assert endpoint.key.encode() not in Path(f"/proc/{process}/{name}").read_bytes()


async def test_keys_of_providers_are_not_handed_on(script: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-treasure")
    script(READY)
    async with runtime() as made, made.turn(file_of()):
        assert b"treasure" not in Path(f"/proc/{await process_of(made)}/environ").read_bytes()


async def test_tasks_get_their_turns_in_the_order_they_came(script: Begun) -> None:
    script(READY)
    order: list[str] = []

    async def task(made: LocalRuntime, name: str) -> None:
        for number in range(3):
            async with made.turn(file_of()):
                order.append(f"{name}{number}")
                await asyncio.sleep(0.01)

    async with runtime() as made:
        await asyncio.gather(*(task(made, name) for name in "abc"))
    assert order == [f"{name}{number}" for number in range(3) for name in "abc"]


async def test_a_conversation_takes_the_model_from_what_may_be_left_undone(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        begun = asyncio.Event()
        left = asyncio.create_task(held(made, begun))
        await begun.wait()
        async with made.turn(file_of()):
            with pytest.raises(ModelInUse):
                await left
            with pytest.raises(ModelInUse):
                async with made.spare_turn(a_file):
                    pass
        async with made.spare_turn(a_file):
            assert (await made.status()).state == "busy"
        assert (await made.status()).state == "ready"


async def test_the_newest_of_what_may_be_left_undone_is_done(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        begun = asyncio.Event()
        older = asyncio.create_task(held(made, begun))
        await begun.wait()
        async with made.spare_turn(a_file):
            with pytest.raises(ModelInUse):
                await older


async def test_a_model_that_is_waited_for_no_more_comes_all_the_same(script: Begun, tmp_path: Path) -> None:
    started = tmp_path / "started"
    script(READY.replace("print(", f"open({str(started)!r}, 'a').write('x'); import time; time.sleep(0.5); print("))
    async with runtime() as made:

        async def spare() -> None:
            async with made.spare_turn(a_file):
                pass

        for _ in range(3):
            # A key each, before it is there.
            asking = asyncio.create_task(spare())
            await asyncio.sleep(0.05)
            asking.cancel()
            await asyncio.wait([asking])
        await spare()
        assert started.read_text() == "x"


async def test_a_conversation_does_not_wait_behind_what_waits_itself(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        begun, done = asyncio.Event(), []

        async def spare(name: str) -> None:
            async with made.spare_turn(a_file):
                begun.set()
                done.append(name)
                await asyncio.Event().wait()

        first = asyncio.create_task(spare("first"))
        await begun.wait()
        second = asyncio.create_task(spare("second"))
        await asyncio.sleep(0)
        async with made.turn(file_of()):
            done.append("conversation")
        for one in (first, second):
            with pytest.raises(ModelInUse):
                await one
        assert done == ["first", "conversation"]


async def test_what_may_be_left_undone_starts_no_other_model(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        async with made.turn(file_of()):
            process = await process_of(made)
        async with made.spare_turn(another_file):
            assert await process_of(made) == process
            assert made.runs("small")


async def test_who_stops_waiting_leaves_the_queue(script: Begun) -> None:
    script(READY)
    async with runtime() as made:

        async def wait() -> None:
            async with made.turn(file_of()):
                raise AssertionError

        async with made.turn(file_of()):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0.05)
            assert (await made.status()).waiting == 1
            waiting.cancel()
            await asyncio.wait([waiting])
            assert (await made.status()).waiting == 0
        async with made.turn(file_of()):
            pass


async def test_an_idle_model_gives_its_memory_back_and_comes_again(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        async with made.turn(file_of(idle_seconds=0.2)):
            pass
        process = await process_of(made)
        assert await gone(process)
        status = await made.status()
        assert (status.state, made.process_id, status.memory, status.failure) == ("stopped", None, None, None)
        async with made.turn(file_of(idle_seconds=0.2)):
            await asyncio.sleep(0.4)
            # Whoever works is not idle.
            assert (await made.status()).state == "busy"
        assert await made.release()
        assert (await made.status()).state == "stopped"


async def test_another_model_takes_the_place_of_the_first(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        async with made.turn(file_of()):
            first = await process_of(made)
        async with made.turn(file_of(id="other")):
            assert made.runs("other") and not made.runs("small")
            assert await gone(first)


async def test_a_process_that_dies_is_told_of_and_begun_again(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        async with made.turn(file_of()):
            process = await process_of(made)

        async def ask() -> None:
            async with made.turn(file_of()):
                os.kill(process, signal.SIGSEGV)
                raise ConnectionResetError

        with pytest.raises(RuntimeFailed) as told:
            await ask()
        assert isinstance(told.value.__cause__, ConnectionResetError)
        status = await made.status()
        assert status.state == "stopped" and status.failure is not None
        assert "-11" in status.failure.message
        async with made.turn(file_of()):
            assert await process_of(made) != process
            again = await made.status()
            assert again.failure is None and again.restarted_after == status.failure


async def test_what_goes_wrong_while_the_process_lives_stays_what_it_is(script: Begun) -> None:
    script(READY)
    async with runtime() as made:
        with pytest.raises(ConnectionResetError):
            async with made.turn(file_of()):
                raise ConnectionResetError


DIES = "import os, signal, sys\nsys.stdin.readline()\n"


@pytest.mark.parametrize(
    ("program", "error", "words"),
    [
        (DIES + "os.kill(os.getpid(), signal.SIGILL)", CpuTooOld, "AVX"),
        (DIES + "os.kill(os.getpid(), signal.SIGKILL)", TooLittleMemory, "memory ran out"),
        (
            DIES + "sys.exit('0.01 E ggml: failed to allocate CPU buffer of size 46082949120')",
            TooLittleMemory,
            "smaller",
        ),
        (DIES + """print('{"failed": "missing", "reason": "x"}')""", RuntimeMissing, "hdsp-agent[local]"),
        (DIES + """print('{"failed": "import", "reason": "GLIBC_2.99"}')""", RuntimeFailed, "GLIBC_2.99"),
        (
            DIES
            + """sys.stderr.write('0.1 E load: model is corrupted.\\n0.2 E srv: exiting\\n')
print('{"failed": "load", "reason": "x"}')""",
            RuntimeFailed,
            "model is corrupted",
        ),
        ("import sys; sys.exit(3)", RuntimeFailed, "ended with 3"),
        (DIES + "print('hello')", RuntimeFailed, "cannot run"),
    ],
    ids=["no AVX", "killed", "no memory", "no extra", "no library", "bad file", "ends at once", "nonsense"],
)
async def test_why_it_does_not_start_is_said(
    script: Begun, program: str, error: type[HdspAgentError], words: str
) -> None:
    script(program)
    async with runtime() as made:
        with pytest.raises(error) as told:
            async with made.turn(file_of()):
                raise AssertionError
        assert words in told.value.message
        status = await made.status()
        assert status.state == "stopped" and status.failure == error_body(told.value)
        # It is not given up: what was wrong may have been put right.
        script(READY)
        async with made.turn(file_of()):
            pass


async def test_a_model_that_does_not_fit_is_not_begun(script: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    script(READY)
    monkeypatch.setattr(runtime_module, "available_memory", lambda: 200_000_000)
    async with runtime() as made:
        with pytest.raises(TooLittleMemory, match=r"about 850 MB, and 200 MB are free"):
            async with made.turn(file_of(memory=850_000_000)):
                raise AssertionError


async def test_without_the_extra_everything_else_works_and_this_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime_module, "is_installed", lambda: False)
    async with runtime() as made:
        with pytest.raises(RuntimeMissing, match="pip install"):
            async with made.turn(file_of()):
                raise AssertionError


async def test_a_start_that_is_cancelled_leaves_no_process(script: Begun, tmp_path: Path) -> None:
    script(f"import os, sys, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
    async with runtime() as made:

        async def ask() -> None:
            async with made.turn(file_of()):
                raise AssertionError

        asking = asyncio.create_task(ask())
        for _ in range(200):
            await asyncio.sleep(0.05)
            if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
                break
        assert (await made.status()).state == "starting"
        asking.cancel()
        await asyncio.wait([asking])
        assert await gone(int((tmp_path / "pid").read_text()))


KILLED = """
import asyncio, sys
from pathlib import Path
from hdsp_agent.local import LocalRuntime, ModelFile, _model_process, _runtime
_model_process.SCRIPT = Path(sys.argv[1])
_runtime.is_installed = lambda: True
async def main():
    runtime = LocalRuntime()
    async with runtime.turn(ModelFile("small", "Small", Path("x"), 512, 64, 0)):
        print(runtime.process_id, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_a_server_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    compaction_placeholder = tmp_path / "stand_in.py"
    compaction_placeholder.write_text(READY, encoding="utf-8")
    server = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(compaction_placeholder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        process = int(await asyncio.to_thread(server.stdout.readline))
        server.kill()
        assert await gone(process)
    finally:
        server.kill()
        server.communicate()


@pytest.mark.long
def test_nothing_but_its_own_process_loads_the_runtime() -> None:
    program = "import sys, hdsp_agent._graph, hdsp_agent.cli.commands.model; print('xllamacpp' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


@pytest.mark.parametrize(("usable", "load", "threads"), [(2, 0.2, 2), (2, 5.0, 1), (16, 0, 8), (8, 3.4, 5), (1, 0, 1)])
def test_threads_are_no_more_than_cores_with_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch, usable: int, load: float, threads: int
) -> None:
    monkeypatch.setattr(machine_module, "_usable_cores", lambda: usable)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0, 0))
    assert machine_module.threads_to_use() == threads
