#!/bin/sh
# Restore what backup.sh saved, while the hub service and people's servers are stopped.
#
#   restore.sh BACKUP DATA
#
# Nothing is overwritten: DATA must be an empty folder, and the database server must have no database of the same name.
# It must have people's roles already; roles.sql in the backup makes them.
set -eu
umask 077
backup=$1 data=$2
[ -f "$backup/usage.db" ] || { echo "$backup has no usage.db" >&2; exit 1; }
[ -d "$data" ] || { echo "$data is no folder" >&2; exit 1; }
[ -z "$(ls -A "$data")" ] || { echo "$data is not empty" >&2; exit 1; }

if [ -e "$backup/conversations.dump" ]; then
    pg_restore --create --exit-on-error --dbname=postgres "$backup/conversations.dump"
fi
for file in "$backup"/usage.db "$backup"/audit.jsonl*; do
    if [ -e "$file" ]; then
        cp "$file" "$data/"
        chown --reference="$data" "$data/${file##*/}"
    fi
done
