#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs deploy/graced.service under a systemd of its own, which is PID 1 of namespaces made for it,
# with journald and stand-ins for containerd and the kubelet. Needs root, systemd and a cgroup2 tree,
# is skipped aloud without. GRACED names the binary.
#   tests/daemon/test_systemd.sh        --boot is how it calls itself inside
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
count=0 failures=0

# --- inside: from a bare set of namespaces to systemd -------------------------------------------

boot() { # DIRECTORY
	local unit device
	set -e
	mount --make-rprivate /
	mount -t tmpfs tmpfs /run
	mkdir -p /run/unit /run/graced/sbin /run/graced/etc /run/dev
	install -m 755 "$1/graced" /run/graced/sbin/graced
	install -m 644 "$1/graced.yaml" /run/graced/etc/graced.yaml
	cp -r "$1"/unit/. /run/unit/
	for unit in sysinit basic shutdown umount final multi-user sockets slices paths timers; do
		cp -L "/lib/systemd/system/$unit.target" /run/unit/
	done
	cp -L /lib/systemd/system/systemd-journald{.service,.socket,-dev-log.socket} /run/unit/
	mkdir /run/unit/sockets.target.wants
	ln -s ../systemd-journald{,-dev-log}.socket /run/unit/sockets.target.wants/
	# What the host has in these places is not for this systemd to change.
	mount -t tmpfs tmpfs /run/dev
	for device in null zero random urandom full tty; do
		: >"/run/dev/$device"
		mount --bind "/dev/$device" "/run/dev/$device"
	done
	mkdir /run/dev/{shm,pts,mqueue,hugepages}
	mount -t devpts -o newinstance,ptmxmode=666 devpts /run/dev/pts
	ln -s pts/ptmx /run/dev/ptmx
	ln -s /proc/self/fd /run/dev/fd
	mount --move /run/dev /dev
	mount -t proc proc /proc
	mount --bind /proc/sys /proc/sys
	mount -o remount,bind,ro /proc/sys
	umount -R /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	for device in /tmp /var/log /var/tmp /var/lib/systemd; do
		mount -t tmpfs tmpfs "$device"
	done
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=graced-test \
		SYSTEMD_UNIT_PATH=/run/unit /lib/systemd/systemd --unit=multi-user.target \
		--show-status=no --log-target=journal
}

if [[ ${1:-} == --boot ]]; then
	boot "$2"
	exit 1
fi

# --- outside ------------------------------------------------------------------------------------

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}

((EUID == 0)) || skip_all "needs root"
[[ -r /sys/kernel/btf/vmlinux ]] || skip_all "this kernel has no BTF"
[[ -x /lib/systemd/systemd && -e /lib/systemd/system/systemd-journald.service ]] ||
	skip_all "systemd is not installed"
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cgroup=$cgroups/graced-systemd-$$
[[ $cgroups ]] && mkdir "$cgroup" 2>/dev/null || skip_all "there is no cgroup2 tree to write to"

tmp=$(mktemp -d)
init=
clean_up() {
	[[ $init ]] && kill -KILL "$init" 2>/dev/null
	wait 2>/dev/null
	for ((i = 0; i < 100; i++)); do
		find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
		[[ -d $cgroup ]] || break
		sleep 0.1
	done
	rm -rf "$tmp"
}
trap clean_up EXIT

claim() { # SENTENCE STATUS
	count=$((count + 1))
	if (($2 == 0)); then
		echo "ok $count - $1"
		return
	fi
	echo "not ok $count - $1"
	{
		inside systemctl --no-pager --full status graced.service
		inside journalctl --no-pager -n 20
		tail -n 5 "$tmp/boot"
	} 2>&1 | cut -c1-200 | sed 's/^/# /'
	failures=$((failures + 1))
}

inside() { # COMMAND...
	timeout -k 5 90 nsenter -t "$init" -m -p -n -u -i "$@" </dev/null
}

prop() { # PROPERTY [UNIT]
	inside systemctl show -P "$1" "${2:-graced.service}"
}

