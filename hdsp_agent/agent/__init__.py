"""A task: what it says and asks, its loop, its limits, and the one door through which others reach it."""

from __future__ import annotations
