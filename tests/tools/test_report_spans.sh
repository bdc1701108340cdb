#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the spans of graced report against the published protocol, and sends them to receivers that
# take them, or do not. The parse is skipped aloud where python3-protobuf is not installed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"
patience=120
trap 'stop_peer; remove_tmp' EXIT
story=$root/tests/report/node.jsonl
python=/usr/bin/python3
unset OTEL_EXPORTER_OTLP_HEADERS

# --- the protocol ----------------------------------------------------------------------------

# A shutdown of N pods with a container each.
generate() { # N
	awk -v n="$1" '
	function head(type, at, id) {
		return sprintf("{\"type\":\"%s\",\"schema\":1,\"id\":\"bbbbbbbb-0000-4000-8000-000000000000/%s\",\"time\":\"2026-11-25T10:01:00Z\",\"boot_ns\":%.0f,\"node\":\"node-1\"", type, id, at)
	}
	BEGIN {
		print head("shutdown", 1e9, "shutdown/announced") ",\"event\":\"announced\",\"mode\":\"assist\",\"lock_held\":true,\"announced_boot_ns\":1000000000,\"limit_ns\":60000000000}"
		for (i = 0; i < n; i++)
			printf "%s,\"pod\":{\"namespace\":\"shop\",\"name\":\"web-%d\",\"uid\":\"u%d\"},\"container\":{\"name\":\"app\",\"id\":\"c%d\"},\"stop_signal\":{\"name\":\"SIGTERM\",\"at_boot_ns\":%.0f},\"exit\":{\"code\":0,\"signal\":0,\"at_boot_ns\":%.0f},\"latency_ns\":1,\"outcome\":\"graceful\",\"empty_boot_ns\":%.0f,\"evidence\":{\"complete\":true,\"gaps\":[]}}\n", head("stop", 3e9 + i, "c" i "/1"), i, i, i, 2e9 + i, 3e9 + i, 4e9 + i
	}'
}
generate 500 >"$tmp/many.jsonl"

for file in "$story" "$root/tests/report/lost.jsonl" "$tmp/many.jsonl"; do
	sentence="the spans of ${file##*/} are messages of opentelemetry-proto, by name, type and number"
	"$graced" report --file "$file" -o otlp >"$tmp/spans"
	$python "$root/tests/report/otlp_check.py" <"$tmp/spans" >"$out" 2>"$err"
	rc=$?
	if ((rc == 77)); then
		skip "$sentence" "python3-protobuf is not installed"
	else
		((rc == 0)) && (($(<"$out") == $(grep -o '"spanId":"[0-9a-f]*","\(name\|parentSpanId\)"' "$tmp/spans" | wc -l)))
		claim "$sentence" $?
	fi
done

# --- receivers -------------------------------------------------------------------------------

peer=
stop_peer() {
	[[ $peer ]] && { exec {hold}>&-; wait "$peer"; peer=; }
	return 0
}

# Leaves the port in $port, and what is asked in $tmp/asked.
start_peer() { # CERT ANSWER...
	stop_peer
	rm -rf "$tmp/asked" "$tmp/hold" "$tmp/port"
	mkdir "$tmp/asked" && mkfifo "$tmp/hold" "$tmp/port"
	$python "$root/tests/report/otlp_peer.py" "$tmp/asked" "$@" <"$tmp/hold" >"$tmp/port" &
	peer=$!
	exec {hold}>"$tmp/hold"
	read -r port <"$tmp/port"
}

asked() { find "$tmp/asked" -name '*.body' | wc -l; }
deliver() { # FILE [OPTION...]
	try "$graced" report --file "$1" -o otlp --otlp-endpoint "http://127.0.0.1:$port" "${@:2}"
}

