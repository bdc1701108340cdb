# SPDX-License-Identifier: Apache-2.0
# fish completion for graced(8).

function __graced_hierarchies
    echo unified
    string match -rg '^([a-z_]+)\t' </proc/cgroups
end

set -l commands trace top audit run pods explain plan log report shutdown resolve record replay wait check version
set -l signals HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD \
    CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS RTMIN RTMIN+3 RTMAX
set -l none "not __fish_seen_subcommand_from $commands"
set -l on "__fish_seen_subcommand_from"

complete -c graced -f
complete -c graced -n $none -a trace -d 'live table (or JSON lines) of stops on this host'
complete -c graced -n $none -a top -d 'live screen of what is stopping, what stopped and who kills'
complete -c graced -n $none -a audit -d 'which running containers would not react to their stop signal'
complete -c graced -n $none -a run -d 'the daemon'
complete -c graced -n $none -a pods -d 'what the running daemon knows of pods'
complete -c graced -n $none -a explain -d 'phase and conditions of a pod, and why'
complete -c graced -n $none -a plan -d 'what becomes of pods in a node shutdown, or when their node dies'
complete -c graced -n $none -a log -d 'past stops, from the journal or a file'
complete -c graced -n $none -a report -d 'what happened in a shutdown, a rollout or any span of time'
complete -c graced -n $none -a shutdown -d 'how it is with a shutdown; begin or cancel one'
complete -c graced -n $none -a resolve -d 'name, cgroup path or pid -> pod, container, runtime'
complete -c graced -n $none -a record -d 'write observations to a file'
complete -c graced -n $none -a replay -d 'feed a recording through the same engine'
complete -c graced -n $none -a wait -d 'return when no container here has a process'
complete -c graced -n $none -a check -d 'what this host offers, one line each'
complete -c graced -n $none -a version -d 'print the version'
complete -c graced -s h -l help -d 'show help'

# Which rows, and how
complete -c graced -n "$on check" -s o -l output -x -a 'table json npd' \
    -d 'a table, JSON lines, or one line for node-problem-detector'
complete -c graced -n "$on explain shutdown version" -s o -l output -x -a 'table json' \
    -d 'a table, or JSON lines'
complete -c graced -n "$on trace audit pods plan resolve replay" -s o -l output -x \
    -a 'table wide columns= json' -d 'a table, or JSON lines'
set -l c "$on trace audit pods plan log report resolve replay"
complete -c graced -n $c -l no-headers -d 'print the rows of the table alone'
complete -c graced -n "$c explain top" -l color -x -a 'auto always never' -d 'colour the table'
complete -c graced -n "$on audit pods plan log report resolve" -l sort -x -d 'sort the table by these columns'
complete -c graced -n "$on trace top log" -l utc -d 'times in UTC and not in local time'
complete -c graced -n "$on report" -s o -l output -x -a 'table wide columns= json svg trace-event otlp' -d 'how to print'
set -l c "$on trace top audit pods explain replay log report"
complete -c graced -n $c -s n -l namespace -x -d 'only pods of these namespaces'
complete -c graced -n $c -s p -l pod -x -d 'only these pods (name or the beginning of its uid)'
set -l c "$on trace top audit replay log"
complete -c graced -n $c -s c -l container -x -d 'only these containers (name or id)'
complete -c graced -n "$on trace replay log" -s s -l signal -x \
    -a "(__fish_complete_list , 'string join \\n $signals')" -d 'only stops with these signals'
complete -c graced -n "$on audit" -s s -l signal -x -a "$signals" -d 'the signal to examine'
set -l c "$on trace replay log"
complete -c graced -n $c -l sender -x -d 'only what a process of this name sent'
complete -c graced -n $c -l outcome -x -d 'only these outcomes' \
    -a 'graceful terminated killed oom-killed crashed completed failed unknown'
complete -c graced -n $c -l signals -d 'a row for each stop signal and SIGKILL, too'
complete -c graced -n $c -l count -x -d 'so many rows'
set -l c "$on trace top run record replay"
complete -c graced -n $c -l scope -x -a 'pods containers services all' -d 'which stops to report'
complete -c graced -n $c -l assume-grace -x -a '10s 30s 60s' -d 'grace where no source provides one'

# The host
set -l c "$on trace top run audit resolve record wait check"
complete -c graced -n $c -l hierarchy -x -a '(__graced_hierarchies)' -d 'cgroup hierarchy'
complete -c graced -n "$on trace top run audit record replay wait" -l nested-nodes -x -d 'cgroup of a nested node'
complete -c graced -n "$on trace top run audit record replay wait" -l container-roots -x \
    -d 'look for containers below it'
