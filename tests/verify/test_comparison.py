"""Outputs that are the same, and outputs that are not."""

from __future__ import annotations

import base64
from io import BytesIO

import pytest
from PIL import Image

from hdsp_agent.verify import Tolerance
from hdsp_agent.verify._comparison import ShownOutput, difference, outputs_of


def text(content: str) -> list[ShownOutput]:
    return outputs_of({"outputs": [{"output_type": "stream", "name": "stdout", "text": content}]})


def shown(**data: str) -> list[ShownOutput]:
    names = {"plain": "text/plain", "html": "text/html", "png": "image/png"}
    bundle = {names[name]: value for name, value in data.items()}
    return outputs_of({"outputs": [{"output_type": "execute_result", "data": bundle}]})


def png(spot: tuple[int, int, int] = (0, 0, 0), size: int = 100, spots: int = 0) -> str:
    image = Image.new("RGB", (size, size), (255, 255, 255))
    for at in range(spots):
        image.putpixel((at % size, at // size), spot)
    file = BytesIO()
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def point(size: int, at: tuple[int, int], side: int = 8) -> str:
    image = Image.new("RGBA", (size, size), (255, 255, 255, 0))
    image.paste((0, 0, 0, 255), (*at, at[0] + side, at[1] + side))
    file = BytesIO()
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(
    ("saved", "now"),
    [
        ("0.30000000000000004\n", "0.3\n"),
        ("1" * 9000 + "x", "1" * 9000 + "x "),
        ("mean 12.3456789012", "mean 12.3456789013"),
        ("loss: 0.1234 acc: 0.98765", "loss: 0.1233 acc: 0.98766"),
        ("<object at 0x7f3a2b1c>", "<object at 0x7fffe1c0>"),
        ("loss 1.2345e-05", "loss 1.2346e-05"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("10%\r50%\r100%", "100%"),
        ("a   1\nb  20", "a  1\nb 20"),
        ("[1. 2.\n 3.]", "[1. 2. 3.]"),
        ("-0.0", "0.0"),
        ("1e-17", "3e-18"),
        ("nan", "nan"),
    ],
)
def test_what_does_not_matter(saved: str, now: str) -> None:
    assert difference(text(saved), text(now), Tolerance()) is None


@pytest.mark.parametrize(
    ("saved", "now", "told"),
    [
        ("12", "13", "12 is 13 now"),
        ("1234567890", "1234567899", "1234567890 is 1234567899 now"),
        (str(2**2000), str(2**2001), None),
        ("lr 1e-05", "lr 2e-05", "1e-05 is 2e-05 now"),
        ("0.0001", "0.0002", "0.0001 is 0.0002 now"),
        ("p = 8.9e-10", "p = 1.2e-15", None),
        ("hash 0xdeadbeef", "hash 0xcafebabe", None),
        ("mean 12.34", "mean 12.35", "12.34 is 12.35 now"),
        ("0.1234", "0.1236", "0.1234 is 0.1236 now"),
        ("1.0001", "0.9999999999999999", "1.0001 is 0.9999999999999999 now"),
        ("Oban 3", "Wick 3", "“Oban 3” is “Wick 3” now"),
        ("a1 b2", "a1 b3", "“a1 b2” is “a1 b3” now"),
        ("2024-01-01", "2024-01-02", None),
        ("one\ntwo", "one\ntwo\nthree", "2 lines are 3 now"),
        ("1 2 3", "1 2", None),
        ("nan", "1.0", None),
    ],
)
def test_what_matters(saved: str, now: str, told: str | None) -> None:
    found = difference(text(saved), text(now), Tolerance())
    assert found is not None
    assert told is None or found == told


def test_tables_are_compared_by_their_cells() -> None:
    table = '<style>#T_{id} {{}}</style><table id="T_{id}"><tr><th></th><th>rent</th></tr><tr><th>0</th><td>{rent}</td></tr></table>'
    saved = shown(html=table.format(id="a1", rent="812.5"), plain="x")
    assert difference(saved, shown(html=table.format(id="b2", rent="812.500000001"), plain="y"), Tolerance()) is None
    assert (
        difference(saved, shown(html=table.format(id="a1", rent="812.6"), plain="x"), Tolerance())
        == "812.5 is 812.6 now"
    )


def test_pictures_are_compared_by_their_pixels() -> None:
    saved = shown(png=png(), plain="<Figure size 640x480 with 1 Axes>")
    assert difference(saved, shown(png=png(spots=20)), Tolerance()) is None
    assert difference(saved, shown(png=png(spots=5_000, spot=(250, 250, 250))), Tolerance()) is None
    assert difference(saved, shown(png=png(spots=500)), Tolerance()) == "5.0 % of the picture is different"
    assert difference(saved, shown(png=png(spots=10_000, spot=(230, 230, 230))), Tolerance()) is not None
    # A point that moved is little of the whole.
    assert difference(shown(png=png(size=400)), shown(png=point(400, (200, 200))), Tolerance()) is not None
    assert "by" in (difference(saved, shown(png=png(size=90)), Tolerance()) or "")
    assert difference(saved, shown(png="no picture"), Tolerance()) == "the picture cannot be read"
    assert difference(saved, shown(plain="text"), Tolerance()) == "a picture is “text” now"


@pytest.mark.parametrize(
    ("kind", "saved", "now"),
    [
        ("text/html", "<b>Total 41</b>", "<b>Total 42</b>"),
        (
            "text/html",
            "<h3>Total 1</h3><table><tr><td>5</td></tr></table>",
            "<h3>Total 2</h3><table><tr><td>5</td></tr></table>",
        ),
        ("text/markdown", "**41**", "**42**"),
        ("text/latex", "$x^2$", "$x^3$"),
        ("image/svg+xml", '<svg id="a"><path d="M 1"/></svg>', '<svg id="b"><path d="M 2"/></svg>'),
        ("application/json", {"total": 41}, {"total": 42}),
        ("application/vnd.plotly.v1+json", {"data": [1]}, {"data": [2]}),
    ],
)
def test_every_kind_of_output_is_compared(kind: str, saved: object, now: object) -> None:
    def of(value: object) -> list[ShownOutput]:
        data = {kind: value, "text/plain": "<IPython.core.display.HTML object>"}
        return outputs_of({"outputs": [{"output_type": "display_data", "data": data}]})

    assert difference(of(saved), of(saved), Tolerance()) is None
    assert difference(of(saved), of(now), Tolerance()) is not None
    assert difference(of(saved), [], Tolerance()) is not None


def test_an_svg_is_the_same_with_other_ids() -> None:
    pictures = [f'<svg><g id="{id_}"/><use xlink:href="#{id_}" clip-path="url(#{id_})"/></svg>' for id_ in "ab"]
    saved, now = (
        outputs_of({"outputs": [{"output_type": "display_data", "data": {"image/svg+xml": one}}]}) for one in pictures
    )
    assert difference(saved, now, Tolerance()) is None


def test_what_is_told_on_the_side_is_not_compared() -> None:
    outputs = [
        {"output_type": "stream", "name": "stderr", "text": "Warning"},
        {
            "output_type": "display_data",
            "data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "Box()"},
        },
        {"output_type": "stream", "name": "stdout", "text": ["a", "b\n"]},
        {"output_type": "stream", "name": "stdout", "text": "c"},
    ]
    assert outputs_of({"outputs": outputs}) == [ShownOutput("stream", "ab\nc")]


def test_more_or_less_than_before() -> None:
    assert difference(text("1"), [], Tolerance()) == "“1” is not shown any more"
    assert difference([], text("1"), Tolerance()) == "“1” is shown as well"
    two = [*text("1"), *shown(plain="2")]
    assert difference(two, [*text("1"), *shown(plain="3")], Tolerance()) == "output 2: 2 is 3 now"


def test_another_error_is_another_output() -> None:
    error = [ShownOutput("error", "KeyError: 'a'")]
    assert difference(error, [ShownOutput("error", "KeyError: 'b'")], Tolerance()) is None
    assert difference(error, [ShownOutput("error", "NameError: x")], Tolerance()) == "KeyError is NameError: x now"
