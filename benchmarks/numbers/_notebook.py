"""Cells as people have them in notebooks, with the outputs that Jupyter keeps of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Final

import pandas as pd

from hdsp_agent.messages import JsonObject

from ._answer import ShownCell

__all__ = ["background", "known_numbers", "printed", "shown_frame", "shown_value"]

_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_TOWNS: Final = ("Oban", "Wick", "Tain", "Nairn", "Ayr", "Alloa", "Perth")


def printed(code: str, text: str, *values: float) -> ShownCell:
    """A cell that prints."""
    output: JsonObject = {"output_type": "stream", "name": "stdout", "text": text + "\n"}
    return ShownCell(code, [output], values)


def shown_value(code: str, text: str, *values: float) -> ShownCell:
    """A cell whose last line is a value."""
    return ShownCell(code, [_result({"text/plain": text})], values)


def shown_frame(code: str, frame: pd.DataFrame, *values: float) -> ShownCell:
    """A cell whose last line is a table."""
    return ShownCell(code, [_result({"text/plain": frame.to_string(), "text/html": frame.to_html()})], values)


def background(rng: Random) -> list[ShownCell]:
    """What else the notebook shows."""
    kinds = (_head, _counts, _described, _metrics, _fitted, _lines)
    return [make(rng) for make in rng.sample(kinds, rng.randint(2, len(kinds)))]


def known_numbers(cell: ShownCell) -> Iterator[float]:
    """All numbers that stand in its outputs and its code, however they may be read."""
    texts = [cell.code]
    for output in cell.outputs:
        data = output.get("data")
        shown = list(data.values()) if isinstance(data, dict) else [output.get("text")]
        texts += [_TAG.sub(" ", text) for text in shown if isinstance(text, str)]
    for text in texts:
        for found in _NUMBER.findall(text):
            yield float(found.replace(",", ""))
            if "," in found:
                yield from (float(part) for part in found.split(","))


def _result(data: JsonObject) -> JsonObject:
    return {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}


def _head(rng: Random) -> ShownCell:
    towns = rng.sample(_TOWNS, 5)
    rows = [[rng.randint(300, 1900), round(rng.uniform(20, 140), 1), rng.randint(1, 6)] for _ in towns]
    frame = pd.DataFrame(
        [[town, *row] for town, row in zip(towns, rows, strict=True)], columns=["town", "rent", "size", "rooms"]
    )
    return shown_frame("df = pd.read_csv('flats.csv')\ndf.head()", frame)


def _counts(rng: Random) -> ShownCell:
    counts = sorted((rng.randint(20, 4000) for _ in range(4)), reverse=True)
    lines = [f"{town:<8}{count}" for town, count in zip(_TOWNS, counts, strict=False)]
    return shown_value("df['town'].value_counts()", "\n".join(["town", *lines, "Name: count, dtype: int64"]))


def _described(rng: Random) -> ShownCell:
    values = pd.Series([rng.gauss(700, 160) for _ in range(rng.randint(80, 400))])
    return shown_frame("df.describe()", pd.DataFrame({"rent": values, "size": values / rng.uniform(8, 14)}).describe())


def _metrics(rng: Random) -> ShownCell:
    metrics = {
        name: round(rng.uniform(0.5, 0.99), rng.randint(3, 6)) for name in ("accuracy", "precision", "recall", "f1")
    }
    return shown_value("metrics", str(metrics))


def _fitted(rng: Random) -> ShownCell:
    losses = sorted((rng.uniform(0.1, 2.5) for _ in range(5)), reverse=True)
    text = "\n".join(f"epoch {epoch}: loss {loss:.4f}" for epoch, loss in enumerate(losses, 1))
    return printed("model.fit(X_train, y_train, epochs=5, batch_size=32, seed=7)", text)


def _lines(rng: Random) -> ShownCell:
    rows, columns = rng.randint(500, 90_000), rng.randint(4, 30)
    first = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    return printed("print(df.shape, df['day'].min())", f"({rows}, {columns}) {first}")
