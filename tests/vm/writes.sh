# SPDX-License-Identifier: Apache-2.0
# Sourced after scenes.sh and rights.sh: graced with an account at the API server, and a kubelet that
# ends before it can write.

# What graced reports to the API, with the token of make_account().
add_account() { # PAYLOAD WHAT...
	local dir=$1 list
	shift
	list=$(IFS=,; echo "$*")
	install -m 600 "$work/token" "$dir/kubernetes/account.token"
	cat >>"$dir/graced.yaml" <<-END
		nodeName: vm-node
		api:
		  url: https://10.0.2.2:$api_port
		  ca: /etc/kubernetes/ca.crt
		  tokenFile: /etc/kubernetes/account.token
		  report: [$list]
	END
}

api_answers() {
	! alive "$machine_pid" || {
		metrics | grep -a '^graced_metadata_source_up' >"$work/sources.up"
		grep -q 'source="api".* 1$' "$work/sources.up" &&
			grep -q 'source="kubelet".* 1$' "$work/sources.up"
	}
}

begin_graced() { # MODE [SETTING...]
	start_graced "$@"
	await 120 api_answers || give_up "graced knows the pods"
}

kill_kubelet() {
	guest 'systemctl kill --kill-who=main -s KILL kubelet'
	claim $? "$1: the kubelet is killed $2"
}
