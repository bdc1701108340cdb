#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Asks graced plan what becomes of a node's pods, in a shutdown and when it dies: which answer goes
# where, and the exit status. Needs no privilege. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"

# --- a shutdown ------------------------------------------------------------------------------

shut_pod() { # NAME PRIORITY GRACE [ANNOTATIONS]
	echo "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"$1\",\"annotations\":{${4-}}},\"spec\":{\"nodeName\":\"n1\",\"priority\":$2,\"terminationGracePeriodSeconds\":$3},\"status\":{\"phase\":\"Running\"}}"
}
mirror='"kubernetes.io/config.mirror":"h"'
echo "{\"kind\":\"List\",\"items\":[$(shut_pod dns 2000000000 5),$(shut_pod db-0 0 60),$(shut_pod etcd 0 5 "$mirror")]}" >"$tmp/shut.json"
type='apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
printf "$type"'shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n' >"$tmp/kubelet.yaml"

try "$graced" plan --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.json"
((rc == 0)) && quiet "$err" && [[ $(lines "$out") == 9 ]] &&
	sed -n 2p "$out" | grep -qE '^0 +\+0s +\+20s +shop/db-0 +0 +60s +20s +20s +- +cut-short$' &&
	sed -n 3p "$out" | grep -qE '^0 +\+0s +\+20s +shop/etcd +0 +5s +5s +5s +- +static$' &&
	sed -n 4p "$out" | grep -qE '^2000000000 +\+0-20s +\+30s +shop/dns +2000000000 +5s +5s +5s +- +-$' &&
	grep -q '^3 pods in 2 groups, 1 cut short$' "$out" && grep -q '^logind has to allow 30s; by the files' "$out" &&
	grep -q '^which pods are deaf is not known on this host$' "$out"
claim "plan tells what a node shutdown would do, group by group, and who is cut short" $?

jq -r '.items[] | "---\n\(.)"' "$tmp/shut.json" | sed 's/^{/# as YAML\n{/' >"$tmp/shut.yaml"
mv "$out" "$tmp/json.out"
try "$graced" plan --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.yaml"
((rc == 0)) && quiet "$err" && [[ -s $out ]] && cmp -s "$out" "$tmp/json.out"
claim "plan makes the same of pods in YAML, a document each" $?

printf 'shutdown: {mode: manage, gracePeriodByPodPriority: [{priority: 0, gracePeriodSeconds: 7}, {priority: 1, gracePeriodSeconds: 4}]}\n' >"$tmp/graced.yaml"
try "$graced" plan --config "$tmp/graced.yaml" --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.json"
((rc == 0)) && quiet "$err" && sed -n 2p "$out" | grep -qE '^0 +\+0s +\+7s +shop/db-0 +0 +60s +7s ' &&
	sed -n 4p "$out" | grep -qE '^1 +\+0-7s +\+11s +shop/dns ' &&
	grep -q "^graced's last group is over at +11s at the latest, from when the units of shutdown.stopUnits are stopped$" "$out" &&
	grep -q '^logind has to allow 21s;' "$out"
claim "plan follows graced's own groups in mode manage" $?

try "$graced" plan -o json --config "$tmp/graced.yaml" --pods "$tmp/shut.json"
((rc == 0)) && [[ $(jq -r .shutdown.stopped_by "$out" | sort -u) == graced ]] &&
	sed -i s/manage/assist/ "$tmp/graced.yaml" &&
	try "$graced" plan --config "$tmp/graced.yaml" --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.json" &&
	grep -q '^the kubelet releases its lock at +30s' "$out"
claim "in other modes the kubelet's groups count" $?

csi_pod() { # NAME PRIORITY VOLUMES [UID]
	echo "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"$1\",\"uid\":\"${4-}\"},\"spec\":{\"nodeName\":\"n1\",\"priority\":$2,\"terminationGracePeriodSeconds\":5,\"volumes\":[$3]},\"status\":{\"phase\":\"Running\"}}"
}
uid=11111111-2222-4333-8444-555555555555
driver="{\"hostPath\":{\"path\":\"/var/lib/kubelet/plugins_registry/\"}},{\"hostPath\":{\"path\":\"/var/lib/kubelet/plugins/a.example.com\"}}"
inline='{"csi":{"driver":"a.example.com"}}'
echo "{\"kind\":\"List\",\"items\":[$(csi_pod driver 0 "$driver"),$(csi_pod db 2000000000 "$inline"),$(csi_pod claim 2000000000 '{"persistentVolumeClaim":{"claimName":"c"}}' $uid)]}" >"$tmp/csi.json"
try "$graced" plan --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/csi.json"
((rc == 0)) && quiet "$err" && [[ $(grep -c '^warning: ' "$out") == 1 ]] &&
	grep -q '^warning: shop/db has volumes of the CSI driver a.example.com, whose pod shop/driver is stopped in an earlier group: ' "$out" &&
	try "$graced" plan -o json --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/csi.json" &&
	[[ $(jq -c 'select(.pod.name == "db") | .early_drivers' "$out") == '[{"driver":"a.example.com","namespace":"shop","pod":"driver"}]' ]]
