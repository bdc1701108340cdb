# SPDX-License-Identifier: Apache-2.0
# Sourced: what is unpacked once for all builds, in ${XDG_CACHE_HOME:-~/.cache}/graced.

# Prints the directory; its log stands beside it.
kept_packages() { # NAME SUITE PACKAGE...
	local here cache dir work status=0
	here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/graced
	dir=$cache/arm64-$1-$2-$( (shift && echo "$*" && cat "$here/unpack") | sha256sum | cut -c1-12)
	if [[ ! -d $dir ]]; then
		mkdir -p "$cache"
		exec 9>"$dir.lock"
		flock 9
	fi
	if [[ ! -d $dir ]]; then
		work=$(mktemp -d "$cache/arm64.XXXXXX")
		"$here/unpack" "$work" "${@:2}" >"$dir.log" 2>&1 || status=$?
		if ((status)); then
			rm -rf "$work"
			tail -n 20 "$dir.log" >&2
			echo "packages for arm64 cannot be had: see $dir.log" >&2
			return "$status"
		fi
		mv -T "$work" "$dir"
	fi
	echo "$dir"
}
