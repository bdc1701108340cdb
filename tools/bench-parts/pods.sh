# SPDX-License-Identifier: Apache-2.0
# What 500 pods cost the engine.

bench_pods() {
	local round what ns
	for round in {1..7}; do
		while read -r what ns; do
			sample "pods_$what" graced "$(awk -v ns="$ns" 'BEGIN { print ns / 1000 }')"
		done < <("$tools/bench_pods")
	done
	row pods_list "the kubelet's list of 500 pods, nothing new" us '<=2000'
	row pods_event "one event of the kernel, 500 pods known" us '<=2'
}
