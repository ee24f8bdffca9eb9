#!/bin/bash
# The container of PostgreSQL runs this once, when it creates the database. It makes the till's role, which owns no
# table.
set -euo pipefail
psql --no-psqlrc -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/app_password)" \
  -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
create role tradetill_app login password :'password';
SQL
