"""Programs and their arguments as their manuals tell of them, with what must be decided about each."""

from __future__ import annotations

__all__ = [
    "BUILT_INTO_SHELLS",
    "CONTAINERS_DO",
    "CONTAINERS_LOOK",
    "DANGEROUS_ARGUMENTS",
    "DO_AS_THEY_ARE_TOLD",
    "GIT_OPTIONS",
    "GIT_RUNS",
    "GIT_SHOWS",
    "HARMLESS_ARGUMENTS",
    "INSTALLS",
    "LEAVE_FILES_ALONE",
    "LOOKS_AT_PACKAGES",
    "MAKE_LINKS",
    "REFUSED_OPTIONS",
    "SHELLS",
    "WRAPPED",
    "WRITE",
]  # fmt: skip

DO_AS_THEY_ARE_TOLD = (
    # another user, another root, another set of limits
    *["su", "runuser", "pkexec", "run0", "machinectl", "chroot", "unshare", "nsenter", "setarch", "setpriv", "capsh", "prlimit", "taskset", "chrt", "numactl", "cpulimit", "firejail", "fakeroot"],
    # what watches or repeats the command it is given
    *["watch", "entr", "parallel", "flock", "systemd-run", "caffeinate", "script", "expect", "unbuffer", "rlwrap", "logsave", "run-parts", "start-stop-daemon", "start", "at", "batch", "crontab"],
    *["strace", "ltrace", "gdb", "lldb", "dtrace", "perf", "valgrind", "ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "proxychains", "torsocks"],
    # other machines
    *["ssh", "sftp", "socat", "nc", "ncat", "netcat", "telnet", "ftp", "lftp"],
    # editors, consoles and desktops, which wait for keys
    *["vi", "vim", "nvim", "vimdiff", "view", "ex", "ed", "emacs", "emacsclient", "nano", "pico", "micro", "tmux", "screen", "fzf", "xdg-open", "open"],
    # languages of their own with a way to the shell
    *["gnuplot", "sqlite3", "psql", "mysql", "mariadb", "duckdb", "mlr", "dc", "irb", "scapy"],
    # the system
    *["dbus-send", "gdbus", "ip", "systemctl", "mount", "umount", "trap", "exec", "coproc"],
)  # fmt: skip

SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "eval")

# bash(1), "Shell builtin commands", without those that only print or test.
BUILT_INTO_SHELLS = [".", "alias", "bind", "compgen", "complete", "compopt", "coproc", "declare", "disown", "enable", "exec", "export", "fc", "getopts", "hash", "history", "let", "local", "mapfile", "read", "readarray", "readonly", "set", "shopt", "source", "trap", "typeset", "ulimit", "umask", "unalias", "unset", "wait"]  # fmt: skip

WRAPPED = (
    ("command", "command"), ("builtin", "builtin"), ("nohup", "nohup"), ("nice", "nice"), ("nice", "nice -5"), ("nice", "nice -n 5"), ("nice", "nice -n5"), ("nice", "nice --adjustment=5"),
    ("nice", "nice --adjustment 5"), ("ionice", "ionice -c 3"), ("ionice", "ionice -tc3 -n7"), ("ionice", "ionice --class idle --classdata=2 --ignore"), ("timeout", "timeout 5"),
    ("timeout", "timeout -v -k 1 -s KILL 5"), ("timeout", "timeout --foreground --preserve-status --verbose --signal=KILL --kill-after 2 5"), ("timeout", "timeout -- 5"), ("stdbuf", "stdbuf -oL -e 0 -i0"),
    ("stdbuf", "stdbuf --input=0 --output=L --error 0"), ("setsid", "setsid -w -f"), ("setsid", "setsid --wait --fork"), ("time", "time -p"), ("time", "time"), ("env", "env"), ("env", "env LANG=C"),
    ("env", "env -0 --null"), ("sudo", "sudo"), ("sudo", "sudo -n -E -H"), ("sudo", "sudo -u anna -g users"), ("sudo", "sudo --user=anna --group users --non-interactive --preserve-env --set-home"), ("doas", "doas -n -u anna"),
    ("doas", "doas"), ("busybox", "busybox"), ("toybox", "toybox"), ("command", "command --"), ("sudo", "sudo LANG=C"),
    ("xargs", "find . -type f -print0 | xargs -0"), ("xargs", "find . -type f -print0 | xargs -0rt -n 1 -P2 -L 3 -s9"),
    ("xargs", "find . -type f -print0 | xargs --null --no-run-if-empty --verbose --max-args=1 --max-procs 2 --max-lines=1 --max-chars 9"),
)  # fmt: skip
"""Programs that run the command behind them, with options that change nothing about it."""

