#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds `graced version`, tools/version and tools/tarball to what they say, in repositories of their own.
# GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"

try "$graced" version -o json
((rc == 0)) && grep -qE '"version":"[0-9]+\.[0-9]+\.[0-9]+[^" ]*","commit":"([0-9a-f]{12}|unknown)","features":"[^"]*\+libbpf ' "$out" &&
	grep -qE '[+-]ncurses"' "$out"
claim "graced version has the version, the commit and what it was built with" $?

if ! command -v git >/dev/null; then
	for sentence in "a tag is the version" "two tarballs of a commit are the same"; do
		skip "$sentence" "no git"
	done
	conclude
fi

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
repo=$tmp/repo
mkdir -p "$repo/tools"
cp "$root"/tools/{version,tarball} "$repo/tools/"

try "$repo/tools/version"
grep -qxE '[0-9.]+-dev unknown' "$out"
claim "without git there is no commit" $?

{
	git -C "$repo" init -q && git -C "$repo" add -A && git -C "$repo" commit -qm one
} >"$out" 2>&1
commit=$(git -C "$repo" rev-parse --short=12 HEAD)
try "$repo/tools/version"
grep -qx "[0-9.]*-dev.1+g$commit $commit" "$out"
claim "without a tag the version is one before the first release, with the commit" $?

git -C "$repo" tag v1.2.3
try "$repo/tools/version"
grep -qx "1.2.3 $commit" "$out"
claim "a tag is the version" $?

touch -d 1990-01-01 "$repo/tools/version"
try "$repo/tools/version"
grep -qx "1.2.3 $commit" "$out"
claim "a file that was touched is not a change" $?

echo '# more' >>"$repo/tools/version"
try "$repo/tools/version"
grep -qx "1.2.3+dirty $commit" "$out"
claim "what is not committed is said" $?

mkdir "$tmp/first" "$tmp/second"
(umask 077 && "$repo/tools/tarball" "$tmp/first") >"$out" 2>"$err"
grep -q '/graced-1\.2\.3\.tar\.gz$' "$out"
claim "a tarball is made of the commit alone" $?

git -C "$repo" checkout -q -- tools/version
touch "$repo"/tools/*
TZ=Asia/Tokyo LC_ALL=C "$repo/tools/tarball" "$tmp/second" >"$out" 2>"$err"
cmp "$tmp"/{first,second}/graced-1.2.3.tar.gz >>"$out" 2>&1
claim "two tarballs of a commit are the same" $?

tar -C "$tmp" -xzf "$tmp/first/graced-1.2.3.tar.gz"
try "$tmp/graced-1.2.3/tools/version"
grep -qx "1.2.3 $commit" "$out"
claim "a tarball knows its version without git" $?

git -C "$repo" commit -q --allow-empty -m two
later=$(git -C "$repo" rev-parse --short=12 HEAD)
try "$repo/tools/version"
grep -qx "1.2.3+1.g$later $later" "$out"
claim "commits after a tag are counted" $?

conclude
