#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a container image of one static program, as `docker save` writes them: one layer, the program
# as its entry point with these arguments as the default command. The same input gives the same bytes.
#   tests/lib/runtime_image.sh NAME:TAG STOPSIGNAL|"" ARCHIVE PROGRAM [ARGUMENT...]
set -euo pipefail

name=$1 stop_signal=$2 archive=$3 program=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pack() { # ARCHIVE DIRECTORY FILE...
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$1" -C "$2" "${@:3}"
}

hash() { # FILE
	sha256sum "$1" | cut -d' ' -f1
}

mkdir -p "$work/root/etc" "$work/root/tmp"
install -m 755 "$program" "$work/root/${program##*/}"
echo 'root:x:0:0:root:/:/' >"$work/root/etc/passwd"
pack "$work/layer.tar" "$work/root" .

command= signal=
[[ $stop_signal ]] && signal=",\"StopSignal\":\"$stop_signal\""
for argument; do
	command+="${command:+,}\"$argument\""
done
cat >"$work/config" <<-END
	{"architecture":"$(dpkg --print-architecture)","os":"linux","created":"2024-01-01T00:00:00Z",
	"config":{"Entrypoint":["/${program##*/}"],"Cmd":[$command]$signal},
	"rootfs":{"type":"layers","diff_ids":["sha256:$(hash "$work/layer.tar")"]},
	"history":[{"created":"2024-01-01T00:00:00Z","created_by":"graced's tests"}]}
END
config=$(hash "$work/config").json
mv "$work/config" "$work/$config"
echo "[{\"Config\":\"$config\",\"RepoTags\":[\"$name\"],\"Layers\":[\"layer.tar\"]}]" \
	>"$work/manifest.json"
pack "$archive" "$work" manifest.json "$config" layer.tar
