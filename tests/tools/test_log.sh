#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# graced log: past stops from a file and from a journal. Prints TAP and exits 1 if a claim does not
# hold. What needs systemd-journal-remote is skipped where it is not installed.
#   BUILD=build tests/tools/test_log.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=${GRACED:-$build/graced}
. "$root/tests/lib/tap.sh"

errs() { # PATTERN
	one_line "$err" && grep -qe "$1" "$err"
}

# --- a file ---

# A stop by SIGKILL, one by SIGTERM two days later, a signal, and what has no row.
stop() { # TIME POD OUTCOME CAUSE SIGNAL
	printf '{"type":"stop","schema":1,"id":"b/c/%s","time":"%s","boot_ns":5,"node":"n","pod":{"namespace":"shop","name":"%s",
		"uid":"u","qos":null,"static":false,"workload":null},"container":{"name":"main","id":"c","runtime":null,
		"kind":"container","cgroup":"/c","image":null,"attempt":null},"outcome":"%s","cause":"%s","exit":{"code":null,
		"signal":%s,"core_dumped":false,"at_boot_ns":5},"evidence":{"complete":true,"gaps":[]}}' "$1" "$1" "$2" \
		"$3" "$4" "$5" | tr -d '\n\t'
	echo
}
{
	echo '{"type":"attached","schema":1,"time":"2026-11-20T01:00:00Z","boot_ns":1,"node":"n"}'
	stop 2026-11-20T02:00:00Z cart-0 killed host 9
	stop 2026-11-22T03:00:00Z cart-1 terminated stop-signal 15
	stop 2026-11-22T04:00:00Z db-0 killed no-grace 9
	echo '{"type":"signal","schema":1,"time":"2026-11-22T05:00:00Z","boot_ns":9,"node":"n","signal":{"number":15,"result":"delivered"},"target":{"pid":7,"init":true,"pod":null,"container":{"name":"from-kernel"}}}'
} >"$tmp/records"

try "$graced" log --utc --file "$tmp/records"
((rc == 0)) && [[ $(lines "$out") == 4 && ! -s $err ]] &&
	grep -qE '^2026-11-20 +02:00:00.000Z +shop/cart-0 +main +killed +host +SIGKILL' "$out" &&
	[[ $(grep -o 'shop/[a-z0-9-]*' "$out" | paste -sd ' ') == 'shop/cart-0 shop/cart-1 shop/db-0' ]]
claim "past stops are shown with their day, the oldest first" $?

try bash -c '"$1" log --file - -o json <"$2"' - "$graced" "$tmp/records"
((rc == 0)) && grep '"stop"' "$tmp/records" | cmp -s - "$out"
claim "-o json shows the records as they were written, also from standard input" $?

grep -v '"signal",' "$tmp/records" >"$tmp/stops"
try "$graced" log --signals --file "$tmp/stops"
((rc == 0)) && errs 'no signals are recorded there; graced run --sinks.signals records them'
claim "where no signals were recorded, --signals says so" $?

bad=0
while IFS='|' read -r words want; do
	read -ra args <<<"$words"
	try "$graced" log --no-headers --utc --file "$tmp/records" "${args[@]}"
	got=$(grep -oE 'shop/[a-z0-9-]*|from-kernel' "$out" | paste -sd ' ')
	[[ $got == "$want" ]] && continue
	echo "# log $words: '$got', not '$want'"
	bad=1
done <<-END
	-p cart|shop/cart-0 shop/cart-1
	-p !cart|shop/db-0
	--outcome killed|shop/cart-0 shop/db-0
	--outcome !killed|shop/cart-1
	-s TERM|shop/cart-1
	-s KILL -p db|shop/db-0
	--since 2026-11-22T03:30:00Z|shop/db-0
	--until 2026-11-22T03:00:00Z|shop/cart-0 shop/cart-1
	--since 2000weeks|shop/cart-0 shop/cart-1 shop/db-0
	--count 2|shop/cart-1 shop/db-0
	--count 1 --outcome terminated|shop/cart-1
	--count 100|shop/cart-0 shop/cart-1 shop/db-0
	--signals --count 2|shop/db-0 from-kernel
	--sort -pod|shop/db-0 shop/cart-1 shop/cart-0
	-o columns=pod|shop/cart-0 shop/cart-1 shop/db-0
