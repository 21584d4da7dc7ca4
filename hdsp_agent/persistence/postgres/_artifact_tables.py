"""What the tables of PostgreSQL need where artifacts are in an object store.

A row of ``artifacts`` has either the bytes (``data``) or the key of an object that has them (``object``). It may change from
one to the other, and in nothing else. An object gets its key but once, and is in the store before a row names it; when no row
names it any more, ``unused_objects`` does, until it is deleted. So at no time does a row name what the store has not.

Keys begin with the person's folder, which ends in a secret of theirs: ``artifact_folders``.
"""

from __future__ import annotations

from typing import Final

from ._connection import SCHEMA

__all__ = ["ARTIFACT_TABLES", "OWN_ARTIFACT_TABLES"]

OWN_ARTIFACT_TABLES: Final = ("artifact_folders", "unused_objects")
"""The tables of which everybody sees their own rows, the tables' owner too."""

_FOLDERS: Final = """
CREATE TABLE artifact_folders (
    owner name PRIMARY KEY DEFAULT current_user,
    secret text NOT NULL DEFAULT replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
)"""

_UNUSED: Final = """
CREATE TABLE unused_objects (
    owner name NOT NULL DEFAULT current_user,
    object text NOT NULL,
    PRIMARY KEY (owner, object)
)"""

_MOVE: Final = f"""
CREATE FUNCTION move_artifact() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.task, NEW.name, NEW.size) IS DISTINCT FROM (OLD.id, OLD.task, OLD.name, OLD.size)
        OR (NEW.object IS NULL) = (OLD.object IS NULL)
        OR encode(sha256(NEW.data), 'hex') <> OLD.name
    THEN
        RAISE EXCEPTION 'artifacts is append-only' USING ERRCODE = 'restrict_violation';
    END IF;
    INSERT INTO unused_objects (owner, object)
    SELECT owner, OLD.object FROM tasks WHERE number = OLD.task AND OLD.object IS NOT NULL;
    RETURN NEW;
END $$"""  # noqa: S608 -- our own names

_LEAVE: Final = f"""
CREATE FUNCTION leave_objects() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    INSERT INTO unused_objects (owner, object)
    SELECT OLD.owner, object FROM artifacts WHERE task = OLD.number AND object IS NOT NULL;
    RETURN OLD;
END $$"""  # noqa: S608 -- our own names

_SOMEWHERE: Final = """
ALTER TABLE artifacts
    ALTER COLUMN data DROP NOT NULL,
    ADD COLUMN object text,
    ADD CONSTRAINT artifacts_are_somewhere CHECK (num_nonnulls(data, object) = 1)"""

ARTIFACT_TABLES: Final = (
    _SOMEWHERE,
    "CREATE INDEX artifacts_in_rows ON artifacts(task) WHERE object IS NULL",
    "GRANT INSERT (object), UPDATE (data, object) ON artifacts TO PUBLIC",
    _FOLDERS,
    "GRANT SELECT, INSERT (owner) ON artifact_folders TO PUBLIC",
    _UNUSED,
    "GRANT SELECT, INSERT (owner, object), DELETE ON unused_objects TO PUBLIC",
    _MOVE,
    "DROP TRIGGER artifacts_stays_row ON artifacts",
    "CREATE TRIGGER artifacts_stays_row BEFORE DELETE ON artifacts FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER artifacts_move BEFORE UPDATE ON artifacts FOR EACH ROW EXECUTE FUNCTION move_artifact()",
    _LEAVE,
    "CREATE TRIGGER objects_are_left BEFORE DELETE ON tasks FOR EACH ROW EXECUTE FUNCTION leave_objects()",
)
