"""How shared outputs become others, and shared texts: with the least that is taken away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.messages import ExtendStream, JsonObject, PutOutput, TruncateOutputs
from hdsp_agent.notebooks.documents._shared_changes import after_changes, outputs_on_the_way, set_text


class Bytes:
    """A text whose places are counted in bytes, as shared ones are."""

    def __init__(self, value: str) -> None:
        self.value = value.encode()
        self.steps: list[str] = []

    def __str__(self) -> str:
        return self.value.decode()

    def __delitem__(self, place: slice) -> None:
        self.steps.append("-" + self.value[place].decode())
        self.value = self.value[: place.start] + self.value[place.stop :]

    def insert(self, index: int, value: str) -> None:
        self.steps.append("+" + value)
        self.value = self.value[:index] + value.encode() + self.value[index:]


TEXTS = st.text(alphabet="ab\né😀가", max_size=12)
OUTPUTS = st.lists(
    st.one_of(
        st.builds(lambda name, text: _stream(text, name), st.sampled_from(["stdout", "stderr"]), TEXTS),
        st.builds(lambda text: {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}, TEXTS),
    ),
    max_size=4,
)


def _stream(text: str, name: str = "stdout") -> JsonObject:
    return {"output_type": "stream", "name": name, "text": text}


@given(OUTPUTS, OUTPUTS)
def test_outputs_become_those_that_are_wanted(present: list[JsonObject], wanted: list[JsonObject]) -> None:
    assert after_changes(present, outputs_on_the_way(present, wanted)) == wanted
    assert outputs_on_the_way(wanted, wanted) == []


def test_only_what_differs_is_told() -> None:
    here, there = [_stream("one\n"), _stream("e", "stderr")], [_stream("one\ntwo\n")]
    assert outputs_on_the_way(here[:1], there) == [ExtendStream(index=0, keep=4, text="two\n")]
    assert outputs_on_the_way(here, [*here, there[0]]) == [PutOutput(index=2, output=there[0])]
    assert outputs_on_the_way(here, here[:1]) == [TruncateOutputs(count=1)]


@given(TEXTS, TEXTS)
def test_texts_become_those_that_are_wanted(before: str, after: str) -> None:
    shared = Bytes(before)
    set_text(shared, after)
    assert str(shared) == after


def test_a_text_changes_only_in_the_middle() -> None:
    shared = Bytes("가 = 1 😀 end")
    set_text(shared, "가 = 22 😀 end")
    assert shared.steps == ["-1", "+22"]
    set_text(shared, "가 = 22 😀 end")
    assert len(shared.steps) == 2
