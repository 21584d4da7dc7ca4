from __future__ import annotations

import asyncio
import time

import pytest

from hdsp_agent.messages import (
    DELTA_INTERVAL_MS,
    ClineMessage,
    CurrentCheckpointUpdatedMessage,
    MessageCreated,
    MessageUpdated,
)
from tests.comm.channel._helpers.channel_panel import Panel


def note(text: object) -> CurrentCheckpointUpdatedMessage:
    return CurrentCheckpointUpdatedMessage(text=str(text))


def texts(panel: Panel) -> list[str]:
    return [frame["data"]["text"] for frame in panel.of("msg") if frame["data"]["type"] == "currentCheckpointUpdated"]


async def test_a_panel_opens_the_channel_and_gets_the_state(serve) -> None:  # type: ignore[no-untyped-def]
    before = time.time_ns() // 1_000_000
    async with serve() as server, server.connect() as panel:
        await panel.until(lambda: panel.of("msg"))
        assert [frame["op"] for frame in panel.frames] == ["open", "msg"]
        hello, state = panel.frames
        assert hello["commId"] == state["commId"] == panel.comm_id
        assert hello["data"]["resumed"] is False
        assert hello["data"]["epoch"] == server.channel.epoch
        assert hello["data"]["heartbeatSeconds"] == 20
        assert before <= hello["data"]["now"] <= time.time_ns() // 1_000_000
        assert state["data"]["type"] == "state"
        assert state["seq"] == hello["seq"] == 0


