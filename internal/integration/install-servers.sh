#!/usr/bin/env bash
# Installs the servers that the integration tests start, from Debian's packages. Nothing is left running: each test starts its own.
# SQLite and the S3-compatible server are Go modules and need nothing from here.
set -euo pipefail

installed() { command -v "$1" >/dev/null 2>&1 || compgen -G "$2" >/dev/null; }

wanted=()
installed postgres '/usr/lib/postgresql/*/bin/postgres' || wanted+=(postgresql)
installed redis-server '/usr/bin/redis-server' || wanted+=(redis-server)
[ ${#wanted[@]} -gt 0 ] || exit 0

sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
# Debian starts a service as soon as its package is installed; 101 tells it not to.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee "$policy" >/dev/null
	"${sudo[@]}" chmod +x "$policy"
	trap '"${sudo[@]}" rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -q
"${sudo[@]}" apt-get install -q -y --no-install-recommends "${wanted[@]}"
