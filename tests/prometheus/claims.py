#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Claims about deploy/graced.rules.yaml, docs/alerts.md, docs/questions.md and the dashboard, as TAP:
names are those of the daemon's own page, and answers those of a history that recordings make, in a
real Prometheus. Queries are read from where users find them.
  claims.py ROOT METRICS_STORY PROMETHEUS_DIRECTORY SCRATCH"""
import json
import re
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT, STORY, BIN, SCRATCH = (Path(argument).resolve() for argument in sys.argv[1:5])
BEGIN = 1793491200
NOW = BEGIN + 479 * 60
# What scrapes add, and what rules and Prometheus make.
ADDED = {"job", "instance", "node", "exported_namespace", "le", "alertname", "alertstate", "severity"}
# Labels that may have any value.
FREE = {"namespace", "workload", "container", "kind"}
count = failures = 0


def claim(sentence, problems):
    global count, failures
    count += 1
    problems = list(problems)
    failures += bool(problems)
    print(("not ok" if problems else "ok"), count, "-", sentence)
    for problem in problems[:20]:
        print("#", str(problem)[:600])


# --- names --------------------------------------------------------------------------------------


def page_of_all():
    """Each name of a sample on the page with everything, with its label sets."""
    page = subprocess.run([STORY, "families"], check=True, capture_output=True, text=True).stdout
    samples = {"up": [{}]}
    for line in page.splitlines():
        if not line.startswith("#"):
            name, labels = re.match(r"([\w:]+)(?:\{(.*)\})? ", line).groups()
            samples.setdefault(name, []).append(dict(re.findall(r'(\w+)="([^"]*)"', labels or "")))
    # Prometheus stores these lines of a histogram or, under the name alone, native buckets.
    for name in [name for name in samples if name.endswith("_bucket")]:
        samples[name.removesuffix("_bucket")] = [
            {k: v for k, v in labels.items() if k != "le"} for labels in samples[name]]
    return samples


def single_values(operator, value):
    """The alternatives of a=~"b|c" are to exist one by one."""
    return value.split("|") if "~" in operator else [value]


def problems_of_selector(name, selector, label_sets):
    for label, operator, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', selector):
        if label in ADDED | FREE:
            continue
        have = {labels[label] for labels in label_sets if label in labels}
        if not have:
            yield f"{name} has no label {label}"
        for one in single_values(operator, value):
            if one and not any(re.fullmatch(one, text) for text in have):
                yield f'{name} has no {label}="{one}"'


def problems_of(expr, samples, recorded):
    """What an expression names and the daemon does not expose; recorded: the labels of rules' results."""
    everything = [labels for label_sets in samples.values() for labels in label_sets]
    known = set(ADDED)
    for name, selector in re.findall(r'(?<!["/?\w])((?:graced|process)[:_][\w:]+|up\b)\s*(\{[^}]*\})?', expr):
        if name in samples:
            known.update(*samples[name])
            yield from problems_of_selector(name, selector, samples[name])
        elif name in recorded:
            known.update(recorded[name])
            labels = [{k: v for k, v in one.items() if k in recorded[name]} for one in everything]
            yield from problems_of_selector(name, selector, labels)
        else:
            yield f"{name} is no metric"
    for names in re.findall(r"\b(?:by|on|ignoring|group_left)\s*\(([^)]*)\)", expr):
        yield from (f"no metric in {expr} has the label {label}"
                    for label in re.findall(r"\w+", names) if label not in known)


# --- a real Prometheus ---------------------------------------------------------------------------


