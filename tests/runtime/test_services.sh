#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stops services of a real systemd under `graced trace --scope services`, and holds the records
# against what each unit says of itself: main process, KillSignal=, TimeoutStopSec=. Needs root,
# systemd and a cgroup2 tree, is skipped aloud without. GRACED names the binary.
#   tests/runtime/test_services.sh [--here]    --here: with the systemd that is PID 1
set -u
mode=user
[[ ${1-} == --here ]] && mode=here
. "$(dirname "$0")/../lib/systemd.sh"
systemd_needs

explain() {
	records | tail -n 3
}

unit() { # NAME TYPE COMMAND [LINE...] : a service that is started by hand
	local name=$1 type=$2 command=$3
	shift 3
	{
		printf '%s\n' "[Service]" "Type=$type" "NotifyAccess=all" "ExecStart=$command"
		(($#)) && printf '%s\n' "$@"
	} >"$tmp/unit/$name"
}

script() { # NAME, its text from standard input
	{
		echo '#!/bin/bash'
		cat
	} >"$tmp/unit/$1"
	chmod 755 "$tmp/unit/$1"
}

prepare() {
	# Ends well on a signal; says on both ways that it would hear it now.
	script serve <<-'END'
		trap 'kill $!; exit 0' "$1"
		[[ ${NOTIFY_SOCKET-} ]] && systemd-notify --ready
		echo ready
		exec >/dev/null 2>&1
		while :; do
			sleep infinity &
			wait
		done
	END
	# SIG_IGN outlives exec, and is no deafness.
	script ignore <<-'END'
		trap '' TERM
		systemd-notify --ready
		exec sleep infinity
	END
	script fork <<-'END'
		exec 3< <(exec /run/unit/serve TERM)
		read -r -u 3
	END
	# The first main process names the second one, and leaves. That one is systemd's child by then:
	# for another's systemd does not wait before it sends SIGKILL (unit_kill_context() in its
	# src/core/unit.c), unless there are others in the cgroup that it has sent the stop signal.
	script hand-over <<-'END'
		said=$(unset NOTIFY_SOCKET; /run/unit/serve TERM & echo $!)
		systemd-notify --ready "MAINPID=${said//[!0-9]/}"
	END
	unit early.service notify "/run/unit/serve TERM" TimeoutStopSec=21
	unit good.service notify "/run/unit/serve TERM" TimeoutStopSec=20
	unit ignores.service notify /run/unit/ignore TimeoutStopSec=2
	unit plain.service exec "/bin/sleep infinity" TimeoutStopSec=infinity
	unit int.service notify "/run/unit/serve INT" KillSignal=SIGINT TimeoutStopSec=22
	unit rt.service notify "/run/unit/serve RTMIN+3" KillSignal=SIGRTMIN+3 TimeoutStopSec=30
	unit forks.service forking /run/unit/fork TimeoutStopSec=23
	unit hands-over.service notify /run/unit/hand-over TimeoutStopSec=24
	unit exec-stop.service notify "/run/unit/serve TERM" ExecStop=/bin/true TimeoutStopSec=25
	unit spared.service notify "/run/unit/serve TERM" SendSIGKILL=no TimeoutStopSec=26
	unit 'a\x2db@.service' notify "/run/unit/serve TERM" TimeoutStopSec=27
	unit reloaded.service notify "/run/unit/serve TERM" TimeoutStopSec=28
	# It is stopped when graced is back at systemd, not before.
	unit again.service notify "/run/unit/serve TERM" "ExecStop=/bin/sleep 1" TimeoutStopSec=31
	unit quits.service oneshot "/bin/sh -c 'exit 3'"
	unit tracer.service exec "/run/graced/sbin/graced trace --scope services --hierarchy unified -o json" \
		StandardOutput=file:/run/records
}

# --- what is recorded ---------------------------------------------------------------------------

records() {
	inside cat /run/records
}

stops_of() { # UNIT : its stop records
	records | grep -F '"type":"stop"' | grep -F "\"container\":{\"name\":\"${1//\\/\\\\}\","
}

# The object of that name is the record's own: a sender has neither.
has() { # UNIT TEXT... : it has one stop record, with all of these
	local unit=$1 record text
	shift
	record=$(stops_of "$unit")
	[[ $record && $(wc -l <<<"$record") == 1 ]] || return 1
	for text; do
		[[ $record == *"$text"* ]] || return 1
	done
}

is_attached() {
	records 2>/dev/null | grep -q '"type":"attached"'
}

is_stopped() { # UNIT
	stops_of "$1" | grep -q .
}

# What systemd has reported of the unit's main process, from before it is stopped.
declare -A main_pid=()

start() { # UNIT...
	local unit
	ctl start "$@" || return 1
	for unit; do
		main_pid[$unit]=$(prop MainPID "$unit")
	done
}

stop() { # UNIT... : until their records are there
	local unit
	ctl stop "$@" || return 1
	for unit; do
		await is_stopped "$unit" || return 1
	done
}

# A systemd that is not PID 1 is a process of the host like others.
sender='"comm":"systemd","ancestors"'
[[ $mode == here ]] && kind='"kind":"systemd"' || kind='"kind":"host"'

graceful() { # UNIT SIGNAL GRACE
	has "$1" '"kind":"service"' '"outcome":"graceful","cause":"stop-signal"' \
		"\"stop_signal\":{\"number\":$2," "\"grace\":$3" '"kill_signal":null' \
		'"deaf":false' "$sender" "$kind" "\"process\":{\"pid\":${main_pid[$1]}," \
		'"exit":{"code":0,"signal":0'
}

seconds() { # NUMBER
	echo "{\"seconds\":$1,"
}

expect_attached() {
	start early.service && start tracer.service && await is_attached
	claim "graced attaches beside a systemd" $?
}

expect_good() {
	start good.service int.service rt.service && stop good.service int.service rt.service
	graceful good.service 15 "$(seconds 20)"
	claim "a service that ends on SIGTERM is graceful, within its TimeoutStopSec=" $?
	graceful int.service 2 "$(seconds 22)" && graceful rt.service 37 "$(seconds 30)"
	claim "the stop signal is KillSignal=" $?
	stop early.service
	graceful early.service 15 "$(seconds 21)" && ! stops_of early.service | grep -q init-guessed
	claim "the main process of a service that ran before is known" $?
}

expect_bad() {
	start ignores.service plain.service && stop ignores.service plain.service
	has ignores.service '"kind":"service"' '"outcome":"killed","cause":"grace-expired"' \
		'"stop_signal":{"number":15,"name":"SIGTERM","result":"ignored"' \
		'"kill_signal":{"number":9,' "\"grace\":$(seconds 2)" '"deaf":false' "$kind"
	claim "a service that ignores SIGTERM is killed when its grace period has expired" $?
	has plain.service '"outcome":"terminated","cause":"stop-signal"' '"grace":null' \
		'"exit":{"code":null,"signal":15'
	claim "a service that dies of SIGTERM is terminated; infinity is no grace period" $?
	ctl start quits.service 2>/dev/null
	await is_stopped quits.service
	has quits.service '"outcome":"failed","cause":"self"' '"stop_signal":null' \
		'"exit":{"code":3,'
	claim "a service that ends by itself has not been stopped" $?
}

expect_main_process() {
	start forks.service hands-over.service && stop forks.service hands-over.service
	graceful forks.service 15 "$(seconds 23)"
	claim "the main process of a forking service is the one that stays" $?
	graceful hands-over.service 15 "$(seconds 24)"
	claim "a main process that names another one is not the service's end" $?
}

expect_settings() {
	local unit='a\x2db@1.service'
	start reloaded.service
	inside sed -i s/=28/=29/ "$units/reloaded.service" && ctl daemon-reload
	# What graced asks for at a reload is answered long before these are over.
	start exec-stop.service spared.service "$unit" && stop exec-stop.service spared.service "$unit"
	stop reloaded.service
	graceful exec-stop.service 15 "$(seconds 25)"
	claim "the grace period begins after ExecStop=, with the signal" $?
	graceful spared.service 15 null
	claim "with SendSIGKILL=no there is no grace period" $?
	graceful "$unit" 15 "$(seconds 27)"
	claim "a unit is called what systemctl calls it" $?
	graceful reloaded.service 15 "$(seconds 29)"
	claim "a setting that was changed by daemon-reload counts" $?
}

expect_reexec() {
	ctl daemon-reexec
	await is active tracer.service
	start again.service && stop again.service
	graceful again.service 15 "$(seconds 31)"
	claim "after daemon-reexec services are known as before" $?
}

prepare
start_systemd || skip_all "systemd does not start here: $(tail -n 1 "$tmp/boot")"
expect_attached
((failures)) && end_tests
expect_good
expect_bad
expect_main_process
expect_settings
expect_reexec
end_tests
