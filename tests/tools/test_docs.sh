#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds the manual pages, the completions and the default configuration to the program: what it
# prints, writes and takes has to be in them. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$root" || exit 1
out=$tmp/out
count=0 failures=0

claim() { # SENTENCE STATUS, with what is amiss in $out
	count=$((count + 1))
	if (($2 == 0)); then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		head -20 "$out" | cut -c1-200 | sed 's/^/# /'
		failures=$((failures + 1))
	fi
	: >"$out"
}

skip() { # SENTENCE REASON
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# Each missing thing is a line in $out; a list that came out empty is one, too.
nothing_missing() { [[ ! -s $out ]]; }
have() { command -v "$1" >/dev/null; }
: >"$out"

# --- what there is ---------------------------------------------------------------------------

help_of() { # [COMMAND], asked once
	[[ -e $tmp/help-${1-} ]] || timeout 120 "$graced" "$@" --help >"$tmp/help-${1-}"
	cat "$tmp/help-${1-}"
}
mapfile -t commands < <(help_of | sed -nE 's/^  ([a-z]+)(, [a-z]+)?  .*/\1/p')
mapfile -t others < <(help_of | sed -nE 's/^  [a-z]+, ([a-z]+)  .*/\1/p')
((${#commands[@]})) || { echo "Bail out! $graced names no commands" && exit 1; }

# The options that a command's help introduces, long ones first: "--output -o".
options_of() { # COMMAND
	help_of "$1" | sed -nE -e 's/^ {2,6}(-[a-z], )?(--[a-z][a-z.-]*).*/\2 \1/' \
		-e 's/^(--[a-z.-]+) (-[a-z])?,? ?$/\1 \2/p' | sed 's/ $//'
}

# The text of a page, without markup: one line for each, so that words can be looked for.
text_of() { # FILE
	local text=$tmp/text-${1##*/}
	[[ -e $text ]] && cat "$text" && return
	sed -E -e '/^\.\\"/d' -e 's/^\.[A-Z][A-Za-z]( |$)//' -e 's/\\[&|]//g' -e 's/\bNs\b//g' "$1" |
		tr '\n' ' ' | tee "$text"
}

# In mdoc, `.It Fl o , -output Ar FORMAT` introduces -o and --output; `.Fl` alone mentions them.
options_in() { # FILE [It ]
	sed -nE -e 's/ (Ar|Cm|Ns|Op) .*//' -e "s/^\.${2-}Fl //p" "$1" | tr -s ' ,' '\n' | sed 's/^/-/'
}

# As a whole, WORD being a pattern but for its dots.
has_word() { # FILE WORD
	text_of "$1" | grep -qE "(^|[^A-Za-z0-9_.-])${2//./\\.}([^A-Za-z0-9_-]|$)"
}

# --- pages -----------------------------------------------------------------------------------

for command in "${commands[@]}"; do
	grep -qE "^\.It Cm $command( , [a-z]+)?$" docs/graced.8 || echo "graced(8) lacks $command" >>"$out"
done
nothing_missing
claim "graced(8) has every command" $?

# A setting is one by its key in graced.yaml(5), whose headings tools/generate holds to the table.
{
	options_in docs/graced-run.8 "It "
	sed -nE 's/^\.It Cm ([A-Za-z.]+) Ar [a-z]+$/\1/p' docs/graced.yaml.5
} | tr -d '.-' | tr 'A-Z' 'a-z' | sort >"$tmp/documented"
options_of run | tr ' ' '\n' | grep -vxE -- '-h|--help' | tr -d '.-' | sort >"$tmp/options"
[[ -s $tmp/options ]] || echo "run has no options" >>"$out"
comm -3 "$tmp/options" "$tmp/documented" | sed "s/^/run: /" >>"$out"
nothing_missing
claim "every option of run is in graced-run(8) or a setting of graced.yaml(5), and no other" $?

# What many commands share is in graced(8) alone.
options_in docs/graced.8 "It " | sort -u >"$tmp/common"
for command in "${commands[@]}"; do
	[[ -e docs/graced-$command.8 && $command != run ]] || continue
	options_of "$command" | tr ' ' '\n' | sort >"$tmp/options"
	options_in "docs/graced-$command.8" "It " | sort -u >"$tmp/its-own"
	[[ -s $tmp/options ]] || echo "$command has no options" >>"$out"
	sort -u "$tmp/its-own" "$tmp/common" | comm -23 "$tmp/options" - |
		grep -vxE -- "-h|--help" | sed "s/^/$command: /" >>"$out"
	comm -13 "$tmp/options" "$tmp/its-own" | sed "s/^/$command has no /" >>"$out"
	comm -12 "$tmp/its-own" "$tmp/common" | grep -E '^--' | sed "s/^/graced(8) has it, too: $command /" >>"$out"
done
nothing_missing
claim "every option of the other commands is in their page or in graced(8), once, and no other" $?

for command in "${commands[@]}"; do
	[[ $command == version || -e docs/graced-$command.8 ]] || echo "no page for $command" >>"$out"
	for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES "SEE ALSO"; do
		[[ $command =~ ^(version|run)$ ]] || grep -qxF ".Sh $section" "docs/graced-$command.8" ||
			echo "the page of $command has no $section" >>"$out"
	done
done
nothing_missing
claim "every command has a page of its own with the usual sections" $?

for page in docs/*.[158]; do
	grep -qxF ".Os Linux" "$page" || echo "$page does not say that it is about Linux" >>"$out"
done
nothing_missing
claim "the pages say what they are for: Linux" $?

grep -ohE '"(graced|process)_[a-z_]+"' user/wire/prometheus/*.c | tr -d '"' | sort -u >"$tmp/families"
[[ -s $tmp/families ]] || echo "no metrics" >>"$out"
while read -r family; do
	has_word docs/graced-run.8 "$family(_total|_info)?" ||
		echo "graced-run(8) lacks $family" >>"$out"
done <"$tmp/families"
nothing_missing
claim "every metric is in graced-run(8)" $?

text_of docs/graced-run.8 | grep -oE '\b(graced|process)_[a-z_]+' | sort -u >"$tmp/named"
while read -r name; do
	base=${name%_total}
	grep -qxE "$name|$base|${name%_info}|${name%_bucket}" "$tmp/families" || echo "there is no $name" >>"$out"
done <"$tmp/named"
nothing_missing
claim "graced-run(8) has no metric that is not there" $?

{
	sed -n '/^\(static \)\?const struct member .*= {$/,/^};/p; /^#define [A-Z]*(type/,/[^\\]$/p' \
		user/wire/json/{parts.h,parts.c,rows.c,record.c,audit.c} | grep -oE '"[a-z_]+"'
	grep -oE '"[a-z_]+"' user/wire/kernel/event.c
} | tr -d '"' | sort -u >"$tmp/members"
(($(wc -l <"$tmp/members") > 50)) || echo "too few members were found" >>"$out"
while read -r member; do
	has_word docs/graced-records.5 "$member" || echo "graced-records(5) lacks $member" >>"$out"
done <"$tmp/members"
nothing_missing
claim "every member of a record is in graced-records(5)" $?

words_of() { # LIST...: its words
	local list
	for list; do
		sed -n "/^BEGIN($list,/,/^END/s/^NAME([A-Z_]*, \"\([^\"]*\)\").*/\1/p" user/core/words/words.def
	done
}
words_of outcome cause gap sender_kind record_container_kind record_result pod_trigger boot_end boot_reason \
	boot_journal unheard audit_{verdict,reason,warning,disposition} discrepancy >"$tmp/words"
(($(sort -u "$tmp/words" | wc -l) > 40)) || echo "too few words were found" >>"$out"
while read -r word; do
	has_word docs/graced-records.5 "$word" || echo "graced-records(5) lacks $word" >>"$out"
done < <(sort -u "$tmp/words")
nothing_missing
claim "every outcome, cause, gap, kind, reason, trigger, discrepancy and verdict is in graced-records(5)" $?

# What graced_unheard_stops_total and graced_kills_total have for labels.
{
	words_of unheard sender_kind
	sed -n '/^enum cause series_kill_cause/,/^}/s/.*= CAUSE_\([A-Z_]*\),$/\1/p' user/core/metrics/series.c | tr 'A-Z_' 'a-z-'
} | sort -u >"$tmp/labels"
(($(wc -l <"$tmp/labels") > 15)) || echo "too few labels were found" >>"$out"
while read -r word; do
	has_word docs/graced-run.8 "$word" || echo "graced-run(8) lacks $word" >>"$out"
done <"$tmp/labels"
nothing_missing
claim "every reason, sender and cause that metrics count kills and unheard stops by is in graced-run(8)" $?

words_of outcome | sort >"$tmp/outcomes"
outcomes_in() { # WHERE, in stdin
	grep -oE '[a-z-]+' | grep -vx or | sort | diff "$tmp/outcomes" - | sed "s,^[<>],$1: &," >>"$out"
}
help_of trace | tr '\n' ' ' | sed -E 's/.*show only these outcomes: ([^;]*);.*/\1/' | outcomes_in --help
grep -A 2 '^\.Cm graceful ,' docs/graced-trace.8 | sed 's/^\.Cm//' | outcomes_in docs/graced-trace.8
nothing_missing
claim "--help and graced-trace(8) have each outcome, and no other" $?

# The words in queries for the metrics of graced.
words_of cause >"$tmp/causes"
words_of gap >"$tmp/gaps"
for label in outcome cause gap; do
	[[ -s $tmp/${label}s ]] || echo "no ${label}s" >>"$out"
	grep -ohE "graced[a-z0-9_:]+ ?\{[^}]*\}" deploy/*.{yaml,json} docs/*.{md,8} |
		sed -E 's/\\\(dq|\\"/"/g' | grep -oE "\b$label[!=~]+\"[a-z|-]*\"" | sed 's/.*[=~]"//; s/"$//' | tr '|' '\n' |
		sort -u | comm -23 - <(sort "$tmp/${label}s") | sed "s/^/a query has an unknown $label: /" >>"$out"
done
nothing_missing
claim "queries of rules, dashboard and pages name outcomes, causes and gaps that there are" $?

{
	grep -ohE '"GRACED_[A-Z_]+"' user/wire/text/journal*.c | tr -d '"'
	grep -ohE '^#define ID_[A-Z]+ *[[:space:]]*"[0-9a-f]{32}"' user/wire/text/journal*.c |
		grep -oE '[0-9a-f]{32}'
	for which in STOP KILL; do
		printf "GRACED_${which}_%s\n" SIGNAL RESULT SENDER SENDER_KIND
	done
} >"$tmp/fields"
(($(wc -l <"$tmp/fields") > 30)) || echo "too few fields were found" >>"$out"
while read -r field; do
	has_word docs/graced-records.5 "$field" || echo "graced-records(5) lacks $field" >>"$out"
done <"$tmp/fields"
nothing_missing
claim "every field and MESSAGE_ID of the journal is in graced-records(5)" $?

pages="the pages are clean mdoc"
if have mandoc; then
	for page in docs/*.[158]; do
		timeout 60 mandoc -T lint -W warning "$page" >>"$out" 2>&1
	done
elif have groff; then
	for page in docs/*.[158]; do
		timeout 60 groff -mandoc -Tutf8 -ww "$page" 2>>"$out" >/dev/null
	done
fi
if have mandoc || have groff; then
	nothing_missing
	claim "$pages" $?
else
	skip "$pages" "neither mandoc nor groff"
fi

for page in docs/*.[158]; do
	while read -r name section; do
		[[ $name == *graced* ]] || continue
		[[ -e docs/$name.$section ]] || echo "$page refers to $name($section)" >>"$out"
	done < <(sed -n 's/^\.Xr \([^ ]*\) \([0-9]\).*/\1 \2/p' "$page")
done
# A section of another page is named in words; .Sx is for the page's own.
for page in docs/*.[158]; do
	sed -nE 's/^\.(Pq )?Sx ([A-Za-z_, ]+[A-Za-z_])( [.,;:)]+)?( No .*)?$/\2\t\4/p' "$page" |
		while IFS=$'\t' read -r section elsewhere; do
			[[ $elsewhere ]] || grep -qxE "\.S[hs] $section" "$page" ||
				echo "$page has no section $section" >>"$out"
		done
done
for page in docs/*.[158]; do
	tr '\n' ' ' <"$page" | grep -oE '\b[A-Z][A-Z ]+ in (\.)?Xr [a-z.-]+ [158]' |
		while read -r words; do
			section=${words%% in *} name=${words##*Xr }
			grep -qxE "\.S[hs] .*${section##* }" "docs/${name% *}.${name##* }" || echo "$page: there is no $words" >>"$out"
		done
done
nothing_missing
claim "pages refer to each other rightly" $?

# --- completions -----------------------------------------------------------------------------

# What bash would offer for a line; = is a word of its own, as readline has it.
offered() { # WORD...
	timeout 120 bash --norc -c '
		source docs/completions/graced.bash
		COMP_WORDS=(graced "$@") COMP_CWORD=$#
		_graced
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}
offers() { # EXPECTED WORD...: among others
	offered "${@:2}" | grep -qxF -- "$1" || echo "bash: no $1 after ${*:2}" >>"$out"
}

offered "" | grep -v '^-' | sort >"$tmp/offered"
printf '%s\n' "${commands[@]}" "${others[@]}" | sort | diff - "$tmp/offered" >>"$out"
for command in "${commands[@]}" "${others[@]}"; do
	options_of "$command" | grep -oE -- '--[a-z.-]+' | sort >"$tmp/options"
	offered "$command" -- | grep -vE -- '^--no-.*\.' | sort | diff "$tmp/options" - |
		sed "s/^[<>]/bash: $command: &/" >>"$out"
done
offered trace --outcome "" | sort | diff "$tmp/outcomes" - >>"$out"
nothing_missing
claim "bash completes the commands by each name, their options and each outcome, and no others" $?

while read -r expected words; do
	# shellcheck disable=SC2086 # the words are the line
	offers "$expected" $words
done <<'END'
table trace -o t
json trace --output = j
TERM trace -s TE
SIGTERM audit --signal SIGTE
TERM,INT replay -s TERM,IN
oom-killed trace --outcome oom
containers run --scope con
unified check --hierarchy uni
warning run --log.level w
auto run --sinks.journal = a
off run --budget.cpu o
Makefile replay Mak
Makefile trace --record Make
docs run --names.log-directory do
docs audit --names.log-directory = do
--no-sinks.stdout run --no-si
1 resolve 1
1.26 explain --kubelet.version 1.2
Makefile explain Mak
Makefile pods --control.socket Mak
Makefile plan --pods Mak
Makefile plan --kubelet.config Mak
Makefile check --kubelet.config Mak
1.26 check --kubelet.version 1.2
NoExecute plan --out-of-service-effect NoE
1.26 plan --kubelet.version 1.2
END
nothing_missing
claim "bash completes values, after a space and after =" $?

((BASH_VERSINFO[0] >= 4)) && touch "$tmp/a b" && (
	cd "$tmp" && source "$root/docs/completions/graced.bash" &&
		COMP_WORDS=(graced replay a) COMP_CWORD=2 && _graced && [[ ${COMPREPLY[0]} == "a b" ]]
)
claim "bash completes a file with a space in its name" $?

bash -n docs/completions/graced.bash 2>>"$out" && source docs/completions/graced.bash &&
	complete -p graced >/dev/null
claim "the completion for bash is sound" $?

if have zsh; then
	timeout 120 zsh -f -n docs/completions/_graced 2>>"$out"
	claim "zsh can read its completion" $?
else
	skip "zsh can read its completion" "no zsh"
fi
if have fish; then
	timeout 120 fish --no-config -c 'source docs/completions/graced.fish; complete -C "graced run --log.level w"' \
		2>>"$out" | grep -q '^warning'
	claim "fish completes a value" $?
else
	skip "fish completes a value" "no fish"
fi

# --- the tree --------------------------------------------------------------------------------

# Modules are named by their path below user/ and without extension, all else as it is.
is_there() { # PATH
	[[ -e $1 || -e $1.c || -e user/$1 || -e user/$1.c || -e user/$1.h ]]
}
named_in() { # FILE, PATTERN of what stands in backquotes
	grep -oE "\`$2\`" "$1" | tr -d '`' | sort -u
}
grep -rhE '^([a-z]|__noinline ).*[a-z0-9_]\(' user bpf --include='*.[ch]' | sed -E 's/^([^(]*[ *])?([a-z0-9_]+)\(.*/\2/' |
	sort -u >"$tmp/functions"

for page in docs/architecture.md docs/kubelet-rules.md; do
	named_in "$page" '(base|core|wire|io|app|bpf|user|tests|tools|include|docs)(/[A-Za-z0-9_.-]+)+' >"$tmp/named"
	[[ -s $tmp/named ]] || echo "$page names no module" >>"$out"
	while read -r path; do
		is_there "$path" || echo "$page: there is no $path" >>"$out"
	done <"$tmp/named"
	# Functions of the kubelet are in camel case.
	named_in "$page" '[a-z0-9]+(_[a-z0-9]+)+\(\)' | tr -d '()' >"$tmp/named"
	[[ -s $tmp/named ]] || echo "$page names no function" >>"$out"
	comm -23 "$tmp/named" "$tmp/functions" | sed "s,.*,$page: there is no function &()," >>"$out"
done
nothing_missing
claim "each module and function that docs/architecture.md and docs/kubelet-rules.md name is there" $?

{
	echo bpf
	find user -name '*.[ch]' -printf '%h\n' | sed 's,^user/,,' | sort -u
} >"$tmp/rooms"
while read -r room; do
	grep -q "^| \`$room\` | [^ ]" docs/architecture.md || echo "docs/architecture.md has no room $room" >>"$out"
done <"$tmp/rooms"
sed -n 's/^| `\([a-z][a-z/]*\)` |.*/\1/p' docs/architecture.md | while read -r room; do
	is_there "$room" || echo "there is no room $room" >>"$out"
done
nothing_missing
claim "docs/architecture.md has one line for each room" $?

# --- deploy ----------------------------------------------------------------------------------

install -m 644 deploy/graced.yaml "$tmp/default.yaml"
timeout 120 "$graced" run --config "$tmp/default.yaml" --config.check >>"$out" 2>&1
claim "the default configuration is right" $?

# But for the file that is not there.
sed -E '/^#  configFile:/d; s/^#(([^ ]|  ).*)/\1/' deploy/graced.yaml >"$tmp/all.yaml"
chmod 644 "$tmp/all.yaml"
timeout 120 "$graced" run --config "$tmp/all.yaml" --config.check >>"$out" 2>&1
claim "it is right as well with all that is commented out" $?

flags="the arguments of the manifest are right"
manifest=$(sed -n '/^ *args:/,/^ *env:/s/^ *- \(--.*\)/\1/p' deploy/daemonset.yaml)
# shellcheck disable=SC2086 # one word each
[[ $manifest ]] && timeout 120 "$graced" run $manifest --config.check >>"$out" 2>&1
claim "$flags" $?

yaml="the manifest is YAML, without access to the API server, and its PodMonitor honours labels"
if python3 -c 'import yaml' 2>/dev/null; then
	timeout 60 python3 - deploy/daemonset.yaml deploy/podmonitor.yaml >>"$out" 2>&1 <<'END'
import sys, yaml
docs = {d["kind"]: d for d in yaml.safe_load_all(open(sys.argv[1]))}
assert not [k for k in docs if "Role" in k], "roles"
spec = docs["DaemonSet"]["spec"]["template"]["spec"]
assert spec["automountServiceAccountToken"] is False
assert docs["ServiceAccount"]["automountServiceAccountToken"] is False
container = spec["containers"][0]
assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
assert container["securityContext"]["readOnlyRootFilesystem"] is True
assert not container["securityContext"]["privileged"]
volumes = {v["name"] for v in spec["volumes"]}
mounts = container["volumeMounts"]
assert all(m["name"] in volumes and (m["name"] in ("run", "checkpoint", "state") or m["readOnly"]) for m in mounts)
assert not any(v.get("hostPath") for v in spec["volumes"] if v["name"] == "run")
monitor = yaml.safe_load(open(sys.argv[2]))["spec"]
labels = docs["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
assert monitor["selector"]["matchLabels"].items() <= labels.items()
endpoint = monitor["podMetricsEndpoints"][0]
assert endpoint["honorLabels"] is True
assert endpoint["port"] in [p["name"] for p in container["ports"]]
END
	claim "$yaml" $?
else
	skip "$yaml" "no PyYAML"
fi

# --- install ---------------------------------------------------------------------------------

unit=$tmp/tree/usr/lib/systemd/system/graced.service
mkdir -p "$tmp/build"
# Not a build: the rules of install alone, with the binary as it is.
cp "$graced" "$tmp/build/graced"
put() {
	timeout 300 make -s --no-print-directory -o all BUILD="$tmp/build" DESTDIR="$tmp/tree" \
		prefix=/usr install >>"$out" 2>&1
}
placed="make install puts pages, completions, unit and configuration where they are looked for"
if have make && put; then
	: >"$out"
	for file in sbin/graced share/man/man8/graced.8 share/man/man8/graced-run.8 share/man/man8/graced-audit.8 \
		share/man/man8/graced-trace.8 share/man/man8/graced-top.8 share/man/man5/graced.yaml.5 \
		share/man/man5/graced-records.5 share/man/man1/kubectl-graced.1 bin/kubectl-graced share/bash-completion/completions/graced \
		share/zsh/site-functions/_graced share/fish/vendor_completions.d/graced.fish; do
		[[ -s $tmp/tree/usr/$file ]] || echo "no $file" >>"$out"
	done
	[[ -s $tmp/tree/etc/graced/graced.yaml ]] || echo "no configuration" >>"$out"
	grep -q '^ExecStart=/usr/sbin/graced run --config /etc/graced/graced.yaml$' "$unit" ||
		echo "the unit starts something else" >>"$out"
	grep -qE '@(prefix|sysconfdir)@' "$unit" && echo "the unit has a placeholder left" >>"$out"
	nothing_missing
	claim "$placed" $?

	echo "scope: pods" >"$tmp/tree/etc/graced/graced.yaml"
	put
	: >"$out"
	grep -qx "scope: pods" "$tmp/tree/etc/graced/graced.yaml"
	claim "make install leaves a configuration that is there alone" $?

	# What a daemon in mode assist has written.
	said() { sed -n "s/^#define DELAYDROP_$1[[:space:]]*\"\(.*\)\"/\1/p" user/io/logind/delay.h; }
	drop=$(said DIR)/$(said NAME)
	take() {
		mkdir -p "$(dirname "$2")"
		echo "[Login]" >"$2"
		PATH=$tmp/fake:$PATH timeout 60 make -s --no-print-directory BUILD="$tmp/build" \
			DESTDIR="$1" "${@:3}" uninstall >>"$out" 2>&1
	}
	cp "$unit" "$tmp/graced.unit"
	take "$tmp/tree" "$tmp/tree$drop" prefix=/usr || echo "it failed" >>"$out"
	find "$tmp/tree" -type f ! -path "$tmp/tree/etc/graced/graced.yaml" >>"$out"
	[[ -s $tmp/tree/etc/graced/graced.yaml ]] || echo "no configuration" >>"$out"
	nothing_missing
	claim "make uninstall leaves the configuration, and logind as it was without graced" $?

	# On this very host, as far as make knows.
	mkdir "$tmp/fake"
	cat >"$tmp/fake/systemctl" <<-END
		#!/bin/sh
		case "\$*" in
		*is-active*) exit \$(cat "$tmp/active") ;;
		*) echo "\$*" >>"$tmp/asked" ;;
		esac
	END
	chmod +x "$tmp/fake/systemctl"
	own=("prefix=$tmp/own" "DROPIN=$tmp/own/zz.conf")
	echo 3 >"$tmp/active"
	take "" "$tmp/own/zz.conf" "${own[@]}" && [[ ! -e $tmp/own/zz.conf ]] &&
		grep -qx 'kill --signal=HUP systemd-logind.service' "$tmp/asked"
	claim "make uninstall has logind read its files again" $?
	echo 0 >"$tmp/active"
	! take "" "$tmp/own/zz.conf" "${own[@]}" && [[ -e $tmp/own/zz.conf ]] &&
		grep -q '^graced runs: ' "$out"
	claim "it takes nothing away from a daemon that runs" $?
	: >"$out"

	verified="systemd has nothing to say against the unit"
	ordered="it can start before the slices of containers that start at boot"
	if have systemd-analyze; then
		sed "s,^ExecStart=[^ ]*,ExecStart=$graced," "$tmp/graced.unit" >"$tmp/graced.service"
		timeout 60 systemd-analyze verify --man=no "$tmp/graced.service" >>"$out" 2>&1
		# A host may not have all units that it is ordered against, and is of no interest.
		sed -i '/graced\.service/!d' "$out"
		nothing_missing
		claim "$verified" $?

		mkdir "$tmp/boot"
		cp "$tmp/graced.service" "$tmp/boot/"
		printf '[Service]\nSlice=machine.slice\nExecStart=/bin/true\n' >"$tmp/boot/machine.service"
		printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=%s\n' \
			"graced.service machine.service network-online.target dbus.service" >"$tmp/boot/boot.target"
		SYSTEMD_UNIT_PATH="$tmp/boot:" timeout 60 systemd-analyze verify --man=no boot.target \
			2>&1 | grep -B 2 -A 3 'ordering cycle' >>"$out"
		nothing_missing
		claim "$ordered" $?
	else
		skip "$verified" "no systemd-analyze"
		skip "$ordered" "no systemd-analyze"
	fi
else
	have make || echo "no make" >>"$out"
	claim "$placed" 1
fi

echo "1..$count"
exit $((failures > 0))
