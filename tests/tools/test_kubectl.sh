#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds deploy/kubectl-graced to its manual page, against a stand-in of kubectl that notes what it is
# asked, and answers from files: what the API has, and for each node the records that graced there reads.
# GRACED names the binary; SH a shell other than sh.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
cd "$root" || exit 1
. "$root/tests/lib/tap.sh"
plugin=$root/deploy/kubectl-graced

# --- the stand-in ---------------------------------------------------------------------------------

export CLUSTER=$tmp/cluster GRACED=$graced
mkdir -p "$tmp/bin" "$tmp/scratch" "$CLUSTER"
cat >"$tmp/bin/kubectl" <<'END'
#!/bin/bash
# A call is a line of $CLUSTER/asked, its words in brackets.
printf -v call '<%s>' "$@"
echo "$call" >>"$CLUSTER/asked"
while [[ ${1-} == --*=* ]]; do shift; done
words=("$@")
ns='' selector='' everywhere='' field=''
for ((i = 0; i < ${#words[@]}; i++)); do
	case ${words[i]} in
	--) break ;;
	-n) ns=${words[i + 1]} ;;
	-l) selector=${words[i + 1]} ;;
	-A) everywhere=1 ;;
	--field-selector) field=${words[i + 1]} ;;
	esac
done
in_place() { awk -v ns="$ns" -v all="$everywhere" 'all || $1 == ns'; }
run_graced() { # NODE COMMAND...
	local node=$1 file=$CLUSTER/$1.jsonl rc
	shift
	if [[ -e $CLUSTER/$node.sh ]]; then
		. "$CLUSTER/$node.sh"
	else
		GRACED_SINKS_FILE=$file "$GRACED" "$@"
	fi
	rc=$?
	((rc == 0)) || { echo "command terminated with exit code $rc" >&2 && exit 1; }
}

case "$1 ${2-}" in
"config view") cat "$CLUSTER/namespace" 2>/dev/null ;;
"get daemonsets")
	[[ -z $everywhere || ! -e $CLUSTER/denied ]] || { cat "$CLUSTER/denied" >&2 && exit 1; }
	in_place <"$CLUSTER/daemonsets"
	;;
"get nodes") cat "$CLUSTER/nodes" ;;
"get replicasets") in_place <"$CLUSTER/replicasets" | cut -d' ' -f2- ;;
"get deployment" | "get statefulset" | "get daemonset" | "get job" | "get replicaset")
	awk -v ns="$ns" -v what="$2/$3" '$1 == ns && $2 == what { print $3; found = 1 } END { exit !found }' "$CLUSTER/workloads" ||
		{ echo "Error from server (NotFound): $2 \"$3\" not found" >&2 && exit 1; }
	;;
"get pods")
	# A line for each pod of graced: NAMESPACE NODE NAME PHASE KIND OWNER GOING READY; of others: NAMESPACE NODE NAME BASE MADE LABELS.
	if [[ $selector == app.kubernetes.io/name=graced ]]; then
		in_place <"$CLUSTER/graced" | cut -d' ' -f2-
	elif [[ $selector ]]; then
		in_place <"$CLUSTER/pods" | awk -v l="$selector" '$6 == l' | cut -d' ' -f2-5
	elif [[ $field ]]; then
		in_place <"$CLUSTER/pods" | awk -v n="${field#metadata.name=}" '$3 == n' | cut -d' ' -f2-5
	else
		[[ $3 == -n ]] && name=$5 || name=$3
		in_place <"$CLUSTER/pods" | awk -v n="$name" '$3 == n' | cut -d' ' -f2-5
	fi
	;;
"exec "*)
	for ((i = 1; i < ${#words[@]}; i++)); do
		[[ ${words[i]} != -- ]] || break
		case ${words[i]} in
		-n | -c) i=$((i + 1)) ;;
		-*) ;;
		*) pod=${words[i]} ;;
		esac
	done
	while read -r place node name _; do
		[[ $place/$name != "$ns/$pod" ]] || break
	done <"$CLUSTER/graced"
	run_graced "$node" "${words[@]:i + 2}"
	;;
*) echo "the stand-in has no $*" >&2 && exit 1 ;;
esac
END
chmod 755 "$tmp/bin/kubectl"

