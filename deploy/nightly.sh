#!/bin/sh
# Run every night, as root: makes a backup, and checks a restored copy of it. Keeps the 14 newest backups, and the newest
# two that are damaged. Copy them to another machine.
set -eu
umask 077
folder=${1:-/var/backups/tradetill}
till=${2:-/usr/local/bin/tradetill}
mkdir -p "$folder"
# What an earlier run that was killed left would stay forever.
find "$folder" -name 'tradetill-*.dump.partial' -mtime +1 -exec rm {} +
"$till" backup create --to "$folder"
newest=$(ls -t "$folder"/tradetill-*.dump | head -n 1)
code=0
"$till" backup check "$newest" || code=$?
if [ "$code" -eq 7 ]; then
  # It is certainly bad. Under its name it would replace a good backup, and each night another one would fill the disk.
  mv "$newest" "$newest.failed"
  echo "The backup is damaged. It is kept as $newest.failed" >&2
elif [ "$code" -ne 0 ]; then
  echo "The backup could not be checked. It stays as $newest" >&2
fi
ls -t "$folder"/tradetill-*.dump | tail -n +15 | xargs -r rm
find "$folder" -name 'tradetill-*.dump.failed' | sort -r | tail -n +3 | xargs -r rm
exit "$code"
