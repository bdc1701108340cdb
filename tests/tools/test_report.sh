#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints a story in each format, from a file and from a journal, byte for byte; asks
# it rightly and wrongly; and looks at its picture in a browser: no text lies over another, none is
# cut. Chromium and systemd-journal-remote are skipped aloud where they are not installed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"
patience=120
story=$root/tests/report/node.jsonl
lost=$root/tests/report/lost.jsonl # boots that were lost in nothing, and in a shutdown; and a clean end

# --- formats ---------------------------------------------------------------------------------

for format in table json svg trace-event otlp; do
	try env TZ=Asia/Kathmandu NO_COLOR=1 "$graced" report --file "$story" -o "$format"
	((rc == 0)) && quiet "$err" && sed 's/"version":"[^"]*"/"version":"V"/g' "$out" |
		diff "$root/tests/report/node.$format" - >"$err"
	claim "the story of tests/report/node.jsonl as $format" $?
	try env TZ=Asia/Kathmandu NO_COLOR=1 "$graced" report --file "$lost" -o "$format"
	((rc == 0)) && quiet "$err" && sed 's/"version":"[^"]*"/"version":"V"/g' "$out" |
		diff "$root/tests/report/lost.$format" - >"$err"
	claim "how boots ended in tests/report/lost.jsonl as $format" $?
done

figures='[.latency_ns, .exit.code, .exit.signal, .exit.at_boot_ns, .grace.margin_ns, .outcome, .cause]'
jq -rR "fromjson? | select(.type == \"stop\") | [.node, .container.id] + $figures | @tsv" "$story" |
	sort -u >"$tmp/recorded"
try "$graced" report --file "$story" -o json
jq -r ".node as \$node | .pods[].containers[] | select(.recorded) | [\$node, .id] + $figures | @tsv" "$out" |
	sort >"$tmp/reported"
[[ $(wc -l <"$tmp/recorded") == 8 ]] && diff "$tmp/recorded" "$tmp/reported" >"$err"
claim "each figure of a stop is the one that its record has" $?

shuf --random-source="$story" "$story" >"$tmp/shuffled" && cat "$story" >>"$tmp/shuffled"
sed -i '/cut short/d' "$tmp/shuffled" && grep 'cut short' "$story" >>"$tmp/shuffled"
timeout 60 "$graced" report --file - <"$tmp/shuffled" >"$out" 2>"$err"
rc=$?
((rc == 0)) && diff "$root/tests/report/node.table" "$out" >"$err"
claim "the order of records does not matter, nor do repetitions" $?

"$graced" report --file "$root/tests/report/night.jsonl" -o svg 2>"$err" | diff - "$root/docs/report.svg" >"$out"
claim "docs/report.svg is what graced report draws of tests/report/night.jsonl" $?
# Records of the scene `order` of tests/vm/account.
"$graced" report --file "$root/tests/report/poweroff.jsonl" -o svg 2>"$err" | diff - "$root/docs/poweroff.svg" >"$out"
claim "docs/poweroff.svg is what graced report draws of tests/report/poweroff.jsonl" $?

xml_is_sound() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }
"$graced" report --file "$story" -o svg >"$tmp/node.svg"
xml_is_sound "$tmp/node.svg" && ! grep -qE 'https?://' <(sed 's,http://www.w3.org/2000/svg,,' "$tmp/node.svg")
claim "the picture is XML, and refers to nothing outside" $?

# Many programs that show SVG read no style sheet, or not all of one. A colour may be that of all.
for picture in "$tmp/node.svg" "$root"/docs/*.svg; do
	grep -q '^<svg [^>]* fill="#' "$picture" || sed '/<style>/,/<\/style>/d' "$picture" |
		grep -E '^<(text|rect|path|polyline) ' | grep -vE ' (fill|stroke)="[#a-z]' | sed "s,^,${picture##*/}: ,"
	grep -E 'var\(|currentColor' "$picture"
done >"$out"
[[ -e $picture && ! -s $out ]]
claim "whatever is painted in a picture has its colour as an attribute" $?

