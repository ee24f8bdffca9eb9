#!/bin/sh
# Run once, as root. It makes two roles and their database in the PostgreSQL of this machine. It writes the addresses of
# the database, the master key and, unless they exist, the settings into /etc/tradetill, or into the folder given as the
# argument. The generated passwords have only characters that need no encoding in an address.
set -eu
umask 077
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-/etc/tradetill}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
at="127.0.0.1:${PGPORT:-5432}"
if [ -e "$folder/master.key" ]; then
  echo "$folder/master.key exists, so the database was set up before. Nothing was changed." >&2
  exit 1
fi
cd /
if [ "$(runuser -u postgres -- psql -X -A -t -c \
  "select 1 from pg_roles where rolname in ('tradetill_owner', 'tradetill_app') limit 1")" ]; then
  echo "PostgreSQL has the role tradetill_owner or tradetill_app already. Nothing was changed." >&2
  echo "If an earlier run stopped halfway, drop the database tradetill if it is still empty, then both roles, and run this again:" >&2
  echo "runuser -u postgres -- dropuser --if-exists tradetill_app" >&2
  echo "runuser -u postgres -- dropuser --if-exists tradetill_owner" >&2
  exit 1
fi
owner=$(openssl rand -hex 24)
app=$(openssl rand -hex 24)
runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 --single-transaction <<SQL
create role tradetill_owner login createdb password '$owner';
create role tradetill_app login password '$app';
SQL
runuser -u postgres -- createdb --owner=tradetill_owner tradetill
mkdir -p "$folder"
echo "postgres://tradetill_app:$app@$at/tradetill" > "$folder/database_url"
echo "postgres://tradetill_owner:$owner@$at/tradetill" > "$folder/owner_database_url"
[ -e "$folder/env" ] || cp "$here/../.env.example" "$folder/env"
# Last, because a later run of install.sh takes the key as the sign that everything above is done.
openssl rand -base64 32 > "$folder/master.key"
echo "$folder has the key, the addresses of the database, and env: edit what says EDIT there."
