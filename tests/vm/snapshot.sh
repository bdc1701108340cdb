# SPDX-License-Identifier: Apache-2.0
# Sourced after bring-up.sh: a node that can be shut down again and again from the same moment of its
# life, machine, API server and etcd alike. snapshot_options before it boots.

monitor=

snapshot_options() {
	mkfifo "$work/mon.in" "$work/mon.out"
	machine_options+=(-action reboot=shutdown,shutdown=pause -chardev "pipe,id=mon,path=$work/mon" -mon mon,mode=control)
}

# The emulator's answer to a command of its protocol; what it says unasked goes to events.log.
ask_machine() { # JSON
	local line
	printf '%s\n' "$1" >"$work/mon.in"
	while IFS= read -r -t 600 -u "$monitor" line; do
		case $line in
		*'"return":'* | *'"error":'*) printf '%s\n' "$line" | tee -a "$work/monitor.log"; return ;;
		*) printf '%s\n' "$line" >>"$work/events.log" ;;
		esac
	done
	return 1
}

# A command as people type it.
command_machine() { # COMMAND
	ask_machine '{"execute":"human-monitor-command","arguments":{"command-line":"'"$1"'"}}'
}

open_monitor() {
	exec {monitor}<>"$work/mon.out"
	ask_machine '{"execute":"qmp_capabilities"}' >/dev/null
}

machine_is_off() {
	! alive "$machine_pid" || [[ $(ask_machine '{"execute":"query-status"}') == *'"shutdown"'* ]]
}

# When it went off last, by this host's clock.
machine_off_time() {
	jq -r 'select(.event == "SHUTDOWN" and .data.guest).timestamp | .seconds + .microseconds / 1000000' \
		"$work/events.log" | tail -n 1
}

# An API server that is asked to go waits a minute for those who watch.
end_control_plane() {
	kill -KILL "$apiserver_pid"
	kill -TERM "$etcd_pid"
	wait "$apiserver_pid" "$etcd_pid" 2>/dev/null
	return 0
}

run_control_plane() {
	run_etcd "$etcd/etcd" "$etcd_port" "$etcd_peer_port" &&
		run_apiserver "$kubernetes/kube-apiserver"
}

take_snapshot() {
	command_machine stop >/dev/null
	command_machine 'savevm ready' >/dev/null
	[[ $(command_machine 'info snapshots') == *ready* ]] ||
		give_up "the machine's state is kept"
	if [[ $etcd_pid ]]; then
		end_control_plane
		cp -a "$work/etcd" "$work/etcd.ready"
	fi
}

# One that is off goes on only after a reset; one that resets itself is off.
reset_machine() {
	ask_machine '{"execute":"set-action","arguments":{"reboot":"reset"}}' >/dev/null
	command_machine system_reset >/dev/null
	ask_machine '{"execute":"set-action","arguments":{"reboot":"shutdown"}}' >/dev/null
}

# The clock of the machine is about that of this host again.
restore_snapshot() {
	command_machine stop >/dev/null
	reset_machine
	if [[ $etcd_pid ]]; then
		end_control_plane 2>/dev/null
		rm -rf "$work/etcd"
		cp -a "$work/etcd.ready" "$work/etcd"
		run_control_plane || give_up "the API server is what it was"
	fi
	command_machine 'loadvm ready' >/dev/null
	command_machine cont >/dev/null
	await 120 machine_up && alive "$machine_pid" || give_up "the machine is what it was"
	guest "date -s @$EPOCHREALTIME >/dev/null"
}
