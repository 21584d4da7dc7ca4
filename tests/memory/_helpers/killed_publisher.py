"""Publishes and waits in the midst of it: ``python -m tests.memory._helpers.killed_publisher HOME URL TEXT``.

Takes over the consolidation, writes one of the files, says so, and goes no further.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hdsp_agent.memory import Memories
from hdsp_agent.memory.job_table import JobClaim
from hdsp_agent.memory.memory_folder import HANDBOOK
from hdsp_agent.memory.memory_jobs import MemoryJobs
from hdsp_agent.memory.sharing import MemorySharing
from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
from hdsp_agent.persistence.postgres._postgres_memory import PostgresMemory

from .shared_home import ME, publish


async def main(home: Path, url: str, learned: str) -> None:
    memory = PostgresMemory(PostgresDatabase(url))
    memories = Memories(home, ME, lambda folder: None)
    folder = memories.folder(ME)
    jobs = MemoryJobs(memory, MemorySharing(memory, lambda owner: folder))
    claim = await jobs.claim_consolidation(ME, is_asked_for=True)
    assert isinstance(claim, JobClaim), claim
    write = folder.write

    def written(name: str, text: str) -> None:
        write(name, text)
        if name == HANDBOOK:
            print("written", flush=True)
            sys.stdin.readline()

    folder.write = written  # type: ignore[method-assign]  # this process is killed in it
    await jobs.write_if_leased(claim, lambda: publish(folder, learned))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
