#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds tools/image to what it says where the program is for arm64 and this machine is not, and
# tools/image-index. BUILD names the directory of the build, qemu-aarch64 runs the program.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${BUILD:-$root/build}/arm64/graced") || exit 1
. "$root/tests/lib/tap.sh"
# shellcheck disable=SC2034 # of tap.sh
patience=1200

arm64=$tmp/arm64.tar
cp "$graced" "$tmp/graced"
mkdir -m 755 "$tmp/files" "$tmp/layout"
try "$root/tools/image" "$tmp/graced" "$arm64" "$tmp/files"
((rc == 0)) && touch "$tmp/graced" && (umask 077 && TZ=Asia/Tokyo try "$root/tools/image" "$tmp/graced" "$tmp/second.tar") &&
	cmp "$arm64" "$tmp/second.tar" >"$out" 2>"$err"
claim "two images for arm64 of a program are the same bytes" $?

try qemu-aarch64 -L "$tmp/files" "$tmp/files/usr/sbin/graced" version
((rc == 0)) && grep -q '^graced [0-9]' "$out"
bad=$?
: >"$out"
for file in "$tmp"/files/usr/sbin/graced "$tmp"/files/usr/lib/*.so*; do
	readelf -h "$file" | grep -q 'Machine: *AArch64' || { echo "$file" >>"$out" && bad=1; }
done
for name in $(grep -rhoE '"lib[a-z0-9_-]+\.so\.[0-9]+"' "$root/user" | tr -d '"'); do
	[[ -e $tmp/files/usr/lib/$name ]] || { echo "$name is not there" >>"$out" && bad=1; }
done
claim "the program runs on the image's files, and each of them is for arm64" $bad

sbom=$tmp/files/usr/share/graced/sbom.spdx.json
jq -e '[.packages[1:][].externalRefs[0].referenceLocator | endswith("?arch=arm64")] | length > 20 and all' "$sbom" >"$out" 2>"$err"
claim "the list of packages has those of arm64" $?

# A second image, as that of the other machine is: the same with another name in it.
mkdir "$tmp/other"
tar -C "$tmp/other" -xf "$arm64"
sed -i 's/"architecture":"arm64"/"architecture":"amd64"/' "$tmp/other/index.json"
tar -C "$tmp/other" --mtime=@0 -cf "$tmp/amd64.tar" .
bad=0
try "$root/tools/image-index" "$tmp/first-index.tar" "$tmp/amd64.tar" "$arm64" || bad=1
digest=$(<"$out")
(umask 077 && try "$root/tools/image-index" "$tmp/second-index.tar" "$tmp/amd64.tar" "$arm64") || bad=1
cmp "$tmp/first-index.tar" "$tmp/second-index.tar" >"$out" 2>"$err" || bad=1
tar -C "$tmp/layout" -xf "$tmp/first-index.tar"
blobs=$tmp/layout/blobs/sha256
[[ $(jq -r '.manifests[0].digest' "$tmp/layout/index.json") == "$digest" ]] || bad=1
(cd "$blobs" && sha256sum -- * | awk '$1 != $2 { print; bad = 1 } END { exit bad || NR != 4 }') >>"$out" || bad=1
jq -e '[.manifests[].platform.architecture] == ["amd64", "arm64"] and all(.manifests[]; .annotations == null)' \
	"$blobs/${digest#sha256:}" >>"$out" 2>"$err" || bad=1
jq -e '.manifests[0].annotations["org.opencontainers.image.ref.name"] | length > 0' "$tmp/layout/index.json" >>"$out" || bad=1
for blob in $(jq -r '.manifests[].digest | sub("sha256:"; "")' "$blobs/${digest#sha256:}"); do
	[[ -e $blobs/$blob ]] || bad=1
done
claim "the index of two images is the same bytes, has both by their machine, and is named by its digest" $bad

conclude
