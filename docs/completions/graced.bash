# SPDX-License-Identifier: Apache-2.0
# bash completion for graced(8). Needs nothing but bash.

_graced_words() { # WORDS [SUFFIX]
	local word
	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("$word${2-}")
	done < <(compgen -W "$1" -- "$cur")
}

_graced_files() { # -f or -d
	local name
	COMPREPLY=()
	compopt -o filenames 2>/dev/null
	while IFS= read -r name; do
		COMPREPLY+=("$name")
	done < <(compgen "$1" -- "$cur")
}

_graced_signals() { # whether a list, separated by commas
	local signals="HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT
		CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS
		RTMIN RTMIN+3 RTMAX" before='' i
	if [[ $1 && $cur == *,* ]]; then
		before=${cur%,*},
		cur=${cur##*,}
	fi
	[[ $cur == SIG* ]] && signals="SIG${signals//[[:space:]]/ SIG}"
	_graced_words "$signals"
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=$before${COMPREPLY[i]}
	done
}

_graced_hierarchies() {
	local name rest words=unified
	while read -r name rest; do
		[[ $name == \#* ]] || words+=" $name"
	done 2>/dev/null </proc/cgroups
	_graced_words "$words"
}

# The value of an option: true when there is one to complete.
_graced_value() { # COMMAND OPTION
	case $2 in
	-o | --output)
		case $1 in
		report) _graced_words "table wide columns= json svg trace-event otlp" ;;
		check) _graced_words "table json npd" ;;
		explain | shutdown | version) _graced_words "table json" ;;
		*) _graced_words "table wide columns= json" ;;
		esac
		;;
	--color) _graced_words "auto always never" ;;
	--pid) _graced_words "$(cd /proc && echo [0-9]*)" ;;
	--boot) _graced_words "0 -1" ;;
	--since | --until) _graced_words "today yesterday 10m 2h" ;;
	-s | --signal) _graced_signals "${1/audit/}" ;;
	--outcome) _graced_words "graceful terminated killed oom-killed crashed completed failed unknown" ;;
	--type) _graced_words "power-off reboot halt kexec soft-reboot" ;;
	--scope) _graced_words "pods containers services all" ;;
	--hierarchy) _graced_hierarchies ;;
	--log.level) _graced_words "debug info warning error" ;;
	--log.format) _graced_words "logfmt json" ;;
	--sinks.journal) _graced_words "auto true false" ;;
	--budget.cpu) _graced_words "1% 2% 5% off" ;;
	--web.listen-address) _graced_words "127.0.0.1:9753 [::1]:9753" ;;
	--web.telemetry-path) _graced_words "/metrics" ;;
	--ring-size) _graced_words "256Ki 512Ki 1Mi 2Mi 4Mi 8Mi" ;;
	--kubelet.version) _graced_words "1.20 1.26 1.27 1.29 1.30 1.35 1.36" ;;
	--names.enabled) _graced_words "true false" ;;
	--shutdown.mode) _graced_words "observe assist manage off" ;;
	--shutdown.deaf-grace) _graced_words "off 2s" ;;
	--shutdown.grace-period) _graced_words "30s 60s" ;;
	--shutdown.grace-period-critical-pods) _graced_words "10s" ;;
	--shutdown.pre-stop) _graced_words "exec skip" ;;
	--api.report) _graced_words "events status unschedulable" ;;
	--shutdown.stop-units) _graced_words "kubelet.service" ;;
	--out-of-service-effect) _graced_words "NoExecute NoSchedule" ;;
	--control.socket | --checkpoint.file | --job | --file | --pods | --record | --config | --web.config.file | --sinks.file | \
		--kubelet.ca | --kubelet.config | --kubelet.token-file | --api.ca | --api.token-file | \
		--api.client-file | --otlp-ca) _graced_files -f ;;
	--names.log-directory | --journal-directory | --names.docker-root | --names.podman-root | --names.containerd-state) _graced_files -d ;;
	--kubelet.socket)
		if [[ $cur == */* ]]; then
			_graced_files -f
		else
			_graced_words "none /var/lib/kubelet/pods-api/pods-api.sock"
		fi
		;;
	--cri.endpoint)
		if [[ $cur == */* ]]; then
			_graced_files -f
		else
			_graced_words "none /run/containerd/containerd.sock /run/crio/crio.sock
				/run/k3s/containerd/containerd.sock /run/cri-dockerd.sock"
		fi
		;;
	--sort | -n | --namespace | -p | --pod | -c | --container | --sender | --count | --duration | --timeout | --deadline | \
		--assume-grace | --nested-nodes | --node-name | --container-roots | \
		--metrics.max-series | --metrics.max-age | --names.wait | \
		--shutdown.extra | --shutdown.overdue-slack | --shutdown.status-wait | \
		--node-monitor-grace-period | --out-of-service-after | --kubelet.url | \
		--kubelet.server-name | --kubelet.interval | \
		--api.url | --api.server-name | --api.interval) ;;
	*) return 1 ;;
	esac
}

