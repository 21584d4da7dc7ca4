"""Whatever a page sends, it gets frames or typed errors, and a bad frame costs no good one."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from hdsp_agent.errors import FrameTooLarge, InvalidInput, MalformedFrame, UnknownMessageType
from hdsp_agent.messages import (
    CancelTaskRequest,
    ClientFrame,
    ClientMsg,
    ClientPing,
    RequestId,
    WebviewMessage,
    parse_client_frame,
    request_id_of,
    split_frames,
)
from tests.messages._helpers.vocabulary_samples import arms, json_values, minimal, wires

from .._helpers.long_tests import rounds
from .._helpers.timing import processor_time

LIMIT = 1_000_000
GOOD = {"op": "ping", "commId": "c", "seq": 7}


@dataclass
class RejectedFrame:
    error: InvalidInput
    request_id: RequestId | None = None


def parse(message: str | bytes, max_bytes: int = LIMIT) -> list[ClientFrame | RejectedFrame]:
    """The frames of one message, with the reason in place of each that is refused: what a connection does with them."""
    try:
        values = split_frames(message, max_bytes=max_bytes)
    except InvalidInput as error:
        return [RejectedFrame(error)]
    frames: list[ClientFrame | RejectedFrame] = []
    for value in values:
        try:
            frames.append(parse_client_frame(value))
        except InvalidInput as error:
            frames.append(RejectedFrame(error, request_id_of(value)))
    return frames


def only_error(message: str | bytes) -> RejectedFrame:
    (frame,) = parse(message)
    assert isinstance(frame, RejectedFrame)
    return frame


def request(**fields: JsonValue) -> str:
    return json.dumps({"op": "msg", "commId": "c", "data": {"requestId": "r1", **fields}})


def test_one_frame_or_an_array_of_them() -> None:
    assert parse(json.dumps(GOOD)) == [ClientPing(comm_id="c", seq=7)]
    assert parse(json.dumps([GOOD, GOOD]).encode()) == [ClientPing(comm_id="c", seq=7)] * 2
    assert parse("[]") == []


def test_a_message_comes_as_its_own_model() -> None:
    (frame,) = parse(request(type="cancelTask", taskId="t1"))
    assert isinstance(frame, ClientMsg)
    assert frame.data == CancelTaskRequest(request_id="r1", task_id="t1")


def test_a_bad_frame_does_not_cost_its_neighbours() -> None:
    before, bad, after = parse(json.dumps([GOOD, {"op": "sing"}, GOOD]))
    assert isinstance(before, ClientPing)
    assert isinstance(bad, RejectedFrame)
    assert isinstance(after, ClientPing)


@pytest.mark.parametrize(
    ("message", "error", "field"),
    [
        ("", MalformedFrame, None),
        ("{", MalformedFrame, None),
        ("3", MalformedFrame, None),
        ("null", MalformedFrame, None),
        ("{}", MalformedFrame, "op"),
        ('{"op": ["ping"]}', MalformedFrame, "op"),
        ('{"op": "sing", "commId": "c"}', MalformedFrame, "op"),
        ('{"op": "ping"}', MalformedFrame, "commId"),
        ('{"op": "ping", "commId": "c", "seq": "7"}', MalformedFrame, "seq"),
        ('{"op": "ping", "commId": "c", "seq": -1}', MalformedFrame, "seq"),
        ('{"op": "ping", "commId": "c", "seq": 1e999}', MalformedFrame, "seq"),
        ('{"op": "ping", "commId": "c", "more": 1}', MalformedFrame, "more"),
        ('{"op": "open", "commId": "c", "data": {}}', MalformedFrame, "data.target"),
        ('{"op": "msg", "commId": "c"}', MalformedFrame, "data"),
        ('{"op": "msg", "commId": "c", "data": 3}', MalformedFrame, "type"),
        (request(), MalformedFrame, "type"),
        (request(type=3), MalformedFrame, "type"),
        (request(type="sing"), UnknownMessageType, "type"),
        (request(type="newTask"), InvalidInput, "text"),
        (request(type="newTask", text=3), InvalidInput, "text"),
        (request(type="newTask", text="x", txet="y"), InvalidInput, "txet"),
        (request(type="newTask", text="x", taskId="../etc"), InvalidInput, "taskId"),
        (request(type="newTask", text="x", images=["/etc/passwd"]), InvalidInput, "images.0"),
        (request(type="newTask", text="x", images=["data:image/png;base64,"] * 21), InvalidInput, "images"),
        (request(type="askResponse", messageTs=1, askResponse="maybe"), InvalidInput, "askResponse"),
        (request(type="previewConversation", change={"operation": "sing"}), InvalidInput, "change"),
        (request(type="previewConversation", change={}), InvalidInput, "change"),
        (request(type="previewConversation", change={"operation": "edit"}), InvalidInput, "change.edit.messageTs"),
    ],
)
def test_what_is_wrong_is_named(message: str, error: type[InvalidInput], field: str | None) -> None:
    rejected = only_error(message)
    assert type(rejected.error) is error
    assert rejected.error.field == field


@pytest.mark.parametrize(
    "message",
    [
        "NaN",
        '{"op": "ping", "commId": "c", "seq": NaN}',
        '{"op": "ping", "commId": "c", "seq": -Infinity}',
        '{"op": "ping", "commId": "\\ud800"}',
        '{"op": "ping", "commId": "\ud800"}',
        b"\xff\xfe",
        b'{"op": "ping", "commId": "\xed\xa0\x80"}',
        '\ufeff{"op": "ping", "commId": "c"}',
        '{"op": "ping", "commId": "c"} {}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"op": "ping", "commId": "c", "seq": ' + "9" * 500_000 + "}",
        request(type="updateSettings", updatedSettings={}).replace("{}}}", '{"a":' + "[" * 180 + "]" * 180 + "}}}x"),
    ],
    ids=range(13),
)
def test_what_is_not_quite_json_is_refused(message: str | bytes) -> None:
    assert isinstance(only_error(message).error, MalformedFrame)


def test_deep_but_allowed_json_is_taken() -> None:
    deep: JsonValue = 1
    for _ in range(150):
        deep = [deep]
    (frame,) = parse(request(type="updateSettings", updatedSettings={"a": deep}))
    assert isinstance(frame, ClientMsg)


def test_the_last_of_duplicate_keys_counts() -> None:
    assert parse('{"op": "close", "op": "ping", "commId": "c", "seq": 1, "seq": 2}') == [ClientPing(comm_id="c", seq=2)]


def test_size_is_counted_in_bytes() -> None:
    message = json.dumps({"op": "ping", "commId": "é" * 30}, ensure_ascii=False)
    size = len(message.encode())
    assert isinstance(parse(message, max_bytes=size)[0], ClientPing)
    (rejected,) = parse(message, max_bytes=size - 1)
    assert isinstance(rejected, RejectedFrame)
    assert isinstance(rejected.error, FrameTooLarge)
    assert rejected.error.params == {"size": size, "limit": size - 1}


def test_too_many_frames_are_refused_as_one() -> None:
    assert only_error("[" + ",".join(["{}"] * 1001) + "]").error.params == {"frames": 1001, "limit": 1000}


def test_a_flood_of_wrong_fields_is_answered_quickly() -> None:
    flood = request(type="newTask", **{f"field{number}": number for number in range(40_000)})
    with processor_time(1):
        assert isinstance(only_error(flood).error, MalformedFrame)


@pytest.mark.parametrize("kind", ["sing", "newTask"])
def test_the_request_is_named_so_that_the_error_can_be_addressed(kind: str) -> None:
    assert only_error(request(type=kind)).request_id == "r1"


@pytest.mark.parametrize("request_id", [3, None, "", "x" * 129, ["r1"]])
def test_a_request_without_a_usable_id_is_refused(request_id: JsonValue) -> None:
    rejected = only_error(
        json.dumps({"op": "msg", "commId": "c", "data": {"type": "clearTask", "requestId": request_id}})
    )
    assert rejected.request_id is None
    assert rejected.error.field == "requestId"


def test_no_error_repeats_a_value() -> None:
    key = "sk-ant-not-a-real-key-0123456789"
    for message in (
        request(type="saveApiConfiguration", text=3, apiConfiguration={"apiKey": key}),
        request(type="saveApiConfiguration", text="p", apiConfiguration=[key]),
        request(type="importSettings", text={"apiKey": key}),
        '{"op": "msg", "apiKey": "' + key,
    ):
        error = only_error(message).error
        assert key not in f"{error.message} {error.params} {error.field} {error!r}"


def test_a_message_that_is_printed_shows_no_key() -> None:
    key = "sk-ant-not-a-real-key-0123456789"
    for message in (
        request(type="saveApiConfiguration", text="p", apiConfiguration={"apiKey": key}),
        request(type="updateSettings", updatedSettings={"apiKey": key}),
        request(type="importSettings", text=key),
    ):
        (frame,) = parse(message)
        assert isinstance(frame, ClientMsg)
        assert key not in f"{frame} {frame!r}"


FRAMES: st.SearchStrategy[dict[str, JsonValue]] = st.one_of(
    [wires(model) for model in arms(ClientFrame) if model is not ClientMsg]
)
REQUESTS: st.SearchStrategy[dict[str, JsonValue]] = st.one_of([wires(model) for model in arms(WebviewMessage)]).map(
    lambda data: {"op": "msg", "commId": "c", "data": data}
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good message with something done to it."""
    # A copy: hypothesis hands out constants more than once.
    frame = deepcopy(draw(FRAMES | REQUESTS))
    target = frame
    while draw(st.booleans()):
        inner = [value for value in target.values() if isinstance(value, dict)]
        if not inner:
            break
        target = draw(st.sampled_from(inner))
    key = draw(st.sampled_from([*target, "extra"]))
    if draw(st.booleans()):
        target[key] = draw(json_values)
    else:
        target.pop(key, None)
    text = json.dumps([frame, GOOD] if draw(st.booleans()) else frame, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(max_size=3)) + text[at + draw(st.integers(0, 3)) :]
    return text


PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(PATIENT, max_examples=rounds(200, 1_200))
@given(st.text() | st.binary() | mutated() | json_values.map(json.dumps))
@example("\ud800")
def test_nothing_makes_parsing_fail(message: str | bytes) -> None:
    for frame in parse(message):
        if isinstance(frame, RejectedFrame):
            assert isinstance(frame.error, InvalidInput)
            frame.error.message.encode()
            json.dumps(frame.error.params)
        else:
            assert parse(frame.to_json()) == [frame]


@pytest.mark.parametrize("model", arms(WebviewMessage), ids=lambda model: model.__name__)
def test_every_request_needs_its_id(model: type[ClientMsg]) -> None:
    data = minimal(model)
    del data["requestId"]
    rejected = only_error(json.dumps({"op": "msg", "commId": "c", "data": data}))
    assert rejected.error.field == "requestId"


@pytest.mark.parametrize("raw", [b"[" + b"[]," * 200_001 + b"1]", b"{" + b'"a":1,' * 200_001 + b'"b":1}'])
def test_a_message_of_more_parts_than_can_be_taken_at_once_is_refused(raw: bytes) -> None:
    with pytest.raises(FrameTooLarge, match="more than 200,000 parts"):
        split_frames(raw, max_bytes=8 << 20)
