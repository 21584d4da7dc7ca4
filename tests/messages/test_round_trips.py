"""What is written is read back as what it was."""

from __future__ import annotations

import json
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from hdsp_agent import messages
from hdsp_agent.errors import InvalidSetting
from hdsp_agent.messages import AckFailed, AckOk, ErrorBody, ServerAck, error_body
from hdsp_agent.wire import WireModel
from tests._helpers.long_tests import rounds
from tests.messages._helpers.vocabulary_samples import arms, both, full, wires

UNIONS = {
    "ClientFrame": messages.ClientFrame,
    "ServerFrame": messages.ServerFrame,
    "WebviewMessage": messages.WebviewMessage,
    "ExtensionMessage": messages.ExtensionMessage,
    "TaskCommand": messages.TaskCommand,
    "TaskEvent": messages.TaskEvent,
    "IpcMessage": messages.IpcMessage,
    "CommandExecutionStatus": messages.CommandExecutionStatus,
}
OBJECTS: list[type[WireModel]] = [
    messages.ApiMessage,
    messages.ClineApiReqInfo,
    messages.ClineAskUseMcpServer,
    messages.ClineMessage,
    messages.ClineSayTool,
    messages.FollowUpData,
    messages.HistoryItem,
]
ADAPTERS: dict[str, TypeAdapter[object]] = {
    name: TypeAdapter(cast(type[object], union)) for name, union in UNIONS.items()
}
ARMS = [(name, model) for name, union in UNIONS.items() for model in arms(union)]


@pytest.mark.parametrize("model", [model for _, model in ARMS] + OBJECTS, ids=lambda model: model.__name__)
def test_a_sample_of_each_model_is_read_back_as_it_was(model: type[WireModel]) -> None:
    for _, wire in both(model):
        value = model.model_validate(wire)
        assert model.model_validate_json(value.to_json()) == value
        assert json.loads(value.to_json()) == value.to_wire() == wire


@pytest.mark.parametrize(("name", "model"), ARMS, ids=lambda value: getattr(value, "__name__", value))
def test_the_union_finds_the_model_by_its_tag(name: str, model: type[WireModel]) -> None:
    assert type(ADAPTERS[name].validate_python(full(model))) is model


@pytest.mark.parametrize("name", UNIONS)
@settings(
    deadline=None,
    max_examples=rounds(50, 300),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_anything_a_union_accepts_survives_the_wire(name: str, data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(arms(UNIONS[name])))
    value = ADAPTERS[name].validate_python(data.draw(wires(model)))
    assert isinstance(value, WireModel)
    assert ADAPTERS[name].validate_json(value.to_json()) == value


def test_names_outside_are_camel_case_except_where_the_providers_are_not() -> None:
    snake = {name for _, model in ARMS for name in model.model_json_schema()["properties"] if "_" in name}
    assert snake == set()
    assert {name for name in messages.ApiMessage.model_json_schema()["properties"] if "_" in name} == {
        "encrypted_content",
        "reasoning_content",
        "reasoning_details",
    }


def test_a_failed_ack_says_null_when_no_request_could_be_read() -> None:
    error = ErrorBody(code="malformed_frame", message="The frame is not JSON.", params={})
    frame = ServerAck(comm_id="c", data=AckFailed(request_id=None, error=error))
    assert frame.to_wire()["data"] == {
        "requestId": None,
        "ok": False,
        "error": {"code": "malformed_frame", "message": "The frame is not JSON.", "params": {}},
    }


def test_a_good_ack_leaves_out_what_it_does_not_have() -> None:
    assert AckOk(request_id="r1").to_wire() == {"requestId": "r1", "ok": True}


def test_an_error_crosses_with_its_code_field_and_params() -> None:
    body = error_body(InvalidSetting("must be at least 5", field="autoCondenseContextPercent", minimum=5))
    assert body.to_wire() == {
        "code": "invalid_setting",
        "message": "must be at least 5",
        "params": {"minimum": 5},
        "field": "autoCondenseContextPercent",
    }
