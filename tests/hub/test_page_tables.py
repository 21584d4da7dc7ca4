"""Tables of the service's pages: each is named by a heading that is there, and framed in one way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hdsp_agent.hub.admin import page_handler

TEMPLATES = [path for folder in page_handler._TEMPLATES for path in sorted(folder.glob("*.html"))]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_table_is_named_by_a_heading_of_its_page(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    names = re.findall(r'call parts_of\.table\("([\w-]+)"', text)
    assert [name for name in names if text.count(f' id="{name}"') != 1] == []
    assert ("<table" in text) == (template.name == "parts.html")
