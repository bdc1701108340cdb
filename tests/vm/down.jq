# SPDX-License-Identifier: Apache-2.0
# Holds what the witnesses of a shutdown tell against what its scene promises; prints the timeline as
# comments, then TAP without numbers. Seconds count from the moment that the shutdown was asked for.
#   jq -nr -f down.jq --arg scene NAME --argjson asked UPTIME --argjson off_at UPTIME
#     --rawfile serial FILE --slurpfile watch FILE --slurpfile pods FILE

def claim(ok; sentence; details): if ok then "ok - \($scene): " + sentence
	else "not ok - \($scene): " + sentence, (details | "# " + tostring) end;

def after_boot: . - $asked;
def ns: . / 1000000000 | after_boot;
def shown: (. * 100 | round) / 100 | tostring;

($scene | IN("cancelled", "logind", "dbus")) as $upset |

def own: IN("good", "slow", "deaf", "still-vm-node", "vital-vm-node");
def terminal: .phase == "Failed" or .phase == "Succeeded";
def unready: all(.conditions[]?; .type != "Ready" or .status != "True");
def ended: .status | terminal and unready;

[$serial | split("\n")[] | fromjson? | objects] as $reports |
[$reports[] | select(.type == "stop" and .container.kind != "sandbox" and (.pod.name | own))] as $stops |
[$reports[] | select(.type == "shutdown")] as $steps |
[$reports[] | select(.type == "lock" and .what == "shutdown" and .mode == "delay" and (.held | not)) |
	{who, t: (.at | after_boot)}] as $locks |
[$watch[] | select(.event.type != "DELETED" and (.event.object.metadata.name | own) and (.event.object | ended)) |
	{name: .event.object.metadata.name, status: .event.object.status, t: (.at | after_boot)}] |
	group_by(.name) | map(min_by(.t)) as $said |
[$pods[0].items[] | select(.metadata.name | own)] as $last |
[$reports[] | select(.type == "slow") | . + {t: (.at | after_boot)}] as $slow |
($off_at | after_boot) as $off |
([$locks[] | select(.who == "graced").t] | first) as $let_go |
([$steps[] | select(.event == "released")] | first) as $released |

def slow($event): [$slow[] | select(.event == $event).t][0] // 0;
def who: if .kill_signal then "SIGKILL by \(.kill_signal.sender.comm) (\(.kill_signal.sender.kind)) at \(.kill_signal.at_boot_ns | ns | shown) s"
	else .outcome end;

# --- the timeline ---

([$stops[] | select(.stop_signal) | {t: (.stop_signal.at_boot_ns | ns),
		text: "\(.pod.name): \(.stop_signal.name) by \(.stop_signal.sender.comm)\(if .deaf then ", which it never heard" else "" end)"}]
	+ [$stops[] | {t: (.exit.at_boot_ns | ns), text: "\(.pod.name): dead, \(who)"}]
	+ [$locks[] | {t, text: "\(.who) lets its delay lock go"}]
	+ [$steps[] | {t: (.boot_ns | ns), text: "graced: \(.event)\(if .reason then ", " + .reason else "" end)\(if .pod then " (" + (.pod.name // .pod.uid) + ")" else "" end)"}]
	+ [$slow[] | select(.event | IN("stopped", "continued", "starves")) | {t, text: "the kubelet: \(.event)"}]
	+ [$said[] | {t, text: "the API says of \(.name): \(.status.phase), \(.status.reason), not Ready"}]
	+ [$last[] | select(ended | not) | {t: $off, text: "the API still says of \(.metadata.name): \(.status.phase), \(if .status | unready then "not " else "" end)Ready"}]
	+ [{t: $off, text: "the machine is off"}]
	| sort_by(.t)[] | "# \(.t | shown) s\t\(.text)"),

# --- its claims ---

(if $upset then empty else
claim(($stops | map(.pod.name) | sort) == (["good", "slow", "deaf", "still-vm-node", "vital-vm-node"] | sort);
	"each container's stop is reported once"; $stops | map(.pod.name))
end),

