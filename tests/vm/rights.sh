# SPDX-License-Identifier: Apache-2.0
# Sourced after control-plane.sh: the service account of graced at the API server, with what manifests
# of deploy/ grant, and no more.

core=/api/v1 rbac=/apis/rbac.authorization.k8s.io/v1

# Where an object of a manifest is made.
place_of() { # KIND
	case $1 in
	Namespace) echo $core/namespaces ;;
	ServiceAccount) echo $core/namespaces/graced/serviceaccounts ;;
	ClusterRole) echo $rbac/clusterroles ;;
	ClusterRoleBinding) echo $rbac/clusterrolebindings ;;
	*) return 1 ;;
	esac
}

apply() { # MANIFEST
	local file
	rm -f "$work"/part.*
	awk -v out="$work/part." '/^---$/ { n++; next } { print > (out n + 0 ".yaml") }' "$1"
	for file in "$work"/part.*.yaml; do
		api POST "$(place_of "$(sed -n 's/^kind: //p' "$file")")" \
			-H 'Content-Type: application/yaml' --data-binary @"$file" \
			>"$work/applied.json" 2>&1 || grep -q AlreadyExists "$work/applied.json" || return 1
	done
}

post() { # PATH JSON
	api POST "$1" -H 'Content-Type: application/json' -d "$2"
}

# Leaves one in $work/token.
make_token() {
	post $core/namespaces/graced/serviceaccounts/graced/token \
		'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}' \
		>"$work/token.json" && (umask 077 && jq -re .status.token "$work/token.json" >"$work/token")
}

# deploy/rbac-NAME.yaml of each; rbac-api.yaml, which has the account, is among them in any case.
make_account() { # NAME...
	local name
	for name in api "$@"; do
		apply "deploy/rbac-$name.yaml" || return 1
	done
	make_token
}
