# SPDX-License-Identifier: Apache-2.0
# Memory, starts, and what the daemon costs when nothing happens.

run_rows=(
	"run_rss|memory of run with $PODS pods, settled|MiB|<=20"
	"run_peak|  at its peak, while loading|MiB|-"
	"run_start|start of run to READY=1|s|-"
	"run_idle|CPU of run with $PODS pods, idle for $IDLE s|%|-"
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

measure_run() {
	local from before i
	mkdir "$work/log"
	start_boxes "$PODS" "$work/log"
	run_args+=(--names.log-directory "$work/log")
	"$tools/bench_wait" ready 15 "$graced" run "${run_args[@]}" 2> "$work/err" |
		awk '{ print $1 / 1e9 }' > "$work/run_start.graced" || note "run did not become ready: $(tail -1 "$work/err")"
	"${bound[@]}" "$graced" run "${run_args[@]}" > /dev/null 2> "$work/err" &
	tracer=$!
	until scrape readyz; do
		alive
		sleep 0.05
	done
	# What it scraped and what was named at the start is told once; then it is left alone.
	for i in 1 2 3; do scrape metrics; done
	sleep 2
	before=$(cpu_ns "$tracer") from=$EPOCHREALTIME
	sleep "$IDLE"
	sample run_idle graced "$(awk -v ns="$(($(cpu_ns "$tracer") - before))" -v a="$from" \
		-v b="$EPOCHREALTIME" 'BEGIN { print ns / (b - a) / 1e7 }')"
	sample run_rss graced "$(mib "$tracer" VmRSS)"
	sample run_peak graced "$(mib "$tracer" VmHWM)"
	for i in {1..20}; do
		before=$(cpu_ns "$tracer")
		scrape metrics
		sample run_scrape graced "$(awk -v ns="$(($(cpu_ns "$tracer") - before))" 'BEGIN { print ns / 1e6 }')"
	done
	stop_tracer
	stop_boxes
}