claim(all($stops[]; .pod.name == "deaf" or .outcome == "graceful"); "who hears its stop signal leaves by itself";
	$stops[] | "\(.pod.name): \(who)"),

(if $scene == "none" or $upset then empty else
	claim($let_go != null and $released != null and any($steps[]; .event == "announced");
		"graced holds its lock when the shutdown is announced, and lets it go"; $steps | map(.event)),
	claim($let_go != null and $released != null and $let_go < $released.limit_ns / 1000000000;
		"graced lets go before the limit of logind's"; $let_go, $released.limit_ns)
end),

(if $upset then
	claim([$steps[] | select(.event == "released") | .boot_ns - .announced_boot_ns < .limit_ns] | length > 0 and all;
		"graced never holds past the limit of logind's"; $steps[] | {event, reason, boot_ns, announced_boot_ns, limit_ns})
else empty end),

(if $scene == "observe" then
	claim($released.reason | IN("all-empty", "no-other-lock"); "graced lets go when all is empty, or nobody else holds";
		$released.reason),
	claim(all($stops[]; .kill_signal == null or .kill_signal.sender.comm != "graced"); "graced ends nothing";
		$stops[] | who)
else empty end),

(if $scene | IN("assist", "deaf", "killed", "stopped", "starved") then
	claim(all($stops[]; .exit.at_boot_ns / 1000000000 - $asked <= ($let_go // -1) + 0.2);
		"every container is dead before the lock goes"; $stops[] | "\(.pod.name): \(.exit.at_boot_ns | ns | shown)"),
	claim($last | all(ended); "the API has each pod as ended and not Ready";
		$last[] | "\(.metadata.name): \(.status.phase), \(.status.conditions)"),
	# A graced that is there again when all have ended has seen none of them being stopped.
	(if $scene == "killed" and all($stops[]; .exit.at_boot_ns < ([$steps[] | select(.event == "announced").boot_ns] | last))
		then "nobody-stops" else "pods-ended" end) as $reason |
	claim($released.reason == $reason and ($said | length) == 5 and all($said[]; .t <= $let_go + 2);
		"... before the lock goes, which is why it goes"; $released.reason, ($said | map({name, t})))
else empty end),

([$stops[] | select(.pod.name == "deaf")] | first) as $deaf |
(if $scene == "assist" then
	claim($deaf.exit.at_boot_ns - $deaf.stop_signal.at_boot_ns <= 35000000000;
		"the deaf one is dead within its time, the slack, and what an emulator takes"; $deaf | who)
else empty end),

(if $scene | IN("assist", "killed") then
	claim(if $deaf.kill_signal.sender.comm == "graced" then any($steps[]; .event == "container-killed" and (.stop.deaf | not))
		else all($steps[]; .event != "container-killed") end; "who killed it is reported"; $deaf | who)
elif $scene == "deaf" then
	claim($deaf.kill_signal.sender.comm == "graced" and any($steps[]; .event == "container-killed" and .stop.deaf)
		and $deaf.exit.at_boot_ns - $deaf.stop_signal.at_boot_ns < 12000000000;
		"the deaf one is ended by graced, well before its time"; $deaf | who)
else empty end),

(if $scene == "stopped" then
	claim(slow("stopped") >= ($deaf.exit.at_boot_ns | ns) - 0.1 and
			slow("continued") - slow("stopped") >= 7.9 and slow("continued") < $let_go;
		"the kubelet stands still for 8 s when the deaf one has died, while graced holds its lock";
		($deaf.exit.at_boot_ns | ns), $slow[])
elif $scene == "starved" then
	[$slow[] | select(.event == "throttled" and .t >= 0 and .t <= $let_go)] as $held |
	claim(($held | length) > 1 and $held[-1].usec - $held[0].usec >= 1000000;
		"the kubelet waits for its CPU for a second and more, while graced holds its lock";
		($held | length), $held[0], $held[-1])
else empty end),

(if $scene == "killed" then
	claim([$reports[] | select(.type == "lock" and .who == "graced") | .held] == [true, false];
		"the lock outlives the daemon: it is taken once, and let go once"; $reports[] | select(.type == "lock"))
else empty end)
