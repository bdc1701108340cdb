#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds deploy/chart and the manifests that are rendered from it to what docs/kubernetes.md says of each
# switch: what it grants, and nothing more. No API server takes part. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
cd "$root" || exit 1
. "$root/tests/lib/tap.sh"
here=$root/tests/tools

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}
/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip_all "no PyYAML"
programs=$(tools/helm)
case $? in
0) ;;
77) skip_all "$programs" ;;
*) echo "not ok 1 - helm is the one whose digest tools/helm holds" && echo "1..1" && exit 1 ;;
esac
export HELM_CACHE_HOME=$tmp/helm HELM_CONFIG_HOME=$tmp/helm HELM_DATA_HOME=$tmp/helm

# Without what it says of the links to the rules and the dashboard.
helm() {
	local status
	"$programs/helm" "$@" 2>"$tmp/said"
	status=$?
	grep -v 'found symbolic link' "$tmp/said" >>"$err"
	return $status
}
render() { helm template graced deploy/chart -n graced "$@"; } # [OPTION...]
facts() { /usr/bin/python3 "$here/chart_facts.py"; }
# One object a line, as JSON.
objects() {
	/usr/bin/python3 -c 'import json, sys, yaml
for obj in yaml.safe_load_all(sys.stdin):
    obj and print(json.dumps(obj, sort_keys=True))'
}

: >"$err"
helm lint --strict --quiet deploy/chart >"$out"
claim "helm lint has nothing against the chart" $?

tools/chart check >"$out" 2>"$err"
claim "the manifests of deploy/ are what the chart renders" $?

"$programs/kubectl" kustomize deploy 2>"$err" | objects | LC_ALL=C sort >"$tmp/base"
render --set namespace.create=true | objects | LC_ALL=C sort >"$tmp/chart"
[[ -s $tmp/base ]] && diff "$tmp/base" "$tmp/chart" >"$out"
claim "the base for kustomize has the objects that the chart renders by default" $?

