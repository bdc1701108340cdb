#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# graced try: commands that stop well and that do not, hostile ones, and what is left behind. They are
# tried all at once, as they mostly wait. Prints TAP and exits 1 if a claim does not hold.
#   BUILD=build tests/tools/test_try.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=${GRACED:-$build/graced}

((EUID == 0)) || { echo "1..0 # SKIP needs root" && exit 0; }
[[ -r /sys/kernel/btf/vmlinux ]] || { echo "1..0 # SKIP this kernel has no BTF" && exit 0; }
. "$root/tests/lib/tap.sh"

# What a try of this pid has left behind.
cgroups_of() { find /sys/fs/cgroup -maxdepth 3 -name "graced-try-$1" 2>/dev/null; }
running() { pgrep -f "$tmp/mark-$1( |\$)"; } # processes of that case: it has its name in their arguments
await() { # COMMAND...
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return
		sleep 0.05
	done
	return 1
}
# Its last processes may be on their way out.
removed() { find "$1" -depth -type d -exec rmdir {} + 2>/dev/null && [[ ! -d $1 ]]; }
says_nothing() { [[ ! $("$@") ]]; }
await_none() { await says_nothing "$@"; }

# A case: what is to come, and what is tried: the words of try, and the script behind them.
cases=() wants=()
start() { # NAME STATUS REASONS OPTIONS SCRIPT
	local name=$1
	cases+=("$name") wants+=("$2|$3")
	# shellcheck disable=SC2086 # the options are words
	timeout -k 5 $patience "$graced" try -o json $4 -- /bin/sh -c "$5" "$tmp/mark-$name" \
		>"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
	pids+=($!)
}

ready='--ready-log READY --settle 0s'
short="$ready --grace 300ms"
declare -a pids
start well 0 '' "$ready" 'trap "exit 3" TERM; echo REA""DY; while :; do sleep 0.02; done'
start split 0 '' "$ready" 'trap "exit 0" TERM; printf REA; sleep 0.1; printf DY; while :; do sleep 0.02; done'
start deaf 1 '"deaf","killed"' "$short" 'echo READY; exec sleep 600'
start ignores 1 '"deaf","killed"' "$short" 'trap "" TERM; echo READY; exec sleep 600'
start deaf-in-time 1 '"deaf"' "$ready" 'echo READY; exec sleep 1'
start cut 1 '"cut"' "$ready" 'trap "exit 0" TERM; sleep 600 & echo READY; wait'
start slow 1 '"slow"' "$ready --within 100ms" 'trap "sleep 0.5; exit 0" TERM; echo READY; while :; do sleep 0.02; done'
start signal 0 '' "$ready -s USR1" 'trap "exit 0" USR1; echo READY; while :; do sleep 0.02; done'
start init 0 '' "$ready --init" 'echo READY; exec sleep 600'
start init-of-shell 1 '"cut"' "$ready --init" 'sleep 600 & echo READY; wait'
start crash-of-child 1 '"failed"' "$ready --init" 'trap "kill -ABRT \$\$" TERM; echo READY; while :; do sleep 0.02; done'
start stops-itself 1 '"killed","cut"' "$short --init" \
	'p=$$; (while ! grep -q "^State:.T" /proc/$p/status; do sleep 0.02; done; echo READY) & kill -STOP $$; :'
start early 3 '' "$ready" 'exit 5'
start not-found 3 '' "$ready" 'exec /nonexistent/program'
start daemon 3 '' '' 'sleep 600 & exit 0'
start never 3 '' '--ready-log NEVER --ready-timeout 500ms' 'sleep 600'
start gigabytes 3 '' '--ready-log NEVER --ready-timeout 1s' 'yes NEVE; :'
start closed 1 '"deaf","killed"' '--grace 300ms --settle 300ms' 'exec sleep 600 >&- 2>&-'

