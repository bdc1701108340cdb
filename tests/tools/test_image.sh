#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds tools/image to what it says: an OCI layout that is the same bytes each time, with a program that
# runs on its files alone, no shell, and a list of the packages in it. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"
# shellcheck disable=SC2034 # of tap.sh
patience=300

claims="two images of a program are the same bytes, whatever the time, the zone and the umask
each blob is named by its digest, and index, manifest, configuration and layer refer to each other
docker load before Docker 25 finds the same configuration, layer and name in manifest.json
the program runs on the image's files alone, also as nobody
graced top knows the terminals that engines and their users name
there is no shell and no other program in it
it is nobody's unless the DaemonSet says otherwise
the list of packages names the package of each library, once, and the program with its digest"
why=
((EUID == 0)) || why="not root"
command -v dpkg-query >/dev/null && command -v jq >/dev/null || why="no dpkg-query or no jq"
if [[ $why ]]; then
	while read -r sentence; do skip "$sentence" "$why"; done <<<"$claims"
	conclude
fi

# The program may be built again beside this.
cp "$graced" "$tmp/graced"
mkdir -m 755 "$tmp/root" "$tmp/layout"
try "$root/tools/image" "$tmp/graced" "$tmp/first.tar" "$tmp/root"
((rc == 0)) && touch "$tmp/graced" && (umask 077 && TZ=Asia/Tokyo try "$root/tools/image" "$tmp/graced" "$tmp/second.tar") &&
	cmp "$tmp/first.tar" "$tmp/second.tar" >"$out" 2>"$err"
claim "two images of a program are the same bytes, whatever the time, the zone and the umask" $?

tar -C "$tmp/layout" -xf "$tmp/first.tar"
blobs=$tmp/layout/blobs/sha256
(cd "$blobs" && sha256sum -- * | awk '$1 != $2 { print; bad = 1 } END { exit bad || NR != 3 }') >"$out" 2>"$err"
bad=$?
of() { jq -r "$2" "$1" | sed 's/^sha256://'; } # FILE PATH
manifest=$blobs/$(of "$tmp/layout/index.json" '.manifests[0].digest')
config=$blobs/$(of "$manifest" .config.digest)
layer=$blobs/$(of "$manifest" '.layers[0].digest')
[[ $(gzip -dc "$layer" | sha256sum | cut -d' ' -f1) == "$(of "$config" '.rootfs.diff_ids[0]')" ]] || bad=1
[[ $(jq -r .imageLayoutVersion "$tmp/layout/oci-layout") == 1.0.0 ]] || bad=1
claim "each blob is named by its digest, and index, manifest, configuration and layer refer to each other" $bad

jq -e --arg config "${config#"$tmp/layout/"}" --arg layer "${layer#"$tmp/layout/"}" \
	--arg name "$(jq -r '.manifests[0].annotations."io.containerd.image.name" | ltrimstr("docker.io/library/")' "$tmp/layout/index.json")" \
	'. == [{Config: $config, RepoTags: [$name], Layers: [$layer]}]' "$tmp/layout/manifest.json" >"$out" 2>"$err"
claim "docker load before Docker 25 finds the same configuration, layer and name in manifest.json" $?

mkdir -m 755 "$tmp/files"
tar -C "$tmp/files" -xzf "$layer"
bad=0
for user in 0:0 65534:65534; do
	try chroot --userspec="$user" "$tmp/files" /usr/sbin/graced version
	((rc == 0)) && grep -q '^graced [0-9]' "$out" || { bad=1 && break; }
done
# Those that it loads by name at run time.
: >"$err"
for name in $(grep -rhoE '"lib[a-z0-9_-]+\.so\.[0-9]+"' "$root/user" | tr -d '"'); do
	# With one of its numbers.
	compgen -G "$tmp/files/usr/lib/${name%.*}.*" >/dev/null || { echo "$name is not there" >>"$err" && bad=1; }
done
claim "the program runs on the image's files alone, also as nobody" $bad

mkdir -m 755 "$tmp/host" && cp -a "$tmp/files/." "$tmp/host"
bad=0
for name in xterm xterm-256color tmux-256color; do
	# As in a pod, beside the host's processes and cgroups.
	try unshare -m script -qec "cd '$tmp/host' && mount --rbind /proc proc && mount --rbind /sys sys &&
		TERM=$name chroot . /usr/sbin/graced top --duration 1s" /dev/null
	grep -q $'\e\\[' "$out" && ! grep -q 'terminal of type' "$out" || bad=1
done
claim "graced top knows the terminals that engines and their users name" $bad

find "$tmp/files" -type f -perm /111 -not -name '*.so*' -not -path '*/usr/sbin/graced' >"$out"
[[ ! -s $out && ! -e $tmp/files/bin && ! -e $tmp/files/usr/bin ]]
claim "there is no shell and no other program in it" $?

[[ $(jq -r .config.User "$config") == 65534:65534 ]] && grep -q 'runAsUser: 0' "$root/deploy/daemonset.yaml"
claim "it is nobody's unless the DaemonSet says otherwise" $?

sbom=$tmp/files/usr/share/graced/sbom.spdx.json
sum=$(sha256sum <"$tmp/graced" | cut -d' ' -f1)
jq -e --arg sum "$sum" '.spdxVersion == "SPDX-2.3" and ([.packages[].name] | length == (unique | length)) and
	(.packages[0].checksums[0].checksumValue == $sum) and
	((.relationships | length) == (.packages | length)) and ([.packages[].SPDXID] | length == (unique | length))' "$sbom" >"$out" 2>"$err"
bad=$?
jq -r '.packages[1:][].name' "$sbom" | xargs dpkg-query -L 2>>"$err" | sed 's,.*/,,' >"$tmp/packaged"
for library in "$tmp"/files/usr/lib/*.so*; do
	grep -qxF "${library##*/}" "$tmp/packaged" || {
		echo "${library##*/} is of no package in the list" >>"$err"
		bad=1
	}
done
claim "the list of packages names the package of each library, once, and the program with its digest" $bad

conclude
