"""Ways out of rules that people really have: each of these must be asked about although a rule names its program."""

from __future__ import annotations

USUAL = (
    "git", "ls", "cat", "echo", "python", "npm test", "find", "xargs", "env", "sudo", "make", "grep", "head", "wc", "sort", "sed", "awk", "tar", "printf", "test", "[", "[[",
    "read", "mapfile", "readarray", "hash", "alias", "set", "export", "let", "eval", "exec", "source", ".", "trap", "shopt", "enable", "wait", "getopts", "fc", "history", "bind",
    "complete", "less", "man", "rg", "fd", "uniq", "xxd", "tree", "date", "ps", "curl", "tee", "cd", "time", "nice", "command", "builtin", "timeout", "file", "split", "bat", "diff",
    "true", "rm", "mv", "cp",
)  # fmt: skip

GIT = (
    "git -c core.pager=./x log", "git -c alias.log='!rm x' log", "git --exec-path=/tmp/x log", "git --config-env=core.pager=X log", "git log --output=x", "git log --outpu=x",
    "git diff --ext-d", "git show HEAD:x --textc", "git -C /other log", "git --git-dir=/x log", "git grep -O./x foo", "git grep -nO./x foo", "git grep --open-files=./x foo",
    "git archive --remote=ssh://x HEAD", "git bisect run ./x", "git rebase --exec ./x HEAD~1", "git rebase -x ./x HEAD~1", "git submodule foreach rm x",
    "git filter-branch --tree-filter 'rm x'", "git config alias.x '!rm'", "git config --global core.pager ./x", "git clone ext::sh", "git ls-remote ext::'sh -c rm'",
    "git clone --upload-pack=./x a b", "git fetch --upload-pack ./x", "git push --receive-pack=./x", "git difftool -x ./x", "git difftool --extcmd=./x", "git mergetool",
    "git hook run pre-commit", "git for-each-repo --config=x", "git instaweb", "git credential fill", "git maintenance start", "git send-email", "git show HEAD:.env",
    "git log -p -- .env", "git diff --no-index /dev/null ~/.ssh/id_rsa", "git worktree add ../x", "git clone x /tmp/y", "git cat-file --filters HEAD:x", "git log $X", 
    "git interpret-trailers --in-place x",
)  # fmt: skip

PROGRAMS = (
    "find . -fls x", "find . $X", "ls | xargs find .", "ls | xargs git log", "ls | xargs sort", "ls | xargs -I{} {}", "ls | xargs -i sh -c '{}'", "xargs", "ls | xargs rm",
    "ls | xargs env", "env PATH=/tmp ls", "env LD_PRELOAD=./x ls", "env -S 'rm x'", "env -iS 'rm x'", "env -C / ls", "sudo PATH=/tmp ls", "sudo -i", "sudo -s", "sudo -e x",
    "tar xf a --to-command=./x", "tar xf a --to-c=./x", "tar xf a --use-compress-prog ./x", "tar xf a --checkpoint-act=exec=./x", "tar -cIf x", "tar cIf x", "tar xf a -F ./x",
    "tar xf a --info-script=./x", "tar xf a --rmt-command=./x", "tar xPf a", "tar tf host:x", "tar xf a -T list", "sed '1e rm x' f", "sed 's|a|b|e' f", "sed 's|a|b|w x' f",
    "sed 's,a,b,gw x' f", "sed -f script f", "sed --file=script f", "sed --in-pl s/a/b/ f", "sed -e'w x' f", "sed --expression='w x' f", "sed '$!e' f", "sed 's/x/y/me' f",
    "sed 's/x/y/Ie' f", "sed '\\,a,w out' f", "sed 'p;1~2e rm x' f", "sed p\\;e f", "sed -ni p f", "sed 'R /etc/shadow' f", "sed $X f", "sed -n '/a/{w x\n}' f", "awk -fs f",
    "awk -iinplace '{print}' f", "awk -l x '{print}' f", "awk -E s", "awk --exec s", "awk '@load \"x\"; {print}'", "awk '{f=\"sys\" \"tem\"; @f(\"rm\")}' f", "awk -o x '{print}' f",
    "awk -dx '{print}' f", "awk --profile=x '{print}' f", "awk '{\"sh\" | getline}' f", "sort --outp=x f", "sort -uo x f", "sort --comp=./x f", "for f in -ox; do sort $f a; done",
    "uniq f out", "uniq -c f out", "xxd a b", "xxd -i a b", "tree -ox", "date -s now", "date --se=now", "date 11211530", "file -C -m x", "split --filter=./x f", "bat --pager=./x f",
    "bat --pag ./x f", "fd -HIx rm", "fd --exe rm", "rg -nz a", "less +!rm f", "less --log-file=x f", "less -k x f", "less --lesskey-content=x f", "man --pag=./x ls", "man -C x ls",
    "man ./x", "ps e", "ps auxe", "curl --out y x", "curl -d @f x", "curl -F f=@x y", "curl -c jar x", "curl -D x y", "curl --trace x y", "curl --libcurl x y", "curl -K x", "curl -w %output{x} y", "curl -X DELETE http://localhost/a",
    "command time -o x ls", "nice time -o x ls", "timeout 5 time -ao x ls", "python -mpip install x", "echo x | tee .git/hooks/pre-commit", "echo x | tee a.ipynb", "rm -r .hdsp",
    "cp a AGENTS.md", "mv a b.ipynb", "cp a .vscode/tasks.json", "cd", "cd -", "cd && rm x",
)  # fmt: skip