END
try "$graced" log --file "$tmp/records" --until '2000 weeks ago'
((rc == 1)) && errs 'no recorded stop matches' || bad=1
claim "the filters are those of trace, and a span of time" $bad

bad=0
while IFS='|' read -r words status want; do
	read -ra args <<<"$words"
	try "$graced" log "${args[@]}"
	((rc == status)) && errs "$want" && [[ ! -s $out ]] && continue
	echo "# log $words: exit $rc, $(<"$err")"
	bad=1
done <<-END
	--file $tmp/records -p nobody|1|no recorded stop matches
	--file $tmp/none|1|cannot read
	--file $tmp/records --boot -1|2|does not go with
	--file $tmp/records --since soon|2|'soon'
	--file $tmp/records --since 2026-02-30|2|'2026-02-30'
	--file $tmp/records --since 1h --until 2h|2|later than --until
	--boot yesterday|2|'yesterday'
	--count 0|2|'0'
	--count 1000001|2|'1000001'
	$tmp/records|2|--file reads a file
	--journal-directory /nonexistent|1|cannot read the journal
END
claim "what cannot be shown is one line" $bad

try "$graced" log --file "$tmp/records" --sort took && ! grep -q NAMESPACE "$out" &&
	try "$graced" log --file "$tmp/records" --sort namespace && grep -q NAMESPACE "$out"
claim "the namespace of pods is a column of its own where rows are sorted by it alone" $?

mkdir "$tmp/empty"
bad=0
for words in log 'log --boot -1' report 'report --boot -1' 'why nobody'; do
	read -ra args <<<"$words"
	try "$graced" "${args[@]}" --journal-directory "$tmp/empty"
	((rc == 1)) && [[ ! -s $out && $(lines "$err") == 3 ]] && grep -q 'graced run writes them' "$err" &&
		grep -q '137: SIGKILL.*OOM.*nothing shows who sent' "$err" && continue
	echo "# $words: exit $rc, $(<"$err")"
	bad=1
done
claim "a journal without records is answered with what writes them, and what is left without them" $bad

{
	sed 's/"cause":"host"/"cause":"cosmic-ray"/' "$tmp/records"
	sed 's/"complete":true/"complete":false/' "$tmp/records" | grep -m1 '"stop"'
	head -c 2000000 /dev/zero | tr '\0' x
} >"$tmp/odd"
try "$graced" log --file "$tmp/odd" --no-headers
((rc == 0)) && [[ $(lines "$out") == 2 && $(lines "$err") == 2 ]] && grep -q '1 record is of a newer graced, and was left' "$err" &&
	grep -q '2 lines are no records' "$err" &&
	echo 'no record' >"$tmp/odd" && { try "$graced" log --file "$tmp/odd"; grep -q '1 line is no record$' "$err"; }
claim "records of a newer version and malformed lines are left out, and counted" $?

{
	cat "$tmp/records"
	echo '{"type":"dropped","schema":1,"time":"2026-11-22T06:00:00Z","boot_ns":3600000000010,"node":"n","records":12,"since_boot_ns":10,"until_boot_ns":20}'
} >"$tmp/holes"
bad=0
while IFS='|' read -r words want; do
	read -ra args <<<"$words"
	try "$graced" log --no-headers --file "$tmp/holes" "${args[@]}"
	((rc == 0)) && [[ $(lines "$out") == "${want% *}" && $(grep -c '12 records are missing there' "$err") == "${want#* }" ]] && continue
	echo "# log $words: $(cat "$out" "$err")"
	bad=1
