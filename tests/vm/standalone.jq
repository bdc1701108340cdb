# SPDX-License-Identifier: Apache-2.0
# Holds what witnesses and graced itself report of a machine's end against the rules of
# outside/shutdown.yaml; prints the timeline as comments, then TAP without numbers. Seconds count from
# the request. Of times only their order is claimed, and that nothing is killed early.
#   jq -nr -f standalone.jq --arg scene nothing|order|frozen --argjson asked UPTIME --argjson took SECONDS
#     --rawfile serial FILE --rawfile records FILE

def claim(ok; sentence; details): if ok then "ok - \($scene): " + sentence
	else "not ok - \($scene): " + sentence, (details | "# " + tostring) end;

def ns: . / 1000000000 - $asked;
def shown: (. * 100 | round) / 100 | tostring;
def lines: split("\n")[] | fromjson? | objects;
def sender: "\(.comm) (\(.kind))";
def name: .container.name | rtrimstr(".service");
def is_deaf: name | endswith("-deaf");
def is_free: name | endswith("-free");
def by_graced: .comm == "graced";
def asked_at: .stop_signal.at_boot_ns // 0;
def ended_at: .exit.at_boot_ns;

# Who is in which group, by its place; dockerd starts docker-again whenever it has ended.
def groups: [["worker"], ["docker-good", "docker-deaf", "docker-again"], ["podman-good", "podman-deaf", "quadlet"]];
def priorities: [0, 100, 1000];
# The stop timeout of the deaf ones, less what may lie between a decision and its signal.
def deaf_seconds: 7.5;
def free: ["docker-free", "podman-free"];
# What a frozen dockerd does not stop has no end before systemd's last SIGKILL, when nothing records.
def seen_to_end: free - (if $scene == "frozen" then ["docker-free"] else [] end);
def managed: $scene != "nothing";
def is_ours: name | IN(groups[][], free[]);

def summary: "\(name): \(.outcome), \(.stop_signal.name) by \(.stop_signal.sender | sender) at \(asked_at | ns | shown), \(
	.kill_signal.name) by \(.kill_signal.sender | sender), ended at \(ended_at | ns | shown), \(.evidence)";

[$serial | lines] as $seen | [$records | lines] as $own |
[$seen[] | select(.type == "stop" and is_ours)] as $stops |
[$own[] | select(.type == "stop" and is_ours)] as $recorded |
[$own[] | select(.type == "shutdown")] as $steps |
[$steps[] | select(.event == "announced")][0] as $announced |
[$steps[] | select(.event == "released")][0] as $released |
([$seen[] | select(.type == "lock" and .who == "graced" and (.held | not)).at] | first) as $unlocked |
([$seen[] | select(.type == "frozen").at] | first) as $frozen |

# The first end of each, in the order of the groups: what dockerd starts again is a new container.
def firsts(stops): [groups[] | map(. as $name | [stops[] | select(name == $name)] | min_by(ended_at) | values)];

# --- the timeline ---