is() { # STATE [UNIT]
	[[ $(prop ActiveState "${2:-graced.service}") == "$1" ]]
}

# The wait has an end only for a test that fails.
await() { # COMMAND...
	local i
	for ((i = 0; i < 300; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

stand_in() { # UNIT
	cat >"$tmp/unit/$1" <<-END
		[Unit]
		PartOf=node.target
		[Service]
		ExecStart=/bin/sleep infinity
	END
}

prepare() {
	mkdir -p "$tmp/unit/graced.service.d"
	cp "$graced" "$tmp/graced"
	sed -e 's,@prefix@,/run/graced,' -e 's,@sysconfdir@/graced,/run/graced/etc,' \
		"$root/deploy/graced.service" >"$tmp/unit/graced.service"
	# Its own times are for people, ours are for whoever waits for the test.
	cat >"$tmp/unit/graced.service.d/test.conf" <<-END
		[Unit]
		PartOf=node.target
		[Service]
		WatchdogSec=2
		RestartSec=0
		TimeoutAbortSec=1
	END
	# One transaction, as at boot: orders bear on what is started and stopped together.
	cat >"$tmp/unit/node.target" <<-END
		[Unit]
		Wants=containerd.service kubelet.service graced.service
	END
	stand_in containerd.service
	stand_in kubelet.service
	cat >"$tmp/graced.yaml" <<-END
		hierarchy: unified
		web:
		  listenAddress:
		    - 127.0.0.1:9753
		sinks:
		  journal: true
	END
}

start_systemd() {
	(
		echo $BASHPID >"$cgroup/cgroup.procs" || exit 1
		exec unshare --fork --kill-child --pid --mount --net --uts --ipc \
			"$root/tests/daemon/test_systemd.sh" --boot "$tmp"
	) >"$tmp/boot" 2>&1 </dev/null &
	local outer=$!
	await find_init "$outer"
}

find_init() { # PID OF UNSHARE
	init=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
	init=${init%% *}
	[[ $init && $(cat "/proc/$init/comm" 2>/dev/null) == systemd ]] &&
		inside systemctl is-active -q multi-user.target 2>/dev/null
}

# A container that is told to stop; the next id.
containers=0
stop_container() {
	local pod container
	containers=$((containers + 1))
	pod=$cgroup/kubepods/burstable/pod$(printf '%08d-0000-4000-8000-000000000000' $containers)
	container=$pod/$(printf '%064x' $containers)
	mkdir -p "$container"
	bash -c 'echo $$ >"$0/cgroup.procs"; exec sleep 1000' "$container" &
	local pid=$!
	await is_sleep "$pid"
	kill -TERM "$pid"
	wait "$pid" 2>/dev/null
	await rmdir "$container" "$pod" 2>/dev/null
}

is_sleep() { # PID
	[[ $(cat "/proc/$1/comm" 2>/dev/null) == sleep ]]
}

metric() { # NAME
	inside curl -s -m 20 http://127.0.0.1:9753/metrics |
		awk -v name="$1" 'index($1, name "{") == 1 || $1 == name { sum += $2 } END { print sum + 0 }'
}

at_least() { # NAME NUMBER
	[[ $(metric "$1") -ge $2 ]]
}

journal_has() { # MATCH... : an entry with these fields
	inside journalctl -q -n 1 -o cat "$@" 2>/dev/null | grep -q .
}

restarted() { # TIMES
	[[ $(prop NRestarts) == "$1" ]] && is active
}

expect_start() {
	inside systemctl start node.target && await is active &&
		[[ $(prop StatusText) == *"cgroups watched"* ]]
	claim "started, it is active and says how many cgroups it watches" $?
	await is active containerd.service && await is active kubelet.service
	local ready began
	ready=$(prop ActiveEnterTimestampMonotonic)
	for unit in containerd.service kubelet.service; do
		began=$(prop ExecMainStartTimestampMonotonic $unit)
		((ready && began >= ready)) || unit=
	done
	[[ $unit ]]
	claim "containerd and the kubelet are started when it is ready" $?
}

expect_journal() {
	local id
	inside journalctl --sync
	journal_has _SYSTEMD_UNIT=graced.service PRIORITY=6 &&
		! inside journalctl -q -o cat -u graced.service | grep -q '^<[0-9]>'
	claim "its log is in the journal, its levels taken from the prefixes" $?
	journal_has _SYSTEMD_UNIT=graced.service PRIORITY=4 &&
		! journal_has _SYSTEMD_UNIT=graced.service PRIORITY=3
	claim "what it cannot see from inside a pid namespace is a warning, not an error" $?
	stop_container
	id=$(printf '%064x' 1)
	await journal_has GRACED_TYPE=stop GRACED_CONTAINER_ID="$id" GRACED_OUTCOME=terminated \
		_SYSTEMD_UNIT=graced.service
	claim "a stop is an entry with fields of its own" $?
	[[ $(inside journalctl -q -o json GRACED_TYPE=stop | grep -o '"MESSAGE_ID":"[0-9a-f]\{32\}"') ]]
	claim "the entry has a MESSAGE_ID" $?
}

expect_reload() {
	local pid
	pid=$(prop MainPID)
	inside systemctl reload graced.service && await log_says reloaded &&
		[[ $(prop MainPID) == "$pid" ]] && is active
	claim "systemctl reload has it read its configuration anew and go on" $?
}

log_says() { # TEXT
	inside journalctl -q -o cat -u graced.service | grep -q "$1"
}

expect_without_journald() {
	local journald stops
	journald=$(prop MainPID systemd-journald.service)
	stops=$(metric graced_container_stops_total)
	inside kill -STOP "$journald"
	for ((i = 0; i < 20; i++)); do
		stop_container
	done
	await at_least graced_container_stops_total $((stops + 20))
	claim "while journald is stopped by a signal, stops are traced and counted" $?
	inside kill -CONT "$journald"
	inside systemctl stop systemd-journald{.socket,-dev-log.socket,.service} 2>/dev/null
	for ((i = 0; i < 20; i++)); do
		stop_container
	done
	await at_least graced_container_stops_total $((stops + 40)) && [[ $(prop NRestarts) == 0 ]]
	claim "while there is no journald, stops are traced and counted" $?
	inside systemctl start systemd-journald{.socket,-dev-log.socket,.service}
	stop_container
	await journal_has GRACED_TYPE=stop GRACED_CONTAINER_ID="$(printf '%064x' $containers)"
	claim "stops are entries again when journald is back" $?
}

expect_watchdog() {
	local pid
	pid=$(prop MainPID)
	inside kill -STOP "$pid"
	await restarted 1 && [[ $(prop MainPID) != "$pid" ]]
	claim "systemd ends and restarts it when it is stopped with SIGSTOP" $?
	stop_container
	await at_least graced_container_stops_total 1
	claim "the restarted daemon traces" $?
}

# What systemd itself told, in order: units that are inactive are forgotten with their times.
told_before() { # TEXT TEXT
	inside journalctl -q -o cat _PID=1 | awk -v a="$1" -v b="$2" '
		index($0, a) == 1 { first = NR }
		index($0, b) == 1 { second = NR }
		END { exit !(first && second && first < second) }'
}

expect_stop() {
	inside systemctl stop node.target
	await is inactive containerd.service && await is inactive kubelet.service &&
		await is inactive && inside journalctl --sync &&
		told_before "Stopping graced.service" "graced.service: Deactivated successfully."
	claim "systemctl stop ends it as it should end" $?
	told_before "Stopped containerd.service" "Stopping graced.service" &&
		told_before "Stopped kubelet.service" "Stopping graced.service"
	claim "it is stopped when containerd and the kubelet are gone" $?
}

prepare
start_systemd || skip_all "systemd does not start here: $(tail -n 1 "$tmp/boot")"
expect_start
((failures)) && echo "1..$count" && exit 1
expect_journal
expect_reload
expect_without_journald
expect_watchdog
expect_stop
echo "1..$count"
exit $((failures > 0))
