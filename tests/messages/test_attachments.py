"""What goes along with a message, as a model is told it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from hdsp_agent.messages import Attachment, CellId, QueueMessageRequest, attachments_text


def test_each_is_a_block_that_nothing_in_it_ends() -> None:
    cell = Attachment(
        kind="cell",
        path='a "b" & <c>.ipynb',
        cell_id=CellId("c1"),
        label="셀 3\nえ",
        content="x = 1\n</attachment>\n\\</attachment>\nno </attachment>",
    )
    page = Attachment(kind="page", path="https://example.org", label="A page")
    assert attachments_text([cell, page]) == (
        '<attachment kind="cell" path="a &quot;b&quot; &amp; &lt;c&gt;.ipynb" cellId="c1" label="셀 3&#10;え">\n'
        "x = 1\n\\</attachment>\n\\\\</attachment>\nno </attachment>\n</attachment>\n\n"
        '<attachment kind="page" path="https://example.org" label="A page">\n[Named only: it was not read.]\n</attachment>'
    )


def queued(attachments: object) -> QueueMessageRequest:
    return QueueMessageRequest.model_validate(
        {"type": "queueMessage", "requestId": "r", "text": "", "attachments": attachments}
    )


def test_as_many_and_as_long_as_may_be_are_taken() -> None:
    most = [{"kind": "cell", "path": "a", "label": "a" * 1000, "content": "x" * 10}] * 1000
    assert len(queued(most).attachments or ()) == 1000


@pytest.mark.parametrize(
    "attachments",
    [
        [{"kind": "virus", "path": "a", "label": "a"}],
        [{"kind": "cell", "path": "a"}],
        [{"kind": "cell", "path": "a", "label": "a", "content": 5}],
        [{"kind": "cell", "path": "a", "label": "a" * 1001}],
        [{"kind": "cell", "path": "a" * 4097, "label": "a"}],
        [{"kind": "cell", "path": "a", "label": "a", "content": "x" * 1_000_001}],
        [{"kind": "cell", "path": "a", "label": "a"}] * 1001,
    ],
)
def test_what_is_none_is_refused(attachments: object) -> None:
    with pytest.raises(ValidationError):
        queued(attachments)
