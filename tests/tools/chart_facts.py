# SPDX-License-Identifier: Apache-2.0
"""Prints what the Kubernetes objects on stdin are and grant, one fact a line, sorted.

Claims about a chart compare these lines, so that a field may move without breaking a test, while a
right, a mount or an argument may not appear unseen.
"""
import sys

import yaml


def host(volume, mount):
    source = volume.get("hostPath")
    if source:
        return "host %s %s" % (source["path"], "ro" if mount.get("readOnly") else "rw")
    return None


def mounted(volume, mount):
    """What a mounted volume lets the container reach."""
    path = host(volume, mount)
    if path:
        yield path
    for source in volume.get("projected", {}).get("sources", []):
        if "serviceAccountToken" in source:
            yield "token"
        for kind in ("secret", "configMap"):
            if kind in source:
                yield "%s %s" % (kind, source[kind]["name"])


def pod(spec):
    for key in ("hostPID", "hostNetwork", "hostIPC", "automountServiceAccountToken"):
        if spec.get(key):
            yield key
    for toleration in spec.get("tolerations", []):
        yield "tolerates " + " ".join(str(v) for v in toleration.values())
    if "priorityClassName" in spec:
        yield "priority " + spec["priorityClassName"]
    yield "selector " + str(spec.get("nodeSelector"))
    volumes = {v["name"]: v for v in spec["volumes"]}
    for container in spec["containers"]:
        yield from one(container, volumes)


def one(container, volumes):
    yield "image " + container["image"]
    security = container["securityContext"]
    for key, value in security.items():
        if key not in ("capabilities", "seLinuxOptions"):
            yield "security %s=%s" % (key, value)
    for name in security["capabilities"]["add"]:
        yield "capability " + name
    for name in security["capabilities"]["drop"]:
        yield "drop " + name
    if "seLinuxOptions" in security:
        yield "selinux " + security["seLinuxOptions"]["type"]
    for argument in container["args"]:
        yield "arg " + argument
    for probe in ("readinessProbe", "livenessProbe"):
        yield "%s %s" % (probe, container[probe]["httpGet"].get("scheme", "HTTP"))
    for variable in container["env"]:
        yield "env " + variable["name"]
    mounts = {m["name"]: m for m in container["volumeMounts"]}
    if set(mounts) != set(volumes):
        yield "volumes and mounts differ"
    for name, mount in mounts.items():
        yield from mounted(volumes[name], mount)


def policy(spec):
    for rule in spec["ingress"]:
        for peer in rule["from"]:
            labels = peer["namespaceSelector"]["matchLabels"]
            yield "ingress " + ",".join(labels.values())
    for rule in spec["egress"]:
        peers = [p["ipBlock"]["cidr"] for p in rule.get("to", [])] or ["anywhere"]
        ports = [str(p["port"]) for p in rule["ports"]]
        yield "egress %s %s" % (",".join(peers), ",".join(ports))


def role(rules):
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield ("may %s %s %s" % (verb, resource, group)).rstrip()


def facts(obj):
    kind, name = obj["kind"], obj["metadata"]["name"]
    yield "object %s/%s" % (kind, name)
    if kind == "DaemonSet":
        yield from pod(obj["spec"]["template"]["spec"])
    elif kind == "NetworkPolicy":
        yield from policy(obj["spec"])
    elif kind == "ClusterRole":
        yield from role(obj["rules"])
    elif kind == "ClusterRoleBinding":
        for subject in obj["subjects"]:
            yield "binds %s to %s/%s" % (obj["roleRef"]["name"], subject["namespace"], subject["name"])
    elif kind == "PodMonitor":
        for endpoint in obj["spec"]["podMetricsEndpoints"]:
            yield "scraped by " + endpoint.get("scheme", "http")
            for rule in endpoint["relabelings"]:
                yield "targets get " + rule["targetLabel"]
            for rule in endpoint["metricRelabelings"]:
                yield "series %s %s" % (rule["action"], rule["regex"])


print("\n".join(sorted(f for obj in yaml.safe_load_all(sys.stdin) if obj for f in facts(obj))))
