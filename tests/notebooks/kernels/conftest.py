"""What the kernels' tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests._helpers.postgres import postgres_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The Bash kernel's own description has a key that traitlets warns about, and then it is not found."""
    for item in items:
        if "notebooks/kernels" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real server, as SQLAlchemy has it."""
    with postgres_server() as place:
        yield f"postgresql+psycopg://postgres@{place}/postgres"
