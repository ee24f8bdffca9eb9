#!/bin/sh
# Installs its own release on Debian or Ubuntu, or upgrades to it: packages, Node, database, settings, units, Caddy,
# the nightly backup and its first run. Run it as root, as often as you like: it does only the missing steps and prints
# each. It never replaces a file that you changed. Of the files of other programs, it replaces only those that are still
# as their Debian package installed them.
set -eu
umask 022

usage() {
  cat >&2 <<'TEXT'
usage: sh /opt/RELEASE/deploy/install.sh --host NAME --mail ADDRESS [--console NAME [--console-from RANGE]]
                                         [--without-proxy] [--check]
  --host NAME           the host name that shoppers see, such as pay.example
  --mail ADDRESS        the email address that the help page shows to shoppers
  --console NAME        a second host name, for the operators' console
  --console-from RANGE  the addresses that may open the console, such as 198.51.100.7;
                        default: private_ranges, which means every private network
  --without-proxy       for a proxy of your own
  --check               only print what would be done
Later runs need no options: they read the earlier values from the files that this script wrote.
TEXT
  exit 2
}

root=${DESTDIR:-}
folder=$root/etc/tradetill
settings=$folder/env
sums=$folder/installed.sha256
release=$(cd "$(dirname "$0")/.." && pwd -P)
host='' mail='' console='' console_from='' proxy=yes without_proxy_given='' check=''
while [ $# -gt 0 ]; do
  case $1 in
  --host | --mail | --console | --console-from)
    [ $# -ge 2 ] || usage
    case $1 in
    --host) host=$2 ;;
    --mail) mail=$2 ;;
    --console) console=$2 ;;
    --console-from) console_from=$2 ;;
    esac
    shift 2
    ;;
  --without-proxy) proxy='' && without_proxy_given=yes && shift ;;
  --check) check=yes && shift ;;
  *) usage ;;
  esac
done

# Later runs remember that another program is the proxy, and need no --without-proxy.
nginx=$root/etc/nginx/conf.d/tradetill.conf
caddyfile=$root/etc/caddy/Caddyfile
if [ -e "$nginx" ] || [ -e "$folder/without-proxy" ]; then proxy=''; fi

# Other users, such as caddy, read files in this folder.
work=$(mktemp -d)
chmod 755 "$work"
finish() {
  code=$?
  rm -rf "$work"
  [ $code -eq 0 ] || echo "Stopped, with code $code. Fix the cause above, and run this again: it continues from there." >&2
}
trap finish EXIT

stop() {
  printf '%s\n' "$@" >&2
  exit 1
}
say() { printf '%-6s %s\n' "$1" "$2"; }
# Prints, immediately and again at the end, a step that you must do yourself.
leave() {
  say 'YOU' "$1"
  printf '%s\n' "$1" >> "$work/left"
}
# act TEXT COMMAND…: prints the text and runs the command; with --check, only prints.
act() {
  if [ "$check" ]; then say would "$1" && return; fi
  say now "$1"
  shift
  "$@"
}

# A change makes a later step due. The step is first recorded in a file, so a run that stops in between leaves it to the
# next run.
due_file() { if [ "$check" ]; then echo "$work/$1.due"; else echo "$folder/$1.due"; fi; }
make_due() { for step in "$@"; do touch "$(due_file "$step")"; done; }
is_due() { [ -e "$(due_file "$1")" ] || [ -e "$folder/$1.due" ]; }
clear_due() { rm -f "$(due_file "$1")"; }
run_due() {
  is_due "$1" || return 0
  step=$1
  shift
  act "$@"
  clear_due "$step"
}

setting() { [ ! -e "$settings" ] || sed -n "s#^$1=##p" "$settings"; }

# ---- files

