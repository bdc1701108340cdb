# SPDX-License-Identifier: Apache-2.0
# What is recorded: its BPF time, how much of it a second, how soon it is told, how fast it replays.

# BPF time of one program, or of all when none is named, per run in bench_bpf's lines.
per_run() { awk -v name="$1" 'NR > 1 && index($1, name) == 1 { n += $2; ns += $3 }
	END { print n ? ns / n / 1000 : 0 }' "$work/times"; }

# Kills of a container's own children are recorded in scope all, and their exits; a container's init
# is recorded in any.
bench_recorded() {
	local round
	start_boxes 2
	for ((round = 0; round < ROUNDS; round++)); do
		start graced --scope all
		"$tools/bench_bpf" time "$tracer" sh -c 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"' \
			sh "${dirs[0]}" "$tools/storm" kills "$LEG" > "$work/times"
		stop_tracer
		sample exit_recorded graced "$(per_run on_exit)"
		time_signals graced on_signal
		! have sigsnoop || time_signals sigsnoop ''
	done
	row exit_recorded "BPF time of a recorded exit" us -
	multiple exit_recorded exit_0.bpftrace '<=10'
	row signal_recorded "BPF time of a recorded signal, batched" us - ratio
	multiple signal_recorded exit_0.bpftrace '<=8'
	row signal_spaced "BPF time of a recorded signal, 500 a second" us - ratio
	multiple signal_spaced signal_spaced.sigsnoop '<=1'
	stop_boxes
}

# Enough for batches. sigsnoop loses some of them, and what is lost costs less.
BATCHED=50000

time_signals() { # WHO PROGRAM
	start "$1"
	"$tools/bench_bpf" time "$tracer" "$tools/storm" signals "$LEG" $BATCHED 1 "${pids[@]}" > "$work/times"
	sample signal_recorded "$1" "$(per_run "$2")"
	"$tools/bench_bpf" time "$tracer" "$tools/storm" signals "$LEG" 500 1 "${pids[@]}" > "$work/times"
	sample signal_spaced "$1" "$(per_run "$2")"
	stop_tracer
}

# volley KEY SECONDS RATE SENDERS [TRACE ARGS]: what is sent from outside, and what becomes of it by
# the kernel half's own counters.
volley() {
	local key=$1 sent ns emitted lost suppressed missed
	trace_silently "${@:5}"
	read -r sent ns _ < <("$tools/storm" signals "$2" "$3" "$4" "${pids[@]}")
	read -r emitted lost suppressed missed < <("$tools/bench_bpf" counts "$tracer")
	stop_tracer
	lost=$((lost + missed + suppressed))
	sample "${key}_rate" graced "$(awk -v n="$sent" -v ns="$ns" 'BEGIN { print n / ns * 1e9 }')"
	sample "${key}_lost" graced "$lost"
	sample unaccounted graced "$((sent - emitted - lost))"
}

# Flat out, one CPU is left to who reads, or none; either way nothing else has to run there.
bench_rates() {
	local round cpus free
	cpus=$(nproc)
	free=$((cpus > 1 ? cpus - 1 : 1))
	start_boxes 8
	volley paced "$SPAN" 100000 2
	volley paced_told "$SPAN" 100000 2 --signals
	for round in 1 2 3 4 5; do
		volley flat 2 0 $free
		volley flat_told 2 0 $free --signals
		volley flat_full 2 0 "$cpus"
	done
	stop_boxes
	row paced_rate "stop signals from outside, paced, two senders" /s '>=99000'
	row paced_lost "  lost in $SPAN s, only stops reported" '' '<=0'
	row paced_told_lost "  lost in $SPAN s, each signal reported (--signals)" '' '<=0'
	row flat_rate "flat out, default ring, senders: $free" /s '>=500000'
	row flat_lost "  lost in 2 s, only stops reported" '' '<=0'
	row flat_told_rate "  each signal reported (--signals)" /s -
	row flat_told_lost "    lost in 2 s" '' -
	row flat_full_rate "  no CPU left to read, senders: $cpus" /s -
	row flat_full_lost "    lost in 2 s, only stops reported" '' -
	row unaccounted "  sent, and neither recorded nor counted lost" '' '<=0'
}

bench_latency() {
	start_boxes 1
	"$tools/bench_wait" signal 250 "${pids[0]}" "$graced" trace -o json --no-names.enabled --signals |
		awk '{ print $1 / 1e6 }' > "$work/latency.graced"
	percentile99 "$work/latency.graced" > "$work/latency_p99.graced"
	row latency "SIGTERM sent to its row printed" ms '<=10'
	row latency_p99 "  99th percentile of 250" ms -
	stop_boxes
}

# By CPU time, so that what else runs on that CPU does not count.
bench_replay() {
	local round spent TIMEFORMAT='%U %S'
	"$tools/recgen" 1000000 > "$work/million.rec"
	for round in {1..7}; do
		spent=$({ time "$graced" replay "$work/million.rec" > /dev/null; } 2>&1)
		sample replay graced "$(echo "$spent" | awk '{ print 1e6 / ($1 + $2) }')"
	done
	rm "$work/million.rec"
	row replay "observations replayed in a second of one CPU" /s '>=1000000'
}
