// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kernel/mounts: which mounts are the kubelet's, and of which pod. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "wire/kernel/mounts.h"

#define ROOT "/var/lib/kubelet"
#define UID  "0a1b2c3d-0000-4000-8000-00000000000a"

/* A mount there of that type: what it is in words, or NULL. */
static const char *words(const char *root, const char *point, const char *type)
{
	static char text[1024];
	struct kubemount m;
	char *line;
	int r;

	assert_true(asprintf(&line,
			     "812 29 259:3 / %s rw,relatime shared:7 master:1 - %s /dev/x rw",
			     point, type) > 0);
	r = kubemount_parse(line, strlen(line), root, &m);
	free(line);
	assert_true(r == 0 || r == 1);
	if (r == 0)
		return NULL;
	assert_int_equal(m.id, 812);
	assert_int_equal(m.device, (uint64_t)259 << 32 | 3);
	snprintf(text, sizeof(text), "pod=%s plugin=%s driver=%s volume=%s", m.pod_uid, m.plugin,
		 m.driver, m.volume);
	return text;
}

static void test_paths(void **state)
{
	static const struct {
		const char *point, *want;
	} rows[] = {
		{"/pods/" UID "/volumes/kubernetes.io~csi/pvc-1/mount",
		 "pod=" UID " plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/pods/" UID "/volumes/kubernetes.io~csi/pvc-1/mount//deleted",
		 "pod=" UID " plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/pods/8f14e45fceea167a5a36dedd4bea2543/volumes/kubernetes.io~rbd/data",
		 "pod=8f14e45fceea167a5a36dedd4bea2543 plugin=kubernetes.io~rbd driver= "
		 "volume=data"},
		{"/pods/" UID "/volumes/vendor~flex/x",
		 "pod=" UID " plugin=vendor~flex driver= volume=x"},
		{"/pods/" UID "/volumeDevices/kubernetes.io~csi/pvc-1",
		 "pod=" UID " plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/pods/" UID "/volumes/kubernetes.io~csi/a\\040b\\134c/mount",
		 "pod=" UID " plugin=kubernetes.io~csi driver= volume=a b\\c"},
		{"/plugins/kubernetes.io/csi/ebs.csi.aws.com/8f14/globalmount",
		 "pod= plugin=kubernetes.io~csi driver=ebs.csi.aws.com volume=8f14"},
		{"/plugins/kubernetes.io/csi/pv/pvc-1/globalmount",
		 "pod= plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/plugins/kubernetes.io/csi/volumeDevices/publish/pvc-1/" UID,
		 "pod=" UID " plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/plugins/kubernetes.io/csi/volumeDevices/staging/pvc-1",
		 "pod= plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/plugins/kubernetes.io/csi/volumeDevices/pvc-1/dev/" UID,
		 "pod=" UID " plugin=kubernetes.io~csi driver= volume=pvc-1"},
		{"/plugins/kubernetes.io/gce-pd/mounts/disk-1",
		 "pod= plugin=kubernetes.io~gce-pd driver= volume=disk-1"},
		{"/plugins/kubernetes.io/cinder/volumeDevices/disk-1/" UID,
		 "pod=" UID " plugin=kubernetes.io~cinder driver= volume=disk-1"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char point[512];
		const char *got;

		snprintf(point, sizeof(point), ROOT "%s", rows[i].point);
		got = words(ROOT, point, "ext4");
		assert_non_null(got);
		assert_string_equal(got, rows[i].want);
	}
	assert_non_null(
		words("/mnt/k", "/mnt/k/pods/" UID "/volumes/kubernetes.io~csi/v/mount", "xfs"));
}

static void test_others(void **state)
{
	static const char *const points[] = {
		"/",
		ROOT,
		ROOT "/pods",
		ROOT "/pods/" UID "/volumes/kubernetes.io~csi",
		ROOT "xpods/" UID "/volumes/kubernetes.io~csi/v/mount",
		ROOT "x/pods/" UID "/volumes/kubernetes.io~csi/v/mount",
		"/var/lib/kubele/pods/" UID "/volumes/kubernetes.io~csi/v/mount",
		"/mnt" ROOT "/pods/" UID "/volumes/kubernetes.io~csi/v/mount",
		ROOT "/pods/" UID "/volumes/kubernetes.io~projected/token",
		ROOT "/pods/" UID "/volumes/kubernetes.io~nfs/share",
		ROOT "/pods/" UID "/volumes/kubernetes.io~local-volume/disk",
		ROOT "/pods/" UID "/volume-subpaths/pvc-1/main/0",
		ROOT "/pods/" UID "/containers/main/0",
		ROOT "/pods/not a uid/volumes/kubernetes.io~csi/v/mount",
		ROOT "/pods/../volumes/kubernetes.io~csi/v/mount",
		ROOT "/pods//volumes/kubernetes.io~csi/v/mount",
		ROOT "/plugins/kubernetes.io/csi/ebs.csi.aws.com/8f14/other",
		ROOT "/plugins/kubernetes.io/csi/ebs.csi.aws.com",
		ROOT "/plugins/kubernetes.io/local-volume/mounts/disk",
		ROOT "/plugins/kubernetes.io/csi/volumeDevices/publish/pvc-1",
		ROOT "/plugins/ebs.csi.aws.com/a/b/c",
	};

	for (size_t i = 0; i < LEN(points); i++)
		if (words(ROOT, points[i], "ext4"))
			fail_msg("%s", points[i]);
}

/* Their content ends with the mount; a device file is in memory and stands for a disk. */
static void test_memory(void **state)
{
	static const char *const types[] = {"tmpfs", "ramfs", "hugetlbfs"};

	for (size_t i = 0; i < LEN(types); i++) {
		assert_null(words(ROOT, ROOT "/pods/" UID "/volumes/kubernetes.io~csi/v/mount",
				  types[i]));
		assert_null(
			words(ROOT, ROOT "/plugins/kubernetes.io/csi/d/h/globalmount", types[i]));
		assert_null(words(ROOT, ROOT "/plugins/kubernetes.io/rbd/mounts/v", types[i]));
		assert_non_null(words(ROOT, ROOT "/pods/" UID "/volumeDevices/kubernetes.io~csi/v",
				      types[i]));
	}
	assert_non_null(
		words(ROOT, ROOT "/pods/" UID "/volumes/kubernetes.io~csi/v/mount", "tmpfs2"));
}

static char *repeat(char c, size_t n)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, c, n);
	text[n] = '\0';
	return text;
}