# True if the file is still as this script wrote it.
is_ours() { [ -e "$sums" ] && grep -qxF "$(sha256sum "$1")" "$sums"; }
# True if the file is still as its Debian package installed it.
is_of_package() {
  path=${1#"$root"}
  sum=$(md5sum < "$1" | cut -d ' ' -f 1)
  package=$(dpkg-query --search "$path" 2> /dev/null | cut -d : -f 1) || true
  [ "$package" ] && dpkg-query --show --showformat='${Conffiles}\n' "$package" | grep -qF "$path $sum"
}
record() {
  touch "$sums"
  { grep -v "  $1\$" "$sums" || true; } > "$work/sums"
  sha256sum "$1" >> "$work/sums"
  cp "$work/sums" "$sums"
}
write() {
  cp "$1" "$2"
  chmod "$3" "$2"
  record "$2"
}
# put SOURCE TARGET MODE [STEP…]: writes the target unless somebody else changed it. If it is written, the steps are due.
put() {
  from=$1 to=$2 mode=$3 verb=replace
  shift 3
  if [ ! -e "$to" ]; then
    verb=write
  elif cmp -s "$from" "$to"; then
    say there "$to"
    [ "$check" ] || record "$to"
    return
  elif ! is_ours "$to" && ! is_of_package "$to"; then
    act "write $to.new" cp "$from" "$to.new"
    leave "$to was changed, or was not written by this script: compare it with $to.new"
    return
  fi
  make_due "$@"
  act "$verb $to" write "$from" "$to" "$mode"
}

# ---- 1. the machine, the release and the options

examine() {
  [ "$(id -u)" = 0 ] || stop "Run this as root, for example after: sudo -i"
  command -v systemctl > /dev/null || stop "This machine has no systemd. docs/going-live.md has other ways to run a till."
  case $release in
  "$root"/opt/*) ;;
  *) stop "Unpack the release in /opt: the till cannot read $release." ;;
  esac
  (cd "$release" && sha256sum --check --quiet SHA256SUMS) || stop "Files of $release are missing or were changed: unpack it again."
  host=$(agreed --host "$host" TRADETILL_PUBLIC_URL pay.example)
  mail=$(agreed --mail "$mail" TRADETILL_SUPPORT_EMAIL help@pay.example)
  if [ "$console$(setting TRADETILL_CONSOLE_URL)" ]; then
    console=$(agreed --console "$console" TRADETILL_CONSOLE_URL till-ops.example)
  fi
  must_be_ranges "$console_from" --console-from
  [ "$console_from" ] || [ -z "$console" ] || [ -z "$proxy" ] || [ ! -e "$caddyfile" ] || read_range
  [ "$host" != "$console" ] || stop "The console needs a host name of its own, not that of the till."
}
must_be_ranges() {
  case $1 in
  *[!0-9A-Za-z.:/_\ ]*) stop "$2 must be addresses or ranges, such as 198.51.100.0/24." ;;
  esac
}
# Reads the addresses from the first @stranger line of the Caddyfile. The operator may have added a comment to it.
read_range() {
  console_from=$(sed -n '/^[[:space:]]*@stranger not remote_ip /{s///;s/[[:space:]]*#.*//;s/[[:space:]]*$//;p;q;}' "$caddyfile")
  must_be_ranges "$console_from" "Give --console-from: the addresses in the line @stranger of $caddyfile"
}

# agreed OPTION GIVEN NAME EXAMPLE: prints the value to use. Stops if the option contradicts the settings file.
agreed() {
  known=$(setting "$3")
  known=${known#https://}
  case $known in
  *[!A-Za-z0-9.@_+-]*) stop "$settings: write $3 once, and as in .env.example: no quotes, port, path or slash at the end." ;;
  "$4") known='' ;;
  esac
  value=${2:-$known}
  case $value in
  '' | "$4") stop "Give $1 a value of your own, such as $4." ;;
  *[!A-Za-z0-9.@_+-]*) stop "$1 has a character that does not belong there." ;;
  esac
  [ -z "$known" ] || [ "$known" = "$value" ] ||
    stop "$settings says $known, and $1 says $value. Edit the file if the value has changed, and run this again."
  printf '%s' "$value"
}

# ---- 2. programs

has_node() {
  major=$(PATH="$root/usr/local/bin:$root/usr/bin" node --version 2> /dev/null | sed 's/^v\([0-9]*\).*/\1/')
  [ "${major:-0}" -ge 24 ]
}
install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  # A new machine may be upgrading itself, so wait.
  apt-get -o DPkg::Lock::Timeout=300 update -qq
  apt-get -o DPkg::Lock::Timeout=300 install --yes -qq "$@"
}
programs() {
  missing=''
  if [ -e "$folder/master.key" ]; then
    command -v pg_dump > /dev/null || missing=postgresql-client
  else
    command -v pg_lsclusters > /dev/null || missing=postgresql
  fi
  for each in curl:curl xz:xz-utils openssl:openssl; do
    command -v "${each%%:*}" > /dev/null || missing="$missing ${each#*:}"
  done
  if [ "$proxy" ] && ! command -v caddy > /dev/null; then
    [ -z "$(ss -ltnH '( sport = :80 or sport = :443 )')" ] ||
      stop "Something listens on port 80 or 443 already: ss -ltnp shows it. Remove it, or give --without-proxy."
    missing="$missing caddy"
  fi
  if [ "$missing" ]; then
    command -v apt-get > /dev/null || stop "Install these yourself, because this machine has no apt-get: $missing"
    # shellcheck disable=SC2086 # one word for each package
    act "install the packages $missing" install_packages $missing
  else
    say there 'all packages'
  fi
  if has_node; then say there 'Node 24 or newer'; else act 'install Node 24 from nodejs.org into /usr/local' sh "$release/deploy/node.sh"; fi
}

