#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Watches the vector driver fail: it is worth something only if every way of being wrong shows.
# Prints TAP and exits 1 if a claim does not hold.
#   BUILD=build tests/tools/test_vectors_driver.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
driver=$(realpath -m "${BUILD:-$root/build}/tests/vectors")
source=$root/tests/vectors/cgroup_paths.json
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

count=0
failed=0
id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
uid=2c48913c-b29f-11e7-9350-020968147796

# claim SENTENCE COMMAND…: the command's success is the claim.
claim() {
	local sentence=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $sentence"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - $sentence"
	sed 's/^/# /' "$work/out" 2>/dev/null
}

# A new empty folder for one file of vectors.
folder() {
	rm -rf "$work/vectors"
	mkdir -p "$work/vectors/deep"
	file=$work/vectors/deep/cgroup_paths.json
}

# One good case; each argument is a sed script that spoils it.
one_case() {
	folder
	cat >"$file" <<-EOF
		{"vectors": [
		 {"name": "the case",
		  "input": {"path": "/kubepods/burstable/pod$uid/$id"},
		  "expected": {
		   "kind": "container",
		   "qos": "burstable",
		   "pod_uid": "$uid",
		   "static_pod_uid": false,
		   "container_id": "$id",
		   "runtime": "unknown",
		   "driver": "cgroupfs"
		  }}]}
	EOF
	local script
	for script; do
		sed -i -E "$script" "$file"
	done
}

# says STATUS LAST_LINE LINES: how the driver ends on the folder, and how many lines that takes.
says() {
	"$driver" "$work/vectors" >"$work/out" 2>&1
	[[ $? == "$1" && $(tail -n 1 "$work/out") == "$2" && $(wc -l <"$work/out") == "$3" ]]
}
passes() { says 0 '1 passed, 0 failed' 1; }
fails() { says 1 '0 passed, 1 failed' 2; }
first_line_has() {
	local word
	for word; do
		head -n 1 "$work/out" | grep -qF -- "$word" || return 1
	done
}

claim 'the driver is built' test -x "$driver"

one_case
claim 'a case whose members are all right passes' passes

cases=$(grep -c '"expected"' "$source")
cp "$source" "$file"
claim "every stored case of cgroup_paths passes" says 0 "$cases passed, 0 failed" 1

for member in kind qos pod_uid static_pod_uid container_id runtime driver; do
	folder
	sed -E "s/^( *\"$member\": ).*[^,](,?)$/\\1\"wrong\"\\2/" "$source" >"$file"
	claim "a wrong $member fails every stored case" says 1 "0 passed, $cases failed" $((cases + 1))
done

if "$driver" --spoil "$root/tests/vectors" >"$work/out" 2>&1; then noticed=true; else noticed=false; fi
claim 'an expectation of any module that is wrong in any one place fails' "$noticed"
folder
echo '{"vectors": [{"name": "x", "kind": "sequence", "input": {"steps": []},
	"expected": {"checks": {}, "times": {"1": {"synced": 1}}}}]}' >"$work/vectors/pod_worker.json"
"$driver" --spoil "$work/vectors" >"$work/out" 2>&1
claim 'a place that is not compared is reported' grep -qF 'synced of another value was not noticed' "$work/out"

# From a value to its nearest neighbours: of another type, absent, one letter off.
while read -r member wrong; do
	one_case "s/\"$member\": [^,]*/\"$member\": $wrong/"
	claim "$member $wrong fails" fails
done <<EOF
kind "pod"
kind "Container"
kind null
qos "guaranteed"
qos null
qos ""
pod_uid "${uid%6}7"
pod_uid "${uid//-/_}"
pod_uid null
static_pod_uid true
static_pod_uid 0
static_pod_uid null
static_pod_uid "false"
container_id "${id%f}e"
container_id "${id%f}"
container_id null
runtime "containerd"
runtime null
driver "systemd"
driver null
driver ["cgroupfs"]
EOF

one_case '/"qos"/d'
claim 'a member that is left out of the expectation fails' fails
one_case 's/"kind": "container",/&"more": null,/'
claim 'a member that the answer does not have fails, null or not' fails
one_case 's/"expected"/"unexpected"/'
claim 'a case that expects nothing fails' fails
one_case '/^   "/d'
claim 'an empty expectation fails' fails

one_case 's/"qos": "burstable"/"qos": "besteffort"/'
fails
claim 'a failing line has file, name, expected and got' first_line_has "$file" 'the case' \
	'expected {"qos": "besteffort"}' 'got {"qos": "burstable"}'
one_case 's/the case/a\\nb\\u001b[1m/' 's/"qos": "burstable"/"qos": "x"/'
claim 'a failure is one line, whatever the name contains' fails

one_case 's/"input"/"kind": "somewhat", &/'
claim 'a kind that is not known fails' fails
one_case 's/"input": \{/&"more": 1, /'
claim 'an input that is not understood whole fails' fails
one_case 's/"path": "[^"]*"/"path": 1/'
claim 'an input of another type fails' fails
one_case 's/"input"/"output"/'
claim 'a case without input fails' fails
folder
echo '{"vectors": [1, null, "a", []]}' >"$file"
claim 'a case that is no object fails' says 1 '0 passed, 4 failed' 5

one_case
mv "$file" "$work/vectors/no_such_module.json"
claim 'a file that is named after no module fails' fails
for text in '' '{' '[]' '{}' '{"vectors": {}}' '{"vectors": []} x' '{"vectors": [], "vectors": []}' \
	$'{"vectors": "\xff"}'; do
	folder
	printf '%s' "$text" >"$file"
	claim "a file of $(printf '%q' "$text") fails" fails
done
folder
ln -s nowhere "$file"
claim 'a file that cannot be read fails' fails
folder
mkfifo "$file"
claim 'a file that is no file fails, and is not waited for' fails

folder
claim 'an empty folder fails: no case ran' says 1 '0 passed, 0 failed' 2
folder
echo '{"vectors": []}' >"$file"
claim 'a file without cases fails: no case ran' says 1 '0 passed, 0 failed' 2
rm -rf "$work/vectors"
claim 'a folder that is not there fails' fails

one_case
cp "$file" "$work/vectors/cgroup_paths.json"
sed -i 's/"container"/"pod"/' "$file"
claim 'a failure in one file leaves the others running' says 1 '1 passed, 1 failed' 2
one_case
echo 'not JSON' >"$work/vectors/README.md"
claim 'other files are none of its business' passes
"$driver" >"$work/out" 2>&1
claim 'no argument is wrong use' test $? = 2

echo "1..$count"
((failed == 0))
