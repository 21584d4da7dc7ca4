"""What a snapshot tells of a notebook."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest

from hdsp_agent.errors import NotFound
from hdsp_agent.messages import CellId, JsonObject, OutputDetail
from hdsp_agent.notebooks import (
    NotebookSnapshot,
    OutputSummary,
    bounded_outputs,
    snapshot_of,
    without_escapes,
)
from tests._helpers.parsed_json import parsed

from .._helpers.timing import processor_time
from ._helpers.odd_notebooks import ODD_NOTEBOOKS, code, notebook


def seen(of: JsonObject, outputs: OutputDetail = "none") -> NotebookSnapshot:
    return snapshot_of(of, path="a.ipynb", revision="1", source="disk", outputs=outputs)


def stream(text: str) -> JsonObject:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_cells_have_their_sources_joined_and_hashed() -> None:
    cell = seen(notebook(code(["a\n", "b"]), code("한글"))).cells[0]
    assert cell.source == "a\nb" and cell.hash == hashlib.sha256(b"a\nb").hexdigest()
    korean = seen(notebook(code("한글"))).cells[0]
    assert korean.hash == hashlib.sha256("한글".encode()).hexdigest()


def test_kernel_language_and_format_are_told() -> None:
    snapshot = seen(ODD_NOTEBOOKS["widgets and tools"])
    assert (snapshot.kernel_name, snapshot.language, snapshot.nbformat, snapshot.nbformat_minor) == (
        "python3",
        "python",
        4,
        5,
    )
    bare = seen(ODD_NOTEBOOKS["empty 4.0"])
    assert (bare.kernel_name, bare.language, bare.nbformat_minor, bare.cells) == (None, None, 0, ())
    broken = seen({**notebook(), "metadata": {"kernelspec": "odd", "language_info": {"name": 3}}})
    assert (broken.kernel_name, broken.language) == (None, None)


def test_a_cell_is_found_by_its_id_or_said_not_to_be_there() -> None:
    snapshot = seen(notebook(code("a"), code("b")))
    assert snapshot.cell(CellId("cell-1")).source == "b" and snapshot.index(CellId("cell-1")) == 1
    with pytest.raises(NotFound, match=r"a\.ipynb has no cell nowhere"):
        snapshot.cell(CellId("nowhere"))


# ---- outputs


def test_outputs_come_in_the_detail_asked_for() -> None:
    odd = ODD_NOTEBOOKS["every output"]
    none = seen(odd).cells[0]
    assert none.outputs == () and none.has_outputs
    assert none.output_summary == OutputSummary(count=4, characters=86, images=1, error="ValueError")
    full = seen(odd, outputs="full").cells[0].outputs
    assert parsed(full)[2]["data"]["text/html"] == "<table>\n</table>"
    assert full[0]["text"] == "\x1b[31mred\x1b[0m\n"
    bounded = seen(odd, outputs="bounded").cells[0].outputs
    assert bounded == (
        {"output_type": "stream", "name": "stderr", "text": "red\n"},
        {
            "output_type": "display_data",
            "data": {"text/plain": "<Figure size 640x480 with 1 Axes>"},
            "omitted": [{"mime": "image/png", "bytes": 72}],
        },
        {
            "output_type": "display_data",
            "data": {"text/plain": "   a\n0  1"},
            "omitted": [
                {"mime": "application/vnd.jupyter.widget-view+json", "bytes": 59},
                {"mime": "application/vnd.nobody.knows+json", "bytes": 26},
                {"mime": "application/x-unknown", "bytes": 3},
                {"mime": "text/html", "bytes": 16},
            ],
        },
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["-----\nValueError: no"]},
    )


def test_long_texts_are_cut_in_their_middle_and_short_ones_are_whole() -> None:
    first, short, last = bounded_outputs(
        [stream("a" * 5000 + "z" * 5000), stream("short"), stream("b" * 9000)], characters=1005
    )
    assert short["text"] == "short"
    assert first["text"] == "a" * 250 + "\n[9500 characters left out]\n" + "z" * 250
    assert str(last["text"]).count("b") == 500
    whole = [stream("x" * 400), stream("y" * 600)]
    assert list(bounded_outputs(whole, characters=1000)) == whole


def test_of_very_many_outputs_the_first_and_last_are_shown() -> None:
    bounded = bounded_outputs([stream(str(number)) for number in range(1000)])
    assert len(bounded) == 31
    assert [bounded[place]["text"] for place in (0, 14, 15, 16, 30)] == [
        "0", "14", "[970 outputs left out]\n", "985", "999",
    ]  # fmt: skip


def test_what_a_progress_bar_wrote_over_is_left_out() -> None:
    (bounded,) = bounded_outputs([stream("start\n 10%\r 50%\r100%\nwindows\r\nend\r")])
    assert bounded["text"] == "start\n100%\nwindows\nend"


def test_a_bundle_without_text_is_listed_and_json_is_shown_as_text() -> None:
    image: JsonObject = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {}}
    data: JsonObject = {
        "output_type": "execute_result",
        "execution_count": 3,
        "data": {"application/json": {"a": "한"}},
    }
    assert bounded_outputs([image, data]) == (
        {"output_type": "display_data", "data": {}, "omitted": [{"mime": "image/png", "bytes": 3}]},
        {"output_type": "execute_result", "data": {"application/json": '{"a": "한"}'}, "execution_count": 3},
    )


@pytest.mark.parametrize(
    ("coloured", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mx\x1b[K", "x"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]never ended\nrest", "never ended\nrest"),
        ("\x1b(Bx\x1b7y", "xy"),
        ("plain [0m", "plain [0m"),
    ],
)
def test_escape_sequences_are_removed_and_nothing_else(coloured: str, plain: str) -> None:
    assert without_escapes(coloured) == plain


def test_hostile_outputs_do_not_take_long() -> None:
    with processor_time(2):
        for text in ("\x1b[" * 200_000, "\x1b]" * 200_000, "\r" * 300_000, "x\r" * 300_000, "#" * 500_000):
            bounded_outputs([stream(text)])


def test_outputs_with_missing_or_odd_parts_do_not_stop_a_snapshot() -> None:
    odd: list[JsonObject] = [
        {},
        {"output_type": "stream"},
        {"output_type": "error", "traceback": "text"},
        {"output_type": "display_data", "data": {"text/plain": 3, "image/png": None}},
        {"output_type": "display_data", "data": []},
        {"output_type": "from the future", "data": {"text/plain": "x"}},
    ]
    for detail in ("none", "bounded", "full"):
        snapshot = seen(notebook(code("a", [*odd])), outputs=detail)
        json.dumps(snapshot.cells[0].outputs)


def test_importing_the_notebooks_imports_no_jupyter() -> None:
    program = (
        "import sys, hdsp_agent.notebooks; "
        "print([m for m in ('jupyter_server', 'jupyter_client', 'nbformat', 'tornado') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
