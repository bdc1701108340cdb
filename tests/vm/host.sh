# SPDX-License-Identifier: Apache-2.0
# Sourced after scenes.sh: a machine without Kubernetes, with containers of Docker and of Podman and
# witnesses that no shutdown stops. snapshot_options before it boots.

# What a test changes of the machine before it boots; /payload/containers starts the containers.
amend_host_payload() { # DIRECTORY
	:
}

make_host_payload() {
	make_graced_payload || return
	cp tests/vm/host/{start,containers,daemon.json,graced.yaml} "$work/payload/"
	cp tests/vm/host/*.service tests/vm/down/timeline.service "$work/payload/units/"
	amend_host_payload "$work/payload"
}

bring_up_host() {
	local image
	need tools/vm/image bookworm engines && image=$needed
	make_pki || give_up "the way in has its token"
	make_host_payload || give_up "the payload is made"
	machine_options+=(-serial "file:$work/records.log")
	boot_machine "$image" && alive "$machine_pid" || give_up "the machine boots"
	GUEST_LIMIT=900 guest /payload/containers >"$work/containers.log" 2>&1 || {
		sed 's/^/# /' "$work/containers.log"
		give_up "Docker and Podman start their containers"
	}
	claim 0 "containers of Docker and Podman run on $(guest 'uname -r')"
}

# The tracer is attached, and knows the containers.
witnessed() {
	! alive "$machine_pid" || grep -q '"type":"attached"' "$work/serial.log"
}

start_witnesses() {
	guest 'systemctl start timeline.service records.service'
	await 120 witnessed || give_up "the witnesses are there"
}

start_host_graced() {
	guest 'systemctl start graced' || give_up "graced starts"
	await 120 graced_holds || give_up "graced holds its lock"
}

since() { # FILE SIZE : what came after
	tail -c "+$(($2 + 1))" "$1"
}

# From the snapshot on; the shutdown itself is what follows. Leaves serial_from and records_from.
begin_host_scene() {
	restore_snapshot
	serial_from=$(stat -c %s "$work/serial.log")
	records_from=$(stat -c %s "$work/records.log")
}

# Leaves the witnesses' lines in $work/SCENE.serial, the daemon's own in $work/SCENE.records.
end_host_scene() { # SCENE
	since "$work/serial.log" "$serial_from" >"$work/$1.serial"
	since "$work/records.log" "$records_from" >"$work/$1.records"
}
