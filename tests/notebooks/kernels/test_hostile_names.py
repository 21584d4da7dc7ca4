"""Names and classes in a kernel that no sane program has."""

from __future__ import annotations

from pathlib import Path

from ._helpers.database_kernels import database_kernel, databases, ended_well
from ._helpers.executors import NOTEBOOK, text_of

HOSTILE = """
import sqlite3, sqlalchemy
class Meta(type):
    def __getattribute__(self, name): raise RuntimeError('looked at')
class Hostile(metaclass=Meta): pass
class Name(str):
    def startswith(self, *args): raise RuntimeError('asked')
def named(place):
    class Lazy:
        def __repr__(self): RAN.append(1); return 'rows'
    Lazy.__module__, Lazy.__name__ = place
    return Lazy()
hostile, fine, RAN = Hostile(), 1, []
kind = Hostile
globals()[5] = 'five'
globals()[Name('odd')] = 'six'
db = sqlite3.connect(':memory:')
engine = sqlalchemy.create_engine('sqlite:////nowhere/x.db?password=hunter2')
spark = named(('pyspark.sql.dataframe', 'DataFrame'))
ibis = named(('ibis.expr.types.core', 'Expr'))
django = named(('django.db.models.query', 'QuerySet'))
sql = named(('sql.run.resultset', 'ResultSet'))
within = [spark]
text, web = 'postgresql://ann:hunter2@h:5432/db', 'http://h:80/@ann'
url = sqlalchemy.make_url('postgresql://ann:hunter2@h/db?token=hunter2')
urls = {'one': [url]}
bare = {}
exec("Bare = type('Bare', (), {})", bare)
Bare = bare['Bare']
bare = Bare()
"""
ADDRESSES = """
import pandas
slashed, ats = 'postgresql://ann:hunter2/w@h/db', 'postgresql://x@corp:p@hunter2@h/db'
asked = 'https://h/db?user=ann&password=hunter2'
late = 'x' * 570 + ' postgresql://ann:hunter2' + 'x' * 40 + '@h/db'
class Shown:
    def __repr__(self): return texts[0]
texts = ['x' * 20 + ' postgresql://ann:hunter2' + 'x' * 90 + '@h/db', slashed, ats, asked]
texts += [texts[0].encode(), Shown()]
config = {slashed: 1, 'db': asked, 'late': texts[0]}
frame = pandas.DataFrame({'address': texts[:4]})
"""


async def test_odd_names_and_classes_cost_only_themselves(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(await work.run(HOSTILE))
        found = {one.name: one for one in (await work.executor.inspect(NOTEBOOK)).variables}
        assert found["fine"].head == "1" and found["hostile"].type == "Hostile" and "kind" in found
        assert found["bare"].type == "Bare"
        assert {5, "5", "odd"}.isdisjoint(found)
        assert {"db", "engine"} == set(await databases(work))


async def test_what_looking_would_run_is_not_run(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(await work.run(HOSTILE))
        found = {one.name: one for one in (await work.executor.inspect(NOTEBOOK)).variables}
        for name in ("spark", "ibis", "django", "sql", "within"):
            await work.executor.look_into(NOTEBOOK, name)
            assert "Lazy object at" in str(found[name].head)
        assert text_of(await work.cell("print(RAN)")) == "[]\n"


async def test_passwords_of_addresses_are_not_told(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(await work.run(HOSTILE))
        report = await work.executor.inspect(NOTEBOOK)
        assert "hunter2" not in report.model_dump_json()
        found = {one.name: one.head for one in report.variables}
        assert found["engine"] == "Engine(sqlite:////nowhere/x.db?…)"
        assert found["text"] == "'postgresql://ann:***@h:5432/db'" and found["web"] == "'http://h:80/@ann'"
        # It is a tuple, which would be shown by its parts.
        told = [await work.executor.look_into(NOTEBOOK, name) for name in ("url", "urls", "engine")]
        assert not any("hunter2" in one.model_dump_json() for one in told)


async def test_passwords_in_texts_are_not_told_wherever_the_texts_are_cut(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(await work.run(ADDRESSES))
        report = await work.executor.inspect(NOTEBOOK)
        found = {one.name: one.head for one in report.variables}
        assert found["slashed"] == str(found["ats"]).replace("x@corp", "ann") == "'postgresql://ann:***@h/db'"
        assert found["asked"] == "'https://h/db?user=ann&password=***'"
        assert "hunter2" not in report.model_dump_json()
        for name in found:
            assert "hunter2" not in (await work.executor.look_into(NOTEBOOK, name)).model_dump_json()
