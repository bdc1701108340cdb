# SPDX-License-Identifier: Apache-2.0
# Sourced: etcd and kube-apiserver on this host's loopback, in a directory of their own, and how to
# speak with them. Who uses it sets `work`, and calls stop_control_plane in the end.
# Leaves api_port; tokens and certificates are in $work/pki.

admin=(curl -sS --fail-with-body -m 120)
etcd_pid= apiserver_pid= api_port= etcd_port= etcd_peer_port=

# A port nobody listens on. Another program may still be first: callers try again.
free_port() {
	local port
	while :; do
		port=$((20000 + (RANDOM << 15 | RANDOM) % 12000))
		[[ $(ss -Hltn "sport = :$port") ]] || break
	done
	echo "$port"
}

# What limits of an idle host are multiplied by.
wait_factor=4

await() { # SECONDS COMMAND... : waits until it succeeds
	local end=$((SECONDS + wait_factor * $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 1
	done
}

alive() { # PID
	kill -0 "$1" 2>/dev/null
}

certificate() { # NAME SUBJECT SAN
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" \
		-subj "$2" -out "$1.csr"
	openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -set_serial "$RANDOM$RANDOM" -days 30 \
		-extfile <(echo "subjectAltName=$3") -out "$1.crt"
}

make_pki() {
	local name
	mkdir -p "$work/pki"
	(
		cd "$work/pki" || exit 1
		umask 077
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key \
			-subj /CN=graced-test-ca -days 30 -out ca.crt
		# The last is that of its service, as pods have it.
		certificate apiserver /CN=apiserver IP:127.0.0.1,IP:10.0.2.2,IP:10.0.0.1
		certificate kubelet /CN=vm-node DNS:vm-node
		openssl genrsa -out accounts.key 2048
		for name in admin kubelet graced agent; do
			head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >$name.token
		done
		cat >tokens.csv <<-END
			$(<admin.token),admin,admin,"system:masters"
			$(<kubelet.token),system:node:vm-node,kubelet,"system:nodes"
			$(<graced.token),graced,graced
		END
	) >"$work/pki.log" 2>&1
}

etcd_up() {
	! alive "$etcd_pid" || curl -s -m 5 -o "$work/etcd.health" "http://127.0.0.1:$1/health"
}

run_etcd() { # PROGRAM CLIENT-PORT PEER-PORT
	"$1" --data-dir "$work/etcd" --listen-client-urls "http://127.0.0.1:$2" \
		--advertise-client-urls "http://127.0.0.1:$2" --unsafe-no-fsync \
		--listen-peer-urls "http://127.0.0.1:$3" \
		--initial-advertise-peer-urls "http://127.0.0.1:$3" \
		--initial-cluster "default=http://127.0.0.1:$3" >>"$work/etcd.log" 2>&1 &
	etcd_pid=$!
	await 120 etcd_up "$2"
	alive "$etcd_pid"
}

start_etcd() { # PROGRAM
	local try
	for try in 1 2 3; do
		etcd_port=$(free_port) etcd_peer_port=$(free_port)
		run_etcd "$1" "$etcd_port" "$etcd_peer_port" && return
		rm -rf "$work/etcd"
	done
	return 1
}

api() { # METHOD PATH [CURL ARGUMENT...]
	local method=$1 path=$2
	shift 2
	"${admin[@]}" --cacert "$work/pki/ca.crt" -H @"$work/pki/admin.header" -X "$method" \
		"https://127.0.0.1:$api_port$path" "$@"
}

api_up() {
	! alive "$apiserver_pid" || [[ $(api GET /readyz 2>/dev/null) == ok ]]
}

run_apiserver() { # PROGRAM
	local pki=$work/pki
	"$1" --etcd-servers "http://127.0.0.1:$etcd_port" --bind-address 127.0.0.1 \
		--advertise-address 10.0.2.2 \
		--secure-port "$api_port" --insecure-port 0 --cert-dir "$work/apiserver" \
		--tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
		--token-auth-file "$pki/tokens.csv" --authorization-mode Node,RBAC \
		--service-account-key-file "$pki/accounts.key" \
		--service-account-signing-key-file "$pki/accounts.key" \
		--service-account-issuer https://graced.test \
		--disable-admission-plugins ServiceAccount >>"$work/apiserver.log" 2>&1 &
	apiserver_pid=$!
	await 300 api_up
	alive "$apiserver_pid"
}

start_apiserver() { # PROGRAM
	local try
	echo "Authorization: Bearer $(<"$work/pki/admin.token")" >"$work/pki/admin.header"
	for try in 1 2 3; do
		api_port=$(free_port)
		run_apiserver "$1" && return
	done
	return 1
}

# What graced wants of the kubelet, and no more.
allow_graced() {
	api POST /apis/rbac.authorization.k8s.io/v1/clusterroles -H 'Content-Type: application/yaml' \
		--data-binary @- <<-END
			apiVersion: rbac.authorization.k8s.io/v1
			kind: ClusterRole
			metadata: {name: graced}
			rules:
			- {apiGroups: [""], resources: ["nodes/proxy"], verbs: ["get"]}
		END
	api POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings \
		-H 'Content-Type: application/yaml' --data-binary @- <<-END
			apiVersion: rbac.authorization.k8s.io/v1
			kind: ClusterRoleBinding
			metadata: {name: graced}
			roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: graced}
			subjects:
			- {apiGroup: rbac.authorization.k8s.io, kind: User, name: graced}
		END
}

stop_control_plane() {
	local pid
	for pid in $apiserver_pid $etcd_pid; do
		kill -KILL "$pid" 2>/dev/null
	done
}
