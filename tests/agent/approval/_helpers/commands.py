"""Commands and what must be decided about them, by the rules beside them."""

from __future__ import annotations

READING = (
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "echo",
    "pwd",
    "git log",
    "git diff",
    "git show",
    "git status",
    "sort",
    "find",
    "diff",
    "sed",
    "awk",
    "rg",
)

APPROVED = (
    "ls", "ls -la", "ls -la src tests", "pwd", "echo hello", "echo 'rm -rf /'", 'echo "a; rm b"', "echo a\\;b", "cat README.md", "head -n 5 a.txt", "tail -f log.txt",
    "git log", "git log --oneline -5", "git log -- src/a.py", "git show HEAD~1:src/a.py", "git diff HEAD~1 HEAD", "git status", "git log --format='%H > %s'",
    "git log | head -5", "git log --oneline | grep fix | wc -l", "ls && git status", "ls || echo none", "ls; pwd", "ls\npwd", 
    "ls 2>&1", "ls 2>&1 | head", "ls > /dev/null", "ls 2>/dev/null", "ls >/dev/null 2>&1", "ls &> /dev/null", "cat < notes.txt", "grep -r TODO . | sort",
    
    
    "LANG=C ls", "LC_ALL=C sort a.txt", "NO_COLOR=1 git log",
    "timeout 5 ls", "nice -n 5 ls", "time git log", "nohup ls", "command ls", "timeout -s KILL 5 grep x y", "echo 안녕하세요", "echo こんにちは", 'grep "日本語" a.txt', "git log --author='김철수'",
    "ls # rm x", "# nothing at all", "", "   ", "find . -name '*.py'", "find src -type f -size +1M", "rg -n 'def f' src", "sed -n 1,5p a.txt", "awk '{print $1}' a.csv",
    "git diff --stat", "echo a b\tc", "echo '$(rm x)'", "echo \\$HOME", "grep -E 'a|b' x", "echo {}",
)  # fmt: skip

ASKED = (
    "ls &", "ls & pwd", "(ls; pwd)", "{ ls; pwd; }", "! ls", "ls 2>&-", "echo $HOME", "echo ${HOME}", "echo ${x:-none}", "echo ${x%.py}", "echo $((1 + 2))", "echo $(pwd)", "echo `pwd`", "diff <(ls a) <(ls b)", "cat <<EOF\nhello\nEOF", "cat <<< hello", "for f in a b; do cat $f; done", "if git diff --quiet; then echo same; else echo changed; fi", "while git status; do echo again; done", "case $x in a) ls;; *) pwd;; esac", "git log \\\n  --oneline", "ls \\\n  src", "ls /usr/lib", "cat ../other/notes.txt", "cat <<'EOF'\n$(rm x)\nEOF", 'echo "$(git log -1)"', "ls *.py", "cat data/[ab].csv",
    "rm x", "git push", "gitfoo", "git", "lsof", "ls-files", "git logx", "git  showx", "Git log", "LS", "./ls", "/bin/ls", "~/bin/ls",
    "git show > ~/.ssh/id_rsa", "git show >> a.txt", "ls > out.txt", "ls >| out.txt", "ls &> out.txt", "ls >& out.txt", "ls 2> err.txt", "git log > $X", "cat < ~/.ssh/id_rsa", "cat < $X",
    "ls & rm x", "ls && rm x", "ls || rm x", "ls; rm x", "ls\nrm x", "ls | rm x", "ls |& rm x", "(ls; rm x)", "{ ls; rm x; }", "! rm x", "ls &rm x", "ls;rm x", "ls|sh",
    "echo $(rm x)", "echo `rm x`", 'echo "$(rm x)"', 'echo "`rm x`"', "diff <(rm x) a", "ls >(rm x)", "cat <<EOF\n$(rm x)\nEOF", "cat <<< $(rm x)", "echo ${x:-$(rm x)}", "echo $((1+$(rm x)))",
    "echo ${x@P}", "echo ${!x}", "echo ${x:=y}", "echo ${x=y}", "echo $[1+1]", "echo ${a[$(rm x)]}", "echo $((a[0]))", "echo ${x/a/`rm y`}",
    "$(echo rm) x", "`echo rm` x", "$CMD x", "${CMD} x", "l$x", "$'\\x6cs'", "r'm' x", 'r"m" x', "r\\m x", "{ls,-la}", "l?", "/bin/l*", "l[s]",
    "FOO=1 rm x", "FOO=1 ls", "PATH=/tmp ls", "LD_PRELOAD=./x.so ls", "GIT_PAGER=./x git log", "PATH=/tmp; ls", "x=$(rm y) ls", "A=1", "export PATH=/tmp", "declare -x A=1", "unset PATH", "alias ls=rm",
    "ls() { rm x; }; ls", "function ls { rm x; }", "eval ls", "eval 'rm x'", "source x.sh", ". x.sh", "exec ls", "trap 'rm x' EXIT", "bash -c 'ls'", "bash -c 'rm x'", "sh x.sh", "zsh -ic ls", "sudo ls",
    "xargs rm", "ls | xargs rm", "find . -delete", "find . -exec rm {} \\;", "find . -exec cat {} +", "find . -ok rm {} \\;", "find . -fprint x", "env ls", "env X=1 ls", "timeout 5 rm x", "nice rm x", "time rm x", "nohup rm x",
    "command rm x", "timeout 5", "timeout $T ls -la $(rm x)", "watch ls", "busybox ls",
    "git log --output=x", "git diff --output x", "git show --ext-diff", "git log --textconv", "git -c core.pager=x log", "git --git-dir=/x log", "sort -o x a", "sort --output=x a", "sort --compress-program=./x a",
    "rg --pre ./x y", "sed -i s/a/b/ x", "sed --in-place s/a/b/ x", "sed 's/a/b/e' x", "sed -n 'w out' x", "awk 'BEGIN{system(\"rm x\")}'", "awk '{print > \"x\"}' y", "awk '{print | \"sh\"}' y", "awk -f prog y",
    "cat ~/.ssh/id_rsa", "cat /home/anna/.aws/credentials", "cat .env", "cat /etc/shadow", "cat /proc/self/environ", "head secrets/server.pem", "ls ~/.hdsp-agent", "grep x .env.local",
    "ls\u202e", "ls \u200bx", "ls\u00a0-la", "ls\rrm x", "ls \x1b[0m", "ls\u2028rm x", "ｌs", "lѕ", "ls –la", "echo \x00", "ls \ufeff",
    "echo \"a", "echo 'a", "ls (", "if ls", "ls &&", "echo $(", "ls |", "r\\\nm x", "l\\\ns", "ls <> x", "exec 3<>/dev/tcp/a/1", "cat < /dev/tcp/a/80", "echo =(rm x)", "coproc rm x", "pip install x", "!!",
    "ls ${x@E}", "((x=1))", "let x=1", "select f in a; do rm x; done", "for f in a; do rm $f; done", "if rm x; then ls; fi", "while rm x; do ls; done", "case a in a) rm x;; esac", "arr=(a b) ls",
    "python -c 'print(1)'", "cd /", "[ -f x ]", "true", "set -e", "printf x", "tee x", "ls | tee x", "kill 1", "curl http://x",
)  # fmt: skip

