"""The tables of recall in PostgreSQL: those of ``state.db`` (``recall/_schema.py``), each person's apart.

``person`` is the number of the role whose rows they are, in ``history_people``. Sources and passages have numbers of one
sequence for each person, counted in ``recall_totals``: a source's passages have those that follow its own.

There is no index of words like SQLite's. ``recall_postings`` has one row for each word of a source: ``found`` says in which
of its passages, and how often, six bytes for each. ``recall_titles`` has the words of titles, and ``recall_words`` in how
many passages and titles a word is. All are looked up by equality alone, which row-level security leaves to the indexes.

``place`` says where the source is: empty if in this database, else which server's folder has it.
"""

from __future__ import annotations

from typing import Final

__all__ = ["RECALL_TABLES"]

_TOTALS: Final = """
CREATE TABLE recall_totals (
    person integer PRIMARY KEY,
    newest bigint NOT NULL DEFAULT 0,
    newest_vector bigint NOT NULL DEFAULT 0,
    passages bigint NOT NULL DEFAULT 0,
    words bigint NOT NULL DEFAULT 0,
    titles bigint NOT NULL DEFAULT 0,
    title_words bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50)"""

_SOURCES: Final = """
CREATE TABLE recall_sources (
    person integer NOT NULL,
    row bigint NOT NULL,
    place text NOT NULL,
    owner text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    version text NOT NULL,
    title text NOT NULL,
    title_length integer NOT NULL,
    workspace text,
    stays_here integer NOT NULL,
    PRIMARY KEY (person, row),
    UNIQUE (person, kind, id, owner, place)
)"""

_PASSAGES: Final = """
CREATE TABLE recall_passages (
    person integer NOT NULL,
    row bigint NOT NULL,
    source bigint NOT NULL,
    ts bigint NOT NULL,
    author text,
    length integer NOT NULL,
    PRIMARY KEY (person, row)
)"""

_TEXTS: Final = """
CREATE TABLE recall_texts (
    person integer NOT NULL,
    row bigint NOT NULL,
    place text NOT NULL,
    text text NOT NULL,
    words text NOT NULL,
    concepts text NOT NULL,
    PRIMARY KEY (person, row)
)"""

_POSTINGS: Final = """
CREATE TABLE recall_postings (
    person integer NOT NULL,
    source bigint NOT NULL,
    word text COLLATE "C" NOT NULL,
    found bytea NOT NULL,
    PRIMARY KEY (person, word, source)
)"""

_TITLES: Final = """
CREATE TABLE recall_titles (
    person integer NOT NULL,
    source bigint NOT NULL,
    word text COLLATE "C" NOT NULL,
    times integer NOT NULL,
    PRIMARY KEY (person, word, source)
)"""

_WORDS: Final = """
CREATE TABLE recall_words (
    person integer NOT NULL,
    word text COLLATE "C" NOT NULL,
    passages bigint NOT NULL,
    titles bigint NOT NULL,
    PRIMARY KEY (person, word)
) WITH (fillfactor = 70)"""

_MODELS: Final = """
CREATE TABLE recall_models (
    person integer NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    used bigint NOT NULL,
    PRIMARY KEY (person, number),
    UNIQUE (person, name)
)"""

_VECTORS: Final = """
CREATE TABLE recall_vectors (
    person integer NOT NULL,
    number bigint NOT NULL,
    row bigint NOT NULL,
    model integer NOT NULL,
    vector real[] NOT NULL,
    PRIMARY KEY (person, number),
    UNIQUE (person, row, model)
)"""

_OWN: Final = "person = (SELECT number FROM history_people WHERE role = current_user)"


def _own(*tables: str) -> tuple[str, ...]:
    """Everybody sees and changes their own rows, the tables' owner too."""
    return tuple(
        statement
        for table in tables
        for statement in (
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY own ON {table} USING ({_OWN}) WITH CHECK ({_OWN})",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO PUBLIC",
        )
    )


RECALL_TABLES: Final[tuple[str, ...]] = (
    _TOTALS,
    _SOURCES,
    _PASSAGES,
    "CREATE INDEX recall_passages_by_source ON recall_passages (person, source)",
    "CREATE INDEX recall_passages_by_ts ON recall_passages (person, ts, row)",
    _TEXTS,
    _POSTINGS,
    "CREATE INDEX recall_postings_by_source ON recall_postings (person, source)",
    # They are short, and read as they are.
    "ALTER TABLE recall_postings ALTER COLUMN found SET STORAGE EXTERNAL",
    _TITLES,
    "CREATE INDEX recall_titles_by_source ON recall_titles (person, source)",
    _WORDS,
    _MODELS,
    _VECTORS,
    # Numbers like these do not get shorter.
    "ALTER TABLE recall_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    *_own(
        "recall_totals", "recall_sources", "recall_passages", "recall_texts", "recall_postings", "recall_titles",
        "recall_words", "recall_models", "recall_vectors",
    ),
)  # fmt: skip
"""What makes them, statement by statement. Once released, it is never changed."""
