"""Where a decision turns: the last line that is still approved, and the first that is not."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hdsp_agent.agent.approval import decide_command
from hdsp_agent.agent.approval._file_patterns import FilePatternProblem, _Search, expanded
from hdsp_agent.agent.approval._git_settings import _Budget
from hdsp_agent.agent.approval._workspace_bounds import WorkspaceBounds

GIT = shutil.which("git") or ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder inside another, with a few files and no repository."""
    folder = tmp_path_factory.mktemp("edges") / "work"
    (folder / "data").mkdir(parents=True)
    for name in ("f", "g", "data/x", ".hidden"):
        (folder / name).write_text("x\n", "utf-8")
    return folder


APPROVED = (
    # folders
    "cd data && cat ../f", "ls || true; cd data && cat ../f", "ls || true\ncd data && cat ../f", "cd data && cd .. && cat f", "cd data && ls && cat ../f", "cd data; cat x", "cd data || cat f",
    " && ".join(["cd data", "cd .."] * 7 + ["cd data", "cat x"]),
    # what runs a command
    "nohup nohup nohup nohup ls", "find . -type f -exec cat {} +", "find . -type f -exec grep -n x {} \\;", "find . -type f -exec uniq {} \\;", "find . -type f -exec cat {} \\; -exec wc -l {} +", "find . -type f -exec nohup nohup nohup cat {} +", "find -type f -exec cat {} +",
    "find . -type f -name '*.py' -print0 | xargs -0 cat", "find . -type f -print0 | xargs --null -n 5 cat", "find . -type f -print0 | xargs -0r cat", "command -v ls", "command -V rm", "command -v unknown", "command -V unknown", "command", "command -p", "nice", "env", "bash run.sh", "bash ./run.sh x",
    # words
    "awk -F , 1 f", "awk -v x=1 1 f", "awk 1 -", "sed -n p -", "ls é", "ls --color=é", "uniq - ", "cat f; cat f; cat f", "ls " + "a " * 1_999, "cat -f", "git", "git && cat f", "cp f g && pwd", "cp f g && echo x", "time ls",
    "nice -n 5 cat f && cat g", "git status && cat f", "time git status && cat f",
)  # fmt: skip
ASKED = (
    "cd data; cat ../f", "cd data; cd .. && ls", "cd data || cat ../f", "ls || cd data && cat ../f", "cd data && ls || cat ../f", "cd data | cat ../f", "ls | cd data && cat ../f", "cd data && cd .. && cat ../f", "cd data && cd ../..", "cd data x && cat ../f", "cd",
    " && ".join(["cd data", "cd .."] * 8 + ["cat f"]), "nohup nohup nohup nohup nohup ls", "nohup cd data", "time pushd data", "nohup popd", "popd", "pushd data", "command unknown -v", "command unknown -V",
    "find . -type f -exec cat {}", "find . -type f -exec \\;", "find . -type f -exec cat {} x +", "find . -type f -exec cat {}x \\;", "find . -type f -exec {} \\;", "find . -type f -exec rm {} \\;", "find . -type f -exec uniq {} +",
    "find . -type f -exec nohup nohup nohup nohup cat {} +", "find -exec touch {} \\;", "find -exec cat {} + -type f -o -exec touch {} \\;", "find . -exec cat {} +", "find . -type d -exec cat {} +", "find . -type f,l -exec cat {} +", "find . -type f -type l -exec cat {} +", "find . -type f -exec cat {} \\; -exec unknown {} \\;",
    *(f"find . -type f {sign} -name x -exec cat {{}} +" for sign in ("-o", "-or", ",", "\\!", "-not")), "find . -type f -exec true \\; -o -exec cat {} +", "find . -exec true \\; -exec cat {} +", "find . -type f -exec grep + -R {} \\;",
    "xargs -0 cat", "cat f | xargs -0 cat", "find . -type f | xargs -0 cat", "find . -print0 | xargs -0 cat", "find . -type f -print0 | xargs cat", "find . -type f -print0 | xargs -0", "find . -type f -print0 | xargs -0 rm",
    "find . -type f -print0 | xargs -0 /bin/rm", "find . -type f -print0 | xargs -n 0 cat", "find . -type f -print0 | cat | xargs -0 cat", "find . -type l -print0 | xargs -0 cat", "find . -type f -print0; xargs -0 cat",
    "bash", "bash -x run.sh", "bash +x run.sh", "bash /dev/stdin", "eval ls", "bash -c ls", "command -p unknown", "command ls -v unknown; unknown",
    "awk -F , 'BEGIN{system(1)}' f", "awk -f f", "awk -v x=1 -f f", "ls –x", "ls -é", "lsé", "''", "ls " + "a " * 2_000, "cat -/etc/hostname", "cat -../x", "cat -~/x", "cat --f=../x",
    # what makes a link, however it is called
    "timeout -s KILL 5 cp f g && cat g", "time git checkout x && cat f", "nice -n 5 git --no-pager pull && cat f", "/bin/cp f g && cat g", "env LANG=C TZ=UTC NO_COLOR=1 tar xf f; cat g", "/usr/bin/git checkout x && cat f", "cp f g && cat < g", "cp f g; ls; cat g",
    # files that steer others
    "cp f .bashrc", "cp f data/.env", "touch x.IPYNB", "mv f data/AGENTS.md", "touch kernel.json",
)  # fmt: skip
RULES = ("cat", "cd", "ls", "true", "find", "grep", "uniq", "wc", "xargs", "awk", "sed", "bash", "git", "cp", "nohup", "nice", "env", "/bin/cp", "/usr/bin/git", "git checkout", "git pull", "rm", "tar", "touch", "mv", "echo", "pwd", "-f", "/bin/rm", "pushd", "popd", "''")  # fmt: skip


