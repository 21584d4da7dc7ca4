"""config.json: never lost, never torn, never overwritten when it cannot be read, and shared by processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hdsp_agent.config import ConfigChange, ContextProxy
from hdsp_agent.errors import StorageUnavailable
from tests._helpers.long_tests import rounds
from tests._helpers.parsed_json import ParsedJson, parsed
from tests.config.conftest import OpenConfig

from .._helpers.timing import until

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions and signals of POSIX")

WRITER = """
import asyncio, json, sys
from pathlib import Path
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore

async def main(home: Path, key: str, count: int) -> None:
    policy = OperatorPolicy(file_lock_timeout_seconds=3600)
    proxy = ContextProxy(home, policy, SecretStore(home, policy, environ={}))
    await proxy.start()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(1, count + 1):
        # Nobody else writes this key: were it not what was written last, another process had put an old file back.
        written = json.loads((home / "config.json").read_text())["globalSettings"].get(key, 0) if number > 1 else 0
        if written != number - 1:
            sys.exit(f"{key} was {number - 1} and became {written}")
        await proxy.update({key: number})
        print(number, flush=True)
    await proxy.stop()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
"""

HOLDER = """
import filelock, sys
lock = filelock.FileLock(sys.argv[1])
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def lock_held_elsewhere(home: Path) -> Iterator[None]:
    """Another process holds the lock of ``config.json``."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home / "config.json.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.communicate()


def start_writer(home: Path, key: str, count: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home), key, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def content(home: Path) -> ParsedJson:
    document: ParsedJson = json.loads((home / "config.json").read_text(encoding="utf-8"))
    return document


def write(home: Path, document: object) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / "config.json").write_text(json.dumps(document), encoding="utf-8")


async def soon(condition: Callable[[], object]) -> None:
    """Wait for what must hold within a second."""
    await until(condition)


def codes(proxy: ContextProxy) -> list[str]:
    return [notice.code for notice in proxy.notices]


# ---- what is written


async def test_settings_survive_a_restart(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"soundVolume": 0.25, "customInstructions": "한국어로 답하세요 ✅"})
    async with open_config() as proxy:
        assert proxy.settings.sound_volume == 0.25
        assert proxy.settings.custom_instructions == "한국어로 답하세요 ✅"
        assert proxy.notices == ()


@needs_posix
async def test_only_the_owner_can_read_whatever_the_umask(home: Path, open_config: OpenConfig) -> None:
    before = os.umask(0)
    try:
        async with open_config() as proxy:
            await proxy.update({"secretStorage": "file"})
            await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": "sk-ant-0123456789"})
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    files = list(home.iterdir())
    assert {"config.json", "secrets.json"} <= {file.name for file in files}
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


@needs_posix
async def test_a_file_made_readable_by_others_is_private_after_the_next_change(
    home: Path, open_config: OpenConfig
) -> None:
    write(home, {"version": 1})
    (home / "config.json").chmod(0o644)
    async with open_config() as proxy:
        await proxy.update({"soundEnabled": True})
    assert stat.S_IMODE((home / "config.json").stat().st_mode) == 0o600


async def test_a_linked_file_stays_a_link(home: Path, tmp_path: Path, open_config: OpenConfig) -> None:
    """People keep such files in a repository of their own and link to them."""
    real = tmp_path / "dotfiles" / "config.json"
    real.parent.mkdir()
    real.write_text('{"version": 1}', encoding="utf-8")
    home.mkdir()
    (home / "config.json").symlink_to(real)
    async with open_config() as proxy:
        await proxy.update({"soundEnabled": True})
    assert (home / "config.json").is_symlink()
    assert json.loads(real.read_text(encoding="utf-8"))["globalSettings"] == {"soundEnabled": True}


async def test_a_change_that_changes_nothing_does_not_touch_the_file(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"soundEnabled": True})
        before = (home / "config.json").stat()
        await proxy.update({"soundEnabled": True})
        assert (home / "config.json").stat().st_ino == before.st_ino


# ---- what others do to it


async def test_a_change_by_an_editor_is_noticed_within_a_second(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        changes: list[ConfigChange] = []
        proxy.subscribe(lambda change: changes.append(change) if change.settings else None)
        document = content(home)
        document["globalSettings"] = {"soundVolume": 0.9}
        write(home, document)
        await soon(lambda: proxy.settings.sound_volume == 0.9)
        assert changes == [ConfigChange(settings=frozenset({"soundVolume"}))]


async def test_a_change_by_another_server_is_noticed_and_nothing_of_it_is_lost(open_config: OpenConfig) -> None:
    async with open_config() as one, open_config() as other:
        await other.update({"soundVolume": 0.1})
        await one.update({"maxWorkspaceFiles": 7})
        assert one.settings.sound_volume == 0.1
        await soon(lambda: other.settings.max_workspace_files == 7)


async def test_unknown_keys_are_kept(home: Path, open_config: OpenConfig) -> None:
    write(
        home,
        {
            "version": 1,
            "somethingNew": {"a": [1, None]},
            "globalSettings": {"settingOfTomorrow": {"deep": True}},
            "providerProfiles": {
                "apiConfigs": {"work": {"id": "w1", "apiProvider": "ollama", "fieldOfTomorrow": 3}},
                "sectionOfTomorrow": "x",
            },
        },
    )
    async with open_config() as proxy:
        await proxy.update({"soundEnabled": True})
        await proxy.profiles.update("work", {"ollamaModelId": "qwen"})
        await proxy.profiles.rename("work", "home")
    document = content(home)
    assert document["somethingNew"] == {"a": [1, None]}
    assert document["globalSettings"] == {"settingOfTomorrow": {"deep": True}, "soundEnabled": True}
    assert document["providerProfiles"]["sectionOfTomorrow"] == "x"
    assert document["providerProfiles"]["apiConfigs"]["home"] == {
        "id": "w1",
        "apiProvider": "ollama",
        "fieldOfTomorrow": 3,
        "ollamaModelId": "qwen",
    }


async def test_a_newer_version_is_read_leniently_and_not_downgraded(home: Path, open_config: OpenConfig) -> None:
    write(home, {"version": 99, "globalSettings": {"soundVolume": 0.3, "enterBehavior": "telepathy"}})
    async with open_config() as proxy:
        assert proxy.settings.sound_volume == 0.3
        assert proxy.settings.enter_behavior == "send"
        await proxy.update({"soundEnabled": True})
    document = content(home)
    assert document["version"] == 99
    assert document["globalSettings"]["enterBehavior"] == "telepathy"


async def test_the_first_flat_form_is_migrated(home: Path, open_config: OpenConfig) -> None:
    write(
        home,
        {
            "api_provider": "anthropic",
            "api_model_id": "claude-x",
            "auto_approval_enabled": True,
            "mode": "ask",
            "experiments": {"x": True},
            "taskHistory": [{"id": "t1"}],
        },
    )
    async with open_config() as proxy:
        assert proxy.settings.auto_approval_enabled is True
        assert proxy.settings.mode == "ask"
        assert proxy.profiles.current.api_provider == "anthropic"
        assert proxy.profiles.current.model_id == "claude-x"
        assert parsed(content(home))["globalSettings"]["taskHistory"] == [{"id": "t1"}]
    assert content(home)["version"] == 1


async def test_a_single_invalid_value_costs_only_itself_and_is_named(home: Path, open_config: OpenConfig) -> None:
    write(home, {"version": 1, "globalSettings": {"soundVolume": "loud", "mode": "ask", "checkpointTimeout": 5}})
    async with open_config() as proxy:
        assert proxy.settings.sound_volume == 0.5
        assert proxy.settings.checkpoint_timeout == 15
        assert proxy.settings.mode == "ask"
        assert {notice.field for notice in proxy.notices} == {"soundVolume", "checkpointTimeout"}
        await proxy.update({"soundVolume": 0.7})
        assert {notice.field for notice in proxy.notices} == {"checkpointTimeout"}
    assert content(home)["globalSettings"] == {"soundVolume": 0.7, "mode": "ask", "checkpointTimeout": 5}


# ---- what cannot be read

CORRUPT = [
    b"",
    b"{",
    b"\xff\xfe\x00",
    b"[]",
    b'{"globalSettings": []}',
    b'{"providerProfiles": {"apiConfigs": "x"}}',
    b"[" * 100_000,
    b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
]


@pytest.mark.parametrize("data", CORRUPT)
async def test_a_corrupt_file_is_set_aside_at_the_start(home: Path, open_config: OpenConfig, data: bytes) -> None:
    home.mkdir()
    (home / "config.json").write_bytes(data)
    async with open_config() as proxy:
        assert proxy.settings.mode == "code"
        assert codes(proxy) == ["config_set_aside"]
        aside = home / str(proxy.notices[0].params["aside"])
        assert aside.read_bytes() == data
        await proxy.update({"soundEnabled": True})
        assert aside.read_bytes() == data
    assert content(home)["globalSettings"] == {"soundEnabled": True}


async def test_files_set_aside_never_replace_each_other(home: Path, open_config: OpenConfig) -> None:
    home.mkdir()
    for number in range(3):
        (home / "config.json").write_text(f"broken {number}", encoding="utf-8")
        async with open_config():
            pass
    kept = {file.read_text(encoding="utf-8") for file in home.glob("config.json.corrupt-*")}
    assert kept == {"broken 0", "broken 1", "broken 2"}


async def test_a_corrupt_edit_while_running_changes_nothing_until_we_write(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"soundVolume": 0.2})
        (home / "config.json").write_text('{"globalSettings": {"soundVolume": 0.3', encoding="utf-8")
        await soon(lambda: codes(proxy) == ["config_corrupt"])
        assert proxy.settings.sound_volume == 0.2
        assert not list(home.glob("*.corrupt-*"))

        await proxy.update({"soundEnabled": True})
        assert codes(proxy) == ["config_set_aside"]
        [aside] = home.glob("config.json.corrupt-*")
        assert aside.read_text(encoding="utf-8") == '{"globalSettings": {"soundVolume": 0.3'
    assert content(home)["globalSettings"] == {"soundVolume": 0.2, "soundEnabled": True}


async def test_mending_a_corrupt_edit_ends_the_notice(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        good = (home / "config.json").read_bytes()
        (home / "config.json").write_bytes(b"{")
        await soon(lambda: codes(proxy) == ["config_corrupt"])
        (home / "config.json").write_bytes(good)
        await soon(lambda: codes(proxy) == [])


async def test_a_file_that_disappears_comes_back_with_its_values(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"soundVolume": 0.2})
        (home / "config.json").unlink()
        await proxy.update({"soundEnabled": True})
    assert content(home)["globalSettings"] == {"soundVolume": 0.2, "soundEnabled": True}


async def test_when_a_corrupt_file_disappears_its_notice_goes_too(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        (home / "config.json").write_bytes(b"{")
        await soon(lambda: codes(proxy) == ["config_corrupt"])
        (home / "config.json").unlink()
        await soon(lambda: codes(proxy) == [])


async def test_a_file_emptied_by_hand_gets_a_profile_again(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        before = proxy.profiles.current
        (home / "config.json").write_text('{"version": 1}', encoding="utf-8")
        await soon(lambda: proxy.profiles.current.id != before.id)
        await proxy.profiles.update("default", {"apiProvider": "ollama"})
    assert content(home)["providerProfiles"]["apiConfigs"]["default"]["apiProvider"] == "ollama"


# ---- what is no ordinary file


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _huge_file(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 * 2**30)


def _folder(path: Path) -> None:
    path.mkdir()


@needs_posix
@pytest.mark.parametrize("make", [_pipe, _device, _huge_file, _folder])
async def test_what_is_no_ordinary_file_is_said_and_neither_waited_for_nor_read(
    home: Path, open_config: OpenConfig, make: Callable[[Path], None]
) -> None:
    home.mkdir()
    make(home / "config.json")
    async with open_config() as proxy:
        assert codes(proxy) == ["storage_unavailable"]
        assert proxy.profiles.current.name == "default"
        with pytest.raises(StorageUnavailable):
            await proxy.update({"soundEnabled": True})
    assert os.path.lexists(home / "config.json")


@needs_posix
async def test_a_file_that_is_replaced_by_a_pipe_and_back_is_followed(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        good = home / "config.json"
        good.rename(home / "kept")
        _pipe(good)
        await soon(lambda: codes(proxy) == ["storage_unavailable"])
        good.unlink()
        (home / "kept").rename(good)
        await soon(lambda: codes(proxy) == [])


# ---- what cannot be written


async def test_a_home_that_cannot_be_made_is_a_notice_and_not_a_failure(
    tmp_path: Path, open_config: OpenConfig
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    async with open_config(folder=tmp_path / "file" / "home") as proxy:
        assert codes(proxy) == ["storage_unavailable"]
        with pytest.raises(StorageUnavailable) as caught:
            await proxy.update({"soundEnabled": True})
        assert str(tmp_path / "file") in caught.value.message
        assert "Nothing was changed" in caught.value.message
        assert proxy.settings.sound_enabled is False


@needs_posix
async def test_a_full_disk_is_said_and_the_old_value_stays(home: Path) -> None:
    """A limit on the size of files makes the system refuse a write half-way, as a full disk does."""
    script = textwrap.dedent("""
        import asyncio, resource, sys
        from pathlib import Path
        from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
        from hdsp_agent.errors import StorageUnavailable

        async def main(home):
            policy = OperatorPolicy()
            proxy = ContextProxy(home, policy, SecretStore(home, policy, environ={}))
            await proxy.start()
            await proxy.update({"soundVolume": 0.2})
            before = (home / "config.json").read_bytes()
            resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
            try:
                await proxy.update({"customInstructions": "x" * 4000})
            except StorageUnavailable as error:
                assert "Could not write" in error.message and "try again" in error.message, error.message
            else:
                sys.exit("the write succeeded")
            assert proxy.settings.custom_instructions is None and proxy.settings.sound_volume == 0.2
            assert (home / "config.json").read_bytes() == before
            assert not list(home.glob(".*.tmp"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            await proxy.update({"customInstructions": "now it fits"})
            await proxy.stop()

        asyncio.run(main(Path(sys.argv[1])))
    """)
    run = subprocess.run(
        [sys.executable, "-c", script, str(home)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert content(home)["globalSettings"]["customInstructions"] == "now it fits"


@needs_posix
async def test_a_read_only_folder_is_read_and_not_written(home: Path, tmp_path: Path) -> None:
    """In a process of its own, which gives up being root if the tests run as root."""
    write(home, {"version": 1, "globalSettings": {"soundVolume": 0.2}})
    script = textwrap.dedent("""
        import asyncio, os, sys
        from pathlib import Path
        from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
        from hdsp_agent.errors import StorageUnavailable

        async def main(home):
            policy = OperatorPolicy()
            # Once elsewhere, so that every module is loaded: another user may not be able to read them.
            elsewhere = Path(sys.argv[2])
            warm = ContextProxy(elsewhere, policy, SecretStore(elsewhere, policy, environ={}))
            await warm.start()
            await warm.update({"soundVolume": 0.1})
            await warm.stop()
            proxy = ContextProxy(home, policy, SecretStore(home, policy, environ={}))
            if os.getuid() == 0:
                os.setuid(65534)
            await proxy.start()
            assert proxy.settings.sound_volume == 0.2, proxy.settings.sound_volume
            assert [notice.code for notice in proxy.notices] == ["storage_unavailable"], proxy.notices
            assert len(proxy.profiles.entries) == 1
            try:
                await proxy.update({"soundVolume": 0.9})
            except StorageUnavailable as error:
                assert "permissions" in error.message, error.message
            else:
                sys.exit("the write succeeded")
            assert proxy.settings.sound_volume == 0.2
            await proxy.stop()

        asyncio.run(main(Path(sys.argv[1])))
    """)
    # Whoever is not root must be able to come this far.
    for folder in (home, *home.parents):
        if folder.owner() == "root" and os.getuid() == 0 and folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    (home / "config.json").chmod(0o644)
    home.chmod(0o555)
    try:
        run = subprocess.run(
            [sys.executable, "-c", script, str(home), str(tmp_path / "warm")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        home.chmod(0o700)
    assert run.returncode == 0, run.stdout + run.stderr


async def test_a_lock_held_by_another_process_is_an_error_and_blocks_nobody(
    home: Path, open_config: OpenConfig
) -> None:
    from hdsp_agent.config import OperatorPolicy

    async with open_config(OperatorPolicy(file_lock_timeout_seconds=0.5)) as proxy:
        with lock_held_elsewhere(home):
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            with pytest.raises(StorageUnavailable, match="another process"):
                await proxy.update({"soundEnabled": True})
            ticking.cancel()
            # Had it been blocked, it would have turned but once.
            assert ticks > 2
        await proxy.update({"soundEnabled": True})


async def test_a_cancelled_change_is_still_finished_and_known(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        change = asyncio.create_task(proxy.update({"soundVolume": 0.8}))
        await asyncio.sleep(0)
        change.cancel()
        with pytest.raises(asyncio.CancelledError):
            await change
        await soon(lambda: proxy.settings.sound_volume == 0.8)
    assert content(home)["globalSettings"] == {"soundVolume": 0.8}


# ---- many processes, and processes that die


@pytest.mark.long
@pytest.mark.slow
def test_processes_writing_at_once_lose_nothing(home: Path) -> None:
    count = 200
    keys = ("maxWorkspaceFiles", "maxGitStatusFiles", "maxOpenTabsContext")
    writers = [start_writer(home, key, count) for key in keys]
    for writer in writers:
        go(writer)
    for writer in writers:
        writer.communicate(timeout=280)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert content(home)["globalSettings"] == dict.fromkeys(keys, count)
    assert not list(home.glob("*.corrupt-*"))


@needs_posix
@pytest.mark.slow
def test_killing_a_writer_never_leaves_a_broken_file(home: Path) -> None:
    for attempt in range(rounds(3, 8)):
        writer = start_writer(home, "maxGitStatusFiles", 400)
        go(writer)
        assert writer.stdout is not None
        for _ in range(5 + attempt):
            acknowledged = int(writer.stdout.readline())
        time.sleep(0.003 * attempt)
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        assert int(content(home)["globalSettings"]["maxGitStatusFiles"]) >= acknowledged
        # The next one begins small again, so that a lost write would show.
        document = content(home)
        document["globalSettings"] = {}
        write(home, document)
    start_writer(home, "maxGitStatusFiles", 1).communicate("go\n", timeout=30)
    assert not list(home.glob(".*.tmp"))
    assert not list(home.glob("*.corrupt-*"))


async def test_stopping_waits_for_no_lock_another_process_holds(home: Path, open_config: OpenConfig) -> None:
    from hdsp_agent.config import OperatorPolicy

    async with open_config(OperatorPolicy(file_lock_timeout_seconds=3600)) as proxy:
        with lock_held_elsewhere(home):
            changes = [asyncio.create_task(proxy.update({"soundVolume": number / 10})) for number in range(3)]
            await asyncio.sleep(0.1)
            await proxy.stop()
            answers = await asyncio.gather(*changes, return_exceptions=True)
            assert {type(answer) for answer in answers} == {StorageUnavailable}
