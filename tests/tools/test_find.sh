#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Containers are found by the names that people have: resolve, and the filters of audit. Prints TAP
# and exits 1 if a claim does not hold.
#   BUILD=build tests/tools/test_find.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=${GRACED:-$build/graced}
. "$root/tests/lib/tap.sh"

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
((EUID == 0)) || skip_all "needs root"

if [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]; then
	hierarchy=/sys/fs/cgroup
else
	hierarchy=/sys/fs/cgroup/memory
fi
top=$hierarchy/kubepods-find-$$
sleepers=()

tidy() {
	local pid end=$((SECONDS + 20))
	for pid in "${sleepers[@]}"; do
		kill -KILL "$pid" && wait "$pid"
	done 2>/dev/null
	while [[ -d $top ]] && ((SECONDS < end)); do
		find "$top" -depth -type d -exec rmdir {} \; 2>/dev/null
		sleep 0.05
	done
	remove_tmp
}
trap tidy EXIT

# A container with a process, named by the log directories.
make_container() { # DIGIT NAMESPACE POD CONTAINER
	local id uid=$1$1$1$1$1$1$1$1-0f1e-4c55-9a35-$(printf '%012d' $$) pid
	id=$1$(printf '%063d' $$)
	mkdir -p "$top/kubepods/burstable/pod$uid/$id" "$tmp/log/pods/$2_$3_$uid/$4" \
		"$tmp/log/containers"
	ln -s "$tmp/log/pods/$2_$3_$uid/$4/0.log" "$tmp/log/containers/$3_$2_$4-$id.log"
	bash -c 'echo $$ >"$1/cgroup.procs" && exec sleep 10000' - "$top/kubepods/burstable/pod$uid/$id" &
	pid=$!
	sleepers+=("$pid")
	until grep -qx sleep "/proc/$pid/comm"; do
		kill -0 "$pid" || return 1
		sleep 0.05
	done
}

# On hosts with other containers, these have names that no other has.
n=find$$
make_container a shop-$n cart-$n-7d9c main-$n && make_container b shop-$n cart-$n-x2x proxy-$n &&
	make_container c data-$n db-$n-0 main-$n || {
	echo "Bail out! the containers do not start"
	exit 1
}

# graced COMMAND ARGUMENT... : of each container found, its pod, sorted.
pods_of() { # COMMAND ARGUMENT...
	"$graced" "$1" -o json --names.log-directory "$tmp/log" "${@:2}" >"$out" 2>"$err"
	rc=$?
	jq -r .pod.name "$out" 2>/dev/null | sed "s/-$n-.*//" | sort | paste -sd ' '
}

# One a line: what is asked for | the pods that it finds.
each_finds() { # COMMAND
	local words want got bad=0
	while IFS='|' read -r words want; do
		read -ra args <<<"$words"
		got=$(pods_of "$1" "${args[@]}")
		[[ $got == "$want" ]] && continue
		echo "# $1 $words: '$got', not '$want'"
		bad=1
	done
	return $bad
}

each_finds resolve <<-END
	main-$n|cart db
	proxy-$n|cart
	cart-$n-7d9c|cart
	cart-$n|cart cart
	shop-$n/cart-$n|cart cart
	data-$n/cart-$n|
	d?-$n-*|db
	c$(printf '%011d' 0 | head -c 8)|db
	cccccccc-0f1e-4c55-9a35-$(printf '%012d' $$)|db
	cart-$n,db-$n|cart cart db
	cart-$n,!cart-$n-x2x|cart
END
claim "resolve finds containers by name, pod, its beginning, a glob, an id or a uid" $?

pods_of resolve "cart-$n-nobody" >/dev/null
refused 1 "no container here is called"
claim "a name that no container has is one line, exit 1" $?

each_finds audit <<-END
	-p cart-$n|cart cart
	-p shop-$n/cart-$n-7d9c|cart
	-n shop-$n|cart cart
	-n sho|
	-n *-$n|cart cart db
	-n *-$n -n !data-*|cart cart
	-n *-$n -c main-$n|cart db
	-n *-$n -c !main-$n|cart
	-p cart-$n-7d9c -p db-$n|cart db
	-p cart-$n-7d9c,db-$n|cart db
END
claim "audit's -n, -p and -c take beginnings, globs, lists, and what to leave out" $?

pods_of audit -p "cart-$n-nobody" >/dev/null
refused 1 "no such container|no container whose names are known"
claim "audit says at once that a filter matches nothing, exit 1" $?

audit="audit --names.log-directory $tmp/log -p cart-$n"
all_find_it_full <<-END
	$audit --exit-zero
	$audit --exit-zero -o json
	$audit --watch
END
claim "an audit says in one line that the device of standard output is full, exit 1" $?

# What trace says before anything stops, with --duration as its end.
traced() { # ARGUMENT...
	try "$graced" trace --names.log-directory "$tmp/log" --duration 1s "$@"
}

if [[ -r /sys/kernel/btf/vmlinux ]]; then
	traced -p "cart-$n,nobody"
	! grep 'no container that runs now' "$err"
	claim "trace says nothing where one of the names is there" $?
	traced -p "nobody-$n"
	grep -qx 'graced: no container that runs now matches; waiting for one that does' "$err"
	claim "trace says at once that no container has the name it is asked for" $?

	# It is in a directory that no other user may enter.
	mkdir -m 700 "$tmp/run"
	"$graced" run --control.socket "$tmp/run/control.sock" --checkpoint.file none --shutdown.mode off \
		--web.listen-address 127.0.0.1:0 --names.log-directory "$tmp/log" --no-sinks.stdout --sinks.journal off \
		>"$tmp/daemon.log" 2>&1 &
	daemon=$!
	sleepers+=("$daemon")
	end=$((SECONDS + 100))
	listed() { "$graced" pods --control.socket "$tmp/run/control.sock" | grep -q "cart-$n-7d9c"; }
	until listed; do
		kill -0 "$daemon" && ((SECONDS < end)) || break
		sleep 0.05
	done 2>/dev/null
	all_find_it_full <<-END
		pods --control.socket $tmp/run/control.sock
		pods --watch --control.socket $tmp/run/control.sock
	END
	claim "a list of pods says in one line that the device of standard output is full, exit 1" $?
fi

conclude
