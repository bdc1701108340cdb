# SPDX-License-Identifier: Apache-2.0
# Holds what the next boot reports of a boot against the journal of that boot and against the note that
# graced kept in it; prints TAP without numbers.
#   jq -nr -f account.jq --arg scene order|middle|nothing|killed --arg boot ID --argjson unclean COUNT
#     --slurpfile before NOTE --rawfile journal FILE --rawfile now FILE --slurpfile report FILE
#     --rawfile table FILE --rawfile svg FILE --rawfile metrics FILE

def claim(ok; sentence; details): if ok then "ok - \($scene): " + sentence
	else "not ok - \($scene): " + sentence, (details | "# " + tostring) end;

def records: [split("\n")[] | fromjson? | objects | .GRACED_RECORD | strings | fromjson? | objects];
def names: map("\(.namespace)/\(.name)") | sort;
def has($text): contains($text);
def figures: {id: .container.id, outcome, cause, signal: .stop_signal.at_boot_ns, exit: .exit.at_boot_ns,
	kill: .kill_signal.at_boot_ns, margin: .grace.margin_ns};
def reported: {id, outcome, cause, signal: .stop_signal.at_boot_ns, exit: .exit.at_boot_ns,
	kill: .kill_signal.at_boot_ns, margin: .grace.margin_ns};

($journal | records) as $past |
[$now | records[] | select(.type == "boot_end")] as $ends |
$ends[0] as $final |
[$past[] | select(.type == "stop" and .container.kind == "container")] as $stops |
[$report[] | .pods[].containers[] | select(.recorded)] as $reports |
[$report[] | select(.boot_end).boot_end] as $endings |
$endings[0] as $ending |
($before[0].boot.pods.rows | names) as $alive |

claim(($ends | length) == 1 and $final.boot_id == $boot; "one record says how the boot ended"; $ends),
claim(($endings | length) == 1 and $ending.end == $final.end and $ending.reason == $final.reason and
		$ending.journal == $final.journal and ($ending.pods | names) == ($final.pods | names);
	"the report has what that record says"; [$endings, $final]),
claim(all($report[]; .boot == ($boot | gsub("-"; ""))); "... and is of that boot alone"; $report | map(.boot)),
claim($metrics | has("\ngraced_unclean_shutdowns_total \($unclean)\n") and
		has("\ngraced_last_boot_end{end=\"\($final.end)\"} 1\n"); "the metrics have it, too";
	$metrics | [scan("graced_(?:unclean|last_boot_end).*")]),
claim($final | if $scene == "order" then .end == "clean" and .reason == "released" and .journal == null
	elif $scene == "killed" then .end == "clean" and .reason == "went-down" and .journal == "went-down"
	elif $scene == "middle" then .end == "unclean" and .reason == "in-shutdown" and .journal == "no-end"
	else .end == "unclean" and .reason == "not-announced" and .journal == "no-end" end;
	"the boot ended as it did"; $final | {"end": .end, reason, journal, shutdown, stopped_boot_ns}),

(if $scene == "order" then
	claim(($stops | length) == 6 and ($stops | map(figures) | sort) == ($reports | map(reported) | sort);
		"each stop in the journal is in the report, with its figures"; ($stops | map(figures)), ($reports | map(reported))),
	claim(all($stops[]; . as $stop | ($table | has($stop.container.name)) and ($svg | has($stop.container.name)) and
			($table | has($stop.outcome))); "the table and the picture name each"; $table),
	claim([$reports[] | select(.deaf) | .name] == ["redis"] and all($reports[]; .outcome == (if .deaf then "killed" else "graceful" end));
		"the deaf one was killed, the others ended by themselves"; $reports | map({name, outcome, deaf})),
	([$past[] | select(.type == "shutdown" and .event == "released")] | last) as $released |
	claim(($report | length) == 1 and ($report[0].shutdown | .announced_boot_ns == $released.announced_boot_ns and
			.released_boot_ns == $released.boot_ns); "the shutdown has the times of its records"; $report[].shutdown, $released),
	claim($final.pods_alive == 0 and ($report[0].evidence | .announcement_seen and .end_seen and .boot_end_clean and
			.graced_restarts + .events_lost + .stops_without_record + .records_left_out + .lines_unreadable == 0);
		"nothing is missing"; $report[0].evidence, $final)
else
	claim($table | has("ended \($final.end): ") and has($final.pods[0].name); "the table has the end, and names pods"; $table)
end),

(if $scene == "middle" then
	claim($final.shutdown != null and $final.boot_ns >= $before[0].boot.saved_ns and ($final.pods | names) - $alive == [] and
			(["shop/orders-vm-node", "kube-system/dns-vm-node"] - ($final.pods | names)) == [];
		"pods that had not been stopped are named"; ($final | {boot_ns, shutdown, pods}), $alive, $before[0].boot.saved_ns)
elif $scene == "order" then empty else
	claim(($final.pods | names) == $alive; "the pods that were alive are named"; ($final.pods | names), $alive)
end),

claim(if $final.end == "unclean" then $svg | has("unclean") else ($svg | has("unclean") | not) end;
	"the picture shows an unclean end, and no other"; $final.end)