# Programs of the distribution, unpacked.
if wrappers=$("$root/tools/runtimes" wrappers); then
	libraries=("$wrappers"/usr/lib/*-linux-gnu)
	of() { # PROGRAM ARGUMENTS
		printf 'LD_LIBRARY_PATH=%s exec %s/usr/bin/%s' "${libraries[0]}" "$wrappers" "$*"
	}
	shell="sh -c 'sleep 600 & echo READY; wait; :'"
	start tini 1 '"cut"' "$ready" "$(of tini -- "$shell")"
	start tini-g 0 '' "$ready" "$(of tini -g -- "$shell")"
	start dumb-init 0 '' "$ready" "$(of dumb-init "$shell")"
	start dumb-init-c 1 '"cut"' "$ready" "$(of dumb-init -c "$shell")"
	start catatonit 0 '' "$ready" "$(of catatonit -- "sh -c 'echo READY; exec sleep 600'")"
	start redis 0 '' '--ready-log Ready --settle 0s' "$(of redis-server --port $((30000 + RANDOM % 2000)) --save "''")"
else
	skip "programs of the distribution get theirs" "$wrappers"
fi

bad=0
for i in "${!cases[@]}"; do
	name=${cases[i]} rc=0
	wait "${pids[i]}" || rc=$?
	got=$(grep -oE '"reasons":\[[^]]*\]' "$tmp/$name.out" | sed 's/.*\[\(.*\)\]/\1/')
	[[ "$rc|$got" == "${wants[i]}" && ! $(running "$name") ]] && continue
	echo "# $name: $rc|$got, not ${wants[i]}: $(cut -c1-400 "$tmp/$name.out"; tail -c 200 "$tmp/$name.err")"
	bad=1
done
claim "each command gets the exit status and the reasons that it deserves, and is gone" $bad

grep -q 'sh\[1\] exited with code 3' "$tmp/well.out" && grep -q 'graced-init\[1\] passed SIGTERM to' "$tmp/init.out" &&
	grep -q 'It could not be tried, as it ended before it was ready: sh\[1\] exited with code 5' "$tmp/early.out" &&
	grep -q 'was not ready in time' "$tmp/never.out"
claim "its sentence says what happened" $?
grep -q 'code 0.* has to stay in the foreground' "$tmp/daemon.out" && grep -q 'code 127.* is not found' "$tmp/not-found.out" &&
	[[ ! $(grep -l 'in the foreground' "$tmp"/*.out | grep -v daemon.out) ]]
claim "what exits with code 0 before it is stopped has to stay in the foreground, and no other" $?

# In the hierarchy that is watched: the place of the cgroup of try.
"$graced" try --settle 10m -- /bin/sleep 600 >"$out" 2>"$err" </dev/null &
await eval '[[ $(cgroups_of $!) ]]'
parent=$(dirname "$(cgroups_of $! | head -1)")
kill -TERM $! && wait $!
elsewhere=$parent/graced-elsewhere-$$
mkdir "$elsewhere"
bad=0
for when in before in; do
	move="sleep 600 & echo \$! >$elsewhere/cgroup.procs"
	case $when in
	before) script="$move; trap 'exit 0' TERM; echo READY; while :; do sleep 0.02; done" ;;
	in) script="stop() { $move; sleep 1; exit 0; }; trap stop TERM; echo READY; while :; do sleep 0.02; done" ;;
	esac
	try "$graced" try $ready -- /bin/sh -c "$script"
	((rc == 3)) && grep -q 'a process of it was in another cgroup' "$out" || { bad=1 && echo "# $when: $rc $(<"$out")"; }
done
await_none cat "$elsewhere/cgroup.procs" && rmdir "$elsewhere"
claim "where a process of it is in another cgroup it is not known whether it stops well" $bad

# --- a port ----------------------------------------------------------------------------------------

port=$((20000 + RANDOM % 10000))
server='import signal, socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def stop(*a):
    if sys.argv[2] == "closes": s.close()
    time.sleep(1); sys.exit(0)
signal.signal(signal.SIGTERM, stop)
while True: time.sleep(1)'
bad=0
for manner in closes stays; do
	try "$graced" try -o json --ready-port $port --settle 0s -- /usr/bin/python3 -c "$server" $port $manner
	[[ $manner$rc == closes1 || $manner$rc == stays0 ]] || { bad=1 && echo "# $manner: $rc $(<"$out") $(<"$err")"; }
	[[ $manner == stays ]] || grep -qE '"reasons":\["refused"\].*"refused_ns":[0-9]{9}' "$out" || bad=1
done
claim "a server that refuses connections while it stops does not stop well" $bad

/usr/bin/python3 -c "$server" $port stays &
other=$! && disown
answers() { (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; }
await answers
try "$graced" try --ready-port $port -- /bin/sleep 60
kill -KILL $other
((rc == 3)) && grep -q 'something else listens at its port' "$out"
claim "a port at which something else listens is no sign of readiness" $?

# --- what is left behind ------------------------------------------------------------------------

bad=0
for signal in INT TERM HUP KILL; do
	"$graced" try -o junit --settle 10m -- /bin/sh -c 'sleep 600 & echo UP; wait' "$tmp/mark-$signal" >"$out" 2>"$tmp/err-$signal" </dev/null &
	pid=$!
	await grep -qs UP "$tmp/err-$signal"
	kill -$signal $pid
	rc=0
	wait $pid 2>/dev/null || rc=$?
	await_none running $signal || bad=1
	[[ $signal == KILL ]] || { ((rc == 3)) && [[ ! $(cgroups_of $pid) ]] &&
		grep -q '<error message="It could not be tried: graced was interrupted."' "$out"; } || {
		bad=1 && echo "# $signal: $rc, $(cgroups_of $pid), $(<"$tmp/err-$signal")"
	}
	for dir in $(cgroups_of $pid); do await removed "$dir" || bad=1; done
done
claim "an interrupted try reports that, and leaves no process, and no cgroup unless it was killed" $bad

# Try is stopped until it has ended, so that all of it is there at once.
timeout -k 5 $patience "$graced" try --settle 10m -- \
	/bin/sh -c 'trap "echo BYE; exit 0" TERM; echo UP; while :; do sleep 0.02; done' >"$out" 2>"$err" </dev/null &
await grep -qs UP "$err"
pid=$(pgrep -P $!) && command=$(pgrep -P "$pid")
exec {held}>"/proc/$command/fd/1"
top=$(cgroups_of "$pid")
for dir in "${top:?}"/*/; do mkdir -p "$dir"{a/b,c} && echo "$command" >"${dir}a/b/cgroup.procs"; done
kill -STOP "$pid"
kill -TERM "$command"
await grep -q '^State:.Z' "/proc/$command/status"
kill -CONT "$pid"
rc=0
wait $! || rc=$?
exec {held}>&-
((rc == 3)) && grep -q BYE "$err" && grep -q 'sh\[1\] ended' "$out"
claim "what a command wrote last comes out, and no more is awaited of who else holds its output" $?
[[ ! -d $top ]] && ! grep -q 'cannot remove' "$err"
claim "the cgroups that a command made below its own go with it" $?
[[ ! -d $top ]] || await removed "$top"

# --- where it runs --------------------------------------------------------------------------------

try "$graced" try -- /nonexistent/program
((rc == 3)) && grep -q 'cannot execute it: No such file or directory' "$out"
bad=$?
try "$graced" try -- /etc/passwd
((rc == 3)) && grep -q 'cannot execute it: Permission denied' "$out" || bad=1
claim "a command that cannot be executed is named, with the reason" $bad

try setpriv --reuid 65534 --clear-groups --inh-caps=-all "$(open_copy "$graced")" try -- /bin/true
refused 3 'cannot make the cgroup .*as root, in a container with --privileged'
claim "without privileges it says in a line what it lacks" $?

v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [[ $v2 ]]; then
	mkdir "$v2/graced-part-$$" && try bash -c 'echo $$ >"$1/cgroup.procs" && exec unshare -C -m -p -f --mount-proc bash -c "
		umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit 99
		\"\$0\" try --hierarchy unified --grace 300ms --settle 300ms -- /bin/sleep 600" "$2"' - "$v2/graced-part-$$" "$graced"
	((rc == 1)) && grep -q 'never heard it' "$out" && quiet "$err"
	claim "it runs in a container that sees its own cgroups and processes alone" $?
	await_none cat "$v2/graced-part-$$/cgroup.procs"
	rmdir "$v2/graced-part-$$"
else
	skip "it runs in a container that sees its own cgroups and processes alone" "no cgroup2 is mounted"
fi

# --- containers by their names, which a stand-in for docker stops ------------------------------------

mkdir -p "$tmp/bin" "$tmp/docker/containers"
cat >"$tmp/bin/docker" <<'END'
#!/bin/bash
# docker stop [-t SECONDS] [-s SIGNAL] ID
[[ $OLD != yes || " $* " != *" -s "* ]] || { echo "unknown shorthand flag: 's' in -s" >&2 && exit 125; }
echo "$*" >>"$HERE/asked" && shift
grace=10 signal=SIGTERM
while (($# > 1)); do
	[[ $1 == -t ]] && grace=$2 || signal=$2
	shift 2
done
pid=$(<"$HERE/$1")
kill "-$signal" "$pid"
for ((i = 0; i < 10 * grace; i++)); do
	kill -0 "$pid" 2>/dev/null || exit 0
	sleep 0.1
done
kill -KILL "$pid"
END
chmod +x "$tmp/bin/docker"
mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
top=${mount:-$v2}/graced-tried-$$
mkdir "$top"
has_begun() { pid=$(pgrep -P "$1") && [[ $(<"/proc/$pid/comm") != bash ]]; }
container() { # NAME SCRIPT [UNIT]
	id=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
	cgroup=$top/${3:-docker-$id.scope}
	mkdir "$cgroup" "$tmp/docker/containers/$id"
	printf '{"ID":"%s","Name":"/%s","Config":{"Image":"app"}}' "$id" "$1" >"$tmp/docker/containers/$id/config.v2.json"
	# The fork is PID 1 in there, and its parent unshare waits outside.
	unshare -p -f --kill-child bash -c 'echo $BASHPID >"$1/cgroup.procs"; exec /bin/sh -c "$2" "$3"' - \
		"$cgroup" "$2" "$tmp/mark-$1" </dev/null >/dev/null 2>&1 &
	await has_begun $! 2>/dev/null
	disown
	echo "$pid" >"$tmp/$id"
}
hears='trap "exit 0" TERM USR1; while :; do sleep 0.02; done'
container web "$hears"
container web-2 "$hears"
container db 'exec sleep 600'
container late "$hears"
export OLD=no
tried() { HERE=$tmp PATH=$tmp/bin:$PATH try "$graced" try --names.docker-root "$tmp/docker" "$@"; }

tried twice
((rc == 3)) && grep -q 'no container that runs is called so' "$out"
bad=$?
tried we*
((rc == 3)) && grep -q '2 containers that run are called so' "$out" && [[ ! -e $tmp/asked ]] || bad=1
claim "a name that no container has, or more than one, stops none" $bad

tried -o json -t 1 db web
((rc == 2)) && tried -o json --grace 1s db web
((rc == 1)) && grep -q '"name":"db","verdict":"not-well","reasons":\["deaf","killed"\]' "$out" &&
	grep -q '"name":"web","verdict":"well"' "$out" && [[ $(cut -d' ' -f1-3 "$tmp/asked" | sort -u) == "stop -t 1" ]]
claim "their runtime stops containers, and the worst of them decides" $?

OLD=yes tried -s USR1 web-2
((rc == 3)) && grep -q 'this docker stop has no option for the signal.*docker kill -s.*--watch' "$out"
claim "of a Docker before 23.0 it says what sends a signal instead" $?
tried -s USR1 web-2
((rc == 0)) && grep -q 'ended .* after SIGUSR1' "$out" && grep -q '^stop -s SIGUSR1 ' "$tmp/asked"
claim "a signal is passed to the runtime" $?

kills=$(for f in "$tmp"/*; do [[ ${f##*/} =~ ^[0-9a-f]{64}$ ]] && echo "$f"; done)
: >"$err"
(await grep -q 'waiting until somebody stops late' "$err" && for f in $kills; do kill -TERM "$(<"$f")"; done) 2>/dev/null &
tried --watch late
((rc == 0)) && grep -q '^late: It stops well' "$out" && (($(lines "$tmp/asked") == 3))
claim "a container that somebody else stops is watched" $?