complete -c graced -n "$on trace top audit resolve record wait check" -l debug -d "libbpf's messages"
complete -c graced -n "$on audit" -l watch -d 'keep running, and show what begins or changes'
complete -c graced -n "$on audit" -l pid -x -a '(__fish_complete_pids)' -d 'examine this process alone'
complete -c graced -n "$on audit" -l exit-zero -d 'exit status 0 also when a container is deaf'
complete -c graced -n "$on trace top run record wait" -l ring-size -x -a '256Ki 512Ki 1Mi 2Mi 4Mi 8Mi' \
    -d 'size of the ring buffer'
complete -c graced -n "$on trace top record wait" -l no-group-dead \
    -d 'find the last thread as older kernels have to'
complete -c graced -n "$on trace top record" -l duration -x -a '10s 1m 10m 1h' -d 'end after this time'
complete -c graced -n "$on trace top" -l attach -d 'attach programs also where a daemon runs'
complete -c graced -n "$on trace" -l record -r -F -d 'write the observations to this file, too'
complete -c graced -n "$on report" -l otlp-endpoint -x -d 'send the spans to this receiver of OTLP/HTTP'
complete -c graced -n "$on report" -l otlp-ca -r -F -d 'PEM file with the CA of that receiver'
complete -c graced -n "$on log report" -l file -r -F -d 'read the records from this file'
complete -c graced -n "$on log report" -l journal-directory -x -a '(__fish_complete_directories)' \
    -d 'read the journal in this directory'
complete -c graced -n "$on log report" -l boot -x -a '0 -1' -d 'which boot'
complete -c graced -n "$on log report" -l since -x -a 'today yesterday 10m 2h' -d 'what happened since then'
complete -c graced -n "$on log report" -l until -x -a 'today yesterday 10m 2h' -d 'what happened until then'
complete -c graced -n "$on pods" -l watch -d 'keep running, and show what changes'
complete -c graced -n "$on trace top run pods shutdown check" -l control.socket -r -F -d "the daemon's control socket"
complete -c graced -n "$on explain record replay" -F
complete -c graced -n "$on run explain plan check" -l kubelet.version -x -a '1.26 1.27 1.29 1.35 1.36' -d 'whose rules'
complete -c graced -n "$on explain" -l job -r -F -d "the pod's Job"
complete -c graced -n "$on run plan check" -l kubelet.config -r -F -d "the kubelet's configuration"
complete -c graced -n "$on plan" -l deadline -x -a '30s 2m' -d 'order of deletion before the node ends'
complete -c graced -n "$on plan" -l if-node-dies -d 'what if the node went silent'
complete -c graced -n "$on wait" -l empty -d 'wait until no container has a process'
complete -c graced -n "$on wait" -l timeout -x -a '1m 5m 10m' -d 'give up after this time'
complete -c graced -n "$on wait" -l ignore-daemonsets -d 'not for pods of DaemonSets, nor static ones'
complete -c graced -n "$on plan wait" -l pods -r -F -d 'the pods of the node'
complete -c graced -n "$on plan" -l node-monitor-grace-period -x -a '40s 50s' \
    -d 'when a silent node is not ready'
complete -c graced -n "$on plan" -l out-of-service -d 'with that taint on the node'
complete -c graced -n "$on plan" -l out-of-service-after -x -a '1m 5m 10m' -d 'when it is set'
complete -c graced -n "$on plan" -l out-of-service-effect -x -a 'NoExecute NoSchedule' \
    -d 'of that taint'

# Sources of names
set -l c "$on trace top run audit resolve record wait check"
complete -c graced -n $c -l names.enabled -d 'query sources for names'
complete -c graced -n $c -l no-names.enabled -d 'query no source for names'
complete -c graced -n $c -l names.log-directory -x -a '(__fish_complete_directories)' \
    -d 'where pods/ and containers/ are'
complete -c graced -n $c -l cri.endpoint -r -F -d "the container runtime's socket, or none"
complete -c graced -n $c -l kubelet.socket -r -F -d "the socket of the kubelet's pods API, or none"
complete -c graced -n $c -l kubelet.url -x -d "the kubelet's API"
complete -c graced -n $c -l kubelet.ca -r -F -d "CA certificates that verify the kubelet's"
complete -c graced -n $c -l kubelet.server-name -x -d 'name expected in its certificate'
complete -c graced -n $c -l kubelet.token-file -r -F -d 'a token for it'
complete -c graced -n $c -l names.docker-root -x -a '(__fish_complete_directories)' -d "Docker's files"
complete -c graced -n $c -l names.podman-root -x -a '(__fish_complete_directories)' -d "Podman's files"
complete -c graced -n $c -l names.containerd-state -x -a '(__fish_complete_directories)' \
    -d "containerd's state"

