#!/usr/bin/env bash
# Makes sure of the programs tests need that come from neither PyPI nor npm: a Chromium, fonts that show Korean and
# Japanese, and on Linux a real Secret Service, what makes a file system that clones files, PostgreSQL, and MariaDB.
# The tests with pgvector are left out where this system has no package of it.
set -euo pipefail
here=$(dirname "$0")

missing=()
if [ "$(uname)" = Darwin ]; then
  if ! python "$here/find_chromium.py" >/dev/null; then
    command -v brew >/dev/null 2>&1 || { echo "Install Google Chrome or Chromium, then run make again." >&2; exit 1; }
    brew install --cask chromium
  fi
  exit 0
fi

python "$here/find_chromium.py" >/dev/null 2>&1 || missing+=(chromium)
command -v gnome-keyring-daemon >/dev/null 2>&1 || missing+=(gnome-keyring)
command -v dbus-run-session >/dev/null 2>&1 || missing+=(dbus dbus-daemon)
PATH=$PATH:/usr/sbin:/sbin command -v mkfs.xfs >/dev/null 2>&1 || missing+=(xfsprogs)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null 2>&1 || missing+=(postgresql)
PATH=$PATH:/usr/sbin command -v mariadbd >/dev/null 2>&1 || missing+=(mariadb-server-core)
fc-list :lang=ko 2>/dev/null | grep -q . || missing+=(fontconfig fonts-noto-cjk)
if ! compgen -G '/usr/lib/postgresql/*/lib/vector.so' >/dev/null && command -v apt-cache >/dev/null 2>&1; then
  # Debian and Ubuntu have one PostgreSQL, and some of their releases have pgvector for it.
  missing+=($(apt-cache search --names-only '^postgresql-[0-9]+-pgvector$' | cut -d' ' -f1 | tail -n1))
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "Tests need: ${missing[*]} (Debian's names). Install them and run make again." >&2
  exit 1
fi
bash "$here/apt_install.sh" "${missing[@]}"
