"""Ports for the kernels of one server, which no other server of the stories picks at the same time.

Jupyter asks the system for free ports, closes them, and has the kernel listen there a second later: what two servers begin
at once may meet on one.
"""

from __future__ import annotations

import itertools
import socket
from typing import Final

from jupyter_client.connect import LocalPortCache

__all__ = ["keep_to"]

_COUNT: Final = 200


def keep_to(first: int) -> None:
    """Have the kernels of this process listen on the ports from this one on."""
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

    LocalPortCache.find_available_port = find  # type: ignore[assignment]  # under another name of its first argument
