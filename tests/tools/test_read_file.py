"""Reading files of every kind, and refusing what is none."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import socket
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image
from pydantic import TypeAdapter

from hdsp_agent.config import GlobalSettings
from hdsp_agent.tools import Approval

from .._helpers.timing import bytes_moved
from ._helpers.recording_context import Approved, RecordingContext

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_lines_come_with_their_numbers(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"one\r\ntwo\nthree")
    assert await task.text("read_file", path="a.txt") == "1 | one\n2 | two\n3 | three"
    assert await task.text("read_file", path="a.txt", start_line=2, end_line=2) == "2 | two"
    assert task.approvals[0].action.risks == {"read"}
    assert task.approvals[0].shown["tool"] == "readFile"


async def test_a_range_beyond_the_end_says_how_many_lines_there_are(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n", "utf-8")
    assert "has 1 lines; there is no line 5" in await task.failure("read_file", path="a.txt", start_line=5)


async def test_a_long_file_is_read_in_pieces_that_join(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 5001)), "utf-8")
    first = await task.text("read_file", path="a.txt")
    assert "2000 | line 2000" in first
    assert "2001 |" not in first
    assert "5,000 lines; go on with start_line 2001" in first
    assert (await task.text("read_file", path="a.txt", start_line=4999)) == "4999 | line 4999\n5000 | line 5000"


async def test_a_line_without_end_is_cut(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.json").write_text("x" * 3_000_000 + "\nnext", "utf-8")
    text = await task.text("read_file", path="a.json")
    assert len(text) < 3_000
    assert "2 | next" in text


async def test_of_two_gigabytes_only_a_part_is_read(task: RecordingContext, workspace: Path) -> None:
    with open(workspace / "big.log", "wb") as file:
        file.write(b"first line\n" * 200_000)
        file.truncate(2_000_000_000)
    before, _ = bytes_moved()
    text = await task.text("read_file", path="big.log", end_line=2)
    assert text == "1 | first line\n2 | first line"
    assert bytes_moved()[0] - before < 200_000_000


async def test_two_gigabytes_of_nothing_are_binary(task: RecordingContext, workspace: Path) -> None:
    with open(workspace / "big.bin", "wb") as file:
        file.truncate(2_000_000_000)
    assert "binary file of 2,000,000,000 bytes" in await task.failure("read_file", path="big.bin")


async def test_pipes_sockets_and_devices_are_refused_without_waiting(task: RecordingContext, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(workspace / "sock"))
        assert "a named pipe" in await asyncio.wait_for(task.failure("read_file", path="pipe"), 60)
        assert "a socket" in await asyncio.wait_for(task.failure("read_file", path="sock"), 60)
    assert "no ordinary file" in await asyncio.wait_for(task.failure("read_file", path="/dev/zero"), 60)
    assert task.approvals == []


async def test_folders_missing_files_and_notebooks_get_advice(task: RecordingContext, workspace: Path) -> None:
    (workspace / "folder").mkdir()
    (workspace / "n.ipynb").write_text("{}", "utf-8")
    assert "list_files" in await task.failure("read_file", path="folder")
    assert "does not exist" in await task.failure("read_file", path="gone.txt")
    assert "notebook tools" in await task.failure("read_file", path="n.ipynb")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp949", "shift_jis"])
async def test_text_of_other_encodings_is_read(task: RecordingContext, workspace: Path, encoding: str) -> None:
    text = (
        "日本語の文章です。これは長い文です。\n" * 20
        if encoding == "shift_jis"
        else "한국어 문장입니다. 데이터를 읽습니다.\n" * 20
    )
    (workspace / "a.txt").write_text(text, encoding)
    assert f"1 | {text.splitlines()[0]}\n2 |" in await task.text("read_file", path="a.txt")


async def test_an_image_is_shown_and_one_too_large_is_not(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.png").write_bytes(PNG)
    (workspace / "b.png").write_bytes(PNG + b"\0" * 6_000_000)
    content = (await task.call("read_file", path="a.png")).content
    assert isinstance(content, list)
    assert content[1] == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()},
    }
    [shown] = [said for said in task.said.values() if said.say == "image"]
    assert (shown.text, shown.images) == ("a.png", (f"data:image/png;base64,{base64.b64encode(PNG).decode()}",))
    assert "smaller copy" in await task.failure("read_file", path="b.png")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def _png(width: int, height: int) -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + _chunk(b"IDAT", zlib.compress(b"\0" * 1_000)) + _chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n", PNG[:-8], PNG[:40], b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\0\x10JFIF", b"GIF89a\1\0\1\0", b"RIFF\xff\xff\0\0WEBPVP8 ", b"RIFF\4\0\0\0WEBP",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100, b"GIF89a\0\0\0\0;",
    ],
)  # fmt: skip
async def test_a_damaged_image_is_not_sent_to_a_model_that_would_refuse_every_request_with_it(
    task: RecordingContext, workspace: Path, data: bytes
) -> None:
    (workspace / "a.png").write_bytes(data)
    assert "damaged" in await task.failure("read_file", path="a.png")


@pytest.mark.parametrize("side", [8_500, 10_000, 60_000])
async def test_an_image_of_few_bytes_and_very_many_pixels_is_not_sent(
    task: RecordingContext, workspace: Path, side: int
) -> None:
    # Above 89 and 179 million pixels, Pillow warns and refuses by itself.
    (workspace / "bomb.png").write_bytes(_png(side, side))
    assert "too many pixels" in await task.failure("read_file", path="bomb.png")


@pytest.mark.parametrize(
    ("form", "mode", "media_type"),
    [
        ("PNG", "RGBA", "image/png"), ("PNG", "P", "image/png"), ("PNG", "I;16", "image/png"), ("GIF", "P", "image/png"),
        ("JPEG", "RGB", "image/jpeg"), ("JPEG", "CMYK", "image/jpeg"), ("WEBP", "RGB", "image/png"),
    ],
)  # fmt: skip
async def test_an_image_larger_than_services_take_is_made_smaller(
    task: RecordingContext, workspace: Path, form: str, mode: str, media_type: str
) -> None:
    side = 16_000 if form == "WEBP" else 20_000
    Image.new(mode, (side, 100)).save(workspace / "wide", form)
    content = (await task.call("read_file", path="wide")).content
    assert isinstance(content, list)
    text, image = content
    assert "made smaller for you: 8,000 by " in str(text)
    source = TypeAdapter(dict[str, str]).validate_python(image["source"])
    assert source["media_type"] == media_type
    with Image.open(io.BytesIO(base64.b64decode(source["data"]))) as sent:
        assert sent.width == 8_000
        sent.load()


async def test_what_is_made_smaller_keeps_to_the_size_of_files(workspace: Path) -> None:
    task = await asyncio.to_thread(RecordingContext, workspace, GlobalSettings(max_image_file_size=0.5))
    noise = Image.effect_noise((9_000, 120), 60)
    noise.save(workspace / "noise.jpg", quality=20)
    assert (workspace / "noise.jpg").stat().st_size < 500_000
    content = (await task.call("read_file", path="noise.jpg")).content
    assert isinstance(content, list)
    source = TypeAdapter(dict[str, str]).validate_python(content[1]["source"])
    assert len(base64.b64decode(source["data"])) <= 500_000


async def test_an_image_that_fits_is_sent_as_it_is(task: RecordingContext, workspace: Path) -> None:
    (workspace / "wide.png").write_bytes(_png(8_000, 10))
    content = (await task.call("read_file", path="wide.png")).content
    assert isinstance(content, list)
    source = TypeAdapter(dict[str, str]).validate_python(content[1]["source"])
    assert base64.b64decode(source["data"]) == _png(8_000, 10)


@pytest.mark.parametrize(
    "text", ["café\nnaïve\n", "a±b\n", "20 °C\n", "Müller; Straße; 3,5 €\n", "x" * 50_000 + " é\n"]
)
async def test_a_few_letters_with_accents_are_not_taken_for_another_script(
    task: RecordingContext, workspace: Path, text: str
) -> None:
    (workspace / "a.txt").write_text(text, "cp1252")
    if len(text) < 100:
        assert f"1 | {text.splitlines()[0]}\n" in await task.text("read_file", path="a.txt")
    await task.text("search_replace", path="a.txt", old_string=text[-3:-1], new_string="éü")
    assert (workspace / "a.txt").read_bytes() == (text[:-3] + "éü\n").encode("cp1252")


def _pdf(text: str) -> bytes:
    """A PDF of one page, made by hand."""
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream), b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]  # fmt: skip
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return body + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(body),
    )


async def test_of_a_pdf_the_text_is_read(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.pdf").write_bytes(_pdf("Quarterly results"))
    read = await task.text("read_file", path="a.pdf")
    assert "Quarterly results" in read
    assert "page 1 of 1" in read


async def test_a_workspace_cannot_have_its_own_code_run_to_read_a_pdf(
    task: RecordingContext, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the server was begun in the workspace."""
    planted = "import pathlib\npathlib.Path('PWN').touch()\n"
    (workspace / "hdsp_agent").mkdir()
    for name in ("hdsp_agent/__init__.py", "pypdf.py", "io.py", "runpy.py"):
        (workspace / name).write_text(planted)
    (workspace / "a.pdf").write_bytes(_pdf("Quarterly results"))
    monkeypatch.chdir(workspace)
    assert "Quarterly results" in await task.text("read_file", path="a.pdf")
    assert not (workspace / "PWN").exists()


async def test_a_damaged_pdf_gets_a_clear_message(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n")
    assert "cannot be read" in await task.failure("read_file", path="a.pdf")


async def test_a_denial_reads_nothing_and_passes_on_what_the_person_said(
    task: RecordingContext, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("content", "utf-8")
    task.decide = lambda _: Approval(approved=False, feedback="not that one")
    failure = await task.failure("read_file", path="a.txt")
    assert "not that one" in failure
    assert '"denied"' in failure
    assert "content" not in failure


async def test_words_given_with_an_approval_come_before_the_result(task: RecordingContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("content", "utf-8")

    def decide(_: Approved) -> Approval:
        return Approval(approved=True, feedback="look closely", by_person=True)

    task.decide = decide
    assert (await task.text("read_file", path="a.txt")).startswith('{"status": "approved", "feedback": "look closely"}')
