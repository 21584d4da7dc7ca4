"""What a larger model was told before a small one takes over: of that it sees the notebook, in short."""

from __future__ import annotations

from hdsp_agent.agent.lite._lite_context import _plain
from hdsp_agent.messages import ApiMessage, JsonObject


def message(*texts: str) -> ApiMessage:
    blocks: list[JsonObject] = [{"type": "text", "text": text} for text in texts]
    return ApiMessage(role="user", content=blocks)


def told(text: str) -> str:
    return f"<environment_details>\n{text}\n</environment_details>"


def test_of_what_a_larger_model_was_told_the_notebook_stays_in_short() -> None:
    cells = "\n".join(f"{number} c{number} code x = {number}" for number in range(500))
    large = told(
        f"# Mode\nCurrent mode: code (Code)\n# What you may do\nAsked about first: all\n# Notebook\na.ipynb\n# Cells\n{cells}"
    )
    rules = told("# Instructions of the person and of the workspace (what changed)\nNew:\n" + "rule " * 1000)
    own = told("Cell 1 (ran):\nx = 1")
    said, known = _plain([message(large, "<user_message>\nGo\n</user_message>"), message(rules), message(own)])
    text = str([one.content for one in said])
    assert "# Notebook" in text and "What you may do" not in text and "rule rule" not in text and len(text) < 3_000
    assert known == "Cell 1 (ran):\nx = 1"
