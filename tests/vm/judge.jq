# SPDX-License-Identifier: Apache-2.0
# Judges records against a table of expectations, and prints TAP without numbers.
#   jq -nr -f judge.jq --rawfile expect expect --slurpfile records RECORDS

def dash: if . == null then "-" else tostring end;

def columns: ["pod", "container", "times", "workload", "outcome", "cause", "deaf", "signal", "sender",
	"grace", "code", "terminating"];

def rows: [$expect | split("\n")[] | select(test("^[^#]")) | [splits(" +")] |
	[columns, .] | transpose | map({(.[0]): .[1]}) | add];

# A record in the words of the table.
def seen: {
	pod: .pod.name,
	container: (if .container.kind == "sandbox" then "@sandbox" else .container.name | dash end),
	workload: (.pod.workload | dash),
	outcome, cause,
	deaf: (.deaf | tostring),
	signal: (.stop_signal.name | dash),
	sender: (if .stop_signal then .stop_signal.sender.kind else .kill_signal.sender.kind end | dash),
	grace: (.grace.seconds | dash),
	code: (if .exit.signal > 0 then 128 + .exit.signal else .exit.code end | dash),
	terminating: (.pod_terminating | dash)};

# An OOM kill has no sender that the table would tell.
def known: if .outcome == "oom-killed" then .sender = "-" else . end;

def fits($row): . as $seen | all($row | del(.times) | to_entries[];
	.key as $key |
	any(.value | split("|")[]; . == $seen[$key]));

def enough($times; $n): if $times | endswith("+") then $n >= ($times | rtrimstr("+") | tonumber)
	else $n == ($times | tonumber) end;

def words: [.[columns[]] // empty] | join(" ");

def claim(ok; sentence; details): if ok then "ok - " + sentence
	else "not ok - " + sentence, (details | "# " + .) end;

rows as $rows |
([$rows[].pod] | unique) as $pods |
[$records[] | select(.type == "stop" and (.pod.name | IN($pods[]))) | seen | known] as $seen |
($rows[] | . as $row |
	[$seen[] | select(fits($row))] as $fitting |
	claim(enough($row.times; $fitting | length);
		"the stop of \($row.pod)'s \($row.container) is reported \($row.times | if . == "1" then "once" else . + " times" end): \($row.outcome
			), \($row.cause), terminating \($row.terminating)";
		"expected \($row | words)",
		($seen[] | select(.pod == $row.pod and .container == $row.container) | "got \(words)"))),
[$seen[] | select(. as $one | all($rows[]; . as $row | $one | fits($row) | not))] as $others |
claim($others == []; "no other stop of these pods is reported"; $others[] | words),
# Its liveness probe fails once. Whatever else ends here is not made again, or ends without a request.
[$records[] | select(.type == "restart" and (.pod.name | IN($pods[])))] as $again |
claim([$again[] | [.pod.name, .container.name, .probe, .next.attempt]] == [["probed", "main", true, 1]];
	"the container whose probe failed is reported as made again, and no other"; $again[] | tojson)