/* A name that fits no more is of nothing that the kubelet makes. */
static void test_lengths(void **state)
{
	for (int more = 0; more < 2; more++) {
		char *name = repeat('v', SHUTDOWN_VOLUME_MAX - 1 + (size_t)more);
		char *driver = repeat('d', SHUTDOWN_DRIVER_MAX - 1 + (size_t)more);
		char *uid = repeat('a', POD_UID_MAX - 1 + (size_t)more);
		char point[4096];

		snprintf(point, sizeof(point), ROOT "/pods/" UID "/volumes/kubernetes.io~csi/%s/m",
			 name);
		assert_int_equal(!words(ROOT, point, "ext4"), more);
		snprintf(point, sizeof(point), ROOT "/plugins/kubernetes.io/csi/%s/h/globalmount",
			 driver);
		assert_int_equal(!words(ROOT, point, "ext4"), more);
		snprintf(point, sizeof(point), ROOT "/pods/%s/volumes/kubernetes.io~csi/v/mount",
			 uid);
		assert_int_equal(!words(ROOT, point, "ext4"), more);
		free(name);
		free(driver);
		free(uid);
	}
}

static void test_bad_lines(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"812",
		"812 29 259:3 / /x rw",
		"812 29 259:3 / /x rw shared:1",
		"812 29 259:3 / /x rw -",
		"812 29 259:3 / /x rw - ",
		"812 29 259 / /x rw - ext4 /dev/x rw",
		"812 29 259: / /x rw - ext4 /dev/x rw",
		"812 29 259:3x / /x rw - ext4 /dev/x rw",
		"812 29 4294967296:3 / /x rw - ext4 /dev/x rw",
		"0 29 259:3 / /x rw - ext4 /dev/x rw",
		"-1 29 259:3 / /x rw - ext4 /dev/x rw",
		"99999999999999999999 29 259:3 / /x rw - ext4 /dev/x rw",
		"812  29 259:3 / /x rw - ext4 /dev/x rw",
	};
	struct kubemount m;

	for (size_t i = 0; i < LEN(lines); i++)
		if (kubemount_parse(lines[i], strlen(lines[i]), ROOT, &m) != -EBADMSG)
			fail_msg("%s", lines[i]);
}

/* A line is a part of a larger text: nothing behind it is read, and any byte may change. */
static void test_any_bytes(void **state)
{
	static const char line[] = "812 29 259:3 / " ROOT "/pods/" UID
				   "/volumes/kubernetes.io~csi/a\\040b/mount rw - ext4 /dev/x rw";
	struct kubemount m;

	for (size_t len = 0; len <= sizeof(line) - 1; len++) {
		char *part = malloc(len + 1);

		assert_non_null(part);
		memcpy(part, line, len);
		kubemount_parse(part, len, ROOT, &m);
		for (size_t i = 0; i < len; i++) {
			for (int c = 0; c < 256; c += 5) {
				part[i] = (char)c;
				kubemount_parse(part, len, ROOT, &m);
				assert_true(memchr(m.pod_uid, 0, sizeof(m.pod_uid)));
				assert_true(memchr(m.volume, 0, sizeof(m.volume)));
			}
			part[i] = line[i];
		}
		free(part);
	}
}