def test_it_is_approved_up_to_there(folder: Path) -> None:
    decisions = [decide_command(text, allow=RULES, workspace=str(folder)) for text in APPROVED]
    assert [decision for decision in decisions if decision.verdict != "approve"] == []


def test_beyond_it_is_asked_about(folder: Path) -> None:
    verdicts = {text: decide_command(text, allow=RULES, workspace=str(folder)).verdict for text in ASKED}
    assert [text for text, verdict in verdicts.items() if verdict != "ask"] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bash -c ls", "bash runs a text, which another shell reads anew"), ("eval ls", "eval runs a text, which another shell reads anew"), ("sh -ec ls", "sh runs a text, which another shell reads anew"),
        ("bash", "what bash runs cannot be told"), ("bash -x run.sh", "what bash runs cannot be told"), ("sh +x run.sh", "what sh runs cannot be told"), ("bash /dev/stdin", "what bash runs cannot be told"),
    ],
)  # fmt: skip
def test_why_a_shell_is_asked_about_is_said(text: str, why: str, folder: Path) -> None:
    assert why in str(decide_command(text, allow=("bash", "sh", "eval"), workspace=str(folder)).reason)


def test_a_redirection_writes_only_what_an_editing_tool_may_write(folder: Path) -> None:
    given: list[str] = []

    def may_write(path: str) -> bool:
        given.append(path)
        return path.endswith("ok")

    def verdict(text: str) -> str:
        return decide_command(text, allow=RULES, workspace=str(folder), may_write=may_write).verdict

    assert verdict("echo x > ok") == verdict("cd data && echo x >> ok") == verdict("echo x 2> ok") == "approve"
    assert given == ["ok", "data/ok", "ok"]
    assert verdict("echo x > no") == verdict("cd data; echo x > no") == "ask"
    given.clear()
    for text in ("echo x > ../ok", "echo x >> ../ok", "echo x > .hdsp/ok", "echo x > ok.ipynb", "echo x > .env", "echo x > /tmp/ok"):  # fmt: skip
        assert verdict(text) == "ask", text
    assert given == []
    assert decide_command("echo x > ok", allow=RULES, workspace=str(folder)).verdict == "ask"
    assert decide_command("cat < ../x", allow=RULES, workspace=str(folder), allow_outside_reads=True).verdict == "approve"  # fmt: skip
    assert decide_command("cat < ../.env", allow=RULES, workspace=str(folder), allow_outside_reads=True).verdict == "ask"  # fmt: skip


def test_a_link_to_what_steers_is_what_it_leads_to(folder: Path) -> None:
    (folder / ".vscode").mkdir()
    (folder / "plain").symlink_to(".vscode")
    try:
        verdicts = [
            decide_command(f"touch {name}", allow=RULES, workspace=str(folder)).verdict
            for name in ("plain/x", "data/y")
        ]
        assert verdicts == ["ask", "approve"]
    finally:
        (folder / "plain").unlink()
        (folder / ".vscode").rmdir()


