# SPDX-License-Identifier: Apache-2.0
# How long after the last process of a node graced wait --empty returns, on each hierarchy.

EMPTIED=${EMPTIED:-500} # containers, a few of them in ways that are easily misjudged

bench_empty() {
	local spec hierarchy what
	for spec in "memory|cgroup v1" "unified|cgroup v2"; do
		IFS='|' read -r hierarchy what <<< "$spec"
		GRACED_TEST_HIERARCHY=$hierarchy "$tools/bench_empty" "$EMPTIED" "$ROUNDS" "$graced" 2> "$work/err" |
			awk '{ print $1 / 1e6 }' > "$work/empty_$hierarchy.graced" ||
			note "wait --empty on $what: $(tail -1 "$work/err")"
		row "empty_$hierarchy" "wait --empty after the last of $EMPTIED, $what" ms '<=100'
	done
}
