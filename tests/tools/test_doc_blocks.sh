#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs what the pages (*.md, docs/*.md) show, each page that has commands in a clean copy of the tree,
# and checks what they refer to. The word after ``` names what a block is:
#   sh     commands, run as one script that must succeed
#   yaml   a configuration of graced run, checked by --config.check
#   text   anything else; any other word, or none, counts as text, too, but may not show commands
# A comment in the line before a block changes that:
#   <!-- not run: REASON -->   the block is skipped
#   <!-- until Ctrl-C -->      each line is a command of its own that must succeed; a graced that
#                              does not end by itself is sent SIGINT
#   <!-- file: DIR/NAME... --> a file of a container that tests/runtime/test_fix.c builds
#   BUILD=build tests/tools/test_doc_blocks.sh [PAGE...]     the blocks of these pages alone
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}")
graced=$(realpath "${GRACED:-$build/graced}") || exit 1
cd "$root" || exit 1

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
((EUID == 0)) || skip_all "needs root"
[[ -r /sys/kernel/btf/vmlinux ]] || skip_all "this kernel has no BTF"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
out=$tmp/out
: >"$out"
count=0 failures=0

claim() { # SENTENCE STATUS, with what is wrong in $out
	count=$((count + 1))
	if (($2 == 0)); then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		tail -30 "$out" | cut -c1-200 | sed 's/^/# /'
		failures=$((failures + 1))
	fi
	: >"$out"
}
nothing_wrong() { [[ ! -s $out ]]; }

# --- blocks ----------------------------------------------------------------------------------

# Writes the blocks of a page to FILE.1, FILE.2 …, and a line for each: its number, line, word, and
# marker.
blocks_of() { # PAGE FILE
	awk -v file="$2" '
	!inside && /^ *```/ {
		inside = ++n
		indent = index($0, "`") - 1
		word = substr($0, indent + 4)
		printf "%d %d %s %s\n", n, FNR, (word == "" ? "-" : word), marker
		printf "" >(file "." n)
		next
	}
	inside && /^ *```$/ { inside = 0; marker = ""; close(file "." n); next }
	inside {
		if (substr($0, 1, indent) ~ /^ *$/) $0 = substr($0, indent + 1)
		print >(file "." n)
		next
	}
	/^ *<!-- .* -->$/ { marker = $0; gsub(/^ *<!-- | -->$/, "", marker); next }
	{ marker = "" }
	END { if (inside) { print "a block has no end" >"/dev/stderr"; exit 1 } }' "$1"
}

# Without what is built; that is a link, so that make finds everything made.
copy_tree() { # DIRECTORY
	mkdir -p "$1"
	tar -C "$root" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$1" -xf -
	ln -s "$build" "$1/build"
	# Another version would be built there.
	"$root/tools/version" >"$1/.version"
}

in_copy() { # COMMAND...
	(
		cd "$copy" || exit 1
		unset BUILD GRACED HELPERS MAKEFLAGS MFLAGS MAKELEVEL
		PATH=$tmp/bin:$PATH TMPDIR=$tmp/scratch "$@"
	) >>"$out" 2>&1 </dev/null
}

# A graced that has begun to hold SIGINT back for its loop, so that it ends in order.
holds_sigint() { # PID
	local blocked
	[[ $(cat "/proc/$1/comm" 2>/dev/null) == graced ]] || return 1
	blocked=$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
	[[ $blocked ]] && ((16#$blocked >> 1 & 1))
}
is_over() { # PID
	! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null
}

run_until_ctrl_c() { # COMMAND LINE
	local pid turn
	# A job of its own: those of scripts ignore SIGINT otherwise.
	set -m
	bash -euc "exec $1" &
	pid=$!
	set +m
	for ((turn = 0; turn < 1200; turn++)); do
		is_over "$pid" && break
		holds_sigint "$pid" && kill -INT "$pid"
		sleep 0.1
	done
	is_over "$pid" || kill -KILL "$pid"
	wait "$pid"
}

run_lines() { # FILE
	local line status
	while IFS= read -r line; do
		[[ $line ]] || continue
		in_copy run_until_ctrl_c "$line"
		status=$?
		((status == 0)) && continue
		echo "status $status of: $line" >>"$out"
		return 1
	done <"$1"
}

commands='(\$ |# )?(apt-get|curl|git|graced|build/graced|kubectl|make|systemctl)( |$)'
run_block() { # PAGE FILE LINE WORD MARKER
	local name="$1:$3"
	case "$5 $4" in
	"not run: "*)
		count=$((count + 1))
		echo "ok $count - $name # SKIP ${5#not run: }"
		;;
	"until Ctrl-C sh")
		run_lines "$2"
		claim "$name: each command succeeds, ended by Ctrl-C" $?
		;;
	" sh")
		in_copy timeout -k 10 400 bash -euo pipefail "$2"
		claim "$name: the commands succeed" $?
		;;
	" yaml")
		install -m 644 "$2" "$tmp/config.yaml"
		timeout 120 "$graced" run --config "$tmp/config.yaml" --config.check >>"$out" 2>&1
		claim "$name: the configuration is valid" $?
		;;
	" text" | "file: "*) ;;
	" "*)
		grep -nE "^$commands" "$2" >>"$out"
		nothing_wrong || claim "$name: a block that shows commands is marked as sh" 1
		;;
	*)
		echo "no such marker: $5" >"$out"
		claim "$name: the marker is known" 1
		;;
	esac
}

mkdir "$tmp/bin" "$tmp/scratch"
ln -s "$graced" "$tmp/bin/graced"
pages=(*.md docs/*.md)
for page in "${@:-"${pages[@]}"}"; do
	blocks_of "$page" "$tmp/block" >"$tmp/blocks" 2>>"$out"
	nothing_wrong || claim "$page has whole blocks" 1
	[[ -s $tmp/blocks ]] || continue
	copy=$tmp/copy
	awk '$3 == "sh" && $4 != "not" { found = 1 } END { exit !found }' "$tmp/blocks" && copy_tree "$copy"
	while read -r n line word marker; do
		run_block "$page" "$tmp/block.$n" "$line" "$word" "$marker"
	done <"$tmp/blocks"
	rm -rf "$copy" "$tmp"/block.*
done

# --- what pages say --------------------------------------------------------------------------

lines=$(wc -l <README.md)
((lines <= 150)) || echo "it has $lines lines" >>"$out"
nothing_wrong
claim "README.md has at most 150 lines" $?

# The names that a heading can be linked to by.
anchors_of() { # PAGE
	sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}
for page in "${pages[@]}"; do
	while read -r link; do
		file=${link%%#*}
		target=${file:+$(dirname "$page")/$file}
		target=${target:-$page}
		if [[ ! -e $target ]]; then
			echo "$page: there is no $link" >>"$out"
		elif [[ $link == *#* ]] && ! anchors_of "$target" | grep -qxF -- "${link#*#}"; then
			echo "$page: $target has no heading for #${link#*#}" >>"$out"
		fi
	done < <(grep -oE '\]\([^)]*\)' "$page" | sed -E 's/^\]\(|\)$//g' | grep -vE '^[a-z]+:')
done
nothing_wrong
claim "pages link to pages, files and headings that exist" $?

for page in "${pages[@]}"; do
	grep -oE '`(bpf|deploy|docs|include|tests|tools|user|vmlinux)/[A-Za-z0-9_./-]+`' "$page" | tr -d '`' |
		while read -r path; do
			[[ -e $path || -e $path.c || -e $path.h ]] || echo "$page: there is no $path" >>"$out"
		done
