"""What is no checkpoint's to take: repositories, pipes, what the person made; byte for byte after a restore and its undo."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from tests.persistence.test_crashes import unix

from ._helpers.workspace_fixtures import Picture, assert_sound, picture, write

ROOT = Path(__file__).parents[3]


def run_git(folder: Path, *arguments: str) -> str:
    """What a person's git does in a repository of theirs."""
    command = ["git", "-c", "user.name=p", "-c", "user.email=p@x", "-c", "protocol.file.allow=always"]
    return subprocess.run(
        [*command, *arguments], cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"},
    ).stdout  # fmt: skip


def without_repositories(found: Picture) -> Picture:
    return {path: state for path, state in found.items() if b".git" not in path.split(b"/")}


def only_repositories(found: Picture) -> Picture:
    return {path: state for path, state in found.items() if b".git" in path.split(b"/")}


@pytest.mark.skipif(shutil.which("git") is None, reason="makes real repositories")
async def test_repositories_within_repositories_keep_their_history_while_their_files_go_back(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, tmp_path: Path
) -> None:
    origin = tmp_path / "origin"
    for repository in (origin, workspace, workspace / "nested"):
        repository.mkdir(exist_ok=True)
        run_git(repository, "init", "-q")
        write(repository, {"code.py": "1\n", ".gitattributes": "* text=auto eol=crlf ident\n", "id.txt": "$Id$\n"})
        run_git(repository, "add", "code.py", ".gitattributes", "id.txt")
        run_git(repository, "commit", "-q", "-m", "first")
    run_git(workspace, "submodule", "add", "-q", str(origin), "module")
    run_git(workspace, "commit", "-q", "-m", "with a module")
    before = without_repositories(picture(workspace))
    first = await checkpoints.save("before")
    for repository in (workspace, workspace / "nested", workspace / "module"):
        write(repository, {"code.py": "2\n", "more.py": "2\n", "id.txt": "$Id: 1 $\n"})
        run_git(repository, "add", "code.py", "more.py")
        run_git(repository, "commit", "-q", "-m", "second")
    run_git(workspace, "clone", "-q", str(origin), "cloned")
    after = picture(workspace)
    await checkpoints.save("after", changes_by="agent")

    await checkpoints.restore(first.id)
    there = picture(workspace)
    assert only_repositories(there) == only_repositories(after)
    # The folder of a clone stays with its repository; the files that came with it go.
    assert {path for path in without_repositories(there).keys() - before.keys()} == {b"cloned"}
    assert {path: there[path] for path in before} == before
    for repository in (workspace, workspace / "nested", workspace / "module"):
        assert run_git(repository, "log", "-1", "--format=%s").strip() == "second"
        run_git(repository, "fsck")
    await checkpoints.undo()
    assert picture(workspace) == after
    assert_sound(store_dir)


@unix
async def test_what_cannot_be_kept_stays_where_it_took_a_files_place_and_all_else_comes_back(
    workspace: Path, store_dir: Path
) -> None:
    files = AsyncFileCheckpoints(
        workspace, store_dir, FileLimits(file_bytes=1000, touched_file_bytes=1500, cloned_bytes=0)
    )
    names = ("pipe", "socket", "grown", "repository", "link", "plain")
    write(workspace, {**{name: f"{name} 1" for name in names}, "folder/in": "1", "was_pipe_later": "1"})
    os.mkfifo(workspace / "was_pipe")
    before = picture(workspace)
    first = await files.save("before")
    for name in names:
        (workspace / name).unlink()
    shutil.rmtree(workspace / "folder")
    os.mkfifo(workspace / "pipe")
    os.mkfifo(workspace / "folder")
    (workspace / "was_pipe").unlink()
    here = os.getcwd()
    os.chdir(workspace)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    os.chdir(here)
    (workspace / "link").symlink_to("/etc/hostname")
    write(workspace, {"grown": b"g" * 2000, "repository/.git/HEAD": "x", "plain": "2", "was_pipe": "now a file"})
    after = picture(workspace)
    await files.save("after", changes_by="agent")
    plan = await files.plan_restore(first.id)
    assert {left.path: left.reason for left in plan.left} == {
        "pipe": "special", "folder": "special", "socket": "special", "grown": "too_large", "repository": "occupied",
        "was_pipe": "special",
    }  # fmt: skip

    await files.restore(first.id)
    expected = {**after, **{path: before[path] for path in (b"link", b"plain")}}
    assert picture(workspace) == expected
    await files.undo()
    assert picture(workspace) == after
    assert_sound(store_dir)


async def test_even_when_the_persons_work_is_overwritten_its_undo_brings_back_all_of_it(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, {"agents.py": "1", "persons.py": "1", "gone.py": "1", "deep/gone.py": "1", "plain": "1"})
    before = picture(workspace)
    first = await checkpoints.save("before")
    write(workspace, {"agents.py": "2"})
    await checkpoints.save("after", changes_by="agent")
    write(workspace, {"persons.py": "mine", "새/파일.md": "mine", "cafe\u0301\n.txt": "mine", "agents.py": "3"})
    (workspace / "gone.py").unlink()
    shutil.rmtree(workspace / "deep")
    (workspace / "plain").chmod(0o600)
    os.utime(workspace / "persons.py", ns=(1, 1))
    mine = picture(workspace)
    done = await checkpoints.restore(first.id)
    assert (done.kept, picture(workspace)) == (7, mine)
    await checkpoints.restore(first.id, overwrite_conflicts=True)
    assert picture(workspace) == before
    await checkpoints.undo()
    assert picture(workspace) == mine
    assert_sound(store_dir)


@unix
@pytest.mark.parametrize("kind", ["zip", "git"])
async def test_an_export_that_is_killed_leaves_nothing_where_it_was_to_be(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, tmp_path: Path, kind: str
) -> None:
    write(workspace, {f"{number}": os.urandom(2000) for number in range(50)})
    first = await checkpoints.save("before")
    program = textwrap.dedent(
        """
        import asyncio, os, signal, sys
        from pathlib import Path
        from hdsp_agent.checkpoints import AsyncFileCheckpoints
        workspace, store, target, checkpoint, kind = sys.argv[1:]
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        asyncio.run(AsyncFileCheckpoints(Path(workspace), Path(store)).export(checkpoint, Path(target), kind))
        """
    )
    target = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", program, str(workspace), str(store_dir), str(target), first.id, kind],
        cwd=ROOT, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr.decode()
    assert not target.exists()
    assert_sound(store_dir)
    await checkpoints.export(first.id, target, kind)  # type: ignore[arg-type]  # one of the two
    assert target.exists()
