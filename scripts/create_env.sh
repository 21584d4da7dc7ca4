#!/usr/bin/env bash
# Makes the isolated Python environment. Usage: create_env.sh FOLDER
set -euo pipefail
target=$1
# make puts the environment's own programs first; a broken environment must not be asked to make its successor.
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$PWD/$target/bin" | paste -sd: -)

is_new_enough() {
  "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2])' 2>/dev/null
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" >/dev/null 2>&1 && is_new_enough "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

if ! python=$(find_python); then
  echo "HDSP Agent needs Python 3.11 or newer and found none. Install one (on Debian: apt-get install python3 python3-venv;" >&2
  echo "on macOS: from python.org or with Homebrew) and run make again, or name one: make PYTHON=/path/to/python3 …" >&2
  exit 1
fi

# A pip that broke half-way leaves a folder without pip: start afresh rather than fail for ever.
rm -rf "$target"

# Debian ships Python without ensurepip; the package that has it is python3-venv.
if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
  if command -v apt-get >/dev/null 2>&1; then
    bash "$(dirname "$0")/apt_install.sh" python3-venv
  else
    echo "$python lacks the venv module; install it and run make again." >&2
    exit 1
  fi
fi

"$python" -m venv "$target"
"$target/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=24'
