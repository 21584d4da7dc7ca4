"""Keys: from where they come, where they are kept, who may see what of them, and what a place that fails costs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretPresence, SecretStore
from hdsp_agent.errors import Conflict, ForbiddenByOperator, InvalidSetting, SecretStorageUnavailable, Unavailable
from tests.config.conftest import OpenConfig

from .._helpers.timing import until

KEY = "sk-ant-planted-0123456789"


def presence(proxy: ContextProxy, key: str = "apiKey") -> SecretPresence:
    profile = proxy.profiles.current.id
    [found] = [one for one in proxy.secrets.status.secrets if (one.profile_id, one.key) == (profile, key)]
    return found


async def with_anthropic(proxy: ContextProxy, storage: str) -> str:
    """Keep keys in a place and use a provider that needs one; returns the profile's id."""
    await proxy.update({"secretStorage": storage})
    return (await proxy.profiles.update("default", {"apiProvider": "anthropic"})).id


# ---- files


async def test_a_key_is_kept_and_only_its_last_characters_are_told(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "file")
        assert presence(proxy) == SecretPresence(profile_id=profile, key="apiKey", present=False)
        await proxy.set_secret("default", "apiKey", SecretStr(f"  {KEY}\n"))
        assert presence(proxy) == SecretPresence(
            profile_id=profile, key="apiKey", present=True, last4="6789", source="file"
        )
    async with open_config() as proxy:
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)
        assert presence(proxy).present
        await proxy.delete_secret("default", "apiKey")
        assert not presence(proxy).present
    assert not (home / "secrets.json").exists()


async def test_a_key_in_memory_is_written_nowhere_and_gone_with_the_server(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "memory")
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        assert (presence(proxy).source, proxy.secrets.status.storage.kind) == ("memory", "memory")
        # Looking for the place again loses nothing.
        await proxy.secrets.retry()
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)
        assert not [path for path in home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    async with open_config() as proxy:
        assert proxy.settings.secret_storage == "memory"
        assert await proxy.secrets.get(profile, "apiKey") is None


async def test_keys_move_from_a_file_to_memory_and_back(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "file")
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        await proxy.update({"secretStorage": "memory"})
        assert not (home / "secrets.json").exists()
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)
        await proxy.update({"secretStorage": "file"})
        assert presence(proxy).source == "file"
    async with open_config() as proxy:
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)


@pytest.mark.parametrize("short", ["sk-12345678", "x"])
async def test_a_short_key_shows_nothing_of_itself(open_config: OpenConfig, short: str) -> None:
    async with open_config() as proxy:
        await with_anthropic(proxy, "file")
        await proxy.set_secret("default", "apiKey", SecretStr(short))
        assert (presence(proxy).present, presence(proxy).last4) == (True, None)


async def test_a_key_of_several_lines_shows_nothing_of_itself(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"secretStorage": "file"})
        await proxy.profiles.update("default", {"apiProvider": "vertex"})
        await proxy.set_secret("default", "vertexJsonCredentials", SecretStr('{\n "private_key": "abcdefgh"\n}'))
        assert presence(proxy, "vertexJsonCredentials").last4 is None


@pytest.mark.parametrize("bad", ["", "   ", "x" * 70_000, "a\x00b", "a\x1bb"])
async def test_a_value_that_is_no_key_is_refused(open_config: OpenConfig, bad: str) -> None:
    async with open_config() as proxy:
        await with_anthropic(proxy, "file")
        with pytest.raises(InvalidSetting) as caught:
            await proxy.set_secret("default", "apiKey", SecretStr(bad))
        assert caught.value.field == "apiKey"
        with pytest.raises(InvalidSetting):
            await proxy.set_secret("default", "notAKey", SecretStr(KEY))


