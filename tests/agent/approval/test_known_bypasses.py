"""Lines that once ran something else than what was judged. Whatever is approved of them is really run, and leaves no trace."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.agent.approval import decide_command
from hdsp_agent.config import GlobalSettings
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import PathPolicy, ToolRegistry
from hdsp_agent.tools._hidden_files import hidden_words
from hdsp_agent.tools._process import ShellProcess

from .._helpers.scripted_agent import running_agent

READS = ("git log", "git diff", "git show")
GIT = shutil.which("git") or ""

SHELL = (
    ("command 2>/dev/null touch PWN", ()),
    ("time 2>&1 touch PWN", ()),
    ("nohup >/dev/null touch PWN", ()),
    ("git log -1 2>/dev/null --output=PWN", READS),
    ("find . 2>/dev/null -maxdepth 0 -exec touch PWN \\;", ("find",)),
    ("git log >/dev/null $\ntouch PWN", READS),
    ("command <<EOF touch PWN\nEOF", ()),
    ("git log -1 <<E --output=PWN\nE", READS),
    ("git log -1 # \\\ntouch PWN", READS),
    ("git log -1 <<'E'\na \\\nE\ntouch PWN\nE", READS),
    ("git log -1\n\\touch PWN", READS),
    ("git log -1 -- \\ #;touch PWN", READS),
    ("git log -1 --format=format:x >&2024`git log -0`/../PWN", READS),
    ("[ a > PWN ]", ("[",)),
    ("\\ [[ \ntouch PWN\n ]]", ("[[",)),
    ("[[ a\n]] || touch PWN", ("[[",)),
    ("time A=b touch PWN", ("A=b",)),
    ("time if; touch PWN", ("if",)),
    ("ls >>2>PWN", ("ls",)),
    ("ls >>{fd}>PWN", ("ls",)),
    ("ls {fd}>PWN", ("ls",)),
    ("x=1 \\\n touch PWN", ("x=1",)),
    ("ls $'\\x0a'touch PWN", ("ls",)),
    ("echo \"$(touch PWN)\"", ("echo",)),
    ("echo a{b,`touch PWN`}", ("echo",)),
    ("coproc touch PWN", ("coproc",)),
    ("ls &touch PWN", ("ls",)),
    ("ls |& touch PWN", ("ls",)),
    ("eval touch PWN", ("eval",)),
    ("bash -c 'touch PWN'", ("bash",)),
    ("echo 'touch PWN' | bash", ("bash", "echo")),
)  # fmt: skip

PROGRAMS = (
    ("command time --format ls touch PWN", ("ls",)),
    ("time -f ls touch PWN", ("ls",)),
    ("time -o PWN ls", ("ls",)),
    ("nice --adjustmen 5 touch PWN", ("5",)),
    ("timeout --kill-afte 5 5 touch PWN", ("5",)),
    ("env --split-string 'touch PWN'", ("env",)),
    ("env -S'touch PWN'", ("env",)),
    ("env -i git diff", ("env", "git diff")),
    ("env -u GIT_CONFIG_COUNT git diff", ("env", "git diff")),
    ("env GIT_CONFIG_COUNT=0 git diff", ("env", "git diff")),
    ("xargs --process-slot-var ls touch PWN", ("xargs", "ls")),
    ("xargs -a f -I ls ls touch PWN", ("xargs", "ls")),
    ("echo PWN | xargs touch", ("echo", "xargs", "touch")),
    ("find . -maxdepth 0 -exec touch PWN ;", ("find",)),
    ("find . -maxdepth 0 -fprint PWN", ("find",)),
    ("find . -exec {} \\;", ("find",)),
    ("git clone -q -u 'touch @/PWN;git-upload-pack' file://@ out", ("git clone",)),
    ("git clone -c core.sshCommand='touch PWN' x:y", ("git clone",)),
    ("git -ccore.sshCommand='touch PWN' ls-remote x:y", ("git", "git ls-remote")),
    ("git -c core.sshCommand=x log", ("git",)),
    ("git clone --template=@/t . out", ("git clone",)),
    ("git init --template=@/t out", ("git init",)),
    ("git format-patch -oPWN -1", ("git format-patch",)),
    ("git format-patch --output-directory PWN -1", ("git format-patch",)),
    ("git diff --output=PWN", ("git diff",)),
    ("ssh -oProxyCommand='touch @/PWN' ls", ("ssh", "ls")),
    ("ssh -o ProxyCommand='touch PWN' ls", ("ssh", "ls")),
    ("script -qc'touch PWN' ls", ("script", "ls")),
    ("zip -q o.zip f -T -TT 'touch PWN #'", ("zip",)),
    ("rsync -e 'touch PWN;false' f x:y", ("rsync",)),
    ("rsync --rsh='touch PWN;false' f x:y", ("rsync",)),
    ("scp -S./x f x:y", ("scp",)),
    ("scp -oProxyCommand='touch PWN' f x:y", ("scp",)),
    ("cp -t@/.. f", ("cp",)),
    ("cp -t .. f", ("cp",)),
    ("cp --target-directory=.. f", ("cp",)),
    ("sort -oPWN f", ("sort",)),
    ("sort -T.. f", ("sort",)),
    ("strace -o PWN ls", ("strace", "ls")),
    ("sudo --prompt ls touch PWN", ("sudo", "ls")),
    ("su -c 'touch PWN' root", ("su",)),
    ("wget -O PWN http://127.0.0.1:9/", ("wget",)),
    ("wget --use-askpass=./x http://127.0.0.1:9/", ("wget",)),
    ("vim -c '!touch PWN' -c q", ("vim",)),
    ("vi f", ("vi",)),
    ("yq -s '\"PWN\"' f", ("yq",)),
    ("watch -n1 'touch PWN'", ("watch",)),
    ("tar cf o.tar f --checkpoint=1 --checkpoint-action=exec='touch PWN'", ("tar",)),
    ("tar -cf o.tar -Itouch\\ PWN f", ("tar",)),
    ("sed '1e touch PWN' f", ("sed",)),
    ("sed 'w PWN' f", ("sed",)),
    ("sed 's/x/touch PWN/e' f", ("sed",)),
    ("awk 'BEGIN{system(\"touch PWN\")}'", ("awk",)),
    ("awk '{print > \"PWN\"}' f", ("awk",)),
    ("awk -F, '{print > \"PWN\"}' f", ("awk",)),
    ("awk 'NR>0 {x=1} {print \"a;}\", x > \"PWN\"}' f", ("awk",)),
    ("awk '{print $1,\n$2\n; print > \"PWN\"}' f", ("awk",)),
    ("awk 'BEGIN{ARGV[1]=\"../x\"} 1' f", ("awk",)),
    ("awk '{print | \"touch PWN\"}' f", ("awk",)),
    ("awk -vx=1 'BEGIN{system(\"touch PWN\")}'", ("awk",)),
    ("awk -F , -v x=1 'BEGIN{system(\"touch PWN\")}'", ("awk",)),
    ("sed -n -e p -e 'w PWN' f", ("sed",)),
    ("sqlite3 x.db '.shell touch PWN'", ("sqlite3",)),
    ("sqlite3 x.db \"select writefile('PWN','x')\"", ("sqlite3",)),
    ("psql -c '\\! touch PWN'", ("psql",)),
    ("docker run -v /:/x alpine touch PWN", ("docker",)),
    ("kubectl exec x -- touch PWN", ("kubectl", "--", "touch")),
    ("less +'!touch PWN' f", ("less",)),
    ("man -P 'touch PWN' ls", ("man",)),
    ("split --filter='touch PWN' f", ("split",)),
    ("parallel touch ::: PWN", ("parallel", "touch")),
    ("gdb -ex 'shell touch PWN' -ex q", ("gdb",)),
    ("tmux new 'touch PWN'", ("tmux",)),
    ("crontab f", ("crontab",)),
    ("command cd data && cat out", ("cd", "cat")),
    ("time cd data && cat out", ("cd", "cat")),
    ("jq -n 'import \"../x\" as $x; $x'", ("jq",)),
    ("yq 'load(\"../x\")' f", ("yq",)),
    ("mlr put 'system(\"touch PWN\")' f", ("mlr",)),
    ("mlr --prepipe 'touch PWN;cat' cat f", ("mlr",)),
    ("wc --files0-from=f", ("wc",)),
    ("sha256sum -c f", ("sha256sum",)),
    ("file -f f", ("file",)),
    ("pip list --python ./f", ("pip list",)),
    ("npm test --script-shell=./f", ("npm test",)),
    ("go vet -vettool=./f", ("go",)),
    ("mysql --plugin-dir=. --default-auth=x", ("mysql",)),
    ("kubectl get pods --kubeconfig=f", ("kubectl get",)),
    ("docker --config f ps", ("docker", "docker ps")),
    ("docker ps", ("docker",)),
    ("xmllint --noent f", ("xmllint",)),
    ("exiftool -if 'system(1)' f", ("exiftool",)),
    ("fzf --preview 'touch PWN'", ("fzf",)),
    ("find ./f -type f -print0 | xargs -0 nice", ("find", "xargs")),
    ("find ./f -type f -print0 | xargs -0 nice -n 5", ("find", "xargs")),
    ("find ./f -type f -print0 | xargs -0 env LANG=C", ("find", "xargs", "env")),
    ("find . -type f -print0 | xargs -0 sed", ("find", "xargs", "sed")),
    ("find . -type f -print0 | xargs -0 awk", ("find", "xargs", "awk")),
    ("find . -type f -print0 | xargs -0 jq", ("find", "xargs", "jq")),
    ("find . -type f -print0 | xargs -0 uniq", ("find", "xargs", "uniq")),
    ("find . -type f -exec uniq {} +", ("find", "uniq")),
    ("find . -type f -exec xxd {} +", ("find", "xxd")),
    ("find . -type f -exec sqlite3 {} +", ("find", "sqlite3")),
    ("find . -type f -exec sort + -oPWN f \\;", ("find", "sort")),
    ("printf x | uniq - PWN", ("printf", "uniq")),
    ("uniq f -- -PWN", ("uniq",)),
    ("printf x | xxd - PWN", ("printf", "xxd")),
    ("ptx -G f PWN", ("ptx",)),
    ("env - git status", ("env", "git status")),
    ("nice -n 5 env - git status", ("env", "git status")),
    ("echo '.shell touch PWN' | sqlite3", ("echo", "sqlite3")),
    ("psql -Xo '|touch PWN'", ("psql",)),
    ("dc -e '!touch PWN'", ("dc",)),
    ("mlr -n put -f f", ("mlr",)),
    ("xmllint -xinclude f", ("xmllint",)),
    ("nm --plugin=./f f", ("nm",)),
    ("nm @f", ("nm",)),
    ("apt-cache policy -o Dir::Bin::dpkg=./f bash", ("apt-cache",)),
    ("ss -tD PWN", ("ss",)),
    ("curl -s gopher://127.0.0.1:9/_x", ("curl",)),
    ("curl 'file:///zzz/../etc/hostname'", ("curl",)),
    ("curl file:///%65tc/hostname", ("curl",)),
    ("curl -H @f http://127.0.0.1:9/", ("curl",)),
    ("journalctl --vacuum-size=1", ("journalctl",)),
    ("find . -maxdepth 1 -exec cat -- -type f {} +", ("find", "cat")),
    ("find . -exec true -type f \\; -print0 | xargs -0 grep -h x", ("find", "xargs", "true", "grep")),
    ("tar xf f && cat link2", ("tar", "cat")),
    ("tar -xtf f && cat link2", ("tar", "cat")),
    ("git checkout x && cat f", ("git checkout", "cat")),
    ("grep -R x .", ("grep",)),
    ("grep --dereference-rec x .", ("grep",)),
    ("rg -L x", ("rg",)),
    ("rg --follow x", ("rg",)),
    ("find -L . -name x", ("find",)),
    ("ls -LR .", ("ls",)),
    ("tree -l", ("tree",)),
    ("du -L .", ("du",)),
    ("diff -r data ..x", ("diff",)),
    ("cat /zzz/../etc/hostname", ("cat",)),
    ("jq -n 'import @text \"a\" as $a {search:\"../x\"}; $a'", ("jq",)),
    ("jq -n -f f", ("jq",)),
    ("yq 'eval(\"lo\"+\"ad(x)\")' f", ("yq",)),
    ("awk 'BEGIN{SYMTAB[\"AR\" \"GV\"][1]=\"../x\"} 1'", ("awk",)),
    ("xzcat -f --files=f", ("xzcat",)),
    ("date -f f", ("date",)),
    ("pushd data && cat out", ("pushd", "cat")),
)  # fmt: skip

OUTSIDE = (
    "git diff --no-index /dev/null ../x", "cat ~/x", "cat ../x", "cat /etc/hostname", "cat /et[c]/shadow", "cat /dev/fd/../../etc/passwd", "cat /proc/self/../../etc/passwd", "cat /proc/$PPID/environ",
    "cat data/../../x", "cat ./../x", "head -n1 ../x", "grep -f../x f", "grep -nf../x f", "grep --file=../x f", "wc --files0-from=../x", "git show HEAD:../x", "git log -- ../x", "ls /", "ls ..", "find / -name x",
    "find .. -name x", "cat link/x", "cat link", "cat linked", "cat < ../x", "cat < linked", "rg x ..", "rg -f../x y", "diff f ../x", "jq . ../x", "cd .. && ls", "cd data && cat ../../x", "cd link && ls",
    "cat *nked", "cat lin?/x", "ls l*/", "python -V ../x", "awk 1 /etc/passwd", "sed -n 1p /etc/passwd", "git blame --contents=../x f", "file -f ../x", "curl file:///etc/passwd",
)  # fmt: skip

INSIDE = (
    "tar tzf f | head -5", "tar -tvf f; cat f", "unzip -l f | cat",
    "cat f", "cat ./f", "cat data/x", "cat data/../f", "git diff --no-index /dev/null f", "grep '/api/v1' f", "grep -f f f", "ls data/", "cd data && cat x", "cat f*", "echo /etc/passwd", "rg '\\.\\./' f",
    "cat f 2>/dev/null", "git log main..feature", "git show HEAD~2:f", "find . -name x", "awk '/foo/ {print}' f", "sed -n '/a/p' f", "cat data/x*", "git diff a...b", "ls data/.. ", "cat < f",
)  # fmt: skip

ALLOWED = (
    "git",
    "cat",
    "head",
    "grep",
    "wc",
    "ls",
    "find",
    "rg",
    "diff",
    "jq",
    "cd",
    "python",
    "awk",
    "sed",
    "file",
    "curl",
    "echo",
    "tar",
    "unzip",
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder inside another, with a repository, a folder, and a place for links that lead out of it."""
    folder = tmp_path_factory.mktemp("template") / "work"
    (folder / "data").mkdir(parents=True)
    (folder / "f").write_text("x\n", "utf-8")
    (folder / "data" / "x").write_text("x\n", "utf-8")
    (folder.parent / "x").write_text("outside\n", "utf-8")
    if GIT:
        subprocess.run([GIT, "init", "-q", "--template=", "."], cwd=folder, check=True)
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([GIT, *who, "commit", "-q", "--allow-empty", "-m", "x"], cwd=folder, check=True)
    return folder.parent


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy of that folder, with links that lead out of it."""
    folder = Path(shutil.copytree(template, tmp_path / "around")) / "work"
    (folder / "link").symlink_to(folder.parent)
    (folder / "linked").symlink_to(folder.parent / "x")
    (folder / "data" / "out").symlink_to(folder.parent / "x")
    return folder


@pytest.mark.parametrize(("command", "allow"), [*SHELL, *PROGRAMS])
async def test_it_asks_and_nothing_else_has_happened(command: str, allow: tuple[str, ...], folder: Path) -> None:
    text = command.replace("@", str(folder))
    decision = decide_command(text, allow=allow, workspace=str(folder), allow_installs=True)
    if decision.runs is not None:
        process = await ShellProcess.start(decision.runs, folder, unasked=True)
        await process.exited.wait()
    assert not list(folder.parent.rglob("PWN*"))
    assert sorted(path.name for path in folder.parent.iterdir()) == ["work", "x"]
    assert decision.verdict == "ask", decision


def test_a_denial_is_found_behind_a_redirection_too() -> None:
    for text in ("command 2>/dev/null touch PWN", "command <<EOF touch PWN\nEOF", "time 2>&1 touch PWN"):
        assert decide_command(text, allow=(), deny=("touch",)).verdict == "deny", text


def test_a_denial_holds_for_git_however_it_is_called() -> None:
    for text in ("git --no-pager branch x", "git -P branch x", "git --literal-pathspecs branch x", "/usr/lib/git-core/git-branch x", "sudo git --no-pager branch x"):  # fmt: skip
        assert decide_command(text, allow=["*"], deny=["git branch"]).verdict == "deny", text


def test_a_folder_is_left_where_its_link_leads(folder: Path) -> None:
    """A shell goes back by names unless it is told not to."""
    (folder / "data" / "deep").mkdir()
    (folder / "short").symlink_to(folder / "data" / "deep")
    decision = decide_command("cd short && cd .. && cat x", allow=["cd", "cat"], workspace=str(folder))
    assert decision.runs == "cd -P short && cd -P .. && cat x"
    assert not decision.is_exact
    assert (
        decide_command("cd short && cd ../.. && cd .. && ls", allow=["cd", "ls"], workspace=str(folder)).verdict
        == "ask"
    )


def test_a_path_must_stay_inside_by_its_words_as_well_as_by_its_links(folder: Path) -> None:
    """Some programs go back by names, as shells do."""
    (folder / "data" / "deep").mkdir()
    (folder / "short").symlink_to(folder / "data" / "deep")
    assert decide_command("cat short/../../f", allow=["cat"], workspace=str(folder)).verdict == "ask"
    assert decide_command("cat short/../x", allow=["cat"], workspace=str(folder)).verdict == "approve"


def test_a_link_joined_to_an_option_is_followed_from_the_first_letter_on(folder: Path) -> None:
    for text in ("grep -flinked f", "grep -nflinked f", "grep -n -flinked f"):
        assert decide_command(text, allow=["grep"], workspace=str(folder)).verdict == "ask", text


def test_nothing_takes_long_to_decide(folder: Path) -> None:
    texts = (
        "; ".join(f"cd {chr(97 + at)}" for at in range(26)) + "; cat x",
        "cat " + ",a/" * 3_300,
        "cat " + "=../" * 2_400,
    )
    for text in texts:
        assert decide_command(text, allow=["*"], workspace=str(folder)).verdict == "ask"
    many = [f"x{at} y z" for at in range(1_000)]
    assert decide_command("time " + "a " * 1_900, allow=["*"], deny=many, workspace=str(folder)).verdict in (
        "ask",
        "approve",
    )


@pytest.mark.parametrize("command", OUTSIDE)
def test_what_reads_outside_of_the_workspace_asks(command: str, folder: Path) -> None:
    decision = decide_command(command, allow=ALLOWED, workspace=str(folder))
    assert decision.verdict == "ask", decision


@pytest.mark.parametrize("command", OUTSIDE)
def test_even_a_rule_for_everything_does_not_reach_outside(command: str, folder: Path) -> None:
    assert decide_command(command, allow=["*"], workspace=str(folder)).verdict == "ask"


@pytest.mark.parametrize("command", INSIDE)
def test_what_reads_inside_runs(command: str, folder: Path) -> None:
    decision = decide_command(command, allow=ALLOWED, workspace=str(folder))
    assert decision.verdict == "approve", decision


@pytest.mark.parametrize("command", ["cat /etc/hostname", "cat ../x", "ls ..", "cat linked", "cat < ../x"])
def test_reading_outside_may_be_allowed(command: str, folder: Path) -> None:
    decision = decide_command(command, allow=ALLOWED, workspace=str(folder), allow_outside_reads=True)
    assert decision.verdict == "approve", decision
    assert decide_command("cp ../x f", allow=["cp"], workspace=str(folder), allow_outside_reads=True).verdict == "ask"


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
async def test_plain_files_that_form_a_repository_have_git_run_nothing(folder: Path) -> None:
    inside = folder / "bare"
    subprocess.run([GIT, "init", "-q", "--bare", str(inside)], check=True)
    settings = f'[core]\nbare = false\nworktree = .\nfsmonitor = "touch {folder}/PWN;false"\n'
    (inside / "config").write_text(settings, "utf-8")
    assert decide_command("git diff", allow=READS, workspace=str(inside)).verdict == "ask"
    assert decide_command("cd bare && git diff", allow=(*READS, "cd"), workspace=str(folder)).verdict == "ask"
    # The environment holds it too.
    process = await ShellProcess.start("git diff", inside, unasked=True)
    await process.exited.wait()
    assert not (folder / "PWN").exists()


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
@pytest.mark.parametrize(
    "settings",
    ['[core]\nfsmonitor = "touch PWN"\n', "[core]\npager = x\n", '[diff "x"]\ntextconv = x\n', "[diff]\nexternal = x\n", '[filter "x"]\nclean = x\n', "[include]\npath = ../x\n", "[alias]\nlog = !x\n",
     "[core] sshCommand = x\n", '[CORE]\n\tFsMonitor=x\n', "[a][diff]external = x\n", '[diff "a]b"] textconv = x\n', "#" * 1_000_001 + "\n", "[core]\nworktree = /etc\n", "[a][core]worktree=/etc\n",
     "[extensions]\npartialClone = origin\n", '[remote "origin"]\npromisor = true\n', '[remote "origin"]\nurl = "ext::touch PWN"\n', "[protocol]\nallow = always\n", "[gc]\nrecentObjectsHook = x\n",
     "[broken\n", '[url "ext::x"]\ninsteadOf = https:\n', "[init]\ntemplateDir = x\n", "\n" * 200_000 + "[x]\ny = z\n"],
)  # fmt: skip
def test_a_repository_whose_settings_run_programs_is_asked_about(settings: str, folder: Path) -> None:
    assert decide_command("git diff", allow=READS, workspace=str(folder)).verdict == "approve"
    with (folder / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(settings)
    decision = decide_command("git diff", allow=READS, workspace=str(folder))
    assert decision.verdict == "ask", decision
    assert "settings" in decision.reason
    assert decide_command("cd data && git diff", allow=(*READS, "cd"), workspace=str(folder)).verdict == "ask"


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
@pytest.mark.parametrize("kept", [".git/modules/sub", "sub/.git", "elsewhere"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_submodule_whose_settings_run_programs_is_asked_about(kept: str, listed: bool, folder: Path) -> None:
    if listed:
        (folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = "sub"\n\turl = ./sub\n', "utf-8")
    (folder / kept).mkdir(parents=True)
    if kept != "sub/.git":
        (folder / "sub").mkdir()
        (folder / "sub" / ".git").write_text(f"gitdir: ../{kept}\n", "utf-8")
    link = f"160000,{'1' * 40},sub"
    subprocess.run([GIT, "update-index", "--add", "--cacheinfo", link], cwd=folder, check=True)
    config = folder / kept / "config"
    config.write_text("[core]\nbare = false\n", "utf-8")
    assert decide_command("git status", allow=["git status"], workspace=str(folder)).verdict == "approve"
    config.write_text('[filter "x"]\nclean = "touch PWN"\n', "utf-8")
    assert decide_command("git status", allow=["git status"], workspace=str(folder)).verdict == "ask"


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
def test_a_repository_in_an_unusual_place_is_asked_about(folder: Path) -> None:
    reads = partial(decide_command, allow=["git status", "cd"], workspace=str(folder))
    settings = folder / ".git" / "config"
    written = settings.read_bytes()
    settings.write_bytes(b"\xef\xbb\xbf[diff] external = x\n")
    assert reads("git status").verdict == "ask"
    settings.write_bytes(written)
    (folder / ".git" / "commondir").write_text("../real\n", "utf-8")
    assert reads("git status").verdict == "ask"
    (folder / ".git" / "commondir").unlink()
    (folder / ".git").rename(folder / "real")
    (folder / ".git").write_text("gitdir: real\n", "utf-8")
    assert reads("git status").verdict == "approve"
    with (folder / "real" / "config").open("a", encoding="utf-8") as file:
        file.write("[core]\nworktree = /etc\n")
    assert reads("git status").verdict == "ask"
    # The inside of a repository, however deep, and with a head that leads nowhere.
    inside = folder / "bare"
    (inside / "objects").mkdir(parents=True)
    (inside / "refs" / "heads").mkdir(parents=True)
    (inside / "HEAD").symlink_to("nowhere")
    assert reads("cd bare/refs/heads && git status").verdict == "ask"


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
def test_a_further_work_tree_is_judged_by_the_settings_it_shares(folder: Path) -> None:
    subprocess.run([GIT, "worktree", "add", "-q", "--detach", "../second"], cwd=folder, check=True)
    second = folder.parent / "second"
    reads = partial(decide_command, allow=["git status"], workspace=str(second))
    assert reads("git status").verdict == "approve"
    with (folder / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write("[core]\npager = x\n")
    assert reads("git status").verdict == "ask"


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
def test_a_repository_above_the_workspace_counts_too(folder: Path) -> None:
    with (folder / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write('[core]\nfsmonitor = "touch PWN"\n')
    assert decide_command("git status", allow=["git status"], workspace=str(folder / "data")).verdict == "ask"


@pytest.mark.skipif(not GIT, reason="Git itself is asked")
def test_the_settings_of_usual_repositories_run_nothing(folder: Path) -> None:
    for name, value in (
        ("user.name", "a"), ("branch.main.remote", "origin"), ("remote.origin.url", "https://example.org/a.git"), ("core.fsmonitor", "true"), ("core.hooksPath", ".husky"),
    ):  # fmt: skip
        subprocess.run([GIT, "config", name, value], cwd=folder, check=True)
    assert decide_command("git status", allow=["git status"], workspace=str(folder)).verdict == "approve"
    (folder / ".husky").mkdir()
    (folder / ".husky" / "post-index-change").write_text("#!/bin/sh\n", "utf-8")
    assert decide_command("git status", allow=["git status"], workspace=str(folder)).verdict == "ask"


@pytest.mark.parametrize("command", ["cat secret.txt", "cat 2>/dev/null secret.txt", "cat <<E secret.txt\nE", "cat < secret.txt", "echo x > secret.txt", "cat f | tee secret.txt"])  # fmt: skip
def test_hidden_files_are_found_behind_a_redirection_too(command: str, folder: Path) -> None:
    (folder / ".hdspignore").write_text("secret.txt\n", "utf-8")
    (folder / "secret.txt").write_text("x", "utf-8")
    assert hidden_words(command, folder, PathPolicy(folder)).named is not None


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_the_agent_asks_about_what_once_ran_unasked(tmp_path: Path) -> None:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_execute=True)
    command = "command 2>/dev/null touch PWN"
    turns = [
        call_tool("execute_command", {"command": command}, id="c"),
        call_tool("attempt_completion", {"result": "Done"}, id="end"),
    ]
    async with running_agent(tmp_path, turns, settings=settings, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "command")
        assert ask.text == command
        assert not (agent.workspace / "PWN").exists()
        # What a person approves runs to the letter.
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert (agent.workspace / "PWN").exists()


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_what_runs_unasked_gets_no_settings_of_programs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rc = tmp_path / "rc"
    rc.write_text(f"touch {folder}/PWN\n", "utf-8")
    (folder / "ls").write_text(f"#!/bin/sh\ntouch {folder}/PWN\n", "utf-8")
    (folder / "ls").chmod(0o755)
    for name, value in (
        ("BASH_ENV", str(rc)), ("ENV", str(rc)), ("BASH_FUNC_ls%%", f"() {{ touch {folder}/PWN; }}"), ("CDPATH", "/"), ("GIT_EXTERNAL_DIFF", "x"), ("GIT_DIR", "/x"), ("RIPGREP_CONFIG_PATH", "/x"),
        ("LESSOPEN", "|x"), ("TAR_OPTIONS", "-I x"), ("PATH", f".::{os.environ['PATH']}"), ("SOME_PROGRAMS_OPTIONS", "x"), ("PYTHONPATH", ".:lib"), ("LD_LIBRARY_PATH", f".:{folder.parent / 'lib'}"), ("http_proxy", "http://proxy.test"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    process = await ShellProcess.start("ls; env", folder, unasked=True)
    await process.exited.wait()
    await process.drained()
    text = process.output.text()
    assert not (folder / "PWN").exists()
    assert not any(name in text for name in ("BASH_ENV", "CDPATH", "GIT_EXTERNAL_DIFF", "GIT_DIR", "RIPGREP", "LESSOPEN", "TAR_OPTIONS", "PATH=."))  # fmt: skip
    # What nobody has heard of steers nothing either; what any program needs is there.
    assert "SOME_PROGRAMS_OPTIONS" not in text and "PYTHONPATH" not in text
    assert f"LD_LIBRARY_PATH={folder.parent / 'lib'}\n" in text and "http_proxy=http://proxy.test\n" in text
    assert f"HOME={os.environ['HOME']}\n" in text
    assert "GIT_CONFIG_KEY_0=safe.bareRepository" in text
