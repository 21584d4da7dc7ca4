from __future__ import annotations

import gzip
import io
import random
import subprocess
from pathlib import Path

import pytest

from hdsp_agent.append_log import gzip_logs
from hdsp_agent.append_log.gzip_logs import open_packed, unpacked_size, write_packed
from hdsp_agent.append_log.jsonl import JsonlLog
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence._task_streams import UI_FORM, ui_line
from hdsp_agent.persistence.upkeep._compaction import compacted_ui_lines


def message(ts: int, text: str = "x", *, partial: bool = False) -> ClineMessage:
    return ClineMessage(ts=ts, type="say", say="text", text=text, partial=partial or None)


def log_of(path: Path) -> JsonlLog[ClineMessage]:
    return JsonlLog(lambda: [path], UI_FORM, lambda *_: None)


@pytest.mark.parametrize("size", [0, 1, 1000, 256 * 1024, 256 * 1024 + 1, 3_000_000])
def test_any_part_of_what_was_packed_is_read_back(tmp_path: Path, size: int) -> None:
    data = random.Random(size).randbytes(size)
    path = tmp_path / "log.gz"
    pieces = [data[start : start + 10_007] for start in range(0, size, 10_007)]
    assert write_packed(path, pieces, size) == size
    assert unpacked_size(path) == size
    assert path.stat().st_mode & 0o777 == 0o600
    file, known = open_packed(io.BytesIO(path.read_bytes()))
    assert known == size
    with file:
        assert file.read() == data
        for _ in range(20):
            start = random.randint(0, size)
            file.seek(start)
            assert file.read(5000) == data[start : start + 5000]
    assert gzip.decompress(path.read_bytes()) == data


def test_every_gzip_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    data = b"line\n" * 200_000
    write_packed(path, [data[:600_000], data[600_000:]], len(data))
    assert subprocess.run(["gzip", "-dc", path], capture_output=True, check=True).stdout == data


def test_a_file_that_another_program_packed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"abc" * 1000))
    file, known = open_packed(io.BytesIO(path.read_bytes()))
    with file:
        assert known is None
        assert file.read() == b"abc" * 1000
    assert unpacked_size(path) == 3000


def test_a_small_file_that_swells_beyond_measure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = gzip.compress((b'{"ts":1,"text":"' + b" " * 1_000_000 + b'"}\n') * 100)
    path.with_name("log.gz").write_bytes(lines)
    log = log_of(path)
    for read in (lambda: log.newest(10), log.count, lambda: log.between(1, 2, 3, newest=True)):
        with pytest.raises(StorageUnavailable, match="100 times"):
            read()


def test_what_another_program_packed_is_unpacked_once_for_its_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    long = "".join(map(str, range(3_000)))
    data = b"".join(ui_line(message(ts, f"{ts} {long}"), replaces=False) for ts in range(1, 201))
    path.with_name("log.gz").write_bytes(gzip.compress(data, 1))
    unpacked: list[int] = []
    readinto = gzip_logs._Bounded.readinto

    def counted(file: gzip_logs._Bounded, buffer: bytearray) -> int:
        unpacked.append(readinto(file, buffer))
        return unpacked[-1]

    monkeypatch.setattr(gzip_logs._Bounded, "readinto", counted)
    assert [entry.key for entry in log_of(path).newest(3)] == [198, 199, 200]
    # Once for the index, and from the beginning once more for the three lines.
    assert len(data) <= sum(unpacked) <= 2 * len(data)


