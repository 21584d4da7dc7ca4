"""The tables of the history index in PostgreSQL: those of ``state.db`` (``history/_history_schema.py``), each person's apart.

``role`` is the login that rows belong to, as ``owner`` is in ``tasks``; ``owner`` is the person whom a task names. Texts are
found by words of our own making in ``history_grams``: see ``_postgres_dialect.py``.

Under row-level security PostgreSQL uses an index for nothing but comparisons that cannot give away what they see, and ``@@``
is none. So ``history_found`` looks into ``history_grams`` as the tables' owner, for the rows and words of who asks alone.

Who listens to a role's channel (``channels``) with ``_history`` at its end hears of each change of that role's history.
"""

from __future__ import annotations

from typing import Final

from ._connection import SCHEMA

__all__ = ["HISTORY_TABLES", "OWN_HISTORY_TABLES"]

OWN_HISTORY_TABLES: Final = (
    "history_tasks", "history_items", "history_links", "history_texts", "history_removed", "history_facts",
)  # fmt: skip
"""The tables of which everybody sees their own rows, the tables' owner too."""

_PEOPLE: Final = """
CREATE TABLE history_people (
    role name PRIMARY KEY DEFAULT current_user,
    number integer GENERATED ALWAYS AS IDENTITY
)"""

_TASKS: Final = """
CREATE TABLE history_tasks (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    role name NOT NULL DEFAULT current_user,
    id text NOT NULL,
    parent text,
    owner text NOT NULL,
    ts bigint NOT NULL,
    cost double precision NOT NULL,
    tokens bigint NOT NULL,
    favorite boolean NOT NULL,
    status text,
    workspace text,
    notebook text,
    change bigint NOT NULL,
    writer bigint NOT NULL,
    UNIQUE (role, id)
)"""
_TASK_COLUMNS: Final = "id, parent, owner, ts, cost, tokens, favorite, status, workspace, notebook, change, writer"

_TEXTS: Final = """
CREATE TABLE history_texts (
    role name NOT NULL DEFAULT current_user,
    row bigint NOT NULL,
    title text NOT NULL,
    task text NOT NULL,
    body text NOT NULL,
    shown text NOT NULL,
    PRIMARY KEY (role, row)
)"""

_GRAMS: Final = """
CREATE TABLE history_grams (
    role name NOT NULL DEFAULT current_user,
    row bigint NOT NULL,
    grams tsvector NOT NULL,
    PRIMARY KEY (role, row)
)"""

# What was written last is looked through one by one, so there must not be much of it.
_GRAMS_INDEX: Final = """
CREATE INDEX history_grams_by_gram ON history_grams USING gin (grams) WITH (gin_pending_list_limit = 1024)"""

# Whoever took on a role with SET ROLE, or logs in as one for whom that is set, works as that one everywhere else, too.
_ASKER: Final = (
    "SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END"
)

# Within the index every word looked up begins with the number of who asks: how long others' take would tell that they are there.
# 39 and 92 are ' and the backslash, whatever standard_conforming_strings says.
# To look at the words of each row would take far longer than PostgreSQL thinks.
_FOUND: Final = f"""
CREATE FUNCTION history_found(terms jsonb, fields text[]) RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = {SCHEMA}, pg_temp SET enable_seqscan = off AS $$
    SELECT row FROM history_grams WHERE role = ({_ASKER}) AND grams @@ (
        SELECT string_agg('(' || (
            SELECT string_agg('(' || (
                SELECT string_agg(
                    chr(39) || number || field || replace(replace(part, chr(92), repeat(chr(92), 2)), chr(39), repeat(chr(39), 2))
                    || chr(39) || CASE WHEN length(part) > 2 THEN ':*' ELSE '' END, ' & '
                ) FROM jsonb_array_elements_text(term) AS part
            ) || ')', ' | ') FROM unnest(fields) AS field WHERE field IN ('t', 'k', 'b')
        ) || ')', ' & ')::tsquery
        FROM history_people, jsonb_array_elements(terms) AS term WHERE history_people.role = ({_ASKER})
    )
$$"""  # noqa: S608 -- our own names

_TELL: Final = f"""
CREATE FUNCTION tell_of_history() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    PERFORM pg_notify(name || '_history', '') FROM channels WHERE owner = NEW.role;
    RETURN NULL;
END $$"""


def _shown_to_owner(table: str) -> tuple[str, str]:
    """Everybody sees their own rows, and the tables' owner, as whom ``history_found`` looks, sees all."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY own ON {table} USING (role = current_user) WITH CHECK (role = current_user)",
    )


HISTORY_TABLES: Final[tuple[str, ...]] = (
    _PEOPLE,
    *_shown_to_owner("history_people"),
    # Who changes their own row holds it while they write.
    "GRANT SELECT, INSERT (role), UPDATE (role) ON history_people TO PUBLIC",
    _TASKS,
    "CREATE INDEX history_tasks_by_ts ON history_tasks(role, ts, row)",
    "CREATE INDEX history_tasks_by_parent ON history_tasks(role, parent)",
    "CREATE INDEX history_tasks_by_change ON history_tasks(role, change)",
    # Nobody chooses a row's number: one that is taken would stand in another person's way.
    f"GRANT SELECT, INSERT ({_TASK_COLUMNS}), UPDATE ({_TASK_COLUMNS}), DELETE ON history_tasks TO PUBLIC",
    (
        "CREATE TABLE history_items (role name NOT NULL DEFAULT current_user, row bigint NOT NULL, item text NOT NULL,"
        " PRIMARY KEY (role, row))"
    ),
    "GRANT SELECT, INSERT (row, item), UPDATE (item), DELETE ON history_items TO PUBLIC",
    (
        "CREATE TABLE history_links (role name NOT NULL DEFAULT current_user, parent text NOT NULL, child text NOT NULL,"
        " PRIMARY KEY (role, parent, child))"
    ),
    "GRANT SELECT, INSERT (parent, child), DELETE ON history_links TO PUBLIC",
    _TEXTS,
    "GRANT SELECT, INSERT (row, title, task, body, shown), DELETE ON history_texts TO PUBLIC",
    (
        "CREATE TABLE history_removed (role name NOT NULL DEFAULT current_user, id text NOT NULL, change bigint NOT NULL,"
        " writer bigint NOT NULL, PRIMARY KEY (role, id))"
    ),
    "CREATE INDEX history_removed_by_change ON history_removed(role, change)",
    "GRANT SELECT, INSERT (id, change, writer), DELETE ON history_removed TO PUBLIC",
    (
        "CREATE TABLE history_facts (role name NOT NULL DEFAULT current_user, name text NOT NULL, value bigint NOT NULL,"
        " PRIMARY KEY (role, name)) WITH (fillfactor = 50)"
    ),
    "GRANT SELECT, INSERT (name, value), UPDATE (value) ON history_facts TO PUBLIC",
    _GRAMS,
    *_shown_to_owner("history_grams"),
    "GRANT SELECT (row), INSERT (row, grams), DELETE ON history_grams TO PUBLIC",
    _GRAMS_INDEX,
    _FOUND,
    _TELL,
    (
        "CREATE TRIGGER history_is_told AFTER INSERT OR UPDATE ON history_facts FOR EACH ROW WHEN (NEW.name = 'changes')"
        " EXECUTE FUNCTION tell_of_history()"
    ),
)
"""What makes them, statement by statement. Once released, it is never changed."""