async def test_a_panel_that_lost_its_connection_gets_the_frames_it_missed(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        async with server.connect("tab") as panel:
            server.channel.publish(note(1))
            await panel.until(lambda: texts(panel) == ["1"])
            await panel.drop()
        for number in (2, 3, 4):
            server.channel.publish(note(number))
        async with server.connect("tab", epoch=server.channel.epoch, lastSeq=1) as again:
            await again.until(lambda: len(texts(again)) == 3)
            assert again.frames[0]["data"]["resumed"] is True
            assert texts(again) == ["2", "3", "4"]
            assert again.numbers == [2, 3, 4]
            assert server.backend.states == 1


@pytest.mark.parametrize("hello", [{"epoch": "another life", "lastSeq": 1}, {"lastSeq": 1}, {"epoch": "x"}])
async def test_a_place_in_another_life_of_the_server_means_a_fresh_state(serve, hello) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        for number in range(3):
            server.channel.publish(note(number))
        async with server.connect(**hello) as panel:
            await panel.until(lambda: panel.of("msg"))
            assert panel.frames[0]["data"]["resumed"] is False
            assert panel.of("msg")[0]["data"]["type"] == "state"
            assert panel.numbers == [3]


async def test_a_place_that_fell_off_the_ring_or_never_was_means_a_fresh_state(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(ring_frames=5) as server:
        for number in range(20):
            server.channel.publish(note(number))
        for place in (3, 21):
            async with server.connect(epoch=server.channel.epoch, lastSeq=place) as panel:
                await panel.until(lambda panel=panel: panel.of("msg"))
                assert panel.of("msg")[0]["data"]["type"] == "state"
                assert panel.numbers == [20]


async def test_all_tabs_hear_the_same_in_the_same_order(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as one, server.connect() as two, server.connect() as three:
        panels = (one, two, three)
        for number in range(500):
            server.channel.publish(note(number))
            if number % 50 == 0:
                await asyncio.sleep(0)
        for panel in panels:
            await panel.until(lambda panel=panel: len(texts(panel)) == 500)
            assert texts(panel) == [str(number) for number in range(500)]
            assert panel.numbers[-500:] == list(range(1, 501))
        assert {stats.client_id for stats in server.channel.clients} == {panel.client_id for panel in panels}


async def test_streaming_text_arrives_in_order_and_before_what_follows(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        channel = server.channel
        started = ClineMessage(ts=5, type="say", say="text", text="시작 ", partial=True)
        channel.publish(MessageCreated(task_id="t", message=started))
        whole = "시작 "
        began = time.monotonic()
        for piece in ["👍", "a", "b", "c", "끝", "."] * 20:
            channel.delta("t", 5, "text", piece)
            whole += piece
            await asyncio.sleep(0.001)
        intervals = (time.monotonic() - began) / (DELTA_INTERVAL_MS / 1000)
        channel.publish(
            MessageUpdated(task_id="t", cline_message=started.model_copy(update={"text": whole, "partial": False}))
        )
        await panel.until(lambda: any(frame["data"]["type"] == "messageUpdated" for frame in panel.of("msg")))
        text = ""
        kinds = []
        for frame in panel.of("msg"):
            data = frame["data"]
            kinds.append(data["type"])
            if data["type"] == "messageCreated":
                text = data["message"]["text"]
            elif data["type"] == "messageDelta":
                assert data["offset"] == len(text.encode("utf-16-le")) // 2
                text += data["append"]
            elif data["type"] == "messageUpdated":
                assert text == whole == data["clineMessage"]["text"]
        assert kinds[-1] == "messageUpdated"
        assert 2 < kinds.count("messageDelta") <= intervals + 3


async def test_a_tab_that_comes_in_the_middle_of_a_stream_gets_text_only_once(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(delta_seconds=600) as server:
        server.channel.delta("t", 1, "text", "a")
        server.channel.delta("t", 1, "text", "b")
        async with server.connect() as panel:
            await panel.until(lambda: panel.of("msg"))
            assert panel.numbers == [2]
            server.channel.publish(note("x"))
            await panel.until(lambda: texts(panel))
            assert panel.numbers == [2, 3]


async def test_a_message_for_one_tab_reaches_only_that_tab(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as one, server.connect() as two:
        await server.channel.send_to(one.client_id, note("for one"))
        server.channel.publish(note("for all"))
        await one.until(lambda: len(texts(one)) == 2)
        await two.until(lambda: texts(two))
        assert texts(one) == ["for one", "for all"]
        assert texts(two) == ["for all"]
        assert "seq" not in next(frame for frame in one.of("msg") if frame["data"].get("text") == "for one")


async def test_a_message_for_a_tab_that_is_not_there_is_refused(serve) -> None:  # type: ignore[no-untyped-def]
    from hdsp_agent.errors import Unavailable

    async with serve() as server:
        with pytest.raises(Unavailable):
            await server.channel.send_to("nobody", note("x"))


async def test_both_sides_send_heartbeats_and_a_silent_tab_is_closed(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(heartbeat_seconds=1) as server, server.connect() as talking, server.connect() as silent:
        while not silent.closed.is_set() or len(talking.of("pong")) < 10 or not talking.of("ping"):
            await talking.say({"op": "ping", "commId": talking.comm_id, "seq": 0})
            await asyncio.sleep(0.08)
        assert not talking.closed.is_set()
        assert [stats.client_id for stats in server.channel.clients] == [talking.client_id]


async def test_a_socket_that_says_nothing_is_closed(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(heartbeat_seconds=0.1) as server, server.connect(attach=False) as panel:
        await asyncio.wait_for(panel.closed.wait(), 60)


async def test_a_second_connection_of_one_tab_takes_over(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect("tab") as old, server.connect("tab") as new:
        await asyncio.wait_for(old.closed.wait(), 60)
        assert old.of("close")[0]["data"]["code"] == "conflict"
        assert old.socket.close_code == 4002
        server.channel.publish(note("x"))
        await new.until(lambda: texts(new))
        assert len(server.channel.clients) == 1


async def test_a_tab_that_closes_the_channel_is_forgotten(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        await panel.say({"op": "close", "commId": panel.comm_id, "data": {"reason": "leaving"}})
        await asyncio.wait_for(panel.closed.wait(), 60)
        assert panel.socket.close_code == 1000
        assert server.channel.clients == []


@pytest.mark.parametrize(
    "changes", [{"version": "0.0.9"}, {"version": "what?"}, {"protocol": 99}, {"protocol": 2, "capabilities": ["x"]}]
)
async def test_a_page_of_another_version_hears_it_once_and_is_closed(serve, changes) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect(attach=False) as panel:
        hello = {"target": "hdsp_agent.webview", "clientId": "tab", "version": "0.1.0", "protocol": 1, **changes}
        await panel.say({"op": "open", "commId": "c", "data": hello})
        await asyncio.wait_for(panel.closed.wait(), 60)
        assert panel.socket.close_code == 4001
        (close,) = panel.frames
        assert close["op"] == "close"
        assert close["commId"] == "c"
        assert close["data"]["code"] == "version_mismatch"
        assert close["data"]["params"] == {"page": hello["version"], "server": "0.1.0"}
        assert server.channel.clients == []


async def test_the_two_ways_of_writing_a_pre_release_are_one_version(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        server.hub.version = "0.1.0a1"
        async with server.connect(version="0.1.0-alpha.1") as panel:
            assert panel.frames[0]["op"] == "open"


async def test_what_a_person_asks_counts_as_activity_and_heartbeats_do_not(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        times = server.app.web_app.settings["last_activity_times"]
        before = server.app.web_app.last_activity()
        await panel.say({"op": "ping", "commId": panel.comm_id})
        await panel.until(lambda: panel.of("pong"))
        assert "hdsp_agent" not in times
        assert server.app.web_app.last_activity() == before
        await panel.ask("updateSettings", updatedSettings={})
        assert server.app.web_app.last_activity() == times["hdsp_agent"] > before


async def test_a_client_that_can_gets_compressed_frames(serve, jp_ws_fetch) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        socket = await jp_ws_fetch("hdsp-agent", "comm", compression_options={})
        panel = Panel(socket)
        await panel.open()
        for number in range(200):
            server.channel.publish(note(f"the same words again {number}"))
        await panel.until(lambda: len(texts(panel)) == 200)
        protocol = socket.protocol
        assert protocol._wire_bytes_in < protocol._message_bytes_in / 3
        await panel.leave()


async def test_stopping_the_server_tells_panels_to_come_back(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(delta_seconds=600) as server, server.connect() as panel:
        server.channel.delta("t", 1, "text", "a")
        server.channel.delta("t", 1, "text", "b")
        await server.hub.stop()
        await asyncio.wait_for(panel.closed.wait(), 60)
        assert [frame["data"]["append"] for frame in panel.of("msg") if frame["data"]["type"] == "messageDelta"] == [
            "a",
            "b",
        ]
        assert panel.socket.close_code == 1001
        assert panel.of("close") == []
