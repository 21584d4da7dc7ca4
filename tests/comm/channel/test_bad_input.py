from __future__ import annotations

import json
import logging

import pytest

from tests.comm.channel._helpers.channel_panel import Panel

HELLO = {"target": "hdsp_agent.webview", "clientId": "tab", "version": "0.1.0", "protocol": 1}


def msg(panel: Panel, **data: object) -> dict[str, object]:
    return {"op": "msg", "commId": panel.comm_id, "data": data}


async def goes_on(panel: Panel) -> None:
    """The connection still serves its tab."""
    assert (await panel.ask("updateSettings", updatedSettings={}))["ok"] is True


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "1",
        '"open"',
        "[1, null, [], {}]",
        "{}",
        '{"op": "msg"}',
        '{"op": 1}',
        '{"op": "shout", "commId": "c"}',
        '{"op": "ping", "commId": ""}',
        '{"op": "ping", "commId": "c", "more": 1}',
        '{"op": "ping", "commId": "c", "seq": -1}',
        '{"op": "msg", "commId": "c", "data": 5}',
        '{"op": "msg", "commId": "c", "data": {"text": "r"}}',
        '{"op": "ping", "commId": "c", "seq": NaN}',
        '{"op": "ping", "commId": "\\ud800"}',
        "[" * 100_000,
        "[" * 300 + "]" * 300,
        "1" * 10_000,
        '{"op": "open", "commId": "c"}',
        '{"op": "open", "commId": "c", "data": {}}',
        b"\x00\x01",
        b'{"op": "ping", "commId": "c"}',
    ],
    ids=lambda text: repr(text)[:40],
)
async def test_what_is_no_frame_is_refused_and_the_connection_stays(serve, caplog, text: str | bytes) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel, server.connect() as other:
        await panel.socket.write_message(text, binary=isinstance(text, bytes))
        error = (await panel.answer_to(None))["error"]
        assert error["code"] == "malformed_frame"
        assert "malformed_frame" in caplog.text
        await goes_on(panel)
        assert other.of("ack") == []


async def test_an_unknown_type_is_named_to_its_sender(serve, caplog) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        await panel.say(msg(panel, type="makeCoffee", requestId="r1"))
        error = (await panel.answer_to("r1"))["error"]
        assert error["code"] == "unknown_type"
        assert error["params"] == {"type": "makeCoffee"}
        assert "makeCoffee" in caplog.text
        assert len(error["message"]) < 300
        await goes_on(panel)


