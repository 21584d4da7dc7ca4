"""How a notebook's variables differ from the newest checkpoint that was made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints.timeline import Parts, VariablesSince
from hdsp_agent.checkpoints.variables import VariableLimits
from hdsp_agent.errors import NotFound
from hdsp_agent.messages import CellId
from hdsp_agent.notebooks.kernels import CellRunSpec

from ...notebooks._helpers.headless import end_kernel
from ._helpers.timeline_fixtures import PATH, TimelineSetup, timeline_setup


def told(since: VariablesSince) -> dict[str, str]:
    return {change.name: change.kind for change in since.changes}


async def changes(here: TimelineSetup) -> dict[str, str]:
    since = await here.line.variables_since(PATH)
    assert since.unknown is None
    return told(since)


async def test_what_is_new_changed_or_gone_is_told(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("same = [1]; changed = [1]; gone = [1]; again = [1]")
        target = await here.save(code="thorough")
        since = await here.line.variables_since(PATH)
        assert (since.checkpoint, since.ts, told(since)) == (target.id, target.ts, {})
        await here.run("import json\nfrom math import sqrt\n_mine = 1\nadded = 1")
        await here.run("changed.append(2); del gone; again.append(2); again.pop()")
        assert await changes(here) == {"changed": "changed", "added": "added", "gone": "gone", "sqrt": "added"}
        # A checkpoint without variables is not what they are compared with.
        await here.save()
        assert (await here.line.variables_since(PATH)).checkpoint == target.id


async def test_what_shares_objects_is_told_apart(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("rows = [[1]]; other = [2]")
        await here.save(code="thorough")
        await here.run("first = rows[0]")
        assert await changes(here) == {"first": "added", "rows": "shared"}


async def test_of_what_has_no_bytes_it_is_known_whether_it_is_the_same_object(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("same = (n for n in 'ab'); other = (n for n in 'ab'); gone = (n for n in 'ab')")
        await here.save(code="thorough")
        await here.run("other = (n for n in 'ab'); new = (n for n in 'ab'); del gone")
        since = await here.line.variables_since(PATH)
        assert told(since) == {"other": "changed", "new": "added", "gone": "gone"}
        assert not any(change.can_restore for change in since.changes)


async def test_what_came_to_hold_something_without_bytes_has_changed(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("live = {}; back = {'g': (n for n in 'ab')}; same = [1]")
        await here.save(code="thorough")
        await here.run("live['g'] = (n for n in 'ab'); back.pop('g')")
        assert await changes(here) == {"live": "changed", "back": "changed"}


async def test_what_is_found_later_is_pending(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        here.values.set_limits(VariableLimits(inline_seconds=0, last_seconds=0))
        await here.run("rows = [1]")
        await here.save(code="thorough")
        # So much that it is not looked through within no time at all.
        await here.run("rows.append(2); many = [[n] for n in range(300_000)]")
        first = await here.line.variables_since(PATH)
        assert first.unknown in (None, "pending")
        here.values.set_limits(VariableLimits(inline_seconds=0, last_seconds=250))
        since = await here.line.variables_since(PATH)
        assert told(since) == {"rows": "changed", "many": "added"}


async def test_what_a_restore_made_is_accepted_by_a_checkpoint(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("rows = [1]; limit = 10")
        target = await here.save(code="thorough")
        await here.run("rows.append(2); del limit")
        await here.line.restore(target.id, Parts(variables=True, path=PATH, only_variables=("limit",)))
        kept = await here.save("asked for", code="thorough", always=True)
        since = await here.line.variables_since(PATH)
        assert (since.checkpoint, told(since)) == (kept.id, {})


async def test_the_others_are_still_compared_with_it_after_a_restore_of_one(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("rows = [1]; limit = 10")
        target = await here.save(code="thorough")
        await here.run("rows.append(2); del limit")
        assert await changes(here) == {"rows": "changed", "limit": "gone"}
        await here.line.restore(target.id, Parts(variables=True, path=PATH, only_variables=("limit",)))
        since = await here.line.variables_since(PATH)
        assert (since.checkpoint, told(since)) == (target.id, {"rows": "changed"})


async def test_looking_keeps_nothing_and_changes_nothing(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("a = 1")
        await here.save(code="thorough")
        records = len(await here.files.list())
        manifests = here.values.store.manifests()
        names = await here.value("sorted(name for name in globals() if not name.startswith('_i'))")
        await here.run("a = 2")
        for _ in range(3):
            assert await changes(here) == {"a": "changed"}
        assert len(await here.files.list()) == records
        assert here.values.store.manifests() == manifests
        assert await here.value("sorted(name for name in globals() if not name.startswith('_i'))") == names


async def test_another_server_knows_it_too(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("a = 1")
        await here.save(code="thorough")
        await here.run("a = 2")
        assert told(await here.another_line().variables_since(PATH)) == {"a": "changed"}


async def test_nothing_is_told_where_it_is_not_known(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        assert (await here.line.variables_since(PATH)).unknown == "no_checkpoint"
        await here.run("a = 1")
        assert (await here.line.variables_since(PATH)).unknown == "no_checkpoint"
        await here.save(code="thorough")
        run = await here.notebooks.executor.run(PATH, [CellRunSpec(CellId("run"), "while True: pass")])
        while run.cells[0].state != "running":
            await run.wait(0.05)
        assert (await here.line.variables_since(PATH)).unknown == "busy"
        await run.interrupt()
        await run.wait(60)
        await here.notebooks.executor.restart(PATH)
        # Nobody has looked at this kernel yet.
        assert (await here.line.variables_since(PATH)).unknown == "no_checkpoint"


async def test_a_kernel_that_ended_is_said(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("a = 1")
        await here.save(code="thorough")
        await end_kernel(here.notebooks.executor, PATH)
        with pytest.raises(NotFound):
            await here.line.variables_since(PATH)


async def test_what_a_function_changes_is_seen(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("rows = [1]\ndef grow():\n    rows.append(len(rows))")
        await here.save(code="thorough")
        await here.run("grow()")
        assert await changes(here) == {"rows": "changed"}