def start_prometheus():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    history = SCRATCH / "history"
    with history.open("w") as out:
        for story in sorted((ROOT / "tests/prometheus/story").iterdir()):
            subprocess.run([STORY, story.name, ROOT / "tests/replay"], stdin=story.open(), stdout=out, check=True)
            out.flush()
        out.write("# EOF\n")
    subprocess.run([BIN / "promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", history, SCRATCH / "data"],
                   check=True, stdout=subprocess.DEVNULL)
    (SCRATCH / "prometheus.yml").write_text(f"rule_files: [{ROOT / 'deploy/graced.rules.yaml'}]\n")
    process = subprocess.Popen(
        [BIN / "prometheus", f"--config.file={SCRATCH / 'prometheus.yml'}", f"--storage.tsdb.path={SCRATCH / 'data'}",
         f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=100y"],
        stdout=subprocess.DEVNULL, stderr=(SCRATCH / "log").open("w"))
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(url + "/-/ready", timeout=5)
            return process, url
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    process.kill()
    sys.exit("Prometheus does not start: " + (SCRATCH / "log").read_text()[-2000:])


def get(url, path, **parameters):
    with urllib.request.urlopen(f"{url}{path}?{urllib.parse.urlencode(parameters)}", timeout=30) as answer:
        return json.load(answer)["data"]


def ask(url, query, at=NOW):
    """The answer as {labels: value rounded}, labels as sorted text."""
    return {
        ",".join(f"{k}={v}" for k, v in sorted(one["metric"].items()) if k != "__name__"): round(float(one["value"][1]), 2)
        for one in get(url, "/api/v1/query", query=query, time=at)["result"]
    }


# --- what the history holds, by tests/prometheus/story --------------------------------------------

ANSWERS = json.loads((ROOT / "tests/prometheus/answers.json").read_text())


def questions():
    text = (ROOT / "docs/questions.md").read_text()
    return re.findall(r"^## \d+\. (.+?)\n.*?```promql\n(.*?)```", text, re.S | re.M)


def anchor_of(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def problems_of_links(alert):
    """The runbook is a heading of a page, that of the alert."""
    page, _, anchor = alert["annotations"].get("runbook_url", "").partition("#")
    if not (page.startswith("docs/") and (ROOT / page).is_file()):
        yield f"{alert['name']}: there is no page {page}"
    elif anchor not in map(anchor_of, re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.M)):
        yield f"{alert['name']}: {page} has no heading #{anchor}"
    if anchor != anchor_of(alert["name"]):
        yield f"{alert['name']} has the runbook of {anchor}"


def problems_of_command(alert):
    """It names the node where the alert has one, or finds it by a query."""
    command = alert["annotations"].get("command", "")
    if not re.match(r"({{ if \$labels.namespace }})?kubectl ", command):
        yield f"{alert['name']} has no command"
    if alert["labels_left"] & {"node"} and "{{ $labels.node }}" not in command:
        yield f"{alert['name']}: its command lacks the node"


def queries_of(alert):
    of = 'namespace="",workload="",container=""'
    return [query.replace("%q", '""').replace("%[1]s", of) for query in re.findall(r"printf `(.*?)`", alert["annotations"].get("command", ""))]


def check_links(alerts, samples, recorded):
    for alert in alerts:
        alert["labels_left"] = set(re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", alert["query"]))))
    claim("the link to the runbook of each alert leads to its heading", [p for one in alerts for p in problems_of_links(one)])
    claim("each alert has a command, which names its node", [p for one in alerts for p in problems_of_command(one)])
    claim("each metric, label and value by which a command finds its node is one that the daemon exposes",
          [p for one in alerts for query in queries_of(one) for p in problems_of(query, samples, recorded)])


def check_names(url):
    samples = page_of_all()
    rules = [rule for group in get(url, "/api/v1/rules")["groups"] for rule in group["rules"]]
    recorded = {}
    for rule in rules:
        if rule["type"] == "recording":
            labels = re.findall(r"sum by \(([^)]*)\)", rule["query"])
            recorded[rule["name"]] = re.split(r"[,\s]+", ", ".join(labels)) if labels else []
    claim("each metric, label and value in a rule is one that the daemon exposes",
          [p for rule in rules for p in problems_of(rule["query"], samples, recorded)])
    cases = "".join(path.read_text() for path in (ROOT / "tests/prometheus").glob("*.test.yaml"))
    claim("each series in a case of promtool is one that the daemon exposes",
          [p for series in set(re.findall(r"series: '(.*?)'", cases)) for p in problems_of(series, samples, {})])
    alerts = [rule["name"] for rule in rules if rule["type"] == "alerting"]
    claim("there are alerts", [] if len(alerts) >= 15 else alerts)
    claim("each alert fires in a case of promtool", [a for a in alerts if f'alertname="{a}"' not in cases])
    check_links([rule for rule in rules if rule["type"] == "alerting"], samples, recorded)
    page = (ROOT / "docs/alerts.md").read_text()
    sections = dict(re.findall(r"^## (Graced\w+)\n(.*?)(?=^## |\Z)", page, re.S | re.M))
    claim("each alert has a runbook, and each runbook an alert", set(alerts) ^ set(sections))
    claim("each runbook says how to look, with a command of graced, and how to mend",
          [name for name, text in sections.items()
           if not re.search(r"- Look: .*`graced ", text, re.S) or "- Mend: " not in text])
    claim("each alert has a severity and a summary",
          [rule["name"] for rule in rules if rule["type"] == "alerting" and not
           (rule["labels"].get("severity") in ("warning", "critical") and rule["annotations"].get("summary"))])
    claim("each metric, label and value in a question is one that the daemon exposes",
          [p for _, query in questions() for p in problems_of(query, samples, recorded)])
    wrong = ["graced_container_deaf_total", 'graced_container_stops_total{cause="killed_early"}',
             'graced_container_stops_total{reason="x"}', "sum by (pod) (graced_shed)"]
    claim("a name, a label or a value that does not exist is found",
          [expr for expr in wrong if not list(problems_of(expr, samples, recorded))])


def check_questions(url):
    claim("there are twelve questions, each with its answer",
          {title for title, _ in questions()} ^ set(ANSWERS) or ([] if len(questions()) == 12 else [len(questions())]))
    for title, query in questions():
        answer = ask(url, query)
        claim(f"{title} has the answer of the history",
              [] if answer == ANSWERS.get(title) else [f"{json.dumps(answer)} instead of {json.dumps(ANSWERS.get(title))}"])


# --- the dashboard --------------------------------------------------------------------------------

KINDS = {"row", "stat", "table", "timeseries"}


def with_values(query, hours=8):
    for name, value in (("$__rate_interval", "5m"), ("$__range_s", str(hours * 3600)), ("$__range", f"{hours}h"),
                        ("$node", ".*"), ("$namespace", ".*"), ("$workload", ".*")):
        query = query.replace(name, value)
    return query


def problems_of_places(panels):
    """The grid has 24 columns."""
    taken = {}
    for panel in panels:
        place = panel["gridPos"]
        if place["x"] < 0 or place["w"] < 1 or place["h"] < 1 or place["x"] + place["w"] > 24:
            yield f"{panel['title']} is beside the grid"
        for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])):
            if taken.setdefault(cell, panel["id"]) != panel["id"]:
                yield f"{panel['title']} covers another panel"
                break


