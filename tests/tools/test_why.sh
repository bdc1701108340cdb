#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# graced why: the story of a stop by its names, and what went badly, from a file. Prints TAP and
# exits 1 if a claim does not hold.
#   BUILD=build tests/tools/test_why.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=${GRACED:-$build/graced}
. "$root/tests/lib/tap.sh"

errs() { # PATTERN
	one_line "$err" && grep -qe "$1" "$err"
}

stop() { # TIME POD CONTAINER ID PID OUTCOME CAUSE CODE SIGNAL CUT
	printf '{"type":"stop","schema":1,"id":"b/%s/1","time":"%s","boot_ns":5,"node":"n","pod":{"namespace":"shop",
		"name":"%s","uid":"u","qos":null,"static":false,"workload":null},"container":{"name":"%s","id":"%s","runtime":null,
		"kind":"container","cgroup":"/c","image":null,"attempt":null},"process":{"pid":%s,"ns_pid":1,"comm":"app"},
		"outcome":"%s","cause":"%s","cut":%s,"exit":{"code":%s,"signal":%s,"core_dumped":false,"at_boot_ns":5},
		"evidence":{"complete":true,"gaps":[]}}' "$4" "$1" "$2" "$3" "$4" "$5" "$6" "$7" "${10}" "$8" "$9" | tr -d '\n\t'
	echo
}
a=aaaaaaaaaaaaaaaa b=bbbbbbbbbbbbbbbb c=cccccccccccccccc d=dddddddddddddddd e=eeeeeeeeeeeeeeee f=ffffffffffffffff
{
	echo '{"type":"attached","schema":1,"time":"2026-11-20T01:00:00Z","boot_ns":1,"node":"n"}'
	stop 2026-11-20T01:00:00Z cart-0 main $a 501 completed self 0 0 0
	stop 2026-11-20T02:00:00Z cart-0 main $b 502 failed self 3 0 0
	stop 2026-11-20T03:00:00Z cart-0 side $c 503 oom-killed oom-container null 9 0
	stop 2026-11-20T04:00:00Z db-0 main $d 504 graceful stop-signal 0 0 2
	stop 2026-11-20T05:00:00Z db-1 main $e 505 crashed kernel null 11 0
} >"$tmp/records"

# The pods and times of day of what was printed.
got() { grep -oE '^2026-11-20 [0-9:]{2}' "$out" | cut -d' ' -f2 | paste -sd ' '; }

bad=0
while IFS='|' read -r words want; do
	read -ra args <<<"$words"
	try "$graced" why --utc --file "$tmp/records" "${args[@]}"
	((rc == 0)) && [[ $(got) == "$want" && ! -s $err ]] && continue
	echo "# why $words: exit $rc, '$(got)', not '$want': $(<"$err")"
	bad=1
done <<-END
	cart|03
	cart-0|03
	shop/cart|03
	--last 2 cart|02 03
	--last 100 cart|01 02 03
	main|05
	side|03
	--last 3 main|02 04 05
	$b|02
	${b:0:12}|02
	504|04
	-n shop db|05
	cart-0/main|02
	cart,db|05
	side,nobody|03
	--last 9 shop/cart-0/main|01 02
	shop/db/main|05
	--until 2026-11-20T02:30:00Z cart|02
	--since 2026-11-20T01:30:00Z --last 9 main|02 04 05
END
claim "a stop is found by pod, container, both, id, pid, and the last ones in their order" $bad

try "$graced" why --utc --file "$tmp/records" --since 2026-11-20T00:00:00Z
((rc == 0)) && [[ $(got) == '03 05 02 04' ]] && grep -qx 'graced why NAME tells the story of one\.' "$out"
claim "without a name the worst comes first, and what went well is left out" $?

{
	for i in {10..40}; do stop "2026-11-20T06:$((i % 50)):00Z" "bad-$i" main "$i$a" 1 oom-killed oom-container null 9 0; done
	stop 2026-11-20T07:00:00Z last-0 main $a 1 failed self 1 0 0
} >"$tmp/many"
try "$graced" why --utc --file "$tmp/many"
((rc == 0)) && [[ $(grep -c '^2026' "$out") == 20 ]] && ! grep -q last-0 "$out" && sed -n 1p "$out" | grep -q bad-40 &&
	! grep -q bad-20 "$out" && grep -qx '12 more did not go well; graced log shows all\.' "$out"
claim "of too many the worst are listed, of these the last, and the others are counted" $?

try "$graced" why --utc --file "$tmp/records" 503
cat >"$tmp/want" <<'END'
2026-11-20 03:00:00  shop/cart-0 side  oom-killed (oom-container)
app[1] was killed by the OOM killer: the container's memory limit was reached.

  +0s app[1] was killed by the OOM killer

