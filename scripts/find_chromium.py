"""Print the path of a Chromium or Chrome on this machine, or fail: browser builds are never downloaded."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def find_chromium() -> str | None:
    """The browser to use: ``HDSP_AGENT_CHROMIUM`` first, then the usual names and places."""
    named = os.environ.get("HDSP_AGENT_CHROMIUM")
    if named:
        return named
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    return found or next((path for path in MACOS if Path(path).exists()), None)


if __name__ == "__main__":
    path = find_chromium()
    if path is None:
        sys.exit("No Chromium or Chrome found. Install one, or name it with HDSP_AGENT_CHROMIUM.")
    print(path)
