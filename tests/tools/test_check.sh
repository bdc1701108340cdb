#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds `graced check` to what it says of capabilities: drops them and looks at what is reported, and at
# what then really fails. Needs root and BTF, is skipped aloud without. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"
graced=$(open_copy "$graced") || exit 1

# As root, but with a bounding set as setpriv(1) writes it.
with() { # CAPABILITIES COMMAND...
	timeout -k 5 60 setpriv --bounding-set="$1" --inh-caps=-all "${@:2}" \
		>"$out" 2>"$err" </dev/null
	rc=$?
}

claims="with all capabilities no feature lacks one
a capability that is missing is reported, and the feature that lacks it: a warning where tracing goes on
without CAP_BPF or CAP_PERFMON tracing is reported as out of reach, and is
CAP_SYS_ADMIN stands in for CAP_BPF and CAP_PERFMON
no CAP_SYS_ADMIN is needed, and the kernel's BPF statistics cannot be switched on
what reads the kernel's records does not start with another clock than theirs
the capabilities that check asks for are those the unit and the manifest grant
a line for a feature is as well an object of JSON
each BPF program of the kernel half has a line, the reap hook on_reap among them
each line that is fail or warn has a hint, in the table and in JSON, and no other line has one
every check that can fail on a host without logind was seen to fail
each library that is loaded later has a line; without it the line says what is disabled
a socket that is named and at which no daemon answers is a warning
-o npd fails where no daemon answers, in one line of at most 80 bytes
-o npd says why no daemon can work, and how much else fails
what -o npd may not do itself is no problem of the node
-o npd exits with 2 where the settings cannot be read
-o npd exits with 2 where it may not ask the daemon
-o npd exits with 2 in a container without the directory of the socket, with 1 where it is there
-o npd exits with 0 where a daemon answers, and so does the plugin that deploy/ configures
without libmicrohttpd the daemon runs, and warns that nothing is served
-o npd exits with 0 where the daemon runs, whatever it may do itself
-o npd exits with 0 where the daemon refuses to answer a container
-o npd fails where the daemon hangs"
why=
((EUID == 0)) || why="not root"
[[ -e /sys/kernel/btf/vmlinux ]] || why="no BTF"
command -v setpriv >/dev/null || why="no setpriv"
[[ $why ]] || with +all true || why="capabilities cannot be dropped here"
if [[ $why ]]; then
	while read -r sentence; do skip "$sentence" "$why"; done <<<"$claims"
	conclude
fi

with +all "$graced" check
((rc == 0)) && ! grep -qE 'not held|lacks' "$out" && [[ ! -s $err ]]
claim "with all capabilities no feature lacks one" $?

bad=0
while read -r capability features; do
	with "-${capability,,}" "$graced" check
	((rc == 0)) && grep -q "^warn  CAP_$capability  *not held" "$out" || bad=1
	for feature in $features; do
		grep -q "^warn  ${feature//_/ }  *lacks CAP_$capability: " "$out" || bad=1
	done
	(($(grep -c lacks "$out") == $(wc -w <<<"$features"))) || bad=1
	((bad)) && break
done <<'END'
SYS_PTRACE inits_from_before audit
DAC_READ_SEARCH audit cgroups_by_id
END
claim "a capability that is missing is reported, and the feature that lacks it: a warning where tracing goes on" $bad

bad=0
for capability in bpf perfmon; do
	with "-$capability,-sys_admin" "$graced" check
	((rc == 1)) && grep -qi "^fail  CAP_$capability  *not held" "$out" &&
		grep -qi "^fail  tracing  *lacks CAP_$capability: " "$out" || { bad=1 && break; }
	with "-$capability,-sys_admin" "$graced" trace --duration 1ms
	((rc == 1)) && grep -q 'CAP_BPF and CAP_PERFMON' "$err" || { bad=1 && break; }
done
claim "without CAP_BPF or CAP_PERFMON tracing is reported as out of reach, and is" $bad

with -bpf,-perfmon "$graced" check
bad=$((rc != 0))
grep -q '^ok    CAP_BPF  *not held, but CAP_SYS_ADMIN is' "$out" && ! grep -q lacks "$out" || bad=1
if ((!bad)); then
	with -bpf,-perfmon "$graced" trace --duration 1ms
	bad=$((rc != 0))