What to do: Raise the limit, or have the program use less (its heap, its workers).
END
((rc == 0)) && cmp -s "$tmp/want" "$out"
claim "a story has the sentence, what happened, and what to do" $?

{
	cat "$tmp/records" "$tmp/records"
	stop 2026-11-20T06:00:00Z left-0 main $f 506 graceful stop-signal 0 0 0 |
		sed 's/"complete":true,"gaps":\[\]/"complete":false,"gaps":["not-empty"]/; s/"at_boot_ns":5/"at_boot_ns":5000000000/'
	printf '{"type":"empty","schema":1,"id":"b/%s/1","time":"2026-11-20T06:00:25Z","boot_ns":30000000000,"node":"n","empty_boot_ns":30000000000}\n' $f
} >"$tmp/again"
try "$graced" why --utc --file "$tmp/again" cart
grep -q '^1 of its earlier stops' "$out" && try "$graced" log --utc --no-headers --file "$tmp/again" && [[ $(lines "$out") == 6 ]]
claim "a record that is repeated is one stop" $?

try "$graced" why --utc --file "$tmp/again" left-0
grep -qF 'Other processes of its cgroup were left for 25.0s; which, no record has.' "$out" &&
	grep -q '+25.0s *no process was left' "$out"
claim "what was left is said, and until when, by the record that followed" $?

bad=0
while IFS='|' read -r words want; do
	read -ra args <<<"$words"
	try "$graced" why --utc --file "$tmp/records" "${args[@]}"
	[[ $(sed -n 's/^\([0-9]*\) of its earlier stops did not go well; --last \([0-9]*\) .*/\1 \2/p' "$out") == "$want" ]] &&
		continue
	echo "# why $words: not '$want': $(<"$out")"
	bad=1
done <<-'END'
	cart|1 2
	--last 2 cart|
	--last 3 cart|
	main|
	--last 2 main|
	db|
	--since 2026-11-20T01:30:00Z cart|1 2
	--until 2026-11-20T04:30:00Z cart-0|1 2
	-o json cart|
END
claim "the earlier stops of the same pod that went badly are counted, with how to see the latest" $bad

# The container cart ended after one whose name only begins so, and before another one.
outside() { stop "$@" | sed 's/"pod":{[^}]*}/"pod":null/'; }
{
	outside 2026-11-20T01:00:00Z - cart-worker $a 501 failed self 3 0 0
	outside 2026-11-20T02:00:00Z - cart $b 502 failed self 3 0 0
	outside 2026-11-20T03:00:00Z - cart $c 503 crashed kernel null 11 0
	outside 2026-11-20T04:00:00Z - cart-worker $d 504 completed self 0 0 0
	outside 2026-11-20T05:00:00Z - cart-db $e 505 completed self 0 0 0
	stop 2026-11-20T06:00:00Z cart-web-7d9c-x main $f 506 completed self 0 0 0 | sed 's/"workload":null/"workload":"cart-web"/'
	stop 2026-11-20T07:00:00Z cart-web-7d9c-y main "0$f" 507 completed self 0 0 0 | sed 's/"workload":null/"workload":"cart-web"/'
} >"$tmp/alike"
bad=0
while IFS='|' read -r words want earlier others; do
	read -ra args <<<"$words"
	try "$graced" why --utc --file "$tmp/alike" "${args[@]}"
	((rc == 0)) && [[ $(got) == "$want" && $(grep -c ' of its earlier stops ' "$out") == "$earlier" ]] &&
		[[ $(sed -n "s/^'.*' is also the beginning of //p" "$out") == "$others" ]] && continue
	echo "# why $words: $(<"$out")"
	bad=1
done <<-END
	cart|03|1|
	--last 9 cart|02 03|0|
	$b|02|0|
	504|04|0|
	cart-worker|04|1|
	cart-web|07|0|
	cart-web-7|07|0|
	cart-wo|04|1|
	car|07|0|cart-db, cart, cart-worker.
	-o json car||0|
END
claim "an exact name comes before beginnings; of several that only begin so the others are named" $bad

try bash -c '"$1" why --file - -o json --last 2 cart <"$2"' - "$graced" "$tmp/records"
begin() { printf '{"type":"why","schema":1,"time":"2026-11-20T0%s:00:00.000000000Z","state":"ended","id":"b/%s/1","outcome":"%s","cause":"%s","reason":null,"pod":{' "$@"; }
((rc == 0)) && [[ $(lines "$out") == 2 && ! -s $err ]] &&
	sed -n 1p "$out" | grep -qF "$(begin 2 $b failed self)" &&
	sed -n 2p "$out" | grep -qF "$(begin 3 $c oom-killed oom-container)" &&
	[[ $(grep -c '"sentence":"app\[1\] .*","evidence":{"complete":.*,"events":\[{"at_boot_ns":5,"text":"app.*\],"events_other":0,"remedies":\[{"text":"' "$out") == 2 ]]
