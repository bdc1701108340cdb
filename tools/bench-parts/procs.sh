# SPDX-License-Identifier: Apache-2.0
# What runs meanwhile: one tracer at a time, containers, and their end whatever happens.

tracer='' boxes='' boxes_fd='' depth_top=''

# Does not outlive this shell, even when that is killed.
bound=(setpriv --pdeathsig TERM)
command -v setpriv > /dev/null || bound=()

finish() {
	stop_tracer
	stop_boxes
	[ -z "$depth_top" ] || find "$depth_top" -depth -type d -exec rmdir {} + 2> /dev/null || true
	rm -rf "$work"
}

# Which of the other tools this host has.
have() {
	[ "$1" = graced ] || command -v "$1" > /dev/null || {
		note "$1 is not installed: its column is -"
		return 1
	}
}

# The other tools want tracefs, which not every host has mounted: in a mount namespace of its own.
# For the background only, as the process becomes the tool.
in_tracefs() {
	exec "${bound[@]}" unshare --mount sh -c '[ -e /sys/kernel/tracing/events ] ||
		mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"' sh "$@"
}

# start WHO [ARGS]: in the background, returns when it is attached; its output goes nowhere unless
# graced's, of which the first line is waited for.
start() {
	local who=$1
	shift
	: > "$work/out"
	case $who in
	graced) "${bound[@]}" "$graced" trace -o json --no-names.enabled "$@" > "$work/out" 2> "$work/err" & ;;
	bpftrace) in_tracefs bpftrace -e 'tracepoint:sched:sched_process_exit { @ = count(); }' > "$work/out" 2> "$work/err" & ;;
	*) in_tracefs "$who" > /dev/null 2> "$work/err" & ;;
	esac
	tracer=$!
	if [ "$who" = graced ]; then
		await_attached
	else
		await_runs
	fi
}

# trace_silently ARGS: graced trace with its rows going to /dev/null.
trace_silently() {
	"${bound[@]}" "$graced" trace -o json --no-names.enabled "$@" > /dev/null 2> "$work/err" &
	tracer=$!
	await_runs
}

alive() {
	kill -0 "$tracer" 2> /dev/null || {
		echo "bench: a tracer did not start:" >&2
		cat "$work/err" >&2
		exit 1
	}
}

await_attached() {
	until grep -q '"attached"' "$work/out"; do
		alive
		sleep 0.02
	done
}

# Attached is who runs: the process that bench_bpf starts exits, and its parent is signalled. A tool
# that starts as sh and unshare has no program until it is itself.
await_runs() {
	until "$tools/bench_bpf" time "$tracer" true 2> /dev/null | awk '$2 > 0 { n++ } END { exit !n }'; do
		alive
		sleep 0.02
	done
	sleep 0.1 # graced scans after it attached
}

stop_tracer() {
	[ -n "$tracer" ] || return 0
	kill -INT "$tracer" 2> /dev/null || true
	wait "$tracer" 2> /dev/null || true
	tracer=
}

# Before the program that writes the list opens it: by those of the last time, other processes may be
# signalled.
empty_boxes() {
	: > "$work/boxes"
	mkfifo "$work/hold"
}

# start_boxes COUNT [LOG_DIR]: containers, their pids in pids and cgroups in dirs.
start_boxes() {
	local pid dir
	empty_boxes
	"$tools/bench_boxes" "$@" < "$work/hold" > "$work/boxes" &
	boxes=$!
	exec {boxes_fd}> "$work/hold"
	rm "$work/hold"
	until grep -q '^ready' "$work/boxes"; do
		kill -0 $boxes 2> /dev/null || exit 1
		sleep 0.05
	done
	pids=() dirs=()
	while read -r pid dir; do
		[ "$pid" = ready ] || { pids+=("$pid") && dirs+=("$dir"); }
	done < "$work/boxes"
}

stop_boxes() {
	[ -n "$boxes" ] || return 0
	exec {boxes_fd}>&-
	wait "$boxes" || true
	boxes=
}

# CPU time of a process so far, ns.
cpu_ns() { cat /proc/"$1"/task/*/schedstat | awk '{ t += $1 } END { printf "%.0f\n", t }'; }

# A member of /proc/PID/status in MiB.
mib() { awk -v key="$2:" '$1 == key { print $2 / 1024 }' "/proc/$1/status"; }
