#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the file system of an image in which the programs of this host run, once its /usr is mounted
# there: links to /usr, an empty /etc, and tini beside it.
#   tests/lib/runtime_base.sh ARCHIVE TINI
set -euo pipefail

archive=$1 tini=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work"/{usr,sbin,etc/alternatives,tmp,opt/bin,var/lib/nginx,var/log/nginx}
chmod 1777 "$work/tmp"
# Not /sbin, where Docker mounts its init.
for name in bin lib lib32 lib64 libx32; do
	[[ -L /$name ]] && ln -s "usr/$name" "$work/$name"
done
install -m 755 "$tini" "$work/opt/bin/tini"
printf '%s\n' root:x:0:0:root:/:/bin/sh nobody:x:65534:65534:nobody:/:/bin/sh >"$work/etc/passwd"
printf '%s\n' root:x:0: nogroup:x:65534: >"$work/etc/group"
# What Debian's Java reads there.
for dir in /etc/java-*; do
	[[ -d $dir ]] && cp -rL "$dir" "$work/etc/"
done
tar --owner=0 --group=0 --numeric-owner -cf "$archive" -C "$work" .
