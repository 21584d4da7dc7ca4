"""What the tests of the configuration share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore, UserConfigSource

OpenConfig = Callable[..., AbstractAsyncContextManager[ContextProxy]]


@pytest.fixture(autouse=True)
def no_real_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests out of the keyring of whoever runs them."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A storage folder that does not exist yet."""
    return tmp_path / "hdsp-home"


@pytest.fixture
def open_config(home: Path) -> OpenConfig:
    """Start a configuration on the storage folder and stop it again."""

    @asynccontextmanager
    async def opened(
        policy: OperatorPolicy | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        user_config: UserConfigSource | None = None,
        folder: Path = home,
    ) -> AsyncIterator[ContextProxy]:
        # A keyring that answers late on a crowded machine is not what these tests are about.
        policy = policy or OperatorPolicy()
        if policy.keyring_timeout_seconds == OperatorPolicy.keyring_timeout_seconds:
            policy = replace(policy, keyring_timeout_seconds=30)
        secrets = SecretStore(folder, policy, environ=environ or {})
        proxy = ContextProxy(folder, policy, secrets, user_config=user_config)
        await proxy.start()
        try:
            yield proxy
        finally:
            await proxy.stop()

    return opened
