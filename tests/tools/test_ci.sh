#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The jobs of docs/ci.md: their shell parts, but for the installation, with a server that stops well and
# one that does not. Prints TAP and exits 1 if a claim does not hold.
#   BUILD=build tests/tools/test_ci.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=${GRACED:-$build/graced}

((EUID == 0)) || { echo "1..0 # SKIP needs root" && exit 0; }
[[ -r /sys/kernel/btf/vmlinux ]] || { echo "1..0 # SKIP this kernel has no BTF" && exit 0; }
. "$root/tests/lib/tap.sh"

mkdir "$tmp/bin" "$tmp/work"
ln -s "$(realpath "$graced")" "$tmp/bin/graced"
printf '#!/bin/sh\nexec "$@"\n' >"$tmp/bin/sudo"
chmod +x "$tmp/bin/sudo"
port=$((20000 + RANDOM % 10000))

# The block behind a heading.
block() { # HEADING
	awk -v head="## $1" '$0 == head { on = 1 } on && /^```$/ { exit } on && inside { print }
		on && /^```/ { inside = 1 }' "$root/docs/ci.md" | sed "s/8080/$port/g"
}
server() { # what it does on SIGTERM
	cat >"$tmp/work/server" <<-END
		#!/usr/bin/python3
		import signal, socket, sys, time
		s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
		def stop(*a):
		    $1
		    sys.exit(0)
		signal.signal(signal.SIGTERM, stop)
		while True: time.sleep(1)
	END
	chmod +x "$tmp/work/server"
}
in_job() { # COMMAND...
	try env -C "$tmp/work" PATH="$tmp/bin:$PATH" "$@"
}

block "GitHub Actions" | awk '/- name: / { ours = !/install/ } ours && inside { print } /run: \|/ { inside = ours }' |
	sed 's/^ *//' >"$tmp/github"
block "GitLab CI" | awk '/^  [a-z_]+:/ { inside = /^  script:/; next } inside { sub(/^ *- /, ""); print }' >"$tmp/gitlab"
block Makefile >"$tmp/work/Makefile"

well() {
	server pass
	in_job bash -euo pipefail "$tmp/github" && ((rc == 0)) && grep -q '^::notice title=graced try server::' "$out" || return 1
	in_job bash -euo pipefail "$tmp/gitlab" && ((rc == 0)) && grep -q 'failures="0" errors="0"' "$tmp/work/stops-well.xml" || return 1
	in_job make check-stop && ((rc == 0)) && grep -q '^server: It stops well' "$out"
}
badly() {
	server 's.close(); time.sleep(1)'
	in_job bash -euo pipefail "$tmp/github" && ((rc == 1)) && grep -q '^::error title=graced try server::' "$out" || return 1
	in_job bash -euo pipefail "$tmp/gitlab" && ((rc == 1)) && grep -q 'failures="1" errors="0"' "$tmp/work/stops-well.xml" || return 1
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$tmp/work/stops-well.xml" || return 1
	in_job make check-stop && ((rc == 2)) && grep -q 'refused connections' "$out"
}
well
claim "each job of docs/ci.md passes where the server stops well" $?
badly
claim "each fails where it does not, and shows why" $?

conclude
