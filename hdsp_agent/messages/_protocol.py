"""The numbers and names that page and server must agree on; TypeScript gets them from here."""

from __future__ import annotations

from typing import Final

__all__ = [
    "COMM_PATH",
    "COMM_TARGET",
    "DEAD_AFTER_HEARTBEATS",
    "DELTA_INTERVAL_MS",
    "HEARTBEAT_SECONDS",
    "MESSAGES_PAGE_SIZE",
    "PROTOCOL_VERSION",
]

PROTOCOL_VERSION: Final = 1
"""Raised when a page and a server of different versions can no longer understand each other."""

COMM_TARGET: Final = "hdsp_agent.webview"
COMM_PATH: Final = "hdsp-agent/comm"

HEARTBEAT_SECONDS: Final = 20
DEAD_AFTER_HEARTBEATS: Final = 2.5
"""Intervals of silence after which the other side counts as gone."""

DELTA_INTERVAL_MS: Final = 33
MESSAGES_PAGE_SIZE: Final = 50