# A process that it made, before its stop or in it, and one that came in from outside.
mkdir "$elsewhere"
move="sleep 600 & echo \$! >$elsewhere/cgroup.procs"
container moved "$move; $hears"
container moves "trap '$move; sleep 1; exit 0' TERM; while :; do sleep 0.02; done"
container entered "$hears"
nsenter -p -t "$pid" sleep 600 &
disown
tried -o json moved moves entered
((rc == 3)) && (($(grep -cE '"name":"(moved","verdict":"unknown","reasons":\["not-seen"\]|moves","verdict":"unknown","reasons":\["not-seen"\]|entered","verdict":"well")' "$out") == 3))
claim "of a container, too, where a process that it made is in another cgroup" $?
await_none cat "$elsewhere/cgroup.procs" && rmdir "$elsewhere"
mkdir "$top/my-tried-$$.service"
container unit "sleep 600 & echo \$! >$top/my-tried-$$.service/cgroup.procs; $hears" tried-$$.service
: >"$err"
(await grep -q 'waiting until somebody stops' "$err" && kill -TERM "$pid") 2>/dev/null &
tried --watch tried-$$.service
((rc == 3)) && grep -q 'a process of it was in another cgroup' "$out"
claim "a cgroup whose name ends with that of a service is another one" $?
container hidden "$hears"
{ echo "$pid" && yes '' | head -c 2000000; } >"$tmp/procs"
# shellcheck disable=SC2016 # $0 is the inner shell's
HERE=$tmp PATH=$tmp/bin:$PATH try unshare -m bash -c 'mount --bind "$1" "$2" && exec "$0" try --names.docker-root "$3" hidden' \
	"$graced" "$tmp/procs" "$cgroup/cgroup.procs" "$tmp/docker"
