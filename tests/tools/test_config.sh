#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Asks `graced run --config.check` about configuration files, rightly and wrongly written, as people
# and scripts do. GRACED names the binary.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
graced=$(realpath "${GRACED:-$root/build/graced}") || exit 1
. "$root/tests/lib/tap.sh"
file=$tmp/graced.yaml

# Whatever the caller's environment says, it is not what is tested here.
for v in "${!GRACED_@}"; do unset "$v"; done

run() { # ARGUMENT...
	timeout -k 5 120 "$graced" run "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}

run --help
((rc == 0)) && quiet "$err" && grep -q '^usage: graced run' "$out" &&
	[[ -z $(awk 'length > 100' "$out") ]]
claim "run --help is on stdout, fits 100 columns, exit 0" $?

# The example of every setting, as a person would write it.
cat >"$file" <<'END'
# what this node says of itself
nodeName: node-1
scope: services
assumeGrace: 30s
hierarchy: unified
nestedNodes:
- /docker/0123456789abcdef
ringSize: 2Mi
log:
  level: info
  format: json
web:
  listenAddress:
  - 127.0.0.1:9753
  - "[::1]:9753"
  hosts: '*.example.com'
  telemetryPath: /metrics
  configFile: WEB
  insecure: false
names:
  enabled: true
  logDirectory: /var/log
sinks:
  stdout: false
  file: /var/log/graced.json
  journal: auto
  signals: true
metrics:
  maxSeries: 10000
  maxAge: 1h
budget:
  cpu: 2%
END
web=$tmp/web.yaml
sed -i "s,WEB,$web," "$file"
hash='$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u'
printf 'basic_auth_users:\n  prometheus: %s\n' "$hash" >"$web"
run --config "$file" --config.check
((rc == 0)) && quiet "$err" && one_line "$out" && grep -qF "$file: right" "$out"
claim "a file with every setting is right" $?

GRACED_CONFIG=$file timeout 120 "$graced" run --config.check >"$out" 2>"$err"
rc=$?
((rc == 0)) && grep -qF "$file: right" "$out"
claim "GRACED_CONFIG names the file" $?

sed 's/maxSeries: 10000/maxSeries: lots/' "$file" >"$tmp/typed.yaml"
line=$(grep -n lots "$tmp/typed.yaml" | cut -d: -f1)
run --config "$tmp/typed.yaml" --config.check
refused 1 "^graced run: $tmp/typed.yaml:$line: metrics.maxSeries: wants .*'lots'"
claim "a wrong type is reported with file, line and key, exit 1" $?

run --config "$tmp/typed.yaml"
refused 1 ":$line: metrics.maxSeries: "
claim "the daemon does not start with it" $?

sed 's/listenAddress:/listenadress:/' "$file" >"$tmp/unknown.yaml"
run --config "$tmp/unknown.yaml" --config.check
refused 1 ":13: web.listenadress: .*did you mean web.listenAddress"
claim "an unknown key is reported with line, key and what was meant" $?

printf 'a: 1\nscope: none\nlog: {level: 5}\n' >"$tmp/three.yaml"
run --config "$tmp/three.yaml" --config.check
((rc == 1)) && quiet "$out" && [[ $(cut -d: -f3 "$err" | xargs) == "1 2 3" ]]
claim "all that is wrong is reported at once" $?

printf 'web:\n  listenAddress: 0.0.0.0:9753\n' >"$tmp/open.yaml"
run --config "$tmp/open.yaml" --config.check
refused 1 ":2: web.listenAddress: 0.0.0.0:9753 .*--web.config.file.*--web.insecure"
claim "an address for other hosts is refused" $?
run --config "$tmp/open.yaml" --config.check --web.insecure
((rc == 0)) && quiet "$err"
claim "--web.insecure allows it" $?

any=(--config.check --web.listen-address 0.0.0.0:0)
run "${any[@]}" --web.config.file "$web"
((rc == 0)) && quiet "$err"
claim "--web.config.file allows it" $?
: >"$tmp/nothing.yaml"
run "${any[@]}" --web.config.file "$tmp/nothing.yaml"
refused 2 "0.0.0.0:0 .*neither TLS nor users"
claim "a web configuration that protects nothing does not" $?

printf 'basic_auth_users:\n  joe: secret\nhttp_server_config:\n  http2: false\n' >"$tmp/bad.yaml"
run --config.check --web.config.file "$tmp/bad.yaml"
((rc == 1)) && quiet "$out" && [[ $(wc -l <"$err") == 2 ]] && ! grep -q secret "$err" &&
	grep -qF "$tmp/bad.yaml:2: basic_auth_users.joe: wants a bcrypt hash" "$err" &&
	grep -qF "$tmp/bad.yaml:3: http_server_config: is not read here" "$err"
claim "what is wrong with a web configuration is reported with line and key, and no password" $?

if command -v openssl >/dev/null; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj /CN=localhost -keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
	printf 'tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n' >"$tmp/tls.yaml"
	chmod 640 "$tmp/key.pem"
	run "${any[@]}" --web.config.file "$tmp/tls.yaml"
	((rc == 0)) && quiet "$err"
	claim "keys and certificates are found beside the file that names them" $?
	for mode in 644 660; do
		chmod $mode "$tmp/key.pem"
		run "${any[@]}" --web.config.file "$tmp/tls.yaml"
		refused 1 "$tmp/key.pem may be .*chmod"
		claim "a private key of mode $mode is refused" $?
	done
	chmod 600 "$tmp/key.pem"
	chmod 664 "$tmp/cert.pem"
	run "${any[@]}" --web.config.file "$tmp/tls.yaml"
	refused 1 "$tmp/cert.pem may be written .*chmod"
	claim "a certificate that its group may write is refused" $?
	chmod 644 "$tmp/cert.pem"
	openssl ecparam -name prime256v1 -genkey -noout -out "$tmp/key.pem" 2>/dev/null
	run "${any[@]}" --web.config.file "$tmp/tls.yaml"
	refused 1 "tls.yaml: cannot use cert_file with key_file: "
	claim "a key that is another certificate's is refused" $?
else
	echo "# not shown: there is no openssl to make certificates with"
fi
chmod 664 "$web"
run --config.check --web.config.file "$web"
refused 1 "$web may be written .*chmod"
claim "a web configuration that its group may write is refused" $?
chmod 644 "$web"

chmod 664 "$file"
run --config "$file" --config.check
refused 1 "graced.yaml .*chmod"
claim "a file that its group may write is refused" $?
chmod 644 "$file"

mkfifo "$tmp/fifo"
run --config "$tmp/fifo" --config.check
refused 1 "not a regular file"
claim "a FIFO is refused and not waited for" $?

GRACED_LOG_LEVEL=loud timeout 120 "$graced" run --config "$file" --config.check >"$out" 2>"$err"
rc=$?
refused 2 "GRACED_LOG_LEVEL wants .*'loud'"
claim "a wrong variable is named, exit 2" $?

run --config "$file" --config.check --log.level loud
refused 2 "--log.level wants .*'loud'"
claim "a wrong flag is named, exit 2" $?

run --config "$file" --config.check surplus
refused 2 "'surplus'"
claim "an argument too many is named, exit 2" $?

bad=0
for n in 1 7 64 1000; do
	head -c $((n * 1000)) /dev/urandom >"$tmp/noise.yaml"
	run --config "$tmp/noise.yaml" --config.check
	((rc == 1)) && quiet "$out" && ! grep -q '[^[:print:]]' "$err" || bad=1
done
claim "noise is refused in plain text" $bad

conclude
