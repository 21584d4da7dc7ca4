"""Who hears what, and what a listener that fails may not do."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from hdsp_agent.events import Emitter, task_id_of
from hdsp_agent.messages import (
    ClineMessage,
    MessageEvent,
    MessageEventPayload,
    ModeChanged,
    TaskCreated,
    TaskEvent,
    TaskSpawned,
)


def test_who_listens_to_all_hears_all_in_order() -> None:
    emitter = Emitter()
    heard: list[str] = []
    emitter.on_any(lambda event: heard.append(event.event_name))
    emitter.emit(TaskCreated(payload=("t1",)))
    emitter.emit(ModeChanged(payload=("ask",)))
    assert heard == ["taskCreated", "modeChanged"]


def test_who_disposes_hears_no_more_and_the_others_do() -> None:
    emitter = Emitter()
    heard: list[TaskEvent] = []
    dispose = emitter.on_any(heard.append)
    emitter.on_any(heard.append)
    dispose()
    dispose()
    emitter.emit(TaskCreated(payload=("t1",)))
    assert len(heard) == 1


def test_a_listener_may_stop_listening_while_it_is_told() -> None:
    emitter = Emitter()
    heard: list[str] = []
    disposals: list[Callable[[], None]] = []

    def once(event: TaskEvent) -> None:
        heard.append("once")
        disposals[0]()

    disposals.append(emitter.on_any(once))
    emitter.on_any(lambda event: heard.append("always"))
    emitter.emit(TaskCreated(payload=("t1",)))
    emitter.emit(TaskCreated(payload=("t1",)))
    assert heard == ["once", "always", "always"]


def test_a_failing_listener_is_logged_with_the_task_and_costs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    emitter = Emitter(logging.getLogger("hdsp_agent"))
    heard: list[TaskEvent] = []

    def fail(event: TaskEvent) -> None:
        raise RuntimeError("the disk is full")

    emitter.on_any(fail)
    emitter.on_any(heard.append)
    emitter.emit(TaskCreated(payload=("t1",)))

    assert len(heard) == 1
    (record,) = caplog.records
    assert record.getMessage() == "A listener to taskCreated failed (task t1)"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "the disk is full"


MESSAGE = MessageEventPayload(task_id="t1", action="created", message=ClineMessage(ts=1, type="say", say="text"))


@pytest.mark.parametrize(
    ("event", "task_id"),
    [
        (TaskCreated(payload=("t1",)), "t1"),
        (TaskSpawned(payload=("parent", "child")), "parent"),
        (MessageEvent(payload=(MESSAGE,)), "t1"),
        (ModeChanged(payload=("ask",)), None),
    ],
)
def test_an_event_knows_its_task(event: TaskEvent, task_id: str | None) -> None:
    assert task_id_of(event) == task_id
