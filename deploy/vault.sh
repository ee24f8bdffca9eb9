#!/bin/sh
# As root, once, on the machine of the database: makes the user of the vault, its folder, its role in the PostgreSQL of this
# machine, its settings, and the command tradetill-vault, which works as that user.
set -eu
umask 077
folder=/etc/tradetill-vault
if [ -e "$folder/env" ]; then
  echo "$folder/env is there: this was done before. Nothing was changed." >&2
  exit 1
fi
password=$(openssl rand -hex 24)
cd /
useradd --system --home-dir /var/lib/tradetill-vault --shell /usr/sbin/nologin tradetill-vault
install -d -m 700 -o tradetill-vault -g tradetill-vault /var/lib/tradetill-vault
runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 <<SQL
create role tradetill_vault login password '$password';
SQL
install -d -m 750 -o root -g tradetill-vault "$folder"
cat > "$folder/env" <<ENV
TRADETILL_MODE=live
TRADETILL_VAULT=/var/lib/tradetill-vault
TRADETILL_VAULT_DATABASE_URL=postgres://tradetill_vault:$password@127.0.0.1:${PGPORT:-5432}/tradetill
ENV
chgrp tradetill-vault "$folder/env" && chmod 640 "$folder/env"
cat > /usr/local/bin/tradetill-vault <<'SH'
#!/bin/sh
exec setpriv --reuid=tradetill-vault --regid=tradetill-vault --clear-groups \
  node --env-file=/etc/tradetill-vault/env /opt/tradetill/vault/main.ts "$@"
SH
chmod 755 /usr/local/bin/tradetill-vault
echo "$folder/env has the settings of the vault. Its commands: tradetill-vault --help"
