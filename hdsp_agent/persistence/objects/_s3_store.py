"""Objects in an S3-compatible store, through ``obstore``. Everything here blocks.

Keys of the address are given by a function, so that neither the client's own texts nor its configuration have them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from ...config import keys_in_use
from ...errors import ArtifactStoreUnavailable, Unsupported
from ._object_store import ObjectMissing, ObjectStore, StoredObject

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Credential

__all__ = ["S3Address", "S3Store"]

_RANGE_BYTES: Final = 8 * 1024 * 1024
_CONNECT_SECONDS: Final = 5
_REQUEST_SECONDS: Final = 30
_LARGE_PUT_SECONDS: Final = 300
_RETRY_SECONDS: Final = 15
_MOST_RETRIES: Final = 3
_LISTED_AT_ONCE: Final = 1_000
_NO_BUCKET: Final = "NoSuchBucket"
_SECRETS_OF_ENVIRONMENT: Final = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@dataclass(frozen=True)
class S3Address:
    """Where a bucket is. Without a key of its own, those of the environment or of the machine are used."""

    bucket: str
    prefix: str
    endpoint: str | None
    region: str | None
    virtual_hosted: bool
    key_id: str | None
    secret: str | None


class S3Store(ObjectStore):
    """See ``ObjectStore`` for what it does."""

    def __init__(self, address: S3Address) -> None:
        _require_obstore()
        from obstore.store import S3Store as Client

        keys_in_use.add(address.secret, *(os.environ.get(name) for name in _SECRETS_OF_ENVIRONMENT))
        self._prefix = f"{address.prefix}/" if address.prefix else ""
        self.name = f"the object store s3://{address.bucket}" + (f"/{address.prefix}" if address.prefix else "")
        key_id, secret = address.key_id, address.secret

        def given() -> S3Credential:
            assert key_id is not None and secret is not None
            return {"access_key_id": key_id, "secret_access_key": secret, "expires_at": None}

        endpoint = address.endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        region = address.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        config: S3Config = {} if endpoint is None else {"endpoint": endpoint}

        def client(request_seconds: float) -> Client:
            return Client(
                address.bucket,
                config=config,
                region=region,
                virtual_hosted_style_request=address.virtual_hosted,
                client_options={
                    "allow_http": (endpoint or "").startswith("http://"),
                    "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
                    "timeout": timedelta(seconds=request_seconds),
                },
                retry_config={
                    "max_retries": _MOST_RETRIES,
                    "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
                    "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=2), "base": 2},
                },
                credential_provider=given if secret is not None else None,
            )

        self._client = client(_REQUEST_SECONDS)
        self._client_of_large_puts = client(_LARGE_PUT_SECONDS)

    def put(self, key: str, data: bytes) -> None:
        client = self._client if len(data) <= _RANGE_BYTES else self._client_of_large_puts
        with self._refusals(key):
            # One request: of several, a writer that dies would leave parts that no listing shows.
            client.put(self._prefix + key, data, use_multipart=False)

    def read(self, key: str, size: int) -> bytes:
        found = []
        with self._refusals(key):
            for start in range(0, size, _RANGE_BYTES):
                found.append(
                    self._client.get_range(self._prefix + key, start=start, end=min(start + _RANGE_BYTES, size))
                )
        return b"".join(found)

    def delete(self, keys: Sequence[str]) -> None:
        with suppress(ObjectMissing), self._refusals(*keys):
            self._client.delete([self._prefix + key for key in keys])

    def listed(self, folder: str) -> Iterator[StoredObject]:
        with self._refusals(folder):
            for some in self._client.list(f"{self._prefix}{folder}/", chunk_size=_LISTED_AT_ONCE):
                for each in some:
                    yield StoredObject(each["path"].removeprefix(self._prefix), each["size"], each["last_modified"])

    @contextmanager
    def _refusals(self, *keys: str) -> Iterator[None]:
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except FileNotFoundError as error:
            if _NO_BUCKET in str(error):
                raise self.unavailable("there is no such bucket") from None
            raise ObjectMissing(*keys) from None
        except (PermissionDeniedError, UnauthenticatedError):
            raise self.unavailable("it refuses the server's key") from None
        except BaseError as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> ArtifactStoreUnavailable:
        # What the client says has addresses and answers in it, in many lines.
        text = str(error)
        return self.unavailable("it gave an error" if "non-2xx status code" in text else "it cannot be reached")


def _require_obstore() -> None:
    try:
        import obstore  # noqa: F401 -- whether it is there
    except ImportError as error:
        raise Unsupported(
            "Keeping artifacts in an S3-compatible store needs the package obstore. Install it where this server runs, with "
            f"pip install 'hdsp-agent[object-store]', and start the server again. ({error})"
        ) from error
