# SPDX-License-Identifier: Apache-2.0
# Samples, and what is made of them: the rows of the table and of bench.json.
#
# A sample is a line of $work/<row>.<who>; who is graced, bpftrace, exitsnoop or sigsnoop.

sample() { # ROW WHO NUMBER...
	printf '%s\n' "${@:3}" >> "$work/$1.$2"
}

# Prints median, lower and upper quartile, and count of the numbers in a file; nothing if it has none.
spread() {
	[ -s "$1" ] || return 0
	sort -g "$1" | awk '
	function at(q,    p, i) { p = 1 + q * (NR - 1); i = int(p)
		return i < NR ? v[i] + (p - i) * (v[i + 1] - v[i]) : v[NR] }
	{ v[NR] = $1 }
	END { printf "%.17g %.17g %.17g %d\n", at(0.5), at(0.25), at(0.75), NR }'
}

# The 99th of a hundred.
percentile99() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int(NR * 0.99 + 0.5)] }'; }

table_begin() {
	printf 'graced %s, kernel %s, %s CPUs, %s' "$("$graced" version | awk '{ print $2; exit }')" \
		"$(uname -r)" "$(nproc)" "load $(cut -d' ' -f1 /proc/loadavg) at the beginning"
	printf '\n%s' "$(machine)"
	printf '\nmedians, in brackets quartiles; (x2.0): twice what graced takes\n\n'
	table_line 'FIGURE' 'GRACED' '[QUARTILES]' 'BPFTRACE' 'SNOOP' 'TARGET' 'REACHED'
	: > "$work/rows"
}

table_line() {
	printf '%-46.46s %10s %-17s %-13s %-13s %-10s %s\n' "$@"
}

# row KEY WHAT UNIT TARGET [COMPARED]: prints and keeps a row of the samples so far. TARGET is an
# operator and a number like "<=0.15", or - for a figure that only informs. With ratio as COMPARED
# the other tools' figures are told as multiples, too.
row() {
	local key=$1 what=$2 unit=$3 target=$4 compared=${5-} snoop=exitsnoop line
	[ ! -e "$work/$key.sigsnoop" ] || snoop=sigsnoop
	line=$(printf '%s|' "$key" "$what" "$unit" "$target" "$compared" "$(spread "$work/$key.graced")" \
		"$(spread "$work/$key.bpftrace")" "$snoop" "$(spread "$work/$key.$snoop")")
	echo "$line" >> "$work/rows"
	local cells
	mapfile -t cells < <(echo "$line" | awk -F'|' -f "$here/row.awk")
	table_line "${cells[@]}"
}

# multiple KEY OTHER TARGET: a row with a figure's median as a multiple of the one in another file of
# samples, KEY.WHO: both are of this run.
multiple() {
	local mine other
	read -r mine _ < <(spread "$work/$1.graced") || true
	read -r other _ < <(spread "$work/$2") || true
	[ -z "$mine" ] || [ -z "$other" ] ||
		sample "$1_multiple" graced "$(awk -v a="$mine" -v b="$other" 'BEGIN { if (b > 0) print a / b }')"
	row "$1_multiple" "  as a multiple of what ${2##*.} takes" x "$3"
}

# Which processor it is, and what it does against side channels, on which the cost of a helper depends.
machine() {
	printf '%s; %s\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
		"$(systemd-detect-virt --vm 2> /dev/null || true)"
	grep -H . /sys/devices/system/cpu/vulnerabilities/* 2> /dev/null |
		sed -n 's,^.*/\([a-z_0-9]*\):Mitigation: ,\1: ,p'
}

table_end() {
	awk -F'|' -v version="$("$graced" version | awk '{ print $2; exit }')" -v kernel="$(uname -r)" \
		-v cpus="$(nproc)" -v machine="$(machine | paste -sd';')" -v json=1 -f "$here/row.awk" "$work/rows" > "$work/json"
	cp "$work/json" "$BUILD/bench.json"
	awk -F'|' -v markdown=1 -f "$here/row.awk" "$work/rows" > "$BUILD/bench.md"
	printf '\n%s\n' "$(awk -F'|' -v sum=1 -f "$here/row.awk" "$work/rows")"
	notes
}

# What stands behind some figures, said once.
note() { printf '%s\n' "$*" >> "$work/notes"; }
notes() { [ ! -s "$work/notes" ] || sort -u "$work/notes"; }
