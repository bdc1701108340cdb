# SPDX-License-Identifier: Apache-2.0
# Sourced after control-plane.sh and machine.sh: TAP and a count, a directory for logs, and an end that
# leaves nothing behind. Leaves work.

work=$(mktemp -d "${TMPDIR:-/tmp}/graced-vm.XXXXXX")
watch_pid= created=0
clean_up() {
	local pid
	for pid in $watch_pid $machine_pid; do
		kill -KILL "$pid" 2>/dev/null
	done
	stop_control_plane
	wait 2>/dev/null
	[[ ${KEEP-} ]] && echo "# logs: $work" || rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

count=0 passed=0 failed=0 skipped=0 held=

# Takes TAP lines without numbers; numbers, counts and prints them.
tally() {
	local line
	[[ $held ]] && cat >>"$held" && return
	while IFS= read -r line; do
		case $line in
		"ok - "*) passed=$((passed + 1)) line="ok $((++count)) ${line#ok }" ;;
		"skip - "*) skipped=$((skipped + 1)) line="ok $((++count)) ${line#skip }" ;;
		"not ok - "*) failed=$((failed + 1)) line="not ok $((++count)) ${line#not ok }" ;;
		esac
		printf '%s\n' "$line"
	done
}

claim() { # STATUS SENTENCE
	local word=ok
	(($1)) && word="not ok"
	tally <<<"$word - $2"
}

# From now on claims are held back, until sum_up() makes one of them.
hold_claims() {
	held=$work/claims
	: >"$held"
}

sum_up() { # SENTENCE : what fails, and all that was seen, stands below it
	local file=$held word=ok
	held=
	grep -q '^ok' "$file" && ! grep -q '^not ok' "$file" || word="not ok"
	tally <<<"$word - $1"
	[[ $word == ok ]] || sed 's/^\(# \)*/# /' "$file"
}

finish() {
	[[ $held ]] && sum_up "nothing breaks off"
	echo "1..$count"
	local summary="$passed passed, $failed failed"
	((skipped)) && summary+=", $skipped skipped"
	echo "$summary"
	exit $((failed > 0))
}

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

give_up() { # SENTENCE
	claim 1 "$1"
	tail -n 15 "$work"/{etcd,apiserver,qemu,console}.log 2>/dev/null | cut -c1-200 | sed 's/^/# /'
	[[ ! $agent_port ]] || GUEST_LIMIT=30 guest 'systemctl --no-pager --failed
		journalctl --no-pager -n 40 -u graced -u containerd -u kubelet -u images' |
		cut -c1-200 | sed 's/^/# /'
	finish
}

need() { # PROGRAM [ARGUMENT...] : what it prints; the test is skipped where it cannot be had here
	local out status
	out=$("$@" 2>"$work/need.log")
	status=$?
	((status == 77)) && skip_all "$(tail -n 1 "$work/need.log")"
	((status)) && { cat "$work/need.log" >&2; give_up "$1 gives what the machine needs"; }
	printf -v needed '%s' "$out"
}
