#!/bin/sh
# Back up what a hub keeps in one place, while everything runs: what the hub service counted, and the conversations.
#
#   backup.sh DATA TARGET
#
# DATA is the folder of `hdsp-agent hub --data`. TARGET gets a folder named by the time, and keeps the newest 14. Where
# PGDATABASE is set, the conversations of that PostgreSQL database are in it too.
set -eu
umask 077
data=$1 target=$2
[ -f "$data/usage.db" ] || { echo "$data has no usage.db" >&2; exit 1; }
folder=$target/$(date -u +%Y-%m-%dT%H%M%SZ)
part=$folder.part
trap 'rm -rf "$part"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$part"

# A copy of the file alone would lack what is not yet written into it.
python3 -c '
import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("VACUUM INTO ?", sys.argv[2:])
' "$data/usage.db" "$part/usage.db"
for log in "$data"/audit.jsonl*; do
    [ ! -e "$log" ] || cp -p "$log" "$part/"
done
if [ -n "${PGDATABASE:-}" ]; then
    # For a new database server: conversations belong to roles by their names. Only superusers may read passwords.
    pg_dumpall --roles-only --no-role-passwords --file="$part/roles.sql"
    pg_dump --format=custom --file="$part/conversations.dump"
fi

mv "$part" "$folder"
echo "$folder"

set -- "$target"/????-??-??T??????Z
while [ $# -gt 14 ]; do
    rm -r "$1"
    shift
done
