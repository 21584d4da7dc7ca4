"""What the rows of a time line say of the agent's steps: which request led to them, and which cells they were about."""

from __future__ import annotations

from collections.abc import Sequence

from hdsp_agent.checkpoints.timeline import CheckpointView, OperationView, StepView
from hdsp_agent.comm import Owner
from hdsp_agent.comm.checkpoint_steps import CheckpointSteps
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import CellCode, CellEdit, ClineMessage, ClineSayTool
from hdsp_agent.persistence import TaskLog
from tests.comm._helpers.stored_tasks import begin

ME = server_owner()


async def asked(task: TaskLog, tool: ClineSayTool) -> int:
    """The agent asks whether it may do this; when that was."""
    ts = task.next_ts()
    await task.put_ui(ClineMessage(ts=ts, type="ask", ask="tool", text=tool.to_json()))
    return ts


async def said(task: TaskLog, text: str) -> int:
    """The person says this; when that was."""
    ts = task.next_ts()
    await task.put_ui(ClineMessage(ts=ts, type="say", say="user_feedback", text=text))
    return ts


def before(task: TaskLog, ts: int) -> OperationView:
    """A checkpoint was saved before what the agent was allowed then."""
    checkpoint = CheckpointView(
        id=str(ts), commit="c", ts=ts, reason="before run_cells", kind="before", tool="run_cells", author="person",
        task_id=task.task_id, message_ts=ts,
    )  # fmt: skip
    return OperationView(id=f"o{ts}", ts=ts, kind="save", status="done", checkpoint=checkpoint)


async def steps(
    services: Services, operations: Sequence[OperationView], owner: Owner = ME
) -> Sequence[StepView | None]:
    return [done.step for done in await CheckpointSteps(services.history).told(owner, operations)]


def ran(*numbers: int) -> ClineSayTool:
    cells = [CellCode(number=number, code="x") for number in numbers]
    return ClineSayTool(tool="runCells", path="a.ipynb", cells=cells)


def edited(*edits: CellEdit) -> ClineSayTool:
    return ClineSayTool(tool="editCells", path="a.ipynb", cell_edits=list(edits))


async def test_each_step_names_its_request_and_its_cells(services: Services) -> None:
    task = await begin(services, "Clean up.\nAll of it.")
    first = await asked(task, ran(2, 3, 4))
    await task.put_ui(ClineMessage(ts=task.next_ts(), type="say", say="completion_result", text="Done."))
    await task.put_ui(ClineMessage(ts=task.next_ts(), type="ask", ask="completion_result", text=""))
    again = await said(task, '\n<attachment kind="error" path="a.ipynb" label="Fix cell 5">\n…')
    second = await asked(task, ran(5))
    found = await steps(services, [before(task, second), before(task, first)])
    assert [(one.request, one.cells) for one in found if one is not None] == [
        ('<attachment kind="error" path="a.ipynb" label="Fix cell 5">', (5,)),
        ("Clean up.", (2, 3, 4)),
    ]
    assert found[0] is not None and found[0].request_ts == again
    await task.finish()


async def test_what_the_person_answers_is_no_request(services: Services) -> None:
    task = await begin(services, "Plot it.")
    await task.put_ui(ClineMessage(ts=task.next_ts(), type="ask", ask="followup", text="{}"))
    await said(task, "In blue.")
    await asked(task, ran(1))
    # Allowed with a note: then the checkpoint goes by the note's message.
    noted = await said(task, "But quickly.")
    found = await steps(services, [before(task, noted)])
    assert found == [
        StepView(request="Plot it.", request_ts=found[0].request_ts if found[0] else 0, cells=(1,), path="a.ipynb")
    ]
    await task.finish()


async def test_cells_are_told_by_the_numbers_a_person_sees_afterwards(services: Services) -> None:
    task = await begin(services, "Go.")
    tools = [
        edited(CellEdit(op="insert", after=2), CellEdit(op="insert", after=2), CellEdit(op="insert", after=0)),
        edited(CellEdit(op="replace", number=4), CellEdit(op="insert", after=4)),
        edited(CellEdit(op="delete", number=7), CellEdit(op="delete", number=6)),
        ClineSayTool(tool="newFileCreated", path="prices.csv"),
    ]
    times = [await asked(task, tool) for tool in tools]
    found = [one for one in await steps(services, [before(task, ts) for ts in times]) if one is not None]
    assert [(one.change, one.cells, one.path) for one in found] == [
        ("added", (1, 4, 5), "a.ipynb"),
        ("edited", (4,), "a.ipynb"),
        ("deleted", (6, 7), "a.ipynb"),
        (None, (), "prices.csv"),
    ]
    await task.finish()


async def test_a_long_conversation_is_read_back_to_its_request(services: Services) -> None:
    task = await begin(services, "Go on.")
    for _ in range(450):
        await task.put_ui(ClineMessage(ts=task.next_ts(), type="say", say="text", text="…"))
    ts = await asked(task, ran(1))
    (found,) = await steps(services, [before(task, ts)])
    assert found is not None and found.request == "Go on."
    await task.finish()


async def test_another_person_learns_nothing_of_it(services: Services) -> None:
    task = await begin(services, "The offer is 3 million.", user="somebody-else")
    ts = await asked(task, ran(1))
    telling = CheckpointSteps(services.history)
    (theirs,) = await telling.told(Owner("somebody-else"), [before(task, ts)])
    assert theirs.step is not None
    (mine,) = await telling.told(ME, [before(task, ts)])
    assert mine.step is None
    await task.finish()
