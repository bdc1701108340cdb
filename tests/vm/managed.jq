# SPDX-License-Identifier: Apache-2.0
# Holds what the witnesses of a shutdown in mode manage saw against the rules for it; prints the timeline
# as comments, then TAP without numbers. Seconds count from the request.
#   jq -nr -f managed.jq --arg scene NAME --argjson asked UPTIME --argjson off SECONDS
#     --argjson kubelet '[{"state", "since": UPTIME}]' --argjson hooked true|false --slurpfile observed FILE

def claim(ok; sentence; details): if ok then "ok - \($scene): " + sentence
	else "not ok - \($scene): " + sentence, (details | "# " + tostring) end;

def seconds: . / 1000000000 - $asked;
def shown: (. * 100 | round) / 100 | tostring;

{good: 0, deaf: 0, hurried: 0, crew: 1000, held: 1000, hook: 1000, last: 2000} as $groups |

[$observed[] | select(.type == "stop")] as $ends |
[$ends[] | select(.container.kind != "sandbox") | . + {group: $groups[.pod.name // ""],
	name: "\(.pod.name)/\(.container.name)", asked: (.stop_signal.at_boot_ns // null | if . then seconds else . end),
	exited: (.exit.at_boot_ns | seconds), killed: (if .kill_signal then .kill_signal.at_boot_ns | seconds else null end)}] as $stops |
[$observed[] | select(.type == "shutdown") | . + {t: (.boot_ns | seconds)}] as $steps |
[$observed[] | select(.type == "lock" and .what == "shutdown" and .mode == "delay" and (.held | not)) |
	{who, t: (.at - $asked)}] as $locks |
([$locks[] | select(.who == "graced").t] | last) as $unlocked |
([$steps[] | select(.event == "released")] | last) as $released |

def stops($name): [$stops[] | select(.name == $name)];
def stop($name): stops($name)[0];
def begun($priority): [$steps[] | select(.event == "group-started" and .group.priority == $priority)] | last;
def done($priority): [$steps[] | select(.event == "group-done" and .group.priority == $priority)] | last;
# The runtime had not answered for 2 s when graced sent the signal itself, as in an emulator that is starved.
# Then it had not stopped the others of the group either: a hook alone that is not requested is a fault.
def by_graced($priority): .stop_signal.sender.comm == "graced" and .asked >= begun($priority).t + 2 and
	.asked < begun($priority).t + 8;
def is_overtaken($priority): by_graced($priority) and all(stop("held/main", "crew/main"); by_graced($priority));
def who: if .kill_signal then "SIGKILL by \(.kill_signal.sender.comm) (\(.kill_signal.sender.kind)) at \(.killed | shown) s" else .outcome end;

# --- the timeline ---

([$stops[] | select(.stop_signal) | {t: .asked, text: "\(.name): \(.stop_signal.name) by \(.stop_signal.sender.comm)"}]
	+ [$stops[] | {t: .exited, text: "\(.name): ended, \(who)"}]
	+ [$ends[] | select(.container.kind == "sandbox") | {t: (.exit.at_boot_ns | seconds),
		text: "\(.pod.name)/sandbox: ended, \(.outcome), last signal by \((.kill_signal // .stop_signal).sender.comm // "unknown")"}]
	+ [$locks[] | {t, text: "\(.who) releases its delay lock"}]
	+ [$kubelet[] | {t: (.since - $asked), text: "kubelet.service: \(.state)"}]
	+ [$steps[] | {t, text: "graced: \(.event)\(if .reason then ", " + .reason else "" end)\(if .group then " (from priority \(.group.priority)\(if .group.timed_out then ", timed out" else "" end))" else "" end)\(if .pod then " (\(.pod.name // .pod.uid))" else "" end)"}]
	+ [{t: $off, text: "the machine is off"}]
	| sort_by(.t)[] | "# \(.t | shown) s\t\(.text)"),

# --- its claims ---

(if $scene != "cancelled" then
	claim($kubelet[0].state == "inactive" and all($stops[]; .asked >= $kubelet[0].since - $asked);
		"the kubelet is stopped before any container is asked to"; $kubelet[], ($stops[] | {name, asked})),
	([0, 1000], [1000, 2000] | . as [$former, $next] |
		([$stops[] | select(.group == $former).exited] | max) as $empty |
		([$stops[] | select(.group == $next).asked] | min) as $first |
		claim($first >= ([$empty, begun($former).t + begun($former).group.length_ns / 1000000000] | min);
			"no container from priority \($next) is asked before those from \($former) are over"; $first, $empty, begun($former)))
else empty end),

(if $scene == "managed" then
	claim(($stops | map(.name) | sort) == (($groups | keys | map(. + "/main")) + ["crew/proxy", "late/main"] | sort);
		"each container stops once"; $stops | map(.name)),
	claim([$steps[] | select(.event | IN("group-started", "group-done")) | [.event, .group.priority]] ==
		[0, 1000, 2000 | ["group-started", .], ["group-done", .]];
		"three groups follow one another, and one without pods is skipped"; $steps[] | [.event, .group]),
	(stop("deaf/main") | claim(.killed >= begun(0).t + 10 and .killed < begun(0).t + 60;
		"a grace period that is longer than the group's time is cut to that"; who, begun(0))),
	(stop("hurried/main") | claim(.killed >= .asked + 4 and .killed < stop("deaf/main").killed;
		"one that is shorter counts"; who, .asked, stop("deaf/main").killed)),
	claim(stop("crew/proxy").asked >= stop("crew/main").exited;
		"a sidecar is asked when the other container of its pod is over"; stop("crew/proxy", "crew/main")),
	(stop("hook/main") | if is_overtaken(1000) then
		"skip - \($scene): a preStop hook runs to its end, before its container is asked # SKIP the runtime took over 2 s to answer"
	else
		claim($hooked; "a preStop hook runs to its end"; who),
		claim(.asked >= begun(1000).t + 8 and .killed >= .asked and .killed < .asked + 16;
			"a preStop hook runs first, and what it takes is no longer the container's"; ., who)
	end),
	(stop("late/main") | claim(.asked > 0 and .killed >= .asked + 10 and .killed < .asked + 60;
		"a container that began in the shutdown is stopped, with the time of its group"; ., who)),
	claim([done(1000, 2000).group.timed_out] == [false, false]; "a group that is empty ends early"; done(1000, 2000))
else empty end),

(if $scene == "cancelled" then
	claim($kubelet | map(.state) == ["inactive", "active", "inactive", "active"];
		"the kubelet is stopped in each shutdown, and started again when that is cancelled"; $kubelet[])
elif $scene == "killed" then
	claim([$observed[] | select(.type == "lock" and .who == "graced") | .held] == [true, false];
		"the lock outlives the daemon: it is taken once, and released once"; $observed[] | select(.type == "lock")),
	claim([$steps[] | select(.event == "group-started") | .group.priority] | . == sort;
		"the daemon goes on with the group it was at"; $steps[] | [.event, .group])
else empty end),

claim($released.reason == "all-stopped" and all($stops[]; .exited <= $released.t);
	"graced releases its lock when the last container is empty"; $released, ($stops[] | {name, exited})),
claim($released.t - ($released.announced_boot_ns | seconds) < 160 and $unlocked < $off;
	"... and before the time of all groups is over"; $released, $unlocked),
claim(all($stops[]; [.stop_signal, .kill_signal | .sender.comm] | index("systemd") | not);
	"systemd finds no container to wait for"; $stops[] | {name, stop: .stop_signal.sender.comm, kill: .kill_signal.sender.comm})
