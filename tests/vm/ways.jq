# SPDX-License-Identifier: Apache-2.0
# Holds what graced recorded and logged of one way down against what leave/ways promises; prints the
# row of a table as a comment, then TAP without numbers.
#   jq -nrR -f ways.jq --arg suite NAME --argjson version NUMBER --arg way NAME --arg delay yes|no|-
#     --arg action WORD --arg wanted END --arg stops yes|no|- --arg wants COMMAND --arg ending END LINES

def claim(ok; sentence; details): if ok then "ok - \($suite), \($way): " + sentence
	else "not ok - \($suite), \($way): " + sentence, (details | "# " + tostring) end;

def dash: if . == null then "-" else tostring end;
def id: .container.id // "";
def named($letter): (id | startswith($letter * 8));

[inputs] as $lines |
# What graced reports in one user space, and in the next.
(if $ending == "soft" then $lines | map(test("settings from")) | rindex(true) else null end) as $again |
(if $again then $lines[:$again] else $lines end) as $before |
(if $again then $lines[$again:] else [] end) as $after |
[$before[] | fromjson? | objects] as $records |
[$after[] | fromjson? | objects] as $later |

[$records[] | select(.type == "shutdown")] as $steps |
([$steps[] | select(.event == "announced")]) as $announced |
([$steps[] | select(.event == "released")][0]) as $released |
([$records[] | select(.type == "answer")][0]) as $answer |
[$records[] | select(.type == "can") | "\(.name) \(.answer)"] as $can |
[$records[] | select(.type == "stop")] as $seen |
[$seen[] | select(named("a") or named("b"))] as $own |
[$seen[] | select(named("c"))] as $unordered |
([$seen[].stop_signal.at_boot_ns // empty] | min) as $first_ns |
(any($before[]; test("msg=\"?stopping"))) as $stopping |
["events-lost", "init-guessed", "attached-late"] as $slow |
(if $version >= 255 then $action else "unknown" end) as $action |

def stop: "\(id[:1]) \(.outcome)/\(.cause)\(if .evidence.complete then "" else " (" + (.evidence.gaps | join(" ")) + ")" end) by \(
	(.stop_signal // .kill_signal).sender.comm | dash)";

"# row | \($suite) | \($version) | \($way) | answer \($answer.status | dash) \($answer.text // "")\(
	if $can == [] then "" else " (" + ($can | join(", ")) + ")" end) | \(
	[$steps[] | .event + (if .event == "announced" then " " + .action elif .reason then " " + .reason else "" end)] | join(", ")) | \(
	[$seen[] | stop] | join(", ")) | \(if $stopping then "graced stopped by SIGTERM" else "-" end) | \($ending) | \(
	[$later[] | select(.type == "stop") | stop] | join(", "))",

claim($ending == $wanted; "what comes of it: \($wanted)"; $ending, $answer),

(if $delay == "yes" then
	claim(($announced | length) == 1 and $announced[0].action == $action;
		"graced records that it is announced: \($action)"; $steps[]),
	claim($released != null and ($first_ns == null or $released.boot_ns < $first_ns);
		"its lock holds the containers' stop up until it releases it"; $released, $first_ns)
else
	claim($steps == []; "graced has nothing of a shutdown to record"; $steps[])
end),

(if $stops == "yes" then
	# On a slow machine an event of their start may be lost, which is a gap of its own; so is the restart
	# that puts graced into mode assist.
	claim(($own | length) == 2 and all($own[]; .outcome == "graceful" and .stop_signal.sender.comm == "systemd" and
			(.evidence.gaps - $slow - (if $wants | startswith("assist ") then ["daemon-down"] else [] end)) == []);
		"each stop of the pod's containers is recorded, from stop signal to exit"; $own[]),
	claim($stopping; "graced ends by SIGTERM"; $before[-5:][])
elif $stops == "no" then
	# All of them end at SIGTERM where they are given the time.
	claim(all($seen[]; .outcome == "graceful" or (.evidence.complete | not));
		"what is recorded of the containers is so, or has a gap"; $seen[])
else
	claim($seen == [] and ($stopping | not); "everything goes on as before"; $seen[])
end),

(if $ending == "soft" then
	claim(all($later[]; .type != "shutdown"); "nothing of that shutdown is reported afterwards"; $later[]),
	(if $wants | test("soft ") then
		([$later[] | select(.type == "stop" and named("d"))] | {n: length, one: .[0]}) as $survivor |
		claim($survivor.n == 1 and $survivor.one.outcome == "graceful" and $survivor.one.stop_signal.sender.comm == "bash"
			and ($survivor.one.evidence.gaps - $slow) == ["daemon-down"];
			"the container that outlived it is watched as after any restart of graced"; $survivor)
	else empty end)
else empty end)
