#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What make demo shows of its build, by tools/progress on a Makefile of the test's own. Prints TAP.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/lib/tap.sh"

cat >"$tmp/Makefile" <<'END'
say = @printf '  %-8s%s\n' $(1) $(2)
all: first second
first:
	$(call say,CC,build/first.o)
second: first
	$(call say,CC,build/second.o)
broken: first
	$(call say,CC,build/broken.o)
	@printf 'broken.c:1: error\n  1 | wrong\n' >&2; exit 1
END
build=("$root/tools/progress" make -s -C "$tmp")
on_terminal() { # COLUMNS TARGET: what its screen gets
	script -qefc "stty cols $1; ${build[*]} $2" /dev/null </dev/null | tr -d '\n'
}

try "${build[@]}" all
[[ $rc == 0 && $(<"$out") == "  BUILD   2 files" ]] && quiet "$err"
claim "a build in a pipe is one line" $?

try "${build[@]}" broken
[[ $rc == 2 && $(<"$out") == *"  BUILD   2 files"*$'\nbroken.c:1: error\n  1 | wrong\n'*"***"* ]]
claim "its errors are whole, and its exit status is that of make" $?

clear=$'\r\e[K'
[[ $(on_terminal 100 all) == \
	"$clear  BUILD   1 of 2  build/first.o$clear  BUILD   2 of 2  build/second.o$clear" ]]
claim "on a terminal its steps take each other's place, and leave nothing" $?

[[ $(on_terminal 19 all) == "$clear  BUILD   1 of 2  $clear"* ]]
claim "they fit into a narrow terminal" $?

[[ $(on_terminal 100 broken) == *"build/broken.o${clear}broken.c:1: error"* ]]
claim "an error takes the place of a step" $?

conclude