async def test_a_wrong_field_is_named_to_its_sender(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        await panel.say(msg(panel, type="askResponse", requestId="r1", messageTs="now", askResponse="yesButtonClicked"))
        error = (await panel.answer_to("r1"))["error"]
        assert error["code"] == "invalid_input"
        assert error["field"] == "messageTs"
        await goes_on(panel)


async def test_a_message_that_is_too_large_is_refused_and_the_connection_stays(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(max_frame_bytes=20_000) as server, server.connect() as panel:
        await panel.say(msg(panel, type="newTask", requestId="r1", text="한" * 7_000))
        error = (await panel.answer_to(None))["error"]
        assert error["code"] == "frame_too_large"
        assert error["params"]["limit"] == 20_000
        assert error["params"]["size"] > 20_000
        await goes_on(panel)
        assert server.backend.asked != ["r1"]


async def test_eight_large_pictures_are_taken_with_one_message(serve) -> None:  # type: ignore[no-untyped-def]
    """As large as the panel sends pictures (src/panel/composer/attachments/pictureupload.ts)."""
    pictures = ["data:image/jpeg;base64," + "A" * (700_000 * 4 // 3) for _ in range(8)]
    async with serve() as server, server.connect() as panel:
        server.backend.gate.set()
        assert (await panel.ask("newTask", text="Read them.", images=pictures))["ok"] is True
        await goes_on(panel)
        # What it says goes to all tabs, and must not push everything else out of what late tabs catch up with.
        assert server.hub.limits.ring_bytes >= 2 * server.hub.limits.max_frame_bytes


async def test_a_message_far_too_large_ends_only_its_own_connection(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(max_frame_bytes=20_000) as server, server.connect() as panel, server.connect() as other:
        await panel.say(msg(panel, type="newTask", requestId="r1", text="x" * 200_000))
        await panel.closed.wait()
        assert panel.socket.close_code == 1009
        await goes_on(other)


async def test_too_many_frames_in_one_message_are_refused_with_one_error(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        await panel.say([1] * 50_000)
        assert (await panel.answer_to(None))["error"]["code"] == "malformed_frame"
        await goes_on(panel)
        assert len(panel.acks(None)) == 1


async def test_one_bad_frame_among_good_ones_is_refused_alone(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        good = [msg(panel, type="updateSettings", requestId=f"r{n}", updatedSettings={}) for n in range(2)]
        await panel.say([good[0], {"op": "??"}, good[1]])
        assert (await panel.answer_to("r0"))["ok"] is True
        assert (await panel.answer_to("r1"))["ok"] is True
        assert len(panel.acks(None)) == 1


async def test_nothing_can_come_before_open(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect(attach=False) as panel:
        await panel.send_request("updateSettings", "r1", updatedSettings={})
        assert (await panel.answer_to("r1"))["error"]["code"] == "invalid_input"
        await panel.say({"op": "ping", "commId": "c"})
        await panel.answer_to(None)
        assert server.backend.asked == []
        await panel.open()
        await goes_on(panel)


async def test_a_second_open_on_one_connection_is_refused(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect("one") as panel:
        await panel.say({"op": "open", "commId": "other", "data": {**HELLO, "clientId": "two"}})
        assert (await panel.answer_to(None))["error"]["code"] == "invalid_input"
        await goes_on(panel)
        assert [stats.client_id for stats in server.channel.clients] == ["one"]


async def test_another_comm_id_is_refused(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        await panel.say(
            {"op": "msg", "commId": "x", "data": {"type": "updateSettings", "requestId": "r1", "updatedSettings": {}}}
        )
        error = (await panel.answer_to("r1"))["error"]
        assert (error["code"], error["field"]) == ("invalid_input", "commId")
        assert server.backend.asked == []
        await goes_on(panel)


async def test_another_target_is_refused_and_the_right_one_may_follow(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect(attach=False) as panel:
        await panel.say({"op": "open", "commId": "c", "data": {**HELLO, "target": "jupyter.widget"}})
        assert (await panel.answer_to(None))["error"]["field"] == "target"
        await panel.open()
        await goes_on(panel)


async def test_a_flood_of_bad_frames_does_not_fill_the_log(serve, caplog) -> None:  # type: ignore[no-untyped-def]
    caplog.set_level(logging.INFO)
    async with serve() as server, server.connect() as panel:
        for _ in range(3):
            await panel.say([{"op": "??"}] * 900)
        await panel.say(msg(panel, type="updateSettings", requestId="bad id\nWARNING forged line", updatedSettings=1))
        await panel.until(lambda: len(panel.of("ack")) == 2701)
        await panel.drop()
    lines = [record.getMessage() for record in caplog.records if record.name == "hdsp_agent.test"]
    refusals = [line for line in lines if "Refused" in line]
    assert 5 <= len(refusals) <= 8
    assert any("Refused 269" in line for line in refusals)
    assert all("\n" not in line for line in lines)


async def test_an_unusual_but_right_text_comes_through_unharmed(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect('탭 😀 " \\ \u2028') as panel:
        answer = await panel.ask("updateSettings", request_id="요청 😀\n", updatedSettings={})
        assert answer["requestId"] == "요청 😀\n"
        assert json.dumps(panel.frames[0]["commId"]) == json.dumps(panel.comm_id)