REFUSED_OPTIONS = (
    "nice --adjustmen 5 ls", "nice -x ls", "nice - ls", "nohup --x ls", "timeout -z 5 ls", "timeout --foreground=x 5 ls", "timeout 5", "timeout -- 5", "timeout", "timeout -s KILL 5", "stdbuf -o",
    "setsid -c ls", "time -o x ls", "env -u x ls", "env -i ls", "env - ls", "env -C . ls", "env -S ls", "env PATH=x ls", "env PATH+=x ls", "sudo PATH=x ls", "sudo -s ls", "sudo -i ls", "sudo -p x ls", "sudo --prompt x ls",
    "doas -s ls", "doas -C x ls", "nohup", "setsid", "stdbuf -oL", "ionice -c 3", "sudo", "doas", "busybox", "builtin", "xargs -I x ls", "xargs -a x ls", "sudo -u", "LANG=C nohup", "nice -n 5 PATH=x ls", "command PATH=x ls",
    "timeout -k 1 ls", "timeout 5 5 ls", "nohup nohup nohup nohup nohup nohup ls", "timeout 5 cd x",
)  # fmt: skip
"""Under a rule for each of them and for ``ls``."""

# What of each program writes a file, runs another program, goes elsewhere or follows links: by its manual, whole or short.
DANGEROUS_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "find": ("-L", "-H", "-follow", "-delete", "-ok", "-okdir", "-execdir", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"),
    "fd": ("-x", "-X", "-L", "--follow", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "-L", "--follow", "--exec=x", "--exec-batch"),
    "rg": ("-z", "-L", "--follow", "--pre", "--pre=x", "--hostname-bin=x", "--search-zip"),
    "ag": ("-f", "--follow", "--pager=x"),
    "ack": ("--follow", "--pager=x", "--ackrc=x"),
    "sort": ("-o", "-ox", "-T", "--output=x", "--outp=x", "--compress-program=x", "--temporary-directory=x", "--files0-from=x"),
    "shuf": ("-o", "--output=x"),
    "date": ("-s", "-f", "--set=x", "--file=x", "01020304"),
    "split": ("--filter=x",),
    "diff": ("-l", "--paginate", "--output=x", "-r", "--recursive", "-ur"),
    "sdiff": ("-o", "--output=x", "--diff-program=x"),
    "diff3": ("--diff-program=x",),
    "tree": ("-o", "-R", "-l", "--output=x"),
    "ls": ("-L", "--dereference"),
    "ptx": ("-G", "--traditional"),
    "ss": ("-D", "-K", "-F", "--diag=x", "--kill", "--filter=x"),
    "journalctl": ("--vacuum-size=1", "--vacuum-time=1", "--vacuum-files=1", "--rotate", "--flush", "--cursor-file=x", "--relinquish-var", "--smart-relinquish-var", "--update-catalog", "--setup-keys"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep"), ("-R", "-nR", "--dereference-recursive")),
    **dict.fromkeys(("nm", "objdump", "readelf", "size", "strings", "addr2line", "ar", "ranlib", "strip", "gcc", "g++", "cc", "ld", "javac"), ("--plugin=x", "--plugin", "@x")),
    **dict.fromkeys(("xz", "unxz", "xzcat", "lzcat", "lzma", "unlzma"), ("--files=x", "--files0=x")),
    **dict.fromkeys(("apt", "apt-get", "apt-cache", "apt-config", "aptitude"), ("-o", "-c", "--option=x", "--config-file=x")),
    "file": ("-C", "-m", "-f", "--compile", "--magic-file=x", "--files-from=x"),
    "xxd": ("-r", "--revert"),
    "iconv": ("-o", "--output=x"),
    "yq": ("-i", "-s", "--inplace", "--in-place", "--split-exp", "--split-exp-file=x", "-f", "--from-file=x"),
    **dict.fromkeys(("jq", "gojq", "jaq"), ("-L", "--library-path=x", "-f", "--from-file=x", "env(1)", "import \"x\" as $x; 1")),
    "wc": ("--files0-from=x",),
    "du": ("-L", "-D", "-H", "--files0-from=x", "--dereference"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum"), ("-c", "--check")),
    "xmllint": ("--output", "-o", "--shell", "--noent", "--xinclude", "--loaddtd", "--path", "--schematron", "--catalogs", "--dropdtd", "--load-trace", "--encode", "--html"),
    "exiftool": ("-if", "-config", "-p", "-o", "-w", "-execute", "-@", "-stay_open", "-d", "-api", "-geotag", "-a=b"),
    "nvidia-smi": ("-f", "-p", "-r", "-c", "-e", "-l", "-x", "--filename=x", "--gpu-reset", "--persistence-mode=1", "--power-limit=1", "--compute-mode=1", "--ecc-config=1", "--lock-gpu-clocks=1", "--lock-memory-clocks=1", "--applications-clocks=1"),
    "docker ps": ("-H", "-c", "--config=x", "--host=x", "--context=x", "--tlskey=x"),
    "podman ps": ("--connection=x", "--url=x", "--hooks-dir=x", "--runtime=x", "--conmon=x", "--module=x"),
    **dict.fromkeys(("kubectl get", "oc get"), ("-s", "--kubeconfig=x", "--server=x", "--token=x", "--profile-output=x", "--cache-dir=x")),
    **dict.fromkeys(("pip list", "pip3 list"), ("-o", "-u", "--outdated", "--uptodate", "--python=x", "--log=x", "--report=x", "--cache-dir=x", "--cert=x", "--client-cert=x", "--src=x", "--target=x", "--root=x", "--prefix=x")),
    "uv tree": ("-p", "--python=x", "--config-file=x", "--directory=x", "--project=x", "--output-file=x", "--cache-dir=x"),
    "npm test": ("--script-shell=x", "--shell=x", "--userconfig=x", "--globalconfig=x", "--prefix=x", "--editor=x", "--viewer=x", "--browser=x", "--node-options=x", "--cache=x"),
    "go vet": ("-toolexec=x", "-exec", "--vettool=x", "-overlay=x", "-modfile=x", "-o", "-C", "-coverprofile=x", "-cpuprofile=x", "-memprofile=x", "-outputdir=x"),
    "cargo check": ("-C", "--config=x", "--manifest-path=x", "--target-dir=x", "--artifact-dir=x", "--fix"),
    "mypy": ("--python-executable=x", "--junit-xml=x", "--install-types", "--html-report=x", "--txt-report=x", "--xml-report=x", "--any-exprs-report=x", "--cache-dir=x", "--config-file=x"),
    "pylint": ("--init-hook=x", "--load-plugins=x", "--output=x", "--rcfile=x"),
    "flake8": ("--output-file=x", "--tee", "--config=x", "--append-config=x"),
    "dot": ("-o", "-O"),
    "pandoc": ("-o", "-F", "-L", "-d", "--output=x", "--filter=x", "--lua-filter=x", "--defaults=x", "--extract-media=x", "--data-dir=x", "--pdf-engine=x", "--log=x"),
    "bat": ("--pager=x", "--config-file", "--diagnostic", "--generate-config-file", "cache"),
    "ps": ("e", "auxe", "E"),
    "printf": ("-v", "%n", "%5hn"),
    **dict.fromkeys(("test", "["), ("-v", "-R")),
    "cd": ("-", "+1", "-P"),
    "pushd": ("-n", "+1"),
    "sed": ("-i", "-f", "--in-place", "w x", "1e ls", "--file=x"),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), ("-f", "-i", "--file=x", "BEGIN{system(1)}", "{print > \"x\"}", "{getline x}")),
    "rsync": ("-e", "-T", "--rsh=x", "--rsync-path=x", "--log-file=x", "--daemon", "--config=x", "--temp-dir=x", "--partial-dir=x", "--backup-dir=x", "--write-batch=x", "--only-write-batch=x", "--files-from=x", "--password-file=x", "--copy-as=x", "--remote-option=x"),
    "scp": ("-S", "-F", "-o", "-J", "-D", "-P"),
    "zip": ("-T", "-O", "-b", "-m", "-o", "--test", "--unzip-command=x", "--output-file=x", "--out=x", "--temp-path=x", "--move", "--logfile-path=x"),
    "unzip": ("-:",),
    "7z": ("-ox", "-wx", "-i@x", "-i!x", "-x@x"),
    "cpio": ("--rsh-command=x", "--to-stdout"),
    "wget": ("-O", "-o", "-a", "-P", "-i", "-e", "-B", "-r", "-m", "--output-document=x", "--output-file=x", "--append-output=x", "--directory-prefix=x", "--input-file=x", "--execute=x", "--use-askpass=x", "--config=x", "--post-file=x", "--body-file=x",
             "--save-cookies=x", "--background", "--rejected-log=x", "--warc-file=x", "--warc-tempdir=x", "--warc-cdx", "--ca-certificate=x", "--private-key=x", "--load-cookies=x", "--delete-after", "--recursive", "--mirror"),
    "ruff check": ("-o", "--fix", "--unsafe-fixes", "--output-file=x", "--add-noqa", "--config=x"),
    "jupyter nbconvert": ("--execute", "--output=x", "--output-dir=x", "--inplace", "--to=x", "--config=x", "--post=x", "--ServePostProcessor.open_in_browser=True", "--NbConvertApp.writer_class=x", "--allow-errors"),
    "openssl x509": ("-out", "-engine", "-provider", "-keyout", "-writerand", "-config"),
    "iptables": ("--modprobe=x",),
    "dmesg": ("-C", "-c", "-D", "-E", "-n", "--clear", "--read-clear", "--console-off", "--console-on", "--console-level=1"),
    "hostname": ("-F", "--file=x", "name"),
    "less": ("-o", "--log-file=x", "+x", "-k"),
    "more": ("+/x", "--x"),
    "man": ("-P", "--pager=x", "./x"),
    "tar": ("-I", "--to-command=x", "--checkpoint-action=x", "IxX", "host:x", "-P", "-T"),
    "curl": ("-o", "--output=x", "-d", "--data=x", "-T", "-K", "file:///x", "gopher://x"),
}  # fmt: skip

