# SPDX-License-Identifier: Apache-2.0
# Sourced by shutdown and volumes: a node that is shut down, what is done in each shutdown, and what
# has to come of it.

# Without graced there is nothing to be right or wrong: `tests/vm/shutdown none observe` shows both.
# `stopped` and `starved` are for tests/vm/slowed.
all_scenes=(observe assist deaf cancelled logind dbus killed)

# Holds what was seen of a shutdown against what its scene promises.
judge=tests/vm/down.jq

# --- the node --------------------------------------------------------------------------------

# A kubelet that holds a delay lock; graced is started by a scene.
make_shutdown_payload() { # DIRECTORY
	cp tests/vm/down/*.service "$1/units/" &&
		sed -i 's/graced.service //' "$1/units/node.target" &&
		cat >>"$1/kubernetes/kubelet.yaml" <<-END
			featureGates: {GracefulNodeShutdown: true}
			shutdownGracePeriod: 30s
			shutdownGracePeriodCriticalPods: 15s
		END
}

ready_pods() {
	api GET /api/v1/pods >"$work/pods.json" &&
		jq -e --argjson pods "$created" '[.items[] | select(any(.status.conditions[]?;
			.type == "Ready" and .status == "True"))] | length == $pods' "$work/pods.json"
}

pods_ready() {
	! alive "$machine_pid" || ready_pods >"$work/ready" 2>&1
}

make_pods() { # STATIC FILE... : how many are there anyway, and the others
	local file
	created=$1
	shift
	for file; do
		api POST /api/v1/namespaces/default/pods -H 'Content-Type: application/yaml' \
			--data-binary @"$file" >"$work/create.json" || give_up "the API takes $file"
		created=$((created + 1))
	done
	await 600 pods_ready && alive "$machine_pid" || give_up "the pods are ready"
}

start_witnesses() {
	guest 'cp /payload/timeline /opt/timeline && mkdir -p /var/log/graced &&
		systemctl start timeline.service'
	await 120 witnessed || give_up "the witnesses are there"
}

# They have seen the kubelet's lock, and the tracer is attached.
witnessed() {
	! alive "$machine_pid" || {
		grep -q '"who":"kubelet"' "$work/serial.log" &&
			grep -q '"type":"attached"' "$work/serial.log"
	}
}

# --- graced ----------------------------------------------------------------------------------

# The unit as it is shipped, with what its documentation says that assist and manage need.
start_graced() { # MODE [SETTING...]
	local mode=$1 settings=()
	shift
	settings=("$@")
	guest "sed -i 's|^kubelet:|&\\n  config: /etc/kubernetes/kubelet.yaml\\n  version: \"1.20\"|' /etc/graced/graced.yaml
		cat >>/etc/graced/graced.yaml <<-END
			shutdown:
			  mode: $mode
			$(printf '  %s\n' "${settings[@]}")
		END
		if [ $mode != observe ]; then
			mkdir -p /etc/systemd/system/graced.service.d
			printf '[Service]\nConfigurationDirectory=systemd/logind.conf.d\nProtectControlGroups=no\nCapabilityBoundingSet=CAP_KILL\n' \\
				>/etc/systemd/system/graced.service.d/assist.conf
			systemctl daemon-reload
		fi
		systemctl start graced" || give_up "graced starts"
	await 120 graced_holds || give_up "graced holds its lock, and has what it needs"
}

metrics() {
	guest 'exec 3<>/dev/tcp/127.0.0.1/9753
		printf "GET /metrics HTTP/1.0\r\n\r\n" >&3
		cat <&3'
}

# Two things are as they are in this machine: the deaf pod's grace period does not fit.
graced_holds() {
	! alive "$machine_pid" || {
		metrics | grep -a '^graced_shutdown_ready' >"$work/shutdown.ready"
		! grep -v grace-fits "$work/shutdown.ready" | grep -q ' 0$' &&
			grep -q 'lock-held.* 1$' "$work/shutdown.ready"
	}
}

# --- a shutdown ------------------------------------------------------------------------------

lease_of() {
	api GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/vm-node |
		jq -r .spec.renewTime
}

renewed() { # OLD
	! alive "$machine_pid" || [[ $(lease_of) != "$1" ]]
}

# The machine's uptime when its witnesses wrote last.
machine_now() {
	tail -c 20000 "$work/serial.log" | sed -nE 's/.*"type":"tick","at":([0-9.]+)\}.*/\1/p' | tail -n 1
}

# Everything the API says of pods, each line behind the machine's uptime at its arrival.
watch_api() {
	curl -sS -N --cacert "$work/pki/ca.crt" -H @"$work/pki/admin.header" \
		"https://127.0.0.1:$api_port/api/v1/pods?watch=1" 2>"$work/watch.log" |
		while IFS= read -r line; do
			printf '{"at":%s,"event":%s}\n' "$(machine_now)" "$line"
		done >"$work/$1.watch" &
	watch_pid=$!
}

# How the machine is requested to end.
off_verb=poweroff

# Leaves asked, the machine's uptime then.
ask_off() {
	asked=$(guest 'read -r up _ </proc/uptime; echo "$up"; systemctl '"$off_verb") ||
		give_up "the machine takes $off_verb"
}

