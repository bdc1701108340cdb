# SPDX-License-Identifier: Apache-2.0
# Sourced after bring-up.sh and controllers.sh: a node whose pods have a network of their own, with
# helm and kubectl, the image of graced, and a scheduler.
# Leaves tag and digest of the image.

scheduler_pid= kubelet_port= tools=

helm() {
	KUBECONFIG=$work/pki/admin.kubeconfig HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm \
		HELM_DATA_HOME=$work/helm "$tools/helm" "$@"
}

kubectl() {
	"$tools/kubectl" --kubeconfig "$work/pki/admin.kubeconfig" --cache-dir "$work/kubectl" "$@"
}

# The kubelet asks again at once whether a token may still do what it did before.
amend_payload() { # DIRECTORY
	cp tests/vm/cluster/{pods.conflist,programs,state} "$work/graced.tar" "$1/"
	sed -i 's/graced.service //' "$1/units/node.target"
	sed -i -e 's/^address: .*/address: 0.0.0.0/' \
		-e 's/^  mode: Webhook/&\n  webhook: {cacheAuthorizedTTL: 1s, cacheUnauthorizedTTL: 1s}/' \
		"$1/kubernetes/kubelet.yaml"
}

# Each pod goes to the node that its DaemonSet wants it on.
schedule() {
	local namespace name node
	while sleep 0.5; do
		api GET "$core/pods?fieldSelector=spec.nodeName%3D" 2>>"$work/scheduler.log" | jq -r '.items[] |
			"\(.metadata.namespace) \(.metadata.name) \([.. | .matchFields? // empty | .[].values[0]][0])"' |
			while read -r namespace name node; do
				bind_pod "$namespace" "$name" "$node"
			done
	done
}

# What kube-proxy does for the service of the API server.
make_service() {
	guest "iptables -t nat -A PREROUTING -d 10.0.0.1 -p tcp --dport 443 -j DNAT --to 10.0.2.2:$api_port"
}

bring_up_cluster() {
	need tools/helm && tools=$needed
	need tools/vm/kubernetes controllers && controllers=$needed
	digest=$(tools/image "$BUILD/graced" "$work/graced.tar") || give_up "the image is made"
	tag=$(tar -xOf "$work/graced.tar" ./index.json |
		jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]')
	kubelet_port=$(free_port)
	machine_forwards=,hostfwd=tcp:127.0.0.1:$kubelet_port-:10250
	bring_up
	start_controllers "$controllers" daemonset,garbagecollector,namespace,root-ca-cert-publisher
	schedule &
	scheduler_pid=$!
	make_service || give_up "pods reach the API server"
}

# The kubelet runs a command in a container, and answers with what it prints.
kubelet_exec() { # NAMESPACE POD CONTAINER COMMAND...
	local IFS=+
	"${admin[@]}" --cacert "$work/pki/ca.crt" -H @"$work/pki/admin.header" -X POST \
		--connect-to "vm-node:10250:127.0.0.1:$kubelet_port" \
		"https://vm-node:10250/run/$1/$2/$3?cmd=${*:4}"
}

# From the node, as its kubelet asks.
ask_pod() { # IP PATH
	guest "exec 3<>/dev/tcp/$1/9753
		printf 'GET $2 HTTP/1.0\r\n\r\n' >&3
		cat <&3"
}
