"""Reports of verified notebooks: kept with their checkpoints, bounded, and read past what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints import FileLimits
from hdsp_agent.checkpoints.timeline import VerificationReport, _verification_reports
from hdsp_agent.checkpoints.timeline._verification_reports import VerificationReports
from hdsp_agent.errors import InvalidInput, NotFound, StorageUnavailable

from ._helpers.timeline_fixtures import PATH, timeline_setup


def report(name: str, checkpoint: str = "c", **others: object) -> VerificationReport:
    fields = {"ts": 1, "owner": "ann", "path": PATH, "same": 2, "differing": 1, "report": {"cells": [{"id": "é"}]}}
    return VerificationReport.model_validate({"id": name, "checkpoint": checkpoint, **fields, **others})


def names(reports: VerificationReports) -> list[str]:
    return [one.id for one in reports.summaries()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "verifications.jsonl"


def test_a_report_is_there_whole_for_whoever_looks_later(log: Path) -> None:
    reports = VerificationReports(log)
    assert names(reports) == [] and reports.find("a") is None
    reports.add(report("a"))
    reports.add(report("b"))
    for reader in (reports, VerificationReports(log)):
        assert names(reader) == ["a", "b"] and [one.report for one in reader.summaries()] == [{}, {}]
        found = reader.find("b")
        assert found is not None and (found.report, found.same, found.differing) == ({"cells": [{"id": "é"}]}, 2, 1)
    assert log.stat().st_mode & 0o777 == 0o600


def test_what_is_damaged_is_told_and_the_rest_is_there(log: Path, caplog: pytest.LogCaptureFixture) -> None:
    reports = VerificationReports(log)
    for name in "abc":
        reports.add(report(name))
    lines = log.read_bytes().splitlines(keepends=True)
    # Half a line is what a crash left at the end; the other one was written over.
    log.write_bytes(lines[0] + b"\0" * 20 + b"\n" + lines[2] + b'{"seq":4,"id":"d"')
    again = VerificationReports(log)
    assert names(again) == ["a", "c"] and "its report is lost" in caplog.text
    again.add(report("e"))
    assert names(again) == names(VerificationReports(log)) == ["a", "c", "e"]
    found = again.find("e")
    assert found is not None and found.seq == 4


def test_there_are_not_too_many_and_none_is_too_large(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_verification_reports, "_MOST_REPORTS", 3)
    reports = VerificationReports(log)
    for name in "abcde":
        reports.add(report(name))
    assert names(reports) == ["c", "d", "e"]
    with pytest.raises(InvalidInput, match="larger than 1000 kB"):
        reports.add(report("f", report={"cells": "x" * 1_000_000}))
    assert names(reports) == ["c", "d", "e"]


def test_those_of_other_checkpoints_go(log: Path) -> None:
    reports = VerificationReports(log)
    for name, checkpoint in (("a", "c1"), ("b", "c2"), ("c", "c1")):
        reports.add(report(name, checkpoint))
    before = log.stat()
    reports.collect({"c1", "c2", "c3"})
    assert log.stat() == before
    reports.collect({"c1"})
    assert names(reports) == ["a", "c"]
    reports.add(report("d", "c1"))
    assert reports.find("b") is None and reports.find("d") is not None


def test_a_disk_that_refuses_leaves_what_there_was(log: Path) -> None:
    reports = VerificationReports(log)
    reports.add(report("a"))
    log.rename(log.with_name("kept"))
    log.mkdir()
    with pytest.raises(StorageUnavailable):
        reports.add(report("b"))
    log.rmdir()
    log.with_name("kept").rename(log)
    assert names(reports) == ["a"]


async def test_two_servers_keep_reports_side_by_side_and_none_of_a_checkpoint_that_is_gone(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        record = await here.line.save("for a verification", owner="ann", notebooks=[PATH])
        other = here.another_line()
        await here.line.keep_report(report("a", record.id))
        await other.keep_report(report("b", record.id, owner="ben"))
        await here.line.keep_report(report("c", record.id, path="other.ipynb"))
        await here.line.keep_report(report("d", record.id))
        assert [one.id for one in (await other.verified("ann"))[record.id]] == ["d", "c"]
        assert [one.id for one in (await here.line.verified("ben"))[record.id]] == ["b"]
        with pytest.raises(NotFound):
            await here.line.keep_report(report("e", "gone"))
        await other.close()


async def test_reports_go_with_their_checkpoints(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path, limits=FileLimits(checkpoints=1, kept_checkpoints=1)) as here:
        old = await here.line.save("for a verification", owner="ann")
        await here.line.keep_report(report("a", old.id))
        here.file.write_text(here.file.read_text("utf-8") + " ", "utf-8")
        new = await here.line.save("for a verification", owner="ann")
        await here.line.keep_report(report("b", new.id))
        await here.line.gc()
        assert await here.line.report("a") is None and await here.line.report("b") is not None
