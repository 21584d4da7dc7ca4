"""A folder that becomes a link while files are restored leads the restore nowhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.files import anchored_files
from hdsp_agent.checkpoints.files.anchored_files import AnchoredFiles, is_led_away
from tests._helpers.forked_python import forked_python
from tests._helpers.long_tests import rounds
from tests.persistence.test_crashes import unix

from ._helpers.workspace_fixtures import picture, write

ROOT = Path(__file__).parents[3]
pytestmark = unix


@pytest.mark.parametrize("swapped", ["dir", "dir/sub"])
@pytest.mark.parametrize("each", [rounds(7, 1)])
def test_nothing_elsewhere_changes_whenever_a_folder_is_swapped(quick_folder: Path, swapped: str, each: int) -> None:
    done = subprocess.run(
        [forked_python(), "-m", "tests.checkpoints.files._helpers.swapped_folder", str(quick_folder), swapped, str(each)],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert told["calls"] > 100
    # Some came in time to stop the restore, some after it was done.
    assert {"Conflict", "done"} <= told["ended"].keys()


@pytest.mark.parametrize("anchors", [True, False])
def test_every_change_behind_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anchors: bool) -> None:
    monkeypatch.setattr(anchored_files, "_ANCHORS", anchors)
    write(tmp_path, {"root/a": "1", "elsewhere/b": "1", "elsewhere/in/c": "1"})
    (tmp_path / "root" / "led").symlink_to("../elsewhere")
    before = picture(tmp_path)
    with AnchoredFiles(os.fsencode(tmp_path / "root")) as files:
        changes = (
            lambda: files.open(b"led/new", os.O_WRONLY | os.O_CREAT),
            lambda: files.make_folder(b"led/new", 0o700),
            lambda: files.make_link(b"x", b"led/new"),
            lambda: files.unlink(b"led/b"),
            lambda: files.remove(b"led/in"),
            lambda: files.remove_folder(b"led/in"),
            lambda: files.rename(b"led/b", b"mine"),
            lambda: files.rename(b"a", b"led/a"),
            lambda: files.replace(b"a", b"led/b"),
            lambda: files.also_name(b"led/b", b"mine"),
            lambda: files.also_name(b"a", b"led/a"),
            lambda: files.set_mode(b"led/b", 0o777),
            lambda: files.set_time(b"led/b", 5, is_link=False),
            lambda: files.set_time(b"led/b", 5, is_link=True),
            lambda: files.names(b"led/in"),
        )
        for change in changes:
            with pytest.raises(OSError) as refused:
                change()
            assert is_led_away(refused.value)
            assert str(tmp_path).encode() in refused.value.filename
        # What leaves no link behind leaves nothing behind.
        assert picture(tmp_path) == before
        files.remove(b"led")
    assert picture(tmp_path / "elsewhere") == {b"b": before[b"elsewhere/b"], b"in": before[b"elsewhere/in"],
                                               b"in/c": before[b"elsewhere/in/c"]}  # fmt: skip


def test_a_folder_that_came_in_the_place_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    write(tmp_path, {"dir/a": "1"})
    with AnchoredFiles(os.fsencode(tmp_path)) as files:
        files.set_mode(b"dir/a", 0o600)
        files.rename(b"dir", b"aside")
        files.make_folder(b"dir", 0o700)
        os.close(files.open(b"dir/b", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    assert (tmp_path / "dir" / "b").exists() and not (tmp_path / "aside" / "b").exists()


def test_the_mode_of_what_may_not_be_read_can_be_set_but_not_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"shut": "1", "elsewhere": "1"})
    (tmp_path / "link").symlink_to("elsewhere")
    with AnchoredFiles(os.fsencode(tmp_path)) as files:
        # Root may read everything, so what is done for others is called by its name.
        files._set_mode_unread(b"shut", 0o640)
        before = (tmp_path / "elsewhere").stat().st_mode
        with pytest.raises(OSError):
            files._set_mode_unread(b"link", 0o777)
    assert (tmp_path / "shut").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "elsewhere").stat().st_mode == before