# What stays allowed of the same programs, and what else gives them their second file.
HARMLESS_ARGUMENTS = (
    "find . -maxdepth 1 -name x", "fd -e py x", "fdfind x", "rg -n --hidden x", "ag -i x", "ack -i x", "sort -k 2 -n --reverse f", "shuf -n 5 f", "date +%F", "date --utc", "split -l 5 f", "diff -u f g", "sdiff -s f g", "diff3 f g h",
    "tree -L 2 -a", "ls -la --color=never", "ss -tln", "grep -rn --include=x y .", "nm -C f", "xz -l f", "apt-cache policy x", "file -b f", "uniq -c f", "uniq -- f", "xxd -", "iconv -f latin1 f", "yq .a f", "jq -r .a f",
    "jq --raw-output .environment f", "wc -l --words f", "du -sh --apparent-size f", "sha256sum f", "xmllint --format f", "nvidia-smi", "docker ps", "docker ps -a", "docker images --quiet", "kubectl get pods --all-namespaces", "pip list --format=json",
    "npm test --silent", "go vet ./...", "cargo check --release", "mypy --strict src", "pylint --disable=x src", "flake8 --count src", "pandoc --standalone f", "bat -p f", "ps aux", "ps -ef", "printf %s x", "test -f x", "cd data",
    "sed -n 1,5p f", "awk -F, -v x=1 1 f", "rsync -a --dry-run f data", "zip -r o.zip f", "unzip -l f", "wget -q http://x/y", "ruff check --select=E f", "openssl x509 -in f -text", "dmesg -T --level=err", "hostname", "hostname -I", "less -N f", "more -d f",
    "man -k ls", "tar tf f", "tar -xzf f -C data", "tar --list --file=f", "curl -sS --max-time 5 http://x/y", "curl -H a:b -m 5 https://x/y", "curl --header a:b -A me http://x/y", "curl --user-agent me --retry 2 --connect-timeout 3 http://x/y",
    "diff -r --no-dereference data data", "tree --dirsfirst", "git log", "exiftool f", "dot -Tsvg f", "jupyter nbconvert --stdin f", "curl --max-time 5 --location http://x/y",
    "cp f g", "sed -e p -n f", "tar czf o.tgz data", "du -h --max-depth=1", "jq -- .a f",
)  # fmt: skip

