from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hdsp_agent.append_log.jsonl import JsonlLog, LineForm, LogEntry
from hdsp_agent.persistence import CorruptLine

from .._helpers.timing import bytes_moved

Row = dict[str, object]


def parse(line: bytes) -> Row:
    row: object = json.loads(line)
    if not isinstance(row, dict) or "unknown" in row:
        raise ValueError("a form of a later version")
    return row


class Log:
    """A log and what was said about its damage."""

    def __init__(self, path: Path, *, key: str = "seq", latest_wins: bool = False) -> None:
        self.path = path
        self.damage: list[CorruptLine] = []
        self.form = LineForm(key, parse, latest_wins=latest_wins)
        self.reopen()

    def reopen(self) -> None:
        self.log = JsonlLog(lambda: [self.path], self.form, lambda _, line: self.damage.append(line))

    def add(self, *lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))

    def keys(self, entries: list[LogEntry[Row]]) -> list[int]:
        return [entry.key for entry in entries]


def row(seq: int, text: str = "x") -> bytes:
    return json.dumps({"seq": seq, "text": text}, separators=(",", ":")).encode()


def message(ts: int, text: str, *, replaces: bool = False) -> bytes:
    mark = ',"replaces":true' if replaces else ""
    return f'{{"ts":{ts}{mark},"text":"{text}"}}'.encode()


def test_the_newest_are_read_from_the_end_without_looking_at_the_rest(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    log.add(*(row(number, "x" * 1000) for number in range(1, 20_001)))
    before, _ = bytes_moved()
    assert log.keys(log.log.newest(20)) == list(range(19_981, 20_001))
    assert bytes_moved()[0] - before < 200_000
    log.log.between(1, 5, 5, newest=False)
    before, _ = bytes_moved()
    assert log.keys(log.log.between(1, 9_999, 50, newest=True)) == list(range(9_950, 10_000))
    assert bytes_moved()[0] - before < 200_000


def test_lines_longer_than_any_block_are_read_whole(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    texts = ["a" * 200_000, "b", "c" * 2_500_000, "d" * 65_536]
    log.add(*(row(number, text) for number, text in enumerate(texts, 1)))
    assert [entry.record["text"] for entry in log.log.newest(4)] == texts
    assert [entry.record["text"] for entry in log.log.between(1, 4, 9, newest=False)] == texts
    assert [record["text"] for record in log.log.first(2)] == texts[:2]


def test_an_unfinished_last_line_is_not_there_yet(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    log.add(row(1), row(2))
    with log.path.open("ab") as file:
        file.write(row(3))
    for _ in range(2):
        assert log.keys(log.log.newest(5)) == [1, 2]
        assert log.log.count() == 2
    with log.path.open("ab") as file:
        file.write(b"\n")
    assert log.keys(log.log.newest(5)) == [1, 2, 3]
    assert log.log.count() == 3
    assert log.damage == []


def test_what_is_appended_by_others_is_seen_by_the_next_read(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    assert log.log.newest(5) == []
    log.add(row(1))
    assert log.log.count() == 1
    log.add(row(2), row(3))
    assert log.keys(log.log.between(2, 9, 9, newest=False)) == [2, 3]
    assert log.keys(log.log.newest(2)) == [2, 3]


def test_a_line_that_was_cut_off_and_replaced_is_not_mistaken_for_the_old_one(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    log.add(row(1), row(2))
    assert log.log.count() == 2
    data = log.path.read_bytes()
    log.path.write_bytes(data.replace(row(2), row(5)) + row(6) + b"\n")
    assert log.keys(log.log.newest(9)) == [1, 5, 6]
    assert [entry.record for entry in log.log.between(5, 5, 1, newest=True)] == [{"seq": 5, "text": "x"}]


@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe", b"{", b"[1]", b'{"text":"no key"}', b"\0" * 5000, b'{"seq":2,"te', b"null"]
)
def test_a_damaged_line_is_reported_once_and_costs_no_good_one(tmp_path: Path, garbage: bytes) -> None:
    log = Log(tmp_path / "log")
    log.add(row(1), garbage, row(3), b"", row(4))
    for _ in range(2):
        assert log.keys(log.log.newest(9)) == [1, 3, 4]
        assert log.keys(log.log.between(0, 9, 9, newest=True)) == [1, 3, 4]
        assert log.log.count() == 3
    assert [line.data for line in log.damage] == [garbage]
    assert log.damage[0].offset == len(row(1)) + 1


def test_a_line_of_a_later_version_is_told_apart_from_damage(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    log.add(row(1), b'{"seq":2,"unknown":true}', row(3))
    assert log.keys(log.log.newest(9)) == [1, 3]
    assert [line.damage for line in log.damage] == ["unknown"]


def test_lines_written_by_others_in_their_own_style_are_read(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    log.add(b'{"text": "x", "seq": 1}', b' {"seq" : 2}', row(3))
    assert log.keys(log.log.newest(9)) == [1, 2, 3]
    assert log.keys(log.log.newest(2)) == [2, 3]


def test_a_replaced_message_falls_back_to_its_last_good_form(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", key="ts", latest_wins=True)
    log.add(
        message(1, "a"),
        message(2, "b"),
        message(1, "a2", replaces=True),
        b'{"ts":1,"replaces":true,"te',
        message(3, "c"),
    )
    for _ in range(2):
        assert [(entry.key, entry.record["text"]) for entry in log.log.newest(9)] == [(1, "a2"), (2, "b"), (3, "c")]
    assert len(log.damage) == 1


@pytest.mark.parametrize("seed", range(30))
def test_the_end_and_the_index_tell_the_same(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    log = Log(tmp_path / "log", key="ts", latest_wins=True)
    newest: dict[int, str] = {}
    for number in range(300):
        if newest and chance.random() < 0.4:
            ts = chance.choice(list(newest)[-40:])
            text, replaces = f"again {number}", True
        else:
            ts, text, replaces = (max(newest, default=0) + chance.randint(1, 3), f"first {number}", False)
        log.add(message(ts, text, replaces=replaces) if chance.random() < 0.97 else b"{broken")
        newest[ts] = text
    indexed = Log(log.path, key="ts", latest_wins=True)
    everything = indexed.log.between(0, 10**9, 10**6, newest=True)
    keys = log.keys(everything)
    assert keys == sorted(set(keys))
    for limit in (1, 2, 5, 20, 100, 1000):
        log.reopen()
        assert log.log.newest(limit) == everything[-limit:]
