# SPDX-License-Identifier: Apache-2.0
# Sourced after control-plane.sh: the virtual machine that is the node, and a shell in it.
# Leaves agent_port; logs are in $work.

machine_pid= agent_port=
# More of the emulator's.
machine_options=()
# With a steady clock, of `steady_clock` before it boots.
steady=
# Further ports of it, as qemu has them: ,hostfwd=tcp:127.0.0.1:PORT-:PORT
machine_forwards=

kubeconfig() {
	jq -n --arg server "https://10.0.2.2:$api_port" --arg token "$(<"$work/pki/kubelet.token")" '{
		apiVersion: "v1", kind: "Config", "current-context": "node",
		clusters: [{name: "test", cluster: {server: $server,
			"certificate-authority": "/etc/kubernetes/ca.crt"}}],
		users: [{name: "node", user: {token: $token}}],
		contexts: [{name: "node", context: {cluster: "test", user: "node"}}]}'
}

# The host's runtime tests: in the machine the runtimes are installed.
make_runtime_tests() { # DIRECTORY
	mkdir -p "$1"/{tools,helpers,tests/lib}
	cp "$BUILD/vm/runtime" "$1/all"
	cp "$BUILD/tests/helpers/workload" "$1/helpers/"
	cp tests/lib/runtime_image.sh "$1/tests/lib/"
	printf '#!/bin/sh\necho /\n' >"$1/tools/runtimes"
	chmod +x "$1/tools/runtimes"
}

# graced with its libraries and its unit, the image of containers, the witness, and the way in.
make_graced_payload() { # PROGRAM... : whose libraries come along
	local dir=$work/payload
	mkdir -p "$dir"/{graced/sbin,units}
	cp "$BUILD/vm/graced" "$dir/graced/sbin/graced"
	tools/vm/bundle "$dir/graced/lib" "$BUILD/graced" "$@"
	sed -e 's,@prefix@,/opt/graced,' -e 's,@sysconfdir@,/etc,' deploy/graced.service \
		>"$dir/units/graced.service"
	cp tests/vm/node/agent{.socket,@.service} "$dir/units/"
	cp tests/vm/node/{timeline,slow} "$work/pki/agent.token" "$dir/"
	tests/vm/images "$BUILD/vm/pod" "$dir/images.tar"
}

make_payload() { # KUBELET
	local dir=$work/payload name
	make_graced_payload "$BUILD/tests/runtime/all" || return
	mkdir -p "$dir/kubernetes"
	make_runtime_tests "$dir/runtime"
	cp tests/vm/node/*.{service,target} "$dir/units/"
	cp tests/vm/node/{start,graced.yaml,containerd.toml} "$dir/"
	cp tests/vm/node/kubelet.yaml "$dir/kubernetes/"
	for name in ca.crt kubelet.crt kubelet.key graced.token; do
		cp "$work/pki/$name" "$dir/kubernetes/"
	done
	kubeconfig >"$dir/kubernetes/kubeconfig"
	cp "$1" "$dir/kubelet"
}

# An instruction takes 4 ns of the machine's time, which is this host's only while the machine waits. So
# whatever it does takes as long as on an idle host, by its own clock, and no timeout in it ends early
# because this host is busy. It has one CPU of this host, and several run at a time.
steady_clock() {
	steady=1
	machine_options+=(-icount shift=2,align=off,sleep=on)
	export VM_ACCEL=tcg,thread=single
}

boot_machine() { # IMAGE
	local try
	for try in 1 2 3; do
		agent_port=$(free_port)
		VM_MEMORY=2048 tools/vm/boot "$1" "$work/payload" "$work" \
			-netdev "user,id=net,hostfwd=tcp:127.0.0.1:$agent_port-:2222$machine_forwards" \
			-device virtio-net-pci,netdev=net "${machine_options[@]}" >"$work/qemu.log" 2>&1 &
		machine_pid=$!
		await 600 machine_up
		alive "$machine_pid" && return
	done
	return 1
}

machine_up() {
	! alive "$machine_pid" || [[ $(GUEST_LIMIT=5 guest 'echo up' 2>/dev/null) == up ]]
}

# Runs a script in the machine as root, and passes on its output and status.
guest() { # SCRIPT
	local conn status out
	out=$(mktemp "$work/guest.XXXXXX")
	exec {conn}<>"/dev/tcp/127.0.0.1/$agent_port" || { rm -f "$out" && return 1; }
	# A machine that is not up yet may have closed it: that ends the subshell alone.
	(printf '%s\n(\n%s\n) </dev/null\nprintf "\\n%%d" $?\nexit\n' "$(<"$work/pki/agent.token")" "$1" >&"$conn")
	timeout $((wait_factor * ${GUEST_LIMIT:-300})) cat <&"$conn" >"$out"
	exec {conn}>&-
	# Its last line is the status; the newline before it is ours.
	head -n -1 "$out" | head -c -1
	status=$(tail -n 1 "$out")
	rm -f "$out"
	[[ $status =~ ^[0-9]+$ ]] || status=1
	return "$status"
}
