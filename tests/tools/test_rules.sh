#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Claims about the alerts, the questions and the dashboard, with a real Prometheus: tests/prometheus/claims.py.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
story=$(realpath "${BUILD:-$root/build}")/tools/metrics_story
[[ -x $story ]] || { echo "no $story: make plain-programs builds it" >&2 && exit 1; }
. "$root/tests/lib/tap.sh"

try "$root/tools/prometheus-rule" 'a: b'
((rc == 2)) && [[ ! -s $out && $(wc -l <"$err") == 1 ]]
claim "the object for the operator is in no namespace that cannot be one" $?
try "$root/tools/prometheus-rule" graced 'https://a b'
((rc == 2)) && [[ ! -s $out && $(wc -l <"$err") == 1 ]]
claim "its alerts link to no address that cannot be one" $?

prometheus=${PROMETHEUS:-$("$root/tools/prometheus" "$(realpath "${BUILD:-$root/build}")/prometheus")}
if [[ ! -x $prometheus/prometheus ]]; then
	skip "alerts, questions and the dashboard hold" "there is no Prometheus"
	conclude
fi
"$root/tools/prometheus-rule" monitoring >"$out"
[[ $(grep '^  namespace: ' "$out") == '  namespace: "monitoring"' ]] &&
	cmp -s <(sed -e '1,/^spec:/d' -e 's/^  //' "$out") <(grep -v '^#' "$root/deploy/graced.rules.yaml") 2>"$err"
claim "the object for the operator has the rules of the file, all of them" $?
"$root/tools/prometheus-rule" monitoring https://docs.example.com/graced/ | diff "$out" - >"$tmp/differs"
n=$(grep -c ' - alert: ' "$root/deploy/graced.rules.yaml")
[[ $(grep -c '^>.* runbook_url: https://docs.example.com/graced/alerts.md#graced' "$tmp/differs") == "$n" &&
	$(grep -c '^>' "$tmp/differs") == "$n" ]]
claim "with the address of the docs each alert links to its runbook there, and nothing else changes" $?
/usr/bin/python3 "$root/tests/prometheus/claims.py" "$root" "$story" "$prometheus" "$tmp" >"$tmp/claims" 2>"$err"
rc=$?
# Numbers go on from the first claim.
sed -E '/^1\.\./d; /^(not )?ok/s/^((not )?ok) [0-9]+/\1/' "$tmp/claims"
count=$((count + $(grep -c '^\(not \)\?ok ' "$tmp/claims")))
claim "all claims were made" "$rc"
conclude
