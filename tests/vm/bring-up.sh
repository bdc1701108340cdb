# SPDX-License-Identifier: Apache-2.0
# Sourced after report.sh: a machine that is a node, with a kubelet that an API server of this host's
# has as Ready. Leaves etcd and kubernetes, the directories of their programs.

node_ready() {
	! alive "$machine_pid" || api GET /api/v1/nodes/vm-node 2>/dev/null |
		jq -e 'any(.status.conditions[]?; .type == "Ready" and .status == "True")' \
			>"$work/ready.json" 2>&1
}

# Seconds from the boot to a node that is ready: 80 with two CPUs to itself. Where it takes so much longer
# a kubelet without a steady clock runs into timeouts of its own, and restarts what nobody stopped.
slow=300

# What a test changes of the node before it boots.
amend_payload() { # DIRECTORY
	:
}

bring_up() {
	local image began
	need tools/vm/etcd && etcd=$needed
	need tools/vm/image bookworm node && image=$needed
	need tools/vm/kubernetes && kubernetes=$needed
	make_pki || give_up "certificates are made"
	start_etcd "$etcd/etcd" || give_up "etcd runs"
	start_apiserver "$kubernetes/kube-apiserver" || give_up "kube-apiserver runs"
	allow_graced >"$work/rbac.log" || give_up "the API lets graced ask the kubelet"
	make_payload "$kubernetes/kubelet" && amend_payload "$work/payload" ||
		give_up "the payload is made"
	began=$SECONDS
	boot_machine "$image" && alive "$machine_pid" || give_up "the machine boots"
	await 900 node_ready && alive "$machine_pid" || give_up "the node is ready"
	[[ $steady ]] || ((SECONDS - began <= slow)) || skip_all "the node took $((SECONDS - began)) s to be ready: too slow"
	claim 0 "the node is ready, a kubelet on $(guest 'uname -r')"
}
