"""Keys: write-only. Nothing here can say more of a key than its last four characters."""

from __future__ import annotations

from pydantic import SecretStr

from ...config import SecretStatus
from ._rest_bodies import SecretBody, StorageBody
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["SecretHandler", "SecretStorageHandler", "SecretsHandler"]


class SecretsHandler(RestHandler):
    """`GET secrets`"""

    @endpoint("Show which keys exist, where they come from, and where they are kept", answer=SecretStatus)
    async def get(self) -> SecretStatus:
        """Answer from memory; the keyring is not asked."""
        return self.services.config.secrets.status


class SecretHandler(RestHandler):
    """`PUT|DELETE secrets/{profile}/{key}`"""

    @endpoint("Save a key", answer=SecretStatus, body=SecretBody, action="write")
    async def put(self, profile: str, key: str, *, body: SecretBody) -> SecretStatus:
        """Replaces the one that was there."""
        config = self.services.config
        await config.set_secret(profile, key, SecretStr(body.value))
        return config.secrets.status

    @endpoint("Remove a key", answer=SecretStatus, action="write")
    async def delete(self, profile: str, key: str) -> SecretStatus:
        """Nothing happens if there is none."""
        config = self.services.config
        await config.delete_secret(profile, key)
        return config.secrets.status


class SecretStorageHandler(RestHandler):
    """`PUT secrets/storage`"""

    @endpoint(
        "Choose where keys are kept, or try the same place again",
        answer=SecretStatus,
        body=StorageBody,
        action="write",
    )
    async def put(self, *, body: StorageBody) -> SecretStatus:
        """Keys kept elsewhere move along. The same choice again means: look again."""
        config = self.services.config
        if body.kind == config.settings.secret_storage:
            return await config.secrets.retry()
        await config.use_storage(body.kind)
        return config.secrets.status
