"""What all Python tests share."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from jupyter_events.schema import EventSchema
from jupyter_events.schema_registry import SchemaRegistry

from hdsp_agent._storage_dir import default_storage_backend

from ._helpers.kernel_ports import divide_ports
from ._helpers.long_tests import left_for_later
from ._helpers.object_store import S3Server, s3_server
from ._helpers.postgres import PostgresCluster, TasksDatabase, postgres_cluster, quick_place

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from hdsp_agent.comm.services import Services

# Neither chance nor a crowded machine decides; --hypothesis-profile=search looks for examples nobody has tried.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("tests", settings.get_profile("search"), derandomize=True)
settings.load_profile("tests")

pytest_plugins = ("pytest_jupyter.jupyter_server",)


@pytest.fixture(scope="session", autouse=True)
def no_ports_of_other_workers() -> Iterator[None]:
    """Kernels of two workers never meet on one port."""
    with pytest.MonkeyPatch.context() as patch:
        divide_ports(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def event_schemas_read_once() -> Iterator[None]:
    """Every server of a test registers the same files, and reading and checking them is a quarter of its start."""
    read = cache(EventSchema)
    register = SchemaRegistry.register

    def register_read(registry: SchemaRegistry, schema: dict[str, object] | str | EventSchema | Path) -> EventSchema:
        return register(registry, read(schema) if isinstance(schema, Path) else schema)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SchemaRegistry, "register", register_read)
        yield


@pytest.fixture
def jp_nbconvert_templates() -> None:
    """Half a hundred files that are copied for each server, and that no test looks at."""


@pytest.fixture
def jp_asyncio_loop(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[asyncio.AbstractEventLoop]:
    """What a test closes at its end is closed a few steps later. Without those another test would be told that it is not."""
    yield jp_asyncio_loop
    if not jp_asyncio_loop.is_closed():
        jp_asyncio_loop.run_until_complete(_last_steps())


@pytest.fixture(autouse=True)
def jp_server_cleanup(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Clean up a test's server, if it has one: pytest-jupyter makes one for each of the thousands that have none."""
    from jupyter_server.serverapp import ServerApp

    yield
    if not ServerApp.initialized():
        return
    app = ServerApp.instance()
    try:
        jp_asyncio_loop.run_until_complete(app._cleanup())
    except (RuntimeError, SystemExit) as error:
        print("This was not cleaned up:", error)
    if hasattr(app, "kernel_manager"):
        app.kernel_manager.context.destroy()
    ServerApp.clear_instance()


async def _last_steps() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
    await asyncio.get_running_loop().shutdown_asyncgens()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked so with each backend."""
    if (mark := metafunc.definition.get_closest_marker("each_backend")) is not None:
        metafunc.parametrize("storage_backend", mark.args or ("files", "sqlite", "postgres"), indirect=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what runs at night. Begin with the files that take long: none of them is left to one process at the end."""
    if later := set(left_for_later(items)):
        next(iter(later)).config.hook.pytest_deselected(items=list(later))
        items[:] = [item for item in items if item not in later]
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True)
def storage_backend(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, no_keys_from_outside: None
) -> Iterator[str]:
    """What conversations are kept in; ``tests._helpers.stored_tasks`` looks into it."""
    backend: str = getattr(request, "param", None) or default_storage_backend()
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", backend)
    if backend == "postgres":
        pytest.importorskip("psycopg")
        from ._helpers.stored_tasks import URL_FOR_TESTS, stored_in

        database: TasksDatabase = request.getfixturevalue("postgres_database")
        monkeypatch.setenv("HDSP_AGENT_STORAGE_URL", database.url())
        # A server under test takes that one away from whom it starts; a test's own processes are not meant.
        monkeypatch.setenv(URL_FOR_TESTS, database.url())
        with stored_in(database):
            yield backend
    else:
        yield backend


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresCluster]:
    """A PostgreSQL server of this test process."""
    with postgres_cluster(quick_place()) as cluster:
        yield cluster


@pytest.fixture
def postgres_database(postgres: PostgresCluster) -> Iterator[TasksDatabase]:
    """A database of this test's own, with our tables."""
    with postgres.database() as database:
        yield database


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """An S3-compatible store of this test process."""
    with s3_server() as server:
        yield server


@pytest.fixture
def storage_dir(tmp_path: Path) -> Path:
    """The storage folder of the server under test."""
    return tmp_path / "hdsp-home"


@pytest.fixture(autouse=True)
def no_models_from_outside(monkeypatch: pytest.MonkeyPatch, models_folder: Path) -> None:
    """Nor are their embedded models used or deleted; a test that wants a real one says so."""
    monkeypatch.setenv("HDSP_AGENT_MODELS", str(models_folder / uuid4().hex / "embedded-models"))


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests that fetch a model keep it. One folder for all: thousands of tests need none."""
    return tmp_path_factory.mktemp("embedded-models")


@pytest.fixture(autouse=True)
def no_keys_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a person's keys nor their keyring take part in tests."""
    from hdsp_agent.config import secret_environment

    for name in secret_environment():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HDSP_AGENT_PASSPHRASE", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture(autouse=True)
def no_keys_of_other_tests() -> None:
    """What one test uses as a key is ordinary text in the next."""
    from hdsp_agent.config import keys_in_use

    keys_in_use.clear()


@pytest.fixture
def jp_server_config(storage_dir: Path, storage_backend: str) -> dict[str, object]:
    """A server with the extension on, where nothing may be reached without credentials."""
    # A server takes it out of the environment, and a second one of the same test needs it, too.
    url = os.environ.get("HDSP_AGENT_STORAGE_URL")
    return {
        "ServerApp": {
            # Its socket is not marked as authenticated, and warnings are errors here.
            "jpserver_extensions": {"hdsp_agent": True, "jupyter_server_terminals": False},
            "allow_unauthenticated_access": False,
            "reraise_server_extension_failures": True,
        },
        "HdspAgentApp": {
            "storage_dir": str(storage_dir),
            # A crowded machine's disk, which is asked within the same time, is no keyring that hangs.
            "keyring_timeout": 30,
            **({"storage_url": url} if url else {}),
        },
    }


@pytest.fixture
def services(
    jp_serverapp: ServerApp, jp_asyncio_loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Services]:
    """The started extension's object graph; pytest-jupyter itself leaves out the start of extensions."""
    from hdsp_agent.comm._rounds import Rounds

    # Half a minute after its start a server begins to do things by itself: on a busy machine in the middle of a test.
    begin = Rounds.start

    def begin_later(rounds: Rounds) -> None:
        if rounds._times.first_after_seconds >= 30:
            rounds._times = replace(rounds._times, first_after_seconds=3_600)
        begin(rounds)

    monkeypatch.setattr(Rounds, "start", begin_later)
    manager = jp_serverapp.extension_manager
    jp_asyncio_loop.run_until_complete(manager.start_all_extensions())
    services: Services = jp_serverapp.web_app.settings["hdsp_agent_services"]
    # No tab from before a restart comes back here.
    services.notebooks.tabs.patience = 0.1
    yield services
    jp_asyncio_loop.run_until_complete(manager.stop_all_extensions())


def pytest_configure() -> None:
    """Heed interruptions even as a shell's background job, which ignores them: tests send them to what they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
