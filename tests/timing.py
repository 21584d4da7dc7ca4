"""Holds the product to a time on a machine that others use as well."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import pytest
from _pytest.runner import runtestprotocol

TRIES = 5
TRYING_SECONDS = 60.0
"""After so long, one that is late is not run anew."""
PATIENCE = 60.0
"""Seconds that what must happen may take; a machine that is quick does not use them."""

_late = pytest.StashKey[bool]()


async def until(holds: Callable[[], object]) -> None:
    """Wait until what ``holds`` returns, or awaits, is true."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = holds()
        if await found if inspect.isawaitable(found) else found:
            return
        assert time.monotonic() < deadline, "this did not come about"
        await asyncio.sleep(0.01)


class TooLate(AssertionError):
    """Something took longer than it may."""


def in_time(took: float, seconds: float) -> None:
    """Hold what was measured to a time; a test that is late is run anew a few times, and once in time is enough."""
    if took >= seconds:
        raise TooLate(f"This took {took:.3f} s and may take {seconds} s.")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Hold a block to a time, as ``in_time`` does."""
    began = time.monotonic()
    yield
    in_time(time.monotonic() - began, seconds)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember whether lateness is what the test failed for."""
    if call.when == "call":
        item.stash[_late] = call.excinfo is not None and isinstance(call.excinfo.value, TooLate)
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test that was late anew, with fresh fixtures; any other failure counts at once."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    began = time.monotonic()
    for _ in range(TRIES):
        item.stash[_late] = False
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if not item.stash[_late] or time.monotonic() - began > TRYING_SECONDS:
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
