#!/bin/bash
# Runs once, when the database is made: makes the role that the till works with, which owns nothing.
set -euo pipefail
psql --no-psqlrc -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/app_password)" \
  -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
create role tradetill_app login password :'password';
SQL
