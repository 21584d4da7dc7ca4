#!/usr/bin/env bash
# Installs Debian packages as root or through sudo. Usage: apt_install.sh PACKAGE…
set -euo pipefail

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "These Debian packages are needed: $*. Ask whoever is root here to run: apt-get install $*" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing Debian packages: $*"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
