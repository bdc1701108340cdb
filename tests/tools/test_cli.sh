#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uses the command line as people and scripts do, rightly and wrongly: what goes where, and the exit
# status. What needs root or BTF is skipped aloud without them. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"
graced=$(open_copy "$graced") || exit 1

clean_up() {
	local left
	mapfile -t left < <(jobs -pr)
	((${#left[@]})) && kill -KILL "${left[@]}" 2>/dev/null
	remove_tmp
}
trap clean_up EXIT

# --- help and version ------------------------------------------------------------------------

commands="why log report trace top pods audit try plan explain run check shutdown wait resolve record replay version"
bad=0
try "$graced" --help
for c in $commands; do grep -qE "^  $c[, ]" "$out" || bad=1; done
((rc == 0)) && quiet "$err" || bad=1
claim "--help names every command, on stdout" $bad

bad=0
while read -r question answers; do
	[[ $(sed -nE "/^${question//_/ }/,/^$/s/^  ([a-z]+)[, ].*/\1/p" "$out" | tr '\n' ' ') == "$answers " ]] || bad=1
done <<'END'
Why_did_it_die why log report
What_happens_now trace top pods
Will_it_stop_well audit try plan explain
END
(($(wc -L <"$out") <= 80)) || bad=1
claim "--help has commands below the question that they answer, in 80 columns" $bad

bad=0
for c in $commands; do
	for flag in --help -h; do
		try "$graced" "$c" $flag
		((rc == 0)) && quiet "$err" && grep -q "^usage: graced $c" "$out" || bad=1
	done
done
claim "each command's --help is on stdout, exit 0" $bad

bad=0
for c in $commands; do
	script -qec "stty cols 80; $(printf '%q ' "$graced" "$c") --help" /dev/null </dev/null | tr -d '\r' |
		sed '/^EXAMPLES/,$d' >"$tmp/narrow"
	# Without the spaces and line ends both are the same text.
	(($(wc -L <"$tmp/narrow") <= 80)) && [[ $(tr -d ' \n' <"$tmp/narrow") == \
		"$("$graced" "$c" --help | sed '/^EXAMPLES/,$d' | tr -d ' \n')" ]] && continue
	echo "# $c is $(wc -L <"$tmp/narrow") columns wide"
	bad=1
done
claim "on a terminal of 80 columns each command's --help fits, up to its examples" $bad

bad=0
for command in $commands; do
	"$graced" "$command" --help | sed -n '/^EXAMPLES$/,$p' | grep -q "graced $command" || {
		echo "# $command"
		bad=1
	}
done
claim "each command's --help has an example" $bad

bad=0
for command in $commands; do
	page=graced-$command
	[[ $command == version ]] && page=graced
	"$graced" "$command" --help | grep -A 1 '^MANUAL PAGE$' | grep -qxF "  $page(8)" &&
		[[ -e $root/docs/$page.8 ]] || {
		echo "# $command"
		bad=1
	}
done
claim "each command's --help names its manual page, which is there" $bad

try "$graced" version
((rc == 0)) && one_line "$out" && grep -qE '^graced [0-9]' "$out"
claim "version prints one line" $?

# --- wrong use -------------------------------------------------------------------------------

wrong=$tmp/wrong
cat >"$wrong" <<'END'
|which command
trce|did you mean trace
bogus|'bogus'
trace --nope|--nope
trace -x|-x
trace -o|-o
trace --output xml|'xml'
trace -s FOO|'FOO'
trace -s TERM,|'TERM,'
trace -s 65|'65'
trace --outcome dead|'dead'
trace --scope everything|'everything'
trace --count 0|'0'
trace --count -1|'-1'
trace --duration 10x|'10x'
trace --duration 0|'0'
trace --assume-grace soon|'soon'
trace --ring-size 5000|'5000'
trace --ring-size 99999999999999999999|'99999999999999999999'
trace --nested-nodes docker|'docker'
trace -n|-n
trace stray|'stray'
trace --record -|--record
trace -o columns=|''
trace -o columns=time,pot|'pot'
trace -o columns=time,time|'time'
trace --sort time|--sort
trace --color green|'green'
trace --no-headers=yes|--no-headers
replay --utc a|--utc
replay --sort time a|--sort
replay -o columns=verdict a|'verdict'
audit -o xml|'xml'
audit -o columns=pod,outcome|'outcome'
audit --sort pod,|''
audit --sort --pid|'-pid'
audit -o json --sort pod|--sort
explain -o wide a|'wide'
plan --pods a --sort by|'by'
plan --pods a --deadline 2m --sort group|'group'
plan --pods a --if-node-dies -o columns=group|'group'
pods -o columns=name|'name'
report -o columns=pod|'pod'
report -o svg --sort took|--sort
resolve -o columns=cgroups 1|'cgroups'
check --color always|--color
record|FILE
record a b|'b'
record --count 3 a|--count
replay|FILE
replay a b|'b'
replay --duration 3s a|--duration
pods stray|'stray'
pods -s TERM|-s
pods -o xml|'xml'
pods --control.socket|--control.socket
explain|pod
explain a b|one pod
explain --kubelet.version 1.19 a|'1.19'
explain --kubelet.version 1.37 a|'1.37'
explain --kubelet.version 36 a|'36'
explain --job - -|Job
plan|kubectl get pods -A -o json --field-selector spec.nodeName=NODE
plan a|'a'
plan --pods a --kubelet.version 1.19|'1.19'
plan --pods a --out-of-service|--out-of-service goes with --if-node-dies
plan --pods a --out-of-service-after 1m|--out-of-service-after goes with --if-node-dies
plan --pods a --out-of-service-effect NoSchedule|--out-of-service-effect goes with --if-node-dies
plan --pods a --node-monitor-grace-period 40s|--node-monitor-grace-period goes with --if-node-dies
plan --if-node-dies --pods a --deadline 2m|--deadline does not go with --if-node-dies
plan --pods a --deadline 0|'0'
plan --pods a --deadline 1500ms|'1500ms'
plan --deadline 2m|--pods
plan --if-node-dies --pods a --kubelet.config b|--kubelet.config does not go with --if-node-dies
plan --if-node-dies|kubectl get pods -A -o json --field-selector spec.nodeName=NODE
plan --if-node-dies a|'a'
plan --if-node-dies --pods a --kubelet.version 1.37|'1.37'
plan --if-node-dies --pods a --node-monitor-grace-period 0|'0'
plan --if-node-dies --pods a --node-monitor-grace-period 1500ms|'1500ms'
plan --if-node-dies --pods a --out-of-service-after 1m|--out-of-service-after
plan --if-node-dies --pods a --out-of-service-effect NoSchedule|--out-of-service-effect
plan --if-node-dies --pods a --out-of-service --out-of-service-effect None|'None'
report stray|'stray'
report -c main|-c
report -o xml|'xml'
report --boot|--boot
why -o xml a|'xml'
why --last 0 a|'0'
why a b|'b'
why -c main|-c
resolve|pid
resolve a,,b|'a,,b'
resolve 4:x:y|'4:x:y'
trace -c a,|'a,'
trace -p !|'!'
trace --outcome killed,dead|'killed,dead'
wait|--empty
wait --empty stray|'stray'
wait --empty --timeout 0|'0'
wait --empty --timeout soon|'soon'
wait --empty --ignore-daemonsets|--pods
wait --empty --pods a|--pods goes with --ignore-daemonsets
wait --empty -o json|-o
check stray|'stray'
version stray|'stray'
END
bad=0
while IFS='|' read -r args names; do
	# shellcheck disable=SC2086 # the words are the arguments
	try "$graced" $args
	refused 2 "$names" || { bad=1 && echo "# graced $args" && break; }
done <"$wrong"
claim "wrong use is one line on stderr that names the argument, exit 2" $bad

try "$graced" trace $'\e[31m\nred'
refused 2 '\\x1b\[31m\\x0ared'
claim "an argument with control characters is shown harmlessly" $?

# --- replay ----------------------------------------------------------------------------------

id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
pod=94dc9966-6b7c-4a2b-9f0e-0123456789ab
sleeper='"pid":70,"ns_pid":1,"start_ns":900,"cgroup_id":9,"watch_id":9,"comm":"sleep","exe":"sleep"'
rec=$tmp/good.rec
cat >"$rec" <<END
{"type":"graced-recording","version":1,"abi":1,"graced":"test","scope":"containers","assumed_grace_ns":0,"nested_nodes":[]}
{"type":"cgroup_found","at_ns":1000,"id":1,"kind":1,"path":"/"}
{"type":"cgroup_found","at_ns":1000,"id":9,"parent_id":1,"kind":3,"level":3,"path":"/kubepods/pod$pod/$id"}
{"type":"names","at_ns":1500,"pod_uid":"$pod","container_id":"$id","namespace":"default","pod":"web-0","container":"main","found":true}
{"type":"attached","at_ns":2000,"boot_id":"3f09d64f-f14a-4aa0-9d9e-b77a2b555729","node":"n","hierarchy":"unified","wall_offset_ns":1700000000000000000,"self_pid":5,"programs":7}
{"type":"init","at_ns":3000,"id":9,"rank":3,$sleeper}
{"type":"exit","at_ns":4000,"id":9,"status":256,"flags":1,$sleeper,"exits":1}
{"type":"cgroup_empty","at_ns":5000,"id":9,"exits":1}
{"type":"init","at_ns":6000,"id":9,"rank":3,${sleeper/70/71}}
{"type":"exit","at_ns":7000,"id":9,"status":0,"flags":1,${sleeper/70/71},"exits":2}
{"type":"end","at_ns":8000}
END

try "$graced" replay -o json "$rec"
((rc == 0)) && quiet "$err" && [[ $(grep -c '"type":"stop"' "$out") == 2 ]]
claim "a recording is replayed, what the end held back included" $?

cp "$out" "$tmp/first"
try "$graced" replay -o json - <"$rec"
timeout 120 "$graced" replay -o json - <"$rec" 2>&1 | cmp -s - "$tmp/first"
claim "replay reads standard input and gives the same bytes" $?

if ((EUID == 0)); then
	chmod 644 "$rec"
	try setpriv --reuid 65534 --clear-groups "$graced" replay -o json "$rec"
	((rc == 0)) && cmp -s "$out" "$tmp/first"
	claim "replay needs no privilege" $?
else
	skip "replay needs no privilege" "not root, so that it runs without anyway"
fi

try "$graced" replay "$rec"
((rc == 0)) && [[ $(lines "$out") == 3 ]] && ! grep -q '[[:cntrl:]]' "$out"
claim "a table goes to a file without colours" $?

titles() { head -n 1 "$out" | tr -s ' ' | sed 's/ $//'; }
try "$graced" replay -o columns=outcome,pod "$rec"
((rc == 0)) && [[ $(titles) == "OUTCOME POD" ]] && sed -n 2p "$out" | grep -qE '^failed +default/web-0$'
claim "columns that are named are shown in that order" $?

try "$graced" replay --no-headers "$rec"
((rc == 0)) && [[ $(lines "$out") == 2 ]] && ! grep -q TIME "$out"
claim "--no-headers prints rows alone" $?

try "$graced" replay -o wide "$rec"
[[ $rc == 0 && $(titles) == "DATE TIME POD CONTAINER WORKLOAD ID OUTCOME "*" KIND PID COMM NOTE" ]]
claim "a wide table has more columns" $?

bad=0
for args in "--color always" "--color=always" "--color never --color always"; do
	# shellcheck disable=SC2086 # the words are the arguments
	try env NO_COLOR=1 "$graced" replay $args "$rec"
	((rc == 0)) && grep -q $'\e\\[1mTIME' "$out" || bad=1
done
try env -u NO_COLOR TERM=xterm CLICOLOR_FORCE=1 "$graced" replay "$rec"
((rc == 0)) && ! grep -q $'\e' "$out" || bad=1
claim "--color always colours a file, which nothing else does" $bad

outside=$tmp/outside.rec
grep -v '"names"' "$rec" | sed "s,/kubepods/pod$pod/$id,/system.slice/docker-$id.scope," >"$outside"
try "$graced" replay "$outside"
((rc == 0)) && [[ $(titles) == "TIME CONTAINER OUTCOME "* && $(lines "$out") == 3 ]]
claim "there is no column of pods where nothing is in one" $?

try "$graced" replay -p web-0 "$outside"
((rc == 0)) && [[ $(titles) == "TIME POD CONTAINER "* && $(lines "$out") == 1 ]]
claim "there is one where a pod is asked for" $?

terminal() { # COLUMNS ARG...
	timeout 120 script -qec "stty cols $1; $(printf '%q ' "$graced" "${@:2}") 2>/dev/null" /dev/null </dev/null |
		tr -d '\r' >"$out"
	rc=${PIPESTATUS[0]}
	: >"$err"
}
narrow="a terminal's width decides which columns there are, and -o wide has all"
if command -v script >/dev/null; then
	bad=0
	terminal 60 replay --color never "$rec"
	((rc == 0)) && [[ $(titles) == "POD CONTAINER OUTCOME CAUSE TOOK" ]] && ! grep -qE 'EXIT|.{61}' "$out" || bad=1
	terminal 60 replay --color never -o wide "$rec"
	((rc == 0)) && [[ $(titles) == "DATE TIME POD CONTAINER WORKLOAD ID "*" NOTE" ]] || bad=1
	terminal 200 replay "$rec"
	((rc == 0)) && grep -q $'\e\\[1mEXIT' "$out" || bad=1
	claim "$narrow" $bad
else
	skip "$narrow" "no script"
fi

try "$graced" replay -o json --outcome completed "$rec"
[[ $rc == 0 && $(grep -c '"type":"stop"' "$out") == 1 ]]
claim "replay filters as trace does" $?

try "$graced" replay -o json --count 1 "$rec"
[[ $rc == 0 && $(grep -c '"type":"stop"' "$out") == 1 ]]
claim "replay ends after --count rows" $?

try "$graced" replay -o json --scope pods --assume-grace 30s "$rec"
((rc == 0)) && grep -q '"seconds":30' "$out"
claim "what the recording was made with may be overruled" $?

# Every way to cut it short: rows before the cut are whole, and it says so.
bad=0 size=$(stat -c %s "$rec")
for ((n = 1; n < size; n += 37)); do
	head -c "$n" "$rec" >"$tmp/cut.rec"
	try "$graced" replay -o json "$tmp/cut.rec"
	((rc == 1)) && one_line "$err" && head -n "$(lines "$out")" "$tmp/first" | cmp -s - "$out" ||
		{ bad=1 && echo "# cut after $n bytes" && break; }
done
claim "a recording that was cut short anywhere is reported in one line, exit 1, with whole rows" $bad

head -n 7 "$rec" | head -c -9 >"$tmp/cut.rec"
try "$graced" replay -o json "$tmp/cut.rec"
((rc == 1)) && grep -qE 'line 7' "$err"
claim "a cut line is named by its number" $?

sed '6s/.*/{"type":"init","at_ns":"x"}/' "$rec" >"$tmp/odd.rec"
try "$graced" replay -o json "$tmp/odd.rec"
((rc == 1)) && one_line "$err" && grep -qE 'line 6' "$err" && [[ $(lines "$out") == 1 ]]
claim "a line that is no observation is named, and what came before is printed" $?

foreign() { # TEXT PATTERN
	printf '%b' "$1" >"$tmp/foreign"
	try "$graced" replay "$tmp/foreign"
	refused 1 "$2"
}
bad=0
foreign '' 'not a graced recording' || bad=1
foreign 'hello\n' 'not a graced recording' || bad=1
foreign '{"type":"stop"}\n' 'not a graced recording' || bad=1
foreign '\x00\x01\xff\xfe' 'not a graced recording' || bad=1
head -c 200000 /dev/zero >"$tmp/foreign"
try "$graced" replay "$tmp/foreign"
refused 1 'not a graced recording' || bad=1
claim "a foreign file is reported as one, exit 1" $bad

sed '1s/"version":1/"version":7/' "$rec" >"$tmp/newer.rec"
try "$graced" replay "$tmp/newer.rec"
refused 1 'version 7'
claim "a newer recording is refused with its version" $?

{ head -n 5 "$rec" && head -c 100000 /dev/zero | tr '\0' 'x' && echo; } >"$tmp/long.rec"
try "$graced" replay -o json "$tmp/long.rec"
((rc == 1)) && one_line "$err" && grep -qE 'line 6' "$err"
claim "a line without end is refused by its number" $?

bad=0
try "$graced" replay "$tmp/absent.rec"
refused 1 'absent.rec' || bad=1
try "$graced" replay "$tmp"
refused 1 'directory' || bad=1
claim "a file that cannot be read is reported, exit 1" $bad

bad=0 rc=0
timeout 120 "$graced" replay -o json "$rec" >/dev/full 2>"$err" || rc=$?
: >"$out"
refused 1 'standard output' || bad=1
rc=0
timeout 120 "$graced" version >&- 2>"$err" || rc=$?
refused 1 'standard output' || bad=1
claim "a full disk, and a standard output that is closed, are reported in one line, exit 1" $bad

body=$(sed -n '6,8p' "$rec")
{ head -n 5 "$rec" && for ((i = 0; i < 3000; i++)); do echo "$body"; done && tail -n 1 "$rec"; } >"$tmp/many.rec"
timeout 120 "$graced" replay -o json "$tmp/many.rec" 2>"$err" | head -n 1 >"$out"
rc=${PIPESTATUS[0]}
((rc == 0)) && quiet "$err" && one_line "$out"
claim "replay | head -1 ends quietly" $?

# --- resolve -----------------------------------------------------------------------------------

try "$graced" resolve --no-names.enabled -o columns=pod,what --no-headers --sort -pod /kubepods/pod$pod/$id \
	/system.slice/docker-$id.scope "/kubepods/podf${pod:1}/$id"
((rc == 0)) && [[ $(awk '{ print $1 }' "$out" | paste -sd' ') == "f${pod:1} $pod -" ]]
claim "rows are sorted on request, and what is unknown comes last" $?

# --- explain ---------------------------------------------------------------------------------

try "$graced" explain tests/pods/no-such-pod.json
refused 1 'no-such-pod'
claim "explain says which file it cannot read, exit 1" $?
echo '{"metadata":{},"spec":{"containers":[{"name":3}]}}' >"$tmp/pod.json"
try "$graced" explain "$tmp/pod.json"
refused 1 'spec\.containers\[0\]\.name'
claim "explain names the member that is wrong, exit 1" $?

echo "{\"kind\":\"List\",\"items\":[$(cat "$tmp/pod.json"),{\"metadata\":{\"name\":\"after\"},\"spec\":{}}]}" |
	timeout 120 "$graced" explain - >"$out" 2>"$err"
rc=$?
((rc == 1)) && one_line "$err" && grep -q 'items\[0\]\.spec\.containers\[0\]\.name' "$err" && grep -q 'after' "$out"
claim "of a list explain tells which pod is wrong, and of the others, exit 1" $?
bad=0
while IFS='|' read -r text why; do
	timeout 120 "$graced" explain - <<<"$text" >"$out" 2>"$err"
	rc=$?
	refused 1 "cannot explain -: $why\$" || bad=1
done <<'END'
|it is empty
[]|it is no pod and no list of pods
null|it is no pod and no list of pods
{"kind":"NodeList","items":[]}|it is no pod and no list of pods
{"kind":"List"|line 2, column 0: it is no JSON
kind|it is no pod and no list of pods
# nothing|it is no pod and no list of pods
kind: [Pod|line 2, column 1: did not find expected .,. or .].
kind: *x|line 1, column 7: an alias ... is not read; write the value out
kind: Deployment|kind is not Pod; of a Deployment or its like, pass the pods
{"kind":"List","items":[5]}|items\[0\] is not an object
{"spec":{},"metadata":{},"spec":{}}|line 1, column 31: "spec" is there twice
END
claim "explain says of what is no pod and no list of pods what it is, exit 1" $bad
try "$graced" explain <(echo '{"kind":"List","items":[]}')
((rc == 0)) && quiet "$out" && one_line "$err" && grep -q 'no pods in /' "$err"
claim "of a list without pods explain says so, exit 0" $?
ln -s pod.json "$tmp/link.json"
try "$graced" explain <(echo '{"metadata":{"name":"piped"},"spec":{}}')
((rc == 0)) && quiet "$err" && grep -q piped "$out" && try "$graced" explain "$tmp/link.json" &&
	grep -q 'containers' "$err"
claim "explain reads pipes and through links" $?

timeout 120 "$graced" explain -o json - <<'END' >"$out" 2>"$err"
{"kind":"List","items":[{"metadata":{"name":"a"},"spec":{}},{"metadata":{"name":"b"},"spec":{}}]}
END
rc=$?
((rc == 0)) && quiet "$err" && [[ $(lines "$out") == 2 ]] && tail -n 1 "$out" | grep -q '"name":"b"'
claim "explain takes a list from standard input, one object a pod" $?

cat >"$tmp/pods.yaml" <<'END'
# a pod, a list, nothing
kind: Pod
metadata: {namespace: shop, name: cart-7d9c}
spec: {containers: [{name: main, image: x}]}
---
kind: List
items:
- kind: Pod
  metadata:
    name: web-0
  spec: {}
- kind: Pod
  metadata: {name: wrong}
  spec: {containers: 3}
---
END
try "$graced" explain "$tmp/pods.yaml"
((rc == 1)) && one_line "$err" && grep -q 'documents\[1\]\.items\[1\]\.spec\.containers is not' "$err" &&
	[[ $(awk '$1 == "POD" { print $2 }' "$out" | paste -sd' ') == "shop/cart-7d9c, web-0," ]]
claim "explain reads YAML of several documents, and says which pod is wrong, exit 1" $?
bad=0
while IFS='|' read -r pick pods; do
	try "$graced" explain $pick "$tmp/pods.yaml"
	((rc == 0)) && quiet "$err" && [[ $(awk '$1 == "POD" { print $2 }' "$out" | paste -sd' ') == "$pods" ]] || bad=1
done <<'END'
-p cart|shop/cart-7d9c,
-p w*0|web-0,
-p cart,web-0|shop/cart-7d9c, web-0,
-p !wrong|shop/cart-7d9c, web-0,
-n shop|shop/cart-7d9c,
END
claim "explain picks pods of a list by their names, and reads no others" $bad
try "$graced" explain -p card "$tmp/pods.yaml"
refused 1 'there is no such pod in'
claim "explain says that there is no pod of that name, exit 1" $?
{
	echo 'a: |'
	head -c 105000000 /dev/zero | tr '\0' ' '
} >"$tmp/big.yaml"
try "$graced" explain "$tmp/big.yaml"
refused 1 'longer than 64 MiB' && printf '[%.0s' {1..100000} | sed 's/^/a: /' >"$tmp/big.yaml" &&
	try "$graced" explain "$tmp/big.yaml" && refused 1 'nested too deeply'
claim "explain refuses YAML that is too long or too deep in one line, exit 1" $?
rm -f "$tmp/big.yaml"

bad=0
for command in $commands; do
	"$graced" "$command" --help >"$tmp/asked"
	try "$graced" help "$command"
	((rc == 0)) && quiet "$err" && cmp -s "$out" "$tmp/asked" || bad=1
done
claim "graced help COMMAND prints what its --help does" $bad

try "$graced" help trac
((rc == 2)) && one_line "$err" && grep -q 'did you mean trace' "$err"
claim "graced help for no command is wrong use" $?

try "$graced" resolve --names.docker-root "$tmp/nowhere" /
((rc == 0)) && one_line "$err" && grep -q "names.docker-root: there is no $tmp/nowhere" "$err"
claim "a directory of an engine that is not there is a warning" $?

# --- resolve and check -----------------------------------------------------------------------

try "$graced" resolve -o json "/kubepods/burstable/pod$pod/$id" "5:memory:/kubepods/pod$pod/$id" $$ /
((rc == 0)) && quiet "$err" && [[ $(lines "$out") == 4 ]] &&
	[[ $(grep -c "\"uid\":\"$pod\"" "$out") == 2 && $(grep -c '"pod":null' "$out") == 2 ]]
claim "resolve answers paths, lines of /proc/PID/cgroup and pids, one object each" $?

mkdir -p "$tmp/log/pods/default_web-0_$pod" "$tmp/log/containers"
ln -s "/var/log/pods/default_web-0_$pod/main/0.log" "$tmp/log/containers/web-0_default_main-$id.log"
try "$graced" resolve --names.log-directory "$tmp/log" "/kubepods/burstable/pod$pod/$id"
((rc == 0)) && grep -qE ' default/web-0 +main ' "$out"
claim "resolve knows names by the log directories" $?

try "$graced" resolve 4194304
refused 1 '4194304'
claim "resolve says when there is no such process, exit 1" $?

try "$graced" check -o json
bad=0
jq -e 'select((.status | IN("ok", "info", "warn", "fail") | not) or .type != "check")' "$out" >/dev/null && bad=1
jq -e . "$out" >/dev/null || bad=1
((rc == 0 || rc == 1)) && quiet "$err" && (($(lines "$out") >= 10)) || bad=1
claim "check prints one object a line, each ok, info, warn or fail" $bad

printf 'shutdownGracePeriod: 30s\nkind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n' >"$tmp/kubelet.yaml"
cat >"$tmp/pod.yaml" <<END
kind: Pod
metadata: {namespace: shop, name: cart-7d9c, uid: $pod}
spec: {nodeName: n, containers: [{name: main, image: x}]}
END
"$graced" replay -o json "$rec" | grep '"type":"stop"' >"$tmp/stops.jsonl"
{
	for command in $commands; do echo "$command --help"; done
	cat <<END
--help
--version
help trace
version
replay $rec
replay -o json $rec
explain $tmp/pod.yaml
explain -o json $tmp/pod.yaml
plan --pods $tmp/pod.yaml --kubelet.config $tmp/kubelet.yaml
plan -o json --pods $tmp/pod.yaml --kubelet.config $tmp/kubelet.yaml
plan --deadline 2m --pods $tmp/pod.yaml
plan --if-node-dies --pods $tmp/pod.yaml
log --file $tmp/stops.jsonl
log -o json --file $tmp/stops.jsonl
report --file $tmp/stops.jsonl
report -o json --file $tmp/stops.jsonl
report -o svg --file $tmp/stops.jsonl
report -o trace-event --file $tmp/stops.jsonl
report -o otlp --file $tmp/stops.jsonl
resolve /
resolve -o json /
check
check -o json
check -o npd
run --config.check
END
} | all_find_it_full
claim "each command that needs no privilege says in one line that the device of standard output is full, exit 1" $?

# --- live ------------------------------------------------------------------------------------

live="SIGINT and SIGTERM end a trace with exit 0 and leave no program behind
trace without privilege is refused in one line, exit 1
check without privilege fails, exit 1
trace without BTF is refused in one line, exit 1
the first JSON line says attached
trace | head -1 ends quietly
a reader that has stopped reading does not keep SIGINT from ending it
each command that looks at this host says in one line that the device of standard output is full, exit 1
an unknown hierarchy is reported in one line, exit 1
trace --record writes for its owner alone what replay prints again
record - goes into a pipe
a recording that cannot be written is reported, and nothing is attached
--duration ends a trace, exit 0
trace of services says when no systemd runs here"
why=
((EUID == 0)) || why="not root"
[[ -e /sys/kernel/btf/vmlinux ]] || why="no BTF"
if [[ $why ]]; then
	while read -r sentence; do skip "$sentence" "$why"; done <<<"$live"
	conclude
fi

# Waits up to 30 seconds for a command to succeed.
await() {
	local end=$((SECONDS + 30))
	until "$@" 2>/dev/null; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

has_line() { [[ -s $1 ]] && (($(lines "$1") >= 1)); }
programs_of() { bpftool -j prog show 2>/dev/null | jq -r ".[] | select(.pids[]?.pid == $1) | .id" 2>/dev/null; }
gone() { # PROG_ID...
	local p
	for p in "$@"; do bpftool prog show id "$p" >/dev/null 2>&1 && return 1; done
	return 0
}
# Other tests may make cgroups that are too many, or too deep.
quiet_beside() { ! grep -v ' cgroups are not watched: ' "$1"; } # FILE
pins() { find /sys/fs/bpf -mindepth 1 2>/dev/null | sort; }
pins >"$tmp/pins"

bad=0
for signal in INT TERM; do
	: >"$out" # or what waits for it may read the last one's
	"$graced" trace -o json >"$out" 2>"$err" </dev/null &
	pid=$!
	await has_line "$out" || bad=1
	# shellcheck disable=SC2046 # one word an id
	set -- $(programs_of "$pid")
	kill -$signal "$pid"
	wait "$pid"
	rc=$?
	((rc == 0)) && quiet_beside "$err" || bad=1
	await gone "$@" || bad=1
done
pins | cmp -s - "$tmp/pins" || bad=1
claim "SIGINT and SIGTERM end a trace with exit 0 and leave no program behind" $bad

head -n 1 "$out" | jq -e '.type == "attached" and .programs > 0' >/dev/null
claim "the first JSON line says attached" $?

try setpriv --reuid 65534 --clear-groups "$graced" trace
refused 1 'root'
claim "trace without privilege is refused in one line, exit 1" $?

try setpriv --reuid 65534 --clear-groups "$graced" check
((rc == 1)) && grep -q '^fail  CAP_BPF' "$out"
claim "check without privilege fails, exit 1" $?

if ((0x$(awk '/^CapPrm/ { print $2 }' /proc/1/status) >> 19 & 1)); then
	try setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$graced" audit --pid 1
	grep -q 'could not be looked into; a capability (CAP_SYS_PTRACE) is missing, or a security module' "$err" &&
		! grep -qE 'run as root|as root,|again as root' "$out" "$err"
	claim "an audit by root who may not look in is not told to run as root" $?
else
	skip "an audit by root who may not look in is not told to run as root" "PID 1 has no CAP_SYS_PTRACE"
fi

try unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" trace' "$graced"
refused 1 'BTF'
claim "trace without BTF is refused in one line, exit 1" $?

timeout 120 "$graced" trace -o json 2>"$err" | head -n 1 >"$out"
rc=${PIPESTATUS[0]}
((rc == 0)) && quiet_beside "$err" && one_line "$out"
claim "trace | head -1 ends quietly" $?

# A full pipe that nobody reads.
mkfifo "$tmp/fifo"
exec 8<>"$tmp/fifo"
timeout 5 sh -c 'while :; do echo; done' >&8 2>/dev/null &
filler=$!
"$graced" trace -o json >"$tmp/fifo" 2>"$err" </dev/null &
pid=$!
attached() { [[ $(programs_of "$pid") ]]; }
await attached
kill -INT "$pid"
wait "$pid"
rc=$?
: >"$out"
((rc == 0 || rc == 1))
claim "a reader that has stopped reading does not keep SIGINT from ending it" $?
kill "$filler" 2>/dev/null
wait "$filler" 2>/dev/null
exec 8>&-

# It is in a directory that no other user may enter.
mkdir -m 700 "$tmp/run"
"$graced" run --control.socket "$tmp/run/control.sock" --checkpoint.file none --web.listen-address 127.0.0.1:0 \
	--shutdown.mode off --no-sinks.stdout --sinks.journal off >"$tmp/daemon.log" 2>&1 &
daemon=$!
await "$graced" pods --control.socket "$tmp/run/control.sock" >"$out"
all_find_it_full <<END
trace
trace -o json
trace --attach -o json
trace --control.socket $tmp/run/control.sock
record --duration 5s -
audit --pid $$
audit -o json --pid $$
shutdown --control.socket $tmp/run/control.sock
shutdown -o json --control.socket $tmp/run/control.sock
END
claim "each command that looks at this host says in one line that the device of standard output is full, exit 1" $?
kill "$daemon" && wait "$daemon" 2>/dev/null

text=$(sh -c 'ulimit -f 0; timeout 120 "$1" check >"$2"; echo "status $?" >&2' sh "$graced" "$tmp/small" \
	2>&1 </dev/null)
[[ $text == *'cannot write to standard output'*'status 1' ]]
claim "a file that may not grow is reported in one line, exit 1" $?

try "$graced" trace --hierarchy nonsense
refused 1 "'nonsense'"
claim "an unknown hierarchy is reported in one line, exit 1" $?

(umask 000 && try "$graced" trace -o json --record "$tmp/live.rec" --duration 300ms && exit "$rc")
rc=$?
try "$graced" replay -o json "$tmp/live.rec"
((rc == 0)) && [[ $(stat -c %a "$tmp/live.rec") == 600 ]] && head -n 1 "$out" | grep -q '"attached"'
claim "trace --record writes for its owner alone what replay prints again" $?

timeout 120 "$graced" record --duration 300ms - 2>"$err" | "$graced" replay -o json - >"$out"
rc=${PIPESTATUS[0]}
((rc == 0)) && quiet "$err" && head -n 1 "$out" | grep -q '"attached"'
claim "record - goes into a pipe" $?

try script -qec "$graced record --duration 100ms $tmp/summary.rec" /dev/null
((rc == 0)) && grep -q "recording to $tmp/summary.rec; Ctrl-C ends it" "$out" &&
	grep -qE "[0-9]+ stops and [1-9][0-9]* observations recorded; graced replay $tmp/summary.rec" "$out"
claim "on a terminal record says where it records, and at the end how much" $?

try "$graced" record --duration 300ms "$tmp/no/such/dir.rec"
refused 1 'dir.rec'
claim "a recording that cannot be written is reported, and nothing is attached" $?

# Whoever stops meanwhile is not looked at: a flood of theirs would have records lost, which is said.
nobody=(-n no-such-namespace --container-roots /graced-no-containers)
try "$graced" trace "${nobody[@]}" --duration 100ms
((rc == 0)) && one_line "$out"
claim "--duration ends a trace, exit 0" $?
one_line "$err" && grep -q 'no container that runs now matches' "$err"
claim "a trace says that no container has the names it is asked for" $?

try "$graced" trace "${nobody[@]}" --scope services --duration 100ms
if compgen -G '/sys/fs/cgroup/system.slice' || compgen -G '/sys/fs/cgroup/*/system.slice'; then
	! grep 'no systemd runs here' "$err"
else
	grep -q 'no systemd runs here' "$err"
fi >/dev/null && ((rc == 0))
claim "trace of services says when no systemd runs here" $?

conclude