"$graced" report --file "$lost" -o svg >"$tmp/lost.svg"
xml_is_sound "$tmp/lost.svg" && (($(grep -c 'end of boot, after last look' "$tmp/lost.svg") == 2))
claim "what is not known of a boot's end is marked in the picture" $?

# --- what is asked for -----------------------------------------------------------------------

boots() { jq -r '.boot' "$out" | sort -u | paste -sd' '; }
a=7c9f2f0e5d0b4a529a7d0b6a3f1c2d4e b=11111111222243338444555555555555
bad=0
while read -r boot want; do
	try "$graced" report --file "$story" -o json --boot "$boot"
	((rc == 0)) && [[ $(boots) == "$want" ]] || { bad=1; echo "# --boot $boot: $(boots)"; }
done <<END
0 $b
-1 $a
1 $a
2 $b
$a $a
7C9F2F0E-5d0b-4a52-9a7d-0b6a3f1c2d4e $a
END
claim "a boot is chosen by number or id" $bad

try "$graced" report --file "$story" --boot -2
refused 1 'there is no boot -2: the records are of 2 boots'
claim "a boot that is not there is refused" $?
grep 11111111- "$story" >"$tmp/one"
try "$graced" report --file "$tmp/one" --boot -1
refused 1 'there is no boot -1: the records are of one boot$'
claim "where all records are of one boot, that is said" $?
sed "s/11111111-[0-9a-f-]*/$(cat /proc/sys/kernel/random/boot_id)/" "$tmp/one" >"$tmp/present"
try "$graced" report --file "$tmp/present" --boot -1
refused 1 'there is no boot -1: the records are of one boot, the present one$'
claim "that this is the boot that runs is said, too" $?

try "$graced" report --file "$story" -o json -n kube-system
((rc == 0)) && [[ $(jq -r '.pods[].name' "$out") == coredns-x ]] &&
	[[ $(jq -r 'select(.shutdown.reason == "limit").evidence.stops_without_record' "$out") == 0 ]]
claim "-n leaves out other pods, and does not miss them" $?

try "$graced" report --file "$story" -o json --since 2026-11-25T09:53:00Z --until 2026-11-25T09:53:21Z
((rc == 0)) && [[ $(jq -r '.shutdown.reason' "$out") == limit ]] && [[ $(jq '.pods | length' "$out") == 4 ]]
claim "a shutdown that the span overlaps is reported whole" $?

try env TZ=UTC "$graced" report --file "$story" -o json --since '2026-11-25 09:48' --until '2026-11-25 09:49:00'
((rc == 0)) && [[ $(jq -r '.pods[].name' "$out") == web-0 ]]
claim "stops outside of the span are left out" $?

bad=0
while IFS='|' read -r args status pattern; do
	# shellcheck disable=SC2086  # words
	try "$graced" report $args
	refused "$status" "$pattern" || { bad=1; echo "# $args: $(head -1 "$err")"; }
done <<END
--since tomorrow|2|'tomorrow'
--until 25:00|2|'25:00'
--boot last|2|'last'
--boot 123456789abc|2|'123456789abc'
-o xml|2|'xml'
--file a --journal-directory b|2|not both
stray|2|'stray'
--file /nonexistent|1|cannot read /nonexistent: No such file
--file /dev/null|1|no record of a stop or a shutdown
--journal-directory /nonexistent|1|cannot read the journal: No such file
--file /dev/null --boot 0|1|there is no boot 0
END
claim "wrong use is refused in a line" $bad

{ head -c 300000 /dev/zero | tr '\0' x && echo && cat "$story"; } >"$tmp/long"
try "$graced" report --file "$tmp/long" -o json
((rc == 0)) && [[ $(jq -s '.[0].evidence.lines_unreadable' "$out") == 2 ]]
claim "a line that is too long is counted and left out" $?

# --- the journal -----------------------------------------------------------------------------

remote=/lib/systemd/systemd-journal-remote
declare -A id_of=([stop]=627e28794e944e4bbce2264a6a87d251 [pod]=3d0c9b7e51f8456ab6f2e14c8a90d7b3
	[shutdown]=a3b7e3cd2b5e4d4c9f0d8a8f4f0c6a51)
