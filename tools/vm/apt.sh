# SPDX-License-Identifier: Apache-2.0
# Sourced: a package manager of its own, so that the host's configuration stays what it is.

private_apt() { # DIRECTORY MIRROR SUITE : leaves the options in apt[]
	local type
	mkdir -p "$1"/{lists,cache,state}
	: >"$1/status"
	for type in deb deb-src; do
		echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $2 $3 main"
	done >"$1/sources.list"
	apt=(-q -o "Dir::Etc::SourceList=$1/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State=$1/state"
		-o "Dir::State::Lists=$1/lists" -o "Dir::State::Status=$1/status" -o "Dir::Cache=$1/cache"
		-o APT::Sandbox::User=root)
}