# A record of a stop: NODE POD CONTAINER TIME [OUTCOME CAUSE]
stop() {
	local id
	id=$(printf '%s' "$1$2$4" | sha256sum | cut -c1-64)
	jq -c --arg node "$1" --arg pod "$2" --arg name "$3" --arg time "$4" --arg id "$id" \
		--arg outcome "${5-graceful}" --arg cause "${6-stop-signal}" '.node = $node | .pod.name = ($pod | sub(".*/"; "")) |
		.pod.namespace = ($pod | sub("/.*"; "")) | .pod.uid = "94dc9966-0000-4000-8000-" + $id[:12] | .container.name = $name |
		.container.id = $id | .id = "7c9f2f0e-5d0b-4a52-9a7d-0b6a3f1c2d4e/" + $id + "/1000000000" | .time = $time |
		.outcome = $outcome | .cause = $cause' "$tmp/model" >>"$CLUSTER/$1.jsonl"
}
grep '"type":"stop"' tests/report/node.jsonl | head -n 1 >"$tmp/model"

# As it was made first.
new_cluster() {
	rm -rf "$CLUSTER"
	if [[ -e $tmp/first-cluster ]]; then
		cp -r "$tmp/first-cluster" "$CLUSTER"
		return
	fi
	mkdir "$CLUSTER"
	cd "$CLUSTER" || exit 1
	printf 'graced graced\n' >daemonsets
	printf 'node-%s\n' 1 2 3 >nodes
	printf 'graced node-%s graced-%s Running DaemonSet graced <none>\n' 1 a 2 b 3 c >graced
	cat >pods <<-LIST
		shop node-1 web-0 web- 2026-11-20T00:00:00Z app=web
		shop node-2 cart-7d9c6b5f4-x2x7k cart-7d9c6b5f4- 2026-11-20T00:00:00Z app=cart
		shop node-3 cart-7d9c6b5f4-aaaaa cart-7d9c6b5f4- 2026-11-20T00:00:00Z app=cart
		default node-2 web-0 <none> 2026-11-20T00:00:00Z app=web
	LIST
	cat >workloads <<-LIST
		shop deployment/cart app=cart,
		shop statefulset/web app=web,
	LIST
	cat >replicasets <<-LIST
		shop cart-7d9c6b5f4 cart
		shop cart-5566778899 cart
		shop cart-other-6655443322 cart-other
	LIST
	stop node-1 shop/web-0 nginx 2026-11-25T10:00:01.000000000Z
	stop node-2 shop/cart-7d9c6b5f4-x2x7k cart 2026-11-25T10:00:02.000000000Z killed grace-expired
	stop node-1 shop/cart-5566778899-bbbbb cart-longer-name 2026-11-25T10:00:03.500000000Z oom-killed oom-container
	stop node-2 default/web-0 nginx 2026-11-25T10:00:04.000000000Z
	stop node-3 shop/cart-7d9c6b5f4-aaaaa cart 2026-11-25T10:00:05.000000000Z
	stop node-3 shop/cart-other-6655443322-ccccc other 2026-11-25T10:00:06.000000000Z
	cd "$root" || exit 1
	cp -r "$CLUSTER" "$tmp/first-cluster"
}

kg() { # ARGUMENT...
	: >"$CLUSTER/asked"
	PATH=$tmp/bin:$PATH TMPDIR=$tmp/scratch try "${SH:-sh}" "$plugin" "$@"
}
# The pods of graced that were asked, by the last letter of their names.
whom() { sed -n 's/.*<exec>.*<graced-\([a-z0-9]*\)>.*/\1/p' "$CLUSTER/asked" | sort | paste -sd '' -; }
# What graced was run with, each once.
request() { sed -n 's/.*<exec>.*<--><graced>//p' "$CLUSTER/asked" | sort -u; }
# A column of the table, by its title, whose cells are one word as all before it are.
column() { # TITLE
	awk -v title="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == title) n = i; next }
		NF == 0 { exit } { print $n }' "$out" | paste -sd ' ' -
}
says() { grep -qF -- "$1" "$err"; }

# --- which nodes are asked ------------------------------------------------------------------------

