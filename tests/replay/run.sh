#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replays every recording here and compares what is reported, byte by byte, with what graced-records(5)
# says of it: NAME.rec gives NAME.out as JSON lines and, where there is one, NAME.table as a table.
# Prints TAP. GRACED names the program.
#   tests/replay/run.sh [NAME...]
#   tests/replay/run.sh grow      adds members that are new, and that say nothing, to NAME.out
set -u
graced=$(realpath "${GRACED:-build/graced}") || exit 1
cd "$(dirname "$0")" || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0

result() { # STATUS SENTENCE
	count=$((count + 1))
	if (($1 == 0)); then
		echo "ok $count - $2"
	else
		failed=$((failed + 1))
		echo "not ok $count - $2"
		head -c 6000 "$work/why" | sed 's/^/# /'
	fi
}

# Ends well, says nothing on stderr, and leaves what it printed in $work/NAME.
replay() { # NAME ARG...
	local to=$work/$1 rc
	shift
	"$graced" replay "$@" >"$to" 2>"$work/err" </dev/null
	rc=$?
	((rc == 0)) && [[ ! -s $work/err ]] && return 0
	echo "exit status $rc" | cat - "$work/err" >"$work/why"
	return 1
}

# Another place, time zone and language, and a pipe instead of a file.
replay_elsewhere() { # FILE FORMAT
	(cd / && TZ=Asia/Kathmandu LC_ALL=C.UTF-8 COLUMNS=40 TERM=xterm-256color CLICOLOR_FORCE=1 \
		"$graced" replay -o "$2" --signals -) <"$1" >"$work/again" 2>"$work/why"
}

about() { # NAME: what the recording's first line says of it
	sed -n '1s/.*"about":"\([^"]*\)".*/\1/p' "$1.rec"
}

scenario() { # NAME
	replay got -o json --signals "$1.rec" && diff "$1.out" "$work/got" >"$work/why"
	result $? "$1: $(about "$1")"
	replay_elsewhere "$1.rec" json && cmp "$work/got" "$work/again" >"$work/why" 2>&1
	result $? "$1: the same bytes again, elsewhere"
	if [[ -e $1.table ]]; then
		replay table --signals "$1.rec" && diff "$1.table" "$work/table" >"$work/why"
		result $? "$1: as a table"
		replay_elsewhere "$1.rec" table && cmp "$1.table" "$work/again" >"$work/why" 2>&1
		result $? "$1: the same table again, elsewhere"
	fi
}

# A golden that is missing, or that nothing is compared with, is not noticed otherwise.
complete() {
	local row name
	: >"$work/why"
	for row in {01..27} 27a 28 29; do
		[[ -e row-$row.rec ]] || echo "row $row has no recording" >>"$work/why"
	done
	for name in *.rec *.out *.table; do
		[[ -e $name ]] || continue
		[[ -e ${name%.*}.rec && -s ${name%.*}.out ]] || echo "$name is alone" >>"$work/why"
	done
	[[ ! -s $work/why ]]
}

# graced-records(5): "Every member is always there, in the same order". The members of each type and
# of what is in it, as far as it is no variant, are the same in all records; and the page has them.
same_members() {
	jq -r '. as $record | [[], ["pod"], ["container"], ["process"], ["stop_signal"], ["exit"], ["stages"],
		["durations"], ["group"], ["stop"], ["victim"], ["evidence"]][] | . as $path | $record |
		getpath($path) | objects | "\($record.type) \($path | join("")): \(keys_unsorted | join(" "))"' \
		./*.out | sort -u >"$work/members"
	cut -d: -f1 "$work/members" | sort | uniq -d | sed 's|.*|^&:|' | grep -f - "$work/members" >"$work/why"
	sed -n '/^\.Ss Common members/,/^\.Sh OUTCOME/{s/^\.\(It \)\?Cm //p}' ../../docs/graced-records.5 | tr -s ' ,' '\n' |
		sort -u >"$work/page"
	cut -d: -f2 "$work/members" | tr ' ' '\n' | grep . | sort -u | comm -23 - "$work/page" |
		sed 's/^/not in the page: /' >>"$work/why"
	[[ -s $work/members && ! -s $work/why ]]
}

# Without what only the program's records have and says nothing (null, false, 0, []) they are what the
# golden has: then the golden is theirs. Any other difference is left to who has read the page.
grow() { # NAME
	replay got -o json --signals "$1.rec" && ! cmp -s "$1.out" "$work/got" || return 0
	jq -nc --slurpfile old "$1.out" --slurpfile new "$work/got" '
		def like($old): if type == "object" and ($old | type) == "object" then with_entries(
				select(.key as $key | ($old | has($key)) or (.value | IN(null, false, 0, []) | not)) |
				.key as $key | .value |= like($old[$key]))
			elif type == "array" then [range(length) as $i | .[$i] | like($old[$i]?)] else . end;
		range([$old, $new | length] | max) as $i | $new[$i] | like($old[$i])' >"$work/reduced"
	if jq -c . "$1.out" | cmp -s - "$work/reduced"; then
		cp "$work/got" "$1.out" && echo "$1.out has members more"
	else
		echo "$1.out differs in more than members that say nothing"
		failed=1
	fi
}

if [[ ${1-} == grow ]]; then
	for name in *.rec; do grow "${name%.rec}"; done
	exit "$failed"
fi
if (($#)); then
	names=("$@")
else
	mapfile -t names < <(printf '%s\n' *.rec | LC_ALL=C sort | sed 's/\.rec$//')
	complete
	result $? "every row of the decision table is replayed, and no golden is alone"
	same_members
	result $? "every member is always there, in the same order, and in graced-records(5)"
fi
for name in "${names[@]}"; do
	scenario "$name"
done
echo "1..$count"
((failed == 0))
