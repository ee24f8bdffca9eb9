#!/bin/bash
# Makes a backup every night, and restores it into a separate database before it counts. Keeps 14. Copy them to another
# machine.
set -euo pipefail
export PGHOST=database PGUSER=tradetill_owner PGPASSWORD
PGPASSWORD="$(cat /run/secrets/owner_password)"
count() { psql -X -At -d "$1" -c 'select count(*), coalesce(sum(amount), 0) from ledger_entry'; }
while true; do
  file="/backups/tradetill-$(date -u +%Y%m%dT%H%M%SZ).dump"
  if pg_dump -Fc -d tradetill -f "$file.part" \
    && dropdb --if-exists restored && createdb restored \
    && pg_restore --exit-on-error -d restored "$file.part" && restored="$(count restored)"; then
    mv "$file.part" "$file"
    echo "backup $file restored: $restored entries and their sum, $(count tradetill) in the till by now"
    dropdb restored
    find /backups -name 'tradetill-*.dump' | sort | head -n -14 | xargs -r rm
  else
    echo "backup $file FAILED: it could not be made or not be restored" >&2
  fi
  sleep 86400
done
