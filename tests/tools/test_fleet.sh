#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Claims about the simulated fleet that make bench-fleet has scraped: tools/fleet.c.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
fleet=$(realpath "${BUILD:-$root/build}")/tools/fleet
[[ -x $fleet ]] || { echo "no $fleet: make plain-programs builds it" >&2 && exit 1; }
. "$root/tests/lib/tap.sh"
recordings=$root/tests/replay
# 2026-11-01T10:00:00Z and, of the same day, two hours later.
at=1793527200 later=1793534400

page() { # NODE TIME [FORMAT]
	try "$fleet" page 500 "$recordings" "$@" && ((rc == 0))
}
samples() { grep -v '^#' "$1" | LC_ALL=C sort; }

page 7 $at && cp "$out" "$tmp/a"
page 7 $at && cmp "$tmp/a" "$out" 2>"$err"
claim "a node has one page at one time" $?

bad=0
for node in {0..19}; do
	page "$node" $at && samples "$out" | grep '^graced_container_stops_total' >"$tmp/node-$node" || bad=1
done
(($(sha256sum "$tmp"/node-* | cut -d' ' -f1 | sort -u | wc -l) == 20)) || bad=1
cut -d'"' -f2,4,6 "$tmp"/node-* | grep -v '^kube-system\|^monitoring' | sort | uniq -c | sort -rn >"$err"
# One of 997 workloads on as many as 3 of 20 nodes, with 22 pods at a time each: no node is like another.
(($(wc -l <"$err") > 200)) || bad=1
claim "20 nodes have pages that differ, with workloads that differ" $bad

bad=0
: >"$err"
for node in 1 2 3; do
	for time in $at $((at + 1800)) $((at + 3600)) $later; do
		page $node "$time" && samples "$out" |
			grep -E '^[a-z_]+_(total|bucket|count|sum)[{ ]' >"$tmp/new" || bad=1
		if [[ $time != "$at" ]]; then
			awk 'NR == FNR { old[substr($0, 1, length($0) - length($NF) - 1)] = $NF; next }
			{ name = substr($0, 1, length($0) - length($NF) - 1) }
			name in old { both++; grew += $NF > old[name]; if ($NF + 0 < old[name] + 0) print "fell: " $0 }
			END { if (both < 400 || grew < 20) print both " series in both pages, " grew " of them grew" }' \
				"$tmp/old" "$tmp/new" >>"$err"
		fi
		mv "$tmp/new" "$tmp/old"
	done
done
[[ ! -s $err ]] || bad=1
claim "no counter falls with time, and some grow" $bad

page 7 $at openmetrics
[[ $(tail -n 1 "$out") == '# EOF' ]] && grep -q ' # {id="' "$out" &&
	[[ $(grep '^graced_series_absorbed_total' "$out" | awk '{ sum += $NF } END { print sum }') == 0 ]]
claim "a page is within the limit of series, and in OpenMetrics has exemplars" $?

prometheus=${PROMETHEUS:-$("$root/tools/prometheus" "$(realpath "${BUILD:-$root/build}")/prometheus")}
sentence="promtool finds nothing wrong with a page"
if [[ -x $prometheus/promtool ]]; then
	page 7 $at && cp "$out" "$tmp/a"
	timeout 120 "$prometheus/promtool" check metrics <"$tmp/a" >"$out" 2>"$err"
	claim "$sentence" $?
else
	skip "$sentence" "there is no promtool"
fi

"$fleet" serve 5 "$recordings" "$tmp/targets" 30 600 2>"$err" &
served=$!
trap 'kill $served 2>/dev/null; remove_tmp' EXIT
for ((i = 0; i < 1200; i++)); do
	[[ -e $tmp/targets ]] && break
	sleep 0.1
done
bad=0
[[ $(jq -r '[.[].labels.instance] | unique | length' "$tmp/targets") == 5 ]] || bad=1
url=http://$(jq -r '.[3] | .targets[0] + .labels.__metrics_path__' "$tmp/targets")
times=()
for _ in 1 2 3 4 5; do
	curl -sS --max-time 20 "$url" >"$out" 2>"$err" || bad=1
	# The time of a sample, where it has one.
	times+=("$(awk '/^graced_build_info/ { print (NF > 2 ? $NF : "now") }' "$out")")
done
[[ ${times[4]} == now && ${times[0]} != now ]] && ((times[1] - times[0] == 600 && times[0] < $(date +%s) - 1000)) || bad=1
[[ $(curl -sS --max-time 20 "${url%/node*}/fleet" | jq -r '[.past, .pages] | join(" ")') == '4 5' ]] || bad=1
curl -sS --max-time 20 -o /dev/null -w '%{http_code}' "${url%/node*}/node/5/metrics" | grep -q 404 || bad=1
claim "a scrape of a node is of the past until that is over, then of the present" $bad
kill $served && wait $served
claim "it ends well when it is asked to" $?

try "$fleet" events 50 "$recordings" 24
jq -e '.stops > 5000 and .created > 100 and .created < .stops and .dropped == 0' "$out" >"$tmp/why"
claim "some stops of an ordinary day are worth an Event, and none is dropped" $?
conclude
