#!/bin/sh
# Run every night, as root: makes a backup, and checks a restored copy of it. Keeps the 14 newest backups, and the two
# newest damaged ones. Copy the backups to another machine.
set -eu
umask 077
folder=${1:-/var/backups/tradetill}
till=${2:-/usr/local/bin/tradetill}
mkdir -p "$folder"
# Files of killed runs would stay forever.
find "$folder" -name 'tradetill-*.dump.partial' -mtime +1 -exec rm {} +
"$till" backup create --to "$folder"
newest=$(ls -t "$folder"/tradetill-*.dump | head -n 1)
code=0
"$till" backup check "$newest" || code=$?
if [ "$code" -eq 7 ]; then
  # Certainly damaged. Under its own name it would count as one of the 14, and push a good backup out.
  mv "$newest" "$newest.failed"
  echo "The backup is damaged. It is kept as $newest.failed" >&2
elif [ "$code" -ne 0 ]; then
  echo "The backup could not be checked. It stays as $newest" >&2
fi
ls -t "$folder"/tradetill-*.dump | tail -n +15 | xargs -r rm
find "$folder" -name 'tradetill-*.dump.failed' | sort -r | tail -n +3 | xargs -r rm
exit "$code"
