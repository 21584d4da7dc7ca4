"""What the model sees of a stored task, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from ._helpers.homes import FINISHED, filled


def test_the_next_request_is_shown_with_the_tokens_of_its_parts(tmp_path: Path) -> None:
    home = filled(tmp_path)
    shown = home.run("context", "show", FINISHED[:8])
    assert (shown.code, "Traceback" in shown.err) == (0, False)
    assert "System prompt" in shown.out and "Messages (" in shown.out
    document = cast("dict[str, Any]", home.run("context", "show", FINISHED, "--json").json())
    tokens, request = document["tokens"], document["request"]
    assert request["system"] == "You help." and tokens["system"] == 3
    assert sum(tokens["eachMessage"]) == tokens["messages"] == tokens["total"] - tokens["system"] - tokens["tools"]
    assert sum(tokens[kind] for kind in ("summaries", "words", "answers", "outputs", "pictures")) == tokens["messages"]
    assert "Your messages" in shown.out
    assert {"read_file", "edit_cells"} <= {tool["name"] for tool in request["tools"]}
    assert next(message["role"] for message in request["messages"]) == "user"
    full = home.run("context", "show", FINISHED, "--full")
    assert "You help." in full.out and "tool read_file" in full.out


def test_a_task_that_does_not_exist_is_told(tmp_path: Path) -> None:
    ran = filled(tmp_path).run("context", "show", "deadbeef")
    assert ran.code == 2 and not ran.out
