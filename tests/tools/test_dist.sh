#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds deploy/install.sh, on files like those of make dist, and deploy/graced.spec to what they say;
# make check-dist tries the real ones.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/lib/tap.sh"

stage=$tmp/graced
mkdir -p "$stage"/files/prefix/{sbin,bin,lib/systemd/system} "$stage/files/sysconfdir/graced"
printf '#!/bin/sh\necho new\n' | tee "$stage/files/prefix/sbin/graced" >"$stage/files/prefix/bin/other"
chmod 755 "$stage"/files/prefix/{s,}bin/*
cp "$root/deploy/graced.service" "$stage/files/prefix/lib/systemd/system/"
cp "$root/deploy/graced.yaml" "$stage/files/sysconfdir/graced/"
cp "$root/deploy/install.sh" "$stage/"
(cd "$stage" && find . -type f -not -name SHA256SUMS -exec sha256sum {} + >SHA256SUMS)
export DESTDIR=$tmp/to prefix=/opt/graced sysconfdir=/opt/etc
mkdir "$tmp/to"
there() { (cd "$tmp/to" && find . -type f | LC_ALL=C sort) >"$out"; }

try "$stage/install.sh" && there && diff - "$out" >"$err" <<'END'
./opt/etc/graced/graced.yaml
./opt/graced/bin/other
./opt/graced/lib/systemd/system/graced.service
./opt/graced/sbin/graced
END
bad=$?
[[ $("$tmp/to/opt/graced/sbin/graced") == new ]] && grep -qx \
	'ExecStart=/opt/graced/sbin/graced run --config /opt/etc/graced/graced.yaml' \
	"$tmp/to/opt/graced/lib/systemd/system/graced.service" || bad=1
claim "install.sh installs each file below the prefix, and writes that into the unit" $bad

echo mine >"$tmp/to/opt/etc/graced/graced.yaml"
try "$stage/install.sh" && [[ $(cat "$tmp/to/opt/etc/graced/graced.yaml") == mine ]]
claim "it installs over what it has installed, and keeps the configuration" $?

mkdir -p "$tmp/to/etc/systemd/logind.conf.d"
touch "$tmp/to/etc/systemd/logind.conf.d/zz-graced.conf"
try "$stage/install.sh" uninstall && there && [[ $(cat "$out") == ./opt/etc/graced/graced.yaml ]]
claim "uninstalled, the configuration is what is left" $?

echo >>"$stage/files/prefix/sbin/graced"
try "$stage/install.sh"
((rc != 0)) && grep -q 'files/prefix/sbin/graced: FAILED' "$err" && there && [[ $(wc -l <"$out") == 1 ]]
claim "with a file that is not as SHA256SUMS has it nothing is installed" $?

sentence="the RPM's spec parses, and needs nothing to be built"
if command -v rpmspec >/dev/null; then
	try rpmspec -P --define 'graced_version 1.2' --define 'graced_tarball graced-1.2' "$root/deploy/graced.spec"
	((rc == 0)) && ! grep -q ^BuildRequires "$out" && grep -qx 'Version: 1.2' "$out"
	claim "$sentence" $?
else
	skip "$sentence" "no rpmspec: tools/deps install dist"
fi
conclude
