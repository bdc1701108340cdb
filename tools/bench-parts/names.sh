# SPDX-License-Identifier: Apache-2.0
# What names cost: the memory of asking for them, and whether look-ups keep kernel events waiting.

STORM=${STORM:-10}  # seconds of one storm of containers
STORMS=${STORMS:-3} # of each kind, in turns
LIVES=${LIVES:-1000} # containers a second in a storm
SETTLE=${SETTLE:-8} # seconds, of which each has a question to the kubelet

# start_node PODS: with a runtime at $socket and, where openssl is, kubelets at ${kubelets[@]}. Its
# end is stop_boxes.
start_node() {
	local _ pid dir
	mkdir -p "$work/node"
	socket=$work/node/cri.sock kubelets=() pids=()
	make_kubelet_key || note "openssl is not installed: the rows of run with a kubelet are -"
	empty_boxes
	"$tools/bench_node" "$1" "$work/node" < "$work/hold" > "$work/boxes" &
	boxes=$!
	exec {boxes_fd}> "$work/hold"
	rm "$work/hold"
	until grep -q '^ready' "$work/boxes"; do
		kill -0 $boxes 2> /dev/null || exit 1
		sleep 0.05
	done
	read -ra kubelets < <(sed -n 's/^kubelet //p' "$work/boxes") || true
	while read -r pid dir; do
		[[ $dir != /* ]] || pids+=("$pid")
	done < "$work/boxes"
}

make_kubelet_key() {
	command -v openssl > /dev/null || return 1
	(
		cd "$work/node"
		openssl ecparam -name prime256v1 -genkey -noout -out kubelet.key
		openssl req -x509 -new -key kubelet.key -days 2 -subj /CN=localhost \
			-addext subjectAltName=DNS:localhost -out kubelet.crt
	) 2> /dev/null
}

names_rows=(
	"names_none|memory of run, $PODS pods of 3, no source queried|MiB|-"
	"names_cri|  the runtime queried|MiB|-"
	"names_kubelet|  the kubelet queried, every second|MiB|-"
	"names_both|  both queried|MiB|<=20"
	"names_both_pss|    its own and its share of what is shared|MiB|-"
	"names_both_peak|    at its peak|MiB|-"
	"names_trace_none|memory of trace, no source queried|MiB|<=8.5"
	"names_trace_cri|  beside a runtime|MiB|-"
)

bench_names_size() {
	local spec key what unit target
	start_node "$PODS"
	if command -v curl > /dev/null; then
		measure_names names_none ''
		measure_names names_cri 'cri: up' --cri.endpoint "$socket"
		[ ${#kubelets[@]} = 0 ] || measure_kubelets
	else
		note "curl is not installed: the rows of run are -"
	fi
	measure_trace names_trace_none --cri.endpoint none
	measure_trace names_trace_cri --cri.endpoint "$socket"
	stop_boxes
	for spec in "${names_rows[@]}"; do
		IFS='|' read -r key what unit target <<< "$spec"
		row "$key" "$what" "$unit" "$target"
	done
}

measure_kubelets() {
	local args=(--kubelet.ca "$work/node/kubelet.crt" --kubelet.interval 1s)
	measure_names names_kubelet 'kubelet: up' "${args[@]}" \
		--kubelet.url "https://localhost:${kubelets[0]}"
	measure_names names_both 'cri: up.*kubelet: up' "${args[@]}" --cri.endpoint "$socket" \
		--kubelet.url "https://localhost:${kubelets[1]}"
}

# measure_names ROW READY ARGS: READY is what /readyz tells when all is there.
measure_names() {
	local pss
	"${bound[@]}" "$graced" run --web.listen-address "127.0.0.1:$port" --sinks.journal=false \
		--node-name bench --control.socket none --checkpoint.file none --names.log-directory "$work/none" \
		--cri.endpoint none "${@:3}" \
		> /dev/null 2> "$work/err" &
	tracer=$!
	until curl -sSf -m 5 "http://127.0.0.1:$port/readyz" 2> /dev/null | tr '\n' ' ' | grep -q "$2"; do
		alive
		sleep 0.05
	done
	sleep "$SETTLE"
	pss=$(awk '$1 == "Pss:" { print $2 / 1024 }' "/proc/$tracer/smaps_rollup")
	sample "$1" graced "$(mib "$tracer" VmRSS)"
	sample "$1_pss" graced "$pss"
	sample "$1_peak" graced "$(mib "$tracer" VmHWM)"
	stop_tracer
}

measure_trace() { # ROW ARGS
	: > "$work/out"
	"${bound[@]}" "$graced" trace -o json "${@:2}" > "$work/out" 2> "$work/err" &
	tracer=$!
	await_attached
	sleep "$SETTLE"
	sample "$1" graced "$(mib "$tracer" VmRSS)"
	stop_tracer
}

# The time from SIGTERM to the row, for a container that stands apart while others come and go. The
# same load is there when no source is queried.
bench_names_storm() {
	local round
	start_node 20
	for ((round = 0; round < STORMS; round++)); do
		storm_leg unnamed well --no-names.enabled
		storm_leg well well --cri.endpoint "$socket"
		storm_leg late late --cri.endpoint "$socket"
		storm_leg never never --cri.endpoint "$socket"
	done
	storm_named
	stop_boxes
	awk '$1 == "stormed" { print $2 / $3 * 1e9 }' "$work/boxes" > "$work/storm_rate.graced"
	storm_delay
	row storm_rate "containers that come and go meanwhile" /s -
	row storm_named "  that are named by a runtime that answers" % -
	row storm_unnamed "SIGTERM to its row, no source queried" ms -
	row storm_well "  a runtime queried that answers at once" ms -
	row storm_late "  one that answers after a second" ms -
	row storm_never "  one that never answers" ms -
	row storm_delay "  the longest of these, against no source" ms '<=1'
	row storm_unnamed_p99 "  99th percentile, no source queried" ms -
	row storm_p99 "    the longest of the others" ms -
	row storm_lost "  events lost" '' '<=0'
}

begin_storm() { # HOW
	storms=$((${storms:-0} + 1))
	echo "storm $STORM $LIVES $1" >&"$boxes_fd"
}

await_storm() {
	until [ "$(grep -c '^stormed' "$work/boxes")" = "$storms" ]; do
		kill -0 $boxes 2> /dev/null || exit 1
		sleep 0.05
	done
}

# How many of those that begin and end in a storm have names in their records.
storm_named() {
	: > "$work/out"
	"${bound[@]}" "$graced" trace -o json --cri.endpoint "$socket" > "$work/out" 2> "$work/err" &
	tracer=$!
	await_attached
	begin_storm well
	await_storm
	sleep 1 # a record waits a moment for its name
	stop_tracer
	sample storm_named graced "$(grep '"type":"stop"' "$work/out" | awk '
		/"name":"main"/ { named++ } END { print NR ? named / NR * 100 : 0 }')"
	rm "$work/out"
}

storm_leg() { # NAME HOW ARGS
	local waits lost=0 now
	begin_storm "$2"
	"${bound[@]}" "$tools/bench_wait" signal $((STORM * 40)) "${pids[0]}" "$graced" trace -o json --signals \
		"${@:3}" > "$work/leg" 2> "$work/err" &
	waits=$!
	while kill -0 $waits 2> /dev/null; do
		now=$(losses_of_child $waits) && lost=${now:-$lost}
		sleep 0.2
	done
	wait $waits || note "a storm ($1) was not seen to its end: $(tail -n 3 "$work/err" | tr "\n" " ")"
	await_storm
	awk '{ print $1 / 1e6 }' "$work/leg" >> "$work/storm_$1.graced"
	sample storm_lost graced "$lost"
}

losses_of_child() {
	local child
	read -r child < "/proc/$1/task/$1/children" && "$tools/bench_bpf" losses "$child"
} 2> /dev/null

storm_delay() {
	local name unnamed
	unnamed=$(spread "$work/storm_unnamed.graced" | cut -d' ' -f1)
	percentile99 "$work/storm_unnamed.graced" > "$work/storm_unnamed_p99.graced"
	for name in well late never; do
		percentile99 "$work/storm_$name.graced"
	done | sort -g | tail -1 > "$work/storm_p99.graced"
	for name in well late never; do
		spread "$work/storm_$name.graced"
	done | awk -v u="$unnamed" 'NR == 1 || $1 - u > d { d = $1 - u } END { print d }' \
		> "$work/storm_delay.graced"
}