# git(1) and gitprotocol: subcommands that run programs they are given, or steer what is run later.
GIT_RUNS = ["bisect", "rebase", "submodule", "filter-branch", "config", "difftool", "mergetool", "daemon", "send-email", "hook", "for-each-repo", "instaweb", "credential", "shell", "maintenance", "archive", "upload-pack", "receive-pack", "upload-archive", "http-backend", "web--browse", "cvsserver", "svn", "p4", "fast-import", "filter-repo", "var", "gui", "citool", "credential-cache", "credential-store", "remote-ext", "remote-fd", "imap-send", "request-pull", "fsmonitor--daemon", "mergetool--lib", "quiltimport", "lfs", "annex", "flow", "update-index", "scalar", "merge-index", "merge-one-file", "merge-octopus", "merge-resolve", "diagnose", "bugreport"]  # fmt: skip
GIT_OPTIONS = (
    "log --output=x", "format-patch --output-directory=x", "diff --ext-diff", "diff --textconv", "cat-file --filters", "push --exec=x", "fetch --upload-pack=x", "push --receive-pack=x", "log --config-env=x", "grep --open-files-in-pager=x",
    "log --git-dir=x", "log --work-tree=x", "log --exec-path=x", "diff --extcmd=x", "interpret-trailers --in-place", "fetch --remote=x", "log --tree-filter=x", "log --super-prefix=x", "log --attr-source=x", "init --template=x",
    "init --separate-git-dir=x", "clone --config=x", "clone -u x", "clone -cx", "format-patch -o x", "grep -Ox y", "clone ext::x", "fetch fd::3", "-c x=y log", "--git-dir=x log", "-C data log", "--version --exec-path=x", "-p log", "-p", "--html-path", "--exec-path=x",
)  # fmt: skip