mkdir "$tmp/overlay"
ln -s "$root" "$tmp/graced"
sed -n '/an overlay of kustomize -->/,/^```$/p' docs/kubernetes.md | grep -v '^```\|^<!--' >"$tmp/overlay/kustomization.yaml"
"$programs/kubectl" kustomize "$tmp/overlay" 2>"$err" | facts | diff <(sed 's/^/---\n/' "$tmp/chart" | facts) - >"$out"
[[ $(grep '^[<>]' "$out") == "> host /var/lib/kubelet/pods-api ro
< image graced:0.1.0
< ingress monitoring
> image example.org/graced:0.1.0
> ingress prometheus" ]]
claim "the overlay in docs/kubernetes.md changes what it says, and nothing else" $?

# --- what it grants -------------------------------------------------------------------------------

render | facts >"$tmp/default"
LC_ALL=C sort >"$tmp/expected" <<'LIST'
arg --checkpoint.file=/run/graced-node/checkpoint
arg --shutdown.mode=off
arg --sinks.stdout
arg --web.insecure
arg --web.listen-address=:9753
arg run
capability BPF
capability DAC_READ_SEARCH
capability PERFMON
capability SYS_PTRACE
drop ALL
env GRACED_SINKS_FILE
env GRACED_SINKS_FILE_SIZE
env NODE_NAME
host /run/containerd ro
host /run/graced rw
host /sys/fs/cgroup ro
host /var/lib/graced rw
host /var/log/containers ro
host /var/log/pods ro
hostPID
image graced:0.1.0
ingress monitoring
livenessProbe HTTP
object DaemonSet/graced
object NetworkPolicy/graced
object ServiceAccount/graced
priority system-node-critical
readinessProbe HTTP
security allowPrivilegeEscalation=False
security privileged=False
security readOnlyRootFilesystem=True
security runAsUser=0
security seccompProfile={'type': 'RuntimeDefault'}
selector {'kubernetes.io/os': 'linux'}
tolerates Exists
LIST
LC_ALL=C sort "$tmp/default" | diff "$tmp/expected" - >"$out"
claim "by default it observes: four capabilities, no token, no role, no way out" $?

# A switch, and what differs with it: "+" what it adds, "-" what it takes away.
switch=
wrong=0
try_switch() {
	local args
	[[ $switch ]] || return
	# shellcheck disable=SC2086 # options, one word each
	render $switch >"$tmp/rendered" || { echo "$switch is not rendered" >>"$out" && wrong=1; }
	facts <"$tmp/rendered" >"$tmp/facts"
	diff <(LC_ALL=C sort "$tmp/differs") <(diff "$tmp/default" "$tmp/facts" |
		sed -n 's/^> /+/p; s/^< /-/p' | LC_ALL=C sort) >"$tmp/diff" ||
		{ echo "$switch" && cat "$tmp/diff"; } >>"$out"
	[[ ! -s $tmp/diff ]] || wrong=1
	objects <"$tmp/rendered" >>"$tmp/all"
	args=$(sed -n 's/^arg //p' "$tmp/facts" | sed "s,/run/secrets,$tmp/secrets,; s/\$([A-Z_]*PORT)/443/; s/\$([A-Z_]*)/127.0.0.1/" |
		grep -vx run)
	# shellcheck disable=SC2086 # one word each
	timeout 120 "$graced" run $args --config.check >"$tmp/check" 2>&1 || { wrong=1 && cat "$tmp/check" >>"$out"; }
}

# What the cluster puts into a pod.
(
	umask 077
	mkdir -p "$tmp/secrets/graced" "$tmp/secrets/graced-web"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=graced -days 2 \
		-keyout "$tmp/secrets/graced-web/tls.key" -out "$tmp/secrets/graced-web/tls.crt"
	cp "$tmp/secrets/graced-web/tls.crt" "$tmp/secrets/graced/ca.crt"
	cp "$tmp/secrets/graced-web/tls.crt" "$tmp/secrets/kubelet.crt"
	echo token >"$tmp/secrets/graced/token"
	render --set tls.enabled=true,tls.secretName=metrics -s templates/web.yaml | objects |
		jq -j '.data["web.yaml"]' >"$tmp/secrets/graced-web/web.yaml"
) 2>/dev/null

: >"$out"
: >"$err"
: >"$tmp/all"
: >"$tmp/differs"
while read -r line; do
	case $line in
	--*)
		try_switch
		switch=$line
		: >"$tmp/differs"
		;;
	?*) echo "$line" >>"$tmp/differs" ;;
	esac