def test_where_no_workspace_is_known_only_paths_that_stay_below_are_approved() -> None:
    for text, verdict in (("cat f", "approve"), ("cat a/../b", "approve"), ("cat ../f", "ask"), ("cat /etc/hostname", "ask"), ("cat ~/f", "ask"), ("cat ~", "ask"), ("cat *", "ask"), ("cat /nothing-of-that-name", "approve")):  # fmt: skip
        assert decide_command(text, allow=["cat"]).verdict == verdict, text
    assert decide_command("echo x > ok", allow=["echo"], may_write=lambda path: path == "ok").verdict == "approve"


def test_a_word_may_have_a_hundred_parts(folder: Path) -> None:
    bounds = WorkspaceBounds(str(folder))
    assert bounds.outside("a" + ",a" * 99, str(folder)) is None
    assert bounds.outside("a" + ",a" * 100, str(folder)) is not None
    assert bounds.holds(str(folder)) and bounds.holds(f"{folder}/x") and not bounds.holds(f"{folder}x")
    assert WorkspaceBounds("/").holds("/etc") and WorkspaceBounds(None).holds("/etc")
    assert bounds.outside("/dev/null", str(folder)) is None
    assert all(bounds.outside(f"/dev/{name}", str(folder)) is None for name in ("stdin", "stdout", "stderr"))
    assert bounds.outside("/dev/tty", str(folder)) == "/dev/tty"
    # An option may be joined to its value anywhere in its first letters.
    assert bounds.outside("-nxf../x", str(folder)) == "../x"
    assert bounds.outside("-../x", str(folder)) == "../x" and bounds.outside("-/etc", str(folder)) == "/etc"
    assert bounds.outside("x" * 4_097 + "/../../../x", str(folder)) is None
    assert bounds.outside("../" + "x" * 4_093, str(folder)) is not None
    assert bounds.outside("../" + "x" * 4_094, str(folder)) is None


def test_a_link_is_found_behind_the_letters_of_an_option(folder: Path) -> None:
    bounds = WorkspaceBounds(str(folder))
    link = folder / "out"
    link.symlink_to(folder.parent)
    try:
        assert bounds.outside("out", str(folder)) == "out" and bounds.outside("f", str(folder)) is None
        assert (
            bounds.outside("-fout", str(folder)) == "out"
            and bounds.outside("-" + "x" * 62 + "out", str(folder)) == "out"
        )
        assert bounds.outside("-" + "x" * 63 + "out", str(folder)) is None
        assert bounds.outside("--to=out", str(folder)) == "out" and bounds.outside("x,out", str(folder)) == "out"
        assert bounds.outside("xout", str(folder)) is None
        assert bounds.outside("..", str(folder / "data")) is None and bounds.outside("..", str(folder)) == ".."
        assert bounds.outside("../..", str(folder / "data")) == "../.."
    finally:
        link.unlink()


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("*", ["data", "f", "g"]), (".*", [".hidden"]), (".h*", [".hidden"]), ("?hidden", []), ("data//[x]", ["data//x"]), ("[.]hidden", []), ("data/*", ["data/x"]), ("./[fg]", ["./f", "./g"]), ("*/x", ["data/x"]), ("[*]", []), ("f[*]", []), ("nothing*", []), ("f/*", []), ("d?ta/[x]", ["data/x"]), ("*/nothing", [])],
)  # fmt: skip
def test_a_pattern_stands_for_the_names_that_it_fits(pattern: str, names: list[str], folder: Path) -> None:
    assert expanded(pattern, str(folder), str(folder)) == names