# ---- 3. database and settings

find_port() {
  [ -z "${PGPORT:-}" ] || return 0
  PGPORT=$(pg_lsclusters --no-header | awk '$4 ~ /^online/ { print $3 }')
  case $PGPORT in
  '') stop "No PostgreSQL cluster is running: pg_lsclusters lists all clusters." ;;
  *[!0-9]*) stop "Several PostgreSQL clusters are running. Choose one by its port: PGPORT=5432 sh $0 …" ;;
  esac
  export PGPORT
}
make_database() {
  find_port
  sh "$release/deploy/database.sh" "$folder" > /dev/null
}
# set_example NAME EXAMPLE VALUE: sets the value if the file still has the example's value.
set_example() {
  if [ "$(setting "$1")" = "$2" ]; then sed -i "s#^$1=$2\$#$1=$3#" "$settings"; fi
  [ "$(setting "$1")" = "$3" ] || stop "$settings has no line $1=$3. Add it, and run this again."
}
edit_settings() {
  set_example TRADETILL_PUBLIC_URL https://pay.example "https://$host"
  set_example TRADETILL_SUPPORT_EMAIL help@pay.example "$mail"
  [ "$console" ] || return 0
  sed -i 's/^#\(TRADETILL_CONSOLE_URL=\|TRADETILL_CONSOLE_PORT=\)/\1/' "$settings"
  set_example TRADETILL_CONSOLE_URL https://till-ops.example "https://$console"
}
database_and_settings() {
  if [ -e "$folder/master.key" ]; then
    say there "$folder/master.key"
  else
    # If this run stops after the key is made, the next run must still ask for a copy of the key.
    [ "$check" ] || mkdir -p -m 700 "$folder"
    make_due key
    act "make the roles, the database, the master key and the files in $folder" make_database
  fi
  if [ "$(setting TRADETILL_PUBLIC_URL)" = "https://$host" ] && [ "$(setting TRADETILL_SUPPORT_EMAIL)" = "$mail" ] &&
    { [ -z "$console" ] || [ "$(setting TRADETILL_CONSOLE_URL)" = "https://$console" ]; }; then
    say there "$settings"
  else
    make_due tradetill
    act "put the host name, the mailbox and the console into $settings" edit_settings
  fi
  [ -z "$without_proxy_given" ] || [ -e "$folder/without-proxy" ] || act 'note that another program is the proxy' touch "$folder/without-proxy"
}

# ---- 4. the release and its units

make_backup() {
  systemctl start tradetill-backup || { journalctl -u tradetill-backup -o cat -n 20 && return 1; }
}
start_gateway() {
  systemctl enable --now tradetill || { journalctl -u tradetill -o cat -n 20 && return 1; }
}
check_upgrade() {
  make_backup
  "$release/bin/tradetill" --env-file "$settings" migrate run --dry-run
}
link_release() {
  link=$root/opt/tradetill
  old=$(readlink -f "$link" || true)
  if [ "$old" = "$release" ]; then say there "$link -> $release" && return; fi
  if [ -e "$link" ]; then
    act "make a backup, and look at what $release changes in the database" check_upgrade
    say note "the way back: ln -sfn $old $link && systemctl restart tradetill"
  fi
  if [ -e "$nginx" ] && [ -e "$old/deploy/nginx.conf" ] && ! is_due nginx &&
    ! cmp -s "$old/deploy/nginx.conf" "$release/deploy/nginx.conf"; then echo "$old" > "$(due_file nginx)"; fi
  make_due tradetill tradetill-vault tradetill-alerts
  act "point $link to $release" ln -sfn "$release" "$link"
}
units() {
  cat > "$work/tradetill" <<'SH'
#!/bin/sh
exec /opt/tradetill/bin/tradetill --env-file /etc/tradetill/env "$@"
SH
  put "$work/tradetill" "$root/usr/local/bin/tradetill" 755
  for unit in tradetill.service tradetill-backup.service tradetill-backup.timer tradetill-vault.service \
    tradetill-alerts.service; do
    target=$root/etc/systemd/system/$unit
    # The operator sets up the vault and the receiver of alerts. This script only keeps their units up to date.
    case $unit in tradetill-vault.service | tradetill-alerts.service) [ -e "$target" ] || continue ;; esac
    # Each night's backup is a new process, so a change of its units needs no restart.
    case $unit in tradetill-backup.*) steps=reload ;; *) steps="reload ${unit%.service}" ;; esac
    # shellcheck disable=SC2086 # one word for each step
    put "$release/deploy/$unit" "$target" 644 $steps
  done
  run_due reload 'let systemd read its units' systemctl daemon-reload
}
start() {
  if ! systemctl is-active --quiet tradetill; then
    act 'start the gateway, which makes its tables' start_gateway
    clear_due tradetill
  elif is_due tradetill; then
    run_due tradetill 'restart the gateway' systemctl restart tradetill
  else
    say there 'the gateway runs'
  fi
  for unit in tradetill-vault tradetill-alerts; do
    if systemctl is-active --quiet "$unit"; then
      run_due "$unit" "restart $unit" systemctl restart "$unit"
    elif is_due "$unit"; then
      [ ! -e "$root/etc/systemd/system/$unit.service" ] || leave "$unit does not run: systemctl status $unit says why"
      clear_due "$unit"
    fi
  done
  if systemctl is-active --quiet tradetill-backup.timer; then
    say there 'the timer of the backup runs'
  else
    act 'start the timer of the nightly backup' systemctl enable --now tradetill-backup.timer
  fi
  if [ -z "$(ls "$root"/var/backups/tradetill/tradetill-*.dump 2> /dev/null)" ]; then
    act 'make the first backup, and check it' make_backup
  fi
}

