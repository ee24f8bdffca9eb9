#!/bin/sh
# Run once, as root. It makes a user for the vault, two folders, settings, the command tradetill-vault, which runs as that
# user, and a role in the PostgreSQL of this machine. With the argument `elsewhere`, for a database on another machine,
# it makes no role, and the address of the database must be edited in the settings.
set -eu
umask 077
root=${DESTDIR:-}
folder=$root/etc/tradetill-vault
if [ -e "$folder/env" ]; then
  echo "$folder/env exists, so the vault was set up before. Nothing was changed." >&2
  exit 1
fi
cd /
case "${1:-here}" in
here)
  if [ "$(runuser -u postgres -- psql -X -A -t -c "select 1 from pg_roles where rolname = 'tradetill_vault'")" ]; then
    echo "PostgreSQL has the role tradetill_vault already. Nothing was changed." >&2
    echo "If the vault works on another machine, run this there, with the argument elsewhere. If an earlier run stopped halfway," >&2
    echo "remove the role and run this again: runuser -u postgres -- dropuser tradetill_vault" >&2
    exit 1
  fi
  password=$(openssl rand -hex 24)
  runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 <<SQL
create role tradetill_vault login password '$password';
SQL
  address="postgres://tradetill_vault:$password@127.0.0.1:${PGPORT:-5432}/tradetill"
  ;;
elsewhere) address='postgres://tradetill_vault:PASSWORD@db.example/tradetill?sslmode=verify-full' ;;
*)
  echo "usage: sh vault.sh [elsewhere]" >&2
  exit 2
  ;;
esac
id tradetill-vault > /dev/null 2>&1 \
  || useradd --system --home-dir /var/lib/tradetill-vault --shell /usr/sbin/nologin tradetill-vault
install -d -m 700 -o tradetill-vault -g tradetill-vault "$root/var/lib/tradetill-vault"
install -d -m 750 -o root -g tradetill-vault "$folder"
cat > "$root/usr/local/bin/tradetill-vault" <<'SH'
#!/bin/sh
exec setpriv --reuid=tradetill-vault --regid=tradetill-vault --clear-groups \
  node --env-file=/etc/tradetill-vault/env /opt/tradetill/vault/main.ts "$@"
SH
chmod 755 "$root/usr/local/bin/tradetill-vault"
cat > "$folder/env" <<ENV
TRADETILL_MODE=live
TRADETILL_VAULT=/var/lib/tradetill-vault
TRADETILL_VAULT_DATABASE_URL=$address
ENV
chgrp tradetill-vault "$folder/env" && chmod 640 "$folder/env"
echo "$folder/env has the settings of the vault. Its commands: tradetill-vault --help"
[ "${1:-here}" = here ] || echo "Edit the address of the database there: db.example and PASSWORD."
