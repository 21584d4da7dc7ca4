"""The files of ``deploy``, read as those who use them read them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, Final

import yaml

__all__ = ["DEPLOY", "GUIDE", "Unit", "documents", "image_environment", "instructions"]

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy"
GUIDE: Final = ROOT / "docs/guides/deploying.md"


def documents(name: str) -> list[Any]:
    """What a YAML file says."""
    return list(yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")))


def instructions() -> list[tuple[str, str]]:
    """The lines of the Dockerfile, each with its instruction."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def image_command() -> list[str]:
    """What the image runs."""
    said = dict(instructions())
    return [*json.loads(said["ENTRYPOINT"]), *json.loads(said["CMD"])]


def image_environment() -> dict[str, str]:
    """What the image sets."""
    [text] = [text for name, text in instructions() if name == "ENV"]
    return dict(pair.split("=", 1) for pair in shlex.split(text))


class Unit:
    """A unit of systemd's. A name may stand in it several times."""

    def __init__(self, name: str) -> None:
        self.lines = [
            tuple(line.split("=", 1))
            for line in (DEPLOY / "systemd" / name).read_text(encoding="utf-8").splitlines()
            if "=" in line and not line.startswith("#")
        ]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.lines if key == name]

    def command(self) -> list[str]:
        [line] = self.all("ExecStart")
        return shlex.split(line)

    def environment(self) -> dict[str, str]:
        return dict(value.split("=", 1) for value in self.all("Environment"))
