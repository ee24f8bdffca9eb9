#!/bin/sh
# Installs the newest Node 24 from nodejs.org into /usr/local, after checking its checksum. Run it as root.
set -eu
root=${DESTDIR:-}
case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*)
  echo "This script cannot install Node for $(uname -m). Install Node 24 yourself." >&2
  exit 1
  ;;
esac
from=https://nodejs.org/dist/latest-v24.x
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Fails if the server cannot be reached, or sends nothing for a minute.
fetch() { curl -fsSLO --connect-timeout 20 --speed-limit 1 --speed-time 60 "$from/$1"; }
fetch SHASUMS256.txt
file=$(grep -o "node-v24[.0-9]*-linux-$arch.tar.xz" SHASUMS256.txt)
fetch "$file"
grep " $file\$" SHASUMS256.txt | sha256sum --check
tar -xJf "$file" -C "$root/usr/local" --strip-components=1 --no-same-owner
