#!/bin/sh
# pg-dump.sh FOLDER: writes FOLDER/haulbridge-<time>.dump of DATABASE_URL, and keeps the newest fourteen (KEEP). Needs pg_dump of the
# version of the server, or a later one. docs/guides/backup.md has the restore.
set -eu

folder=${1:?the folder of the dumps}
: "${DATABASE_URL:?the address of the database}"
# pg_dump does not know the variable of the service.
[ -z "${DATABASE_CA:-}" ] || export PGSSLROOTCERT="$DATABASE_CA"
umask 077
mkdir -p "$folder"
name="$folder/haulbridge-$(date -u +%Y%m%dT%H%M%SZ).dump"

# A dump that was cut off never has the name of a whole one.
trap 'rm -f "$name.partial"' EXIT
pg_dump --format=custom --file="$name.partial" "$DATABASE_URL"
sync "$name.partial"
mv "$name.partial" "$name"

ls -1 "$folder"/haulbridge-*.dump | sort -r | tail -n "+$((${KEEP:-14} + 1))" | while read -r old; do rm -f "$old"; done
echo "$name"
