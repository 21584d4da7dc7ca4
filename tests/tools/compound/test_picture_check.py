"""Empty pictures are told from those that show something, by what matplotlib really draws."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import pytest

from hdsp_agent.tools.compound._picture_check import is_empty_picture, pictures_in

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

Draw = Callable[[Figure], object]
SHOWN: dict[str, Draw] = {
    "line": lambda figure: figure.add_subplot().plot([1, 2, 3]),
    "flat line": lambda figure: figure.add_subplot().plot([0, 0, 0]),
    "light line": lambda figure: figure.add_subplot().plot([1, 2], color="#dddddd"),
    "one point": lambda figure: figure.add_subplot().scatter([1], [1], s=4),
    "bars": lambda figure: figure.add_subplot().bar(["a", "b"], [1, 2]),
    "pie": lambda figure: figure.add_subplot().pie([1, 2]),
    "map of one value": lambda figure: figure.add_subplot().imshow([[0, 0], [0, 0]]),
    "one of two": lambda figure: figure.subplots(1, 2)[0].plot([1, 2]),
    "without a frame": lambda figure: figure.add_axes((0, 0, 1, 1), frame_on=False).plot([1, 2]),
}
EMPTY: dict[str, Draw] = {
    "axes": lambda figure: figure.add_subplot(),
    "axes with a title": lambda figure: figure.add_subplot(title="Rent by size", xlabel="size", ylabel="rent"),
    "nothing at all": lambda figure: None,
}


def png(draw: Draw, size: tuple[float, float]) -> bytes:
    figure = plt.figure(figsize=size)
    try:
        draw(figure)
        data = BytesIO()
        figure.savefig(data, format="png", bbox_inches="tight", dpi=72)
        return data.getvalue()
    finally:
        plt.close(figure)


@pytest.mark.parametrize("size", [(6.4, 4.8), (2, 1.5)], ids=["usual", "small"])
@pytest.mark.parametrize("name", SHOWN)
def test_what_shows_something_is_not_empty(name: str, size: tuple[float, float]) -> None:
    assert not is_empty_picture(png(SHOWN[name], size))


@pytest.mark.parametrize("size", [(6.4, 4.8), (2, 1.5)], ids=["usual", "small"])
@pytest.mark.parametrize("name", EMPTY)
def test_a_frame_with_nothing_in_it_is_empty(name: str, size: tuple[float, float]) -> None:
    assert is_empty_picture(png(EMPTY[name], size))


def test_what_is_no_picture_is_not_judged() -> None:
    assert not is_empty_picture(b"no picture")
    assert pictures_in([{"output_type": "stream", "text": "x"}, {"data": {"image/png": ["aGk=", ""]}}]) == [b"hi"]