((rc == 3)) && grep -q 'where its processes were is not known' "$out"
claim "where the processes of a container cannot be read it is not known whether it stops well" $?
for dir in "$top"/*/; do await_none cat "$dir/cgroup.procs" && rmdir "$dir"; done
rmdir "$top"

bad=0
while IFS='|' read -r words want; do
	read -ra args <<<"$words"
	try "$graced" try "${args[@]}"
	refused 2 "$want" || { bad=1 && echo "# try $words: $rc, $(<"$err")"; }
done <<-'END'
	|which command
	--|which command
	--init web|--ready-log, --ready-port and --init are for a command
	--watch -- sleep 5|--watch is for containers
	--watch --grace 1s web|--watch waits until somebody else
	--grace 1500ms web|whole seconds
	!web|'!web' is no name
	a -- sleep 5|'a' stands before the --
	-s TERM,INT -- sleep 5|--signal wants one signal
	-s STOP -- sleep 5|SIGKILL and SIGSTOP ask nothing
	-s KILL -- sleep 5|SIGKILL and SIGSTOP ask nothing
	-s CHLD -- sleep 5|SIGCHLD, SIGCONT and SIGURG are not recorded
	-s CONT -- sleep 5|SIGCHLD, SIGCONT and SIGURG are not recorded
	-s URG -- sleep 5|SIGCHLD, SIGCONT and SIGURG are not recorded
	-o xml -- sleep 5|--output wants table, json, junit or github
	--ready-port 70000 -- sleep 5|a port from 1 to 65535
	--grace 0s -- sleep 5|--grace wants
END
claim "wrong use is named" $bad

conclude
