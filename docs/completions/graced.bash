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

# Sets options to all long ones of a command, and kind and words to what the value of one is.
_graced_read() { # COMMAND OPTION
	local names name is commands offered option=${2#-}
	while read -r names is commands offered; do
		[[ ,$commands, == *",$1,"* ]] || continue
		for name in ${names//,/ }; do
			((${#name} > 1)) && options+=" --$name"
			[[ $is == switch ]] && options+=" --no-$name"
		done
		[[ $2 == -* && ,$names, == *",${option#-},"* ]] && kind=$is words=$offered
	done <<-'END'
		# written by tools/generate: bash
o,output words explain,why,shutdown,version table json
o,output words check table json npd
o,output words trace,audit,pods,ps,plan,log,resolve,replay table wide columns= json
o,output words report table wide columns= json svg trace-event otlp
o,output words try table json junit github
otlp-endpoint words report
otlp-ca file report
sort words audit,pods,ps,plan,log,report,resolve
no-headers flag trace,audit,pods,ps,plan,log,report,resolve,replay
color words trace,top,audit,pods,ps,explain,plan,log,report,resolve,replay auto always never
utc flag trace,top,log,why,try
file file log,why,report
journal-directory dir log,why,report
boot words report 0 -1
boot words log,why 0 -1
since,until words log,why,report today yesterday 10m 2h
n,namespace words trace,top,audit,pods,ps,explain,log,why,report,replay
p,pod words trace,top,audit,pods,ps,explain,log,report,replay
c,container words trace,top,audit,pods,ps,log,replay
s,signal signals trace,log,replay
s,signal signal audit
s,signal signal try
sender words trace,log,replay
outcome words trace,log,replay graceful terminated killed oom-killed crashed completed failed unknown
signals flag trace,log,replay
count words trace,replay
count words log
running flag why
last words why
duration words trace,top,record 10s 1m 10m 1h
record file trace
exit-zero flag audit
watch flag audit,pods,ps
watch,init flag try
pid pid audit
begin,cancel,status flag shutdown
type words shutdown power-off reboot halt kexec soft-reboot
grace words try 10s 30s
within,settle words try 1s 5s
ready-log,ready-port words try
ready-timeout words try 1m 5m
job file explain
empty,ignore-daemonsets flag wait
timeout words wait 1m 5m 10m
pods file plan,wait
deadline words plan 30s 2m
if-node-dies,out-of-service flag plan
node-monitor-grace-period words plan 40s 50s
out-of-service-after words plan 1m 5m 10m
out-of-service-effect words plan NoExecute NoSchedule
config,web.config.file,kubelet.config,api.ca,api.token-file,api.client-file,checkpoint.file,sinks.file file run
config,kubelet.config file plan,check
config.check flag run
node-name,web.hosts,api.server-name host run
scope words trace,top,run,record pods containers services all
scope words replay pods containers services all
assume-grace words trace,top,run,record 30s 10s 60s
assume-grace words replay 30s 10s 60s
hierarchy hierarchy trace,top,run,audit,why,resolve,record,wait,check,try
nested-nodes,container-roots path trace,top,run,audit,why,record,replay,wait
helpers words trace,run,record,replay tail inotifywait
ring-size words trace,top,run,record,wait 256Ki 512Ki 1Mi 2Mi 4Mi 8Mi
attach flag trace,top
no-group-dead flag trace,top,record,wait
debug flag trace,top,audit,why,resolve,record,wait,check,try
log.level words run debug info warning error
log.format words run logfmt json
web.listen-address words run 127.0.0.1:9753 [::1]:9753
web.telemetry-path path run
web.insecure,sinks.stdout,sinks.signals,shutdown.control,shutdown.volumes,shutdown.out-of-service-taint switch run
control.socket socket run /run/graced/control.sock none
control.socket socket trace,top,pods,ps,why,check,shutdown
names.enabled switch trace,top,run,audit,why,resolve,record,wait,check,try
names.log-directory,names.docker-root,names.podman-root,names.containerd-state dir trace,top,run,audit,why,resolve,record,wait,check,try
names.wait words trace,top,run 250ms
cri.endpoint socket trace,top,run,audit,why,resolve,record,wait,check,try /run/containerd/containerd.sock /run/crio/crio.sock /run/k3s/containerd/containerd.sock /run/cri-dockerd.sock none
kubelet.socket socket trace,top,run,audit,why,resolve,record,wait,check,try /var/lib/kubelet/pods-api/pods-api.sock none
kubelet.url words trace,top,run,audit,why,resolve,record,wait,check,try https://127.0.0.1:10250
kubelet.ca,kubelet.token-file file trace,top,run,audit,why,resolve,record,wait,check,try
kubelet.server-name host trace,top,run,audit,why,resolve,record,wait,check,try
kubelet.interval,api.interval words run 30s
kubelet.version words run 1.20 1.26 1.27 1.29 1.30 1.35 1.36
kubelet.version words explain,plan,check 1.20 1.26 1.27 1.29 1.30 1.35 1.36
kubelet.root-directory dir run
api.url words run https://10.96.0.1:443
api.report words run events status unschedulable
sinks.file-size words run none 16Mi
sinks.journal words run auto true false
shutdown.mode words run observe assist manage off
shutdown.extra words run 10s
shutdown.overdue-slack words run 2s
shutdown.status-wait words run 0s 5s
shutdown.deaf-grace words run off 2s
shutdown.pre-stop words run exec skip
shutdown.stop-units words run kubelet.service
shutdown.grace-period words run 0s 30s 60s
shutdown.grace-period-critical-pods words run 0s 10s
shutdown.grace-period-by-pod-priority,shutdown.managed words run
metrics.max-series words run 10000
metrics.max-age words run 1h
budget.cpu words run 2% 1% 5% off
		# written by tools/generate: the end
	END
}

# The value of an option: true when there is one to complete.
_graced_value() { # KIND WORDS
	case $1 in
	flag | switch | "") return 1 ;;
	words) _graced_words "$2" ;;
	file) _graced_files -f ;;
	dir) _graced_files -d ;;
	socket)
		[[ $cur == */* ]] || _graced_words "$2"
		((${#COMPREPLY[@]})) || _graced_files -f
		;;
	pid) _graced_words "$(cd /proc && echo [0-9]*)" ;;
	signal) _graced_signals "" ;;
	signals) _graced_signals list ;;
	hierarchy) _graced_hierarchies ;;
	host) _graced_words "$(compgen -A hostname)" ;;
	path) ;;
	esac
}

_graced() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
	local options=--help kind='' words=''
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		# written by tools/generate: commands-bash
		_graced_words "why log report trace top pods ps audit try plan explain run check shutdown wait resolve record replay version --help"
		# written by tools/generate: the end
		return
	fi
	# readline breaks words at =, so --option=value comes as three.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]] && ((COMP_CWORD > 3)); then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	_graced_read "$command" "$prev"
	_graced_value "$kind" "$words" && return
	if [[ $cur == -* ]]; then
		_graced_words "$options"
		return
	fi
	case $command in
	explain | record | replay) _graced_files -f ;;
	resolve) _graced_words "$(cd /proc && echo [0-9]*)" ;;
	esac
}

complete -F _graced graced
