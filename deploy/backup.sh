#!/bin/bash
# Makes a backup every 24 hours and restores it into a separate database. Keeps the 14 newest that could be restored.
# Copy them to another machine.
set -euo pipefail
# Nobody else on the machine may read a backup.
umask 077
export PGHOST=database PGUSER=tradetill_owner PGPASSWORD
PGPASSWORD="$(cat /run/secrets/owner_password)"
# Prints the number of ledger entries in a database, and the sum of their amounts.
totals() { psql -X -At -F ', ' -d "$1" -c 'select count(*), coalesce(sum(amount), 0) from ledger_entry'; }
while true; do
  file="/backups/tradetill-$(date -u +%Y%m%dT%H%M%SZ).dump"
  if pg_dump -Fc -d tradetill -f "$file.part" \
    && dropdb --if-exists restored && createdb restored \
    && pg_restore --exit-on-error -d restored "$file.part" && restored="$(totals restored)"; then
    mv "$file.part" "$file"
    echo "backup $file made and restored. Ledger entries and their sum: $restored; in the till now: $(totals tradetill)"
    find /backups -name 'tradetill-*.dump' | sort | head -n -14 | xargs -r rm
  else
    echo "backup $file FAILED: pg_dump or the restore ended with an error" >&2
    rm -f "$file.part"
  fi
  # The restored database is on the same disk as the till's own, and could fill it.
  dropdb --if-exists restored || true
  sleep 86400
done
