# SPDX-License-Identifier: Apache-2.0
# Sourced by tests that need a systemd of their own, with the units in $tmp/unit. It brings TAP
# (claim, skip_all) and ends with the script.
#   systemd_needs; prepare $tmp/unit; start_systemd || skip_all …; inside COMMAND...; end_tests
# The script calls itself with --boot inside. root: of the tree; GRACED names the binary. mode:
#   system   PID 1 of namespaces made for it, with journald
#   user     a user's manager among the host's processes, so that all mean the same by a pid; its
#            socket is where the system's would be
#   here     the systemd that is PID 1 already, for virtual machines: units go to /run, and stay
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
mode=${mode-system}
units=/run/unit
[[ $mode == here ]] && units=/run/systemd/system
count=0 failures=0

# --- inside: from a bare set of namespaces to systemd -------------------------------------------

boot() { # DIRECTORY
	local unit device
	set -e
	mount --make-rprivate /
	mount -t tmpfs tmpfs /run
	mkdir -p /run/unit /run/graced/sbin /run/graced/etc /run/dev
	install -m 755 "$1/graced" /run/graced/sbin/graced
	install -m 644 "$1/graced.yaml" /run/graced/etc/graced.yaml
	cp -r "$1"/unit/. /run/unit/
	for unit in sysinit basic shutdown umount final multi-user sockets slices paths timers; do
		cp -L "/lib/systemd/system/$unit.target" /run/unit/
	done
	umount -R /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	[[ $mode == user ]] || boot_system
	for device in /tmp /var/log /var/tmp /var/lib/systemd; do
		mount -t tmpfs tmpfs "$device"
	done
	if [[ $mode == user ]]; then
		# Without it there is no systemd that a user's could belong to.
		mkdir -p /run/systemd/system
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_RUNTIME_DIR=/run HOME=/ \
			SYSTEMD_UNIT_PATH=/run/unit /lib/systemd/systemd --user \
			--unit=multi-user.target --log-target=console
	fi
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=graced-test \
		SYSTEMD_UNIT_PATH=/run/unit /lib/systemd/systemd --unit=multi-user.target \
		--show-status=no --log-target=journal
}

boot_system() {
	local device
	cp -L /lib/systemd/system/systemd-journald{.service,.socket,-dev-log.socket} /run/unit/
	mkdir /run/unit/sockets.target.wants
	ln -s ../systemd-journald{,-dev-log}.socket /run/unit/sockets.target.wants/
	# What the host has in these places is not for this systemd to change.
	mount -t tmpfs tmpfs /run/dev
	for device in null zero random urandom full tty; do
		: >"/run/dev/$device"
		mount --bind "/dev/$device" "/run/dev/$device"
	done
	mkdir /run/dev/{shm,pts,mqueue,hugepages}
	mount -t devpts -o newinstance,ptmxmode=666 devpts /run/dev/pts
	ln -s pts/ptmx /run/dev/ptmx
	ln -s /proc/self/fd /run/dev/fd
	mount --move /run/dev /dev
	mount -t proc proc /proc
	mount --bind /proc/sys /proc/sys
	mount -o remount,bind,ro /proc/sys
}

if [[ ${1:-} == --boot ]]; then
	boot "$2"
	exit 1
fi

# --- outside ------------------------------------------------------------------------------------

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}

clean_up() {
	[[ $init ]] && kill -KILL "$init" 2>/dev/null
	# Who has no pid namespace of theirs outlives a manager.
	[[ -w $cgroup/cgroup.kill ]] && echo 1 >"$cgroup/cgroup.kill"
	wait 2>/dev/null
	for ((i = 0; i < 1200; i++)); do
		find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
		[[ -d $cgroup ]] || break
		sleep 0.1
	done
	rm -rf "$tmp"
}

# Sets tmp and, for whoever makes cgroups beside systemd's, cgroup.
systemd_needs() {
	((EUID == 0)) || skip_all "needs root"
	[[ -r /sys/kernel/btf/vmlinux ]] || skip_all "this kernel has no BTF"
	[[ -x /lib/systemd/systemd && -e /lib/systemd/system/systemd-journald.service ]] ||
		skip_all "systemd is not installed"
	cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	cgroup=$cgroups/graced-systemd-$$
	[[ $cgroups ]] && mkdir "$cgroup" 2>/dev/null ||
		skip_all "there is no cgroup2 tree to write to"
	tmp=$(mktemp -d)
	init=
	trap clean_up EXIT
	mkdir "$tmp/unit"
	cp "$graced" "$tmp/graced"
	echo 'hierarchy: unified' >"$tmp/graced.yaml"
}

# Calls what the script defines as `explain` (what a reader of a failure wants to see).
claim() { # SENTENCE STATUS
	count=$((count + 1))
	if (($2 == 0)); then
		echo "ok $count - $1"
		return
	fi
	echo "not ok $count - $1"
	{
		explain
		tail -n 5 "$tmp/boot"
	} 2>&1 | cut -c1-200 | sed 's/^/# /'
	failures=$((failures + 1))
}

end_tests() {
	echo "1..$count"
	exit $((failures > 0))
}

inside() { # COMMAND...
	local -a enter=()
	case $mode in
	system) enter=(nsenter -t "$init" -m -p -n -u -i) ;;
	user) enter=(nsenter -t "$init" -m -n -u -i env XDG_RUNTIME_DIR=/run) ;;
	esac
	timeout -k 5 90 "${enter[@]}" "$@" </dev/null
}

ctl() { # ARG...
	local user=
	[[ $mode == user ]] && user=--user
	inside systemctl $user "$@"
}

prop() { # PROPERTY [UNIT]
	ctl show -P "$1" "${2:-graced.service}"
}

is() { # STATE [UNIT]
	[[ $(prop ActiveState "${2:-graced.service}") == "$1" ]]
}

# The wait has an end only for a test that fails.
await() { # COMMAND...
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

start_here() {
	mkdir -p /run/unit /run/graced/sbin
	cp "$tmp/graced" /run/graced/sbin/graced
	cp -r "$tmp"/unit/. /run/unit/
	find "$tmp/unit" -name '*.service' -exec cp -t "$units" {} +
	: >"$tmp/boot"
	ctl daemon-reload
}

start_systemd() {
	local pid=--pid
	if [[ $mode == here ]]; then
		start_here
		return
	fi
	[[ $mode == user ]] && pid=
	(
		echo $BASHPID >"$cgroup/cgroup.procs" || exit 1
		exec unshare --fork --kill-child $pid --mount --net --uts --ipc \
			"$(realpath "$0")" --boot "$tmp"
	) >"$tmp/boot" 2>&1 </dev/null &
	local outer=$!
	await find_init "$outer"
}

find_init() { # PID OF UNSHARE
	init=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
	init=${init%% *}
	[[ $init && $(cat "/proc/$init/comm" 2>/dev/null) == systemd ]] &&
		ctl is-active -q multi-user.target 2>/dev/null
}
