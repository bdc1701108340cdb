# SPDX-License-Identifier: Apache-2.0
# Holds what the witnesses and the driver report of a shutdown against what its scene promises; prints
# the timeline as comments, then TAP without numbers. Arguments as down.jq has them; seconds count
# from the request.

def claim(ok; sentence; details): if ok then "ok - \($scene): " + sentence
	else "not ok - \($scene): " + sentence, (details | "# " + tostring) end;

def s: . / 1000000000 - $asked;
def shown: (. * 100 | round) / 100 | tostring;

[$serial | split("\n")[] | fromjson? | objects] as $seen |
([$seen[] | select(.type == "stop" and .container.kind != "sandbox" and .pod.name == "data")]) as $stops |
($stops[0].exit.at_boot_ns // 0 | s) as $died |
[$seen[] | select(.type == "shutdown")] as $steps |
([$steps[] | select(.event == "announced")][0]) as $announced |
([$steps[] | select(.event == "released")][0]) as $released |
[$seen[] | select(.type == "lock" and .what == "shutdown" and .mode == "delay" and (.held | not)) |
	{who, t: (.at - $asked)}] as $locks |
([$locks[] | select(.who == "kubelet").t] | first) as $kubelet |
([$locks[] | select(.who == "graced").t] | first) as $graced |
[$seen[] | select(.type == "driver" and .at >= $asked) | . + {t: (.at - $asked)}] as $driver |
def driver($event): [$driver[] | select(.event == $event)][0];

([$stops[] | {t: (.exit.at_boot_ns | s), text: "\(.pod.name): dead, \(.outcome)"}]
	+ [$locks[] | {t, text: "\(.who) releases its delay lock"}]
	+ [$steps[] | {t: (.boot_ns | s), text: "graced: \(.event)\(if .reason then ", " + .reason else "" end)\(
		if .volumes_left then ", \(.volumes_left) volumes left \(.volumes)" else "" end)"}]
	+ [$driver[] | {t, text: "the driver: \(.event)\(if .event == "terminated" then
		", \(.ended) of \(.begun) unmounts done" else "" end)"}]
	+ [{t: ($off_at - $asked), text: "the machine is off"}]
	| sort_by(.t)[] | "# \(.t | shown) s\t\(.text)"),

claim(($stops | length) == 1 and $stops[0].outcome == "graceful"; "the pod ends by its stop signal"; $stops[]),
claim($kubelet != null and $died < $kubelet; "the kubelet releases its lock when the pod has ended"; $died, $kubelet),

(if $scene == "without" then
	claim(driver("unmounts") == null and (driver("terminated") | .begun <= 1 and .ended == 0);
		"the driver is terminated before it unmounts the volume"; $driver[])
else
	claim(driver("called").t >= $died; "the kubelet calls the driver when the pod has ended"; $died, $driver[]),
	claim($kubelet < $graced; "graced's lock is the last"; $locks[])
end),

(if $scene == "volume" then
	claim(driver("unmounts") != null and driver("unmounts").t > $kubelet;
		"the driver unmounts the volume when the kubelet's lock has been released"; $kubelet, $driver[]),
	claim(driver("unmounts") != null and $graced >= driver("unmounts").t and ($released.boot_ns | s) >= driver("unmounts").t;
		"graced's lock is held until then"; $graced, $released, $driver[]),
	claim($released.reason == "pods-ended" and $released.volumes_left == 0 and $released.volumes == [];
		"it is released when no volume is left"; $released),
	claim(driver("terminated").t >= $graced - 0.2; "the driver is terminated afterwards"; $graced, $driver[])
else empty end),

(if $scene == "hangs" then
	($released.boot_ns - $announced.boot_ns) as $held |
	claim($held >= $released.limit_ns - 2000000000 and $graced - ($announced.boot_ns | s) < $released.limit_ns / 1000000000;
		"graced releases its lock in the last 2 s of logind's limit, and within it"; $released, $announced, $graced),
	claim(driver("unmounts") == null and driver("terminated").begun == 1;
		"the unmount hangs until the driver is terminated"; $driver[]),
	claim($released.reason == "volumes-left" and $released.volumes_left == 1 and
		($released.volumes | map([.pod.name, .plugin, .driver, .name])) == [["data", "kubernetes.io~csi", "csi.graced.test", "disk"]];
		"the record has the volume, its pod and its driver"; $released)
else empty end)
