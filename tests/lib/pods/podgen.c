// SPDX-License-Identifier: Apache-2.0
/* Writes pods member by member, as Go does: sorted by their structs, without white space. */
#include "lib/pods/podgen.h"

#include <stdio.h>

void podgen_uid(unsigned int number, char ret[static 37])
{
	snprintf(ret, 37, "%08x-1b2c-4d3e-8f90-%012x", number, number * 7919);
}

void podgen_id(unsigned int number, unsigned int attempt, char ret[static 65])
{
	snprintf(ret, 65, "%016x%016x%016x%016x", number, attempt, number ^ 0x5bd1e995u, 0xfeedu);
}

static void add_fields(struct buf *out, unsigned int n)
{
	buf_printf(out,
		   "{\"manager\":\"manager-%u\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
		   "\"time\":\"2026-03-01T10:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":"
		   "{\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:example.com/a%u\":{}},"
		   "\"f:labels\":{\".\":{},\"f:app\":{},\"f:pod-template-hash\":{}}},\"f:spec\":"
		   "{\"f:containers\":{\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},\"f:env\":"
		   "{\".\":{},\"k:{\\\"name\\\":\\\"SETTING_%u\\\"}\":{\".\":{},\"f:name\":{},"
		   "\"f:value\":{}}},\"f:image\":{},\"f:resources\":{}}}}}}",
		   n, n, n);
}

static void add_metadata(struct buf *out, unsigned int number, size_t bytes)
{
	size_t from = out->len;
	char uid[37];

	podgen_uid(number, uid);
	buf_printf(out,
		   "{\"metadata\":{\"name\":\"web-%u-7d4b9c6f5d-abcde\",\"generateName\":"
		   "\"web-%u-7d4b9c6f5d-\",\"namespace\":\"shop\",\"uid\":\"%s\","
		   "\"resourceVersion\":\"123456\",\"creationTimestamp\":\"2026-03-01T10:00:00Z\","
		   "\"labels\":{\"app\":\"web-%u\",\"pod-template-hash\":\"7d4b9c6f5d\"},"
		   "\"annotations\":{\"kubernetes.io/config.seen\":\"2026-03-01T10:00:01Z\","
		   "\"kubernetes.io/config.source\":\"api\",\"example.com/note\":"
		   "\"a \\\"quoted\\\" \\\\ note, {[}] \xc3\xa4\xe2\x82\xac\"},",
		   number, number, uid, number);
	buf_printf(
		out,
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
		"\"name\":\"web-%u-7d4b9c6f5d\",\"uid\":\"0e0e0e0e-0000-4000-8000-000000000001\","
		"\"controller\":true,\"blockOwnerDeletion\":true}],\"managedFields\":[",
		number);
	for (unsigned int n = 0; n == 0 || out->len - from < bytes / 2; n++) {
		if (n)
			buf_addc(out, ',');
		add_fields(out, n);
	}
	buf_adds(out, "]},");
}

static void add_container(struct buf *out, const char *name, const char *more, size_t bytes)
{
	size_t from = out->len;

	buf_printf(out,
		   "{\"name\":\"%s\",\"image\":\"registry.example.com/shop/%s:1.2.3\",\"args\":"
		   "[\"--serve\",\"--port=8080\"],\"env\":[",
		   name, name);
	for (unsigned int n = 0; n == 0 || out->len - from < bytes; n++)
		buf_printf(out, "%s{\"name\":\"SETTING_%u\",\"value\":\"https://%u.example.com/\"}",
			   n ? "," : "", n, n);
	buf_printf(out,
		   "],\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"512Mi\"},\"requests\":"
		   "{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},\"volumeMounts\":[{\"name\":\"kube-api"
		   "-access\",\"readOnly\":true,\"mountPath\":\"/var/run/secrets\"}],%s"
		   "\"imagePullPolicy\":\"IfNotPresent\"}",
		   more);
}

