"""The planting of defects, and that what is explained of survivors is still true of something."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants_of
from tests.mutation.targets import TARGETS

SOURCE = '''
"""A module."""
import os
__all__ = ["decide"]
NAMES = ("rm", "mv")
Kind = Literal["a", "type"]
MOST = 3
def decide(allowed, enabled, names, count):
    """What is decided."""
    switched_on = allowed and enabled
    if "shell" in names:
        raise ValueError("said, not decided")
    if not switched_on:
        return False
    check(count)
    return count < MOST or any(name for name in names if name in NAMES)
'''
PLANTED = {
    "allowed and enabled  =>  allowed or enabled",
    "'shell' in names  =>  'shell' not in names",
    "if not switched_on  =>  if switched_on",
    "raise ValueError('said, not decided')  =>  pass",
    "check(count)  =>  pass",
    "count < MOST  =>  count <= MOST",
    "False  =>  True",
    "3  =>  4",
    "'rm'  =>  'XXrmXX'",
    "for name in names if name in NAMES  =>  for name in names if not name in NAMES",
}


def test_each_kind_of_defect_is_planted() -> None:
    found = {mutant.name.split(": ", 1)[1] for mutant in mutants_of(SOURCE, "some.py")[1]}
    assert found >= PLANTED
    assert not any("said" in name and "pass" not in name for name in found)
    assert not any("decide'" in name or "import" in name or "type" in name for name in found)


def test_each_mutant_is_another_module_that_compiles() -> None:
    whole = ast.unparse(ast.parse(SOURCE))
    for number, _ in enumerate(mutants_of(SOURCE, "some.py")[1]):
        module, mutants = mutants_of(SOURCE, "some.py")
        mutants[number].plant()
        compile(ast.fix_missing_locations(module), "some.py", "exec")
        assert ast.unparse(module) != whole, mutants[number].name


@pytest.mark.parametrize("file", TARGETS)
def test_what_decides_is_there_with_the_tests_that_notice(file: str) -> None:
    mutants = mutants_of(Path(file).read_text("utf-8"), file)[1]
    assert len(mutants) > 5
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert all(Path(test).is_file() for test in TARGETS[file])


def test_what_is_explained_is_a_mutant_that_there_is() -> None:
    known = tomllib.loads(Path("tests/mutation/survivors.toml").read_text("utf-8")).get("survivor", [])
    there = {mutant.name for file in TARGETS for mutant in mutants_of(Path(file).read_text("utf-8"), file)[1]}
    assert [entry["mutant"] for entry in known if entry["mutant"] not in there] == []
    assert all(len(entry["reason"]) > 20 for entry in known)
