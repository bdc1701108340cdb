# SPDX-License-Identifier: Apache-2.0
# One part of a file that tools/generate writes, from the rows of tools/settings.c or tools/records.c,
# or from the rows of graced --help. The page has its settings where they are: a heading, the help, and the default,
# before what it says of a setting by itself.
BEGIN { FS = "\t" }

function is_run() { return $1 != "." && (" " $8 " ") ~ / run / }

# What is in the first clause, for a completion.
function brief(help) {
	sub(/;.*/, "", help)
	sub(/: .*/, "", help)
	sub(/ \(repeatable\)/, "", help)
	return help
}

# Help as a sentence.
function sentence(help) {
	sub(/(;| \()? ?repeatable\)?/, "", help)
	return toupper(substr(help, 1, 1)) substr(help, 2) "."
}

function default_of() { return "Default: " ($5 != "." ? $5 : $6) "." }

function wrap(text, before, between,    n, i, word, line) {
	n = split(text, word, " ")
	line = before word[1]
	for (i = 2; i <= n; i++) {
		if (length(line between) + length(word[i]) > 100) {
			print line
			line = before word[i]
		} else
			line = line between word[i]
	}
	print line
}

# How a value is completed, and by which words.
function kind() {
	if ($4 == ".") return $1 == "." ? "flag" : "switch"
	if ($4 ~ /^(FILE|DIR|PATH|PID|SOCKET)$/) return tolower($4)
	if ($4 ~ /^SIG/) return $4 == "SIG" ? "signal" : "signals"
	if ($2 == "hierarchy") return $2
	return $2 ~ /node-name|server-name|hosts/ ? "host" : "words"
}
function words() {
	return kind() !~ /words|socket/ ? "" : $9 != "." ? $9 : $5 != "." ? $5 : ""
}

