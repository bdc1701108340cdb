# SPDX-License-Identifier: Apache-2.0
# Holds records against what the API and containerd tell of the same containers; prints TAP without
# numbers.
#   jq -nr -f agree.jq --slurpfile records R --slurpfile watch W --rawfile events E

def claim($ok; sentence; details): if $ok then "ok - " + sentence
	else "not ok - " + sentence, (details | "# " + .) end;

# RFC 3339 with up to nine digits of a second, in milliseconds since 1970.
def ms: capture("^(?<s>[^.Z]*)(\\.(?<f>[0-9]+))?Z$") |
	(.s + "Z" | fromdate) * 1000 + ((.f // "0") + "000" | .[0:3] | tonumber);

def status: if .exit.signal > 0 then 128 + .exit.signal else .exit.code end;

def name: "\(.pod.name)/\(.container.name)";

# On a slow machine two things are said that were not so, and graced has to tell them. A static pod
# without its manifest no kubelet lists, which stops it only then. Of an OOM kill within a container's
# first moments containerd 1.6 hears nothing on a unified hierarchy: its shim begins to look at
# memory.events once the container is started.
def is_lost_pod: .kind == "object-gone-processes-live" and .pod.static and .kernel.populated and
	(.reported.listed | not);
def is_lost_oom($ends): .kind == "exit-reason" and .kernel.oom_killed and .reported.exit.reason == "Error" and
	any($ends[]; .reason == "Error" and .exitCode == 137);

# The API, by container id: the last that it said of each end.
([$watch[].object.status | (.containerStatuses, .initContainerStatuses)[]? |
	(.state.terminated, .lastState.terminated) | select(.containerID) |
	{(.containerID | ltrimstr("containerd://")): .}] | add) as $api |
# How often a container had been restarted when this one ran, by its id.
([$watch[].object.status | (.containerStatuses, .initContainerStatuses)[]? | select(.containerID) |
	{(.containerID | ltrimstr("containerd://")): .restartCount}] | add) as $restarts |
# Names of pods, by uid as their cgroups have it.
([$watch[].object.metadata | {(.annotations["kubernetes.io/config.hash"] // .uid): .}] | add) as $pods |
# containerd, by container id: exits of inits. It may tell of one again when it cleans up.
([$events | split("\n")[] | select(test(" /tasks/exit ")) | capture("/tasks/exit (?<json>.*)$").json |
	fromjson | select(.id == .container_id) | {(.container_id): .}] | reverse | add) as $tasks |
[$records[] | select(.type == "stop" and (.container.id | in($tasks)))] as $stops |
[$stops[] | select(.container.id | in($api))] as $reports |

claim(($stops | length) == ($tasks | length);
	"each of the \($tasks | length) ends that containerd reported has one stop";
	"\($stops | length) stops of \($stops | map(.container.id) | unique | length) containers",
	($tasks | keys - [$stops[].container.id])[]),
claim(all($stops[]; . as $r | $pods[$r.pod.uid // ""] |
		.namespace == $r.pod.namespace and .name == $r.pod.name);
	"each has the namespace, name and uid that the API has";
	$stops[] | "\(.pod | tojson) \(.container.id)"),
[$stops[] | select(.container.id | in($restarts))] as $counted |
claim(any($counted[]; .container.attempt > 0) and
	all($counted[]; .container.attempt == $restarts[.container.id]);
	"each attempt is the number of restarts that the API had with that container";
	$counted[] | "\(name) \(.container.attempt) \($restarts[.container.id])"),
claim(all($counted[]; .container.image | test("^graced.test/(pod|quit):1$|^sha256:[0-9a-f]{64}$"));
	"each of these has its image, by name or digest";
	$counted[] | "\(name) \(.container.image)"),
claim(all($stops[]; status == ($tasks[.container.id].exit_status // 0));
	"each exit status is the one containerd reported";
	$stops[] | "\(name) \(status) \($tasks[.container.id].exit_status // 0)"),
claim(all($stops[]; (.time | ms) <= ($tasks[.container.id].exited_at | ms) + 1);
	"none ended after containerd saw it end";
	$stops[] | "\(name) \(.time) \($tasks[.container.id].exited_at)"),
claim(($reports | length) > 0 and all($reports[]; status == $api[.container.id].exitCode);
	"each of the \($reports | length) exit codes in the API agrees";
	$reports[] | "\(name) \(status) \($api[.container.id].exitCode)"),
# finishedAt is cut to a second, and is when the runtime saw the end.
claim(all($reports[]; ($api[.container.id].finishedAt | ms) as $finished |
		$finished == (($tasks[.container.id].exited_at | ms) / 1000 | floor * 1000) and
		$finished > (.time | ms) - 1000);
	"each finishedAt in the API is that end, cut to a second";
	$reports[] | "\(name) \(.time) \($api[.container.id].finishedAt)"),
[$records[] | select(.type == "discrepancy" and (.kind | IN("exit-time", "exit-late") | not)) | select((is_lost_pod or
	is_lost_oom([$api[.container.id // ""] // empty])) | not)] as $differs |
claim($differs == [];
	"nothing that the kubelet says differs from what was, but lost static pods and OOM kills";
	$differs[] | tojson),
# The runtime's or the kubelet's own word, where it was reported in time.
claim([$records[] | select(.type == "runtime_exit")] | all(.agrees);
	"no word of a runtime is reported that does not agree";
	$records[] | select(.type == "runtime_exit" and (.agrees | not)) | tojson),
([$stops[] | ($tasks[.container.id].exited_at | ms) - (.time | ms)] | sort |
	"# containerd saw the ends \(.[0]) to \(.[-1]) ms later, median \(.[length / 2 | floor])")
