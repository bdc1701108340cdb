#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs deploy/graced.service under a systemd of its own, which is PID 1 of namespaces made for it,
# with journald and stand-ins for containerd and the kubelet. Needs root, systemd and a cgroup2 tree,
# is skipped aloud without. GRACED names the binary.
set -u
. "$(dirname "$0")/../lib/systemd.sh"
systemd_needs

explain() {
	inside systemctl --no-pager --full status graced.service
	inside journalctl --no-pager -n 20
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
		# systemd empties it in the end, and the program is in /run/graced here.
		RuntimeDirectory=
		RuntimeDirectory=graced-control
		# /var is the host's.
		StateDirectory=
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

# A container that is requested to stop; the next id.
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
	log_says "restored the checkpoint /run/graced-control/checkpoint"
	claim "it goes on where the one that was killed had come to" $?
}

times_said() { # TEXT NUMBER
	[[ $(inside journalctl -q -o cat -u graced.service | grep -c "$1") -ge $2 ]]
}

# The runtime directory outlives the service.
expect_restart() {
	inside systemctl stop graced.service && await is inactive &&
		inside systemctl start graced.service && await is active &&
		await times_said "restored the checkpoint /run/graced-control/checkpoint" 2
	claim "stopped and started, it goes on where it had come to" $?
}

# What systemd itself reported, in order: units that are inactive are forgotten with their times.
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
((failures)) && end_tests
expect_journal
expect_reload
expect_without_journald
expect_watchdog
expect_restart
expect_stop
end_tests