function quoted(text) {
	gsub(/'/, part ~ /zsh/ ? "'\\''" : "\\'", text)
	return "'" text "'"
}

# --- completions ---------------------------------------------------------------------------------

# Options of the same commands and values are one row.
part == "bash" {
	n = split(words(), word, "|")
	gsub(/ /, ",", $8)
	row = kind() " " $8
	for (i = 1; i <= n; i++)
		if (word[i] !~ / /) row = row " " word[i]
	if (!(row in options)) order[++n_rows] = row
	options[row] = options[row] ($3 != "." ? "," $3 : "") "," $2
}

part == "zsh" {
	how["file"] = how["socket"] = "_files"
	how["dir"] = "_files -/"
	how["pid"] = "_pids"
	how["host"] = "_hosts"
	how["hierarchy"] = "_graced_hierarchies"
	how["signal"] = how["signals"] = "_graced_signals"
	text = brief($7)
	gsub(/[][]/, "\\\\&", text)
	list = words()
	gsub(/[ :]/, "\\\\&", list)
	gsub(/\|/, " ", list)
	name = $4 ~ /^[A-Z]+/ ? tolower($4) : $2
	sub(/[][,].*/, "", name)
	value = $4 == "." ? "" : ":" name ":" (kind() in how ? how[kind()] : list ? "(" list ")" : "")
	specs = quoted(($10 == "list" ? "*" : "") "--" $2 "[" text "]" value)
	if ($3 != ".")
		specs = quoted("(-" $3 " --" $2 ")") "{-" $3 ",--" $2 "}" quoted("[" text "]" value)
	if (kind() == "switch")
		specs = quoted("(--no-" $2 ")--" $2 "[" text "]") " " quoted("(--" $2 ")--no-" $2 "[turn it off]")
	print "\t_graced_add " quoted($8) " " specs
}

part == "fish" {
	how["file"] = " -r -F"
	how["pid"] = " -x -a '(__fish_complete_pids)'"
	how["dir"] = " -x -a '(__fish_complete_directories)'"
	how["host"] = " -x -a '(__fish_print_hostnames)'"
	how["hierarchy"] = " -x -a '(__graced_hierarchies)'"
	how["signal"] = " -x -a \"$signals\""
	how["signals"] = " -x -a \"(__fish_complete_list , 'string join \\\\n $signals')\""
	n = split(words(), word, "|")
	list = ""
	for (i = 1; i <= n; i++)
		list = list (i > 1 ? " " : "") (word[i] ~ / / ? "'" word[i] "'" : word[i])
	value = $4 == "." ? "" : kind() in how ? how[kind()] : kind() == "socket" ? " -r -F" : " -x"
	if (list)
		value = value " -a \"" list "\""
	where = "complete -c graced -n \"$on " $8 "\""
	print where ($3 != "." ? " -s " $3 : "") " -l " $2 value " -d " quoted(brief($7))
	if (kind() == "switch")
		print where " -l no-" $2 " -d 'turn it off'"
}

# A group has no name.
part == "commands-page" && $1 == "" {
	if (n_groups++) print ".El"
	print ".Ss " $2
	print ".Bl -tag -width shutdown"
}
part == "commands-page" && $1 != "" {
	print ".It Cm " $1 ($3 ? " , " $3 : "")
	print toupper(substr($2, 1, 1)) substr($2, 2) "."
}
part ~ /^commands/ && $1 != "" {
	n = split($1 " " $3, word, " ")
	for (i = 1; i <= n; i++) {
		commands = commands " " word[i]
		if (part == "commands-zsh") print "\t\t" quoted(word[i] ":" $2)
		if (part == "commands-fish") print "complete -c graced -n $none -a " word[i] " -d " quoted($2)
	}
}

# --- pages and deploy/ ---------------------------------------------------------------------------

part == "verdicts" { print ".It " $1 " Ta " $2 " Ta " $3 }

part == "source-flags" && $1 ~ /^(names|cri|kubelet)\./ && $8 ~ / wait / { flags = flags " -" $2 }

# The fields of one type of records.
part == "fields-" $1 { wrap(substr($2, 2), ".It Cm ", " , ") }

function value_of_yaml(text) {
	return text ~ /^[*\[]|^[0-9]+\.[0-9]+$|[*=]/ ? "\"" text "\"" : text
}
# priority=0 gracePeriodSeconds=20
function map_of_yaml(text,    n, i, pair, line) {
	n = split(text, pair, " ")
	for (i = 1; i <= n; i++) {
		line = line (i > 1 ? ", " : "") substr(pair[i], 1, index(pair[i], "=") - 1) ": "
		line = line value_of_yaml(substr(pair[i], index(pair[i], "=") + 1))
	}
	return "{" line "}"
}

part == "yaml" && is_run() {
	at = index($1, ".")
	name = substr($1, at + 1)
	indent = at ? "#  " : "#"
	if (!at || section != substr($1, 1, at - 1))
		print ""
	if (at && section != substr($1, 1, at - 1))
		print "#" substr($1, 1, at - 1) ":"
	section = substr($1, 1, at ? at - 1 : 0)
	n = split($9, word, "|")
	value = value_of_yaml($5 != "." ? $5 : word[1])
	line = indent name ":" ($4 ~ /'/ ? "" : $10 == "list" ? " [" value "]" : " " value)
	comment = sentence($7) ($5 == "." ? " " default_of() : "")
	beside = sprintf("%-25s # %s", line, comment)
	if (at && length(beside) <= 100)
		print beside
	else {
		wrap(comment, at ? "#  # " : "# ", " ")
		print line
	}
	for (i = 1; i <= n && $4 ~ /'/; i++)
		print indent "- " map_of_yaml(word[i])
}

part == "scope" && $1 == "scope" {
	gsub(/\|/, "\",\n        \"", $9)
	print "        \"" $9 "\""
}

# The heading, help and default of each setting; what follows is the page's own.
part == "page" && FILENAME ~ /settings$/ && is_run() {
	type = $10 == "list" ? "list" : $4 == "." ? "bool" : $4 == "N" ? "number" : tolower($4)
	heading[$1] = ".It Cm " $1 " Ar " type
	about[$1] = sentence($7)
	fallback[$1] = default_of()
	next
}
part == "page" && FILENAME ~ /settings$/ { next }
part == "page" && skipped && /^Default: / { skipped = 0; next }
part == "page" && skipped && /^\.(It|El|Sh|Ss)/ { print "no default behind this line" > "/dev/stderr"; exit 1 }
part == "page" && skipped { next }
part == "page" {
	split($0, field, " ")
	key = field[1] == ".It" && field[2] == "Cm" && field[3] in heading ? field[3] : ""
	if (!key) { print; next }
	print heading[key]
	wrap(about[key], "", " ")
	print fallback[key]
	delete heading[key]
	skipped = 1
}

END {
	for (i = 1; i <= n_rows; i++) print substr(options[order[i]], 2) " " order[i]
	if (part == "commands-page") print ".El"
	if (part == "commands-names") print "set -l commands" commands
	if (part == "commands-bash") print "\t\t_graced_words \"" substr(commands, 2) " --help\""
	if (part ~ /-flags$/) wrap(substr(flags, 2), ".It Fl ", " , ")
	for (key in heading) { print "graced.yaml(5) lacks " key > "/dev/stderr"; exit 1 }
}
