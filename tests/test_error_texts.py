"""Every code that can reach a person has a sentence in the page, which is what gets translated."""

from __future__ import annotations

import re
from pathlib import Path

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import CpuTooOld
from hdsp_agent.notebooks import CellConflict

ROOT = Path(__file__).parent.parent
SENTENCES = (ROOT / "src" / "errors.ts").read_text(encoding="utf-8")
KNOWN = set(re.findall(r"^  (\w+): (?:\(trans|trans =>|forbidden)", SENTENCES, re.MULTILINE))

# Notices, and what is wrong with the place where keys are kept.
SAID = re.compile(
    r'\bcode=(?:"\w+" if \w+ else )?"(\w+)"|BackendProblem\(\s*"(\w+)"|^_CHECKING\b[^"]*"(\w+)"', re.MULTILINE
)


def codes_of(error: type[HdspAgentError]) -> set[str]:
    return {error.code}.union(*map(codes_of, error.__subclasses__()))


def test_every_error_of_the_tree_has_a_sentence() -> None:
    codes = codes_of(HdspAgentError)
    assert {"invalid_setting", CellConflict.code, CpuTooOld.code} <= codes
    assert codes <= KNOWN


def test_every_reason_why_no_rule_helps_has_a_sentence() -> None:
    path = ROOT / "hdsp_agent" / "agent" / "approval" / "_rule_suggestions.py"
    codes = {code for found in SAID.findall(path.read_text(encoding="utf-8")) for code in found if code}
    assert {"rule_any_command", "rule_none"} <= codes
    assert codes <= KNOWN


def test_everything_said_about_the_configuration_has_a_sentence() -> None:
    codes: set[str] = set()
    for path in (ROOT / "hdsp_agent" / "config").glob("*.py"):
        # An import reports in words of its own.
        if path.name != "_import_export.py":
            codes |= {code for found in SAID.findall(path.read_text(encoding="utf-8")) for code in found if code}
    assert {"config_corrupt", "keyring_locked", "ok"} <= codes
    assert codes <= KNOWN
