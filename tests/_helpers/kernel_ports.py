"""Ports for kernels that no other process of the same test run picks at the same time.

Jupyter asks the system for free ports, closes them, and has the kernel listen there a second later: what two processes
begin at once may meet on one.
"""

from __future__ import annotations

import itertools
import os
import socket

import pytest
from jupyter_client.connect import LocalPortCache

__all__ = ["divide_ports"]

_FIRST, _COUNT = 16_000, 2_000
"""Below those that the system gives away itself."""


def divide_ports(patch: pytest.MonkeyPatch) -> None:
    """Have the kernels of this worker listen in its own range of ports."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return
    first = _FIRST + int(worker.removeprefix("gw")) % 8 * _COUNT
    ports = itertools.cycle(range(first, first + _COUNT))

    def find(cache: LocalPortCache, ip: str) -> int:
        while True:
            port = next(ports)
            with socket.socket() as probe:
                try:
                    probe.bind((ip, port))
                except OSError:
                    continue
            if port not in cache.currently_used_ports:
                cache.currently_used_ports.add(port)
                return port

    patch.setattr(LocalPortCache, "find_available_port", find)
