"""Jupyter's event system takes our events, and learns nothing from them that was said."""

from __future__ import annotations

import io
import json
import logging

import pytest
from jupyter_events import EventLogger
from jupyter_events.schema import EventSchema

from hdsp_agent.events import (
    ACCESS_SCHEMA,
    CHECKPOINT_SCHEMA,
    FEEDBACK_SCHEMA,
    MEMORY_SCHEMA,
    SESSION_SCHEMA,
    TASK_SCHEMA,
    CheckpointEvent,
    FeedbackEvent,
    MemoryEvent,
    checkpoint_event,
    feedback_event,
    jupyter_event,
    memory_event,
    schema_paths,
)
from hdsp_agent.messages import (
    ClineMessage,
    CompletionInfo,
    MessageEvent,
    MessageEventPayload,
    ModeChanged,
    ModesResponse,
    ProviderProfile,
    ProviderProfileChanged,
    QueuedMessage,
    QueuedMessagesUpdated,
    TaskAborted,
    TaskCompleted,
    TaskDelegationCompleted,
    TaskEvent,
    TaskModeSwitched,
    TaskTokenUsageUpdated,
    TaskToolFailed,
    TokenUsage,
    ToolCounts,
)
from tests.messages._helpers.vocabulary_samples import arms

SECRET = "what nobody else may read"
USAGE = TokenUsage(total_tokens_in=10, total_tokens_out=20, total_cost=0.5, context_tokens=30)
EVENTS: list[TaskEvent] = [
    MessageEvent(
        payload=(
            MessageEventPayload(
                task_id="t1",
                action="updated",
                message=ClineMessage(ts=1, type="ask", ask="tool", text=SECRET, reasoning=SECRET, images=[SECRET]),
            ),
        )
    ),
    TaskCompleted(
        payload=("t1", USAGE, {"read_file": ToolCounts(attempts=3, failures=2)}, CompletionInfo(is_subtask=True))
    ),
    TaskTokenUsageUpdated(payload=("t1", USAGE, {})),
    TaskDelegationCompleted(payload=("t1", "t2", SECRET)),
    TaskModeSwitched(payload=("t1", "ask")),
    TaskToolFailed(payload=("t1", "read_file", SECRET)),
    QueuedMessagesUpdated(payload=("t1", [QueuedMessage(timestamp=1, id="q1", text=SECRET)])),
    TaskAborted(payload=("t1",)),
    ModeChanged(payload=("ask",)),
    ProviderProfileChanged(payload=(ProviderProfile(name=SECRET, provider="anthropic"),)),
]


@pytest.fixture
def recorded() -> tuple[EventLogger, io.StringIO]:
    """Jupyter's own logger with our schemas, and what it writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = EventLogger(handlers=[handler])
    for path in schema_paths():
        logger.register_event_schema(path)
    return logger, stream


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.event_name)
def test_jupyter_takes_the_event(event: TaskEvent, recorded: tuple[EventLogger, io.StringIO]) -> None:
    logger, stream = recorded
    told = jupyter_event(event)
    assert told is not None
    logger.emit(schema_id=told.schema_id, data=told.data)
    written = json.loads(stream.getvalue())
    assert written["event"] == event.event_name
    assert SECRET not in stream.getvalue()


@pytest.mark.parametrize(
    "event",
    [
        CheckpointEvent("initialize", 3),
        CheckpointEvent("checkpoint", 20, "t1", "ab" * 20),
        CheckpointEvent("restore", 0, commit="ab" * 20),
    ],
)
def test_jupyter_takes_what_happens_to_checkpoints(
    event: CheckpointEvent, recorded: tuple[EventLogger, io.StringIO]
) -> None:
    logger, stream = recorded
    told = checkpoint_event(event)
    logger.emit(schema_id=told.schema_id, data=told.data)
    written = json.loads(stream.getvalue())
    assert (written["event"], written["duration_ms"]) == (event.event, event.duration_ms)
    assert (written.get("task_id"), written.get("commit")) == (event.task_id, event.commit)


def test_a_message_is_told_by_its_kind() -> None:
    told = jupyter_event(EVENTS[0])
    assert told == (
        TASK_SCHEMA,
        {"event": "message", "task_id": "t1", "action": "updated", "type": "ask", "kind": "tool"},
    )


def test_a_completion_is_told_by_its_counts() -> None:
    told = jupyter_event(EVENTS[1])
    assert told is not None
    assert told.data == {
        "event": "taskCompleted",
        "task_id": "t1",
        "tokens_in": 10,
        "tokens_out": 20,
        "cost": 0.5,
        "context_tokens": 30,
        "tool_failures": 2,
        "is_subtask": True,
    }


def test_answers_to_one_client_are_nobody_elses() -> None:
    assert jupyter_event(ModesResponse(payload=([],))) is None


def test_the_schemas_are_those_named_and_cover_every_event_but_answers_and_evaluations() -> None:
    schemas = {schema.id: schema for schema in map(EventSchema, schema_paths())}
    assert set(schemas) == {
        TASK_SCHEMA, SESSION_SCHEMA, CHECKPOINT_SCHEMA, ACCESS_SCHEMA, MEMORY_SCHEMA, FEEDBACK_SCHEMA
    }  # fmt: skip
    # Who read what, and what the checkpoints do, are no events of a task.
    of_tasks = [schema for id_, schema in schemas.items() if id_ in (TASK_SCHEMA, SESSION_SCHEMA)]
    covered = {name for schema in of_tasks for name in json.loads(repr(schema))["properties"]["event"]["enum"]}
    names = {model.model_fields["event_name"].default for model in arms(TaskEvent)}
    assert names - covered == {"commandsResponse", "modesResponse", "modelsResponse", "evalPass", "evalFail"}
    assert covered <= names


def test_what_the_memory_work_did_is_told_without_a_word_of_what_was_learned() -> None:
    told = memory_event(MemoryEvent("extract", "ann", "saved", "t1", "small", 10, 20, 0.5))
    assert told.data == {
        "event": "extract", "user": "ann", "outcome": "saved", "task_id": "t1", "model": "small", "tokens_in": 10,
        "tokens_out": 20, "cost": 0.5,
    }  # fmt: skip
    logger = EventLogger()
    for path in schema_paths():
        logger.register_event_schema(path)
    heard = io.StringIO()
    logger.register_handler(logging.StreamHandler(heard))
    for event in (told, memory_event(MemoryEvent("consolidate", "ann", "failed"))):
        logger.emit(schema_id=event.schema_id, data=event.data)
    assert heard.getvalue().count('"outcome"') == 2


def test_a_rating_is_told_without_its_reason() -> None:
    told = feedback_event(FeedbackEvent("t1", "down", has_reason=True))
    assert told.data == {"task_id": "t1", "rating": "down", "has_reason": True}
    logger = EventLogger()
    for path in schema_paths():
        logger.register_event_schema(path)
    heard = io.StringIO()
    logger.register_handler(logging.StreamHandler(heard))
    logger.emit(schema_id=FEEDBACK_SCHEMA, data=told.data)
    assert '"rating": "down"' in heard.getvalue()
