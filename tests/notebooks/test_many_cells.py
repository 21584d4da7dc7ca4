"""Notebooks of very many cells: parsed cell by cell, and refused where they are too many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.errors import Unsupported
from hdsp_agent.notebooks._json_pieces import loads_in_pieces
from hdsp_agent.notebooks._many_cells import cells_in_file, require_few_cells

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("cells"), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES, st.sampled_from([None, 1, "\t"]))
def test_pieces_together_are_the_whole(value: object, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert loads_in_pieces(f" {text}\n") == json.loads(text)
    whole = {"a": value, "cells": [value, {"cells": [value]}], "cells ": value}
    assert loads_in_pieces(json.dumps(whole, indent=indent)) == whole


@given(st.dictionaries(st.sampled_from(["cells", "b"]), st.lists(st.integers(0, 9)), max_size=2), st.data())
def test_what_is_no_json_is_none_in_pieces_either(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from(["", ",", "]", "}", '"', " x", ":"])) + text[at + 1 :]
    try:
        expected = json.loads(broken)
    except ValueError:
        with pytest.raises(ValueError):
            loads_in_pieces(broken)
    else:
        assert loads_in_pieces(broken) == expected


def test_cells_are_counted_without_being_parsed(tmp_path: Path) -> None:
    source = "json.loads('{\"cell_type\": 1}')" + "x" * 5000
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for _ in range(1000)]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert cells_in_file(tmp_path / "a.ipynb") == 1000
    assert cells_in_file(tmp_path / "none.ipynb") == 0


def test_too_many_cells_are_refused_in_words() -> None:
    require_few_cells(5_000, "a.ipynb")
    with pytest.raises(Unsupported, match=r"a\.ipynb has 5,001 cells") as refused:
        require_few_cells(5_001, "a.ipynb")
    assert refused.value.params["why"] == "too_many_cells"
