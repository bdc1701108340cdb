#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How `graced trace` ends: nothing of it stays in the kernel, its output is whole, its exit status
# right. Prints TAP and exits 1 if a claim does not hold.
#   BUILD=build tests/tools/test_detach.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=${GRACED:-$build/graced}
export PATH=$PATH:/usr/sbin:/sbin

count=0
failed=0

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
((EUID == 0)) || skip_all "needs root"
[[ -r /sys/kernel/btf/vmlinux ]] || skip_all "this kernel has no BTF"

work=$(mktemp -d) || exit 1
chmod 755 "$work"
cgroup=
trap 'drop_container; rm -rf "$work"' EXIT

# claim SENTENCE COMMAND…: the command's success is the claim.
claim() {
	local sentence=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $sentence"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - $sentence"
	sed 's/^/# /' "$work/out" "$work/err" "$work/said" 2>/dev/null
}

# --- a container that stops ---

if [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]; then
	hierarchy=/sys/fs/cgroup
else
	hierarchy=/sys/fs/cgroup/memory
fi

make_container() {
	local id uid=8a1c7d02-0f1e-4c55-9a35-$(printf '%012d' $$)
	id=$(printf '%064d' $$)
	cgroup=$hierarchy/kubepods-detach-$$
	mkdir -p "$cgroup/kubepods/burstable/pod$uid/$id"
	container=$cgroup/kubepods/burstable/pod$uid/$id
}

# Runs something in the container that ends at once: a stop, seen by whoever traces.
stop_container() {
	[[ $cgroup ]] || make_container
	(
		echo "$BASHPID" >"$container/cgroup.procs"
		exec /bin/true
	)
}

drop_container() {
	[[ $cgroup ]] && find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
	cgroup=
}

# --- the tracer and what it holds ---

pid=
# Starts `graced trace ARG…` and waits until it says it is attached.
attach() {
	local line
	rm -f "$work/pipe" && mkfifo "$work/pipe"
	"$graced" trace -o json "$@" >"$work/pipe" 2>"$work/err" &
	pid=$!
	exec 3<"$work/pipe"
	read -r -t 120 line <&3
	[[ $line == '{"type":"attached",'* ]]
}

# Ends it, takes what it still said, and leaves its exit status in $status.
end() { # SIGNAL
	kill -s "$1" "$pid"
	timeout 120 cat <&3 >"$work/out"
	exec 3<&-
	wait "$pid"
	status=$?
}

# The ids of the programs, maps and links a process holds, one "kind id" per line.
objects_of() { # PID
	cat /proc/"$1"/fdinfo/* 2>/dev/null |
		sed -n 's/^\(prog\|map\|link\)_id:[[:space:]]*\([0-9]*\)$/\1 \2/p' | sort -u
}

# Whether none of the objects is left; the kernel frees them a little after the last reference.
are_gone() { # FILE
	local kind id i
	for ((i = 0; i < 1200; i++)); do
		: >"$work/said"
		while read -r kind id; do
			bpftool "$kind" show id "$id" >>"$work/said" 2>/dev/null
		done <"$1"
		[[ -s $work/said ]] || return 0
		sleep 0.1
	done
	return 1
}

# Others have pins and cgroups of their own.
leaves_no_name() {
	! {
		find /sys/fs/bpf -name '*graced*'
		find /sys/fs/cgroup -type d -name "*graced*$pid*"
	} 2>/dev/null | grep . >"$work/said"
}

ends_without_trace() { # SIGNAL
	attach || return 1
	objects_of "$pid" >"$work/objects"
	local kind
	for kind in prog map link; do
		grep -q "^$kind " "$work/objects" || return 1
	done
	stop_container
	read -r -t 120 row <&3
	end "$1"
	[[ $status == 0 && ! -s $work/err ]] && are_gone "$work/objects" && leaves_no_name
}

last_rows_are_flushed() {
	local rows
	attach --count 3 || return 1
	for ((i = 0; i < 3; i++)); do stop_container; done
	timeout 120 cat <&3 >"$work/out"
	exec 3<&-
	wait "$pid" || return 1
	# Other tests' containers have rows, too.
	rows=$(grep -Ec '^\{"type":"(stop|oom)",.*\}$' "$work/out")
	[[ $rows == 3 && ! -s $work/err ]]
}

# Rows may be of other tests' containers, which ran before.
is_quiet() {
	! grep -qv '(attached-late)$' "$work/err"
}

# The reader goes away; the tracer learns it at its next row at the latest.
ends_with_its_reader() { # -o OUTPUT
	local i
	(
		timeout 60 "$graced" trace "$@" 2>"$work/err"
		echo $? >"$work/status"
	) | head -n 1 >"$work/out" &
	local pipeline=$!
	rm -f "$work/status"
	for ((i = 0; i < 600; i++)); do
		stop_container
		[[ -s $work/status ]] && break
		sleep 0.1
	done
	wait "$pipeline"
	[[ $(<"$work/status") == 0 && $(wc -l <"$work/out") == 1 ]] && is_quiet
}

# A row, with the time zone of Nepal.
shows_time() { # PATTERN ARG...
	local line
	rm -f "$work/pipe" && mkfifo "$work/pipe"
	TZ=Asia/Kathmandu timeout 60 "$graced" trace -o columns=time,outcome --count 1 "${@:2}" \
		>"$work/pipe" 2>"$work/err" &
	pid=$!
	exec 3<"$work/pipe"
	read -r -t 120 line <&3 && [[ $line == TIME* ]] && stop_container
	read -r -t 120 line <&3
	exec 3<&-
	wait "$pid" && [[ $line =~ $1 ]] && is_quiet
}

as_nobody() { # ARG...: runs graced as a user without rights
	cp "$graced" "$work/graced" && chmod 755 "$work/graced"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$work/graced" "$@" \
		>"$work/out" 2>"$work/err"
}

is_refused_in_one_line() { # ARG...
	as_nobody "$@"
	[[ $? == 1 && $(wc -l <"$work/err") == 1 && ! -s $work/out ]] &&
		grep -qi 'root\|privilege\|capabilit\|permission\|permitted' "$work/err"
}

command -v bpftool >/dev/null || skip_all "bpftool is not installed"
claim 'SIGINT ends it with everything detached: no program, map, link, pin or cgroup is left' \
	ends_without_trace INT
claim 'SIGTERM does the same' ends_without_trace TERM
claim '--count ends it with its rows flushed' last_rows_are_flushed
claim 'trace | head -1 ends quietly' ends_with_its_reader
claim 'trace -o json | head -1 ends quietly' ends_with_its_reader -o json
claim 'a row has local time with its offset from UTC' \
	shows_time '^[0-9:]{8}\.[0-9]{3}\+0545  [a-z]+$'
claim '--utc shows it in UTC' shows_time '^[0-9:]{8}\.[0-9]{3}Z  +[a-z]+$' --utc
claim 'a user without rights gets one clear line from trace' is_refused_in_one_line trace
claim 'a user without rights gets one clear line from record' \
	is_refused_in_one_line record "$work/file.rec"
claim 'a refused record leaves no file' test ! -e "$work/file.rec"

echo "1..$count"
((failed == 0))
