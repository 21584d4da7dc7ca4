"""The presets of what is done without asking, and the settings that they stand for."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hdsp_agent.config import APPROVAL_PRESETS, ApprovalPreset, GlobalSettings, OperatorPolicy, with_preset

REACHES_OUT = {
    "alwaysAllowReadOnlyOutsideWorkspace",
    "alwaysAllowWriteOutsideWorkspace",
    "alwaysAllowWriteProtected",
    "alwaysAllowInstallPackages",
    "alwaysAllowNetwork",
}


@pytest.mark.parametrize("preset", APPROVAL_PRESETS)
def test_a_preset_decides_about_every_kind_of_action(preset: ApprovalPreset) -> None:
    everything = GlobalSettings.model_validate(
        {name: True for name in GlobalSettings.model_fields if name.startswith("always_allow_")}
    )
    for before in (GlobalSettings(), everything):
        values = with_preset(before, preset, OperatorPolicy()).to_wire()
        allowed = {name for name, value in values.items() if name.startswith("alwaysAllow") and value is True}
        assert allowed - {"alwaysAllowFollowupQuestions"} == set(APPROVAL_PRESETS[preset])
        assert values["autoApprovalEnabled"] is (preset != "ask")


def test_a_preset_leaves_questions_to_the_person_as_they_have_it() -> None:
    settings = GlobalSettings(always_allow_followup_questions=True, auto_approval_enabled=True)
    assert with_preset(settings, "edit", OperatorPolicy()).always_allow_followup_questions


def test_no_preset_reaches_out_of_the_workspace() -> None:
    assert all(REACHES_OUT.isdisjoint(allowed) for allowed in APPROVAL_PRESETS.values())


def test_each_preset_allows_what_the_one_before_it_does() -> None:
    allowed = [set(names) for names in APPROVAL_PRESETS.values()]
    assert all(less < more for less, more in pairwise(allowed))


def test_what_the_operator_fixed_stays() -> None:
    policy = OperatorPolicy(fixed_settings={"alwaysAllowRunCells": False})
    assert not with_preset(GlobalSettings(), "everything", policy).always_allow_run_cells
    assert not with_preset(GlobalSettings(), "edit", OperatorPolicy(allow_auto_approval=False)).auto_approval_enabled