_graced_options() { # COMMAND
	local format="--output" table="--output --no-headers --color" filter="--namespace --pod --container --signal"
	local sources="--hierarchy --debug --names.enabled --no-names.enabled --names.log-directory
		--names.docker-root --names.podman-root --names.containerd-state --cri.endpoint
		--kubelet.socket --kubelet.url --kubelet.ca --kubelet.server-name --kubelet.token-file"
	local live="--nested-nodes --container-roots --ring-size --no-group-dead $sources"
	case $1 in
	trace) echo "--help $table --utc $filter --sender --outcome --signals --scope --assume-grace
		--count --duration --record --attach --control.socket --names.wait $live" ;;
	top) echo "--help --namespace --pod --container --scope --assume-grace --duration --color --utc
		--attach --control.socket --names.wait $live" ;;
	run) echo "--help --config --config.check --node-name --scope --assume-grace --hierarchy
		--nested-nodes --container-roots --ring-size --log.level --log.format --web.listen-address
		--web.hosts --web.telemetry-path --web.config.file --web.insecure --no-web.insecure --control.socket
		--checkpoint.file --names.enabled --no-names.enabled --names.log-directory --names.wait
		--names.docker-root --names.podman-root --names.containerd-state --cri.endpoint
		--kubelet.socket --kubelet.url --kubelet.ca --kubelet.server-name --kubelet.token-file
		--kubelet.interval --api.url --api.ca --api.server-name --api.token-file --api.client-file --api.interval
		--api.report --sinks.stdout
		--no-sinks.stdout --sinks.file --sinks.journal --sinks.signals --no-sinks.signals
		--shutdown.mode --kubelet.config --kubelet.version
		--shutdown.control --no-shutdown.control --shutdown.extra --shutdown.overdue-slack --shutdown.status-wait --shutdown.deaf-grace
		--shutdown.stop-units --shutdown.grace-period --shutdown.grace-period-critical-pods
		--shutdown.grace-period-by-pod-priority --shutdown.managed --shutdown.pre-stop
		--shutdown.out-of-service-taint
		--shutdown.volumes --no-shutdown.volumes --kubelet.root-directory
		--metrics.max-series --metrics.max-age --budget.cpu" ;;
	audit) echo "--help $table --sort $filter --watch --pid --exit-zero --nested-nodes --container-roots $sources" ;;
	pods) echo "--help $table --sort --namespace --pod --watch --control.socket" ;;
	explain) echo "--help $format --color --namespace --pod --kubelet.version --job" ;;
	plan) echo "--help $table --sort --config --kubelet.config --deadline --if-node-dies --pods --kubelet.version
		--node-monitor-grace-period --out-of-service --out-of-service-after --out-of-service-effect" ;;
	log) echo "--help $table --sort --utc $filter --sender --outcome --signals --count --file --journal-directory
		--boot --since --until" ;;
	report) echo "--help $table --sort --namespace --pod --file --journal-directory --boot --since --until --otlp-endpoint --otlp-ca" ;;
	shutdown) echo "--help $format --begin --cancel --status --type --control.socket" ;;
	resolve) echo "--help $table --sort $sources" ;;
	record) echo "--help --scope --assume-grace --duration $live" ;;
	replay) echo "--help $table $filter --sender --outcome --signals --count --scope --assume-grace
		--nested-nodes --container-roots" ;;
	wait) echo "--help --empty --timeout --ignore-daemonsets --pods $live" ;;
	check) echo "--help $format --config --control.socket --kubelet.config --kubelet.version
		$sources" ;;
	version) echo "--help $format" ;;
	esac
}

_graced() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_graced_words "trace top run audit pods explain plan log report shutdown resolve record replay wait check version --help"
		return
	fi
	# readline breaks words at =, so --option=value comes as three.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]] && ((COMP_CWORD > 3)); then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	_graced_value "$command" "$prev" && return
	if [[ $cur == -* ]]; then
		_graced_words "$(_graced_options "$command")"
		return
	fi
	case $command in
	explain | record | replay) _graced_files -f ;;
	resolve) _graced_words "$(cd /proc && echo [0-9]*)" ;;
	esac
}

complete -F _graced graced