async def test_keys_never_reach_logs_or_text(
    open_config: OpenConfig, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_config(OperatorPolicy(provider_keys={"xai": SecretStr("planted-operator-0123")})) as proxy:
        profile = await with_anthropic(proxy, "file")
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        (proxy.home / "secrets.json").write_text(f'{{"secrets": {{"{KEY}": 1}}}}', encoding="utf-8")
        with pytest.raises(SecretStorageUnavailable) as caught:
            await proxy.secrets.get(profile, "apiKey")
        logging.getLogger("test").info("%r %s %r", proxy.policy, proxy.secrets.status, vars(proxy.secrets))
        said = caplog.text + str(caught.value) + str(caught.value.params) + proxy.secrets.status.to_json()
    assert "planted" not in said + "".join(capfd.readouterr())


async def test_a_damaged_file_is_never_overwritten(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await with_anthropic(proxy, "file")
        (home / "secrets.json").write_text("{ damaged", encoding="utf-8")
        with pytest.raises(SecretStorageUnavailable, match="never overwritten"):
            await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        assert (home / "secrets.json").read_text(encoding="utf-8") == "{ damaged"
        assert proxy.secrets.status.storage.code == "secrets_file_corrupt"
        (home / "secrets.json").unlink()
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        assert proxy.secrets.status.storage.code == "ok"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
async def test_a_file_others_could_read_is_tightened(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "file")
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        (home / "secrets.json").chmod(0o644)
        await proxy.secrets.get(profile, "apiKey")
        assert stat.S_IMODE((home / "secrets.json").stat().st_mode) == 0o600


# ---- the encrypted file

PASSPHRASE = {"HDSP_AGENT_PASSPHRASE": "correct horse"}


async def test_a_passphrase_is_enough_to_keep_keys_encrypted(home: Path, open_config: OpenConfig) -> None:
    async with open_config(environ=PASSPHRASE) as proxy:
        profile = (await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})).id
        assert proxy.secrets.status.storage.kind == "encrypted-file"
        assert presence(proxy).source == "encrypted-file"
    sealed = (home / "secrets.enc").read_bytes()
    assert KEY.encode() not in sealed
    assert stat.S_IMODE((home / "secrets.enc").stat().st_mode) & 0o077 == 0
    async with open_config(environ=PASSPHRASE) as proxy:
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
    again = (home / "secrets.enc").read_bytes()
    assert json.loads(again)["nonce"] != json.loads(sealed)["nonce"], "a nonce must never be used twice"


async def test_another_passphrase_opens_nothing_and_destroys_nothing(home: Path, open_config: OpenConfig) -> None:
    async with open_config(environ=PASSPHRASE) as proxy:
        profile = (await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})).id
    sealed = (home / "secrets.enc").read_bytes()
    async with open_config(environ={"HDSP_AGENT_PASSPHRASE": "wrong"}) as proxy:
        with pytest.raises(SecretStorageUnavailable, match="another passphrase"):
            await proxy.secrets.get(profile, "apiKey")
        with pytest.raises(SecretStorageUnavailable):
            await proxy.set_secret("default", "apiKey", SecretStr("other-0123456789"))
        assert proxy.secrets.status.storage.code == "wrong_passphrase"
    assert (home / "secrets.enc").read_bytes() == sealed


async def test_an_altered_file_is_noticed(home: Path, open_config: OpenConfig) -> None:
    async with open_config(environ=PASSPHRASE) as proxy:
        profile = (await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})).id
    box = json.loads((home / "secrets.enc").read_text(encoding="utf-8"))
    box["sealed"] = ("B" if box["sealed"][0] == "A" else "A") + box["sealed"][1:]
    (home / "secrets.enc").write_text(json.dumps(box), encoding="utf-8")
    async with open_config(environ=PASSPHRASE) as proxy:
        with pytest.raises(SecretStorageUnavailable):
            await proxy.secrets.get(profile, "apiKey")


# ---- sources that are read-only


async def test_the_environment_goes_first_and_cannot_be_changed(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "file")
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
    async with open_config(environ={"ANTHROPIC_API_KEY": "planted-environment-1234"}) as proxy:
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr("planted-environment-1234")
        shown = presence(proxy)
        assert (shown.source, shown.variable, shown.last4) == ("environment", "ANTHROPIC_API_KEY", "1234")
        with pytest.raises(Conflict, match="ANTHROPIC_API_KEY"):
            await proxy.set_secret("default", "apiKey", SecretStr("other-0123456789"))
    async with open_config() as proxy:
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)


