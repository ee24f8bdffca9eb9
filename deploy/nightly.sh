#!/bin/sh
# Run every night, as root: makes a backup, and checks a restored copy of it. Keeps the 14 newest backups.
# Copy them to another machine.
set -eu
umask 077
folder=${1:-/var/backups/tradetill}
till=${2:-/usr/local/bin/tradetill}
mkdir -p "$folder"
"$till" backup create --to "$folder"
newest=$(ls -t "$folder"/tradetill-*.dump | head -n 1)
"$till" backup check "$newest"
ls -t "$folder"/tradetill-*.dump | tail -n +15 | xargs -r rm
