# SPDX-License-Identifier: Apache-2.0
# Holds the lives of pods, as they are reported, against the ends of their containers; prints TAP without
# numbers.
#   jq -nr -f states.jq --argjson pods COUNT --slurpfile records RECORDS

def claim($ok; sentence; details): if $ok then "ok - " + sentence
	else "not ok - " + sentence, (details | "# " + .) end;

[$records[] | select(.type == "pod" and .pod.namespace == "default")] as $named |
([$named[].pod.uid] | unique) as $uids |
([$uids[] as $uid | {
	name: ([$named[] | select(.pod.uid == $uid)][0].pod.name),
	moves: [$records[] | select(.type == "pod" and .pod.uid == $uid)] | sort_by(.at_boot_ns),
	stops: [$records[] | select(.type == "stop" and .pod.uid == $uid)]}]) as $lives |

def at($state): [.moves[] | select(.state == $state)][0].at_boot_ns // 0;
def ends: [.stops[].exit.at_boot_ns // 0];
def summary: "\(.name): \([.moves[] | "\(.state) by \(.trigger)"] | join(", "))";

claim(($lives | length) == $pods and all($lives[];
		[.moves[].state] == ["sync", "terminating", "terminated", "finished"]);
	"each of \($pods) pods comes to be sync, terminating, terminated and finished, once";
	$lives[] | summary),
claim(all($lives[]; at("terminated") >= (ends | max // 0));
	"none is terminated before its last process has ended";
	$lives[] | "\(.name): \(at("terminated")), ends \(ends)"),
claim(all($lives[]; at("terminated") - (ends | max // 0) < 5000000000);
	"nor long after it";
	$lives[] | "\(.name): \(at("terminated")), ends \(ends)"),
# The sandbox of a pod that has run through ends when the pod is over, and not deleted yet.
claim(all($lives[]; at("terminating") as $at | all(.stops[];
		.pod_terminating or .container.kind == "sandbox" or .exit.at_boot_ns <= $at));
	"no container that crashed, or failed its probe, was a pod's end";
	$lives[] | summary)