for type in empty lost attached boot_end; do
	id_of[$type]=$(sed -n "s/^\.It $type Ta \([0-9a-f]\{32\}\)$/\1/p" "$root/docs/graced-records.5")
done

entry() { # BOOT MESSAGE_ID UID RECORD: in the journal's export format
	at=$((at + 1000))
	printf '__REALTIME_TIMESTAMP=%s\n__MONOTONIC_TIMESTAMP=%s\n_BOOT_ID=%s\n' "$at" "$at" "$1"
	printf 'MESSAGE_ID=%s\n_UID=%s\nMESSAGE=m\n' "$2" "$3"
	printf 'GRACED_RECORD=%s\n\n' "$4"
}

lost_boots=(aaaaaaaa000040008000000000000001 bbbbbbbb000040008000000000000002 cccccccc000040008000000000000003)

# Boots by their records; the first two ends are written by the third boot, for in the second one
# graced was not started again; the third end by a fourth boot, after a forged one.
export_lost() {
	local line type at=1795600000000000 i boot
	for i in 0 1 2; do
		while IFS= read -r line; do
			type=${line#'{"type":"'} type=${type%%'"'*}
			[[ $line == *2026-11-$((24 + i))T* && $type != boot_end ]] &&
				entry "${lost_boots[i]}" "${id_of[$type]}" 0 "$line"
		done <"$lost"
	done
	grep '"boot_end"' "$lost" >"$tmp/ends"
	entry "$b" "${id_of[boot_end]}" 1000 "$(sed -n '1s/unclean/clean/p' "$tmp/ends")"
	for i in 1 2 3; do
		boot=${lost_boots[2]}
		((i == 3)) && boot=$b
		entry "$boot" "${id_of[boot_end]}" 0 "$(sed -n "${i}p" "$tmp/ends")"
	done
}

export_story() {
	local line type boot at=1795600000000000
	while IFS= read -r line; do
		type=${line#'{"type":"'} type=${type%%'"'*}
		boot=$a
		[[ $line == *worker-4* ]] && boot=$b
		[[ -v id_of[$type] ]] && entry "$boot" "${id_of[$type]}" 0 "$line"
	done <"$tmp/whole"
	# Not root's, and not graced's.
	entry "$b" "${id_of[stop]}" 1000 "$(grep -m1 '"type":"stop"' "$story")"
	entry "$b" "${id_of[stop]//6/7}" 0 "$(grep -m1 '"type":"stop"' "$story")"
}

if [[ ! -x $remote ]]; then
	skip "a journal gives the same story" "systemd-journal-remote is not installed"
	skip "entries of others than root are left out" "systemd-journal-remote is not installed"
	skip "boots of a journal are counted as journalctl does" "systemd-journal-remote is not installed"
	skip "the end of a boot is found where later boots wrote it" "systemd-journal-remote is not installed"
else
	grep -v 'cut short' "$story" >"$tmp/whole"
	mkdir "$tmp/journal" && export_story >"$tmp/export"
	"$remote" -o "$tmp/journal/system.journal" "$tmp/export" >"$tmp/why" 2>&1 || sed 's/^/# /' "$tmp/why"
	try "$graced" report --journal-directory "$tmp/journal"
	"$graced" report --file "$tmp/whole" | diff - "$out" >"$tmp/why"
	same=$?
	((rc == 0)) && ((same == 0)) || { sed 's/^/# /' "$tmp/why" | head; false; }
	claim "a journal gives the same story" $?
	one_line "$err" && grep -q '^graced: 1 entries of the journal are not root' "$err"
	claim "entries of others than root are left out, and counted" $?
	try "$graced" report --journal-directory "$tmp/journal" --boot -1 -o json
	((rc == 0)) && [[ $(boots) == "$a" ]] &&
		try "$graced" report --journal-directory "$tmp/journal" --boot 0 -o json && [[ $(boots) == "$b" ]]
	claim "boots of a journal are counted as journalctl does" $?
	mkdir "$tmp/lost" && export_lost >"$tmp/export"
	"$remote" -o "$tmp/lost/system.journal" "$tmp/export" >"$tmp/why" 2>&1 || sed 's/^/# /' "$tmp/why"
	bad=0
	for offset in -2 -1 0; do
		boot=${lost_boots[offset + 2]}
		"$graced" report --file "$lost" --boot "$boot" >"$tmp/want"
		try "$graced" report --journal-directory "$tmp/lost" --boot "$((offset - 1))"
		((rc == 0)) && diff "$tmp/want" "$out" >"$tmp/why" && grep -q '^graced: 1 entries' "$err" || bad=1
		sed "s/^/# $boot: /" "$tmp/why" | head
	done
	claim "the end of a boot is found where later boots wrote it" $bad
fi

# --- a browser -------------------------------------------------------------------------------

# A shutdown of N containers, as a file; with names that are short, or as long and hostile as may be.
generate() { # N hostile|plain
	awk -v n="$1" -v hostile="$2" '
	function head(type, at, id) {
		return sprintf("{\"type\":\"%s\",\"schema\":1,\"id\":\"bbbbbbbb-0000-4000-8000-000000000000/%s\",\"time\":\"2026-11-25T10:01:00Z\",\"boot_ns\":%.0f,\"node\":\"%s\"",
			type, id, at, node)
	}
	function step(event, at, more) {
		print head("shutdown", at, "shutdown/" event "/" at) ",\"event\":\"" event "\",\"mode\":\"assist\",\"action\":\"power-off\",\"lock_held\":true,\"announced_boot_ns\":1000000000,\"limit_ns\":60000000000" more "}"
	}
	function again(text, times,    all) { while (times-- > 0) all = all text; return all }
	BEGIN {
		split("graceful terminated killed oom-killed crashed completed failed unknown", outcome, " ")
		node = hostile == "hostile" ? again("<node>&amp;", 25) : "node-1"
		step("announced", 1e9, "")
		for (g = 0; g < 3; g++)
			step("group-started", 1e9 + g * 2e10 + 1, ",\"group\":{\"index\":" g ",\"priority\":" 2000000000 - g ",\"length_ns\":20000000000}")
		for (g = 0; g < 3; g++)
			step("group-done", 1e9 + g * 2e10 + 1.9e10, ",\"group\":{\"index\":" g ",\"timed_out\":true}")
		for (i = 0; i < n; i++) {
			name = hostile == "hostile" ? again(i % 2 ? "W" : "\\u202e<text>]]>", 40) i : "app-" i
			pod = hostile == "hostile" ? again("</svg>&", 30) : "web-" i
			asked = 1e9 + (i % 3) * 2e10 + 1e8 + i * 1e6
			end = asked + (i % 7 + 0.001) * 2.6e9
			o = outcome[i % 8 + 1]
			seen = o != "unknown"
			printf "%s,\"pod\":{\"namespace\":\"shop\",\"name\":\"%s\",\"uid\":\"u%d\"},\"container\":{\"name\":\"%s\",\"id\":\"c%d\"}", head("stop", end, "c" i "/1"), pod, i, name, i
			printf ",\"stop_signal\":%s", i % 5 == 4 ? "null" : sprintf("{\"name\":\"SIGTERM\",\"at_boot_ns\":%.0f,\"sender\":{\"pid\":1,\"comm\":\"runc\"}}", asked)
			printf ",\"kill_signal\":%s", o == "killed" ? sprintf("{\"name\":\"SIGKILL\",\"at_boot_ns\":%.0f}", end) : "null"
			printf ",\"exit\":{\"code\":0,\"signal\":%s,\"at_boot_ns\":%s}", seen ? "0" : "null", seen ? sprintf("%.0f", end) : "null"
			printf ",\"latency_ns\":%s,\"grace\":%s", seen && i % 5 != 4 ? sprintf("%.0f", end - asked) : "null", i % 6 ? "{\"seconds\":" (i % 9 + 1) * 4 "}" : "null"
			printf ",\"outcome\":\"%s\",\"cause\":\"grace-expired\",\"empty_boot_ns\":%s,\"evidence\":{\"complete\":true,\"gaps\":[]}}\n", o, i % 4 ? sprintf("%.0f", end + 3e8) : "null"
		}
		for (i = 0; i < n; i++)
			alive = alive (i ? "," : "") "{\"namespace\":\"" (hostile == "hostile" ? again("<&>", 20) : "shop") "\",\"name\":\"web-" i "\",\"containers\":1}"
		print head("boot_end", 6e10, "end") ",\"end\":\"unclean\",\"reason\":\"after-release\",\"shutdown\":{\"announced_boot_ns\":1000000000},\"pods_alive\":" n ",\"pods\":[" alive "],\"containers_alive\":0,\"containers\":[]}"
		step("released", 5.9e10, ",\"containers_left\":1,\"reason\":\"limit\",\"others\":1,\"holders\":[{\"who\":\"" again("kubelet ", 7) "\",\"pid\":1}]")
	}'
}

# What lies over what, and what is cut, by the DOM.
page() { # SVG
	cat <<'END'
<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
END
	cat "$1"
	cat <<'END'
<pre id="verdict">did not run</pre>
<script>
const svg = document.querySelector("svg.graced"), room = svg.getBoundingClientRect(), wrong = [];
const texts = [...svg.querySelectorAll("text")].map(node => ({node, box: node.getBoundingClientRect()}));
const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 &&
	Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
const name = t => t.node.textContent.slice(0, 40);
texts.forEach((t, i) => {
	if (t.box.left < room.left || t.box.right > room.right || t.box.top < room.top || t.box.bottom > room.bottom)
		wrong.push("cut: " + name(t));
	if (t.box.width < 1)
		wrong.push("empty: " + name(t));
	if (getComputedStyle(t.node).userSelect === "none")
		wrong.push("not selectable: " + name(t));
	for (let j = i + 1; j < texts.length; j++)
		if (over(t.box, texts[j].box))
			wrong.push("over: " + name(t) + " / " + name(texts[j]));
});
for (const bar of svg.querySelectorAll("rect.bar, path.bar, path.mark")) {
	const box = bar.getBoundingClientRect();
	if (box.left < room.left || box.right > room.right || box.bottom > room.bottom)
		wrong.push("outside: " + bar.outerHTML);
	for (const t of texts)
		if (t.node.parentNode === bar.parentNode && over(box, t.box) && t.node.parentNode !== svg)
			wrong.push("bar over: " + name(t));
}
if (document.querySelectorAll("svg").length !== 1 || svg.querySelector("script"))
	wrong.push("a name became markup");
const ink = getComputedStyle(svg.querySelector("text")).fill, paper = getComputedStyle(svg).backgroundColor;
document.getElementById("verdict").textContent =
	"texts " + texts.length + " wrong " + wrong.length + " ink " + ink + " paper " + paper + "\n" + wrong.slice(0, 5).join("\n");
</script>
END
}

browse() { # SVG [OPTION...]: the verdict
	page "$1" >"$tmp/page.html"
	timeout -k 5 180 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$(mktemp -d -p "$tmp")" --virtual-time-budget=10000 "${@:2}" --dump-dom \
		"file://$tmp/page.html" 2>"$err" | sed -n '/<pre id="verdict">/,/<\/pre>/p' | sed 's/<[^>]*>//g'
}

for n in 5 250; do
	for names in plain hostile; do
		sentence="the picture of $n containers with $names names: no text is cut or lies over another"
		if ! command -v chromium >/dev/null; then
			skip "$sentence" "chromium is not installed"
			continue
		fi
		generate "$n" "$names" >"$tmp/many"
		"$graced" report --file "$tmp/many" -o svg >"$tmp/many.svg" 2>"$err"
		rc=$?
		browse "$tmp/many.svg" >"$out"
		((rc == 0)) && grep -qE '^texts [0-9]+ wrong 0 ' "$out" && (($(awk '/^texts/ { print $2; exit }' "$out") >= 2 * n))
		claim "$sentence" $?
	done
done
if command -v chromium >/dev/null; then
	browse "$tmp/many.svg" --blink-settings=preferredColorScheme=0 >"$out"
	grep -qE 'wrong 0 .*ink rgb\((1[5-9]|2[0-9])[0-9], .*paper rgb\((1|2|3)?[0-9], ' "$out"
	claim "where dark is preferred, text is light on dark" $?
else
	skip "where dark is preferred, text is light on dark" "chromium is not installed"
fi

conclude
