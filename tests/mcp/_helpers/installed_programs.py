"""Where ``make test-long`` puts other makers' programs."""

from pathlib import Path

__all__ = ["BIN"]

BIN = Path(__file__).parents[3] / ".programs/node_modules/.bin"
