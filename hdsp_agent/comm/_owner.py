"""Whose channel it is."""

from __future__ import annotations

from typing import NewType

__all__ = ["Owner"]

Owner = NewType("Owner", str)
"""The person all of whose tabs see the same; see :func:`hdsp_agent.comm.identity.owner_of`."""
