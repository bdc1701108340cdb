# SPDX-License-Identifier: Apache-2.0
# What an exit costs that nobody asked about: in BPF, and as the slowdown of a storm of them.

exit_tools() {
	local who
	for who in graced bpftrace exitsnoop; do
		! have "$who" || echo "$who"
	done
}

# On one CPU, so that the scheduler's choice of another is not what is measured.
exits() { taskset -c "$(($(nproc) - 1))" "$tools/storm" exits "$LEG"; }

# How deep in the hierarchy of the containers the processes are that end.
DEPTHS=(0 2 10)

# Leaves depth_top: a cgroup to be made at the top of the hierarchy of the containers.
find_top() {
	[ -z "$depth_top" ] || return 0
	start_boxes 1
	depth_top=$(findmnt -nro TARGET -T "${dirs[0]}" | tail -n 1)/graced-bench-$$
	stop_boxes
}

# make_depths: cgroups at these depths, their paths in depths.
make_depths() {
	local depth dir
	find_top
	depths=()
	for depth in "${DEPTHS[@]}"; do
		dir=${depth_top%/*}
		((depth)) && dir=$depth_top$(printf '/d%.0s' $(seq 2 "$depth"))
		mkdir -p "$dir"
		depths+=("$dir")
	done
}

# In a cgroup: what follows replaces this shell.
enter() { sh -c 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"' sh "$@"; }

# BPF time of an exit, the tools in turns.
bench_exits() {
	local who round i
	local -a list
	mapfile -t list < <(exit_tools)
	make_depths
	for ((round = 0; round < ROUNDS; round++)); do
		for who in "${list[@]}"; do
			start "$who"
			for i in "${!DEPTHS[@]}"; do
				"$tools/bench_bpf" time "$tracer" bash -c "$(declare -f enter); enter "'"$@"' bash \
					"${depths[i]}" taskset -c "$(($(nproc) - 1))" "$tools/storm" exits "$LEG" > "$work/times"
				sample_exits "$who" "${DEPTHS[i]}"
			done
			stop_tracer
		done
	done
	for i in "${DEPTHS[@]}"; do
		row "exit_$i" "BPF time of an exit outside, at depth $i" us - ratio
		multiple "exit_$i" "exit_$i.bpftrace" '<=1.5'
		row "exit_all_$i" "  with that of its SIGCHLD, all programs" us - ratio
		multiple "exit_all_$i" "exit_all_$i.bpftrace" '<=2.5'
	done
}

# The first line is the storm's: how many, how long.
sample_exits() { # WHO DEPTH
	sample "exit_$2" "$1" "$(awk '
		NR > 1 && ($1 !~ /^on_/ || $1 ~ /^on_exit/) { runs += $2; ns += $3 }
		END { print runs ? ns / runs / 1000 : 0 }' "$work/times")"
	sample "exit_all_$2" "$1" "$(awk '
		NR == 1 { exits = $1 } NR > 1 { ns += $3 } END { print ns / exits / 1000 }' "$work/times")"
}

# ns of an exit: by the clock, and of CPU time.
per_exit() { exits | awk '{ print $2 / $1, $3 / $1 }'; }

# slowdown WITH BEFORE AFTER: of a leg against the two beside it, in percent.
slowdown() { awk -v w="$1" -v b="$2" -v a="$3" 'BEGIN { print (2 * w / (b + a) - 1) * 100 }'; }

# Legs without a tracer stand between all others, and each leg with one is compared with the two
# beside it, so that a drift of the machine's speed cancels. What others take of the CPU meanwhile
# is in the clock's figure alone.
bench_storm() {
	local who round
	local -a list before with after
	mapfile -t list < <(exit_tools)
	read -ra before < <(per_exit)
	for ((round = 0; round < ROUNDS; round++)); do
		for who in "${list[@]}"; do
			start "$who"
			read -ra with < <(per_exit)
			stop_tracer
			read -ra after < <(per_exit)
			sample exit_storm "$who" "$(slowdown "${with[0]}" "${before[0]}" "${after[0]}")"
			sample exit_storm_cpu "$who" "$(slowdown "${with[1]}" "${before[1]}" "${after[1]}")"
			before=("${after[@]}")
		done
	done
	row exit_storm "vfork-exit storm outside any, slowed down by" % '<=3'
	row exit_storm_cpu "  by its own CPU time (not by other load)" % -
}