static void add_spec(struct buf *out, size_t bytes)
{
	buf_adds(out, "\"spec\":{\"volumes\":[{\"name\":\"kube-api-access\",\"projected\":"
		      "{\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,"
		      "\"path\":\"token\"}}],\"defaultMode\":420}}],\"initContainers\":[");
	add_container(out, "prepare", "", bytes / 16);
	buf_addc(out, ',');
	add_container(out, "proxy",
		      "\"restartPolicy\":\"Always\",\"startupProbe\":{\"httpGet\":{\"path\":\"/\","
		      "\"port\":80},\"terminationGracePeriodSeconds\":5},",
		      bytes / 16);
	buf_adds(out, "],\"containers\":[");
	add_container(out, "main",
		      "\"livenessProbe\":{\"httpGet\":{\"path\":\"/live\",\"port\":8080,"
		      "\"scheme\":\"HTTP\"},\"timeoutSeconds\":1},\"lifecycle\":{\"preStop\":"
		      "{\"exec\":{\"command\":[\"/bin/sleep\",\"5\"]}}},",
		      bytes / 4);
	buf_adds(out, "],\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":45,"
		      "\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":\"default\","
		      "\"nodeName\":\"node-1\",\"securityContext\":{},\"schedulerName\":"
		      "\"default-scheduler\",\"tolerations\":[{\"key\":\"node.kubernetes.io/"
		      "not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
		      "\"tolerationSeconds\":300}],\"priority\":100,\"enableServiceLinks\":true},");
}

static void add_status_of(struct buf *out, unsigned int number, const char *name,
			  unsigned int restarts, const char *states)
{
	char id[65];

	podgen_id(number, restarts, id);
	buf_printf(out,
		   "{\"name\":\"%s\",%s,\"ready\":true,\"restartCount\":%u,\"image\":"
		   "\"registry.example.com/shop/%s:1.2.3\",\"imageID\":\"sha256:0123\","
		   "\"containerID\":\"containerd://%s\",\"started\":true}",
		   name, states, restarts, name, id);
}

static void add_status(struct buf *out, unsigned int number)
{
	char id[65], states[512];

	buf_adds(out, "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Initialized\","
		      "\"status\":\"True\",\"lastProbeTime\":null},{\"type\":\"Ready\",\"status\":"
		      "\"True\",\"lastProbeTime\":null}],\"hostIP\":\"10.0.0.1\",\"podIP\":"
		      "\"10.1.0.9\",\"initContainerStatuses\":[");
	podgen_id(number, 100, id);
	snprintf(states, sizeof(states),
		 "\"state\":{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\",\"startedAt\":"
		 "\"2026-03-01T10:00:02Z\",\"finishedAt\":\"2026-03-01T10:00:03Z\","
		 "\"containerID\":\"containerd://%s\"}},\"lastState\":{}",
		 id);
	add_status_of(out, number, "prepare", 100, states);
	buf_addc(out, ',');
	add_status_of(out, number, "proxy", 200,
		      "\"state\":{\"running\":{\"startedAt\":\"2026-03-01T10:00:03Z\"}},"
		      "\"lastState\":{}");
	buf_adds(out, "],\"containerStatuses\":[");
	podgen_id(number, 0, id);
	snprintf(states, sizeof(states),
		 "\"state\":{\"running\":{\"startedAt\":\"2026-03-01T11:00:00Z\"}},\"lastState\":"
		 "{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\",\"startedAt\":"
		 "\"2026-03-01T10:00:04Z\",\"finishedAt\":\"2026-03-01T10:59:59Z\","
		 "\"containerID\":\"containerd://%s\"}}",
		 id);
	add_status_of(out, number, "main", 1, states);
	buf_adds(out, "],\"qosClass\":\"Burstable\"}}");
}

void podgen_pod(struct buf *out, unsigned int number, size_t bytes)
{
	add_metadata(out, number, bytes);
	add_spec(out, bytes);
	add_status(out, number);
}

void podgen_list(struct buf *out, unsigned int first, unsigned int count, size_t bytes_each)
{
	buf_adds(out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[");
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			buf_addc(out, ',');
		podgen_pod(out, first + i, bytes_each);
	}
	buf_adds(out, "]}\n");
}
