#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Holds deploy/grafana-dashboard.json to the types that Grafana publishes of dashboards, of panels and of
# queries. No Grafana takes part; tests/prometheus/claims.py asks the queries.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/lib/tap.sh"
dashboard=$root/deploy/grafana-dashboard.json
patience=300

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}
command -v jq >/dev/null || skip_all "no jq"
types=$("$root/tools/grafana-schema")
case $? in
0) ;;
77) skip_all "$types" ;;
*) echo "not ok 1 - Grafana's types are those whose digests tools/grafana-schema holds" && echo "1..1" && exit 1 ;;
esac

# Grafana's packages are found by their name from here.
mkdir "$tmp"/{10,13}
for version in 10 13; do
	mkdir -p "$tmp/$version/node_modules/@grafana"
	ln -s "$types/schema-$version" "$tmp/$version/node_modules/@grafana/schema"
	ln -s "$types/schema-10/dist/esm/raw/composable/prometheus/dataquery/x" "$tmp/$version/queries"
done

write() { # VERSION NAME [JQ-FILTER]
	cat "$root/tests/tools/dashboard_types.ts"
	printf 'export const dashboard: Whole = %s;\n' "$(jq "${3-.}" "$dashboard")"
} >"$tmp/$1/$2.ts"

check() { # FILE...
	try node "$types/typescript/lib/tsc.js" --noEmit --strict --preserveSymlinks --skipLibCheck --target es2022 \
		--module esnext --moduleResolution bundler "$@"
}

for version in 10 13; do
	write $version dashboard
	check "$tmp/$version/dashboard.ts"
	((rc == 0))
	claim "the dashboard is one by the types of Grafana $version" $?
done

# Each is seen for what it is: at its place, by Grafana's word for it. One compiler reads them all.
whats=() patterns=()
while IFS='|' read -r what filter pattern; do
	write 13 "wrong-${#whats[@]}" "$filter"
	whats+=("$what") patterns+=("$pattern")
done <<'END'
an unknown field of the dashboard|.refesh = "1m"|refesh
a text where a number belongs|.schemaVersion = "38"|schemaVersion\|number
an unknown field of a variable|.templating.list[1].definition = "x"|definition
an unknown kind of variable|.templating.list[1].type = "prometheus"|VariableType\|"prometheus"
an unknown type of panel|.panels[1].type = "graph"|"graph"
an option that the type of panel does not have|.panels[1].options.legend = {}|legend
an option with an unknown value|.panels[1].options.colorMode = "loud"|"loud"
an unknown field of a place|.panels[1].gridPos.width = 3|width
an unknown field of how values are drawn|.panels[1].fieldConfig.defaults.units = "s"|units
a query without an expression|del(.panels[1].targets[0].expr)|expr
an unknown field of a query|.panels[1].targets[0].legend = "x"|legend
an unknown format of a query|.panels[1].targets[0].format = "csv"|"csv"
an unknown field of a mark|.annotations.list[0].titel = "x"|titel
another data source|.panels[1].targets[0].datasource.uid = "prom"|"prom"
END
check "$tmp"/13/wrong-*.ts
for n in "${!whats[@]}"; do
	grep -q "^[^ ]*wrong-$n.ts(.*${patterns[n]}" "$out"
	claim "${whats[n]} is found" $?
done
conclude