start_peer - '200 - {}'
deliver "$story"
((rc == 0)) && [[ ! -s $err ]] && one_line "$out" && grep -q '^39 spans delivered to http://127.0.0.1:[0-9]*/v1/traces$' "$out" &&
	head -1 "$tmp/asked/1.head" | grep -q '^POST /v1/traces HTTP/1.1' &&
	grep -qi '^Content-Type: application/json$' "$tmp/asked/1.head" &&
	"$graced" report --file "$story" -o otlp | cmp - "$tmp/asked/1.body" >"$err"
claim "what is delivered are the spans that -o otlp prints" $?

deliver "$tmp/many.jsonl"
spans=$(sed 's/ .*//' "$out")
cat "$tmp/asked/"[2-9].body | jq -r '[.resourceSpans[].scopeSpans[].spans | length] | add' >"$tmp/lengths"
cat "$tmp/asked/"[2-9].body | jq -c '.resourceSpans[].scopeSpans[].spans[]' | sort >"$tmp/sent"
"$graced" report --file "$tmp/many.jsonl" -o otlp | jq -c '.resourceSpans[].scopeSpans[].spans[]' | sort >"$tmp/printed"
((rc == 0)) && [[ $(sort -n "$tmp/lengths" | tail -1) == 512 ]] && (($(wc -l <"$tmp/lengths") > 1)) &&
	[[ $(wc -l <"$tmp/sent") == "$spans" ]] && cmp "$tmp/sent" "$tmp/printed" >"$err"
claim "many spans go in requests of 512, each of them once" $?

try env OTEL_EXPORTER_OTLP_HEADERS='X-Scope-OrgID=shop%20a,content-type=text/plain' \
	"$graced" report --file "$story" -o otlp --otlp-endpoint "http://localhost:$port/other?key=hidden"
last=$tmp/asked/$(asked).head
((rc == 0)) && ! grep -q hidden "$out" && grep -q '^POST /other?key=hidden ' "$last" &&
	grep -q '^X-Scope-OrgID: shop a$' "$last" && [[ $(grep -ci '^content-type' "$last") == 1 ]]
claim "headers come from the environment, a path is taken as it is, a query is not shown" $?

before=$(asked)
try env OTEL_EXPORTER_OTLP_HEADERS='Authorization=Bearer%20se-cret' \
	"$graced" report --file "$story" -o otlp --otlp-endpoint "http://127.0.0.1:$port"
((rc == 1)) && one_line "$err" && grep -q 'Authorization .*https alone' "$err" && ! grep -q se-cret "$err" &&
	[[ $(asked) == "$before" ]]
claim "a secret is not sent in the clear" $?

start_peer - '503 1 {"message":"full"}' '429 - {}' '200 - {}'
begin=$(date +%s%N)
deliver "$story"
((rc == 0)) && [[ $(asked) == 3 ]] && cmp "$tmp/asked/1.body" "$tmp/asked/3.body" >"$err" &&
	(($(date +%s%N) - begin >= 1000000000))
claim "a receiver that is busy gets the same request again, not before it asked for it" $?

start_peer - '200 - {"partialSuccess":{"rejectedSpans":"4","errorMessage":"too \u001b[31m old"}}'
deliver "$story"
((rc == 1)) && one_line "$err" && grep -qF 'rejected 4 of 39 spans: too \\x1b[31m old' "$err" &&
	grep -q '^35 spans delivered' "$out"
claim "rejected spans are a failure that names them" $?

start_peer - '200 - {"partialSuccess":{"errorMessage":"use gzip"}}'
deliver "$story"
((rc == 0)) && one_line "$err" && grep -q 'warns: use gzip$' "$err"
claim "a warning is passed on" $?

start_peer - '200 - {}' '400 - {"code":3,"message":"bad"}'
deliver "$tmp/many.jsonl"
((rc == 1)) && one_line "$err" && grep -q ': HTTP status 400: bad; 512 were delivered before$' "$err" &&
	[[ ! -s $out && $(asked) == 2 ]]
claim "after a refusal nothing more is sent, and what was delivered is named" $?