# The daemon
complete -c graced -n "$on run plan check" -l config -r -F -d 'settings as YAML'
complete -c graced -n "$on run" -l config.check -d 'check the settings, and exit'
complete -c graced -n "$on run" -l node-name -x -d 'name of this node in records'
complete -c graced -n "$on run" -l log.level -x -a 'debug info warning error' -d 'of the log'
complete -c graced -n "$on run" -l log.format -x -a 'logfmt json' -d 'of the log'
complete -c graced -n "$on run" -l web.listen-address -x -a 127.0.0.1:9753 -d 'of /metrics'
complete -c graced -n "$on run" -l web.hosts -x -a '(__fish_print_hostnames)' -d 'requests may be for'
complete -c graced -n "$on run" -l web.telemetry-path -x -a /metrics -d 'where the metrics are'
complete -c graced -n "$on run" -l web.config.file -r -F -d 'TLS and authentication'
complete -c graced -n "$on run" -l web.insecure -d 'serve other hosts without TLS'
complete -c graced -n "$on run" -l no-web.insecure -d 'turn it off'
complete -c graced -n "$on run" -l checkpoint.file -r -F -d 'where to save state for the next start, or none'
complete -c graced -n "$on trace top run" -l names.wait -x -a 250ms -d 'how long a stop waits for its names'
complete -c graced -n "$on run" -l api.url -x -d 'the API server'
complete -c graced -n "$on run" -l api.ca -r -F -d "CA certificates that verify the API server's"
complete -c graced -n "$on run" -l api.server-name -x -d 'name expected in its certificate'
complete -c graced -n "$on run" -l api.token-file -r -F -d 'a token for it'
complete -c graced -n "$on run" -l api.client-file -r -F -d 'a client certificate for it'
complete -c graced -n "$on run" -l api.report -x -a 'events status unschedulable' -d 'what to write to it'
complete -c graced -n "$on run" -l api.interval -x -a 30s -d "how often the node's pods are read"
complete -c graced -n "$on run" -l kubelet.interval -x -a 30s -d 'how often all pods are read'
complete -c graced -n "$on run" -l sinks.stdout -d 'records to standard output'
complete -c graced -n "$on run" -l no-sinks.stdout -d 'turn it off'
complete -c graced -n "$on run" -l sinks.file -r -F -d 'records to this file, too'
complete -c graced -n "$on run" -l sinks.journal -x -a 'auto true false' -d 'records to the journal'
complete -c graced -n "$on run" -l sinks.signals -d 'a record for each stop signal, too'
complete -c graced -n "$on run" -l no-sinks.signals -d 'turn it off'
complete -c graced -n "$on run" -l shutdown.mode -x -a 'observe assist manage off' -d 'in a shutdown of the node'
complete -c graced -n "$on run" -l shutdown.control -d "let graced shutdown begin one"
complete -c graced -n "$on shutdown" -l begin -d "begin a shutdown"
complete -c graced -n "$on shutdown" -l cancel -d "cancel one that was begun so"
complete -c graced -n "$on shutdown" -l status -d "print how it is"
complete -c graced -n "$on shutdown" -l type -x -a 'power-off reboot halt kexec soft-reboot' -d "what the machine is to do"
complete -c graced -n "$on run" -l shutdown.extra -x -a 10s -d "longer than all groups"
complete -c graced -n "$on run" -l shutdown.overdue-slack -x -a 2s -d "after a container's time"
complete -c graced -n "$on run" -l shutdown.status-wait -x -a '0s 5s' -d 'for the status of ended pods'
complete -c graced -n "$on run" -l shutdown.pre-stop -x -a 'exec skip' -d 'preStop hooks in mode manage'
complete -c graced -n "$on run" -l shutdown.stop-units -x -a kubelet.service -d 'unit that mode manage stops first'
complete -c graced -n "$on run" -l shutdown.grace-period -x -a 30s -d 'for all pods, in mode manage'
complete -c graced -n "$on run" -l shutdown.grace-period-critical-pods -x -a 10s -d 'for critical pods alone'
complete -c graced -n "$on run" -l shutdown.grace-period-by-pod-priority -x -d 'a group of mode manage'
complete -c graced -n "$on run" -l shutdown.managed -x -a "'scope=docker priority=0'" -d 'what manage stops besides pods'
complete -c graced -n "$on run" -l shutdown.out-of-service-taint -d 'taint a node on which nothing is left'
complete -c graced -n "$on run" -l shutdown.volumes -d 'until volumes are unmounted'
complete -c graced -n "$on run" -l no-shutdown.volumes -d 'turn it off'
complete -c graced -n "$on run" -l kubelet.root-directory -x -a '(__fish_complete_directories)' -d 'where the kubelet mounts'
complete -c graced -n "$on run" -l shutdown.deaf-grace -x -a 'off 2s' -d 'until a deaf one is ended'
complete -c graced -n "$on run" -l metrics.max-series -x -a 10000 -d 'series kept at most'
complete -c graced -n "$on run" -l metrics.max-age -x -a 1h -d 'how long a series stays'
complete -c graced -n "$on run" -l budget.cpu -x -a '1% 2% 5% off' -d 'share of one CPU'
