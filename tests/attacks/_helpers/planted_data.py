"""Things worth stealing or spoiling: one of each kind that the server keeps, with words to find them by."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from hdsp_agent.comm import Owner
from hdsp_agent.comm.checkpoint_access import CheckpointPlace
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import ClineMessage, HistoryItem, NotebookRef, TaskId
from hdsp_agent.persistence import ApiDraft, NewTaskRecord

__all__ = ["KEY", "Planted", "begin_conversation", "plant", "snapshot"]

KEY = "sk-ant-api03-planted0Key1That2Nobody3May4See5Again6AA"


@dataclass(frozen=True)
class Planted:
    """Where they are, and the words that are in them."""

    task: TaskId
    artifact: str
    checkpoint: str
    operation: str
    profile: str
    note: str
    learned: str
    words: tuple[str, ...]

    @property
    def values(self) -> dict[str, str]:
        """What stands for each variable part of a path."""
        return {
            "task": self.task,
            "artifact": self.artifact,
            "log": "ui",
            "checkpoint": self.checkpoint,
            "operation": self.operation,
            "run": "0" * 16,
            "note": self.note,
            "item": self.learned,
            "agent": "0" * 32,
            "server": "planted",
            "verification": "9f86d081884c7d65",
            "name": self.profile,
            "profile": self.profile,
            "key": "apiKey",
            "mode": "code",
            "model": "qwen2.5-coder-0.5b-instruct",
        }


async def plant(services: Services, root: Path, *, user: str | None = None, word: str = "aardvark") -> Planted:
    """A conversation with an artifact, a checkpoint with a note, settings, a profile and a key."""
    owner = user or server_owner()
    task, artifact = await begin_conversation(services, root, user=owner, word=word)
    (root / f"{word}-file.txt").write_text(f"{word} in a file\n")
    saved = await services.checkpoints.save(CheckpointPlace(owner, task), f"{word} in a note")  # type: ignore[arg-type]
    line = await services.checkpoints.view(CheckpointPlace(owner, task))  # type: ignore[arg-type]
    # The attacker's paths name it, so it must not be one of the words that answers may not have.
    config, profile = services.config, f"profile-{len(word)}"
    await config.use_storage("file")
    await config.profiles.create(profile, {"apiProvider": "anthropic"})
    await config.set_secret(profile, "apiKey", SecretStr(KEY))
    # What the server does by itself, as the day's backup, would look like something that an attacker changed.
    await services.recall_job.stop()
    await services.retention_job.stop()
    await services.memory.job.stop()
    await config.update({"customInstructions": f"{word} in the instructions", "backupGenerations": 0})
    memory = await services.memory.of(Owner(owner), None, None)
    memory.folder.write("memory_summary.md", f"## User Profile\n- {word} was learned\n")
    note = memory.add(f"{word} in a note of memory", "person")
    planted = {"planted": {"command": "no-such-program", "env": {"TOKEN": KEY}}}
    (config.home / "mcp.json").write_text(json.dumps({"mcpServers": planted}))
    [learned] = memory.overview().learned
    operation = line.operations[0].id
    return Planted(task, artifact, saved.id, operation, profile, note.id, learned.id, words=(word, KEY, KEY[-4:]))


async def begin_conversation(services: Services, root: Path, *, user: str, word: str) -> tuple[TaskId, str]:
    """A finished conversation, and the name of what it keeps beside its messages."""
    store = await services.storage.store()
    notebook = NotebookRef(path=f"{word}.ipynb")
    log = await store.create(NewTaskRecord(user=user, notebook=notebook, workspace=str(root)))
    text = f"{word} in the first words"
    await log.put_ui(ClineMessage(ts=log.next_ts(), type="say", say="text", text=text))
    await log.append_api(ApiDraft(role="user", content=f"{word} to the model"))
    artifact = await log.put_artifact(f"{word} in an artifact".encode())
    item = HistoryItem(
        id=log.task_id, number=1, ts=1_700_000_000_000, task=text, tokens_in=10, tokens_out=5, total_cost=0.5,
        notebook=notebook, workspace=str(root),
    )  # fmt: skip
    log.update_state(history_item=item)
    await log.save_state()
    await services.history.put(Owner(user), item, text=text)
    await log.finish()
    return log.task_id, artifact


def snapshot(*folders: Path) -> dict[str, str]:
    """What is in these folders, file by file. SQLite's shared memory is no content, and who looked is always recorded."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith("-shm") or path.name == "audit.jsonl":
                continue
            if path.is_symlink() or not path.is_file():
                found[str(path)] = "link" if path.is_symlink() else "folder"
            else:
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