@pytest.mark.parametrize("keep", [10, 500, -1, -30])
def test_a_packed_log_that_was_cut_says_so(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "ui.jsonl"
    write_packed(tmp_path / "ui.jsonl.gz", [ui_line(message(ts), replaces=False) for ts in range(1, 5000)], 0)
    packed = (tmp_path / "ui.jsonl.gz").read_bytes()
    (tmp_path / "ui.jsonl.gz").write_bytes(packed[:keep])
    if keep > 0:
        with pytest.raises(StorageUnavailable, match="damaged"):
            log_of(path).newest(10)
    else:
        # All blocks are there, only the table of them is not.
        with pytest.raises(StorageUnavailable, match="damaged"):
            log_of(path).count()


def test_a_damaged_block_costs_only_itself(tmp_path: Path) -> None:
    packed = tmp_path / "ui.jsonl.gz"
    texts = [random.Random(ts).randbytes(500).hex() for ts in range(3000)]
    write_packed(packed, [ui_line(message(ts + 1, text), replaces=False) for ts, text in enumerate(texts)], 0)
    damaged = bytearray(packed.read_bytes())
    damaged[200:203] = bytes(3)
    packed.write_bytes(damaged)
    told: list[object] = []
    log = JsonlLog(lambda: [tmp_path / "ui.jsonl"], UI_FORM, lambda _, line: told.append(line))
    read = [entry.record for entry in log.between(0, 10_000, 10_000, newest=False)]
    assert 2000 < len(read) < 3000
    assert all(each.text == texts[each.ts - 1] for each in read)
    assert len(told) == 1


def test_for_the_newest_page_of_a_long_packed_conversation_two_blocks_are_unpacked_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [ui_line(message(ts, f"{ts} {random.random()} " * 60), replaces=False) for ts in range(1, 3_001)]
    write_packed(tmp_path / "ui.jsonl.gz", lines, sum(map(len, lines)))
    unpacked: set[int] = set()
    block = gzip_logs._Blocks._block

    def counted(blocks: gzip_logs._Blocks, number: int) -> bytes:
        unpacked.add(number)
        return block(blocks, number)

    monkeypatch.setattr(gzip_logs._Blocks, "_block", counted)
    newest = log_of(tmp_path / "ui.jsonl").newest(50)
    assert [entry.key for entry in newest] == list(range(2951, 3_001))
    assert max(unpacked) > 10 and len(unpacked) <= 2


def test_compaction_keeps_the_newest_form_of_each_message_where_its_first_was() -> None:
    log = b"".join(
        (
            ui_line(message(1, "a", partial=True), replaces=False),
            ui_line(message(2, "b"), replaces=False),
            ui_line(message(1, "a replaced"), replaces=True),
            b"not json\n",
            ui_line(message(3, '"replaces":true'), replaces=False),
            b'{"ts":2,"replaces":true,"type":"half',
        )
    )
    compacted = b"".join(compacted_ui_lines(io.BytesIO(log), len(log)))
    assert compacted == b"".join(
        (
            ui_line(message(1, "a replaced"), replaces=False),
            ui_line(message(2, "b"), replaces=False),
            b"not json\n",
            ui_line(message(3, '"replaces":true'), replaces=False),
            b'{"ts":2,"replaces":true,"type":"half',
        )
    )


def test_compaction_keeps_all_forms_of_a_message_whose_newest_cannot_be_read() -> None:
    log = ui_line(message(1, "good"), replaces=False) + b'{"ts":1,"replaces":true,"type":broken}\n'
    assert b"".join(compacted_ui_lines(io.BytesIO(log), len(log))) == log


@pytest.mark.parametrize("seed", range(20))
def test_a_compacted_log_reads_as_it_did(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines: list[bytes] = []
    newest = 0
    for number in range(chance.randint(1, 200)):
        if newest and chance.random() < 0.6:
            lines.append(ui_line(message(chance.randint(max(1, newest - 5), newest), f"again {number}"), replaces=True))
        elif chance.random() < 0.1:
            lines.append(chance.choice((b"\n", b"junk\n", b'{"ts":1,"type":"later version"}\n')))
        else:
            newest += 1
            lines.append(ui_line(message(newest, f"first {number}"), replaces=False))
    data = b"".join(lines)
    (tmp_path / "old").write_bytes(data)
    (tmp_path / "new").write_bytes(b"".join(compacted_ui_lines(io.BytesIO(data), len(data))))
    old, new = log_of(tmp_path / "old"), log_of(tmp_path / "new")
    assert old.newest(20) == new.newest(20)
    assert old.between(0, 10**9, 1000, newest=False) == new.between(0, 10**9, 1000, newest=False)
    assert (tmp_path / "new").stat().st_size <= len(data)