static void test_long_path(void **state)
{
	char *part = repeat('p', 5000), *line;
	struct kubemount m;

	assert_true(asprintf(&line, "812 29 259:3 / " ROOT "/pods/%s rw - ext4 /dev/x rw", part) >
		    0);
	assert_int_equal(kubemount_parse(line, strlen(line), ROOT, &m), 0);
	free(line);
	free(part);
}

/* The mount there, which is one of the kubelet's. */
static struct kubemount mount_at(const char *point)
{
	struct kubemount m;
	char *line;

	assert_true(asprintf(&line, "812 29 259:3 / " ROOT "%s rw - ext4 /dev/x rw", point) > 0);
	assert_int_equal(kubemount_parse(line, strlen(line), ROOT, &m), 1);
	free(line);
	return m;
}

static void test_file_of_driver(void **state)
{
	static const struct {
		const char *point, *want;
	} rows[] = {
		{"/pods/" UID "/volumes/kubernetes.io~csi/pvc-1/mount",
		 "pods/" UID "/volumes/kubernetes.io~csi/pvc-1/vol_data.json"},
		{"/plugins/kubernetes.io/csi/pv/pvc-1/globalmount",
		 "plugins/kubernetes.io/csi/pv/pvc-1/vol_data.json"},
	};
	static const char *const others[] = {
		"/plugins/kubernetes.io/csi/ebs.csi.aws.com/8f14/globalmount",
		"/pods/" UID "/volumes/kubernetes.io~rbd/pvc-1",
		"/plugins/kubernetes.io/gce-pd/mounts/disk-1",
	};
	char path[512];

	for (size_t i = 0; i < LEN(rows); i++) {
		struct kubemount m = mount_at(rows[i].point);

		assert_true(kubemount_file(&m, 0, path, sizeof(path)));
		assert_string_equal(path, rows[i].want);
		assert_true(kubemount_file(&m, 1, path, sizeof(path)));
		assert_string_equal(path, "plugins/kubernetes.io/csi/volumeDevices/pvc-1/data/"
					  "vol_data.json");
		assert_false(kubemount_file(&m, 0, path, strlen(rows[i].want)));
	}
	for (size_t i = 0; i < LEN(others); i++) {
		struct kubemount m = mount_at(others[i]);

		assert_false(kubemount_file(&m, 0, path, sizeof(path)));
	}
}

static void test_text_of_driver(void **state)
{
	static const char text[] =
		"{\"attachmentID\":\"csi-0\",\"driverName\":\"ebs.csi.aws.com\","
		"\"nodeName\":\"n\",\"specVolID\":\"pvc-1\",\"volumeHandle\":\"vol-1\"}\n";
	static const char *const bad[] = {
		"",
		"{",
		"null",
		"[]",
		"{}",
		"{\"driverName\":null}",
		"{\"driverName\":\"\"}",
		"{\"driverName\":[\"a\"]}",
		"{\"driverName\":\"a\",\"driverName\":\"b\"}",
		"{\"driverName\":\"a\"} x",
	};
	char driver[SHUTDOWN_DRIVER_MAX] = "old", *more;

	for (size_t i = 0; i < LEN(bad); i++)
		if (kubemount_read_driver(bad[i], strlen(bad[i]), driver) != -EBADMSG)
			fail_msg("%s", bad[i]);
	for (size_t len = 0; len < sizeof(text) - 2; len++)
		assert_int_equal(kubemount_read_driver(text, len, driver), -EBADMSG);
	assert_true(asprintf(&more, "{\"driverName\":\"%0*d\"}", SHUTDOWN_DRIVER_MAX, 0) > 0);
	assert_int_equal(kubemount_read_driver(more, strlen(more), driver), -EBADMSG);
	free(more);
	assert_string_equal(driver, "old");
	assert_int_equal(kubemount_read_driver(text, sizeof(text) - 1, driver), 0);
	assert_string_equal(driver, "ebs.csi.aws.com");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a mount of a volume is known by its path, with pod, plugin and driver",
		      test_paths),
		CLAIM("no other mount is one, nor one of a volume that is never attached",
		      test_others),
		CLAIM("a file system in memory is none, unless it has the file of a device",
		      test_memory),
		CLAIM("a name that is too long is none of the kubelet's", test_lengths),
		CLAIM("a malformed line is refused", test_bad_lines),
		CLAIM("any bytes are read to their end and no further", test_any_bytes),
		CLAIM("a path longer than any is left out", test_long_path),
		CLAIM("a CSI volume's driver is in the file of the kubelet's beside it",
		      test_file_of_driver),
		CLAIM("... by its name there; any other text names none", test_text_of_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