fi
claim "CAP_SYS_ADMIN stands in for CAP_BPF and CAP_PERFMON" $bad

with -sys_admin "$graced" trace --duration 1ms
((rc == 0)) && nm -D "$graced" >"$tmp/symbols" && grep -q bpf_map_lookup_elem "$tmp/symbols" &&
	! grep -q bpf_enable_stats "$tmp/symbols"
claim "no CAP_SYS_ADMIN is needed, and the kernel's BPF statistics cannot be switched on" $?

bad=0
for command in trace run "record $tmp/recording"; do
	with +all unshare -Tf --boottime 1000 "$graced" $command
	((rc == 1)) && grep -q 'not the host.s time namespace' "$err" || bad=1
done
with +all unshare -T "$graced" trace --duration 1ms
((rc == 1)) || bad=1
claim "what reads the kernel's records does not start with another clock than theirs" $bad

with +all "$graced" check
asked=$(grep -oE '^ok    CAP_[A-Z_]+' "$out" | grep -oE 'CAP_[A-Z_]+' | sort)
unit=$(sed -n 's/^CapabilityBoundingSet=//p' "$root/deploy/graced.service" | grep -oE 'CAP_[A-Z_]+' | sort)
manifest=$(sed -n '/^ *capabilities:/,/^ *volumeMounts:/s/^ *- \([A-Z_]*\)\( .*\)\?$/CAP_\1/p' \
	"$root/deploy/daemonset.yaml" | grep -v '^CAP_ALL$' | sort)
[[ $asked && $asked == "$unit" && $asked == "$manifest" ]]
claim "the capabilities that check asks for are those of the unit and the manifest" $?

with -dac_read_search "$graced" check -o json
grep -qE '^\{"type":"check",.*"name":"cgroups by id","status":"warn","text":"lacks CAP_DAC_READ_SEARCH: [^"]+","hint":"run as root, or grant CAP_DAC_READ_SEARCH: [^"]+"\}$' "$out"
claim "a line for a feature is as well an object of JSON" $?

