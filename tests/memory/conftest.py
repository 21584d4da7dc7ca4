"""Two servers of a person that share a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .._helpers.postgres import TasksDatabase
from ._helpers.shared_home import SharedHome, shared_home


@pytest.fixture
def here(tmp_path: Path, postgres_database: TasksDatabase) -> Iterator[SharedHome]:
    with shared_home(tmp_path / "here", postgres_database) as home:
        yield home


@pytest.fixture
def there(tmp_path: Path, postgres_database: TasksDatabase) -> Iterator[SharedHome]:
    with shared_home(tmp_path / "there", postgres_database) as home:
        yield home
