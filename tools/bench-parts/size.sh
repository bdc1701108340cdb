# SPDX-License-Identifier: Apache-2.0
# Memory, starts, and what the daemon costs when nothing happens.

run_rows=(
	"run_rss|memory of run with $PODS pods, settled|MiB|<=20"
	"run_peak|  at its peak, while loading|MiB|-"
	"run_start|start of run to READY=1|s|-"
	"run_start_loaded|  beside a load of 8|s|<=0.5"
	"run_idle|CPU of run with $PODS pods, idle for $IDLE s|%|<=0.15"
	"run_elsewhere|  while 50 cgroups a second are made elsewhere|%|<=0.1"
	"run_scrape|CPU of run for a scrape|ms|-"
)

bench_trace_size() {
	local i
	start_boxes 1
	for i in 1 2 3; do
		start graced
		sleep 1
		sample trace_rss graced "$(mib "$tracer" VmRSS)"
		sample trace_peak graced "$(mib "$tracer" VmHWM)"
		stop_tracer
	done
	stop_boxes
	row trace_rss "memory of trace, settled (RSS)" MiB '<=8'
	row trace_peak "  at its peak, while loading" MiB -
	"$tools/bench_wait" attached 21 "$graced" trace -o json | awk '{ print $1 / 1e9 }' \
		> "$work/trace_start.graced"
	row trace_start "start of trace to attached" s '<=0.2'
	load_begin 8
	"$tools/bench_wait" attached 15 "$graced" trace -o json | awk '{ print $1 / 1e9 }' \
		> "$work/trace_start_loaded.graced"
	load_end
	row trace_start_loaded "  beside a load of 8" s '<=0.5'
}

# Somewhere above the ports that services have and below those the kernel hands out.
port=$((20000 + $$ % 10000))
run_args=(--web.listen-address "127.0.0.1:$port" --sinks.journal=false --node-name bench
	--control.socket none --checkpoint.file none)

scrape() { # PATH
	curl -sSf -m 5 -o /dev/null "http://127.0.0.1:$port/$1" 2> /dev/null
}

bench_run() {
	local spec
	if ! "$graced" run --help > /dev/null 2>&1; then
		note "this graced has no run: its rows are -"
	elif ! command -v curl > /dev/null; then
		note "curl is not installed: the rows of run are -"
	else
		measure_run
	fi
	for spec in "${run_rows[@]}"; do
		local key what unit target
		IFS='|' read -r key what unit target <<< "$spec"
		row "$key" "$what" "$unit" "$target"
	done
}

# What keeps the CPUs busy meanwhile.
load_begin() { # PROCESSES
	local i
	loads=()
	for ((i = 0; i < $1; i++)); do
		"${bound[@]}" sh -c 'while :; do :; done' &
		loads+=($!)
	done
}

load_end() {
	kill "${loads[@]}"
	wait "${loads[@]}" 2> /dev/null || true
}

start_run() { # ARGS
	"${bound[@]}" "$graced" run "${run_args[@]}" "$@" > /dev/null 2> "$work/err" &
	tracer=$!
	until scrape readyz; do
		alive
		sleep 0.05
	done
}

# sample_cpu KEY SECONDS: of the daemon meanwhile, in percent.
sample_cpu() {
	local before from
	before=$(cpu_ns "$tracer") from=$EPOCHREALTIME
	sleep "$2"
	sample "$1" graced "$(awk -v ns="$(($(cpu_ns "$tracer") - before))" -v a="$from" \
		-v b="$EPOCHREALTIME" 'BEGIN { print ns / (b - a) / 1e7 }')"
}

# Cgroups that look like containers, in none of the daemon's roots: 50 a second.
make_cgroups() {
	local i dir=$depth_top/elsewhere
	mkdir -p "$dir"
	for ((i = 0; ; i++)); do
		mkdir "$dir/$(printf '%064d' "$i")"
		((i < 10)) || rmdir "$dir/$(printf '%064d' $((i - 10)))"
		sleep 0.02
	done
}

measure_elsewhere() {
	find_top
	local maker
	start_run --container-roots /graced-bench-none
	make_cgroups &
	maker=$!
	sleep 2
	sample_cpu run_elsewhere "$IDLE"
	kill "$maker"
	wait "$maker" 2> /dev/null || true
	stop_tracer
}

measure_run() {
	local before i
	mkdir "$work/log"
	start_boxes "$PODS" "$work/log"
	run_args+=(--names.log-directory "$work/log")
	"$tools/bench_wait" ready 15 "$graced" run "${run_args[@]}" 2> "$work/err" |
		awk '{ print $1 / 1e9 }' > "$work/run_start.graced" || note "run did not become ready: $(tail -1 "$work/err")"
	load_begin 8
	"$tools/bench_wait" ready 7 "$graced" run "${run_args[@]}" 2> "$work/err" |
		awk '{ print $1 / 1e9 }' > "$work/run_start_loaded.graced" || true
	load_end
	start_run
	# What it scraped and what was named at the start is told once; then it is left alone.
	for i in 1 2 3; do scrape metrics; done
	sleep 2
	sample_cpu run_idle "$IDLE"
	sample run_rss graced "$(mib "$tracer" VmRSS)"
	sample run_peak graced "$(mib "$tracer" VmHWM)"
	for i in {1..20}; do
		before=$(cpu_ns "$tracer")
		scrape metrics
		sample run_scrape graced "$(awk -v ns="$(($(cpu_ns "$tracer") - before))" 'BEGIN { print ns / 1e6 }')"
	done
	stop_tracer
	measure_elsewhere
	stop_boxes
}
