"""Which files a path may reach, and what is said against it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from hdsp_agent.tools import PathPolicy, ToolFailed
from hdsp_agent.tools._ignore import HiddenFromAgent, git_ignore
from hdsp_agent.tools._path_policy import kind_of


@pytest.fixture
def paths(workspace: Path) -> PathPolicy:
    (workspace.parent / "agent-home").mkdir()
    return PathPolicy(workspace, forbidden=(workspace.parent / "agent-home",))


def test_a_path_inside_is_shown_relative_and_risks_only_reading_and_writing(paths: PathPolicy) -> None:
    place = paths.resolve("src/../data/new.csv")
    assert place.shown == "data/new.csv"
    assert not place.is_outside
    assert place.read_risks == {"read"}
    assert place.write_risks == {"write"}


@pytest.mark.parametrize("given", ["../elsewhere.txt", "a/../../elsewhere.txt", "/usr/lib/x", "~/x"])
def test_a_path_outside_is_reported_as_a_risk(paths: PathPolicy, given: str) -> None:
    place = paths.resolve(given)
    assert place.is_outside
    assert place.read_risks == {"read_outside"}
    assert "write_outside" in place.write_risks
    assert Path(place.shown).is_absolute()


def test_outside_is_refused_where_settings_say_so(workspace: Path) -> None:
    with pytest.raises(ToolFailed, match="outside the workspace"):
        PathPolicy(workspace, allow_outside=False).resolve("../x")


def test_links_are_followed_before_the_check(paths: PathPolicy, workspace: Path) -> None:
    (workspace.parent / "secret.txt").write_text("x", "utf-8")
    (workspace / "link.txt").symlink_to(workspace.parent / "secret.txt")
    (workspace / "folder").symlink_to(workspace.parent)
    assert paths.resolve("link.txt").is_outside
    assert paths.resolve("folder/new.txt").is_outside
    assert not paths.resolve("folder/work/new.txt").is_outside


def test_dots_after_a_link_mean_what_the_system_means(paths: PathPolicy, workspace: Path) -> None:
    (workspace.parent / "other" / "deep").mkdir(parents=True)
    (workspace / "link").symlink_to(workspace.parent / "other" / "deep")
    place = paths.resolve("link/../x.txt")
    assert place.path == workspace.parent / "other" / "x.txt"
    assert place.is_outside


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "characters"),
        ("/proc/self/environ", "no ordinary file"),
        ("/dev/zero", "no ordinary file"),
        ("../agent-home/config.json", "agent's own storage"),
    ],
)
def test_what_no_tool_may_touch_is_refused(paths: PathPolicy, given: str, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        paths.resolve(given)


def test_links_in_a_circle_and_files_used_as_folders_are_refused(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "a").symlink_to(workspace / "b")
    (workspace / "b").symlink_to(workspace / "a")
    (workspace / "file").touch()
    with pytest.raises(ToolFailed, match="circle"):
        paths.resolve("a")
    with pytest.raises(ToolFailed, match="not a directory"):
        paths.resolve("file/x")


def test_ignored_files_are_hidden_by_any_name_they_have(paths: PathPolicy, workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("secret/\n*.key\n!public.key\n", "utf-8")
    (workspace / "secret").mkdir()
    (workspace / "secret" / "x.txt").touch()
    (workspace / "alias.txt").symlink_to(workspace / "secret" / "x.txt")
    (workspace / "a.key").symlink_to(workspace / "public.txt")
    for given in ("secret", "secret/x.txt", "secret/new.txt", "alias.txt", "a.key", "deep/b.key", "x/../secret/x.txt"):
        with pytest.raises(ToolFailed, match="hidden from you"):
            paths.resolve(given)
    paths.resolve("public.key")


def test_a_change_of_the_ignore_file_counts_at_once(paths: PathPolicy, workspace: Path) -> None:
    paths.resolve("x.txt")
    (workspace / ".hdspignore").write_text("x.txt\n", "utf-8")
    with pytest.raises(ToolFailed):
        paths.resolve("x.txt")
    (workspace / ".hdspignore").unlink()
    paths.resolve("x.txt")


def test_an_ignore_file_that_cannot_be_understood_hides_everything(paths: PathPolicy, workspace: Path) -> None:
    (workspace / ".hdspignore").write_bytes(b"\xff\xfe\x00secret")
    with pytest.raises(ToolFailed, match="cannot be understood"):
        paths.resolve("x.txt")


@pytest.mark.parametrize(
    "given",
    [
        "jupyter_server_config.py",
        "sub/jupyter_lab_config.json",
        "share/jupyter/kernels/x/kernel.json",
        "kernelspecs/x",
        "sitecustomize.py",
        "a.PTH",
        ".bashrc",
        ".git/hooks/pre-commit",
    ],
)
def test_files_that_jupyter_or_python_run_by_themselves_are_protected(paths: PathPolicy, given: str) -> None:
    assert paths.resolve(given).write_risks == {"write", "write_protected"}


@pytest.mark.parametrize(
    "given",
    [".hdspignore", "AGENTS.md", "sub/agents.md", ".vscode/tasks.json", "x.code-workspace", ".git/hooks/pre-commit"],
)
def test_files_that_steer_the_agent_are_protected(paths: PathPolicy, given: str) -> None:
    assert paths.resolve(given).write_risks == {"write", "write_protected"}


@pytest.mark.parametrize("given", [".env", ".env.local", "sub/prod.env", ".ssh/config", "id_rsa", ".netrc"])
def test_files_that_commonly_hold_passwords_are_not_plain_reading(paths: PathPolicy, given: str) -> None:
    assert paths.resolve(given).read_risks == {"read_outside"}


def test_an_example_of_such_a_file_is(paths: PathPolicy) -> None:
    assert paths.resolve(".env.example").read_risks == {"read"}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_another_persons_file_counts_as_outside(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "theirs.txt").touch()
    os.chown(workspace / "theirs.txt", 12345, -1)
    place = paths.resolve("theirs.txt")
    assert place.read_risks == {"read_outside"}
    assert "write_outside" in place.write_risks


def test_a_folder_that_became_a_link_while_an_approval_waited_is_noticed(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "out").mkdir()
    place = paths.resolve("out/x.txt")
    paths.again(place)
    (workspace / "out").rmdir()
    (workspace / "out").symlink_to(workspace.parent)
    with pytest.raises(ToolFailed, match="became something else"):
        paths.again(place)


def test_the_workspace_itself_is_never_hidden(workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("*\n/\n**\n.\n", "utf-8")
    hidden = HiddenFromAgent(workspace)
    for name in ("", "."):
        assert not hidden.hides(name, is_directory=True) and not hidden.hides(name, is_directory=False)
    assert hidden.hides("anything", is_directory=False)


@pytest.mark.parametrize("kind", ["a link to itself", "a folder", "too large"])
def test_an_ignore_file_that_cannot_be_read_hides_everything(paths: PathPolicy, workspace: Path, kind: str) -> None:
    file = workspace / ".hdspignore"
    if kind == "a link to itself":
        file.symlink_to(file.name)
    elif kind == "a folder":
        file.mkdir()
    else:
        file.write_text("# " + "x" * 999_999, "utf-8")
    with pytest.raises(ToolFailed, match="cannot be understood"):
        paths.resolve("a.txt")


def test_an_ignore_file_of_a_million_bytes_is_read(paths: PathPolicy, workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("secret.txt\n# " + "x" * 999_987, "utf-8")
    assert (workspace / ".hdspignore").stat().st_size == 1_000_000
    assert paths.resolve("a.txt").shown == "a.txt"
    with pytest.raises(ToolFailed, match="hidden from you"):
        paths.resolve("secret.txt")


def test_listings_leave_out_what_no_tool_may_touch(paths: PathPolicy, workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("build/\n", "utf-8")
    home = workspace.parent / "agent-home"
    assert paths.hides(home, is_directory=True) and paths.hides(home / "state.db", is_directory=False)
    assert paths.hides(workspace / "build", is_directory=True)
    # A pattern for folders means no file of that name.
    assert not paths.hides(workspace / "build", is_directory=False)
    assert not paths.hides(workspace.parent / "elsewhere", is_directory=True)


def test_a_path_is_called_what_people_call_it(paths: PathPolicy, workspace: Path) -> None:
    assert paths.shown(workspace) == "." and paths.resolve(".").shown == "."
    assert paths.shown(workspace / "a" / "b.txt") == "a/b.txt"
    assert paths.shown(workspace.parent / "b.txt") == (workspace.parent / "b.txt").as_posix()


def test_a_workspace_reached_through_a_link_is_one_workspace(workspace: Path) -> None:
    given = workspace.parent / "by-another-name"
    given.symlink_to(workspace)
    (workspace / ".hdspignore").write_text("secret.txt\n", "utf-8")
    paths = PathPolicy(given)
    assert paths.workspace == workspace.resolve()
    place = paths.resolve(str(given / "a.txt"))
    assert (place.shown, place.is_outside) == ("a.txt", False)
    with pytest.raises(ToolFailed, match="hidden from you"):
        paths.resolve(str(given / "secret.txt"))


def test_a_tilde_means_home_only_where_a_path_begins_with_it(paths: PathPolicy) -> None:
    assert paths.resolve("~/x").is_outside
    assert paths.resolve("a/~/x").shown == "a/~/x"


@pytest.mark.parametrize("given", ["/proc/self/environ", "/sys/kernel", "/dev/null", "/proc"])
def test_what_the_system_shows_as_files_is_refused(paths: PathPolicy, given: str) -> None:
    with pytest.raises(ToolFailed, match="no ordinary file"):
        paths.resolve(given)


def test_leave_to_read_a_folder_is_none_to_read_keys_in_it(paths: PathPolicy, workspace: Path) -> None:
    for name in ("a.txt", ".env", ".env.example", "id_rsa"):
        (workspace / name).write_text("x", "utf-8")
    plain = {name: paths.is_plain(workspace / name) for name in ("a.txt", ".env", ".env.example", "id_rsa", "missing")}
    assert plain == {"a.txt": True, ".env": False, ".env.example": True, "id_rsa": False, "missing": False}


def test_a_path_that_became_protected_while_an_approval_waited_is_noticed(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "a").mkdir()
    before = paths.resolve("a/x.txt")
    paths.again(before)
    (workspace / "b").mkdir()
    (workspace / "a").rmdir()
    (workspace / "a").symlink_to("b")
    with pytest.raises(ToolFailed, match="became something else"):
        paths.again(before)


@pytest.mark.parametrize(
    "name",
    [
        ".hdspmodes", ".hdsp", ".roo", ".roomodes", ".clinerules", ".vscode", ".github", "AGENTS.md", "AGENTS.local.md", "AGENT.md",
        "CLAUDE.md", "GEMINI.md", "x.code-workspace", ".code-workspace", "jupyter_config.py", "jupyter_server_config.py",
        "jupyter_config.json", "jupyter_config.d", "ipython_config.py", "kernel.json", "kernelspecs", "labconfig",
        "sitecustomize.py", "usercustomize.py", "x.pth", ".pth",
    ],
)  # fmt: skip
def test_each_name_that_steers_or_runs_is_protected_wherever_it_is(paths: PathPolicy, name: str) -> None:
    for given in (name, f"deep/er/{name}", f"{name}/inside.txt", name.upper()):
        assert paths.resolve(given).is_protected, given
        assert paths.resolve(given).write_risks == {"write", "write_protected"}
    if not name.startswith("."):
        assert not paths.resolve(f"a{name}b.txt").is_protected


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.", ".env.local", "x.env", ".netrc", ".pgpass", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd", ".ssh", ".aws",
        ".azure", ".gnupg", ".kube", ".docker", ".config", ".jupyter", ".password-store", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa",
    ],
)  # fmt: skip
def test_each_name_that_holds_keys_is_no_plain_reading_wherever_it_is(paths: PathPolicy, name: str) -> None:
    for given in (name, f"deep/er/{name}", f"{name}/inside.txt", name.upper()):
        assert paths.resolve(given).holds_credentials, given
        assert paths.resolve(given).read_risks == {"read_outside"}
    assert not paths.resolve(f"a{name}b.txt").holds_credentials


@pytest.mark.parametrize("name", [".env.example", ".env.sample", ".env.template", ".ENV.Example"])
def test_examples_of_such_files_hold_none(paths: PathPolicy, name: str) -> None:
    assert not paths.resolve(name).holds_credentials


def test_what_a_file_is_is_said_in_words(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(workspace / "s"))
    kinds = {path.name: kind_of(path.stat().st_mode) for path in (workspace / "pipe", workspace / "s", workspace)}
    assert kinds == {"pipe": "a named pipe", "s": "a socket", workspace.name: "a directory"}
    assert kind_of(os.stat("/dev/null").st_mode) == "a device"
    (workspace / "file").touch()
    assert kind_of((workspace / "file").stat().st_mode) is None


def test_what_root_owns_is_nobody_elses(paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "a.txt").touch()
    seen = os.lstat
    for owner, foreign in ((0, False), (4711, True), (os.geteuid(), False)):

        def of(path: object, owner: int = owner, **more: object) -> os.stat_result:
            found = list(seen(path, **more))  # type: ignore[arg-type]
            found[4] = owner
            return os.stat_result(found)

        with monkeypatch.context() as patched:
            patched.setattr(os, "lstat", of)
            assert paths.is_plain(workspace / "a.txt") is not foreign


@pytest.mark.parametrize("rule", ["!", "a\\", "[z-a]"])
def test_an_ignore_file_with_a_rule_that_nobody_understands_hides_everything(
    paths: PathPolicy, workspace: Path, rule: str
) -> None:
    (workspace / ".hdspignore").write_text(f"secret.txt\n{rule}\n", "utf-8")
    with pytest.raises(ToolFailed, match="line 2"):
        paths.resolve("x.txt")


def test_an_ignore_file_has_at_most_two_thousand_lines(paths: PathPolicy, workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("a\n" * 1_999 + "secret.txt\n", "utf-8")
    assert paths.resolve("x.txt").shown == "x.txt"
    with pytest.raises(ToolFailed, match="hidden from you"):
        paths.resolve("secret.txt")
    (workspace / ".hdspignore").write_text("a\n" * 2_000 + "secret.txt\n", "utf-8")
    with pytest.raises(ToolFailed, match="more than 2,000 lines"):
        paths.resolve("x.txt")


def test_of_a_folders_own_ignore_file_so_many_lines_count_as_the_agents_may_have(workspace: Path) -> None:
    assert git_ignore(workspace) is None
    (workspace / ".gitignore").write_text("!\n", "utf-8")
    assert git_ignore(workspace) is None
    # A remark is no rule, whatever signs are in it.
    (workspace / ".gitignore").write_text("# a*b*c\n*.a*\n", "utf-8")
    spec = git_ignore(workspace)
    assert spec is not None and spec.match_file("x.ab") and not spec.match_file("# a1b1c")
    (workspace / ".gitignore").write_text("a\\\n[z-a]\n" + "x\n" * 1_997 + "last\nbeyond\n", "utf-8")
    spec = git_ignore(workspace)
    assert spec is not None and spec.match_file("x") and spec.match_file("last") and not spec.match_file("beyond")


def test_a_workspace_inside_a_protected_folder_makes_nothing_of_it_plain(workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("data/hidden.csv\nkept/\n", "utf-8")
    for name in (".git", ".ssh", "data", "kept"):
        (workspace / name).mkdir()
        (workspace / name / "hidden.csv").write_text("x", "utf-8")
    git, ssh = (PathPolicy(workspace / name, around=workspace) for name in (".git", ".ssh"))
    hook = git.resolve("hooks/pre-commit")
    assert hook.write_risks == {"write", "write_protected"} and not hook.is_outside
    assert ssh.resolve("hidden.csv").read_risks == {"read_outside"} and not ssh.is_plain(workspace / ".ssh/hidden.csv")
    for name in ("data", "kept"):
        paths = PathPolicy(workspace / name, around=workspace)
        assert paths.hides(workspace / name / "hidden.csv", is_directory=False)
        for given in ("hidden.csv", "../kept/hidden.csv"):
            with pytest.raises(ToolFailed, match="hidden from you"):
                paths.resolve(given)
    assert PathPolicy(workspace / "data", around=workspace).resolve("plain.csv").risks == {"write"}


def test_the_folders_above_all_workspaces_say_nothing_of_a_file(workspace: Path) -> None:
    root = workspace / ".env" / "lab"
    (root / "sub").mkdir(parents=True)
    assert PathPolicy(root / "sub", around=root).resolve("a.txt").risks == {"write"}
    elsewhere = PathPolicy(workspace, around=root)
    assert elsewhere.resolve("a.txt").risks == {"write"}