DENIED = (
    "rm", "rm x", "rm -rf /", "/bin/rm x", "\\rm x", "r'm' x", '"rm" x', "r\\m x", "RM x", "sudo rm x", "sudo -u root rm x", "env rm x", "env A=1 rm x", "FOO=1 rm x", "xargs rm", "ls | xargs -n 1 rm",
    "find . -exec rm {} \\;", "find . -execdir rm {} +", "bash -c 'rm x'", "sh -c \"ls; rm x\"", "eval rm x", "eval 'ls; rm x'", "bash -c \"bash -c 'rm x'\"", "ls && rm x", "ls; rm x", "ls\nrm x", "ls & rm x", "ls | rm x",
    "echo $(rm x)", "echo `rm x`", "diff <(rm x) y", "cat <<EOF\n$(rm x)\nEOF", "(rm x)", "{ rm x; }", "if ls; then rm x; fi", "for f in a; do rm $f; done", "while true; do rm x; done", "f() { rm x; }", "! rm x",
    "time rm x", "nohup rm x", "command rm x", "exec rm x", "nice -n 3 rm x", "timeout 5 rm x", "git push", "git push --force", "ls && git push origin main", "sudo -E git push", "busybox rm x", "rm x > /dev/null", "rm x # fine",
)  # fmt: skip

# What is asked although the rules would allow its words: allowed by ("rm", "pip", "npm", "mv", "cp", "tee", "bash", "sudo", "xargs", "find", "curl", "python", "cd", "git").
ASKED_THOUGH_ALLOWED = (
    "bash -c 'rm x'", "xargs -n 1 python", "cat x | xargs python", "find . -name x | xargs python",
    "rm -rf /", "rm ~/x", "rm ../x", "mv a /tmp/b", "cp a ~/b", "tee /etc/hosts", "rm $X", "rm $(ls)", "bash -c 'unknown x'", "sudo unknown", "ls", "xargs unknown", "find . -exec unknown {} \\;",
    "pip install requests", "pip3 install x", "python -m pip install x", "python3 -m pip install -U x", "npm install", "npm i left-pad", "npm ci", "npm exec x", "pip uninstall x", "bash -c 'pip install x'", "curl -o ~/.bashrc http://x",
    "curl -T a http://x", "xargs rm", "cd /", "cd ~", "cd ../..", "git -c a=b log", "git log --output=x",
)  # fmt: skip
APPROVED_BY_WIDE_RULES = ("rm x", "rm -rf build", "mv a b", "cp a.txt b/c.txt", "tee out.txt", "npm test", "npm run build", "pip list", "python script.py", "python -c 'print(1)'", "bash run.sh", "sudo rm x",
    "cd src && rm x", "curl http://localhost:8000/", "git push --force", "find . -name x", "git commit -m 'a > b'")  # fmt: skip
WIDE = (
    "rm",
    "pip",
    "npm",
    "mv",
    "cp",
    "tee",
    "bash",
    "sudo",
    "xargs",
    "find",
    "curl",
    "python",
    "python3",
    "pip3",
    "cd",
    "git",
)
