"""What is put in is found, what is taken out is not, and nobody finds what another person said."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.persistence import full_text_search
from hdsp_agent.recall import OutdatedSources, Passage, RecallKind, RecallQuery, RecallSource

from .._helpers.long_tests import rounds
from ._helpers.samples import DAY, conversation, found, recall, said, sources_of

pytestmark = pytest.mark.each_backend("files", "postgres")


@pytest.fixture(params=["full text", "without full text"])
def search_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, storage_backend: str) -> str:
    """With the index of words, and with a SQLite that has none."""
    kind: str = request.param
    if storage_backend == "postgres" and kind == "without full text":
        pytest.skip("It has an index of our own")
    if kind == "without full text":
        for module in ("_schema", "_sqlite_recall"):
            monkeypatch.setattr(f"hdsp_agent.recall.{module}.full_text_search", lambda: False)
    else:
        assert full_text_search()
    return kind


@pytest.mark.usefixtures("search_kind")
async def test_a_passage_is_found_by_its_words_with_where_it_is(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        source = conversation("t1", title="Exploring churn", workspace="/home/ana")
        assert await index.put(source, said("The raw records are in data/churn.parquet.", "Thank you."), "1")
        (hit, *_) = await index.search(RecallQuery("where are the raw records?", "ana"))
        assert (hit.source, hit.passage.place, hit.passage.ts) == (source, "0", 1_000)
        assert [part.text for part in hit.snippet.parts if part.found] == ["raw", "records"]


@pytest.mark.usefixtures("search_kind")
async def test_putting_again_replaces_and_the_same_version_costs_nothing(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        assert await index.put(conversation("t1"), said("the old wording about gearboxes"), "1")
        assert not await index.put(conversation("t1"), said("nobody looks at this"), "1")
        assert await found(index, "gearboxes") == ["the old wording about gearboxes"]
        assert await index.put(conversation("t1"), said("the new wording about turbines"), "2")
        assert await found(index, "gearboxes") == []
        assert await found(index, "turbines") == ["the new wording about turbines"]
        assert await index.put(conversation("t1", title="Named"), said("the new wording about turbines"), "2")


@pytest.mark.usefixtures("search_kind")
async def test_what_is_removed_is_gone_at_once(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        for name in ("t1", "t2", "t3"):
            await index.put(conversation(name), said(f"a word about windmills in {name}"), "1")
        assert await index.remove("conversation", ["t1", "t3", "unknown"]) == 2
        assert sources_of(await index.search(RecallQuery("windmills", "ana"))) == ["t2"]
        assert await index.remove("memory", ["t2"]) == 0


async def test_removing_can_be_limited_to_one_owner(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        for owner in ("ana", "ben"):
            await index.put(RecallSource(owner, "memory", "MEMORY.md"), said("prefers polars"), "1")
        assert await index.remove("memory", ["MEMORY.md"], owner="ana") == 1
        assert await found(index, "polars", "ana") == []
        assert await found(index, "polars", "ben") == ["prefers polars"]


@pytest.mark.usefixtures("search_kind")
async def test_a_query_can_be_narrowed(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        kinds: tuple[RecallKind, ...] = ("conversation", "memory", "notebook")
        for number, kind in enumerate(kinds):
            source = RecallSource("ana", kind, f"{kind}-source", workspace=f"/w{number}")
            await index.put(source, said(f"gradient boosting in a {kind}", ts=number * DAY), "1")

        async def names(**narrowed: object) -> list[str]:
            query = RecallQuery("gradient boosting", "ana", **narrowed)  # type: ignore[arg-type]
            return sorted(sources_of(await index.search(query)))

        assert len(await names()) == 3
        assert await names(kinds=frozenset({"memory", "notebook"})) == ["memory-source", "notebook-source"]
        assert await names(workspace="/w0") == ["conversation-source"]
        assert await names(sources=frozenset({"memory-source"})) == ["memory-source"]
        assert await names(since=DAY) == ["memory-source", "notebook-source"]
        assert await names(until=DAY) == ["conversation-source"]
        assert await names(kinds=frozenset()) == []


async def test_outdated_sources_are_told(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        for name in ("kept", "changed", "deleted"):
            await index.put(conversation(name), said("text"), "1")
        await index.put(conversation("other", "ben"), said("text"), "1")
        now = {"kept": "1", "changed": "2", "new": "1"}
        outdated = await index.outdated("conversation", now, owner="ana")
        assert outdated == OutdatedSources(frozenset({"changed", "new"}), frozenset({"deleted"}))


async def test_a_source_without_text_is_known_but_never_found(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("empty"), said("", "  \n"), "1")
        assert (await index.outdated("conversation", {"empty": "1"}, owner="ana")).stale == set()
        assert await found(index, "empty") == []


async def test_a_title_alone_finds_the_beginning_of_its_source(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("t1", title="Wind turbine maintenance"), said("Hello.", "Goodbye."), "1")
        await index.put(conversation("t2", title="Something else"), said("Hello."), "1")
        assert sources_of(await index.search(RecallQuery("turbine maintenance", "ana"))) == ["t1"]


_WORDS = st.sampled_from(["churn", "fraud", "metric", "고객", "評価", "data/x.csv", "customer_id", "0.75"])
_TEXTS = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ana", "ben"]), st.sampled_from(["s1", "s2", "s3"]),
        st.one_of(st.none(), st.lists(_TEXTS, max_size=3)),
    ),
    max_size=12,
)  # fmt: skip


@pytest.mark.each_backend("files")
@settings(max_examples=rounds(35, 100))
@given(steps=_STEPS, word=_WORDS)
def test_after_any_steps_exactly_what_is_there_is_found(
    steps: list[tuple[str, str, list[str] | None]], word: str
) -> None:
    asyncio.run(_check_steps(steps, word))


async def _check_steps(steps: list[tuple[str, str, list[str] | None]], word: str) -> None:
    expected: dict[tuple[str, str], list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with recall(Path(folder)) as index:
            for number, (owner, name, texts) in enumerate(steps):
                if texts is None:
                    await index.remove("conversation", [name], owner=owner)
                    expected.pop((owner, name), None)
                else:
                    # Far from each other, so that no passage is found for the one beside it.
                    apart = [part for text in texts for part in (text, "um", "um", "um")]
                    await index.put(conversation(name, owner), said(*apart), str(number))
                    expected[owner, name] = texts
            for owner in ("ana", "ben"):
                hits = await index.search(RecallQuery(word, owner, limit=200))
                assert {hit.source.owner for hit in hits} <= {owner}
                having = {
                    (key[1], text)
                    for key, texts in expected.items()
                    if key[0] == owner
                    for text in texts
                    if word in text
                }
                assert {(hit.source.id, hit.passage.text) for hit in hits if word in hit.passage.text} == having


_HOSTILE = [
    "", " ", '"', '""', "'; DROP TABLE recall_sources; --", "NEAR(a b)", "a AND OR NOT b", "words : x", "^start*", "(", "*",
    "concepts:a", "\x00nul\x00", "\ud800 half", "👩‍🔬📊", "\ue000", "\ue011", "%s %n", "{[<", "a" * 100_000, "데" * 100_000,
    " ".join(f"word{number}" for number in range(20_000)), "0" * 5_000, "99999999999 days ago", "0000-00-00", "13월 45일",
]  # fmt: skip


@pytest.mark.in_short(1)
@pytest.mark.usefixtures("search_kind")
async def test_any_text_can_be_asked_and_put_in(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("plain"), said("an ordinary sentence"), "1")
        for number, text in enumerate(_HOSTILE):
            await index.put(conversation(f"h{number}{text[:20]}", title=text[:200]), said(text), text[:50])
            await index.search(RecallQuery(text, "ana", now=1_790_000_000_000))
            await index.search(RecallQuery(text, text[:100], workspace=text[:100], sources=frozenset({text[:100]})))
        assert "an ordinary sentence" in await found(index, "ordinary sentence")


@pytest.mark.long
@pytest.mark.each_backend("files")
@given(text=st.text(max_size=60))
def test_no_text_breaks_the_search(text: str) -> None:
    asyncio.run(_check_text(text))


async def _check_text(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with recall(Path(folder)) as index:
            await index.put(conversation("t", title=text), said(text), text)
            hits = await index.search(RecallQuery(text, "ana", now=1_790_000_000_000))
            assert {hit.source.id for hit in hits} <= {"t"}


@pytest.mark.each_backend("files")
async def test_a_home_used_with_and_without_full_text_search_is_filled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        for module in ("_schema", "_sqlite_recall"):
            without.setattr(f"hdsp_agent.recall.{module}.full_text_search", lambda: False)
        async with recall(tmp_path) as index:
            await index.put(conversation("t"), said("written without an index"), "1")
    async with recall(tmp_path) as index:
        assert (await index.outdated("conversation", {"t": "1"}, owner="ana")).stale == {"t"}
        await index.put(conversation("t"), said("written without an index"), "1")
        assert await found(index, "index") == ["written without an index"]


async def test_long_passages_and_times_beyond_reason_are_kept(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("t"), [Passage("needle " + "hay " * 50_000, "0", 2**80)], "1")
        (hit,) = await index.search(RecallQuery("needle", "ana"))
        assert hit.passage.ts == 2**63 - 1
        assert hit.snippet.text.startswith("needle hay")
        assert len(hit.snippet.text) < 200