done <<'TABLE'
--set capabilities.lockedMemory=true
+capability SYS_RESOURCE
--set kubelet.socket=true
+host /var/lib/kubelet/pods-api ro
--set kubelet.url=true
+arg --kubelet.ca=/run/secrets/graced/ca.crt
+arg --kubelet.server-name=$(NODE_NAME)
+arg --kubelet.token-file=/run/secrets/graced/token
+arg --kubelet.url=https://$(HOST_IP):10250
+env HOST_IP
+token
+configMap kube-root-ca.crt
+object ClusterRole/graced-kubelet
+object ClusterRoleBinding/graced-kubelet
+binds graced-kubelet to graced/graced
+may get nodes/pods
--set kubelet.url=true,kubelet.nodesProxy=true,kubelet.caFile=/var/lib/kubelet/pki/kubelet.crt
+arg --kubelet.ca=/run/secrets/kubelet.crt
+host /var/lib/kubelet/pki/kubelet.crt ro
+arg --kubelet.server-name=$(NODE_NAME)
+arg --kubelet.token-file=/run/secrets/graced/token
+arg --kubelet.url=https://$(HOST_IP):10250
+env HOST_IP
+token
+configMap kube-root-ca.crt
+object ClusterRole/graced-kubelet
+object ClusterRoleBinding/graced-kubelet
+binds graced-kubelet to graced/graced
+may get nodes/proxy
--set api.enabled=true
+arg --api.ca=/run/secrets/graced/ca.crt
+arg --api.token-file=/run/secrets/graced/token
+arg --api.url=https://$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)
+token
+configMap kube-root-ca.crt
+object ClusterRole/graced-api
+object ClusterRoleBinding/graced-api
+binds graced-api to graced/graced
+may list pods
+egress anywhere 443,6443
--set api.enabled=true,api.events=true,networkPolicy.apiAddresses={10.96.0.1/32},networkPolicy.apiPorts={443}
+arg --api.ca=/run/secrets/graced/ca.crt
+arg --api.token-file=/run/secrets/graced/token
+arg --api.url=https://$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)
+arg --api.report=events
+token
+configMap kube-root-ca.crt
+object ClusterRole/graced-api
+object ClusterRole/graced-events
+object ClusterRoleBinding/graced-api
+object ClusterRoleBinding/graced-events
+binds graced-api to graced/graced
+binds graced-events to graced/graced
+may list pods
+may create events events.k8s.io
+may patch events events.k8s.io
+egress 10.96.0.1/32 443
--set tls.enabled=true,tls.secretName=metrics,podMonitor.enabled=true
-arg --web.insecure
+arg --web.config.file=/run/secrets/graced-web/web.yaml
-livenessProbe HTTP
+livenessProbe HTTPS
-readinessProbe HTTP
+readinessProbe HTTPS
+object ConfigMap/graced-web
+object PodMonitor/graced
+scraped by https
+targets get node
+series drop graced_.*_created
+configMap graced-web
+secret metrics
--set podMonitor.enabled=true
+object PodMonitor/graced
+scraped by http
+targets get node
+series drop graced_.*_created
--set podMonitor.enabled=true,podMonitor.relabelings[0].targetLabel=zone,podMonitor.relabelings[0].replacement=a,podMonitor.metricRelabelings[0].sourceLabels={__name__},podMonitor.metricRelabelings[0].regex=graced_events_total,podMonitor.metricRelabelings[0].action=drop
+object PodMonitor/graced
+scraped by http
+targets get node
+targets get zone
+series drop graced_.*_created
+series drop graced_events_total
--set rules.enabled=true
+object PrometheusRule/graced
--set dashboard.enabled=true
+object ConfigMap/graced-dashboard
--set networkPolicy.enabled=false
-object NetworkPolicy/graced
-ingress monitoring
--set networkPolicy.from[0].namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=metrics
-ingress monitoring
+ingress metrics
--set selinux.enabled=true
+selinux spc_t
--set priorityClassName=
-priority system-node-critical
--set tolerations[0].key=gpu,tolerations[0].operator=Exists
-tolerates Exists
+tolerates gpu Exists
--set nodeSelector.pool=web
-selector {'kubernetes.io/os': 'linux'}
+selector {'kubernetes.io/os': 'linux', 'pool': 'web'}
--set cri.enabled=false
-host /run/containerd ro
+arg --cri.endpoint=none
--set cri.directory=/run/crio
-host /run/containerd ro
+host /run/crio ro
--set scope=services,hostFiles.systemd=true
+arg --scope=services
+host /run/systemd ro
--set hostState=false
-host /run/graced rw
-host /var/lib/graced rw
-arg --checkpoint.file=/run/graced-node/checkpoint
+arg --checkpoint.file=none
--set hostFiles.docker=true,hostFiles.podman=true
+host /var/lib/docker/containers ro
+host /var/lib/containers/storage/overlay-containers ro
--set hostFiles.journal=true
+host /var/log/journal ro
+host /etc/machine-id ro
--set extraArgs={--sinks.signals,--ring-size=4Mi}
+arg --sinks.signals
+arg --ring-size=4Mi
--set image.repository=example.org/graced,image.tag=1.2
-image graced:0.1.0
+image example.org/graced:1.2
--set affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key=a,affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator=Exists,imagePullSecrets[0].name=pull,podLabels.team=a,podAnnotations.note=b,maxUnavailable=1
--end
TABLE
claim "each switch adds and takes away what the table says, and its arguments are right" $((wrong))