async def test_an_operators_key_can_be_used_and_neither_seen_nor_changed(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(provider_keys={"anthropic": SecretStr("planted-operator-0123456789")})
    async with open_config(policy) as proxy:
        profile = (await proxy.profiles.update("default", {"apiProvider": "anthropic"})).id
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr("planted-operator-0123456789")
        shown = presence(proxy)
        assert (shown.present, shown.source, shown.last4) == (True, "operator", None)
        with pytest.raises(ForbiddenByOperator):
            await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        assert await proxy.secrets.get(profile, "mistralApiKey") is None


# ---- no place at all


async def test_without_a_place_saving_names_the_choices(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        entry = await proxy.profiles.update("default", {"apiProvider": "anthropic"})
        with pytest.raises(SecretStorageUnavailable) as caught:
            await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        for choice in ("no keyring", "environment variable", "HDSP_AGENT_PASSPHRASE", "a file only you can read"):
            assert choice in caught.value.message
        assert proxy.secrets.status.storage.code == "keyring_missing"
        assert await proxy.secrets.get(entry.id, "apiKey") is None, "none can have been saved, so none is missing"


async def test_an_encrypted_file_without_passphrase_is_refused(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        with pytest.raises(SecretStorageUnavailable, match="HDSP_AGENT_PASSPHRASE"):
            await proxy.update({"secretStorage": "encrypted-file"})
        assert proxy.settings.secret_storage == "auto"


# ---- moving


async def test_keys_move_when_the_place_changes(home: Path, open_config: OpenConfig) -> None:
    async with open_config(environ=PASSPHRASE) as proxy:
        profile = await with_anthropic(proxy, "file")
        other = await proxy.profiles.create(
            "other", {"apiProvider": "mistral", "mistralApiKey": "planted-m-0123456789"}
        )
        # A key of a provider the profile used before is a key all the same.
        await proxy.set_secret("other", "apiKey", SecretStr(KEY))
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        await proxy.update({"secretStorage": "encrypted-file"})
        assert not (home / "secrets.json").exists()
        for id, key, value in (
            (profile, "apiKey", KEY),
            (other.id, "mistralApiKey", "planted-m-0123456789"),
            (other.id, "apiKey", KEY),
        ):
            assert await proxy.secrets.get(id, key) == SecretStr(value)
        await proxy.update({"secretStorage": "file"})
        assert not (home / "secrets.enc").exists()
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)
        assert presence(proxy).source == "file"


async def test_keys_stay_where_they_are_if_the_new_place_does_not_work(home: Path, open_config: OpenConfig) -> None:
    async with open_config(environ=PASSPHRASE) as proxy:
        profile = await with_anthropic(proxy, "file")
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        (home / "secrets.enc").write_text("damaged", encoding="utf-8")
        for place in ("encrypted-file", "keyring"):
            with pytest.raises(SecretStorageUnavailable):
                await proxy.update({"secretStorage": place, "soundVolume": 0.1})
            assert proxy.settings.secret_storage == "file"
            assert proxy.settings.sound_volume == 0.5
            assert proxy.secrets.status.storage.kind == "file"
            assert await proxy.secrets.get(profile, "apiKey") == SecretStr(KEY)
            assert presence(proxy).present


async def test_another_process_that_moves_keys_is_followed(open_config: OpenConfig) -> None:
    async with open_config() as one, open_config() as other:
        profile = await with_anthropic(one, "file")
        await one.set_secret("default", "apiKey", SecretStr(KEY))
        await until(lambda: other.secrets.status.storage.kind == "file" and other.profiles.current.api_provider)
        assert await other.secrets.get(profile, "apiKey") == SecretStr(KEY)


# ---- order


async def test_the_last_of_many_changes_at_once_holds(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "file")
        changes = []
        for number in range(40):
            changes.append(proxy.set_secret("default", "apiKey", SecretStr(f"{KEY}-{number}")))
            changes.append(proxy.delete_secret("default", "apiKey"))
        changes.append(proxy.set_secret("default", "apiKey", SecretStr("the-last-0123456789")))
        await asyncio.gather(*changes)
        assert await proxy.secrets.get(profile, "apiKey") == SecretStr("the-last-0123456789")


async def test_a_cancelled_change_is_still_finished_in_its_turn(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        profile = await with_anthropic(proxy, "file")
        change = asyncio.create_task(proxy.set_secret("default", "apiKey", SecretStr(KEY)))
        await asyncio.sleep(0)
        change.cancel()
        with pytest.raises(asyncio.CancelledError):
            await change
        await proxy.delete_secret("default", "apiKey")
        assert await proxy.secrets.get(profile, "apiKey") is None


# ---- keyrings that must not be used, and keyrings that hang: each in a process of its own, for keyring looks only once

PLAINTEXT = """
from keyring.backend import KeyringBackend

class PlaintextKeyring(KeyringBackend):
    priority = 9
    def get_password(self, service, username):
        raise AssertionError("a refused backend was asked")
    set_password = delete_password = get_password
"""
HANGING = """
import sys, time
from keyring.backend import KeyringBackend

class HangingKeyring(KeyringBackend):
    priority = 9
    def get_password(self, service, username):
        print("asked", file=sys.stderr, flush=True)
        time.sleep(3600)
    set_password = delete_password = get_password
"""
WEAK = """
from keyring.backend import KeyringBackend

class WeakKeyring(KeyringBackend):
    priority = 0.5
    def get_password(self, service, username):
        raise AssertionError("a refused backend was asked")
    set_password = delete_password = get_password
"""
HANGING_AT_IMPORT = "import sys, time\nprint('asked', file=sys.stderr, flush=True)\ntime.sleep(3600)\n"

LOOK = """
import asyncio, json, sys
from pathlib import Path
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.errors import SecretStorageUnavailable
from pydantic import SecretStr

async def main(home, allowed, environ, patience):
    policy = OperatorPolicy(allowed_keyring_backends=tuple(allowed), keyring_timeout_seconds=patience)
    proxy = ContextProxy(home, policy, SecretStore(home, policy, environ=environ))
    await proxy.start()
    at_start = proxy.secrets.status.storage.code
    while proxy.secrets.status.storage.code == "checking":
        await asyncio.sleep(0.005)
    try:
        await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": "sk-planted-0123456789"})
        saved = "saved"
    except SecretStorageUnavailable as error:
        saved = error.message
    try:
        await proxy.secrets.get(proxy.profiles.current.id, "apiKey")
    except SecretStorageUnavailable:
        pass
    storage = proxy.secrets.status.storage
    await proxy.stop()
    print(json.dumps({"at start": at_start, "code": storage.code, "kind": storage.kind,
                      "message": storage.message, "saved": saved}))

asyncio.run(main(Path(sys.argv[1]), *map(json.loads, sys.argv[2:])))
"""


def look(
    tmp_path: Path,
    backend: str,
    module: str,
    source: str = "",
    *,
    allow: bool,
    environ: dict[str, str] | None = None,
    patience: float = 60,
) -> dict[str, object]:
    """What a process finds whose keyring is this backend, and how often the keyring was asked."""
    modules = tmp_path / "modules"
    package = modules.joinpath(*module.split(".")[:-1])
    package.mkdir(parents=True, exist_ok=True)
    if source:
        (modules / (module.replace(".", "/") + ".py")).write_text(textwrap.dedent(source), encoding="utf-8")
    # Whoever waited for a keyring that hangs would not end in time.
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            LOOK,
            str(tmp_path / "home"),
            json.dumps([module] if allow else []),
            json.dumps(environ or {}),
            json.dumps(patience),
        ],
        env={**os.environ, "PYTHON_KEYRING_BACKEND": backend, "PYTHONPATH": str(modules)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return {**json.loads(run.stdout), "asked": run.stderr.splitlines().count("asked")}


@pytest.mark.parametrize(
    ("backend", "module", "source", "allow"),
    [
        ("keyrings.alt.file.PlaintextKeyring", "keyrings.alt.file", PLAINTEXT, False),
        ("some.where.PlaintextKeyring", "some.where", PLAINTEXT, False),
        ("keyring.backends.null.Keyring", "unused", "", False),
        ("weak.WeakKeyring", "weak", WEAK, True),
    ],
)
def test_a_keyring_that_does_not_protect_keys_is_refused(
    tmp_path: Path, backend: str, module: str, source: str, allow: bool
) -> None:
    found = look(tmp_path, backend, module, source, allow=allow)
    assert found["code"] == "keyring_refused"
    assert backend in str(found["message"])
    assert "does not protect keys" in str(found["saved"])


def test_the_first_vetted_keyring_of_a_chain_is_used_and_no_other(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "refused.py").write_text(PLAINTEXT, encoding="utf-8")
    (modules / "chain.py").write_text(
        "import refused, vetted\nfrom keyring.backends.chainer import ChainerBackend\nclass Chain(ChainerBackend): pass\n",
        encoding="utf-8",
    )
    source = """
        from keyring.backend import KeyringBackend

        class VettedKeyring(KeyringBackend):
            priority = 5
            kept = {}
            def get_password(self, service, username):
                return self.kept.get(username)
            def set_password(self, service, username, password):
                self.kept[username] = password
            def delete_password(self, service, username):
                del self.kept[username]
    """
    found = look(tmp_path, "chain.Chain", "vetted", source, allow=True)
    assert (found["code"], found["kind"], found["saved"]) == ("ok", "keyring", "saved")


def test_a_system_without_keyring_is_found_out(tmp_path: Path) -> None:
    found = look(tmp_path, "keyring.backends.fail.Keyring", "unused", allow=False)
    assert found["code"] == "keyring_missing"


@pytest.mark.in_short(1)
@pytest.mark.parametrize("source", [HANGING, HANGING_AT_IMPORT], ids=["at the first call", "at import"])
def test_a_keyring_that_hangs_is_given_up_and_holds_up_neither_start_nor_end(tmp_path: Path, source: str) -> None:
    found = look(tmp_path, "hanging.HangingKeyring", "hanging", source, allow=True, patience=1.8)
    assert found["code"] == "keyring_unresponsive"
    assert found["at start"] == "checking"
    assert "did not answer" in str(found["saved"])
    # It is not asked again.
    assert found["asked"] == 1


def test_a_passphrase_helps_where_the_keyring_hangs(tmp_path: Path) -> None:
    environ = {"HDSP_AGENT_PASSPHRASE": "x"}
    # Half of it is for the file, whose key a crowded machine takes long to make.
    found = look(tmp_path, "hanging.HangingKeyring", "hanging", HANGING, allow=True, environ=environ, patience=10)
    assert (found["code"], found["kind"], found["saved"]) == ("ok", "encrypted-file", "saved")


async def test_a_keyring_in_use_that_begins_to_hang_is_given_up_and_can_be_tried_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "moody.py").write_text(
        textwrap.dedent("""
            import threading
            from keyring.backend import KeyringBackend

            awake = threading.Event()
            awake.set()
            kept = {}

            class MoodyKeyring(KeyringBackend):
                priority = 9
                def get_password(self, service, username):
                    awake.wait()
                    return kept.get(username)
                def set_password(self, service, username, password):
                    awake.wait()
                    kept[username] = password
                def delete_password(self, service, username):
                    del kept[username]
        """),
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import keyring
    import moody  # type: ignore[import-not-found]  # written above

    before = keyring.get_keyring()
    keyring.set_keyring(moody.MoodyKeyring())
    policy = OperatorPolicy(allowed_keyring_backends=("moody",), keyring_timeout_seconds=30)
    store = SecretStore(home, policy, environ={})
    try:
        store.start("auto", [("p", "apiKey")])
        await store.set("p", "apiKey", SecretStr(KEY))
        assert store.status.storage.kind == "keyring"
        moody.awake.clear()
        # Only of what hangs it is certain that it takes longer.
        store._policy = replace(policy, keyring_timeout_seconds=0.3)
        with pytest.raises(SecretStorageUnavailable, match=r"0\.3 seconds"):
            await store.get("p", "apiKey")
        assert (await store.retry()).storage.code == "keyring_unresponsive"
        store._policy = policy
        moody.awake.set()
        assert (await store.retry()).storage.code == "ok"
        assert await store.get("p", "apiKey") == SecretStr(KEY)
        assert store.status.secrets[0].last4 == "6789"
    finally:
        moody.awake.set()
        keyring.set_keyring(before)
        await store.stop()


async def test_stopping_waits_for_no_keyring_however_long_it_may_take(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "slow_keyring.py").write_text(
        textwrap.dedent("""
            import threading
            import time
            from keyring.backend import KeyringBackend

            asked = threading.Event()

            class SlowKeyring(KeyringBackend):
                priority = 9
                def get_password(self, service, username):
                    return None
                def set_password(self, service, username, password):
                    asked.set()
                    time.sleep(3600)
                def delete_password(self, service, username):
                    pass
        """),
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import keyring
    import slow_keyring  # type: ignore[import-not-found]  # written above

    before = keyring.get_keyring()
    keyring.set_keyring(slow_keyring.SlowKeyring())
    policy = OperatorPolicy(allowed_keyring_backends=("slow_keyring",), keyring_timeout_seconds=3600)
    store = SecretStore(home, policy, environ={})
    try:
        store.start("auto", [])
        saving = [asyncio.create_task(store.set("p", "apiKey", SecretStr(KEY))) for _ in range(3)]
        await until(slow_keyring.asked.is_set)
        await store.stop()
        answers = await asyncio.gather(*saving, return_exceptions=True)
        assert {type(answer) for answer in answers} == {Unavailable}
    finally:
        keyring.set_keyring(before)


async def test_a_key_is_not_logged_in_debug_mode_either(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    from hdsp_agent._daemon_calls import call_in_daemon

    loop = asyncio.get_running_loop()
    # Asyncio then logs whatever runs longer, with results and arguments.
    monitored, loop.slow_callback_duration = loop.slow_callback_duration, 0.0
    loop.set_debug(True)
    try:
        with caplog.at_level(logging.DEBUG):
            assert await call_in_daemon(lambda: KEY, 5) == KEY
            await asyncio.sleep(0.01)
    finally:
        loop.set_debug(False)
        loop.slow_callback_duration = monitored
    assert "Executing" in caplog.text
    assert KEY not in caplog.text
