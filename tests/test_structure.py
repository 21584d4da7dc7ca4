"""The check of imports and names finds what it is for."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "check_structure.py"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_structure", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_another_packages_private_module_is_foreign(check: ModuleType) -> None:
    inside = {"hdsp_agent.a.one": frozenset({"hdsp_agent.a._two", "hdsp_agent._files"})}
    assert list(check._foreign(inside)) == []
    outside = {"hdsp_agent.b.one": frozenset({"hdsp_agent.a.deep._two"})}
    assert list(check._foreign(outside)) == [
        "hdsp_agent.b.one imports hdsp_agent.a.deep._two, which is private to hdsp_agent.a"
    ]


def test_a_public_class_is_defined_once(check: ModuleType) -> None:
    trees = {"one": ast.parse("class A: pass\nclass _B: pass"), "two": ast.parse("class A: pass\nclass _B: pass")}
    assert list(check._defined_twice(trees)) == ["The class A is defined in one and two"]


def test_a_circle_is_found_however_long(check: ModuleType) -> None:
    chain = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"d"}), "d": frozenset[str]()}
    assert list(check._circles(chain)) == []
    assert list(check._circles({**chain, "d": frozenset({"b"})})) == ["3 modules import each other: b, c, d"]


def test_imports_for_types_and_of_modules_are_seen(check: ModuleType) -> None:
    text = (
        "from typing import TYPE_CHECKING\nfrom . import other\nfrom ..room import Thing\n"
        "if TYPE_CHECKING:\n    from .late import Type\ndef f():\n    from hdsp_agent.far import x\n"
    )
    modules = dict.fromkeys(("p.here.other", "p.room", "p.here.late", "hdsp_agent.far"))
    assert set(check._imports("p.here.this", ast.parse(text), modules)) == set(modules)
