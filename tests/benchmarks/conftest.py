"""A kernel that the tests of judges share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.evals import RerunKernel, rerun_kernel


@pytest.fixture(scope="module")
def kernel() -> Iterator[RerunKernel]:
    with rerun_kernel() as kernel:
        yield kernel
