"""A port for a server of the tests."""

import socket


def free_port() -> int:
    """One on loopback that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
