"""Meaning: vectors are made in the background, kept by model, and only add to what words find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hdsp_agent.errors import Unavailable
from hdsp_agent.persistence import StateDatabase
from hdsp_agent.recall import Embedder, EmbedderAccess, RecallIndex, RecallQuery, bundled_embedder

from .._helpers.long_tests import rounds
from ._helpers.samples import DAY, LetterEmbedder, conversation, found, recall, said

pytestmark = pytest.mark.each_backend("files", "postgres")

TWINS = {"automobile": "car", "auto": "car"}


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    """The bundled model, loaded once: it keeps nothing of what it reads."""
    embedder = bundled_embedder()
    assert embedder is not None
    return embedder


async def test_what_means_the_same_is_found_without_a_shared_word(tmp_path: Path) -> None:
    async with recall(tmp_path, LetterEmbedder(twins=TWINS)) as index:
        await index.put(conversation("t"), said("my automobile", "um", "um um", "um um um", "lunch today"), "1")
        assert await found(index, "car") == []
        assert (await index.embed_some(100), await index.count_unembedded()) == (5, 0)
        assert (await found(index, "car"))[0] == "my automobile"


async def test_vectors_are_made_within_a_budget(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    async with recall(tmp_path, embedder) as index:
        await index.put(conversation("t"), said(*(f"text {number}" for number in range(50))), "1")
        assert await index.embed_some(0) == 0
        assert (await index.embed_some(20), await index.count_unembedded()) == (20, 30)
        assert embedder.embedded[0] == "text 49", "the newest first"
        await index.embed_some(1000)
        assert await index.count_unembedded() == 0
        assert len(embedder.embedded) == 50


async def test_another_model_makes_its_own_vectors(tmp_path: Path) -> None:
    async with recall(tmp_path, LetterEmbedder("first")) as index:
        await index.put(conversation("t"), said("my automobile"), "1")
        assert await index.embed_some(10) == 1
    async with recall(tmp_path, LetterEmbedder("second", TWINS, dimensions=32)) as index:
        assert await found(index, "car") == [], "vectors of another model say nothing"
        assert await index.embed_some(10) == 1
        assert await found(index, "car") == ["my automobile"]
    async with recall(tmp_path, LetterEmbedder("first")) as index:
        assert await index.embed_some(10) == 0, "those of the first are still there"


async def test_vectors_of_a_model_that_nobody_used_for_a_week_go(tmp_path: Path) -> None:
    async with recall(tmp_path, LetterEmbedder("first")) as index:
        await index.put(conversation("t"), said("my automobile"), "1")
        await index.embed_some(10)
        await index._database.write(
            lambda connection: connection.execute("UPDATE recall_models SET used = used - ?", (8 * DAY,)).rowcount
        )
    async with recall(tmp_path, LetterEmbedder("second")) as index:
        await index.embed_some(10)
        kept = await index._database.read(
            lambda connection: connection.execute(
                "SELECT name, count(*) FROM recall_models JOIN recall_vectors ON model = recall_models.number GROUP BY name"
            ).fetchall()
        )
        assert kept == [("second", 1)]
        assert (
            await index._database.read(
                lambda connection: connection.execute("SELECT count(*) FROM recall_models").fetchone()[0]
            )
            == 1
        )


async def test_vectors_go_with_their_passages_and_owners_never_meet(tmp_path: Path) -> None:
    async with recall(tmp_path, LetterEmbedder(twins=TWINS)) as index:
        await index.put(conversation("a", "ana"), said("my automobile"), "1")
        await index.put(conversation("b", "ben"), said("his automobile"), "1")
        await index.embed_some(10)
        assert await found(index, "car", "ana") == ["my automobile"]
        assert await found(index, "car", "ben") == ["his automobile"]
        await index.remove("conversation", ["a"])
        assert await found(index, "car", "ana") == []
        await index.put(conversation("a", "ana"), said("a new auto"), "2")
        await index.embed_some(10)
        assert await found(index, "car", "ana") == ["a new auto"]


async def test_a_conversation_that_goes_on_keeps_its_vectors(tmp_path: Path) -> None:
    embedder = LetterEmbedder(twins=TWINS)
    async with recall(tmp_path, embedder) as index:
        await index.put(conversation("t"), said("my automobile", "um", "um"), "1")
        await index.embed_some(10)
        await index.put(conversation("t"), said("my automobile", "um", "um", "um um", "a new bicycle"), "2")
        assert await index.embed_some(10) == 2
        assert embedder.embedded[3:] == ["a new bicycle", "um um"]
        assert (await found(index, "car"))[0] == "my automobile"
        await index.put(conversation("t"), said("a new bicycle"), "3")
        assert await index.embed_some(10) == 0
        assert await found(index, "car") == []


async def test_a_model_that_changes_its_dimensions_breaks_nothing(tmp_path: Path) -> None:
    async with recall(tmp_path, LetterEmbedder("same", TWINS)) as index:
        await index.put(conversation("t"), said("my automobile"), "1")
        await index.embed_some(10)
        assert await found(index, "car") == ["my automobile"]
    async with recall(tmp_path, LetterEmbedder("same", TWINS, dimensions=8)) as index:
        assert await found(index, "car") == []
        await index.put(conversation("u"), said("your automobile"), "1")
        await index.embed_some(10)
        assert await found(index, "car") == ["your automobile"]


async def test_the_bundled_model_takes_any_text(tmp_path: Path, bundled: Embedder) -> None:
    texts = ("\ud800 half", "\x00", "👩‍🔬📊", "가" * rounds(200, 5_000), " ", "a\u0301")
    async with recall(tmp_path, bundled) as index:
        for number, text in enumerate(texts):
            await index.put(conversation("t", f"owner {number}"), said(f"{text} word"), "1")
        await index.embed_some(10)
        assert await index.count_unembedded() == 0
        for number, text in enumerate(texts):
            assert len(await index.search(RecallQuery(f"{text} word", f"owner {number}"))) == 1, text


async def test_meaning_respects_what_a_query_is_narrowed_to(tmp_path: Path) -> None:
    async with recall(tmp_path, LetterEmbedder(twins=TWINS)) as index:
        await index.put(conversation("old"), said("my automobile", ts=DAY), "1")
        await index.put(conversation("new"), said("an auto of mine", ts=3 * DAY), "1")
        await index.embed_some(10)
        hits = await index.search(RecallQuery("car", "ana", since=2 * DAY))
        assert [hit.source.id for hit in hits] == ["new"]


async def test_the_nearest_of_thousands_are_found_though_vectors_are_shortened(tmp_path: Path) -> None:
    parts = rounds(10, 25)
    async with recall(tmp_path, _RandomEmbedder()) as index:
        for part in range(parts):
            await index.put(conversation(f"s{part}"), said(*(f"thing{part}x{number}" for number in range(200))), "1")
        await index.embed_some(10_000)
        assert await index.count_unembedded() == 0
        for wanted in ("thing3x7", f"thing{parts - 1}x199", "thing0x0"):
            hits = await index.search(RecallQuery(f"like {wanted}", "ana", limit=1))
            assert hits[0].passage.text == wanted


async def test_a_failing_model_leaves_the_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with recall(tmp_path, _BrokenEmbedder()) as index:
        await index.put(conversation("t"), said("my automobile"), "1")
        for _ in range(3):
            assert await found(index, "automobile") == ["my automobile"]
        with pytest.raises(Unavailable):
            await index.embed_some(10)
    assert caplog.text.count("Searching by words only") == 1


async def test_the_bundled_model_joins_languages(tmp_path: Path, bundled: Embedder) -> None:
    async with recall(tmp_path, bundled) as index:
        texts = (
            "We measure the model by recall.",
            "점심은 열두 시입니다.",
            "Dinner is at seven.",
            "昼食は十二時です。",
        )
        for number, text in enumerate(texts):
            await index.put(conversation(f"t{number}"), said(text), "1")
        await index.embed_some(10)
        assert (await found(index, "모델을 무엇으로 측정하나요"))[0] == texts[0]


async def test_what_is_nowhere_finds_nothing_although_every_text_is_a_little_alike(
    tmp_path: Path, bundled: Embedder
) -> None:
    async with recall(tmp_path, bundled) as index:
        await index.put(conversation("t"), said("print(rows)", "rows = 3", "automobile prices by year"), "1")
        await index.embed_some(10)
        alike = bundled.embed(["photosynthesis", "print(rows)"])
        assert bundled.floor < float(alike[0] @ alike[1]) < bundled.wordless_floor
        assert await found(index, "photosynthesis") == []
        assert (await found(index, "car"))[0] == "automobile prices by year"
        assert (await found(index, "print"))[0] == "print(rows)"


async def test_another_model_counts_from_the_next_search_on(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("t"), said("my automobile"), "1")
        assert await index.count_unembedded() == 0
        index.use(LetterEmbedder(twins=TWINS))
        assert await index.count_unembedded() == 1
        await index.embed_some(10)
        assert await found(index, "car") == ["my automobile"]
        index.use(None)
        assert await found(index, "car") == []


async def test_a_model_reads_only_what_it_may(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        await index.put(conversation("a", "ana"), said("my automobile"), "1")
        await index.put(conversation("b", stays_here=True), said("our automobile"), "1")
        await index.put(conversation("c", "ben"), said("his automobile"), "1")
        embedder = LetterEmbedder(twins=TWINS)
        index.use(embedder, EmbedderAccess("ana", is_elsewhere=True))
        assert await index.count_unembedded() == 1
        await index.embed_some(10)
        assert await index.count_unembedded() == 0
        assert embedder.embedded == ["my automobile"]
        assert await found(index, "car", "ben") == []
        assert await index.search(RecallQuery("car", "ana", stays_here=True)) == ()
        assert embedder.embedded == ["my automobile"], "questions are read no more than passages"
        hits = await index.search(RecallQuery("automobile", "ana"))
        assert {hit.source.id: hit.source.stays_here for hit in hits} == {"a": False, "b": True}
        index.use(embedder, EmbedderAccess("ana"))
        assert await index.count_unembedded() == 1, "on this machine it may read what stays here"
        index.use(embedder)
        assert await index.count_unembedded() == 2


@pytest.mark.each_backend("files")
async def test_what_an_earlier_version_put_in_stays_here_until_it_is_put_in_again(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db")
    index = RecallIndex(database)
    async with database:
        await index.put(conversation("a"), said("my automobile"), "1")
        # As an earlier version names the columns.
        await database.write(
            lambda connection: (
                connection.execute(
                    "INSERT OR REPLACE INTO recall_sources (row, owner, kind, id, version, title, workspace) "
                    "SELECT row, owner, kind, id, version, title, workspace FROM recall_sources"
                ).rowcount
            )
        )
        index.use(LetterEmbedder(), EmbedderAccess("ana", is_elsewhere=True))
        assert await index.count_unembedded() == 0
        await index.put(conversation("a"), said("my automobile"), "2")
        assert await index.count_unembedded() == 1


async def test_a_model_that_was_replaced_while_it_worked_puts_nothing_under_the_new_name(tmp_path: Path) -> None:
    async with recall(tmp_path) as index:
        second = LetterEmbedder("second")

        class First(LetterEmbedder):
            def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
                index.use(second)
                return super().embed(texts)

        index.use(First("first"))
        await index.put(conversation("t"), said("my automobile"), "1")
        await index.embed_some(10)
        assert await index.count_unembedded() == 1, "the second has not seen it"
        assert second.embedded == []


class _RandomEmbedder:
    """Each word has a direction of its own; "like" has none."""

    name = "random"
    floor = 0.1
    wordless_floor = 0.1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.stack([self._direction(text.removeprefix("like ")) for text in texts])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    @staticmethod
    def _direction(word: str) -> NDArray[np.float64]:
        chance = np.random.default_rng(list(word.encode()))
        return np.array(chance.standard_normal(256) * np.linspace(2, 0.1, 256), np.float64)


class _BrokenEmbedder:
    name = "broken"
    floor = 0.1
    wordless_floor = 0.1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise Unavailable(f"no vectors for {len(texts)} texts")