bad=0
while IFS='|' read -r answer pattern; do
	start_peer - "$answer"
	deliver "$story"
	if ((rc != 1)) || [[ -s $out || $(asked) != 1 ]] || ! one_line "$err" ||
		! grep -qF -- "$pattern; 0 were" "$err"; then
		bad=1
		echo "# $answer: $(head -1 "$err")" | cut -c1-200
	fi
done <<END
200 - <html>log in</html>|its answer is not that of a receiver of OTLP
307 - {}|HTTP status 307
401 - no|HTTP status 401
404 - {}|HTTP status 404
500 - {}|HTTP status 500
503 3600 {}|HTTP status 503
200 - $(head -c 70000 /dev/zero | tr '\0' x)|the answer is longer than 65536 bytes
END
claim "what is not delivered is a failure, in a line that says why" $bad
stop_peer

bad=0
while IFS='|' read -r args status pattern; do
	# shellcheck disable=SC2086  # words
	try "$graced" report --file "$story" $args
	if ((rc != status)) || [[ -s $out ]] || ! one_line "$err" || ! grep -qE -- "$pattern" "$err"; then
		bad=1
		echo "# $args: $(head -1 "$err")"
	fi
done <<END
--otlp-endpoint http://127.0.0.1:1|2|--otlp-endpoint goes with -o otlp
-o json --otlp-endpoint http://127.0.0.1:1|2|--otlp-endpoint goes with -o otlp
-o otlp --otlp-ca /dev/null|2|--otlp-ca goes with --otlp-endpoint
-o otlp --otlp-endpoint ftp://127.0.0.1/|1|not an http or https URL
-o otlp --otlp-endpoint 127.0.0.1:4318|1|not an http or https URL
-o otlp --otlp-endpoint http://joe:pw@127.0.0.1/|1|not an http or https URL
END
for variable in 'no' 'a=%0aB' 'a b=1'; do
	try env OTEL_EXPORTER_OTLP_HEADERS="$variable" "$graced" report --file "$story" -o otlp --otlp-endpoint http://127.0.0.1:1
	((rc == 1)) && one_line "$err" && grep -q 'cannot read OTEL_EXPORTER_OTLP_HEADERS' "$err" || bad=1
done
claim "wrong use is refused in a line" $bad

# --- TLS -------------------------------------------------------------------------------------

for name in right wrong; do
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
		-addext 'subjectAltName=DNS:localhost' -keyout "$tmp/$name.key" -out "$tmp/$name.crt" >"$err" 2>&1
	cat "$tmp/$name.crt" "$tmp/$name.key" >"$tmp/$name.pem"
done
start_peer "$tmp/right.pem" '200 - {}'
export OTEL_EXPORTER_OTLP_HEADERS='Authorization=Bearer%20se-cret'
bad=0
for ca in wrong.crt right.key nothing; do
	try "$graced" report --file "$story" -o otlp --otlp-endpoint "https://localhost:$port" --otlp-ca "$tmp/$ca"
	((rc == 1)) && [[ ! -s $out && $(asked) == 0 ]] && one_line "$err" || bad=1
done
try "$graced" report --file "$story" -o otlp --otlp-endpoint "https://localhost:$port"
((rc == 1)) && [[ $(asked) == 0 ]] || bad=1
try "$graced" report --file "$story" -o otlp --otlp-endpoint "https://127.0.0.1:$port" --otlp-ca "$tmp/right.crt"
((rc == 1)) && [[ $(asked) == 0 ]] || bad=1
claim "a receiver that the CA does not vouch for by its name gets nothing" $bad

try "$graced" report --file "$story" -o otlp --otlp-endpoint "https://localhost:$port" --otlp-ca "$tmp/right.crt"
((rc == 0)) && [[ $(asked) == 1 ]] && grep -q '^Authorization: Bearer se-cret$' "$tmp/asked/1.head"
claim "one that it vouches for gets the spans, and the secret" $?

conclude