GIT_SHOWS = (
    "--no-pager", "clone -q cu gu", "--version", "--help", "-h", "-v", "--no-pager log", "-P log", "--no-optional-locks log", "--literal-pathspecs log", "grep --text x", "branch --remotes", "log --remotes", "log -- f", "clone -q f g", "log -c", "log -u", "diff -U5", "log -o",
)  # fmt: skip

CONTAINERS_LOOK = ["ps", "images", "logs", "inspect", "version", "info", "stats", "top", "port", "history", "diff", "events", "get", "describe", "explain", "cluster-info", "api-resources"]  # fmt: skip
CONTAINERS_DO = ("run x", "exec x ls", "cp a b", "build .", "rm x", "apply -f x", "delete x", "compose up")

# Which of their arguments are files they change, told by a file outside.
WRITE = (
    "rm ../x", "rmdir ../x", "mv f ../x", "cp f ../x", "tee ../x", "touch ../x", "chmod 600 ../x", "chown me ../x", "chgrp me ../x", "dd of=../x", "ln -s f ../x", "truncate -s 0 ../x", "mkdir ../x", "install f ../x", "rsync f ../x", "scp f ../x",
    "shred ../x", "unlink ../x", "tar -xf f -C../x", "unzip f -d../x", "zip ../x f", "gzip ../x", "gunzip ../x", "curl -o../x y", "wget -P../x y", "mkfs ../x", "mount f ../x", "umount ../x", "patch ../x", "split f ../x", "csplit f ../x", "sponge ../x",
    "cd ../x", "pushd ../x", "cp -t../x f", "cp --target-directory=../x f", "git worktree add ../x", "git clone f ../x", "git init ../x", "git mv f ../x", "git rm ../x", "git bundle create ../x", "git format-patch ../x",
    "git --no-pager init ../x", "7z -O../x f",
)[:-1]  # fmt: skip