new_cluster
kg why web-0 -n shop
((rc == 0)) && [[ $(whom) == a && $(request) == "<why><--utc><-n><shop><web-0>" ]] && quiet "$err" &&
	grep -qx '2026-11-25 10:00:01  shop/web-0 nginx  .*  on node-1' "$out" && grep -q '^  +8.20s no process was left' "$out"
claim "why asks the node of the pod alone, and prints its story, with the node" $?

kg why web-0
[[ $rc$(whom) == 0b ]] && grep -q ' default/web-0 ' "$out" && echo shop >"$CLUSTER/namespace" && kg why web-0 &&
	[[ $rc$(whom) == 0a ]] && grep -q ' shop/web-0 ' "$out"
claim "the namespace is that of the context, or default" $?

kg log --context=far --kubeconfig /tmp/k -n=shop --as admin web-0
calls=$(lines "$CLUSTER/asked")
[[ $rc == 0 && $(grep -c '^<--context=far><--kubeconfig=/tmp/k><--as=admin>' "$CLUSTER/asked") == "$calls" ]] &&
	((calls > 3)) && ! request | grep -q 'far\|admin'
claim "kubectl's own options go to each kubectl, and not to graced" $?

kg log -n shop -l app=cart
[[ $rc$(whom) == 0bc && $(request) == "<log><--utc><-n><shop><-p><cart-7d9c6b5f4-aaaaa>
<log><--utc><-n><shop><-p><cart-7d9c6b5f4-x2x7k>" && $(column NODE) == "node-2 node-3" ]]
claim "with -l each node is asked for its pods of these labels" $?

kg why web-9 -n shop
[[ $rc$(whom) == 1abc ]] && one_line "$err" && says "no recorded stop of 'web-9'" && kg why cart-5566778899-bbbbb -n shop &&
	[[ $rc$(whom) == 0abc ]] && grep -q 'on node-1$' "$out"
claim "a pod that is gone is asked for on every node" $?

kg log deploy/cart -n shop
[[ $rc$(whom) == 0abc && $(column POD) == "shop/cart-7d9c6b5f4-x2x7k shop/cart-5566778899-bbbbb shop/cart-7d9c6b5f4-aaaaa" ]] &&
	grep -q '<-p><cart-7d9c6b5f4-?????,cart-5566778899-?????>' "$CLUSTER/asked"
claim "a Deployment has the pods of its ReplicaSets, also those that are gone, and no other" $?

echo 'exit 0' >"$CLUSTER/node-2.sh" && cp "$CLUSTER"/node-{2,3}.sh
kg audit deploy/cart -n shop
[[ $rc$(whom) == 1bc && $(request) == "<audit><-n><shop><-p><cart-7d9c6b5f4-?????,cart-5566778899-?????>" ]]
claim "what is about pods that run asks the nodes that have them now" $?

new_cluster
sed -i 's/^shop node-1 web-0 .*/shop node-2 web-0 web- 2026-11-28T00:00:00Z app=web/' "$CLUSTER/pods"
kg why web-0 -n shop
[[ $rc$(whom) == 0abc ]] && grep -q 'on node-1$' "$out" && stop node-2 shop/web-0 nginx 2026-11-28T01:00:00.000000000Z &&
	kg why web-0 -n shop && [[ $rc$(whom) == 0b ]] && grep -q 'on node-2$' "$out"
bad=$?
runs() { printf "cat <<'TOLD'\n$1\nTOLD\n"; } # STORIES
runs '2026-11-29 09:00:00  shop/web-0 nginx  running (handler)\nIt would act on SIGTERM.' >"$CLUSTER/node-2.sh"
kg why web-0 -n shop
[[ $bad$rc$(whom) == 00abc && $(head -n 1 "$out") == *"  on node-1" ]] && ! grep -q running "$out"
claim "where a pod of a StatefulSet was before is asked until its last stop is known, also while it runs" $?
rm "$CLUSTER/node-2.sh"

sed -i 's/^shop node-2 web-0 /shop <none> web-0 /' "$CLUSTER/pods"
kg why web-0 -n shop
[[ $rc$(whom) == 0abc ]] && grep -q 'on node-2$' "$out" && kg audit web-0 -n shop && [[ $rc$(whom) == 1 ]] &&
	says "there is no such pod on a node"
claim "why a pod that waits for a node ended is asked on every node" $?

new_cluster
sed -i 's/^shop node-1 web-0 .*/shop node-2 web-0 web- 2026-11-28T00:00:00Z app=web/' "$CLUSTER/pods"
stop node-2 shop/web-0 nginx 2026-11-28T01:00:00.000000000Z
kg log web-0 -n shop
[[ $rc$(whom) == 0abc && $(column NODE) == "node-1 node-2" ]] && kg why --last 2 sts/web -n shop &&
	[[ $(grep -c '^2026.*  on node-[12]$' "$out") == 2 ]] && grep -q '<web-\[0-9\],web-\[0-9\]\[0-9\],' "$CLUSTER/asked"
claim "the log of such a pod is that of all nodes, and so are its last stops" $?

kg log -A --node node-3 && [[ $rc$(whom) == 0c ]] && kg report node/node-1 --since 2026-11-01 &&
	[[ $rc$(whom) == 0a && $(request) == "<report><--since><2026-11-01>" ]]
claim "a node that is named is asked alone, for all its pods" $?

# --- merging --------------------------------------------------------------------------------------

new_cluster
kg log -A
[[ $rc == 0 && $(column TIME) == "10:00:01.000Z 10:00:02.000Z 10:00:03.500Z 10:00:04.000Z 10:00:05.000Z 10:00:06.000Z" &&
	$(grep -c TIME "$out") == 1 && $(awk '{ print index($0, " 81%") }' "$out" | sort -u | wc -l) == 2 ]] && quiet "$err"
claim "tables of several nodes are one, by time, with one header and columns of one width" $?

kg log -A -ojson --count 3
jq -rs 'map(.time[17:21] + .node) | join(" ")' "$out" >"$tmp/times"
[[ $rc == 0 && $(<"$tmp/times") == "04.0node-2 05.0node-3 06.0node-3" ]]
claim "JSON is merged by time, and --count is that of all nodes" $?

kg why -A -o json --since 2026-11-01
jq -rs 'map(.time[17:19] + .node) | join(" ")' "$out" >"$tmp/times"
[[ $rc == 0 && $(<"$tmp/times") == "02node-2 03node-1" ]]
claim "... also the stories of why" $?

kg why --since 2026-11-01 -A
[[ $rc == 0 && $(awk 'NF && /^2026/ { print $NF }' "$out") == $'node-1\nnode-2' && $(tail -n 1 "$out") == "kubectl graced why NAME"* ]] &&
	[[ $(grep -c 'why NAME' "$out") == 1 ]]
claim "what went badly is one list, the worst first" $?

# Two containers of a pod on one node, and one that has stopped on another.
two='2026-11-29 09:00:00  shop/cart-7d9c6b5f4-x2x7k a  STATE\nOf a.\n\n2026-11-29 09:00:01  shop/cart-7d9c6b5f4-x2x7k b  STATE\nOf b.'
runs "${two//STATE/stopping}" >"$CLUSTER/node-2.sh"
kg why deploy/cart -n shop
told() { awk '/^2026/ { print $4, $5, $NF }' "$out" | paste -sd , -; }
[[ $rc == 0 && $(told) == "a stopping node-2,b stopping node-2" ]]
bad=$?
runs "${two//STATE/running (handler)}" | tee "$CLUSTER/node-3.sh" >"$CLUSTER/node-2.sh"
kg why deploy/cart -n shop
[[ $rc == 0 && $(told) == "cart-longer-name oom-killed node-1" ]] || bad=1
kg why --running deploy/cart -n shop
[[ $rc$(whom) == 0bc && $(told) == "a running node-2,a running node-3,b running node-2,b running node-3" ]] || bad=1
claim "all that is under way is told, else the last stop, else all that runs, where it runs" $bad

runs "${two//STATE/killed (no-grace)}\n\nRunning now by that name: 2 containers.\ngraced why --running cart-* says what a stop would do." >"$CLUSTER/node-2.sh"
kg why "deploy/cart" -n shop
tail -n 2 "$out" >"$tmp/hint"
[[ $(<"$tmp/hint") == "Running now by that name on node-2: 2 containers."$'\n'"kubectl graced why --running deploy/cart -n shop says what a stop would do." ]]
claim "the command that it names is one of the plugin" $?

paragraph='POD  OUT\na/b  deaf\n\nno-handler\n  E\n  a\n  b\n  c\n  d\n  What to do: this.\n\nblocked\n  E\n  ... and 4 more\n  What to do: that.'
runs "${paragraph//E/E2}" >"$CLUSTER/node-2.sh" && runs "${paragraph//E/E3}" >"$CLUSTER/node-3.sh"
kg audit deploy/cart -n shop
sed '1,/^$/d' "$out" >"$tmp/below"
[[ $(<"$tmp/below") == $'no-handler\n  E2\n  a\n  b\n  c\n  d\n  E3\n  a\n  b\n  ... and 2 more\n  What to do: this.\n\nblocked\n  E2\n  E3\n  ... and 8 more\n  What to do: that.' ]]
claim "what to do is said once for the containers of all nodes" $?
rm "$CLUSTER"/*.sh

kg report -n shop --since 2026-11-01
[[ $rc == 0 && $(grep '^stops on' "$out" | paste -sd ' ' -) == "stops on node-2 stops on node-1 stops on node-3" ]]
claim "reports are in the order of their beginnings" $?

kg version
[[ $rc == 0 && $(head -n 1 "$out") == "node-1 node-2 node-3:" && $(lines "$out") == 2 ]] && kg version -o json &&
	[[ $(jq -r .node "$out" | paste -sd ' ' -) == "node-1 node-2 node-3" ]]
bad=$?
for node in 1 2 3; do
	runs "ok  kernel\nwarn  logind\n      fix: $((node / 3))\nok  kubelet  $((node / 3)) pods" >"$CLUSTER/node-$node.sh"
done
kg check
[[ $bad$rc == 00 && $(<"$out") == $'node-1 node-2 node-3:\n  ok  kernel\n\nnode-1 node-2:\n  warn  logind\n        fix: 0\n  ok  kubelet  0 pods\n\nnode-3:\n  warn  logind\n        fix: 1\n  ok  kubelet  1 pods' ]]
claim "what several nodes answer alike is printed once, line by line" $?
rm "$CLUSTER"/*.sh

# An older graced, with other columns; a process with a name like a column; bytes that move the cursor.
cat >"$CLUSTER/node-2.sh" <<-'END'
	printf 'DATE        TIME           POD         OUTCOME   EXTRA\n'
	printf '2026-11-25  10:00:01.500Z  shop/x      killed    a  \033[2Jb  c\n'
END
kg log -n shop
[[ $rc == 0 && $(head -n 1 "$out" | tr -s ' ') == "NODE DATE TIME POD CONTAINER OUTCOME EXTRA CAUSE "* &&
	$(sed -n 3p "$out") == "node-2 "*" shop/x "*"  -  "*"killed "*" a  [2Jb  c  "*"-"* ]]
claim "columns that a node does not have are empty, and cells stay in their columns" $?

# --- what is missing ------------------------------------------------------------------------------

new_cluster
echo 'exec sleep 1000' >"$CLUSTER/node-2.sh"
kg log -n shop --timeout 8
[[ $rc == 3 && $(column NODE) == "node-1 node-1 node-3 node-3" && $(<"$err") == "kubectl graced: no answer from node-2: no answer within 8s" ]]
claim "a node that hangs is named, and the others are shown" $?

sed -i '2s/$/ Unknown/; 3s/$/ False/' "$CLUSTER/graced"
kg log -n shop
[[ $rc == 3 && $(column NODE) == "node-1 node-1 node-3 node-3" && $(<"$err") == "kubectl graced: no answer from node-2: no answer within 5s, and graced-b is not ready" ]]
claim "... after a moment if its graced is not ready; one that answers all the same is shown" $?

PATH=$tmp/bin:$PATH TMPDIR=$tmp/scratch try script -qec "${SH:-sh} '$plugin' log -n shop" /dev/null </dev/null
grep -q '^kubectl graced: waiting for node-2.$' "$out" && grep -q 'no answer within 5s' "$out"
claim "... and who waits at a terminal is told for whom" $?

kg trace node-3 --duration 1s
[[ $rc == 0 ]] && says "graced-c on node-3 is not ready, and may not answer" && sed -i 's/graced-c Running/graced-c Failed/' "$CLUSTER/graced" &&
	kg trace node-3 --duration 1s && [[ $rc$(whom) == 3 ]] && says "graced-c on node-3 is Failed"
claim "... and so is who wants to see one live" $?

sed -i '/graced-b/d; s/graced-c Failed/graced-c Running/' "$CLUSTER/graced"
kg log -n shop
[[ $rc == 3 && $(<"$err") == "kubectl graced: no answer from node-2: no graced pod runs there" ]] && kg why web-0 -n shop && [[ $rc == 0 ]]
claim "a node without graced is named where its answer is missed" $?

new_cluster
sed -i 's/graced-b Running/graced-b Pending/' "$CLUSTER/graced"
echo 'graced node-1 graced-x Failed DaemonSet graced 2026-11-25T00:00:00Z' >>"$CLUSTER/graced"
echo 'graced node-2 graced-y Running ReplicaSet graced <none>' >>"$CLUSTER/graced"
kg log -n shop
[[ $rc$(whom) == 3ac ]] && one_line "$err" && says "node-2: graced-b is Pending"
claim "only pods of the DaemonSet that run are asked" $?

new_cluster
printf 'GRACED_SINKS_FILE=$file "$GRACED" "$@" | head -c 350\n' >"$CLUSTER/node-2.sh"
kg log -A
bad=0
[[ $rc == 3 && $(column NODE) == "node-1 node-2 node-1 node-3 node-3" ]] && says "node-2: the answer was cut off" || bad=1
kg log -A -o json
[[ $rc == 3 && $(lines "$out") == 4 ]] && jq -e . "$out" >"$tmp/json" && says "node-2: the answer was cut off" || bad=1
printf 'echo "{}"; echo "<html>"\n' >"$CLUSTER/node-2.sh"
kg log -A -o json
[[ $rc == 3 ]] && says "node-2: the answer is no JSON" || bad=1
claim "of an answer that was cut off the whole lines are shown, and its node is named" $bad

printf 'echo "E1129 02:55:10.548059 44 v2.go:1] trace\nerror: dial tcp: no route" >&2; exit 1\n' >"$CLUSTER/node-2.sh"
kg log -A
[[ $rc == 3 ]] && says "node-2: error: dial tcp: no route" && kg log -A --node node-2 && [[ $rc == 3 ]] && quiet "$out"
claim "a connection that fails is no answer" $?

new_cluster
printf 'echo "graced: it is no command of this version" >&2; (exit 2)\n' >"$CLUSTER/node-2.sh"
kg why -A --since 2026-11-01
[[ $rc == 3 ]] && says "node-2: graced: it is no command" && kg log -A --bad && [[ $rc == 2 ]]
bad=$?
new_cluster
kg log -A --bad
[[ $bad$rc == 02 ]] && one_line "$err" && says "there is no option --bad"
claim "an older graced is named, and what is wrong for all is said once" $?

kg log -n none
bad=0
[[ $rc == 1 ]] && one_line "$err" && says "no recorded stop matches" || bad=1
kg report -n none --since 2026-11-01
[[ $rc == 1 ]] && one_line "$err" && says "there is no record of" || bad=1
kg audit -n none
[[ $rc == 1 ]] && one_line "$err" && grep -Eq 'no (such )?container' "$err" || bad=1
kg pods -A --control.socket "$tmp/none"
[[ $rc == 3 && $(lines "$err") == 3 ]] && says "node-1: graced: no daemon answers" || bad=1
printf 'printf "POD  VERDICT\\na/b  deaf\\n\\nno-handler\\n  do this\\n"; (exit 1)\n' >"$CLUSTER/node-2.sh"
kg audit -n none
[[ $rc == 1 && $(<"$out") == $'NODE    POD  VERDICT\nnode-2  a/b  deaf\n\nno-handler\n  do this' ]] && quiet "$err" || bad=1
claim "that nothing matches, that audit finds trouble, and that graced failed are different answers" $bad

# --- hostile and wrong arguments ------------------------------------------------------------------

new_cluster
odd=('a b' '$(touch pwned)' "it's" 'a"b' 'w*b-[0]' $'two\nlines' '\' 'a;b&' '-x' '!no' 'ünï')
kg why -n shop --since "${odd[2]}" --until="${odd[5]}" -- "${odd[@]}"
joined=$(IFS=,; echo "${odd[*]}")
grep -qzF -- "<why><--since><it's><--until><${odd[5]}><--utc><-n><shop><$joined>" "$CLUSTER/asked" && kg why -- -x &&
	[[ $(request) == "<why><--utc><-n><default><--><-x>" && ! -e pwned ]] && kg log -n ../x -- -x/y ../pods / &&
	[[ $(request) == "<log><--utc><-n><..><-p><y,pods,/>" ]]
bad=$?
claim "odd names reach graced as they are, and no shell" $bad

bad=0
while IFS='|' read -r arguments status words; do
	eval "kg $arguments"
	[[ $rc == "$status" ]] && says "$words" || { bad=1 && echo "# $arguments: $rc, $(<"$err")"; }
done <<'END'
|2|usage: kubectl graced COMMAND
nonsense|2|there is no command 'nonsense'
run|2|run is not for several nodes
log -n|2|-n needs a value
log -A -n shop|2|-n or -A, not both
log -l a=b web-0|2|names or labels, not both
log --timeout soon|2|--timeout wants seconds, not 'soon'
log --parallel 0|2|--parallel wants a number
log svc/web|2|'svc/web' is no pod, deploy, sts, ds, rs, job or node
log -A deploy/cart|2|is in one namespace
report -A -o svg|2|-o svg is of one node
top|2|top is of one node: name one of node-1 node-2 node-3
top node-9 -n shop|2|there is no pod or node node-9; top is of one node: name one of node-1
log deploy/none -n shop|3|cannot look for deployment/none
log -l app=none -n shop|1|no pod has the labels app=none
END
claim "wrong use is refused, with what to do" $bad

: >"$CLUSTER/daemonsets"
kg log -A
[[ $rc == 3 ]] && says "no DaemonSet with the label" && printf 'graced graced\nevil graced\n' >"$CLUSTER/daemonsets" &&
	echo 'evil node-1 graced-evil Running DaemonSet graced <none>' >>"$CLUSTER/graced" && kg log -A && [[ $rc$(whom) == 3 ]] &&
	says "several namespaces (evil graced)" && kg log -A --graced-namespace graced && [[ $rc$(whom) == 0abc ]] &&
	GRACED_NAMESPACE=graced kg log -A && [[ $rc$(whom) == 0abc ]]
claim "whoever labels a DaemonSet like graced's is not asked by mistake" $?

new_cluster
echo 'Error from server (Forbidden): daemonsets.apps is forbidden' >"$CLUSTER/denied"
kg version
[[ $rc$(whom) == 0abc ]] && echo 'Unable to connect to the server' >"$CLUSTER/denied" && kg version &&
	[[ $rc == 3 && $(lines "$CLUSTER/asked") == 1 ]] && says "Unable to connect"
claim "who may not look for graced everywhere is shown that of its usual namespace; a cluster that is gone is asked once" $?

new_cluster
kg top node-2
[[ $(whom)$(request) == "b<top>" ]] && says "it needs a terminal" && kg trace web-0 -n shop --duration 1s &&
	[[ $(whom)$(request) == "a<trace><--duration><1s><-n><shop><-p><web-0>" ]]
claim "a live command runs on the node that is named, or on that of the pod" $?

# --- many nodes, and an end before the end ---------------------------------------------------------

new_cluster
for ((n = 1; n <= 60; n++)); do
	echo "graced n$n graced-$n Running DaemonSet graced <none>"
	cat >"$CLUSTER/n$n.sh" <<-END
		mkdir "\$CLUSTER/runs.$n" && ls "\$CLUSTER" | grep -c "^runs"  >>"\$CLUSTER/peak" && echo '{"time":"2026-11-25T10:00:00.$((1000 - n))Z"}' && rmdir "\$CLUSTER/runs.$n"
	END
done >"$CLUSTER/graced"
printf 'n%d\n' {1..60} >"$CLUSTER/nodes"
kg log -A -o json --parallel 5
[[ $rc == 0 && $(jq -r .node "$out" | paste -sd ' ' -) == "$(printf 'n%d\n' {60..1} | paste -sd ' ' -)" &&
	$(grep -c '<exec>' "$CLUSTER/asked") == 60 && $(sort -n "$CLUSTER/peak" | tail -n 1) -le 5 ]]
claim "of 60 nodes each is asked once, and no more at once than --parallel says" $?

new_cluster
echo 'echo $BASHPID >"$CLUSTER/hangs"; exec sleep 1000' | tee "$CLUSTER/node-1.sh" >"$CLUSTER/node-2.sh"
await() { # COMMAND...
	for ((turn = 0; turn < 600; turn++)); do
		"$@" && return
		sleep 0.1
	done
}
hangs() { [[ -s $CLUSTER/hangs ]]; }
is_gone() { ! kill -0 "$(<"$CLUSTER/hangs")" 2>/dev/null; }
PATH=$tmp/bin:$PATH TMPDIR=$tmp/scratch "${SH:-sh}" "$plugin" log -A >"$out" 2>"$err" </dev/null &
pid=$!
await hangs
kill "$pid"
wait "$pid"
rc=$?
await is_gone
[[ $rc == 143 && -z $(ls "$tmp/scratch") ]] && is_gone
claim "ended before its end it leaves no process and no file" $?

rm "$CLUSTER/hangs"
{ await hangs && printf '\003' && await is_gone; } | PATH=$tmp/bin:$PATH TMPDIR=$tmp/scratch timeout -k 5 $patience \
	script -qec "trap : INT; ${SH:-sh} '$plugin' log -A; echo it ended with \$?" /dev/null >"$out" 2>"$err"
grep -q 'it ended with 130' "$out" && [[ -z $(ls "$tmp/scratch") ]] && is_gone
claim "... nor by Ctrl-C at a terminal" $?

mkdir "$tmp/krew" && try tools/krew "$tmp/krew" https://example.org/a.tar.gz
archive=$(head -n 1 "$out")
[[ $(tar -tzf "$archive" | paste -sd ' ' -) == "LICENSE kubectl-graced" && $(tar -xzOf "$archive" kubectl-graced | cksum) == "$(cksum <"$plugin")" ]] &&
	grep -qx "      sha256: $(sha256sum "$archive" | cut -d' ' -f1)" "$tmp/krew/krew.yaml" &&
	grep -qx '      uri: https://example.org/a.tar.gz' "$tmp/krew/krew.yaml" && ! grep -q 'VERSION\|SHA256\|URL' "$tmp/krew/krew.yaml"
claim "the manifest for krew has the digest of the archive, which has the plugin" $?

# --- what it is written in, and of ----------------------------------------------------------------

new_cluster
# Options of graced that have a value, of the commands that the plugin has.
for command in why log report audit pods top trace check version; do
	"$graced" "$command" --help | sed -nE 's/^ {2}(-[a-z]), (--[a-z.-]+) [A-Za-z].*/\1\n\2/p; s/^ {2,6}(--[a-z][a-z.-]*) [A-Z]+( .*|$)/\1/p'
done | sort -u | grep -vx -- '-n\|--namespace\|--help' >"$tmp/valued"
kg log -A $(sed 's/$/ VALUE/' "$tmp/valued")
while read -r option; do
	grep -qF -- "<$option><VALUE>" "$CLUSTER/asked" || [[ $option == --color ]] || echo "$option" >>"$tmp/untaken"
done <"$tmp/valued"
cp "$tmp/valued" "$out"
(($(lines "$tmp/valued") > 25)) && [[ ! -e $tmp/untaken ]]
claim "each option of graced that has a value is known to have one" $?

try sh "$plugin" --help
[[ $rc == 0 && $(lines "$out") -gt 40 && -z $(grep -E '.{81}' "$out") ]]
claim "its help fits 80 columns" $?

for shell in dash "bash --posix" "busybox sh"; do
	if ! command -v "${shell%% *}" >/dev/null; then
		skip "it runs in $shell" "no $shell"
		continue
	fi
	kg log -A && cp "$out" "$tmp/first"
	PATH=$tmp/bin:$PATH TMPDIR=$tmp/scratch try $shell "$plugin" log -A
	((rc == 0)) && cmp "$out" "$tmp/first" >"$err"
	claim "it runs in $shell" $?
done
if command -v shellcheck >/dev/null; then
	try shellcheck -s sh "$plugin"
	claim "shellcheck has nothing against it" $rc
else
	skip "shellcheck has nothing against it" "no shellcheck"
fi
[[ -z $(ls "$tmp/scratch") ]]
claim "it leaves nothing behind" $?

conclude