SHELL = (
    "ls | xargs cat", "find . -name '*.py' | xargs grep -n foo", "[[ $x == a* ]] && ls", "for f in a b; do cat \"$f\"; done", "cat <<'EOF'\n$x `y`\nEOF", "cat <<EOF\nplain\nEOF", "echo {1..3}", "echo ${x:1:2} ${x:-1}", "echo `pwd -P || true`".replace("pwd -P || ", ""), 
    "printf -v PATH /tmp", "printf -v 'a[$(rm x)]' x", "printf -vPATH x", "printf '12345%n' PATH", "read PATH < f", "read 'a[$(rm x)]'", "mapfile -C rm -c 1 x < f", "readarray -C rm x",
    "hash -p ./x ls", "alias ls='rm x'", "set -o xtrace", "export PATH=x", "let x=1", "let 'a[$(rm x)]=1'", "source x", ". x", "exec ls", "exec -a x ls", "trap 'rm x' EXIT", "trap rm EXIT",
    "shopt -s expand_aliases", "enable -f ./x y", "wait -p 'a[$(rm x)]'", "getopts x 'a[$(rm x)]'", "fc -s", "history -w x", "bind -x '\"a\":rm x'", "complete -C rm x", "builtin source x",
    "builtin . x", "eval $x", "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "[[ -v 'a[$(rm x)]' ]]", "[[ x -eq 1 ]]", "[[ 'a[$(rm x)]' -gt 0 ]]", "for PATH in /tmp; do ls; done",
    "for IFS in x; do ls; done", "for LD_PRELOAD in ./x; do ls; done", "select PATH in a; do ls; done", "for y in 'a[$(rm x)]'; do echo ${x:y}; done", "echo ${x:y}", "echo ${x[y]}",
    "for f in .env; do cat $f; done", "echo \"`echo \\`rm x\\``\"", "echo `echo \\`rm x\\``", "cat <<EOF\n`rm x`\nEOF", "cat <<-EOF\n\t$(rm x)\n\tEOF", "cat <<-EOF\n\t`rm x`\n\tEOF",
    "cat <<EOF\n${x:=y}\nEOF", "cat <<EOF\n$((a[0]=1))\nEOF", "cat <<EOF\na\\\nEOF\nrm x\nEOF", "cat <<'E O F'\nx\nE O F\nls", "cat <<E\"O\"F\nx\nEOF", "cat <<\\EOF\nx\nEOF",
    "cat <<A <<B\n1\nA\n2\nB", "cat <<EOF 'a\nb'\nx\nEOF", "cat <<EOF\nx", "ls {PATH}>/dev/null", "ls {fd}>/dev/null", "cat {.env,x}", "cat .e{nv,x}", "cat /etc/{shadow,passwd}",
    "find . -{delete,x}", "COLUMNS='a[$(rm x)]' ls", "TZ=:/etc/shadow date", "LC_ALL=/tmp/x ls", "PATH+=x ls", "cat ~/.s*/*", "cat ~/*", "cat .ENV", "cat prod.env",
    "cat /proc/self/./environ", "cat /proc//self/environ", "cat /proc/self/task/1/environ", "grep -f.env x", "grep x -f ~/.ssh/id_rsa", "cat < .en*", "echo $(<.env)",
    "echo $(<~/.ssh/id_rsa)", "ls >/dev/null/../x", "ls > /dev/null*", "cat 0</dev/tcp/a/80", "ls >&$X", "((x=1))", "echo $[a[$(rm x)]]", "coproc ls", "ls; ls() { rm x; }; ls",
    "! { rm -r /; }", "time { rm -r /; }", "l\\\ns", "ls\u0085rm x", "ls\x0brm x", "ls \u2010delete",
)  # fmt: skip

HARMLESS = (
    "git log --oneline -5 -- src", "git diff --stat HEAD~1", "git status --short", "git commit -m 'x: y'", "git add -A", "git branch -a", "git grep -n foo -- src", "git rev-parse HEAD",
    "sed -n '10,20p' a.py", "sed 's/a/b/g' a.py", "sed -E 's|^(a)|\\1|; /x/d' a.py", "sed -n '/def a/,/^$/p' a.py", "sed -e 's/a/b/' -e '$d' a.py", "awk -F, '{print $1, $2}' a.csv",
    "awk 'NR==1{next} {s+=$2} END{print s}' a.csv", "sort -k2,2n a.csv", "sort -t, -u a.csv", "uniq -c a", "tar tzf a.tgz", "tar xzf a.tgz -C data", "curl -sSL https://example.org/a",
    "env", "env LANG=C ls", "sudo ls", "printf '%s\\n' a", "test -f a", "[ -f a ] && cat a", 
    "cat .env.example", "ps -ef", "date +%F",
    "cp a.txt b.txt", "rm -r build", "cd src && ls", "tree -L 2", "rg -n foo", "time ls", "less a", "man ls", "diff a b", 
)  # fmt: skip