claim "plan warns of a CSI driver that is stopped before a pod with its volumes" $?

if ((EUID == 0)) && unshare -m true 2>/dev/null; then
	below=/var/lib/kubelet/pods/$uid/volumes/kubernetes.io~csi/pvc-1
	try unshare -m sh -c "mount -t tmpfs none /var/lib && mkdir -p $below/mount && mount --bind /usr $below/mount &&
		echo '{\"driverName\":\"a.example.com\"}' >$below/vol_data.json &&
		exec '$graced' plan --kubelet.config '$tmp/kubelet.yaml' --pods '$tmp/csi.json'"
	((rc == 0)) && grep -q '^warning: shop/claim has volumes of the CSI driver a.example.com, whose pod shop/driver is' "$out"
	claim "plan knows the driver of a claim by the mounts of this host" $?
else
	count=$((count + 1))
	echo "ok $count - plan knows the driver of a claim by the mounts of this host # SKIP needs root and a mount namespace"
fi

echo 'shutdown: {mode: manage}' >"$tmp/graced.yaml"
printf "$type" >"$tmp/no-groups.yaml"
try "$graced" plan --config "$tmp/graced.yaml" --kubelet.config "$tmp/no-groups.yaml" --pods "$tmp/shut.json"
refused 1 'graced.yaml has no groups, and neither has .*no-groups.yaml: all pods are stopped at once'
claim "plan says that there are no groups in mode manage" $?

echo 'shutdown: {mode: manage, gracePeriod: 1ms}' >"$tmp/graced.yaml"
try "$graced" plan --config "$tmp/graced.yaml" --pods "$tmp/shut.json"
refused 1 '^graced plan: .*/graced.yaml: shutdown.gracePeriod: invalid configuration: shutdownGracePeriod \{1ms\} must be'
claim "plan refuses a configuration that the daemon would refuse" $?

timeout 120 "$graced" plan -o json --kubelet.version 1.22 --kubelet.config "$tmp/kubelet.yaml" --pods - <"$tmp/shut.json" >"$out" 2>"$err"
rc=$?
((rc == 0)) && quiet "$err" && [[ $(lines "$out") == 3 && $(grep -c '"requested_ns":30000000000,"host_limit_ns":[0-9]' "$out") == 3 ]] &&
	[[ $(grep -c '"deaf":null,"deaf_containers":null,"wasted_ns":null,' "$out") == 3 ]] &&
	grep '"name":"etcd"' "$out" | grep -q '"earliest_ns":20000000000,.*"override_ns":5000000000,.*"two_phases":true'
claim "for an older kubelet static pods are critical; one object a pod" $?

try "$graced" plan --kubelet.version 1.20 --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.json"
refused 1 'kubelet\.yaml: .*requires feature gate'
claim "plan says what a kubelet would not start with, exit 1" $?

sed 's/30s/010/' "$tmp/kubelet.yaml" >"$tmp/wrong.yaml"
try "$graced" plan --kubelet.config "$tmp/wrong.yaml" --pods "$tmp/shut.json"
refused 1 'wrong\.yaml: line 3: shutdownGracePeriod must be a duration'
claim "plan says which line of a kubelet's configuration is wrong, and how, exit 1" $?

chmod 666 "$tmp/kubelet.yaml"
try "$graced" plan --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.json"
((rc == 0)) && quiet "$err"
claim "plan takes a configuration that it is given, whoever may write it" $?

try "$graced" plan --kubelet.config "$tmp/no-such.yaml" --pods "$tmp/shut.json"
refused 1 'no-such\.yaml: No such file.*--kubelet.config'
claim "plan says when there is no kubelet's configuration, and where to tell it, exit 1" $?

printf "$type" >"$tmp/kubelet.yaml"
try "$graced" plan --kubelet.config "$tmp/kubelet.yaml" --pods "$tmp/shut.json"
refused 1 'kubelet\.yaml .*neither shutdownGracePeriod'
claim "plan says when the kubelet has no part in a shutdown, exit 1" $?

printf "$type"'shutdownGracePeriodByPodPriority:\n- {priority: 100, shutdownGracePeriodSeconds: 0}\n' >"$tmp/kubelet.yaml"
try "$graced" plan --kubelet.config <(cat "$tmp/kubelet.yaml") --pods <(echo '{"kind":"List","items":[]}')
((rc == 0)) && one_line "$err" && grep -q 'no pods in /' "$err" && grep -q '^0 pods in 0 groups$' "$out"
claim "plan reads a configuration from a pipe, and a node without pods has no groups" $?

# --- a node that ends at a deadline ----------------------------------------------------------

