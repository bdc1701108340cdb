#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Feeds each gate what it is there to stop and watches it say so; then what is right, and hears nothing.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tools=$root/tools
build=${BUILD:-$root/build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0 failures=0

check() { # CLAIM STATUS: one TAP line; what the gate said when it fails
	count=$((count + 1))
	if (($2 == 0)); then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/# /' "$tmp/said"
		failures=$((failures + 1))
	fi
}

# The gate must fail and say something that fits.
refuses() { # CLAIM PATTERN GATE [ARG...]
	local claim=$1 pattern=$2
	shift 2
	! "$@" >"$tmp/said" 2>&1 && grep -qE -- "$pattern" "$tmp/said"
	check "$claim" $?
}

accepts() { # CLAIM GATE [ARG...]
	local claim=$1
	shift
	"$@" >"$tmp/said" 2>&1 && [[ ! -s $tmp/said ]]
	check "$claim" $?
}

skip() { # CLAIM REASON
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# A new tree for each case, of PATH=TEXT arguments, each file with a licence line on top.
tree=
plant() { # PATH=TEXT...
	local arg path
	rm -rf "$tmp/tree" && mkdir -p "$tmp/tree/user" && tree=$tmp/tree
	for arg; do
		path=$tree/${arg%%=*}
		mkdir -p "$(dirname "$path")"
		printf '// SPDX-License-Identifier: Apache-2.0\n%b\n' "${arg#*=}" >"$path"
	done
}

repeat() { # TIMES TEXT
	local i
	for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done
}

layers() {
	plant 'user/core/a.c=#include "io/b.h"' 'user/io/b.h=int b;'
	refuses "an include that points up is named with its line" \
		'^user/core/a.c:2: core may not include io/b.h' "$tools/check-layers" "$tree"
	plant 'user/core/a.c=#include "b.h"' 'user/core/b.h=int b;'
	refuses "an include without its layer is refused" \
		'^user/core/a.c:2: write "b.h" with its layer' "$tools/check-layers" "$tree"
	plant 'user/core/a.c=#include <core/b.h>' 'user/core/b.h=int b;'
	refuses "a file of ours in angle brackets is refused" \
		'^user/core/a.c:2: core/b.h is ours' "$tools/check-layers" "$tree"
	plant 'user/core/a.c=#include "core/b.h"'
	refuses "an include of a file that is not there is refused" \
		'^user/core/a.c:2: user/core/b.h is not there' "$tools/check-layers" "$tree"
	plant 'user/core/a.h=#include "core/b.h"' 'user/core/b.h=#include "base/c.h"\n#include "core/a.h"' \
		'user/base/c.h=int c;'
	refuses "includes that go in a circle are reported with the way round" \
		'circle: user/core/a.h user/core/b.h user/core/a.h' "$tools/check-layers" "$tree"
	plant 'user/app/a.c=#include "graced.skel.h"'
	refuses "the skeleton is for io alone" \
		'^user/app/a.c:2: only io may include graced.skel.h' "$tools/check-layers" "$tree"
	plant 'user/misc/a.c=int a;'
	refuses "a folder that is no layer is refused" \
		'no such layer as user/misc' "$tools/check-layers" "$tree"
	plant 'user/io/a.c=#include "graced.skel.h"\n#include "core/b.h"\n#include <graced/event.h>' \
		'user/core/b.h=#include "base/c.h"\n#include "graced/event.h"\n#include <stdint.h>' \
		'user/base/c.h=#include <jansson.h>'
	accepts "includes that point down or aside pass" "$tools/check-layers" "$tree"
	plant 'user/core/a/x.c=#include "core/b/y.h"' 'user/core/b/y.h=int y;' \
		'user/core/b/z.c=#include "core/a/w.h"' 'user/core/a/w.h=int w;'
	refuses "folders that include each other are refused with the way round" \
		'circle: user/core/([ab]) user/core/[ab] user/core/\1$' "$tools/check-layers" "$tree"
}

compile() { # compiles the tree's sources as the build would
	local source
	rm -rf "$tmp/build"
	for source in "$tree"/user/*/*.c; do
		source=${source#"$tree"/}
		mkdir -p "$tmp/build/$(dirname "$source")"
		${CC:-gcc} -g -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
			-ffunction-sections -I"$tree/user" -c \
			"$tree/$source" -o "$tmp/build/${source%.c}.o"
	done
}

purity() {
	plant 'user/core/a.c=#include <fcntl.h>\nint a(void);\nint a(void)\n{\n\treturn open("/", 0);\n}'
	compile
	refuses "a call that touches the world is named with its line" \
		'^user/core/a.c:6: open.*core may not call it' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/base/a.c=#include <time.h>\nlong a(void);\nlong a(void) { return time(0); }'
	compile
	refuses "a clock is refused" 'a.c:[0-9]+: time\(\)' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/base/a.c=#include <stdlib.h>\nchar *a(void);\nchar *a(void) { return getenv("A"); }'
	compile
	refuses "the environment is refused" 'getenv\(\)' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/wire/a.c=void *json_load_file(void);\nvoid *a(void);\nvoid *a(void) { return json_load_file(); }'
	compile
	refuses "JSON from a file is refused" 'json_load_file\(\)' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/io/a.c=#include <stdio.h>\nint a(void);\nint a(void) { return puts("a"); }' \
		'user/core/b.c=int a(void);\nint b(void);\nint b(void) { return a(); }'
	compile
	refuses "a call up into io is refused" ': a\(\) is not' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/core/a.c=int a;'
	rm -rf "$tmp/build"
	refuses "a source without an object is reported" \
		'user/core/a.c:1: was not compiled' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/core/a.c=int a;' 'user/wire/a.proto=syntax = "proto3";'
	compile
	refuses "messages without their generated object are reported" \
		'user/wire/a.proto:1: was not compiled' "$tools/check-purity" "$tmp/build" "$tree"
	mkdir -p "$tmp/build/gen"
	echo 'long time(long *); long b(void); long b(void) { return time(0); }' |
		${CC:-gcc} -x c -c - -o "$tmp/build/gen/a.pb-c.o"
	refuses "what is generated from messages is judged" \
		'user/wire/a.proto:1: time\(\)' "$tools/check-purity" "$tmp/build" "$tree"
	plant 'user/core/a.c=#include <stdio.h>\n#include <stdlib.h>\nint b(char *s, int n);
int a(int n);\nint a(int n)\n{\n\tchar s[64];\n\tsnprintf(s, sizeof(s), "%%d", n);\n\treturn b(s, n);\n}' \
		'user/base/b.c=#include <string.h>\nvoid *json_loads(void);\nint b(char *s, int n);
int b(char *s, int n)\n{\n\tmemset(s, n, (unsigned int)n);\n\treturn json_loads() ? (int)strlen(s) : 0;\n}'
	compile
	accepts "memory, strings, JSON and each other pass" "$tools/check-purity" "$tmp/build" "$tree"
}

# Every function of four files calls that of the next; the last calls the first.
plant_circle() {
	plant 'user/core/a.c=void a(void); void b(void);\nvoid a(void) { b(); }' \
		'user/core/b.c=void b(void); void c(void);\nvoid b(void) { c(); }' \
		'user/core/c.c=void c(void); void d(void);\nvoid c(void) { d(); }' \
		'user/core/d.c=void d(void); void a(void);\nvoid d(void) { a(); }' "$@"
	compile
}

circles() {
	local gate=("$tools/check-circles" "$tmp/build" "$tmp/allow")
	: >"$tmp/allow"
	plant_circle
	refuses "four files that call each other are refused" \
		'4 files call each other in a circle, 3 is the limit:( user/core/[abcd].c){4}$' "${gate[@]}" "$tree"
	echo '4 user/core/b.c' >"$tmp/allow"
	accepts "an exception permits them" "${gate[@]}" "$tree"
	echo '5 user/core/b.c' >"$tmp/allow"
	refuses "an exception that permits too much is refused" \
		'circle of user/core/b.c has 4 files now' "${gate[@]}" "$tree"
	plant_circle 'user/core/d.c=void d(void); void b(void);\nvoid d(void) { b(); }'
	echo '4 user/core/gone.c' >"$tmp/allow"
	refuses "an exception for a file that is gone is refused" \
		'there is no user/core/gone.c' "${gate[@]}" "$tree"
	: >"$tmp/allow"
	accepts "three that call each other pass, and one that calls them" "${gate[@]}" "$tree"
	plant 'user/core/hook.h=typedef void (*hook_fn)(void);\nstruct hooks {\n\thook_fn hook;\n};\nextern struct hooks h;\nvoid a(void), b(void), c(void), d(void), run(void);' \
		'user/core/h.c=#include "core/hook.h"\nstruct hooks h;' \
		'user/core/set.c=#include "core/hook.h"\nvoid run(void) { h = (struct hooks){.hook = d}; a(); }' \
		'user/core/a.c=#include "core/hook.h"\nvoid a(void) { b(); }' \
		'user/core/b.c=#include "core/hook.h"\nvoid b(void) { c(); }' \
		'user/core/c.c=#include "core/hook.h"\nvoid c(void) { h.hook(); }' \
		'user/core/d.c=#include "core/hook.h"\nvoid d(void) { a(); }'
	compile
	refuses "a function that is handed over counts as called" \
		'4 files call each other in a circle, 3 is the limit:( user/core/[abcd].c){4}$' "${gate[@]}" "$tree"
	rm "$tmp/build/user/core/c.o"
	refuses "a source without an object is named" 'user/core/c.o' "${gate[@]}" "$tree"
}

reach() {
	local gate=("$tools/check-reach" "$tmp/build" "$tmp/allow")
	: >"$tmp/allow"
	plant 'user/app/main.c=int a(void);\nint main(void) { return a(); }' \
		'user/core/a.c=int a(void); int b(void);\nint a(void) { return 0; }\nint b(void) { return 1; }'
	compile
	refuses "a program that was not built is named" 'graced was not built' "${gate[@]}" "$tree"
	${CC:-gcc} -Wl,--gc-sections -o "$tmp/build/graced" "$tmp"/build/user/*/*.o
	refuses "a function that no command reaches is named" \
		'^user/core/a.c:1: no command reaches b\(\)' "${gate[@]}" "$tree"
	echo b >"$tmp/allow"
	accepts "an exception permits it" "${gate[@]}" "$tree"
	echo a >>"$tmp/allow"
	refuses "an exception for one that is reached is refused" \
		'a is no exception any more' "${gate[@]}" "$tree"
	rm "$tmp/build/user/core/a.o"
	refuses "a source without an object is named" 'user/core/a.o' "${gate[@]}" "$tree"
}

style() {
	local sixty i sources=()
	sixty=$(repeat 58 '\tn++;\n')
	plant "user/core/a.c=int a;$(repeat 800 '\n')"
	refuses "a file of more than 800 lines is refused" \
		'^user/core/a.c:80[0-9]: 80[0-9] lines, 800' "$tools/check-style" "$tree"
	plant "user/core/a.c=int f(void);\nint f(void)\n{\n\treturn 0;\n}$(repeat 780 '\n')"
	accepts "one of 785 lines passes" "$tools/check-style" "$tree"
	plant "user/core/a.c=int a(int n);\nint a(int n)\n{\n${sixty}\tn--;\n\treturn n;\n}"
	refuses "a function of more than 60 lines is refused by name" \
		'^user/core/a.c:3: a\(\) has 6[0-9] lines' "$tools/check-style" "$tree"
	plant "user/core/a.c=int a(int n);\nint a(int n)\n{\n\tstatic const int t[] = {\n$(repeat 70 '\t\t1,\n')\t};\n\treturn t[n];\n}"
	accepts "a table in a function does not count" "$tools/check-style" "$tree"
	plant "user/core/a.c=int a;  /* TO""DO: more */\nint f(void);\nint f(void)\n{\n\treturn a;\n}"
	refuses "a marker for work left over is refused" '^user/core/a.c:2:' "$tools/check-style" "$tree"
	plant "user/core/a.c=int f(void);\nint f(void)\n{\n\treturn 0;\n}"
	sed -i 1d "$tree/user/core/a.c"
	refuses "a file without a licence is refused" '^user/core/a.c:1: .*SPDX' "$tools/check-style" "$tree"
	plant "user/core/a.c=int f(char *s);\nint f(char *s)\n{\n\treturn *s; /* /tmp/a.XXXXXX */\n}"
	accepts "a short licensed file passes" "$tools/check-style" "$tree"
	for ((i = 0; i < 33; i++)); do sources+=("user/core/a/f$i.c=int f$i(void);\nint f$i(void) { return 0; }"); done
	plant "${sources[@]}" 'user/core/a/b/g.c=int g;'
	refuses "a folder of more than 32 sources is refused" '^user/core/a: 33 sources' "$tools/check-style" "$tree"
	plant "${sources[@]:1}" 'user/core/a/b/g.c=int g;'
	accepts "one of 32 and a folder of its own passes" "$tools/check-style" "$tree"
}

citations() {
	local gate=("$tools/check-citations")
	plant 'user/core/a.c=/* see docs/rules.md */' 'docs/other.md=# Rules'
	refuses "a document that is cited and absent is named with its line" \
		'^user/core/a.c:2: there is no docs/rules.md$' "${gate[@]}" "$tree"
	plant 'user/core/a.c=/* as in graced-dig(8) */' 'docs/graced-run.8=.Sh NAME'
	refuses "so is a man page of ours" '^user/core/a.c:2: there is no docs/graced-dig.8$' "${gate[@]}" "$tree"
	plant 'docs/graced-run.8=.Sh NAME\n.Xr graced-dig 8 ,'
	refuses "and one that another refers to" '^docs/graced-run.8:3: there is no docs/graced-dig.8$' \
		"${gate[@]}" "$tree"
	plant 'user/core/a.c=/*\n * It ends (docs/rules.md, "One rule", "Another\n * rule" and "Third").\n */' \
		'docs/rules.md=## One rule\n### Another rule\n```\n# Third\n```'
	refuses "a heading that is cited and absent is named with its line" \
		'^user/core/a.c:3: docs/rules.md has no heading "Third"$' "${gate[@]}" "$tree"
	plant 'user/core/a.c=/* docs/graced-run.8, "SETTINGS" */' 'docs/graced-run.8=.Sh NAME'
	refuses "so is a section of a man page" 'docs/graced-run.8 has no heading "SETTINGS"' "${gate[@]}" "$tree"
	plant 'user/core/a.json={"origin": "docs/rules.md, \\"One\\"", "next": 1}' 'docs/rules.md=## Two'
	refuses "so is one in a string" 'no heading "One"$' "${gate[@]}" "$tree"
	plant 'user/core/a/b.c=/* as core/a/c has it, and io/d */' 'user/io/d.h=int d;'
	refuses "a module that is cited and absent is named with its line" '^user/core/a/b.c:2: there is no core/a/c$' \
		"${gate[@]}" "$tree"
	plant 'docs/rules.md=`user/core/a.c`, `wire/b`' 'user/wire/b/c.h=int c;'
	refuses "so is one with its root and suffix" '^docs/rules.md:2: there is no user/core/a.c$' "${gate[@]}" "$tree"
	plant 'docs/rooms.md=| `wire/b` | one by `c`, and another (`d`) |' 'user/wire/b/c.h=int c;'
	refuses "and one that is named in the row of its room" '^docs/rooms.md:2: wire/b has no d$' "${gate[@]}" "$tree"
	plant 'user/core/a.c=/* docs/rules.md, "One rule" to "Another\n * rule"; graced-run(8), "Settings" */' \
		'user/core/b.c=char *b = "docs/rules.md", *c = "docs/rules.md, \\"One rule\\"";' \
		'docs/rules.md=## One rule\n[it](graced.md#one) `graced-run(8)`\n## Another rule' \
		'docs/graced.md=https://example.com/README.md\n| `core` | `a` of `words.def` |' 'docs/graced-run.8=.Ss Settings' \
		'tools/a.sh=cp x.txt "$dir/gone.md" "$tree/core/gone" # tests/*.md, tests/core/gone, /io/gone'
	accepts "what is there is cited, and URLs and variables are left alone" "${gate[@]}" "$tree"
}

format() {
	local claim="code clang-format would change is refused"
	plant 'user/core/a.c=int  a( int n );'
	cp "$root/.clang-format" "$tree"
	"$tools/check-format" "$tree" >"$tmp/said" 2>&1
	if (($? == 77)); then
		skip "$claim" "$(<"$tmp/said")"
		return
	fi
	refuses "$claim" '^user/core/a.c:2: .* [0-9]+ places' "$tools/check-format" "$tree"
	plant 'user/core/a.c=int a(int n);'
	cp "$root/.clang-format" "$tree"
	accepts "code clang-format would leave alone passes" "$tools/check-format" "$tree"
}

# Compiles TEXT into an object with BTF, as a stand-in for a kernel, our header or our programs.
btf() { # NAME TEXT
	printf '%b\n' "$2" >"$tmp/$1.c"
	${CLANG:-clang} -target bpf -g -O2 -c "$tmp/$1.c" -o "$tmp/$1.o"
}

vmlinux() {
	local check=("$build/tools/vmlinux-check" -k "$tmp/kernel.o")
	btf kernel 'struct b { int x; };\nstruct c { int x; };\nenum e { E_A, E_B };\nenum e e;
struct a { long n; union { struct { int deep; }; long flat; }; struct b *p; char s[8]; };
struct a a;\nstruct b b;\nstruct c c;'
	btf header 'struct a { int absent; };\nstruct a a;'
	refuses "a member this kernel lacks is named" 'a\.absent is not in' "${check[@]}" "$tmp/header.o"
	btf header 'struct a { int n; };\nstruct a a;'
	refuses "a member of another size is named" 'a\.n is of another' "${check[@]}" "$tmp/header.o"
	btf header 'struct c { int x; };\nstruct a { struct c *p; };\nstruct a a;\nstruct c c;'
	refuses "a pointer to another struct is named" 'a\.p is of another' "${check[@]}" "$tmp/header.o"
	btf header 'struct a { char s[9]; };\nstruct a a;'
	refuses "an array that is too long is named" 'a\.s is of another' "${check[@]}" "$tmp/header.o"
	btf header 'enum e { E_B };\nenum e e;'
	refuses "an enumerator of another value is named" 'E_B = 0 of enum e' "${check[@]}" "$tmp/header.o"
	btf header 'struct unknown { int x; };\nstruct unknown u;'
	refuses "a struct this kernel lacks is named" 'unknown is not in' "${check[@]}" "$tmp/header.o"
	btf header 'struct a { int deep; char s[8]; };\nstruct a a;'
	accepts "members within anonymous ones are found" "${check[@]}" "$tmp/header.o"
	btf program 'struct a___old { int gone; long n; };\nstruct own { int x; };\nstruct a___old a;\nstruct own o;'
	accepts "a flavour may be absent and a program may have types of its own" \
		"${check[@]}" "$tmp/header.o" "$tmp/program.o"
	btf program 'struct a___old { int n; };\nstruct a___old a;'
	refuses "what is there of a flavour must agree" \
		'a___old\.n is of another' "${check[@]}" "$tmp/header.o" "$tmp/program.o"
}

# The gate must pass and print what fits.
reports() { # CLAIM PATTERN GATE [ARG...]
	local claim=$1 pattern=$2
	shift 2
	"$@" >"$tmp/said" 2>&1 && grep -qE -- "$pattern" "$tmp/said"
	check "$claim" $?
}

# FUNC(NAME, BYTES, CALL): a function with so many bytes of variables that makes a call.
chain='#define FUNC(name, bytes, call) __attribute__((noinline)) int name(int n) \\
{ volatile char room[bytes]; room[n & 7] = n; call; return room[0]; }\n'

stack() {
	local check=("$build/tools/stack-check" "$tmp/program.o")
	btf program "$chain"'FUNC(c, 140, ) FUNC(b, 9, room[1] = c(n)) FUNC(a, 300, room[1] = b(n))'
	reports "the frames of a chain are rounded up and added" \
		'^a 320 \+ b 32 \+ c 160 = 512 of 512 bytes of stack$' "${check[@]}"
	btf program "$chain"'FUNC(c, 165, ) FUNC(b, 9, room[1] = c(n)) FUNC(a, 300, room[1] = b(n))'
	refuses "a chain that is too deep is named" \
		'^a 320 \+ b 32 \+ c 192 = 544 of 512 bytes of stack$' "${check[@]}"
	btf program "$chain"'FUNC(c, 165, ) FUNC(b, 300, ) FUNC(a, 300, room[1] = c(n); room[2] += 1)'
	reports "what does not call each other is not added" '^a 320 \+ c 192 = 512 of 512' "${check[@]}"
	btf program "$chain"'static FUNC(c, 240, ) FUNC(a, 300, room[1] = c(n))'
	refuses "a static function is followed" '^a 320 \+ c 256 = 576 of 512' "${check[@]}"
	btf program "$chain"'static long (*bpf_loop)(int, void *, void *, long) = (void *)181;
static FUNC(c, 240, ) __attribute__((section("tp"))) FUNC(a, 300, bpf_loop(2, c, 0, 0))'
	refuses "a callback counts as called" '^a 320 \+ c 256 = 576 of 512' "${check[@]}"
	btf program "$chain"'FUNC(i, 8, ) FUNC(h, 8, i(n)) FUNC(g, 8, h(n)) FUNC(f, 8, g(n)) FUNC(e, 8, f(n))
FUNC(d, 8, e(n)) FUNC(c, 8, d(n)) FUNC(b, 8, c(n)) FUNC(a, 8, b(n))'
	refuses "more than eight functions that call one another are refused" \
		'^a 32 .* \+ h 32 \+ \.\.\.: more than 8' "${check[@]}"
	btf program 'int a;'
	refuses "an object without programs is refused" 'no function' "${check[@]}"
}

# Runs check-run over a single made-up test program.
outcome() { # SCRIPT: leaves what was said in $tmp/said
	rm -rf "$tmp/run" && mkdir -p "$tmp/run/tests/tools"
	cp -r "$tools" "$tmp/run/tools"
	printf '#!/bin/bash\n%b\n' "$1" >"$tmp/run/tests/tools/test_it.sh"
	chmod +x "$tmp/run/tests/tools/test_it.sh"
	BUILD=$tmp/run/build "$tmp/run/tools/check-run" tools >"$tmp/said" 2>&1
}

counts() { # CLAIM SCRIPT LAST_LINE
	local rc want=0
	outcome "$2"
	rc=$?
	[[ $3 == *" 0 failed"* ]] || want=1
	[[ $(tail -n 1 "$tmp/said") == "$3" ]] && ((rc == want))
	check "$1" $?
}

counting() {
	counts "tests that pass are counted one by one" 'echo ok 1 - a; echo ok 2 - b' "2 passed, 0 failed"
	counts "a failure is counted and fails the run" \
		'echo ok 1 - a; echo not ok 2 - b; exit 1' "1 passed, 1 failed"
	counts "a skip is counted as neither, in both spellings" \
		'echo 1..3; echo ok 1 - a; echo "not ok 2 # SKIP b"; echo "ok 3 - c # SKIP no root"' \
		"1 passed, 0 failed, 2 skipped"
	counts "a crash after good tests is a failure" 'echo ok 1 - a; kill -SEGV $$' "1 passed, 1 failed"
	counts "a bad exit status without a failed test is a failure" \
		'echo ok 1 - a; exit 3' "1 passed, 1 failed"
	counts "a plan that is not kept is a failure" 'echo 1..3; echo ok 1 - a' "1 passed, 1 failed"
	counts "a program that tests nothing is a failure" 'exit 0' "0 passed, 1 failed"
	counts "a program's own count is taken over" \
		'echo 7 passed, 0 failed' "7 passed, 0 failed"
	outcome 'echo ok 1 - a; echo not ok 2 - why; echo because >&2; exit 1'
	grep -q '| not ok 2 - why' "$tmp/said" && grep -q '| because' "$tmp/said"
	check "the whole output of a failed program is shown" $?
}

# Runs check-run over three made-up programs of the build with sanitizers, two of them aside.
asan_outcome() { # SCRIPT_OF_THE_PURE_ONE: leaves what was said in $tmp/said
	local dir
	rm -rf "$tmp/run" && mkdir -p "$tmp/run"
	cp -r "$tools" "$tmp/run/tools"
	for dir in base io app; do
		mkdir -p "$tmp/run/tests/$dir" "$tmp/run/build/asan/tests/$dir"
		: >"$tmp/run/tests/$dir/test_it.c"
		printf '#!/bin/bash\necho ok 1 - a; echo not ok 2 - b; exit 1\n' \
			>"$tmp/run/build/asan/tests/$dir/test_it"
	done
	[[ $1 ]] && printf '#!/bin/bash\n%b\n' "$1" >"$tmp/run/build/asan/tests/base/test_it"
	chmod +x "$tmp"/run/build/asan/tests/*/test_it
	TMPDIR=$tmp BUILD=$tmp/run/build "$tmp/run/tools/check-run" asan >"$tmp/said" 2>&1
}

aside() {
	asan_outcome ''
	[[ $? == 1 && $(tail -n 1 "$tmp/said") == "3 passed, 3 failed" ]] &&
		[[ $(grep -c '^FAIL  asan: .*/test_it ' "$tmp/said") == 3 ]]
	check "what runs aside is shown and counted with the rest" $?
	# Above timeout(1) are the shell that takes the time, and the check-run that is aside.
	asan_outcome 'kill -KILL $(ps -o ppid= -p $(ps -o ppid= -p $PPID))'
	[[ $? == 1 && $(tail -n 1 "$tmp/said") == "2 passed, 3 failed" ]] &&
		grep -q 'broke off' "$tmp/said"
	check "what breaks off aside is a failure" $?
	outcome 'echo ok 1 - a'
	BUILD=$tmp/run/build "$tmp/run/tools/check-run" tools/test_it.sh >"$tmp/said" 2>&1
	[[ $? == 0 && $(tail -n 1 "$tmp/said") == "1 passed, 0 failed" ]]
	check "a test may be asked for by its name" $?
}

dependencies() {
	CLANG=/nowhere/clang "$tools/deps" missing >"$tmp/said"
	[[ $(<"$tmp/said") == clang ]]
	check "the package of a missing tool is named" $?
	# Of a machine that has none of them.
	mkdir "$tmp/bare" && printf '#!/bin/sh\n' | tee "$tmp/bare/dpkg-query" >"$tmp/bare/apt-get" && chmod +x "$tmp"/bare/*
	[[ $(id -u) == 0 ]] || printf '#!/bin/sh\necho 0\n' >"$tmp/bare/id"
	PATH=$tmp/bare:$PATH "$tools/deps" install build >"$tmp/said" && PATH=$tmp/bare:$PATH "$tools/deps" install >>"$tmp/said" &&
		sed -n 1p "$tmp/said" | grep -w clang | grep -vqw chromium && sed -n 2p "$tmp/said" | grep -w clang | grep -qw chromium
	check "to build it, and for the demo, no package that only the tests use is installed" $?
}

# Each .out is that of the program, but for what SED changes in it.
grow_with() { # SED
	mkdir -p "$tmp/grow" && cp "$root/tests/replay/run.sh" "$root"/tests/replay/row-09.{rec,out} "$tmp/grow"
	sed -i -E "$1" "$tmp/grow/row-09.out" && cp "$tmp/grow/row-09.out" "$tmp/before"
	GRACED=$build/graced "$tmp/grow/run.sh" grow >"$tmp/said" 2>&1
}

goldens() {
	grow_with 's/"via":null,|"cut":0,|"static":false,|"waited_for":\[\],//g' &&
		cmp "$tmp/grow/row-09.out" "$root/tests/replay/row-09.out" && ! cmp -s "$tmp/before" "$tmp/grow/row-09.out"
	check "goldens grow by members that say nothing" $?
	! grow_with 's/"latency_ns":[0-9]+,//' && cmp "$tmp/before" "$tmp/grow/row-09.out" &&
		grep -q "row-09.out differs in more" "$tmp/said"
	check "but not by one that says something" $?
	! grow_with 's/"via":null,//; s/"cause":"[a-z-]*"/"cause":"host"/' && cmp "$tmp/before" "$tmp/grow/row-09.out"
	check "nor where another differs" $?
}

growth() {
	local pod='struct pod_seen {\n\tint a;\n};'
	plant "user/core/a.c=$pod" 'tools/growth.allow=user 9 1'
	refuses "one more model of a pod is refused" \
		'^user/core/a.c: struct pod_seen is one more model' "$tools/check-growth" "$tree"
	plant "user/core/model/a.h=$pod" "user/io/sources/a.h=$pod" 'tools/growth.allow=user 9 2'
	accepts "in core/model and for a foreign format it passes" "$tools/check-growth" "$tree"
	plant "user/core/a.c=$pod" 'tools/growth.allow=user 9 1\nstruct user/core/a.c pod_seen\nstruct user/core/a.c pod_gone'
	refuses "a model that is gone is to be taken out" 'there is no struct pod_gone' "$tools/check-growth" "$tree"
	plant 'user/core/a.c=int a;\nint b;' 'tools/growth.allow=user 1 1'
	refuses "a folder that has more lines is refused" \
		'^user has 3 lines in 1 files, and .* permits 1 in 1' "$tools/check-growth" "$tree"
	plant 'user/core/a.c=int a;' 'user/core/b.c=int b;' 'tools/growth.allow=user 9 1'
	refuses "and so is one that has more files" '^user has 4 lines in 2 files' "$tools/check-growth" "$tree"
	plant 'user/core/a.c=int a;' 'tools/growth.allow=# why\nuser 9 3\nstruct user/core/b.c pod_gone'
	"$tools/check-growth" lower "$tree" && [[ $(<"$tree/tools/growth.allow") == $'# why\nuser 2 1' ]]
	check "what is less and what is gone is written down" $?
}

layers
purity
circles
growth
reach
style
citations
format
vmlinux
stack
counting
aside
dependencies
goldens
echo "1..$count"
((failures == 0))