claim "-o json is one object a line, also from standard input" $?

try "$graced" why -o json --file "$tmp/records" --since 2026-11-20T00:00:00Z
((rc == 0)) && [[ $(grep -oE '"outcome":"[a-z-]*' "$out" | cut -d'"' -f4 | paste -sd ' ') == \
	'oom-killed crashed failed graceful' ]]
claim "-o json without a name has the same stops in the same order" $?

# On a terminal: what is typed, and the times of day of the stories that follow the list.
list="'$graced' why --utc --file '$tmp/records' --since 2026-11-20T00:00:00Z"
bad=0
while IFS='|' read -r typed want; do
	printf "$typed" | script -qec "$list" /dev/null | tr -d '\r' >"$tmp/terminal" 2>&1
	got=$(grep -oE '^2026-11-20 [0-9:]{2}|^The story of which' "$tmp/terminal" | sed 's/.* //' | paste -sd ' ')
	[[ $got == "$want" && $(grep -cE '^ [1-4]  2026-11-20 0[0-9:]+  shop/' "$tmp/terminal") == 4 ]] &&
		grep -q '^ 1 .*…$' "$tmp/terminal" && ! sed 's/…/./' "$tmp/terminal" | grep -q '.\{81\}' && continue
	echo "# '$typed' tells '$got', not '$want': $(<"$tmp/terminal")"
	bad=1
done <<-'END'
	2\nq\n|which 05 which
	1\n3\n\n|which 03 which 02 which
	0\nx\n5\n4\nq\n|which which which which 04 which
	\n|which
	q\n|which
END
claim "on a terminal the stops are numbered, and a number tells one" $bad

# U+06DB holds the byte 9b, which begins a control sequence where the terminal knows no UTF-8.
stop 2026-11-20T06:00:00Z 'жук' $'\xdb\x9b2J' $a 506 crashed kernel null 11 0 >"$tmp/foreign"
bad=0
while IFS='|' read -r locale want; do
	LC_ALL=$locale script -qec "'$graced' why --utc --file '$tmp/foreign' 506" /dev/null </dev/null >"$tmp/terminal" 2>&1
	grep -qF "$want" "$tmp/terminal" && ! grep -qa $'\xdb' "$tmp/terminal" && continue
	echo "# $locale: $(<"$tmp/terminal")"
	bad=1
done <<-'END'
	C.UTF-8|shop/жук \u06db2J
	C|shop/\u0436\u0443\u043a \u06db2J
END
claim "a terminal is shown letters that are not ASCII only where its locale is of UTF-8, and nothing else of them" $bad

bad=0
while IFS='|' read -r words status want; do
	read -ra args <<<"$words"
	try "$graced" why "${args[@]}"
	((rc == status)) && errs "$want" && [[ ! -s $out ]] && continue
	echo "# why $words: exit $rc, $(<"$err")"
	bad=1
done <<-END
	--file $tmp/records nobody|1|no recorded stop of 'nobody'
	--file $tmp/records 128|1|no recorded stop of '128'
	--file $tmp/records -n other cart|1|no recorded stop of 'cart'
	--file $tmp/records --since 2026-11-21T00:00:00Z|1|there is no record of a stop in that time
	--file $tmp/records --until 2026-11-20T01:30:00Z|1|no recorded stop went badly
	--file $tmp/none cart|1|cannot read
	--file $tmp/records --boot -1 cart|2|does not go with
	--file $tmp/records --since soon cart|2|'soon'
	--boot yesterday cart|2|'yesterday'
	--running|2|--running wants a name
	--running --last 2 cart|2|goes with no option
	--running --file $tmp/records cart|2|goes with no option
	--last 0 cart|2|'0'
	--last 1001 cart|2|'1001'
	--last x cart|2|'x'
	-o wide cart|2|'wide'
	-c main|2|-c
	cart main|2|'main'
	a,,b|2|'a,,b'
	!cart|2|'!cart'
	--journal-directory /nonexistent cart|1|cannot read the journal
END
claim "nothing found is exit 1, wrong use exit 2, in one line" $bad

bad=0
for words in 137:SIGKILL 0143:SIGTERM 168:SIGRTMIN+6; do
	try "$graced" why --file "$tmp/records" "${words%:*}"
	((rc == 1)) && [[ $(sed -n 1p "$err") == "graced: no recorded stop of '${words%:*}'" ]] &&
		grep -qx "graced: exit status $((10#${words%:*})) is ${words#*:}: graced why wants the name of .*" "$err" && continue
	echo "# $words: $(<"$err")"
	bad=1
done
claim "an exit status in place of a name is named" $bad

conclude
