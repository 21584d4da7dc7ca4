"""Which passages and questions an embeddings endpoint gets: the person's own, without keys, and none that stay here."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from hdsp_agent.agent.recall import chosen_embedder

from ..._helpers.embeddings_server import EmbeddingsServer, embeddings_server
from .test_chosen_embedder import TWINS, choose
from .test_past_search import ME, past

_LETTERS = string.ascii_letters + string.digits + "+/"


def private_key(seed: int) -> tuple[str, list[str]]:
    """A key as it stands in a file, and the lines of its body."""
    chance = random.Random(seed)
    body = ["".join(chance.choices(_LETTERS, k=64)) for _ in range(25)]
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]), body


def sent(server: EmbeddingsServer) -> str:
    return "\n".join(server.texts)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint counts as one on another machine."""
    monkeypatch.setattr(chosen_embedder, "is_on_this_machine", lambda address: False)


async def test_no_piece_of_a_long_key_is_sent_though_conversations_are_not_masked(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.config.update({"maskedKinds": []})
            said, said_body = private_key(1)
            written, written_body = private_key(2)
            await at.conversation(f"deploy with this:\n{said}\nand restart the pump")
            (at.memories.folder(ME).root).mkdir(parents=True, exist_ok=True)
            (at.memories.folder(ME).root / "MEMORY.md").write_text(f"# Deploying\n\n- the valve\n{written}\n")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert "restart the pump" in sent(server) and "the valve" in sent(server)
            assert [line for line in said_body + written_body if line in sent(server)] == []
            kept = "\n".join(text for _, text in await at.found("deploy restart pump valve"))
            assert "restart the pump" in kept and "the valve" in kept
            assert [line for line in said_body + written_body if line in kept] == []


async def test_who_lets_addresses_of_mail_stand_finds_them_and_does_not_send_them(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.config.update({"maskedKinds": []})
            await at.conversation("write to kim@corp.example about the pump")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert await at.found("kim@corp.example")
            assert "about the pump" in sent(server) and "kim@" not in sent(server)


async def test_an_endpoint_gets_only_what_is_theirs_who_chose_it(tmp_path: Path) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.conversation("her automobile", owner="somebody")
            await at.conversation("my automobile")
            await choose(at, server)
            for owner in ("somebody", ME, "somebody"):
                await at.search.feed.catch_up(owner)
            assert server.texts == ["my automobile"]
            assert (await at.search.embedder.status()).unread == 0
            assert await at.found("car", owner="somebody") == []
            assert await at.found("automobile", owner="somebody") == [("conversation", "her automobile")]
            assert server.texts == ["my automobile"], "their questions are not sent either"
            assert await at.found("car") == [("conversation", "my automobile")]


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("with_model_here", [{"used_local_model": True}, {"profile": "gone"}, {"profile": "here"}])
async def test_what_was_said_to_a_model_on_this_machine_stays_here(
    tmp_path: Path, with_model_here: dict[str, str | bool]
) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.config.profiles.create(
                "here", {"apiProvider": "ollama", "ollamaBaseUrl": "http://localhost:11434"}
            )
            await at.conversation("my automobile", **with_model_here)  # type: ignore[arg-type]
            await at.conversation("lunch today", profile="default")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert server.texts == ["lunch today"]
            assert (await at.search.embedder.status()).unread == 0
            assert await at.found("automobile") == [("conversation", "my automobile")]
            server.texts.clear()
            await at.search.search(ME, "the vehicle", stays_here=True)
            assert server.texts == [], "nor is what such a conversation searches for"


async def test_an_endpoint_on_this_machine_reads_what_was_said_to_a_model_on_it(tmp_path: Path) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile", used_local_model=True)
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert await at.found("car") == [("conversation", "my automobile")]


@pytest.mark.usefixtures("elsewhere")
async def test_a_conversation_that_went_on_with_a_model_on_this_machine_is_sent_no_more(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            task_id = await at.conversation("my automobile")
            await at.search.feed.catch_up(ME)
            log = await at.store.resume(task_id)
            log.update_state(used_local_model=True)
            await log.close()
            at.search.feed.touched(task_id)
            await at.search.feed.refresh(ME)
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert server.texts == []


async def test_memory_that_was_turned_off_meanwhile_is_not_sent(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            at.memories.notes(ME).person().add("the zebra colours", day="2026-01-01")
            await at.search.feed.catch_up(ME)
            await at.config.update({"memoryEnabled": False})
            await choose(at, server)
            await at.search.feed._embed(ME)
            assert server.texts == []