# --- what is rendered -----------------------------------------------------------------------------

# kubectl decodes an object into its type, and names the type of one without a pod template.
LC_ALL=C sort -u "$tmp/all" | grep -v '"apiVersion": "monitoring' >"$tmp/distinct"
sed 's/^/---\n/' "$tmp/distinct" |
	"$programs/kubectl" set image --local -f - graced=x -o json >"$tmp/typed" 2>"$tmp/messages"
wrong=0
: >"$out"
for kind in ConfigMap NetworkPolicy ServiceAccount ClusterRole ClusterRoleBinding; do
	given=$(jq -s --arg kind $kind 'map(select(.kind == $kind)) | length' "$tmp/distinct")
	decoded=$(grep -c "does not have a pod template: \*v1\.$kind\$" "$tmp/messages")
	((given && given == decoded)) || { echo "$kind: $decoded of $given" >>"$out" && wrong=1; }
done
# A field that the type does not have is lost.
sets=$(jq -s --slurpfile typed "$tmp/typed" '[map(select(.kind == "DaemonSet")), $typed] | transpose |
	map(. as [$given, $typed] | [$given | paths(scalars)] | map(select(. as $path |
	$path[-1] != "image" and ($given | getpath($path)) != ($typed | getpath($path)))) | select(. != [])[])' "$tmp/distinct")
if [[ $sets != '[]' ]] || (($(jq -s length "$tmp/typed") <= 15)); then
	echo "$sets" >>"$out"
	wrong=1
fi
cp "$tmp/messages" "$err"
claim "kubectl decodes each object of a built-in kind, and no field of a DaemonSet is lost" $wrong

render --set rules.enabled=true,dashboard.enabled=true | objects >"$tmp/rendered"
tools/prometheus-rule | objects >"$out"
grep -qxF "$(<"$out")" "$tmp/rendered"
claim "the rules are those of tools/prometheus-rule" $?
render --set rules.enabled=true,rules.docs=https://docs.example.com/ -s templates/prometheusrule.yaml | objects >"$out"
[[ -s $out ]] && tools/prometheus-rule graced https://docs.example.com | objects | diff - "$out" >"$err"
claim "with rules.docs they are those of tools/prometheus-rule with that address" $?

jq -r 'select(.metadata.name == "graced-dashboard").data["graced.json"]' "$tmp/rendered" |
	diff <(jq -S . deploy/grafana-dashboard.json) <(jq -S .) >"$out"
claim "the dashboard is that of deploy/" $?

render --set podMonitor.enabled=true -s templates/podmonitor.yaml | objects >"$out"
[[ -s $out ]] && objects <deploy/podmonitor.yaml | diff - "$out" >"$err"
claim "the PodMonitor is that of deploy/" $?

helm template fleet deploy/chart -n watch --set kubelet.url=true,api.enabled=true,api.events=true,podMonitor.enabled=true,rules.enabled=true,dashboard.enabled=true |
	objects >"$tmp/rendered"
jq -r 'select(.kind | startswith("ClusterRole") | not) | .metadata.namespace' "$tmp/rendered" | sort -u >"$out"
jq -r 'select(.kind == "ClusterRoleBinding") | .subjects[].namespace' "$tmp/rendered" | sort -u >>"$out"
[[ $(<"$out") == $'watch\nwatch' ]]
claim "all of it is in the namespace of the release" $?

# --- what is refused ------------------------------------------------------------------------------

refuse() { # OPTION REASON
	: >"$err"
	if render --set "$1" >/dev/null; then
		echo "$1 is rendered" >>"$out"
	elif [[ $(grep -cE '^ *- at |execution error' "$err") != 1 ]] || ! grep -qF -- "$2" "$err"; then
		{ echo "$1:" && cat "$err"; } >>"$out"
	fi
}
: >"$out"
while IFS='|' read -r option reason; do
	refuse "$option" "$reason"
done <<'REFUSED'
nonsense=1|at '': additional properties 'nonsense' not allowed
kubelet.sokcet=true|at '/kubelet': additional properties 'sokcet' not allowed
api.enabled=yes|at '/api/enabled': got string, want boolean
api.events=true|api.events requires api.enabled: true
kubelet.nodesProxy=true|kubelet.nodesProxy requires kubelet.url: true
kubelet.caFile=/kubelet.crt|kubelet.caFile requires kubelet.url: true
tls.enabled=true|tls.enabled requires tls.secretName, a Secret with tls.crt and tls.key
tls.secretName=metrics|tls.secretName requires tls.enabled: true
scope=everything|at '/scope': value must be one of 'pods', 'containers', 'services', 'all'
extraArgs[0]=run|at '/extraArgs/0': 'run' does not match pattern
cri.directory=run|at '/cri/directory': 'run' does not match pattern
image.tag=1|at '/image/tag': got number, want string
image.digest=sha256:12|at '/image/digest': 'sha256:12' does not match pattern
image.repository=a b|at '/image/repository': 'a b' does not match pattern
maxUnavailable=0|at '/maxUnavailable': minimum: got 0, want 1
maxUnavailable=0%|at '/maxUnavailable': '0%' does not match pattern
networkPolicy.from=null|at '/networkPolicy': missing property 'from'
networkPolicy.apiPorts[0]=70000|at '/networkPolicy/apiPorts/0': maximum: got 70,000, want 65,535
networkPolicy.apiAddresses[0]=api|at '/networkPolicy/apiAddresses/0': 'api' does not match pattern
podLabels.app\.kubernetes\.io/name=other|podLabels cannot have app.kubernetes.io/name
nodeSelector.pool=1|at '/nodeSelector/pool': got number, want string
podMonitor.interval=often|at '/podMonitor/interval': 'often' does not match pattern
podMonitor.metricRelabelings[0].action=remove|at '/podMonitor/metricRelabelings/0/action': value must be one of
podMonitor.relabelings[0].source_labels={a}|at '/podMonitor/relabelings/0': additional properties 'source_labels' not allowed
resources.limits.memory=-1Mi|at '/resources/limits/memory': '-1Mi' does not match pattern
resources.memory=1Gi|at '/resources': additional properties 'memory' not allowed
REFUSED
quiet "$out"
claim "a wrong value is refused, with one line that names it" $?

bad=0
for quantity in 500m 0.5 .5 1e3 128974848 +1Gi 1.5Gi null; do
	render --set "resources.limits.cpu=$quantity" >/dev/null 2>"$err" || { echo "$quantity" >>"$out" && bad=1; }
done
for action in hashmod HashMod replace Drop; do
	render --set "podMonitor.enabled=true,podMonitor.relabelings[0].action=$action,podMonitor.relabelings[0].modulus=8" >/dev/null 2>"$err" ||
		{ echo "$action" >>"$out" && bad=1; }
done
claim "quantities and relabelings are accepted as Kubernetes and the operator have them" $bad

# Objects that users fill as Kubernetes has them are leaves.
keys() { jq -r '[paths | select(all(type == "string"))] | map(join(".")) | .[]' | grep -vE '^(affinity|nodeSelector|resources|(.*\.)?labels)\.' | sort; }
objects <deploy/chart/values.yaml | keys >"$tmp/values"
jq -r 'def down: .properties // {} | to_entries[] | .key, (.key as $key | .value | down | "\($key).\(.)"); down' \
	deploy/chart/values.schema.json | grep -vx global | sort | diff "$tmp/values" - >"$out"
claim "the schema has each value of values.yaml, and no other" $?

tools/chart pack "$tmp" >"$out" 2>"$err"
version=$(tools/version | cut -d' ' -f1)
helm template graced "$tmp/graced-$version.tgz" -n graced --set rules.enabled=true | facts |
	diff - <(render --set rules.enabled=true | facts | sed "s/^image .*/image graced:${version//+/_}/") >>"$out"
claim "the packed chart has the version of git's tags, and renders the same" $?

conclude