done <<-END
	-p !none|3 1
	-o json -p !none|3 1
	--since 2026-11-22T03:30:00Z|1 1
	--until 2026-11-22T05:30:00Z|3 1
	--until 2026-11-22T04:30:00Z|3 0
END
try "$graced" log --no-headers --file "$tmp/holes" --since 2026-11-22T05:30:00Z
((rc == 1)) && ! grep -q 'missing' "$err" || bad=1
claim "records that were never written are counted, where they may be of the time that is asked for" $bad

try "$graced" replay "$tmp/records"
((rc == 1)) && errs 'graced log --file'
claim "replay says which command reads a file of records" $?

# --- a journal ---

remote=/lib/systemd/systemd-journal-remote
a=aaaaaaaa000040008000000000000001 b=bbbbbbbb000040008000000000000002

entry() { # BOOT UID RECORD
	at=$((at + 1000000))
	printf '__REALTIME_TIMESTAMP=%s\n__MONOTONIC_TIMESTAMP=%s\n_BOOT_ID=%s\n' "$at" "$at" "$1"
	printf 'MESSAGE_ID=627e28794e944e4bbce2264a6a87d251\n_UID=%s\nMESSAGE=m\nGRACED_RECORD=%s\n\n' "$2" "$3"
}

of_journal() { # ARGUMENT...
	try "$graced" log --journal-directory "$tmp/journal" --no-headers "$@"
	got=$(grep -o 'shop/[a-z0-9-]*' "$out" | paste -sd ' ')
}

if [[ -x $remote ]]; then
	at=1795600000000000
	{
		entry $a 0 "$(sed -n 2p "$tmp/records")"
		entry $a 1000 "$(sed -n 3p "$tmp/records")"
		entry $b 0 "$(sed -n 4p "$tmp/records")"
	} >"$tmp/export"
	mkdir "$tmp/journal" && "$remote" -o "$tmp/journal/system.journal" "$tmp/export" >"$tmp/why" 2>&1
	of_journal
	((rc == 0)) && [[ $got == 'shop/cart-0 shop/db-0' ]] && errs '1 entries of the journal are not root'
	claim "a journal's stops are shown, but for those that root did not write" $?
	of_journal --boot -1 && [[ $got == shop/cart-0 ]] && of_journal --boot $b && [[ $got == shop/db-0 ]]
	claim "--boot counts boots as journalctl does, or names one" $?
	of_journal --boot "${a//?/0}"
	((rc == 1)) && ! errs 'graced run writes them'
	claim "of a boot without records it is not said that the journal has none" $?
else
	for sentence in "a journal's stops are shown, but for those that root did not write" \
		"--boot counts boots as journalctl does, or names one" \
		"of a boot without records it is not said that the journal has none"; do
		skip "$sentence" "systemd-journal-remote is not installed"
	done
fi

# As graced run in a pod has it (sinks.fileSize).
grep '"type":"stop"' "$root/tests/report/node.jsonl" >"$tmp/stops"
head -n 3 "$tmp/stops" >"$tmp/begun.1"
tail -n +4 "$tmp/stops" >"$tmp/begun"
"$graced" log --file "$tmp/stops" -o json >"$tmp/expected" 2>"$err"
export GRACED_SINKS_FILE=$tmp/begun
try "$graced" log -o json
(($(lines "$out") > 5)) && cmp "$out" "$tmp/expected" >"$err" &&
	try "$graced" report --since 2020-01-01 && cp "$out" "$tmp/report" && try "$graced" report --file "$tmp/stops" &&
	cmp "$out" "$tmp/report" >"$err" && try "$graced" why --last 9 web-0 && (($(grep -c '^2026' "$out") == 3)) &&
	try "$graced" log --boot 0 && refused 2 'GRACED_SINKS_FILE'
claim "without --file the records are those of GRACED_SINKS_FILE, and of the file before it" $?
unset GRACED_SINKS_FILE

conclude
