# SPDX-License-Identifier: Apache-2.0
# One row of the benchmark per line (see row() in table.sh), told as the cells of the table, or with
# json=1 as bench.json, with markdown=1 as a table for a page, with sum=1 as the number of targets
# reached.

function short(x,    a) {
	a = x < 0 ? -x : x
	if (a >= 10000) return sprintf("%d", x)
	if (a >= 100 || x == int(x)) return sprintf("%.0f", x)
	return sprintf(a >= 10 ? "%.1f" : "%.2f", x)
}
function reached(target, x,    limit) {
	if (target == "-" || x == "") return ""
	limit = substr(target, 3) + 0
	return (substr(target, 1, 2) == "<=" ? x <= limit : x >= limit) ? "yes" : "no"
}
function told() { return m[1] == "" ? "-" : short(m[1]) ($3 == "" ? "" : " " $3) }
function other(stats,    s) {
	if (stats == "") return "-"
	split(stats, s, " ")
	if ($5 != "ratio" || m[1] <= 0) return short(s[1])
	return short(s[1]) " (x" short(s[1] / m[1]) ")"
}
function quoted(s) { gsub(/["\\]/, "\\\\&", s); return "\"" s "\"" }
function member(name, value) { printf "\"%s\": %s, ", name, value }
function figures(stats,    s) {
	if (stats == "") return "null"
	split(stats, s, " ")
	return sprintf("{\"median\": %.6g, \"lower_quartile\": %.6g, \"upper_quartile\": %.6g, \"samples\": %d}",
		s[1], s[2], s[3], s[4])
}
function ratio(stats,    s) {
	if (stats == "" || $5 != "ratio" || !(m[1] > 0)) return "null"
	split(stats, s, " ")
	return sprintf("%.4g", s[1] / m[1])
}

BEGIN {
	if (json) printf "{\n  \"graced\": %s,\n  \"kernel\": %s,\n  \"cpus\": %d,\n  \"machine\": %s,\n  \"rows\": [",
		quoted(version), quoted(kernel), cpus, quoted(machine)
}
{
	delete m
	split($6, m, " ") # median, quartiles, number of samples
	hit = reached($4, m[1])
	targets += $4 != "-"
	hits += hit == "yes"
}
json {
	printf "%s\n    {", (NR > 1 ? "," : "")
	member("key", quoted($1))
	member("figure", quoted($2))
	member("unit", quoted($3))
	member("graced", figures($6))
	member("bpftrace", figures($7))
	member("bpftrace_to_graced", ratio($7))
	member("snoop_tool", $9 == "" ? "null" : quoted($8))
	member("snoop", figures($9))
	member("snoop_to_graced", ratio($9))
	member("target", $4 == "-" ? "null" : quoted($4))
	printf "\"reached\": %s}", (hit == "" ? "null" : hit == "yes" ? "true" : "false")
}
markdown {
	if (NR == 1) {
		print "| figure | graced | quartiles | bpftrace count | exitsnoop, sigsnoop | target | reached |"
		print "|---|---|---|---|---|---|---|"
	}
	quartiles = m[4] > 1 ? short(m[2]) " to " short(m[3]) : "-"
	line = sprintf("| %s | %s | %s | %s | %s | %s | %s |", $2, told(), quartiles, other($7), other($9), $4, \
		(hit == "" ? "-" : hit))
	sub(/^\|  +/, "| … ", line)
	sub(/ us /, " µs ", line)
	sub(/<=/, "≤ ", line)
	sub(/>=/, "≥ ", line)
	gsub(/\(x/, "(× ", line)
	print line
}
!json && !markdown && !sum {
	print $2
	print told()
	print (m[4] > 1 ? "[" short(m[2]) " " short(m[3]) "]" : "-")
	print other($7)
	print other($9)
	print $4
	print (hit == "" ? "-" : hit)
}
END {
	if (json) print "\n  ]\n}"
	if (sum) printf "%d of %d targets reached in this run\n", hits, targets
}