# ---- 5. the proxy

render_caddyfile() {
  sed "s/^pay\.example/$host/; s/^till-ops\.example/${console:-none}/; s#private_ranges#${console_from:-private_ranges}#" \
    "$release/deploy/Caddyfile" > "$work/all"
  if [ "$console" ]; then cp "$work/all" "$work/Caddyfile"; else sed '/^# The operators/,$d' "$work/all" > "$work/Caddyfile"; fi
  chmod 644 "$work/Caddyfile"
}
check_caddyfile() {
  install -d -o caddy -g caddy "$root/var/log/caddy"
  runuser -u caddy -- caddy validate --config "$work/Caddyfile" > "$work/output" 2>&1 || stop "$(cat "$work/output")"
}
caddy_proxy() {
  if [ -z "$proxy" ]; then
    if [ ! -e "$nginx" ]; then
      [ -z "$without_proxy_given" ] || leave 'set up your own proxy, as "Or nginx" in docs/going-live.md shows'
    elif is_due nginx; then
      before=$(cat "$(due_file nginx)" 2> /dev/null || cat "$folder/nginx.due")
      leave "make the changes of this release in $nginx: diff $before/deploy/nginx.conf $release/deploy/nginx.conf"
      clear_due nginx
    fi
    return
  fi
  render_caddyfile
  cmp -s "$work/Caddyfile" "$caddyfile" || act 'let Caddy check the proxy file' check_caddyfile
  put "$work/Caddyfile" "$caddyfile" 644 caddy
  run_due caddy 'reload Caddy, which obtains the certificate' systemctl reload-or-restart caddy
  addresses=$(getent ahosts "$host" || true)
  case $addresses in
  '') leave "$host has no address in DNS yet. Add one: Caddy then obtains the certificate within minutes" ;;
  127.* | ::1*) leave "a line of /etc/hosts points $host to this machine: remove the name from that line" ;;
  *) [ "$check" ] || wait_for_page ;;
  esac
}
wait_for_page() {
  say now "wait for https://$host/help, two minutes at most"
  for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
    if curl -fsS -o /dev/null --max-time 5 "https://$host/help" 2> "$work/output"; then
      say there "https://$host/help"
      return
    fi
    [ "$try" = 12 ] || sleep 5
  done
  leave "https://$host/help does not answer ($(cat "$work/output")). journalctl -u caddy says why, and: tradetill doctor"
}

examine
programs
database_and_settings
link_release
units
start
caddy_proxy
if [ "$check" ]; then
  echo 'Nothing was changed.'
  exit 0
fi
echo
"$release/bin/tradetill" --env-file "$settings" doctor || true
echo
echo "$(basename "$release") is installed.$(! is_due key || echo ' docs/going-live.md continues with the bot.')"
if is_due key; then leave "keep a copy of $folder/master.key away from this machine and from the backups: without it the sealed secrets are lost" && clear_due key; fi
[ ! -e "$work/left" ] || { echo 'Left for you:' && sed 's/^/- /' "$work/left"; }