([$stops[] | select(.stop_signal) | {t: (asked_at | ns),
		text: "\(name): \(.stop_signal.name) by \(.stop_signal.sender | sender)\(if .deaf then ", which it cannot receive" else "" end)"}]
	+ [$stops[] | {t: (ended_at | ns),
		text: "\(name): dead, \(if .kill_signal then "SIGKILL by " + (.kill_signal.sender | sender) else .outcome end)"}]
	+ [$unlocked | numbers | {t: (. - $asked), text: "graced has released its delay lock"}]
	+ [$frozen | numbers | {t: (. - $asked), text: "dockerd and containerd are frozen"}]
	+ [$steps[] | {t: (.boot_ns | ns), text: "graced: \(.event)\(if .reason then ", " + .reason else "" end)\(
		if .group then ", priority \(.group.priority)" else "" end)\(if .container then ", " + name else "" end)"}]
	+ [{t: $took, text: "the machine is off"}]
	| sort_by(.t)[] | "# \(.t | shown) s\t\(.text)"),

# --- its claims ---

def judge(stops; whose):
	firsts(stops) as $by_group |
	claim([$by_group[][] | name] == [groups[][]]; "\(whose) has the end of all that is managed"; stops[] | summary),
	claim(all($by_group[][]; .stop_signal.sender | by_graced); "... each was asked by graced"; $by_group[][] | summary),
	claim(all($by_group[][]; is_deaf or (.outcome == "graceful" and .kill_signal == null));
		"... what receives its stop signal ends by itself"; $by_group[][] | summary),
	claim(all($by_group[][]; (is_deaf | not) or (.outcome == "killed" and (.kill_signal.sender | by_graced)));
		"... what is deaf is killed by graced"; $by_group[][] | summary),
	claim(all($by_group[][]; (is_deaf | not) or (.kill_signal.at_boot_ns - asked_at) / 1e9 > deaf_seconds);
		"... and not before its time is over"; $by_group[][] | summary),
	claim(all(range(1; $by_group | length); . as $i |
			([$by_group[$i - 1][] | ended_at] | max // infinite) <= ([$by_group[$i][] | asked_at] | min // 0));
		"... each group has ended when the next is asked"; $by_group[][] | summary);

# What ends without a stop signal is a podman that removes the quadlet's container.
def leaves_alone(stops; whose):
	[stops[] | select((is_free or (managed | not)) and .stop_signal)] as $free |
	claim([seen_to_end[], (if managed then empty else groups[1:][][] end)] - [$free[] | name] == [];
		"\(whose) has the end of what no rule matches"; stops[] | summary),
	claim(all($free[]; [.stop_signal.sender, .kill_signal.sender] | map(values | by_graced) | any | not);
		"... graced neither asks nor kills it"; $free[] | summary),
	claim(all($free[]; asked_at > $released.boot_ns); "... it is asked when the lock is released"; $free[] | summary);

claim(($steps | map(.event) | (.[0] == "announced") and .[-1] == "released") and $released.reason == "all-stopped";
	"graced releases its lock because all is stopped"; $steps | map([.event, .reason])),
claim($released.boot_ns - $announced.boot_ns < $released.limit_ns; "... within logind's limit"; $released),

leaves_alone($stops; "the witness"), leaves_alone($recorded; "graced's own record"),

(if managed then
	judge($stops; "the witness"), judge($recorded; "graced's own record"),
	claim([$steps[] | select(.event == "group-started").group.priority] == priorities;
		"the record has the groups in order"; $steps[] | [.event, .group]),
	claim([$steps[] | select(.event == "container-killed") | name | select(. != "docker-again")] == ["docker-deaf", "podman-deaf"];
		"... and that graced killed the deaf ones"; $steps[]),
	([firsts($stops)[][] | ended_at] | max // infinite) as $last |
	claim($released.boot_ns >= $last and $unlocked + 0.02 >= $last / 1e9;
		"the lock is released when the last has ended"; [$released.boot_ns, $unlocked, $last]),
	[$stops[] | select(name == "docker-again" and .stop_signal and asked_at < $released.boot_ns)] as $again |
	claim(all($again[]; .stop_signal.sender | by_graced) and ($scene == "frozen" or ($again | length) > 2);
		"what dockerd starts again before that is stopped by graced again"; $again[] | summary)
else
	claim(($steps | map(.event)) == ["announced", "released"]; "no group begins"; $steps | map(.event))
end),

(if $scene == "frozen" then
	claim($frozen != null and $frozen > $announced.boot_ns / 1e9 - 0.02 and
			all(firsts($stops)[1][]; asked_at / 1e9 > $frozen - 0.02);
		"dockerd and containerd are frozen after the announcement, before a container of Docker is asked";
		[$frozen, $announced.boot_ns], (firsts($stops)[1][] | summary)),
	claim([$stops[] | select(name == "docker-again" and ended_at < $released.boot_ns)] | length == 1;
		"... and dockerd starts nothing again"; $stops[] | select(name == "docker-again") | summary)
else empty end)