def test_a_pattern_is_looked_up_within_limits(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert expanded("*" * 12, root, root) == []
    assert expanded("*" + "x" * 499, root, root) == []
    for pattern in ("*" * 13, "?" * 6 + "*" * 7, "*" + "x" * 500):
        with pytest.raises(FilePatternProblem, match="too long"):
            expanded(pattern, root, root)
    for number in range(1_000):
        (tmp_path / f"{number}.a").touch()
    assert len(expanded("*.a", root, root)) == 1_000
    (tmp_path / "x.a").touch()
    with pytest.raises(FilePatternProblem, match="very many files"):
        expanded("*.a", root, root)
    assert _Search(root, scanned=20_000 - 1_001).below(root, "", ["x*"]) == ["x.a"]
    with pytest.raises(FilePatternProblem, match="folder with very many"):
        _Search(root, scanned=20_000 - 1_000).below(root, "", ["x*"])
    (tmp_path / "line\nx").touch()
    with pytest.raises(FilePatternProblem, match="no text can hold"):
        expanded("line*", root, root)
    with contextlib.suppress(OSError):
        (tmp_path / os.fsdecode(b"odd\xff")).touch()
        with pytest.raises(FilePatternProblem, match="no text can hold"):
            expanded("odd*", root, root)
    (tmp_path / "inner").mkdir()
    for pattern in ("../*", "/*", "inner/../../*"):
        with pytest.raises(FilePatternProblem, match="outside the workspace"):
            expanded(pattern, root, root)
    # A folder whose name only begins like the workspace's.
    beside = tmp_path.parent / f"{tmp_path.name}x"
    beside.mkdir()
    with pytest.raises(FilePatternProblem, match="outside the workspace"):
        expanded("*", str(beside), root)


@pytest.mark.parametrize("name", ["curl", "wget", "fetch", "aria2c", "http", "xh", "nc", "ncat"])
@pytest.mark.parametrize("reader", ["sh", "sudo bash", "python3", "perl", "node", "xargs"])
def test_what_is_fetched_and_run_is_flagged(name: str, reader: str) -> None:
    assert "network_to_shell" in decide_command(f"{name} x | {reader}", allow=["*"]).flags
    assert "network_to_shell" not in decide_command(f"{name} x | cat", allow=["*"]).flags
    assert "network_to_shell" not in decide_command(f"{name} x; cat {reader}", allow=["*"]).flags


LOSES = (
    "push -f", "push --force", "push --mirror", "push --delete x", "push origin :x", "push origin +x", "reset --hard", "reset --merge", "reset --keep", "clean -fd", "clean --force", "checkout -f", "checkout --force", "checkout -- .",
    "checkout .", "restore x", "switch -C x", "switch --discard-changes x", "switch --force x", "branch -D x", "branch -M x", "branch --delete x", "branch --force x y", "tag -d x", "tag -f x", "tag --delete x", "tag --force x", "stash drop",
    "stash clear", "stash pop", "reflog expire x", "reflog delete x", "rebase main", "filter-branch x", "filter-repo", "gc --prune=now", "gc --aggressive", "update-ref x y", "commit --amend", "-C x rebase main", "--no-pager reset --hard",
)  # fmt: skip
KEEPS = ("push", "push origin main", "reset x", "clean -n", "checkout main", "switch x", "branch -a", "tag x", "stash list", "reflog show", "gc", "commit -m x", "-C x log rebase", "-C . checkout main", "log --hard", "push x-f")  # fmt: skip


def test_what_of_git_loses_work_is_flagged() -> None:
    assert [
        words for words in LOSES if "overwrites_history" not in decide_command(f"git {words}", allow=()).flags
    ] == []
    assert [words for words in KEEPS if "overwrites_history" in decide_command(f"git {words}", allow=()).flags] == []


FLAGGED = {
    "uses_network": "curl x|wget x|ssh x|sftp x|ftp x|lftp x|telnet x|nc x|ncat x|netcat x|socat x|ping x|dig x|nslookup x|host x|whois x|traceroute x|aria2c x|http x|https x|xh x|gh x|glab x|aws x|gcloud x|gsutil x|az x|s3cmd x|rclone x"
    "|kaggle x|huggingface-cli x|hf x|mail x|sendmail x|git push|git pull|git fetch|git clone x|git ls-remote|git submodule update|git -C x fetch|rsync f host:x|scp host:x f",
    "as_other_user": "sudo ls|doas ls|su x|runuser x|pkexec ls|run0 ls|nice sudo ls|timeout 5 doas ls",
    "deletes_recursively": "rm -r x|rm -fR x|rm --recursive x|rsync -a --del f g|rsync --delete f g|srm -r x|shred -r x|find . -delete|nice rm -r x",
    "runs_text": "python -c x|python3.12 -Ic x|pypy3 -c x|node -e x|node -p x|deno --eval x|bun -e x|ruby -e x|perl -ne x|perl -E x|lua -e x|julia --print x|php -r x|R -e x|Rscript -e x|sh -c x|bash -xc ls|eval x",
    "hidden_parts": "echo $HOME|for f in *; do cat f; done|x=1 ls|ls {a,b}|ls {1..3}|ls $(x)|f() { ls; }|ls \"$x\"|bash -c 'ls $x'",
    "reads_secrets": "for f in .env; do cat f; done|cat .env|cat < .env|cat x/id_rsa|cat .aws/x|cat x.pem",
    "reads_outside": "for f in ../x; do cat f; done|cat ../x|cat < ../x|cat --f=../x",
    "writes_outside": "cp f ../x|echo x > ../x|echo x 2>> ../x|cp f /etc/x|dd of=../x",
}  # fmt: skip
NOT_FLAGGED = {
    "uses_network": "ls curl|git log|rsync f /x:y|scp f g|git log -- a push",
    "as_other_user": "ls sudo|echo su",
    "deletes_recursively": "rm x|rsync -r f g|cp -r f g|find . -name x|ls -R|rm x-r",
    "runs_text": "python x.py|python -m x|node x.js|sh x.sh|php x.php|cat -c x|ls -e",
    "hidden_parts": "ls *.py|echo 'a $b'|ls -la x y|git log HEAD~1|ls 2>/dev/null; pwd|bash -c 'ls x'|ls a,b|ls {a}",
    "reads_secrets": "cat .env.example|cat env|echo .env|cat x.pem.txt",
    "reads_outside": "cat f|echo ../x|cp f ../x",
    "writes_outside": "cat ../x|cp f g|echo x > f",
}  # fmt: skip


def test_forty_words_behind_a_wrapper_are_looked_at_as_programs() -> None:
    assert "deletes_recursively" in decide_command("sudo" + " x" * 38 + " rm -r y", allow=()).flags
    assert "deletes_recursively" not in decide_command("sudo" + " x" * 39 + " rm -r y", allow=()).flags


@pytest.mark.parametrize("flag", FLAGGED)
def test_each_flag_is_raised_by_what_it_is_about_alone(flag: str, folder: Path) -> None:
    def has(text: str) -> bool:
        return flag in decide_command(text, allow=(), workspace=str(folder)).flags

    assert [text for text in FLAGGED[flag].split("|") if not has(text)] == []
    assert [text for text in NOT_FLAGGED[flag].split("|") if has(text)] == []


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
def test_repositories_in_repositories_are_followed_only_so_far(tmp_path: Path) -> None:
    def tie(depth: int) -> Path:
        root = place = tmp_path / f"deep-{depth}"
        for number in range(depth + 1):
            place.mkdir()
            subprocess.run([GIT, "init", "-q", "--template=", "."], cwd=place, check=True)
            if number < depth:
                link = f"160000,{'1' * 40},sub"
                subprocess.run([GIT, "update-index", "--add", "--cacheinfo", link], cwd=place, check=True)
            place = place / "sub"
        return root

    assert decide_command("git status", allow=["git"], workspace=str(tie(4))).verdict == "approve"
    decision = decide_command("git status", allow=["git"], workspace=str(tie(5)))
    assert decision.verdict == "ask"
    assert "too many repositories" in decision.reason
    budget = _Budget()
    assert [budget.take() for _ in range(101)] == [True] * 100 + [False]


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
@pytest.mark.parametrize(
    ("settings", "verdict"),
    [("[core]\nfsmonitor = false\n", "approve"), ("[core]\nfsmonitor =\n", "approve"), ("[core]\nfsmonitor = true\n", "approve"), ("[core]\nworktree = ..\n", "approve"), ('[remote "x"]\nurl = https://x/y\n', "approve"), ("[core]\npager = x\n", "ask")],
)  # fmt: skip
@pytest.mark.parametrize("file", ["config", "config.worktree"])
def test_the_settings_of_each_file_of_a_repository_count(
    settings: str, verdict: str, file: str, tmp_path: Path
) -> None:
    subprocess.run([GIT, "init", "-q", "--template=", "."], cwd=tmp_path, check=True)
    with (tmp_path / ".git" / file).open("a", encoding="utf-8") as opened:
        opened.write(settings)
    assert decide_command("git status", allow=["git"], workspace=str(tmp_path)).verdict == verdict
