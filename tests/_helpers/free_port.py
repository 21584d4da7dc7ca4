"""A port for a server of the tests."""

import random
import socket


def free_port() -> int:
    """One on loopback that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def lasting_port() -> int:
    """One that nobody is given by the system, so that it stays free while a server is stopped to be started again."""
    for port in random.sample(range(10_000, 16_000), 1_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("All ports are taken")