# What a machine that does not go off is waiting for, and whether it does anything at all.
report_hang() {
	local look
	for look in 1 2 3; do
		command_machine 'info registers -a' | grep -o 'CPU#[0-9]*\|RIP=[0-9a-f]*\|HLT=[01]' | paste -sd ' '
		sleep 1
	done
	GUEST_LIMIT=60 guest 'systemctl --no-pager --full list-jobs; ps -eo pid,stat,wchan:20,args | grep -v " \["'
	tail -n 20 "$work/console.log"
}

await_off() { # SCENE
	local late
	await 300 machine_is_off && alive "$machine_pid"
	late=$?
	claim "$late" "$1: the machine goes off"
	((late == 0)) || report_hang | cut -c1-200 | sed 's/^/# /'
	off_time=$(machine_off_time) off_at=$(machine_now)
}

power_off() { # SCENE
	ask_off
	await_off "$1"
}

begin_scene() { # SCENE
	local lease
	restore_snapshot
	lease=$(lease_of)
	await 120 renewed "$lease" || give_up "$1: the kubelet finds the API server again"
	serial_from=$(stat -c %s "$work/serial.log")
	watch_api "$1"
}

end_scene() { # SCENE
	kill "$watch_pid" 2>/dev/null
	api GET /api/v1/pods >"$work/$1.pods"
	tail -c "+$((serial_from + 1))" "$work/serial.log" >"$work/$1.serial"
	tally < <(jq -nr -f "$judge" --arg scene "$1" --argjson asked "$asked" \
		--argjson off_at "$off_at" \
		--rawfile serial "$work/$1.serial" --slurpfile watch "$work/$1.watch" \
		--slurpfile pods "$work/$1.pods" || echo "not ok - $1: the shutdown can be judged")
}

# What became of graced's lock, in a few words.
release_told() { # SCENE
	jq -nrR --argjson asked "$asked" '[inputs | fromjson? | objects |
		select(.type == "shutdown" and .event == "released")][0] |
		if . then "\(.reason) after \(.boot_ns / 1e9 - $asked | floor) s" else "not released" end' \
		"$work/$1.serial"
}

run_scene() { # SCENE
	begin_scene "$1"
	"scene_$1" "$1"
	end_scene "$1"
}

scene_none() {
	power_off "$1"
}

scene_observe() {
	start_graced observe
	power_off "$1"
}

scene_assist() {
	start_graced assist
	power_off "$1"
}

scene_deaf() {
	start_graced assist 'deafGrace: 2s'
	power_off "$1"
}

# --- a kubelet that is slow ------------------------------------------------------------------

slow_told() { # EVENT
	! alive "$machine_pid" || tail -c "+$((serial_from + 1))" "$work/serial.log" |
		grep -aq "\"type\":\"slow\".*\"event\":\"$1\""
}

# No shutdown stops it, as no witness.
slow_down() { # HOW EVENT
	guest "cp /payload/slow /opt/slow && systemd-run -q --unit=slow -p DefaultDependencies=no \
		/opt/slow $1" || give_up "the kubelet can be slowed down"
	await 120 slow_told "$2" || give_up "the kubelet is to be slowed down"
}

# When the deaf one has died, before the kubelet comes to its critical pods.
scene_stopped() {
	start_graced assist 'deafGrace: 8s'
	slow_down stopped waits
	power_off "$1"
}

scene_starved() {
	start_graced assist 'deafGrace: 8s'
	slow_down starved starves
	power_off "$1"
}

# --- shutdowns in which something goes wrong -------------------------------------------------

steps() { # EVENT
	tail -c "+$((serial_from + 1))" "$work/serial.log" |
		grep -ac "\"type\":\"shutdown\".*\"event\":\"$1\""
}

stepped() { # EVENT TIMES
	! alive "$machine_pid" || (($(steps "$1") >= $2))
}

expect_step() { # EVENT TIMES
	await 120 stepped "$@" || give_up "graced tells of $2 that are $1"
}

restart() { # SCENE UNIT
	guest "systemctl restart $2"
	await 120 graced_holds
	claim $? "$1: graced holds its lock after a restart of $2"
}

# logind waits for all locks, then finds that it cannot do it.
scene_cancelled() {
	start_graced assist
	ask_off
	expect_step announced 1
	guest 'systemctl mask --runtime poweroff.target' >"$work/mask.log" 2>&1
	expect_step cancelled 1
	await 60 graced_holds
	claim $? "$1: graced holds its lock again"
	guest 'systemctl unmask --runtime poweroff.target' >>"$work/mask.log" 2>&1
	restart "$1" dbus.service
	power_off "$1"
}

# A logind that starts anew knows of no shutdown any more.
scene_logind() {
	start_graced assist
	restart "$1" systemd-logind.service
	ask_off
	expect_step announced 1
	guest 'systemctl restart systemd-logind.service'
	expect_step cancelled 1
	await 120 graced_holds
	claim $? "$1: graced holds its lock after another, which called the shutdown off"
	power_off "$1"
}

off_or_cancelled() {
	machine_is_off || stepped cancelled 1
}

# Some versions of logind go on, some start anew.
scene_dbus() {
	start_graced assist
	ask_off
	expect_step announced 1
	guest 'systemctl restart dbus.service'
	await 120 off_or_cancelled
	machine_is_off || { await 120 graced_holds && ask_off; }
	await_off "$1"
}

scene_killed() {
	start_graced assist
	ask_off
	expect_step announced 1
	guest 'kill -KILL "$(systemctl show -P MainPID graced)"'
	claim $? "$1: graced is killed when the shutdown has begun"
	await_off "$1"
}
