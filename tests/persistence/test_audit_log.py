"""The audit log: appended by many, its owner's alone, and bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence import AuditEntry, AuditLog

_MANY = """
import sys
from pathlib import Path
from hdsp_agent.persistence import AuditEntry, AuditLog
log = AuditLog(Path(sys.argv[1]), largest_bytes=20_000, generations=9)
for number in range(300):
    log.append([AuditEntry.now(sys.argv[2], "read", "GET tasks/{task}", f"{sys.argv[2]}-{number}")])
"""

_FULL = """
import json, resource, signal, sys
from pathlib import Path
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence import AuditEntry, AuditLog
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = AuditLog(Path(sys.argv[1]))
lines = [AuditEntry.now("kim", "read", "GET tasks/{task}", str(number)) for number in range(20)]
log.append(lines[:1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
try:
    log.append(lines[1:])
    sys.exit("it was not told")
except StorageUnavailable:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.append(lines[1:])
"""


def entries(path: Path) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_lines_are_added_and_only_the_owner_can_read_them(tmp_path: Path) -> None:
    path = tmp_path / "home" / "audit.jsonl"
    old = os.umask(0)
    try:
        AuditLog(path).append([AuditEntry.now("kim", "list", "cli list")])
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    AuditLog(path).append([AuditEntry.now("lee\n{", "delete", "DELETE history/{task}", "t")])
    assert path.stat().st_mode & 0o777 == 0o600
    first, second = entries(path)
    assert set(first) == {"time", "user", "action", "via", "conversation"}
    assert (first["user"], first["action"], first["conversation"]) == ("kim", "list", None)
    assert (second["user"], second["conversation"]) == ("lee\n{", "t")


def test_several_processes_lose_no_line_when_the_file_is_full(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    running = [subprocess.Popen([sys.executable, "-c", _MANY, str(path), name]) for name in ("one", "two")]
    assert [process.wait() for process in running] == [0, 0]
    files = [file for file in tmp_path.glob("audit.jsonl*") if not file.name.endswith(".lock")]
    assert len(files) > 3 and all(file.stat().st_size < 20_500 for file in files)
    kept = sorted(str(entry["conversation"]) for file in files for entry in entries(file))
    assert kept == sorted(f"{name}-{number}" for name in ("one", "two") for number in range(300))


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of a file's size in place of a full disk")
def test_lines_of_which_a_full_disk_takes_a_part_are_written_whole_later(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    subprocess.run([sys.executable, "-c", _FULL, str(path)], check=True)
    assert [entry["conversation"] for entry in entries(path)] == [str(number) for number in range(20)]


def test_the_oldest_lines_go_in_the_end(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl", largest_bytes=1_000, generations=2)
    for number in range(100):
        log.append([AuditEntry.now("kim", "read", "GET tasks/{task}", str(number))])
    files = sorted(file for file in tmp_path.glob("audit.jsonl*") if not file.name.endswith(".lock"))
    assert [file.name for file in files] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    numbers = [int(str(entry["conversation"])) for file in reversed(files) for entry in entries(file)]
    assert numbers == list(range(numbers[0], 100)) and numbers[0] > 50


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_it_is_written_through_no_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    path = tmp_path / "audit.jsonl"
    path.symlink_to(other)
    with pytest.raises(StorageUnavailable):
        AuditLog(path).append([AuditEntry.now("kim", "list", "cli list")])
    assert other.read_text() == "mine"