# Which commands install, change or fetch packages.
INSTALLS = (
    "pip install x", "pip3 install x", "pip3.12 uninstall x", "/x/bin/pip install x", "pipx install x", "uv pip install x", "uv add x", "uvx x", "conda create x", "mamba update x", "micromamba remove x", "poetry add x", "pdm sync", "rye sync",
    "pixi add x", "easy_install install x", "python -m pip install x", "python3 -m pip download x", "python3.12 -Im pip wheel x", "py -m pip x", "npx x", "bunx x", "pnpx x", "pnpm dlx x", "yarn dlx x", "pipx run x", "npm install", "npm i x", "pnpm add x", "yarn",
    "jlpm", "bun", "jlpm add x", "cnpm ci", "npm --silent update", "apt install x", "apt-get remove x", "aptitude purge x", "dnf upgrade", "yum update", "apk add x", "pacman -Syu", "zypper remove x", "brew install x", "snap install x", "flatpak install x",
    "port install x", "choco install x", "winget install x", "nix-env -i x", "guix install x", "dpkg -i x", "rpm -U x", "cargo install x", "go get x", "gem install x", "luarocks install x", "cpan install x", "cpanm install x", "opam install x", "cabal update",
    "stack install x", "dotnet add x", "composer require x", "bundle update", "R -e install.packages", "jupyter labextension install x", "jupyter serverextension uninstall x",
)  # fmt: skip

LOOKS_AT_PACKAGES = (
    "pip list",
    "pip show x",
    "npm test",
    "npm run build",
    "cargo build",
    "go test",
    "apt list",
    "conda list",
    "python x.py",
    "yarn test",
    "uv tree",
    "jupyter lab",
)

MAKE_LINKS = (
    "tar xf f",
    "bsdtar xf f",
    "unzip f",
    "7z x f",
    "cpio -i",
    "ln -s data g",
    "cp -a data g",
    "mv data g",
    "rsync -a data g",
    "patch -p1",
    "install f g",
    "git checkout x",
    "git --no-pager pull",
    "nice tar xf f",
)
LEAVE_FILES_ALONE = (
    *(f"git {name}" for name in ["log", "diff", "show", "status", "branch", "blame", "ls-files", "ls-tree", "grep", "rev-parse", "describe", "shortlog", "reflog", "remote", "cat-file", "merge-base", "rev-list", "tag", "count-objects", "check-ignore", "add", "commit", "push", "fetch", "name-rev", "for-each-ref", "--version", "whatchanged", "notes", "cherry"]),
    "git config --get x", "git var x", "git --no-pager log", "tar tf f", "tar -tvf f", "tar --list -f f", "bsdtar tf f", "unzip -l f", "unzip -v f", "rm g",
)  # fmt: skip
