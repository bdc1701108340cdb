# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of command lines: what the last command wrote and returned, claims about it as TAP,
# and a directory that goes at the end. Leaves tmp, out, err and rc; who has more to tidy sets a trap of
# its own and calls remove_tmp.

tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
remove_tmp() { rm -rf "$tmp"; }
trap remove_tmp EXIT
out=$tmp/out err=$tmp/err rc=0 count=0 failures=0

# Seconds that a command may take.
patience=120

try() { # COMMAND...
	timeout -k 5 $patience "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}

claim() { # SENTENCE STATUS
	count=$((count + 1))
	if (($2 == 0)); then
		echo "ok $count - $1"
		return
	fi
	echo "not ok $count - $1"
	{ echo "exit status $rc"; sed 's/^/out: /' "$out"; sed 's/^/err: /' "$err"; } 2>/dev/null |
		head -40 | cut -c1-300 | sed 's/^/# /'
	failures=$((failures + 1))
}

skip() { # SENTENCE REASON
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# The last line of a test.
conclude() {
	echo "1..$count"
	exit $((failures > 0))
}

# A copy of a program that every user can run: it may lie where only root may enter.
open_copy() { # PROGRAM -> its path
	install -D -m 755 "$1" "$tmp/bin/${1##*/}" && chmod 755 "$tmp/bin" && echo "$tmp/bin/${1##*/}"
}

lines() { wc -l <"$1"; }
quiet() { [[ ! -s $1 ]]; }
one_line() { [[ $(lines "$1") == 1 ]] && ! grep -q '[^[:print:]]' "$1"; }

# Wrong in the way of the pattern: one line on stderr, nothing on stdout.
refused() { # STATUS PATTERN
	((rc == $1)) && quiet "$out" && one_line "$err" && grep -qE -- "$2" "$err"
}

# Commands of $graced, the words of one a line, each with something to write: whether each says in one
# line that the device of standard output is full, and exits 1.
all_find_it_full() {
	local args bad=0
	while read -r args; do
		rc=0
		: >"$out"
		# shellcheck disable=SC2086 # the words are the arguments
		timeout 120 "$graced" $args >/dev/full 2>"$err" </dev/null || rc=$?
		((rc == 1)) && [[ $(grep -c . "$err") == 1 ]] && grep -q 'No space left on device' "$err" || {
			bad=1 && echo "# graced $args: $rc, $(cat "$err")"
		}
	done
	return $bad
}
