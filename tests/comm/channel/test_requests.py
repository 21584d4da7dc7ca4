from __future__ import annotations

import asyncio

from hdsp_agent.messages import CurrentCheckpointUpdatedMessage


async def test_a_request_gets_exactly_one_answer(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        answer = await panel.ask("updateSettings", updatedSettings={"a": 1})
        assert answer["ok"] is True
        assert answer["result"] == f"{server.channel.owner}:{panel.client_id}"
        await panel.ask("updateSettings", updatedSettings={})
        assert len(panel.acks(answer["requestId"])) == 1


async def test_a_request_without_a_result_is_answered_too(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        answer = await panel.ask("clearTask")
        assert answer["ok"] is False
        assert answer["error"]["code"] == "unsupported"
        assert "clearTask" in answer["error"]["message"]
        assert server.backend.asked == []


async def test_a_request_sent_again_is_answered_again_but_done_once(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        first = await panel.ask("updateSettings", request_id="r1", updatedSettings={})
        await panel.send_request("updateSettings", "r1", updatedSettings={})
        await panel.until(lambda: len(panel.acks("r1")) == 2)
        assert panel.acks("r1") == [first, first]
        assert server.backend.asked == ["r1"]


async def test_a_request_sent_again_after_a_reconnect_is_done_once(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        async with server.connect("tab") as panel:
            await panel.ask("updateSettings", request_id="r1", updatedSettings={})
            await panel.drop()
        async with server.connect("tab") as again:
            answer = await again.ask("updateSettings", request_id="r1", updatedSettings={})
            assert answer["ok"] is True
            assert server.backend.asked == ["r1"]


async def test_a_request_under_way_goes_on_when_its_tab_is_lost_and_answers_the_tab_that_returns(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server:
        async with server.connect("tab") as panel:
            await panel.send_request("newTask", "r1", text="x")
            await panel.ask("updateSettings", updatedSettings={})
            await panel.drop()
        async with server.connect("tab") as again:
            await again.send_request("newTask", "r1", text="x")
            await again.send_request("newTask", "r1", text="x")
            await again.ask("updateSettings", updatedSettings={})
            assert again.acks("r1") == []
            server.backend.gate.set()
            assert (await again.answer_to("r1"))["ok"] is True
            await again.ask("updateSettings", updatedSettings={})
            assert len(again.acks("r1")) == 1
            assert server.backend.asked.count("r1") == 1


async def test_a_slow_request_does_not_hold_up_the_next_one(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        await panel.send_request("newTask", "slow", text="x")
        assert (await panel.ask("updateSettings", updatedSettings={}))["ok"] is True
        assert panel.acks("slow") == []
        server.backend.gate.set()
        assert (await panel.answer_to("slow"))["ok"] is True


async def test_requests_begin_in_the_order_in_which_they_were_sent(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        names = [f"r{number}" for number in range(50)]
        frames = [
            {
                "op": "msg",
                "commId": panel.comm_id,
                "data": {"type": "updateSettings", "requestId": name, "updatedSettings": {}}
                if number % 2
                else {"type": "newTask", "requestId": name, "text": "x"},
            }
            for number, name in enumerate(names)
        ]
        await panel.say(frames)
        await panel.answer_to("r49")
        assert server.backend.asked == names


async def test_a_client_with_too_much_under_way_is_refused_in_words_and_recovers(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(running_requests=3, request_patience_seconds=0.1) as server, server.connect() as panel:
        for number in range(3):
            await panel.send_request("newTask", f"slow{number}", text="x")
        refused = await panel.ask("newTask", request_id="late", text="x")
        assert refused["error"]["code"] == "unavailable"
        assert "late" not in server.backend.asked
        # It was not done, so it must not count as answered.
        server.backend.gate.set()
        await panel.answer_to("slow2")
        await panel.send_request("newTask", "late", text="x")
        await panel.until(lambda: len(panel.acks("late")) == 2)
        assert panel.acks("late")[1]["ok"] is True


async def test_answers_are_remembered_within_bounds(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(answers=10, remembered_clients=3) as server:
        for tab in range(6):
            async with server.connect(f"tab{tab}") as panel:
                for number in range(25):
                    await panel.ask("updateSettings", request_id=f"r{number}", updatedSettings={})
                await panel.drop()
        memory = server.channel._answers
        assert len(memory) <= 4
        assert all(len(answers) <= 10 for answers in memory.values())


async def test_the_same_request_id_of_another_tab_is_another_request(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as one, server.connect() as two:
        first = await one.ask("updateSettings", request_id="r", updatedSettings={})
        second = await two.ask("updateSettings", request_id="r", updatedSettings={})
        assert first["result"] != second["result"]
        assert server.backend.asked == ["r", "r"]


async def test_an_answer_comes_after_what_its_request_caused(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:

        async def handler(context: object, message: object) -> None:
            for number in range(300):
                server.channel.publish(CurrentCheckpointUpdatedMessage(text=str(number)))

        server.hub._dispatcher.handle("cancelTask", handler)
        await panel.ask("cancelTask", request_id="r")
        position = next(place for place, frame in enumerate(panel.frames) if frame["op"] == "ack")
        assert panel.frames[position - 1]["seq"] == server.channel.newest == 300


async def test_a_handlers_error_reaches_its_caller_as_it_is(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        answer = await panel.ask("mode", text="x")
        assert answer["error"] == {
            "code": "invalid_setting",
            "message": "The setting mode cannot be that.",
            "params": {"most": 3},
            "field": "mode",
        }


async def test_a_bug_in_a_handler_is_told_without_its_details_and_logged_with_them(serve, caplog) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        answer = await panel.ask("exportSettings")
        error = answer["error"]
        assert error["code"] == "internal"
        assert "secret" not in str(answer)
        assert error["params"]["reference"] in error["message"]
        assert error["params"]["reference"] in caplog.text
        assert "RuntimeError: the secret inside" in caplog.text
        assert (await panel.ask("updateSettings", updatedSettings={}))["ok"] is True


async def test_a_handler_whose_own_work_was_cancelled_still_gives_an_answer(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:

        async def handler(context: object, message: object) -> None:
            work = asyncio.create_task(asyncio.sleep(60))
            work.cancel()
            await work

        server.hub._dispatcher.handle("cancelTask", handler)
        assert (await panel.ask("cancelTask"))["error"]["code"] == "unavailable"


async def test_a_result_that_is_no_json_is_an_error_too(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        assert (await panel.ask("requestModes"))["error"]["code"] == "internal"


async def test_a_task_that_does_not_exist_is_named_in_the_error(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve() as server, server.connect() as panel:
        answer = await panel.ask("updateSettings", updatedSettings={}, taskId="nosuch")
        assert answer["error"]["code"] == "unknown_task"
        assert answer["error"]["params"] == {"task": "nosuch"}
        assert (await panel.ask("updateSettings", updatedSettings={}, taskId="known"))["ok"] is True
        assert len(server.backend.asked) == 1


async def test_stopping_ends_requests_that_do_not_end_by_themselves(serve) -> None:  # type: ignore[no-untyped-def]
    async with serve(stop_seconds=0.1) as server, server.connect() as panel:
        await panel.send_request("newTask", "r1", text="x")
        await panel.ask("updateSettings", updatedSettings={})
        await server.hub.stop()
        assert server.channel._running == set()
        await asyncio.wait_for(panel.closed.wait(), 60)
        assert panel.acks("r1") == []