done
nothing_wrong
claim "files and folders that pages name exist" $?

for page in "${pages[@]}"; do
	grep -hoE '\bgraced_[a-z_]+' "$page" | sed -E 's/_(sum|count|bucket)$//' | sort -u |
		while read -r name; do
			# Structs of the binary contract have the same prefix.
			grep -qw -- "$name" include/graced/event.h && continue
			grep -qE "\b${name%_total}(_total|_info)?\b" docs/graced-run.8 ||
				echo "$page: graced-run(8) has no $name" >>"$out"
		done
	grep -h '^{"type":' "$page" | grep -oE '"[a-z_]+":' | tr -d '":' | sort -u |
		while read -r member; do
			grep -qw -- "$member" docs/graced-records.5 ||
				echo "$page: graced-records(5) has no member $member" >>"$out"
		done
done
nothing_wrong
claim "metrics and members that pages name are in the man pages" $?

# --- the picture -----------------------------------------------------------------------------

blocks_of README.md "$tmp/block" >/dev/null
picture=$(grep -l '^\$ graced trace' "$tmp"/block.*)
tools/table-svg "$picture" 2>>"$out" >"$tmp/trace.svg" && cmp docs/trace.svg "$tmp/trace.svg" >>"$out" 2>&1
claim "docs/trace.svg is drawn from the table in README.md" $?
blocks_of docs/commands.md "$tmp/block" >/dev/null
picture=$(grep -l '^\$ graced why' "$tmp"/block.*)
tools/table-svg "$picture" 2>>"$out" >"$tmp/why.svg" && cmp docs/why.svg "$tmp/why.svg" >>"$out" 2>&1
claim "docs/why.svg is drawn from the story in docs/commands.md" $?

printf '%s\n' '$ graced trace -o "<table>"' 'TIME  NOTE' $'\e[31mkilled\e[0m  36.5µs & grace-u… deaf\x07' >"$tmp/table"
cat >"$tmp/expected" <<'END'
<text y="46" fill="#ffffff"><tspan x="14.0" textLength="7.8">$</tspan><tspan x="29.6" textLength="46.8">graced</tspan><tspan x="84.2" textLength="39.0">trace</tspan><tspan x="131.0" textLength="15.6">-o</tspan><tspan x="154.4" textLength="70.2">"&lt;table&gt;"</tspan></text>
<text y="65" fill="#8b949e"><tspan x="14.0" textLength="31.2">TIME</tspan><tspan x="60.8" textLength="31.2">NOTE</tspan></text>
<text y="84"><tspan x="14.0" textLength="46.8" fill="#ff7b72">killed</tspan><tspan x="76.4" textLength="46.8">36.5µs</tspan><tspan x="131.0" textLength="7.8">&amp;</tspan><tspan x="146.6" textLength="62.4">grace-u…</tspan><tspan x="216.8" textLength="31.2" fill="#e3b341">deaf</tspan></text>
END
tools/table-svg <"$tmp/table" >"$tmp/drawn" 2>>"$out"
grep '^<text' "$tmp/drawn" | diff "$tmp/expected" - >>"$out"
nothing_wrong
claim "each word of a table is drawn at its column, escaped, without control characters" $?

head -1 "$tmp/drawn" | grep -qF 'viewBox="0 0 262 103" width="262" height="103"' || head -1 "$tmp/drawn" >>"$out"
tail -1 "$tmp/drawn" | grep -qx '</svg>' || echo "it is not closed" >>"$out"
nothing_wrong
claim "a picture has the size of its table" $?

! tools/table-svg </dev/null >"$out" 2>&1 && grep -q 'the input has no line' "$out"
claim "an empty table is refused" $?

echo "1..$count"
exit $((failures > 0))
