"""A port for a server of the tests that is a program of its own.

What the system gives away itself it may give to any connection, too, as soon as whoever asked for it has closed it: a server
that begins a moment later, or is stopped to be started again, would find it taken. Kernels have ports in ``kernel_ports``.
"""

import os
import random
import socket
from typing import Final

__all__ = ["free_port"]

_FIRST: Final = 10_200
_COUNT: Final = 720
"""For each of eight workers. All end below those of kernels, and those that the system gives away."""
_given: set[int] = set()


def free_port() -> int:
    """One on loopback that nobody uses at the moment, and that neither the system nor another worker gives away."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 8
    own = range(_FIRST + worker * _COUNT, _FIRST + (worker + 1) * _COUNT)
    # A test may have seeded what all share.
    for port in random.SystemRandom().sample(own, _COUNT):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port
    raise AssertionError("All ports are taken")
