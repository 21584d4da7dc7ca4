"""Images for the model."""

from __future__ import annotations

import base64
import io
import random
from pathlib import Path

from PIL import Image

from hdsp_agent.messages import JsonObject
from hdsp_agent.notebooks.kernels import ImageLimits, images_of

from ._helpers.executors import headless_executor


def output(kind: str, data: bytes | str, text: str = "<Figure>") -> JsonObject:
    shown = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
    return {"output_type": "display_data", "data": {kind: shown, "text/plain": text}, "metadata": {}}


def picture(width: int, height: int, form: str = "PNG", *, noisy: bool = False, mode: str = "RGB") -> bytes:
    image = Image.new(mode, (width, height), (200, 30, 30, 0)[: len(mode)])
    if noisy:
        image = Image.frombytes(mode, (width, height), random.Random(1).randbytes(width * height * len(mode)))
    target = io.BytesIO()
    image.save(target, form)
    return target.getvalue()


async def test_a_small_image_is_given_as_it_is() -> None:
    data = picture(64, 48)
    (image,) = await images_of([output("image/png", data)])
    assert image.data == data and image.alternative == "<Figure> (64×48 pixels)"
    assert image.data_url == "data:image/png;base64," + base64.b64encode(data).decode()


async def test_large_images_are_scaled_and_heavy_ones_become_jpeg() -> None:
    plain, noisy = await images_of(
        [output("image/png", picture(4000, 1000)), output("image/png", picture(2000, 2000, noisy=True, mode="RGBA"))]
    )
    assert plain.data is not None and Image.open(io.BytesIO(plain.data)).size == (1568, 392)
    assert noisy.data is not None and noisy.media_type == "image/jpeg" and len(noisy.data) <= 1_000_000


async def test_what_is_not_shown_is_told() -> None:
    left_out = await images_of(
        [
            output("image/svg+xml", "<svg/>"),
            output("image/png", b"not a picture"),
            output("image/png", "not base64!"),
            output("image/jpeg", picture(300, 300, "JPEG")),
        ],
        ImageLimits(pixels=1000),
    )
    assert [image.data for image in left_out] == [None] * 4
    assert "SVG" in left_out[0].alternative and "cannot be read" in left_out[1].alternative
    assert "300×300 pixels, too large" in left_out[3].alternative


async def test_of_too_many_the_last_are_given() -> None:
    found = await images_of([output("image/png", picture(9, 9), str(n)) for n in range(5)], ImageLimits(count=2))
    assert [image.data is not None for image in found] == [False] * 3 + [True] * 2


async def test_a_figure_of_matplotlib_reaches_the_model(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        code = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);"
        cell = await work.cell(code)
        (image,) = await images_of(cell.outputs.outputs)
        assert image.media_type == "image/png" and image.data is not None and "Figure" in image.alternative
