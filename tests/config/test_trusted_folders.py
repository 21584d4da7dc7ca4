"""Which folders count as trusted: what is kept, what covers what, and what the operator decides."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.config import OperatorPolicy, TrustedFolders
from hdsp_agent.errors import ForbiddenByOperator, InvalidInput, InvalidSetting


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folders(home: Path) -> TrustedFolders:
    return TrustedFolders(home, OperatorPolicy)


def made(*paths: Path) -> Path:
    for path in paths:
        path.mkdir(parents=True, exist_ok=True)
    return paths[0]


def test_a_folder_is_not_trusted_before_the_person_says_so(folders: TrustedFolders, tmp_path: Path) -> None:
    work = made(tmp_path / "work")
    assert folders.standing(work).verdict == "undecided"
    assert folders.trusted(work) is None
    assert folders.decide(work, True).verdict == "trusted"
    assert folders.trusted(work) == work
    assert folders.decide(work, False).verdict == "notTrusted"
    assert folders.trusted(work) is None
    assert folders.decide(work, None).verdict == "undecided"
    assert list(folders.decisions()) == []


def test_decisions_are_in_a_private_file_that_other_programs_see_at_once(
    folders: TrustedFolders, home: Path, tmp_path: Path
) -> None:
    work, other = made(tmp_path / "work"), TrustedFolders(home, OperatorPolicy)
    assert other.trusted(work) is None
    folders.decide(work, True)
    assert other.trusted(work) == work
    other.decide(work, False)
    assert folders.trusted(work) is None
    kept = home / "trusted-folders.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_trust_covers_what_is_inside_and_the_nearest_decision_counts(folders: TrustedFolders, tmp_path: Path) -> None:
    work = made(tmp_path / "work", tmp_path / "work/a/b", tmp_path / "workshop")
    folders.decide(work, True)
    inside = folders.standing(work / "a/b")
    assert (inside.verdict, inside.through) == ("trusted", work)
    assert folders.trusted(tmp_path / "workshop") is None
    assert folders.trusted(tmp_path) is None
    folders.decide(work / "a", False)
    # Each folder below one that is not trusted is asked about.
    assert folders.standing(work / "a/b").verdict == "undecided"
    assert folders.standing(work / "a").verdict == "notTrusted"


@pytest.mark.parametrize("place", ["home", "above"])
def test_trust_in_the_home_folder_covers_nothing_else(
    folders: TrustedFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    person = made(tmp_path / "people/ann", tmp_path / "people/ann/cloned")
    monkeypatch.setenv("HOME", str(person))
    trusted = person if place == "home" else person.parent
    folders.decide(trusted, True)
    assert folders.trusted(trusted) == trusted
    assert folders.trusted(person / "cloned") is None


def test_a_link_that_is_made_to_lead_elsewhere_carries_no_trust_along(folders: TrustedFolders, tmp_path: Path) -> None:
    good, bad, link = made(tmp_path / "good"), made(tmp_path / "bad"), tmp_path / "link"
    link.symlink_to(good)
    folders.decide(link, True)
    assert folders.trusted(link) == good
    link.unlink()
    link.symlink_to(bad)
    assert folders.trusted(link) is None
    # Nor does a folder that is put in the place of a part of the path.
    folders.decide(made(tmp_path / "a/work"), True)
    os.rename(tmp_path / "a", tmp_path / "b")
    made(tmp_path / "evil/work")
    (tmp_path / "a").symlink_to(tmp_path / "evil")
    assert folders.trusted(tmp_path / "a/work") is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 9, "folders": []}', '{"folders": [{"folder": "/"}]}', "\0"]
)
def test_a_list_that_cannot_be_understood_trusts_nobody_and_is_kept_aside(
    folders: TrustedFolders, home: Path, tmp_path: Path, text: str
) -> None:
    work = made(tmp_path / "work")
    folders.decide(work, True)
    (home / "trusted-folders.json").write_text(text)
    assert folders.trusted(work) is None
    folders.decide(work, True)
    assert folders.trusted(work) == work
    (aside,) = home.glob("trusted-folders.json.corrupt-*")
    assert aside.read_text() == text


@pytest.mark.parametrize("name", ["nowhere", "file", "nul\0", "\udc80bad"])
def test_only_a_folder_that_is_there_can_be_trusted(folders: TrustedFolders, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput):
        folders.decide(tmp_path / name, True)
    with pytest.raises(InvalidInput):
        folders.decide(Path("relative"), True)
    assert list(folders.decisions()) == []


def test_a_folder_that_is_gone_can_be_taken_off_the_list(folders: TrustedFolders, tmp_path: Path) -> None:
    work = made(tmp_path / "work")
    folders.decide(work, True)
    work.rmdir()
    folders.decide(work, None)
    assert list(folders.decisions()) == []
    # Also where a link leads elsewhere in its place.
    folders.decide(made(work), True)
    work.rmdir()
    work.symlink_to(made(tmp_path / "other"))
    folders.decide(work, None)
    assert list(folders.decisions()) == []


def test_the_operator_decides_before_the_person(home: Path, tmp_path: Path) -> None:
    team, work = made(tmp_path / "team", tmp_path / "team/a"), made(tmp_path / "work")
    policy = OperatorPolicy()
    folders = TrustedFolders(home, lambda: policy)
    folders.decide(work, True)
    policy = replace(policy, trusted_folders=(str(team),))
    listed = folders.standing(team / "a")
    assert (listed.verdict, listed.decided_by, listed.through) == ("trusted", "operator", team)
    policy = replace(policy, workspace_trust="never")
    assert (folders.standing(work).verdict, folders.standing(work).decided_by) == ("notTrusted", "operator")
    assert folders.trusted(team) == team
    folders.trust_for_now(work)
    assert folders.trusted(work) is None
    with pytest.raises(ForbiddenByOperator):
        folders.decide(work, True)
    policy = OperatorPolicy(workspace_trust="always")
    assert folders.trusted(made(tmp_path / "any")) == tmp_path / "any"
    with pytest.raises(ForbiddenByOperator):
        folders.decide(work, False)
    # What was decided before is still there, and can be taken off.
    folders.decide(work, None)
    assert list(folders.decisions()) == []


def test_the_operators_folders_are_whole_paths() -> None:
    OperatorPolicy(trusted_folders=("/srv/team", "~/team")).check_names()
    with pytest.raises(InvalidSetting, match="trusted_folders"):
        OperatorPolicy(trusted_folders=("team",)).check_names()


def test_trust_for_now_ends_with_the_program_and_writes_nothing(
    folders: TrustedFolders, home: Path, tmp_path: Path
) -> None:
    work = made(tmp_path / "work")
    folders.trust_for_now(work)
    assert folders.trusted(work) == work
    assert not home.exists()
    assert TrustedFolders(home, OperatorPolicy).trusted(work) is None


def test_the_oldest_decisions_give_way(folders: TrustedFolders, home: Path, tmp_path: Path) -> None:
    work = made(tmp_path / "work")
    old = [{"folder": f"/f/{n}", "trusted": True, "decidedAt": f"2020-01-01T00:{n:06}"} for n in range(10_000)]
    made(home)
    (home / "trusted-folders.json").write_text(json.dumps({"version": 1, "folders": old}))
    folders.decide(work, True)
    kept = {one.folder for one in folders.decisions()}
    assert len(kept) == 10_000 and str(work) in kept and "/f/0" not in kept and "/f/9999" in kept
