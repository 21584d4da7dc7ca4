"""Which storage folder is meant, and what the operator decided in Jupyter's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .._storage_dir import (
    default_artifact_store_url,
    default_storage_backend,
    default_storage_dir,
    default_storage_url,
)
from ..errors import InvalidSetting, StorageUnavailable

if TYPE_CHECKING:
    from ..persistence import Backend

__all__ = ["existing", "find_artifact_store_url", "find_backend", "find_home", "find_storage_url", "operator_traits"]


def find_home(given: str | None) -> Path:
    """The storage folder: as given, else as a server on this machine would find it."""
    if given is not None:
        where, name = given, "--home"
    else:
        where, name = str(operator_traits().get("storage_dir") or ""), "storage_dir"
        where = where or default_storage_dir()
    try:
        home = Path(where).expanduser().absolute()
        str(home).encode()
    except (RuntimeError, UnicodeEncodeError) as error:
        raise InvalidSetting(f"{name} cannot be {where!a}: {error}.", field="home") from None
    if not where:
        raise InvalidSetting("--home is empty. Leave it out to use ~/.hdsp-agent.", field="home")
    return home


def find_backend(given: str | None) -> Backend:
    """What the tasks are kept in: as given, else as a server on this machine would find it."""
    from ..persistence import backend_named

    return backend_named(given or str(operator_traits().get("storage_backend") or "") or default_storage_backend())


def find_storage_url() -> str:
    """Which PostgreSQL database is meant, as a server on this machine would find it."""
    return str(operator_traits().get("storage_url") or "") or default_storage_url()


def find_artifact_store_url() -> str:
    """Which object store has the artifacts of that database, as a server on this machine would find it."""
    return str(operator_traits().get("artifact_store_url") or "") or default_artifact_store_url()


def existing(home: Path) -> Path:
    """The storage folder, which must be there."""
    if not home.is_dir():
        reason = "is not a folder" if home.exists() else "does not exist"
        raise StorageUnavailable(
            f"The storage folder {home} {reason}. Use --home FOLDER, or set HDSP_AGENT_HOME.",
            path=str(home), action="read", reason=reason,
        )  # fmt: skip
    return home


@cache
def operator_traits() -> Mapping[str, object]:
    """What Jupyter's configuration files set of ``HdspAgentApp``; the command line of a server is not known here."""
    from jupyter_core.application import JupyterApp

    reader = JupyterApp(raise_config_file_errors=True)
    for name in ("jupyter_server_config", "jupyter_hdsp_agent_config"):
        reader.config_file_name = name
        try:
            reader.load_config_file()
        except Exception as error:  # noqa: BLE001 - the file is a program of the operator's
            raise InvalidSetting(
                f"Jupyter's configuration {name} cannot be read: {type(error).__name__}: {error}. Fix that file: "
                "until then, your administrator's storage settings are unknown.",
                field=name,
            ) from None
    found = reader.config["HdspAgentApp"]
    return {name: found[name] for name in found}
