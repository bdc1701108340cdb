# SPDX-License-Identifier: Apache-2.0
# Sourced by run: pods whose objects, kubelet or runtime go while they end. What graced writes down of
# it is held against the API by upsets.jq.

# How often graced has reported that state of a pod.
moves() { # NAME STATE
	guest "grep '\"type\":\"pod\"' /var/log/graced/records.json" |
		jq -s --arg name "$1" --arg state "$2" \
			'[.[] | select(.pod.name == $name and .state == $state)] | length'
}

moved() { # NAME STATE [TIMES]
	! alive "$machine_pid" || (($(moves "$1" "$2") >= ${3-1}))
}

expect_move() { # NAME STATE [TIMES]
	await 300 moved "$@" || give_up "$1 comes to be $2"
}

# What it never had as Ready it does not miss.
seen_ready() { # COUNT
	! alive "$machine_pid" || (($(guest '/opt/graced/sbin/graced pods -o json' |
		jq -s '[.[] | select(.state == "sync" and .ready)] | length') >= $1))
}

put_manifest() { # NAME
	guest "cat >/etc/kubernetes/manifests/.$1 <<'EOF' && mv /etc/kubernetes/manifests/{.$1,$1.yaml}
$(<"tests/vm/upsets/static/$1.yaml")
EOF"
}

take_manifest() { # NAME
	guest "rm /etc/kubernetes/manifests/$1.yaml"
}

delete_pod() { # NAME OPTIONS
	api DELETE "$pods/$1" -H 'Content-Type: application/json' -d "$2" >"$work/delete.json" ||
		give_up "the API deletes $1"
}

# Kills the main process of a unit, and waits for systemd to have another.
kill_unit() { # UNIT
	guest "old=\$(systemctl show -P MainPID $1) && kill -KILL \$old &&
		for i in {1..600}; do
			new=\$(systemctl show -P MainPID $1)
			((new && new != old)) && exit 0
			sleep 0.1
		done
		exit 1"
	claim $? "$1 is killed, and systemd starts it again"
}

create_upset() {
	local file
	for file in tests/vm/upsets/*.yaml; do
		api POST $pods -H 'Content-Type: application/yaml' --data-binary @"$file" \
			>"$work/create.json" || give_up "the API takes $file"
	done
	put_manifest again
	put_manifest cut
	await 600 seen_ready 6 || give_up "graced has the pods to be upset as Ready"
}

# Whoever reads the API has these fields; a life goes on.
edit_pod() {
	api PATCH $pods/edited -H 'Content-Type: application/strategic-merge-patch+json' -d '{
		"metadata": {"labels": {"edited": "yes"}},
		"spec": {"activeDeadlineSeconds": 100000}}' >"$work/edit.json" ||
		give_up "the API edits a pod"
}

upset_objects() {
	delete_pod forced '{"gracePeriodSeconds": 0}'
	delete_pod serving '{}'
	take_manifest again
	expect_move again-vm-node terminating
	put_manifest again
	expect_move forced finished
	expect_move serving finished
	expect_move again-vm-node sync 2
	# A kubelet that is killed before it has made all of a pod's containers may not go on for a minute.
	await 600 seen_ready 4 || give_up "graced has the pods that are left as Ready"
}

upset_kubelet() {
	delete_pod left '{}'
	expect_move left terminating
	kill_unit kubelet
	expect_move left finished
}

end_others() {
	take_manifest again
	delete_pod edited '{}'
	expect_move again-vm-node finished 2
	expect_move edited finished
}

# With that pod alone: a kubelet whose runtime was away may take the sandboxes of others for changed,
# and begin their containers anew even while they are being deleted.
upset_runtime() {
	take_manifest cut
	expect_move cut-vm-node terminating
	kill_unit containerd
	expect_move cut-vm-node finished
}

metrics() {
	guest 'exec 3<>/dev/tcp/127.0.0.1/9753
		printf "GET /metrics HTTP/1.0\r\n\r\n" >&3
		cat <&3'
}

judge_upset() {
	fetch_records
	metrics | grep -a '^graced_pod_ready' >"$work/ready.metrics"
	jq -nr -f tests/vm/upsets.jq --slurpfile records "$work/records.json" \
		--slurpfile watch "$work/watch.json" --rawfile metrics "$work/ready.metrics" ||
		echo "not ok - the records of upset pods can be judged"
}

told_upset() {
	! alive "$machine_pid" || ! judge_upset | grep -q '^not ok'
}

upset_pods() {
	create_upset
	edit_pod
	upset_objects
	upset_kubelet
	end_others
	upset_runtime
	await 600 left 0 || give_up "the upset pods go"
	await 60 told_upset
	tally < <(judge_upset)
}
