# SPDX-License-Identifier: Apache-2.0
# Holds what witnesses and graced itself tell of a machine's end against what is promised; prints the
# timeline as comments, then TAP without numbers. Seconds count from the moment it was asked for.
#   jq -nr -f engines.jq --arg scene NAME --arg mode none|observe --argjson asked UPTIME
#     --argjson took SECONDS --rawfile serial FILE --rawfile records FILE

def claim(ok; sentence; details): if ok then "ok - \($scene): " + sentence
	else "not ok - \($scene): " + sentence, (details | "# " + tostring) end;

def ns: . / 1000000000 - $asked;
def shown: (. * 100 | round) / 100 | tostring;
def reported: split("\n")[] | fromjson? | objects;
def sender: "\(.comm) (\(.kind))";
def name: .container.name;
def is_deaf: name | endswith("-deaf");

# Who asks: dockerd by runc, podman by crun; in a scope that systemd stops, systemd and the monitor.
def asked_by: {"docker-good": ["runtime"], "docker-deaf": ["runtime"], "podman-good": ["systemd", "runtime"],
	"podman-deaf": ["systemd", "runtime"], "quadlet": ["runtime"]};
def killed_by: {"docker-deaf": "runtime", "podman-deaf": "systemd"};
def runtimes: {"docker-good": "docker", "docker-deaf": "docker", "podman-good": "podman",
	"podman-deaf": "podman", "quadlet": "podman"};

def summary: "\(name): \(.outcome), \(.stop_signal.name) by \(.stop_signal.sender | sender), \(.kill_signal.name) by \(.kill_signal.sender | sender), \(.evidence)";

def judge(stops; whose):
	claim((stops | map({key: name, value: .container.runtime}) | sort_by(.key)) == (runtimes | to_entries | sort_by(.key));
		"\(whose) tells each container's end once, by its name"; stops[] | summary),
	claim(all(stops[]; is_deaf or (.outcome == "graceful" and .kill_signal == null));
		"... who hears the stop signal leaves by itself"; stops[] | summary),
	claim(all(stops[]; (is_deaf | not) or (.outcome == "killed" and .deaf));
		"... who is deaf is killed"; stops[] | summary),
	claim(all(stops[]; .stop_signal.sender.kind as $kind | any(asked_by[name][]; . == $kind));
		"... who asked is reported"; stops[] | summary),
	claim(all(stops[]; .kill_signal.sender.kind == killed_by[name]);
		"... who killed is reported: dockerd by runc, systemd of a scope"; stops[] | summary);

[$serial | reported] as $reports | [$records | reported] as $own |
[$reports[] | select(.type == "stop" and .container.runtime)] as $stops |
[$own[] | select(.type == "stop" and .container.runtime)] as $recorded |
[$own[] | select(.type == "shutdown")] as $steps |
([$reports[] | select(.type == "lock" and .who == "graced" and (.held | not)).at - $asked] | first) as $let_go |
([$stops[].stop_signal.at_boot_ns // empty | ns] | min) as $first |

# --- the timeline ---

([$stops[] | select(.stop_signal) | {t: (.stop_signal.at_boot_ns | ns),
		text: "\(name): \(.stop_signal.name) by \(.stop_signal.sender | sender)\(if .deaf then ", which it never heard" else "" end)"}]
	+ [$stops[] | {t: (.exit.at_boot_ns | ns),
		text: "\(name): dead, \(if .kill_signal then "SIGKILL by " + (.kill_signal.sender | sender) else .outcome end)"}]
	+ [$let_go | numbers | {t: ., text: "graced lets its delay lock go"}]
	+ [$steps[] | {t: (.boot_ns | ns), text: "graced: \(.event)\(if .reason then ", " + .reason else "" end)"}]
	+ [{t: $took, text: "the machine is off"}]
	| sort_by(.t)[] | "# \(.t | shown) s\t\(.text)"),

# --- its claims ---

judge($stops; "the witness"),

([$records | split("\n")[] | select(contains("ordering cycle"))] as $cycles |
	claim($cycles == []; "systemd can stop all units in their order"; $cycles[])),

(if $mode == "observe" then
	judge($recorded; "graced's own record"),
	claim(($steps | map(.event)) == ["announced", "released"] and ($steps[1].reason | IN("all-empty", "no-other-lock"));
		"graced lets its lock go, as there is no pod and nobody else holds one"; $steps | map([.event, .reason])),
	claim($let_go != null and ($steps[1].boot_ns | ns) < $first;
		"... before any container is asked to stop"; [$let_go, $first]),
	claim(all($stops[], $recorded[]; .stop_signal.sender.comm != "graced" and .kill_signal.sender.comm != "graced");
		"graced asks and ends nobody"; $stops[] | summary)
else empty end)
