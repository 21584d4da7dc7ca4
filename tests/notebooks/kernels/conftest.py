"""What the kernels' tests share."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

import pytest

from tests._helpers.mariadb import mariadb_server
from tests._helpers.postgres import new_postgres_database, postgres_server

_DATABASES: Final = count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The Bash kernel's own description has a key that traitlets warns about, and then it is not found."""
    for item in items:
        if "notebooks/kernels" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"))


@pytest.fixture(scope="session")
def postgres_place() -> Iterator[str]:
    """The host and port of a real server."""
    with postgres_server() as place:
        yield place


@pytest.fixture
def postgres(postgres_place: str) -> str:
    """The address of an empty database on a real server, as SQLAlchemy has it."""
    name = f"shop{next(_DATABASES)}"
    new_postgres_database(postgres_place, name)
    return f"postgresql+psycopg://postgres@{postgres_place}/{name}"


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """The address of a real server, as SQLAlchemy has it."""
    with mariadb_server() as place:
        yield f"mysql+pymysql://root@{place}/test"
