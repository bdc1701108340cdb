#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs graced from the tarball in which this file is, or removes it. Run as root.
#   ./install.sh [uninstall]      variables: prefix (/usr/local), sysconfdir (/etc), DESTDIR
# A configuration that is there is kept. Removing leaves it and what was recorded.
set -eu
prefix=${prefix-/usr/local} sysconfdir=${sysconfdir-/etc} DESTDIR=${DESTDIR-}
here=$(cd "$(dirname "$0")" && pwd)
dropin=$DESTDIR/etc/systemd/logind.conf.d/zz-graced.conf
unit=lib/systemd/system/graced.service

# systemd is to be asked: it runs, and these files are its own.
runs_systemd() { [ -z "$DESTDIR" ] && [ -d /run/systemd/system ]; }

files() { (cd "$here/files/prefix" && find . -type f | sed 's,^\./,,'); }

install_files() {
	if ! sums=$(cd "$here" && sha256sum -c SHA256SUMS 2>&1); then
		echo "$sums" | grep -v ': OK$' >&2
		exit 1
	fi
	files | while read -r file; do
		mode=$([ -x "$here/files/prefix/$file" ] && echo 755 || echo 644)
		mkdir -p "$DESTDIR$prefix/$(dirname "$file")"
		# A program that runs is replaced, not written to.
		cp "$here/files/prefix/$file" "$DESTDIR$prefix/$file.new"
		chmod "$mode" "$DESTDIR$prefix/$file.new"
		[ "$file" != "$unit" ] || sed -i -e "s,@prefix@,$prefix," -e "s,@sysconfdir@,$sysconfdir," \
			"$DESTDIR$prefix/$file.new"
		mv "$DESTDIR$prefix/$file.new" "$DESTDIR$prefix/$file"
	done
	mkdir -p "$DESTDIR$sysconfdir/graced"
	[ -e "$DESTDIR$sysconfdir/graced/graced.yaml" ] ||
		cp "$here/files/sysconfdir/graced/graced.yaml" "$DESTDIR$sysconfdir/graced/graced.yaml"
	! runs_systemd || systemctl daemon-reload
}

# In mode assist the daemon has had logind wait longer, which nothing needs any more.
uninstall_files() {
	if runs_systemd && systemctl --quiet is-active graced.service; then
		echo 'graced runs: systemctl disable --now graced' >&2
		exit 1
	fi
	files | while read -r file; do rm -f "$DESTDIR$prefix/$file"; done
	if [ -e "$dropin" ]; then
		rm "$dropin"
		! runs_systemd || systemctl kill --signal=HUP systemd-logind.service
	fi
	! runs_systemd || systemctl daemon-reload
}

case ${1-} in
'') install_files ;;
uninstall) uninstall_files ;;
*) echo "usage: $0 [uninstall]" >&2 && exit 2 ;;
esac
