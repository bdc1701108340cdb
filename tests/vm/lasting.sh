# SPDX-License-Identifier: Apache-2.0
# Sourced after control-plane.sh, machine.sh and report.sh: a node whose disk stays when its machine ends,
# with a kubelet and pods from manifests, which graced (mode manage) stops. What the machine has not
# flushed to its disk is lost with the emulator. Leaves image, pods, boots and unclean.

parts=tests/vm/again
manifests=("$parts"/manifests/*.yaml)
pods=${#manifests[@]}

# What a test changes of the machine before it boots.
amend_lasting_payload() { # DIRECTORY
	:
}

make_lasting_payload() { # KUBELET
	local dir=$work/payload
	make_graced_payload || return
	mkdir -p "$dir/kubernetes/manifests"
	cp "${manifests[@]}" "$dir/kubernetes/manifests/"
	cp $parts/kubelet.yaml "$work"/pki/kubelet.{crt,key} "$dir/kubernetes/"
	cp tests/vm/node/{images.service,node.target} $parts/kubelet.service "$dir/units/"
	cp tests/vm/node/containerd.toml $parts/{start,graced.yaml,manage.conf} "$dir/"
	cp "$1" "$dir/kubelet"
	amend_lasting_payload "$dir"
}

make_machine() {
	local kubernetes
	need tools/vm/image bookworm node && image=$needed
	need tools/vm/kubernetes && kubernetes=$needed
	make_pki || give_up "the way in has its token"
	make_lasting_payload "$kubernetes/kubelet" || give_up "the payload is made"
	cp --sparse=always "$image/root.img" "$work/disk.img" || give_up "the machine has a disk"
	export VM_DISK=$work/disk.img
	boots=0 unclean=0
}

metrics() {
	guest 'exec 3<>/dev/tcp/127.0.0.1/9753
		printf "GET /metrics HTTP/1.0\r\n\r\n" >&3
		cat <&3'
}

# What has just been written to the disk is not lost with the machine; what graced itself flushes is
# for tests/daemon/test_power_loss.
flush() {
	guest sync
}

lose_power() {
	kill -KILL "$machine_pid"
	wait "$machine_pid" 2>/dev/null
	cp "$work/console.log" "$work/console.$boots"
}

is_off() {
	! alive "$machine_pid"
}

power_off() { # SCENE [COMMAND]
	guest "systemctl ${2-poweroff}"
	await 300 is_off
	claim $? "$1: the machine goes off"
	wait "$machine_pid"
	cp "$work/console.log" "$work/console.$boots"
}
