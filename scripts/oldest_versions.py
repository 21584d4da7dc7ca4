"""Write the oldest versions that pyproject.toml allows as requirements, for the CI job that tests with them.

    python scripts/oldest_versions.py > oldest.txt && pip install -r oldest.txt

What only tests need comes as it is: with its own lower bound, at its newest version.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement

_PROJECT = Path(__file__).parent.parent / "pyproject.toml"
_FEATURES = ("bedrock", "ripgrep", "vertex", "watch")
"""Extras that people install. The embedded model's library is pinned and large."""


def oldest(requirements: Iterable[str]) -> Iterator[str]:
    """Each at its lower bound, which it must have."""
    for requirement in map(Requirement, requirements):
        bounds = [each.version for each in requirement.specifier if each.operator in (">=", "==", "~=")]
        if len(bounds) != 1:
            raise SystemExit(f"{requirement} has no lower bound in pyproject.toml, so no oldest version.")
        extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
        yield f"{requirement.name}{extras}=={bounds[0]}"


def main() -> None:
    """Write them to standard output."""
    project = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    lines = [*oldest(project["dependencies"]), *(line for name in _FEATURES for line in oldest(extras[name]))]
    lines += [line for line in extras["test"] if Requirement(line).name != project["name"]]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
