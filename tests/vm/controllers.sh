# SPDX-License-Identifier: Apache-2.0
# Sourced after rights.sh and report.sh: kube-controller-manager on this host, without a scheduler.

controllers_pid=

admin_kubeconfig() {
	jq -n --arg server "https://127.0.0.1:$api_port" --arg ca "$work/pki/ca.crt" \
		--arg token "$(<"$work/pki/admin.token")" '{apiVersion: "v1", kind: "Config",
		"current-context": "admin", users: [{name: "admin", user: {token: $token}}],
		clusters: [{name: "test", cluster: {server: $server, "certificate-authority": $ca}}],
		contexts: [{name: "admin", context: {cluster: "test", user: "admin"}}]}'
}

# They neither serve anything nor need a leader.
start_controllers() { # DIRECTORY LIST
	(umask 077 && admin_kubeconfig >"$work/pki/admin.kubeconfig")
	"$1/kube-controller-manager" --kubeconfig "$work/pki/admin.kubeconfig" --port 0 \
		--secure-port 0 --leader-elect=false --controllers="$2" \
		--root-ca-file "$work/pki/ca.crt" --cert-dir "$work/controllers" \
		>>"$work/controllers.log" 2>&1 &
	controllers_pid=$!
}

stop_controllers() {
	[[ $controllers_pid ]] || return 0
	kill -KILL "$controllers_pid"
	wait "$controllers_pid" 2>/dev/null
	controllers_pid=
}

# What a scheduler does.
bind_pod() { # NAMESPACE NAME NODE
	post "$core/namespaces/$1/pods/$2/binding" "$(jq -nc --arg name "$2" --arg node "$3" '{
		apiVersion: "v1", kind: "Binding", metadata: {$name},
		target: {apiVersion: "v1", kind: "Node", name: $node}}')" >"$work/bound.json"
}
