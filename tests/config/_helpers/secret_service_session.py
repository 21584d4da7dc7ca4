"""What happens in the desktop session of ``test_secret_service.py``: one scenario a process, reported as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

from pydantic import SecretStr

from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore, secret_keys
from hdsp_agent.config._bound_keys import read_bound_key
from hdsp_agent.errors import SecretStorageUnavailable

KEY = "sk-ant-planted-0123456789"
PASSWORD = "a password"
HOME = Path(os.environ["HOME"])

READ = """
import sys, keyring
print(keyring.get_password("hdsp-agent", sys.argv[1]) or "")
"""


@contextmanager
def daemon(*, unlock: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    """The keyring's daemon, with its keyring unlocked as a login does it, or not."""
    options = ["--unlock"] if unlock else []
    process = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--components=secrets", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(PASSWORD.encode() if unlock else b"")
    process.stdin.close()
    try:
        wait_for_service()
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(60)


def wait_for_service() -> None:
    """Wait until the daemon has its name on the bus: asking earlier would start a second one."""
    import secretstorage
    from jeepney import DBusAddress, new_method_call

    bus = DBusAddress("/org/freedesktop/DBus", bus_name="org.freedesktop.DBus", interface="org.freedesktop.DBus")
    connection = secretstorage.dbus_init()
    try:
        for _ in range(6000):
            question = new_method_call(bus, "NameHasOwner", "s", ("org.freedesktop.secrets",))
            if connection.send_and_get_reply(question).body[0]:
                return
            time.sleep(0.01)
    finally:
        connection.close()
    sys.exit("gnome-keyring-daemon did not come up")


@asynccontextmanager
async def config(patience: float = 60) -> AsyncIterator[ContextProxy]:
    """The configuration as a server has it; a busy machine's daemon gets more time."""
    policy = OperatorPolicy(keyring_timeout_seconds=patience)
    proxy = ContextProxy(HOME / "hdsp", policy, SecretStore(HOME / "hdsp", policy, environ={}))
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()


async def known(proxy: ContextProxy) -> None:
    """Wait until the state of the keyring is known."""
    found = asyncio.Event()
    end = proxy.subscribe(lambda change: found.set() if proxy.secrets.status.storage.code != "checking" else None)
    if proxy.secrets.status.storage.code == "checking":
        await found.wait()
    end()


def in_keyring(account: str) -> str:
    """What another process finds in the keyring."""
    run = subprocess.run([sys.executable, "-c", READ, account], capture_output=True, text=True, check=True, timeout=60)
    return read_bound_key(run.stdout.strip()).value


async def unlocked() -> dict[str, object]:
    with daemon():
        async with config() as proxy:
            await known(proxy)
            storage = proxy.secrets.status.storage
            entry = await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})
            [presence] = proxy.secrets.status.secrets
            other = in_keyring(f"{entry.id}/apiKey") == KEY
            exported = json.dumps(await proxy.export_settings())
            assert KEY not in exported + proxy.secrets.status.to_json()
            work = await proxy.profiles.create("work", {"apiProvider": "mistral", "mistralApiKey": KEY})
            assert in_keyring(f"{work.id}/mistralApiKey") == KEY
            await proxy.profiles.delete("work")
        async with config() as proxy:
            assert await proxy.secrets.get(entry.id, "apiKey") == SecretStr(KEY)
            await proxy.delete_secret("default", "apiKey")
            await proxy.delete_secret("default", "apiKey")
            after = await proxy.secrets.get(entry.id, "apiKey")
        return {
            "first": {"kind": storage.kind, "available": storage.available, "code": storage.code},
            "source": [presence.source, presence.last4],
            "read back by another process": other,
            "after delete": after,
            "after deleting the profile": in_keyring(f"{work.id}/mistralApiKey") or None,
        }


async def moved() -> dict[str, object]:
    with daemon():
        async with config() as proxy:
            await proxy.update({"secretStorage": "file"})
            entry = await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})
            await proxy.update({"secretStorage": "keyring"})
            there = in_keyring(f"{entry.id}/apiKey") == KEY
            gone = not (HOME / "hdsp" / "secrets.json").exists()
            await proxy.update({"secretStorage": "file"})
            back = await proxy.secrets.get(entry.id, "apiKey") == SecretStr(KEY)
            back = back and in_keyring(f"{entry.id}/apiKey") == ""
            await proxy.reset()
        return {"in the keyring": there, "file gone": gone, "back in the file": back}


async def reset() -> dict[str, object]:
    with daemon():
        async with config() as proxy:
            keys = dict.fromkeys(sorted(secret_keys()), KEY)
            await proxy.profiles.update(
                "default", {"apiProvider": "bedrock", "openAiBaseUrl": "http://127.0.0.1:1", **keys}
            )
            entry = proxy.profiles.current
            assert in_keyring(f"{entry.id}/awsApiKey") == KEY
            await proxy.reset()
        return {"left": [key for key in ("awsApiKey", "apiKey", "xaiApiKey") if in_keyring(f"{entry.id}/{key}")]}


async def locked() -> dict[str, object]:
    error = ""
    with ExitStack() as locked_daemon:
        locked_daemon.enter_context(daemon(unlock=False))
        async with config() as proxy:
            await known(proxy)
            code = proxy.secrets.status.storage.code
            try:
                await proxy.set_secret("default", "apiKey", SecretStr(KEY))
            except SecretStorageUnavailable as caught:
                error = caught.message
            # There is no window here to type the password into: unlock as the next login would.
            locked_daemon.close()
            with daemon():
                again = await proxy.secrets.retry()
    return {"code": code, "error": error, "after unlocking": again.storage.code}


async def never_set_up() -> dict[str, object]:
    with daemon(unlock=False):
        async with config() as proxy:
            await known(proxy)
            return {"code": proxy.secrets.status.storage.code}


async def frozen() -> dict[str, object]:
    turns = 0

    async def go_on() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    with daemon() as process:
        async with config(patience=5) as proxy:
            entry = await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})
            process.send_signal(signal.SIGSTOP)
            others = asyncio.create_task(go_on())
            with suppress(SecretStorageUnavailable):
                await proxy.secrets.get(entry.id, "apiKey")
            others.cancel()
            code = proxy.secrets.status.storage.code
            process.send_signal(signal.SIGCONT)
            again = await proxy.secrets.retry()
            there = await proxy.secrets.get(entry.id, "apiKey") == SecretStr(KEY)
        return {
            "code": code,
            "others went on": turns > 10,
            "after it woke up": again.storage.code,
            "key still there": there,
        }


async def no_bus() -> dict[str, object]:
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={HOME}/run/nobody"
    async with config() as proxy:
        await known(proxy)
        return {"code": proxy.secrets.status.storage.code}


async def silent_bus() -> dict[str, object]:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(HOME / "run" / "silent"))
        silent.listen()
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={HOME}/run/silent"
        async with config(patience=1.8) as proxy:
            await known(proxy)
            return {"code": proxy.secrets.status.storage.code}


SCENARIOS = {
    "unlocked": unlocked,
    "moved": moved,
    "reset": reset,
    "locked": locked,
    "never-set-up": never_set_up,
    "frozen": frozen,
    "no-bus": no_bus,
    "silent-bus": silent_bus,
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(SCENARIOS[sys.argv[1]]())))
