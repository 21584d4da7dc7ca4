"""The index that all servers of a person share in PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hdsp_agent.persistence import SqlConnection, full_text_search
from hdsp_agent.recall import Passage, RecallIndex, RecallQuery, RecallSource, SourceOvertaken, _vectors
from hdsp_agent.recall._dialect import KeywordMatches, filter_of
from hdsp_agent.recall._porter import stem
from hdsp_agent.recall._words import query_words

from .._helpers.long_tests import rounds
from .._helpers.postgres import TasksDatabase
from ._helpers.samples import LetterEmbedder, conversation, found, recall, said, shared_recall

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("sources", "passages", "texts", "postings", "titles", "words", "vectors")

pytest.importorskip("psycopg")

WORDS = [
    "churn",
    "fraud",
    "metric",
    "metrics",
    "고객",
    "이탈",
    "評価",
    "指標",
    "data/x.csv",
    "customer_id",
    "customerId",
    "0.75",
    "models",
    "modelling",
    "running",
    "the",
    "deadline",
    "decided",
    "because",
    "relational",
    "conditional",
    "hopping",
    "ponies",
    "agreed",
]


async def _matches(index: RecallIndex, text: str) -> tuple[dict[str, float], dict[str, float], KeywordMatches]:
    """By words alone: the scores of passages by their places, and of titles by their sources."""

    def look(connection: SqlConnection) -> tuple[dict[str, float], dict[str, float], KeywordMatches]:
        dialect = index._dialect
        matches = dialect.find_words(connection, query_words(text), filter_of(RecallQuery(text, "ana"), dialect))
        places = dict(
            connection.execute(
                "SELECT p.row, s.id || ' ' || t.place FROM recall_passages AS p JOIN recall_sources AS s ON s.row = p.source"
                " JOIN recall_texts AS t ON t.row = p.row"
            ).fetchall()
        )
        sources = dict(connection.execute("SELECT row, id FROM recall_sources").fetchall())
        return (
            {places[row]: score for row, score in matches.passages.items()},
            {sources[row]: score for row, score in matches.titles.items()},
            matches,
        )

    return await index._database.read(look)


@pytest.mark.skipif(not full_text_search(), reason="This SQLite has no FTS5 to compare with")
async def test_scores_are_those_of_fts5(tmp_path: Path, postgres_database: TasksDatabase) -> None:
    chance = random.Random(25)
    async with (
        recall(tmp_path / "sqlite") as kept_here,
        shared_recall(tmp_path / "postgres", postgres_database.url()) as shared,
    ):
        for number in range(40):
            name, version = f"s{chance.randrange(25)}", str(number)
            texts = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 30))) for _ in range(chance.randrange(6))]
            source = conversation(name, title=" ".join(chance.choices(WORDS, k=3)))
            for index in (kept_here, shared):
                if number % 7 == 6:
                    await index.remove("conversation", [name])
                else:
                    await index.put(source, said(*texts), version)
        for _ in range(40):
            text = " ".join(chance.choices([*WORDS, '"churn fraud"', '"metric metrics"', "why", "unknown"], k=3))
            passages, titles, one = await _matches(kept_here, text)
            passages_too, titles_too, other = await _matches(shared, text)
            assert passages_too == pytest.approx(passages, rel=1e-9), text
            assert titles_too == pytest.approx(titles, rel=1e-9), text
            assert one.rarity.keys() == other.rarity.keys()


@pytest.mark.skipif(not full_text_search(), reason="This SQLite has no FTS5 to compare with")
def test_stems_are_those_of_fts5() -> None:
    import sqlite3

    chance = random.Random(7)
    parts = [
        "a",
        "e",
        "y",
        "t",
        "s",
        "l",
        "ll",
        "ss",
        "ed",
        "ing",
        "ation",
        "iz",
        "at",
        "bl",
        "eed",
        "ies",
        "sses",
        "ement",
        "ion",
        "é",
        "b",
        "ness",
        "ful",
        "ical",
        "가",
        "ative",
        "alize",
        "ou",
        "ous",
        "biliti",
        "logi",
        "w",
        "x",
    ]
    words = sorted({"".join(chance.choices(parts, k=chance.randrange(1, 5))) for _ in range(10_000)} | set(WORDS[:4]))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter ascii')")
    connection.execute("CREATE VIRTUAL TABLE stems USING fts5vocab (texts, instance)")
    connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(words))
    found = dict(connection.execute("SELECT doc, term FROM stems"))
    assert {words[at]: term for at, term in found.items()} == {words[at]: stem(words[at]) for at in found}
    connection.close()


async def test_nobody_sees_changes_or_counts_what_is_anothers(tmp_path: Path, postgres_database: TasksDatabase) -> None:
    async with (
        shared_recall(tmp_path / "ada", postgres_database.url("ada")) as adas,
        shared_recall(tmp_path / "bob", postgres_database.url("bob")) as bobs,
    ):
        await adas.put(conversation("t", title="windmills"), said("windmills of ada"), "1")
        await bobs.put(conversation("t", title="windmills"), said("windmills of bob"), "1")
        assert await found(adas, "windmills") == ["windmills of ada"]
        assert await bobs.remove("conversation", ["t"]) == 1
        assert await found(bobs, "windmills") == []
        assert await found(adas, "windmills") == ["windmills of ada"]
        with postgres_database.connect("bob") as connection:
            for table in TABLES:
                connection.execute(f"DELETE FROM recall_{table}")
                assert connection.execute(f"SELECT count(*) FROM recall_{table}").fetchone() == (0,)
            with pytest.raises(Exception, match="row-level security"):
                connection.execute(
                    "INSERT INTO recall_words SELECT number, 'x', 1, 1 FROM generate_series(1, 3) AS number"
                )
        assert await found(adas, "windmills") == ["windmills of ada"]


async def test_what_was_removed_leaves_nothing_behind(tmp_path: Path, postgres_database: TasksDatabase) -> None:
    async with shared_recall(tmp_path, postgres_database.url()) as index:
        for version in ("1", "2"):
            for name in ("a", "b"):
                await index.put(conversation(name, title=f"about {version}"), said("one two two", version), version)
        await index.remove("conversation", ["a", "b"])
        with postgres_database.connect() as connection:
            for table in TABLES:
                assert connection.execute(f"SELECT count(*) FROM recall_{table}").fetchone() == (0,)
            totals = connection.execute("SELECT passages, words, titles, title_words FROM recall_totals").fetchone()
            assert totals == (0, 0, 0, 0)


async def test_who_read_before_somebody_else_put_it_in_does_not_undo_that(
    tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    async with (
        shared_recall(tmp_path / "one", postgres_database.url()) as one,
        shared_recall(tmp_path / "two", postgres_database.url()) as two,
    ):
        await one.put(conversation("t"), said("the first draft"), "1")
        for overtake in (two.put(conversation("t"), said("the newest draft"), "3"), two.remove("conversation", ["t"])):
            known = await one.revision("conversation", "ana", "t")
            await overtake
            with pytest.raises(SourceOvertaken):
                await one.replace(conversation("t"), said("an older draft"), "2", known=known)
            assert "an older draft" not in await found(one, "draft")


async def test_memory_and_notebooks_are_those_of_the_servers_own_folder(
    tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    url = postgres_database.url()
    async with shared_recall(tmp_path / "one", url) as one, shared_recall(tmp_path / "two", url) as two:
        note, notebook = RecallSource("ana", "memory", "notes"), RecallSource("ana", "notebook", "/w/a.ipynb")
        for name, index in (("one", one), ("two", two)):
            for source in (note, notebook):
                await index.put(source, said(f"likes polars on {name}"), "1")
        await one.put(conversation("t"), said("we spoke of polars"), "1")
        assert sorted(await found(two, "polars")) == [
            "likes polars on two",
            "likes polars on two",
            "we spoke of polars",
        ]
        assert (await two.outdated("memory", {}, owner="ana")).gone == {"notes"}
        assert await two.remove("notebook", ["/w/a.ipynb"]) == 1
        assert len(await found(one, "polars")) == 3
    async with shared_recall(tmp_path / "one", url) as again:
        assert not await again.put(note, said("read again in vain"), "1")


async def test_a_server_makes_and_reads_no_vectors_of_other_folders(
    tmp_path: Path, postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_database.url()
    # So few are compared that those of the other folder would take the places of all.
    monkeypatch.setattr(_vectors, "_CHOSEN", 3)
    monkeypatch.setattr(_vectors, "_READ_AT_ONCE", 2)
    twins = {"automobile": "car"}
    async with (
        shared_recall(tmp_path / "one", url, LetterEmbedder(twins=twins)) as one,
        shared_recall(tmp_path / "two", url, LetterEmbedder(twins=twins)) as two,
    ):
        await one.put(RecallSource("ana", "memory", "notes"), said(*["automobile"] * 5), "1")
        assert await two.count_unembedded() == 0
        assert await two.embed_some(10) == 0
        assert await one.embed_some(10) == 5
        await two.put(RecallSource("ana", "memory", "notes"), said("my automobile", *["lunch today"] * 5), "1")
        assert await two.embed_some(10) == 6
        assert (await found(two, "car"))[0] == "my automobile"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="There is no kill -9")
async def test_a_feeder_that_is_killed_leaves_no_half_source(tmp_path: Path, postgres_database: TasksDatabase) -> None:
    url = postgres_database.url()
    async with shared_recall(tmp_path / "here", url) as index:
        last = -1
        for attempt in range(rounds(2, 4)):
            async for number in _feeding(tmp_path / str(attempt), url, 100 * attempt):
                last = number
            hits = await index.search(RecallQuery("figure", "ana", limit=200))
            texts = {hit.passage.text for hit in hits}
            # Of one version all, or of the next that was not acknowledged.
            assert texts in ({f"figure {at} of round {version}" for at in range(50)} for version in (last, last + 1))
        with postgres_database.connect() as connection:
            counted = connection.execute(
                "SELECT passages, (SELECT count(*) FROM recall_passages), (SELECT count(*) FROM recall_texts),"
                " words, (SELECT sum(length) FROM recall_passages) FROM recall_totals"
            ).fetchone()
            assert counted == (50, 50, 50, counted[3], counted[3])
            words = connection.execute("SELECT word, passages FROM recall_words WHERE passages > 0").fetchall()
            kept = connection.execute("SELECT word, sum(octet_length(found)) / 6 FROM recall_postings GROUP BY word")
            assert sorted(words) == sorted((word, int(count)) for word, count in kept.fetchall())


async def _feeding(home: Path, url: str, first: int) -> AsyncIterator[int]:
    """The rounds that a feeder acknowledged until it was killed in the midst of one."""
    feeder = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.recall._helpers.shared_feeder", str(home), url, str(first),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert feeder.stdout is not None
    try:
        for _ in range(random.Random(str(home)).randrange(2, 5)):
            yield int(await feeder.stdout.readline())
    finally:
        os.kill(feeder.pid, signal.SIGKILL)
        rest = await feeder.stdout.read()
        await feeder.wait()
    for line in rest.split():
        yield int(line)


async def test_long_texts_of_many_passages_are_counted_whole(tmp_path: Path, postgres_database: TasksDatabase) -> None:
    async with shared_recall(tmp_path, postgres_database.url()) as index:
        passages = [Passage(f"common words of passage {number}", str(number), number) for number in range(2_100)]
        await index.put(conversation("t"), [*passages, Passage("a rare walrus is common", "last", 9_999)], "1")
        assert (await found(index, "walrus common"))[0] == "a rare walrus is common"
        everywhere = await index.search(RecallQuery("common words", "ana", limit=200))
        assert len(everywhere) >= 150 and everywhere[0].passage.text.startswith("common words")
        assert (await found(index, '"passage 7"'))[0] == "common words of passage 7"


@pytest.mark.parametrize("schema", ["public", "elsewhere"])
async def test_pgvector_finds_what_is_found_without_it(
    tmp_path: Path, postgres_database: TasksDatabase, schema: str
) -> None:
    embedder = LetterEmbedder(dimensions=16)
    async with shared_recall(tmp_path, postgres_database.url(), embedder) as index:
        chance = random.Random(3)
        for number in range(30):
            texts = [" ".join(chance.choices(WORDS, k=4)) for _ in range(5)]
            await index.put(
                RecallSource("ana", "conversation", str(number), workspace=f"/{number % 2}"), said(*texts), "1"
            )
        while await index.embed_some(64):
            pass
        # The same model may have given other dimensions before.
        index.use(LetterEmbedder(dimensions=8))
        await index.put(conversation("other", "ben"), said("fraud churn"), "1")
        assert await index.embed_some(10) == 1
        index.use(embedder)
        queries = [RecallQuery(word, "ana", workspace=place) for word in WORDS[:9] for place in (None, "/1")]
        without = [await index.search(query) for query in queries]
        assert await _asks_pgvector(index) is False
        with postgres_database.connect() as admin:
            if admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone() is None:
                pytest.skip("There is no pgvector here")
            admin.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            admin.execute(f"CREATE EXTENSION vector SCHEMA {schema}")
            if schema != "public":
                assert await _asks_pgvector(index) is False, "nobody may use that schema"
                admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO PUBLIC")
        assert await _asks_pgvector(index) is True
        for query, hits in zip(queries, without, strict=True):
            found_too = await index.search(query)
            assert [hit.score for hit in found_too] == pytest.approx([hit.score for hit in hits], abs=1e-5)
            # Of those that score as the last one does, either may be cut off.
            sure = {hit.passage.text for hit in hits if len(hits) < query.limit or hit.score > hits[-1].score + 1e-4}
            assert sure <= {hit.passage.text for hit in found_too}


async def _asks_pgvector(index: RecallIndex) -> bool:
    """Whether the database compares vectors."""

    def look(connection: SqlConnection) -> bool:
        dialect, question = index._dialect, LetterEmbedder(dimensions=16).embed(["churn"])[0]
        (number,) = connection.execute("SELECT number FROM recall_models").fetchone()
        nearest = dialect.nearest(connection, question, number, filter_of(RecallQuery("churn", "ana"), dialect), 10)
        assert nearest is None or len(nearest) == 10
        return nearest is not None

    return await index._database.read(look)