with +all "$graced" check -o json
diff <(grep -hoE '^int on_[a-z_]+' "$root"/bpf/*.bpf.c | sed 's/int //' | sort) \
	<(jq -r '.name | select(startswith("on_"))' "$out" | sort) >"$tmp/diff" && grep -q . "$out" &&
	jq -es 'any(.name == "on_reap" and (.status | IN("ok", "warn")))' "$out" >/dev/null
claim "each BPF program of the kernel half has a line, the reap hook on_reap among them" $?
sed 's/^/# /' "$tmp/diff"

# Hosts on which something is missing: what is between env(1) and check, and check's options.
mkdir -m 777 "$tmp/open" && mkdir -m 700 "$tmp/logs" "$tmp/manage" && echo 'kind: x' >"$tmp/kubelet.yaml"
printf 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n' >"$tmp/empty.yaml"
: >"$tmp/file"
printf 'shutdown: {mode: manage}\n' >"$tmp/manage.yaml"
printf 'shutdown: {mode: manage, stopUnits: [kubelet.service]}\n' >"$tmp/stops.yaml"
no_bus=DBUS_SYSTEM_BUS_ADDRESS=unix:path=$tmp/none
cat >"$tmp/hosts" <<END
setpriv --reuid 65534 --clear-groups|
setpriv --bounding-set=-all --inh-caps=-all|
unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "\$@"' sh|
unshare -pf|
unshare -Tf --boottime 1000|
$no_bus|--hierarchy nonsense
|--cri.endpoint $tmp/file --names.log-directory $tmp/logs
|--kubelet.socket $tmp/file --kubelet.url https://127.0.0.1:1 --kubelet.ca $tmp/none --kubelet.token-file $tmp/none
|--kubelet.url http://127.0.0.1:1 --names.docker-root $tmp/file --names.podman-root $tmp/file --names.containerd-state $tmp/file
|--kubelet.config $tmp/kubelet.yaml
|--config $tmp/manage.yaml --kubelet.config $tmp/empty.yaml
|--config $tmp/stops.yaml --kubelet.config $tmp/empty.yaml
RUNTIME_DIRECTORY=$tmp/open|
GRACED_CONTROL_SOCKET=$tmp/logs/none setpriv --reuid 65534 --clear-groups|
END
bad=0
: >"$tmp/seen"
while IFS='|' read -r before options; do
	eval "with +all env $before \"\$graced\" check $options -o json"
	jq -e 'if .status | IN("warn", "fail") then (.hint | type == "string" and length > 10)
		else has("hint") and .hint == null end | if . then empty else "lacks" end' "$out" >"$tmp/lacks"
	[[ ! -s $tmp/lacks && -s $out ]] || bad=1
	jq -r 'select(.status | IN("warn", "fail")).name' "$out" >>"$tmp/seen"
	eval "with +all env $before \"\$graced\" check $options"
	awk '/^(warn|fail)  / { if (due) bad = 1; due = 1; next }
		/^      fix: ./ { if (!due) bad = 1; due = 0; next }
		/^(ok  |info)  / { if (due) bad = 1; next }
		{ bad = 1 }
		END { exit bad || due }' "$out" || bad=1
	((bad)) && echo "# env $before graced check $options" && break
done <"$tmp/hosts"
claim "each line that is fail or warn has a hint, in the table and in JSON, and no other line has one" $bad

sort -u "$tmp/seen" >"$tmp/unique"
comm -23 - "$tmp/unique" <<'END' >"$tmp/unseen"
BPF programs
CAP_BPF
CAP_DAC_READ_SEARCH
CAP_PERFMON
CAP_SYS_PTRACE
audit
btf
cgroups
cgroups by id
checkpoint
cri
daemon
inits from before
kubelet
kubelet credential
kubelet shutdown
kubelet unit
logs
pid namespace
pod status
time namespace
tracing
END
[[ ! -s $tmp/unseen ]]
claim "every check that can fail on a host without logind was seen to fail" $?
sed 's/^/# not seen: /' "$tmp/unseen"

# The loader finds files of these libraries, and nothing in them. It does not return.
without() { # PATTERN COMMAND...
	exec unshare -m bash -c '/sbin/ldconfig -p | grep -E "^\s($0)\.so\.[0-9]+ " | sed "s/.* => //" |
		while read -r file; do mount --bind /dev/null "$file"; done; exec "$@"' "$@"
}
export -f without
with +all "$graced" check
bad=$rc
for name in $(grep -oE '"lib[a-z]+\.so\.[0-9]+"' "$root/user/io/files/library.c" | tr -d '"' | grep -vxF libcrypt.so.2); do
	grep -qE "^ok    $name  *can be loaded$" "$out" || bad=1
done
with +all bash -c 'without "$@"' bash 'libcurl|libmicrohttpd|libncursesw|libcrypt' "$graced" check
((rc == 0)) && grep -qE '^warn  libcurl\.so\.4  *cannot be loaded: .* not queried$' "$out" &&
	grep -q '^      fix: install libmicrohttpd12 ' "$out" && grep -qE '^info  libcrypt.*: no passwords' "$out" &&
	grep -qE '^info  libncursesw.*: top has no screen$' "$out" || bad=1
claim "each library that is loaded later has a line; without it the line says what is disabled" $bad

# As node-problem-detector runs it, with the arguments of the plugin's configuration.
mapfile -t plugin < <(jq -r '.rules[0].args[]' "$root/deploy/node-problem-detector.json")
# It is in a directory that no other user may enter.
mkdir -m 700 "$tmp/run"
export GRACED_CONTROL_SOCKET=$tmp/run/control.sock

short() { one_line "$out" && (($(wc -c <"$out") <= 81)); }

with +all "$graced" check --control.socket "$tmp/none.sock"
((rc == 0)) && grep -qF "warn  daemon                none answers at $tmp/none.sock (No such file" "$out" &&
	grep -q '^ *fix: start the daemon that has that socket' "$out"
claim "a socket that is named and at which no daemon answers is a warning" $?

with +all "$graced" "${plugin[@]}"
((rc == 1)) && short && grep -qF "daemon: none answers at $tmp/run/control.sock (No such file" "$out"
claim "-o npd fails where no daemon answers, in one line of at most 80 bytes" $?

with +all unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$graced" "${plugin[@]}"
((rc == 1)) && short && grep -qE '^btf: none at .* \([0-9]+ more\)$' "$out"
claim "-o npd says why no daemon can work, and how much else fails" $?

with -bpf,-perfmon,-sys_admin "$graced" "${plugin[@]}"
((rc == 1)) && short && grep -q '^daemon: none answers at ' "$out"
claim "what -o npd may not do itself is no problem of the node" $?

with +all "$graced" "${plugin[@]}" --config "$tmp/none.yaml"
((rc == 2)) && short
claim "-o npd exits with 2 where the settings cannot be read" $?

with +all setpriv --reuid 65534 --clear-groups "$graced" "${plugin[@]}"
((rc == 2)) && short && grep -q '^only root may ask' "$out"
claim "-o npd exits with 2 where it may not ask the daemon" $?

# A container: its root directory is another, and what it needs of the host is mounted there.
in_container() { # COMMAND...
	with +all unshare -m sh -c 'mount -t tmpfs none /mnt && for name in /*; do
		if [ -L "$name" ]; then cp -a "$name" /mnt/; fi
		if [ -d "$name" ] && [ ! -L "$name" ]; then mkdir "/mnt$name"; fi
		if [ -d "$name" ] && [ ! -L "$name" ] && [ "$name" != /mnt ]; then mount --rbind "$name" "/mnt$name"; fi
	done; exec chroot /mnt "$@"' sh "$@"
}
in_container env GRACED_CONTROL_SOCKET="$tmp/absent/control.sock" "$graced" "${plugin[@]}"
bad=$((rc != 2))
short && grep -q 'not mounted into this container$' "$out" || bad=1
in_container "$graced" "${plugin[@]}"
((rc == 1)) && short && grep -q '^daemon: none answers at ' "$out" || bad=1
with +all env GRACED_CONTROL_SOCKET="$tmp/absent/control.sock" "$graced" "${plugin[@]}"
((rc == 1)) || bad=1
claim "-o npd exits with 2 in a container without the directory of the socket, with 1 where it is there" $bad

without libmicrohttpd "$graced" run --control.socket "$tmp/run/control.sock" --checkpoint.file none --web.listen-address 127.0.0.1:0 \
	--shutdown.mode off --no-sinks.stdout --sinks.journal off >"$tmp/daemon.log" 2>&1 &
daemon=$!
trap 'kill -CONT "$daemon" 2>/dev/null; kill "$daemon" 2>/dev/null; remove_tmp' EXIT
for ((i = 0; i < 1200; i++)); do
	with +all "$graced" "${plugin[@]}"
	((rc == 1)) && kill -0 "$daemon" 2>/dev/null || break
	sleep 0.1
done
((rc == 0)) && short && grep -qE '^graced works here, warnings: [0-9]+$' "$out"
claim "-o npd exits with 0 where a daemon answers, and so does the plugin that deploy/ configures" $?
((rc == 0)) || sed 's/^/# /' "$tmp/daemon.log"

grep -q 'level=warning msg="no metrics and no status page are served: .*libmicrohttpd' "$tmp/daemon.log"
claim "without libmicrohttpd the daemon runs, and warns that nothing is served" $?

with -bpf,-perfmon,-sys_admin,-sys_ptrace "$graced" "${plugin[@]}"
((rc == 0)) && short
claim "-o npd exits with 0 where the daemon runs, whatever it may do itself" $?

# The daemon knows a container by its cgroup.
cgroup=$("$graced" check -o json | jq -r 'select(.name == "cgroups").text | sub(".* at "; "")')
cgroup=$cgroup/docker-$(printf '%064x' $$).scope
sentence="-o npd exits with 0 where the daemon refuses to answer a container"
if mkdir "$cgroup" 2>/dev/null; then
	enter='echo $$ >"$0/cgroup.procs" && exec "$@"'
	with +all bash -c "$enter" "$cgroup" "$graced" pods
	grep -q 'the daemon refuses: ' "$err"
	bad=$?
	with +all bash -c "$enter" "$cgroup" "$graced" "${plugin[@]}"
	((rc == 0)) && short || bad=1
	claim "$sentence" $bad
	rmdir "$cgroup"
else
	skip "$sentence" "no cgroups to write to"
fi

kill -STOP "$daemon"
with +all "$graced" "${plugin[@]}"
((rc == 1)) && short && grep -q '^daemon: none answers at ' "$out"
claim "-o npd fails where the daemon hangs" $?
kill -CONT "$daemon"
kill "$daemon" && wait "$daemon" 2>/dev/null

conclude