def problems_of_panel(panel, variables):
    if panel["type"] not in KINDS:
        yield f"{panel['title']} is of an unknown type"
    if panel["type"] == "row":
        return
    if not panel.get("description") or not panel.get("targets"):
        yield f"{panel['title']} lacks a description or queries"
    if [t["refId"] for t in panel["targets"]] != [chr(65 + i) for i in range(len(panel["targets"]))]:
        yield f"{panel['title']}: queries are not A, B, ..."
    for target in panel["targets"]:
        if target["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
            yield f"{panel['title']} has a data source of its own"
        for name in re.findall(r"\$(?!__)(\w+)", target["expr"]):
            if name not in variables:
                yield f"{panel['title']} uses ${name}, which is no variable"


# By how many hours the page shows; what happened before them does not count.
KILLED = {
    1: {"cause=oom-container,container=crawl,namespace=batch,workload=spider": 1},
    4: {"cause=killed-early,container=app,namespace=bank,workload=ledger": 1,
        "cause=oom-node,container=crawl,namespace=batch,workload=spider": 1,
        "cause=grace-expired,container=nginx,namespace=shop,workload=web": 1,
        "cause=oom-container,container=crawl,namespace=batch,workload=spider": 1},
}
KILLED[8] = KILLED[4] | {"cause=grace-expired,container=app,namespace=shop,workload=legacy": 2}


def check_ranges(url, panels):
    expr = {p["title"]: p["targets"][0]["expr"] for p in panels if p["type"] != "row"}
    answers = {hours: ask(url, with_values(expr["Killed: workloads"], hours)) for hours in KILLED}
    claim("its table of kills has those of the time shown, each once, also the first of its series",
          [] if answers == KILLED else [answers])
    bars = {one["metric"]["cause"]: [(int(at) - BEGIN) // 60 for at, value in one["values"] if value == "1"]
            for one in get(url, "/api/v1/query_range", query=with_values(expr["Stops by cause"]), start=BEGIN, end=NOW, step=300)["result"]
            if one["metric"]["outcome"] == "killed"}
    claim("its bars have each kill at its time, also the first of its series",
          [] if bars == {"grace-expired": [130, 135, 360], "killed-early": [400]} else [bars])
    counts = [p for p in panels if p["type"] != "row" and re.search(r"\b(increase|count)\(", p["targets"][0]["expr"])]
    claim("what counts is shown in whole numbers",
          [p["title"] for p in counts if p["fieldConfig"]["defaults"].get("decimals") != 0] or ([] if len(counts) > 10 else ["few"]))


def check_links_of_tables(dashboard):
    variables = {v["name"] for v in dashboard["templating"]["list"]}
    bad = []
    for panel in (p for p in dashboard["panels"] if p["type"] == "table"):
        links = [link["url"] for one in panel["fieldConfig"]["overrides"] for p in one["properties"] if p["id"] == "links"
                 for link in p["value"] if one["matcher"] == {"id": "byName", "options": "workload"}]
        labels = re.search(r"by \(([^)]*)\)", panel["targets"][0]["expr"])[1].split(", ")
        for url in links or [""]:
            fields = dict(re.findall(r"var-(\w+)=\$\{__data\.fields\.(\w+)\}", url))
            if not (url.startswith(f"/d/{dashboard['uid']}?") and fields == {"namespace": "namespace", "workload": "workload"}
                    and set(fields) <= variables and set(fields.values()) <= set(labels)):
                bad.append((panel["title"], url))
    claim("the name of a workload in its tables leads to the row of that workload", bad)


def check_marks(url, dashboard, samples):
    marks = {mark["name"]: with_values(mark["expr"]) for mark in dashboard["annotations"]["list"]}
    claim("each metric, label and value of its marks is one that the daemon exposes",
          [problem for query in marks.values() for problem in problems_of(query, samples, {})])
    answers = {name: {labels: (value / 1000 - BEGIN) / 60 for labels, value in ask(url, query).items()} for name, query in marks.items()}
    claim("its marks are the node's shutdown and its unclean end, at their times",
          [] if answers == {"Shutdowns of nodes": {"node=n1": 330}, "Unclean ends of nodes": {"node=n1": 0}} else [answers])


def check_dashboard(url):
    dashboard = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
    panels = dashboard["panels"]
    variables = {v["name"]: v for v in dashboard["templating"]["list"]}
    claim("the dashboard has a title, a uid, a version of the schema, and no id of one installation",
          [key for key in ("title", "uid", "schemaVersion") if not dashboard.get(key)] + [key for key in ("id",) if key in dashboard])
    claim("its rows are the fleet, a workload, a node",
          [] if [p["title"].split()[0] for p in panels if p["type"] == "row"] == ["Fleet", "Workload", "Node"] else ["rows"])
    claim("its panels have ids of their own, and lie on the grid side by side",
          list(problems_of_places(panels)) + ([] if len({p["id"] for p in panels}) == len(panels) else ["ids"]))
    claim("its panels are of known types, with queries that use its variables alone",
          [problem for panel in panels for problem in problems_of_panel(panel, variables)])
    samples = page_of_all()
    queries = [(p["title"], t["expr"]) for p in panels for t in p.get("targets", [])]
    claim("each metric, label and value in it is one that the daemon exposes",
          [problem for _, query in queries for problem in problems_of(with_values(query), samples, {})])
    asked = [(title, get(url, "/api/v1/query_range", query=with_values(query), start=BEGIN, end=NOW, step=60)["result"])
             for title, query in queries]
    claim("each of its queries has an answer in the history", [title for title, answer in asked if not answer])
    drawn = subprocess.run([ROOT / "tools/dashboard-svg", url, str(NOW), "8"], check=True, capture_output=True, text=True).stdout
    have = (ROOT / "docs/dashboard.svg").read_text()
    claim("docs/dashboard.svg is what tools/dashboard-svg draws of it",
          [] if drawn == have else [*set(drawn.splitlines()) - set(have.splitlines())][:5])
    legends = [(panel["title"], label) for panel in panels for target in panel.get("targets", [])
               for label in re.findall(r"{{(\w+)}}", target["legendFormat"])
               if not re.search(r"by \([^)]*\b" + label + r"\b", target["expr"])]
    claim("each legend names labels that its query leaves", legends)
    values = {name: {re.sub(r'.*=', '', one) for one in ask(url, f"count by ({label}) (last_over_time({selector}[8h]))")}
              for name, variable in variables.items() if variable["type"] == "query"
              for selector, label in [re.fullmatch(r"label_values\((.+), (\w+)\)", with_values(variable["query"]["query"])).groups()]}
    claim("its variables have the nodes, namespaces and workloads of the history",
          [] if values == {"node": {"n1", "n2", "n3"}, "namespace": {"bank", "batch", "shop"},
                           "workload": {"cart", "ledger", "legacy", "spider", "web"}} else [values])
    check_ranges(url, panels)
    check_links_of_tables(dashboard)
    check_marks(url, dashboard, samples)
    stats = {p["title"]: list(ask(url, with_values(p["targets"][0]["expr"])).values()) for p in panels if p["type"] == "stat"}
    claim("its figures of the fleet are those of the history",
          [] if stats == {"Nodes with graced": [2], "Not answering": [1], "Not ready for shutdown": [1], "Unclean ends": [1],
                                    "Deaf": [1], "Killed": [6]} else [stats])


def main():
    for cases in sorted((ROOT / "tests/prometheus").glob("*.test.yaml")):
        result = subprocess.run([BIN / "promtool", "test", "rules", cases.name], cwd=cases.parent, capture_output=True, text=True)
        claim(f"promtool finds that the cases of {cases.name} hold", (result.stdout + result.stderr).splitlines() if result.returncode else [])
    process, url = start_prometheus()
    try:
        check_names(url)
        check_questions(url)
        check_dashboard(url)
    finally:
        process.terminate()
        process.wait()
    print(f"1..{count}")
    return failures > 0


sys.exit(main())