try "$graced" plan --deadline 7s --pods "$tmp/shut.json"
((rc == 0)) && quiet "$err" && grep -q '^BY ' "$out" && grep -q '^within 7s: ' "$out"
claim "plan shows an order of deletion before a deadline, without a kubelet's configuration" $?

timeout 120 "$graced" plan --deadline 7s -o json --kubelet.config "$tmp/no-such.yaml" --pods "$tmp/shut.json" >"$out" 2>"$err"
rc=$?
refused 1 'no-such\.yaml: No such file'
claim "a configuration that is named has to be there, for a deadline, too" $?

timeout 120 "$graced" plan --deadline 7s -o json --pods "$tmp/shut.json" >"$out" 2>"$err"
rc=$?
((rc == 0)) && quiet "$err" && [[ $(grep -c '"if":"node-ends".*"deadline":{"at_ns":7000000000,' "$out") == $(lines "$out") && -s $out ]]
claim "one object a pod of a node that ends at a deadline" $?

# --- a node that dies ------------------------------------------------------------------------

one_pod() { # NAME KIND NODE
	echo "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"$1\",\"ownerReferences\":[{\"kind\":\"$2\",\"name\":\"set\",\"uid\":\"u\",\"controller\":true}]},\"spec\":{\"nodeName\":\"$3\"},\"status\":{\"phase\":\"Running\"}}"
}
echo "{\"kind\":\"List\",\"items\":[$(one_pod web ReplicaSet n1),$(one_pod db-0 StatefulSet n1)]}" >"$tmp/node.json"
try "$graced" plan --if-node-dies --pods "$tmp/node.json" --node-monitor-grace-period 40s
((rc == 0)) && quiet "$err" && [[ $(lines "$out") == 6 ]] &&
	sed -n 2p "$out" | grep -qE '^shop/db-0 +StatefulSet +\+40-45s +\+40-50s +never +never +waits-for-object$' &&
	sed -n 3p "$out" | grep -qE '^shop/web +ReplicaSet +\+40-45s +\+40-50s +\+40-50s +never +terminating$'
claim "plan tells of each pod what becomes of it, the stuck ones first" $?

timeout 120 "$graced" plan --if-node-dies -o json --out-of-service --kubelet.version 1.31 --pods - <"$tmp/node.json" >"$out" 2>"$err"
rc=$?
((rc == 0)) && quiet "$err" && [[ $(lines "$out") == 2 ]] &&
	[[ $(grep -c '"no_execute":true.*"stuck_without":\["terminating"' "$out") == 2 ]] &&
	[[ $(grep -c '"at_ns":45000000000,' "$out") == 2 && $(grep -c '"stuck":\[\]' "$out") == 2 ]]
claim "with --out-of-service it takes the taint as set when the node is not ready, one object a pod" $?

try "$graced" plan --if-node-dies --out-of-service --out-of-service-after 10m --out-of-service-effect NoSchedule --pods "$tmp/node.json"
((rc == 0)) && quiet "$err" && grep -q '^out-of-service set at +600s lets 2 go' "$out"
claim "plan takes when the taint is set, and its effect" $?

try "$graced" plan --if-node-dies --pods <(echo "{\"kind\":\"List\",\"items\":[$(one_pod a Job n1),$(one_pod b Job n2)]}")
refused 1 'several nodes.*--field-selector'
claim "plan refuses the pods of several nodes, exit 1" $?

echo "{\"kind\":\"List\",\"items\":[$(one_pod a Job ""),$(one_pod b Job n2),{\"metadata\":{\"name\":\"c\"},\"spec\":{}}]}" >"$tmp/pending.json"
printf "$type"'shutdownGracePeriod: 30s\n' >"$tmp/kubelet.yaml"
bad=0
for question in --if-node-dies "--kubelet.config=$tmp/kubelet.yaml"; do
	try "$graced" plan "$question" --pods "$tmp/pending.json"
	((rc == 0)) && one_line "$err" && grep -q '2 of the pods in .* no node' "$err" && grep -q 'shop/b' "$out" &&
		grep -q '^1 pod[: ]' "$out" || bad=1
done
claim "plan leaves out pods on no node, and says how many" $bad

try "$graced" plan --if-node-dies --pods "$tmp/no-such-list"
refused 1 'cannot read .*no-such-list'
claim "plan says which file it cannot read, exit 1" $?

echo "{\"kind\":\"List\",\"items\":[{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":7}]}},$(one_pod after Job n1)]}" >"$tmp/half.json"
try "$graced" plan --if-node-dies --pods "$tmp/half.json"
((rc == 1)) && one_line "$err" && grep -q 'cannot plan .*items\[0\]\.spec\.containers\[0\]\.name' "$err" && grep -q 'shop/after' "$out"
claim "of a list plan tells which pod is wrong, and plans for the others, exit 1" $?

conclude
