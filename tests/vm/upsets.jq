# SPDX-License-Identifier: Apache-2.0
# Holds what is reported of pods that lose their objects, their kubelet or their runtime while they end
# against the kernel's times and the API; prints TAP without numbers.
#   jq -nr -f upsets.jq --slurpfile records R --slurpfile watch W --rawfile metrics M

def claim($ok; sentence; details): if $ok then "ok - " + sentence
	else "not ok - " + sentence, (details | "# " + .) end;

# RFC 3339 with up to nine digits of a second, in seconds since 1970.
def seconds: capture("^(?<s>[^.Z]*)(?<f>\\.[0-9]+)?Z$") |
	(.s + "Z" | fromdate) + ("0" + (.f // "") | tonumber);

def life: ["sync", "terminating", "terminated", "finished"];

# How often each of them lives.
{forced: 1, edited: 1, serving: 1, left: 1, "again-vm-node": 2, "cut-vm-node": 1} as $lives |
[$records[] | select(.pod.name // "" | in($lives))] as $reports |
def of($type; $name): [$reports[] | select(.type == $type and .pod.name == $name)];

# Each life by itself: a stop belongs to the last that had begun.
[$lives | keys[] as $name | of("pod"; $name) | sort_by(.at_boot_ns) as $moves |
	[$moves[] | select(.state == "sync").at_boot_ns] as $begins |
	range($begins | length) as $i | {
		name: $name,
		moves: $moves[$i * 4:($i + 1) * 4],
		stops: [of("stop"; $name)[] |
			select(.exit.at_boot_ns >= $begins[$i] and
				.exit.at_boot_ns < ($begins[$i + 1] // infinite))]}] as $each |

def at($state): [.moves[] | select(.state == $state)][0].at_boot_ns // 0;
def last_end: [.stops[].exit.at_boot_ns] | max // 0;
def words: "\(.name): \([.moves[] | "\(.state) by \(.trigger) at \(.at_boot_ns)"] | join(", "));" +
	" ends at \([.stops[].exit.at_boot_ns])";

# When the API had the Ready condition of a pod last as True no more.
def unready($name): [$watch[].object | select(.metadata.name == $name) | .status.conditions[]? |
	select(.type == "Ready" and .status == "False")][-1].lastTransitionTime | seconds;
# A poll: how many seconds after an answer the kubelet is asked again, and how many it has to answer;
# and the API's times are whole ones.
(30 + 10) as $poll | 1 as $whole |
of("pod_ready"; "serving") as $ready |
[of("stop"; "serving")[] | select(.container.name == "main")][0] as $stop |

claim([$lives | keys[] as $name | of("pod"; $name) | sort_by(.at_boot_ns) | map(.state)] ==
		[$lives | keys[] as $name | [range($lives[$name]) | life[]]];
	"each of the \($lives | length) upset pods comes to its end, and one that is put back does so twice";
	$each[] | words),
claim(all($each[]; ([.stops[].container.kind] | unique == ["container", "sandbox"]) and
		at("terminated") >= last_end);
	"none is terminated before its last process has ended";
	$each[] | words),
claim(all($each[]; at("terminated") - last_end < 5000000000);
	"nor long after it";
	$each[] | words),
claim(any($watch[].object; .metadata.name == "edited" and .metadata.labels.edited == "yes" and
		(.spec.activeDeadlineSeconds == 100000));
	"that a pod was edited moved nothing";
	"the API did not tell of it"),
# Nobody lists these while they end: one without an object, and static ones without a manifest.
["forced", "again-vm-node", "cut-vm-node"] as $gone |
[$reports[] | select(.type == "discrepancy" and (.kind | IN("exit-time", "exit-late") | not))] as $differs |
claim(all($differs[]; .kind == "object-gone-processes-live" and (.pod.name | IN($gone[])) and
		(.reported.listed | not) and .kernel.populated);
	"nothing that the kubelet says differs from what was, but that it lists no pod that it has lost";
	$differs[] | tojson),
claim(all($differs[]; . as $d | any($each[]; .name == $d.pod.name and
		at("terminating") <= $d.since_boot_ns and $d.boot_ns <= last_end));
	"that one is gone is reported while its processes live";
	($differs[] | "\(.pod.name): since \(.since_boot_ns), reported at \(.boot_ns)"), ($each[] | words)),
claim([$differs[].pod.name | select(. == "cut-vm-node")] == ["cut-vm-node"];
	"it is reported of the one that takes 60 seconds without a runtime";
	$differs[] | tojson),
claim(($ready | length) == 1 and $ready[0].stop_boot_ns == $stop.stop_signal.at_boot_ns;
	"a pod is reported to have been Ready since the stop signal to its container";
	($ready[] | tojson), ($stop | tojson)),
claim(unready("serving") + $whole >= ($stop.time | seconds);
	"it was so in the API until its container ended";
	"\(unready("serving")), ended \($stop.time)"),
claim(($ready[0].time | seconds) as $until |
		$until >= unready("serving") and $until <= unready("serving") + $whole + $poll;
	"until when is reported within one poll";
	"until \($ready[0].time), in the API \(unready("serving") | todate)"),
claim([$records[] | select(.type == "pod_ready")] | length > 0 and all(group_by(.pod.workload)[];
		. as $of | "{namespace=\"\($of[0].pod.namespace)\",workload=\"\($of[0].pod.workload)\"}" as $labels |
		def metric($what): [$metrics | split("\n")[] |
			select(startswith("graced_pod_ready_while_terminating_seconds_\($what)\($labels) ")) |
			split(" ")[1] | tonumber][0] // 0;
		metric("count") == ([$of[] | select(.evidence.complete)] | length) and
		((metric("sum") - ([$of[].ready_ns // 0] | add) / 1e9) | fabs) < 0.001);
	"how long pods were Ready while they were stopped is what the metrics have";
	$metrics | split("\n")[] | select(test("_(sum|count)"))),
"# Ready for \($ready[0].bounds | "\(.min_ns / 1e9) to \(.max_ns / 1e9)") s, as reported \(
	($ready[0].time | seconds) - unready("serving")) s after the API's second"
