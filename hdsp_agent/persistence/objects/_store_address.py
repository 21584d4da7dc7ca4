"""The store that an ``artifact_store_url`` names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from urllib.request import url2pathname

from ...config import keys_in_use
from ...errors import InvalidSetting
from ._folder_store import FolderStore
from ._object_store import ObjectStore
from ._s3_store import S3Address, S3Store

__all__ = ["open_object_store"]

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX: Final = re.compile(r"[A-Za-z0-9_.=-]+(/[A-Za-z0-9_.=-]+)*")
_OPTIONS: Final = frozenset({"endpoint", "region", "addressing"})


def open_object_store(url: str) -> ObjectStore:
    """The store at this address, not asked for anything yet. Raises ``InvalidSetting``, which never quotes it."""
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        raise _invalid() from None
    if password:
        # As it is, and as it stands in the address.
        keys_in_use.add(password, unquote(password))
    if parts.scheme == "file":
        return FolderStore(_folder(parts))
    if parts.scheme == "s3":
        return S3Store(_s3_address(parts))
    raise _invalid()


def _folder(parts: SplitResult) -> Path:
    folder = Path(url2pathname(parts.path))
    if (
        parts.netloc not in ("", "localhost")
        or parts.query
        or not folder.is_absolute()
        or folder == Path(folder.anchor)
    ):
        raise _invalid()
    return folder


def _s3_address(parts: SplitResult) -> S3Address:
    try:
        options = dict(parse_qsl(parts.query, strict_parsing=True, keep_blank_values=True)) if parts.query else {}
        port = parts.port
    except ValueError:
        raise _invalid() from None
    bucket, prefix = parts.hostname or "", parts.path.strip("/")
    endpoint, addressing = options.get("endpoint"), options.get("addressing", "path")
    if (
        port is not None
        or parts.fragment
        or not _BUCKET.fullmatch(bucket)
        or (prefix and (not _PREFIX.fullmatch(prefix) or {".", ".."} & set(prefix.split("/"))))
        or not options.keys() <= _OPTIONS
        or not all(options.values())
        or addressing not in ("path", "virtual")
        or (endpoint is not None and not _is_endpoint(endpoint))
        or bool(parts.username) != bool(parts.password)
    ):
        raise _invalid()
    return S3Address(
        bucket=bucket,
        prefix=prefix,
        endpoint=endpoint,
        region=options.get("region"),
        virtual_hosted=addressing == "virtual",
        key_id=unquote(parts.username) if parts.username else None,
        secret=unquote(parts.password) if parts.password else None,
    )


def _is_endpoint(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def _invalid() -> InvalidSetting:
    # What is wrong with it is not quoted: it may hold a key.
    return InvalidSetting(
        "artifact_store_url is not an address of a store. Write it as s3://bucket/prefix?endpoint=https://s3.example.org, "
        "with KEY:SECRET@ before the bucket unless the environment has a key, or as file:///srv/artifacts.",
        field="artifact_store_url",
    )  # fmt: skip
