// SPDX-License-Identifier: Apache-2.0
/* Starts the programs, and talks to the mock over the bus. */
#include "lib/shutdown/logindmock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"

#define PYTHON	"/usr/bin/python3"
#define MODULE	"/usr/lib/python3/dist-packages/dbusmock/templates/logind.py"
#define NAME	"org.freedesktop.login1"
#define OBJECT	"/org/freedesktop/login1"
#define MANAGER NAME ".Manager"
#define MOCK	"org.freedesktop.DBus.Mock"

#define LOG_MAX ((size_t)1 << 20)

/* Anybody on it may do anything: it is the test's alone. */
static const char config[] =
	"<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" "
	"\"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">"
	"<busconfig><type>system</type><listen>%s</listen><auth>EXTERNAL</auth>"
	"<policy context=\"default\"><allow send_destination=\"*\"/><allow send_type=\"signal\"/>"
	"<allow receive_sender=\"*\"/><allow own=\"*\"/></policy></busconfig>\n";

/* The template's, but for whose a lock is: its uid 1000 and pid 123456 are nobody's. */
static const char template[] =
	"import os, dbus\n"
	"from gi.repository import GLib\n"
	"from dbusmock import mockobject\n"
	"from dbusmock.templates.logind import *\n"
	"@dbus.service.method(MAIN_IFACE, in_signature='ssss', out_signature='h',\n"
	"                     sender_keyword='sender')\n"
	"def Inhibit(self, what, who, why, mode, sender=None):\n"
	"  if not hasattr(mockobject, 'inhibitors'): mockobject.inhibitors = []\n"
	"  def of(member):\n"
	"    return self.connection.call_blocking('org.freedesktop.DBus',\n"
	"      '/org/freedesktop/DBus', 'org.freedesktop.DBus', member, 's', (sender,))\n"
	"  lock = (what, who, why, mode, of('GetConnectionUnixUser'),\n"
	"          of('GetConnectionUnixProcessID'))\n"
	"  mockobject.inhibitors.append(lock)\n"
	"  fd_r, fd_w = os.pipe()\n"
	"  def dropped(fd, cond):\n"
	"    os.close(fd)\n"
	"    mockobject.inhibitors.remove(lock)\n"
	"    getattr(mockobject, 'when_released', lambda: None)()\n"
	"    return False\n"
	"  GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, fd_r, GLib.IO_HUP, dropped)\n"
	"  GLib.idle_add(os.close, fd_w)\n"
	"  return fd_w\n";

bool logindmock_is_here(void)
{
	return access("/usr/bin/dbus-daemon", X_OK) == 0 && access(MODULE, R_OK) == 0;
}

static void path_of(const struct logindmock *m, const char *name, char ret[static 80])
{
	snprintf(ret, 80, "%s/%s", m->dir, name);
}

static void log_path(const struct logindmock *m, char ret[static 80])
{
	snprintf(ret, 80, "%s/log%u", m->dir, m->n_log);
}

__attribute__((format(printf, 2, 3))) static void write_file(const char *path, const char *format,
							     ...)
{
	FILE *f = fopen(path, "we");
	va_list args;

	assert_non_null(f);
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	assert_int_equal(fclose(f), 0);
}

void logindmock_begin(struct logindmock *m)
{
	char path[80];

	*m = (struct logindmock){.dir = "/tmp/graced-logind-XXXXXX"};
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->address, sizeof(m->address), "unix:path=%s/bus", m->dir);
	path_of(m, "config", path);
	write_file(path, config, m->address);
	path_of(m, "logind.py", path);
	write_file(path, "%s", template);
}

static pid_t start(const struct logindmock *m, char *const argv[])
{
	char output[80];
	pid_t parent = getpid(), pid;

	path_of(m, "output", output);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || getppid() != parent || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 ||
		    setenv("DBUS_SYSTEM_BUS_ADDRESS", m->address, 1) < 0)
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	assert_int_equal(waitpid(*pid, NULL, 0), *pid);
	*pid = 0;
}

static sd_bus *connect_to(const struct logindmock *m)
{
	sd_bus *bus = NULL;

	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_address(bus, m->address) >= 0);
	assert_true(sd_bus_set_bus_client(bus, true) >= 0);
	if (sd_bus_start(bus) >= 0 && sd_bus_get_unique_name(bus, &(const char *){NULL}) >= 0)
		return bus;
	return sd_bus_close_unref(bus);
}

void logindmock_start_bus(struct logindmock *m)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
	char option[100];

	snprintf(option, sizeof(option), "--config-file=%s/config", m->dir);
	m->bus = start(m, (char *[]){"/usr/bin/dbus-daemon", option, "--nofork", "--nopidfile",
				     "--nosyslog", NULL});
	while (!m->ctl) {
		assert_true(clock_boot_ns() < end_ns);
		m->ctl = connect_to(m);
		if (!m->ctl)
			usleep(2000);
	}
}

void logindmock_kill_bus(struct logindmock *m)
{
	char path[80];

	end(&m->bus);
	m->ctl = sd_bus_close_unref(m->ctl);
	path_of(m, "bus", path);
	unlink(path);
	/* It goes with the bus, by itself. */
	if (m->logind > 0)
		assert_int_equal(waitpid(m->logind, NULL, 0), m->logind);
	m->logind = 0;
}

static bool is_there(struct logindmock *m)
{
	return sd_bus_call_method(m->ctl, NAME, OBJECT, "org.freedesktop.DBus.Peer", "Ping", NULL,
				  NULL, "") >= 0;
}

void logindmock_start(struct logindmock *m)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
	char log[80], path[80];

	path_of(m, "logind.py", path);
	m->n_log++;
	log_path(m, log);
	m->logind = start(m, (char *[]){PYTHON, "-m", "dbusmock", "--system", "--template", path,
					"--logfile", log, NULL});
	/* What it knows of besides the template, before anybody can have asked. */
	while (!is_there(m)) {
		assert_true(clock_boot_ns() < end_ns);
		usleep(5000);
	}
	logindmock_run(m, "self.AddProperty(Manager, 'InhibitDelayMaxUSec', dbus.UInt64(5000000))");
}

void logindmock_kill(struct logindmock *m)
{
	end(&m->logind);
}

void logindmock_pause(struct logindmock *m)
{
	assert_int_equal(kill(m->logind, SIGSTOP), 0);
}

void logindmock_go_on(struct logindmock *m)
{
	assert_int_equal(kill(m->logind, SIGCONT), 0);
}

void logindmock_end(struct logindmock *m)
{
	char command[80];

	end(&m->logind);
	m->ctl = sd_bus_close_unref(m->ctl);
	end(&m->bus);
	snprintf(command, sizeof(command), "rm -r %s", m->dir);
	assert_int_equal(system(command), 0);
}

const char *logindmock_run(struct logindmock *m, const char *python)
{
	static char result[256];
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	const char *text;
	char code[4096];
	int r;

	snprintf(code, sizeof(code),
		 "Manager = '" MANAGER "'\n%s\nret = str(locals().get('ret', ''))", python);
	r = sd_bus_call_method(m->ctl, NAME, OBJECT, MOCK, "AddMethod", &error, NULL, "sssss",
			       MANAGER, "Run", "", "s", code);
	if (r >= 0)
		r = sd_bus_call_method(m->ctl, NAME, OBJECT, MANAGER, "Run", &error, &reply, "");
	if (r < 0)
		fail_msg("%s: %s", python, error.message ? error.message : strerror(-r));
	assert_true(sd_bus_message_read(reply, "s", &text) > 0);
	snprintf(result, sizeof(result), "%s", text);
	sd_bus_message_unref(reply);
	return result;
}

void logindmock_emit(struct logindmock *m, const char *member, const char *signature,
		     const char *args)
{
	char python[512];

	snprintf(python, sizeof(python), "self.EmitSignal(Manager, '%s', '%s', [%s])", member,
		 signature, args);
	logindmock_run(m, python);
}

void logindmock_announce(struct logindmock *m, bool begins, const char *action)
{
	char args[256];

	logindmock_set_preparing(m, begins);
	snprintf(args, sizeof(args),
		 "%s, dbus.Dictionary({'other': dbus.UInt32(7), 'type': '%s'}, signature='sv')",
		 begins ? "True" : "False", action);
	logindmock_emit(m, "PrepareForShutdownWithMetadata", "ba{sv}", args);
	logindmock_emit(m, "PrepareForShutdown", "b", begins ? "True" : "False");
}

void logindmock_set_limit(struct logindmock *m, uint64_t us)
{
	char python[128];

	/* Without a signal: logind declares the property constant. */
	snprintf(python, sizeof(python),
		 "self.props[Manager]['InhibitDelayMaxUSec'] = dbus.UInt64(%llu)",
		 (unsigned long long)us);
	logindmock_run(m, python);
}

void logindmock_set_preparing(struct logindmock *m, bool preparing)
{
	logindmock_run(m, preparing ? "self.props[Manager]['PreparingForShutdown'] = True"
				    : "self.props[Manager]['PreparingForShutdown'] = False");
}

void logindmock_refuse(struct logindmock *m, const char *error)
{
	char python[512];

	snprintf(python, sizeof(python),
		 "c = type(self)\n"
		 "m = self.methods[Manager]\n"
		 "if not hasattr(c, 'kept'): c.kept = (c.__dict__['Inhibit'], m['Inhibit'])\n"
		 "error = '%s'\n"
		 "if not error: c.Inhibit, m['Inhibit'] = c.kept\n"
		 "else: self.AddMethod(Manager, 'Inhibit', 'ssss', 'h', \"raise "
		 "dbus.exceptions.DBusException('no', name='%s')\")",
		 error ? error : "", error ? error : "");
	logindmock_run(m, python);
}

void logindmock_add_systemd(struct logindmock *m, const char *root)
{
	static const char kill_unit[] =
		"import glob, os\n"
		"files, value = {}, 5\n"
		"for place in ('usr/lib', 'usr/local/lib', 'run', 'etc'):\n"
		"  for f in glob.glob('%s/' + place + '/systemd/logind.conf.d/*.conf'):\n"
		"    files[os.path.basename(f)] = f\n"
		"for name in sorted(files):\n"
		"  for line in open(files[name]):\n"
		"    if line.startswith('InhibitDelayMaxSec='): value = int(line[19:])\n"
		"objects['/org/freedesktop/login1'].props['org.freedesktop.login1.Manager']"
		"['InhibitDelayMaxUSec'] = dbus.UInt64(value * 1000000)\n";
	char python[2048], code[1024];

	snprintf(code, sizeof(code), kill_unit, root);
	snprintf(
		python, sizeof(python),
		"self.AddObject('/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager', "
		"{}, [('KillUnit', 'ssi', '', \"\"\"%s\"\"\")])\n"
		"type(self).init = dbus.service.BusName('org.freedesktop.systemd1', self.connection)",
		code);
	logindmock_run(m, python);
}

void logindmock_add_units(struct logindmock *m)
{
	logindmock_run(
		m,
		"self.AddObject('/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager', "
		"{}, [('Subscribe', '', '', ''), "
		"('ListUnitsByNames', 'as', 'a(ssssssouso)', \"ret = [(n, '', 'loaded', 'active', "
		"'running', '', '/u', 0, '', '/') for n in args[0]]\"), "
		"('StartUnit', 'ss', 'o', \"ret = '/job/2'\"), "
		"('StopUnit', 'ss', 'o', \"\"\"from gi.repository import GLib\n"
		"ret = '/job/1'\n"
		"GLib.timeout_add(100, lambda s=self, d=dbus, n=args[0]: s.EmitSignal("
		"'org.freedesktop.systemd1.Manager', 'JobRemoved', 'uoss', "
		"[d.UInt32(1), d.ObjectPath('/job/1'), n, 'done']) and False)\"\"\")])\n"
		"type(self).init = dbus.service.BusName('org.freedesktop.systemd1', "
		"self.connection)");
}

void logindmock_add_start(struct logindmock *m, bool held)
{
	char python[2048];

	snprintf(python, sizeof(python),
		 "held = %s\n"
		 "self.AddObject('/own', 'org.freedesktop.systemd1.Unit', {'ActiveState': "
		 "'activating' if held else 'active', 'Id': 'graced.service', 'Before': "
		 "dbus.Array(['shutdown.target', 'kubelet.service'], signature='s')}, [])\n"
		 "state = ('inactive', 'dead') if held else ('active', 'running')\n"
		 "self.AddObject('/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager', "
		 "{}, [('GetUnitByPID', 'u', 'o', \"ret = '/own'\"), "
		 "('ListUnitsByNames', 'as', 'a(ssssssouso)', \"ret = [(n, '', 'loaded') + "
		 "(%%r if n == 'kubelet.service' else ('inactive', 'dead')) + ('', '/u') + "
		 "((dbus.UInt32(7), 'start', '/job/7') if %%r and n == 'kubelet.service' else "
		 "(dbus.UInt32(0), '', '/')) for n in args[0]]\" %% (state, held))])\n"
		 "type(self).init = dbus.service.BusName('org.freedesktop.systemd1', "
		 "self.connection)",
		 held ? "True" : "False");
	logindmock_run(m, python);
}

unsigned int logindmock_locks(struct logindmock *m)
{
	return (unsigned int)atoi(logindmock_run(m, "ret = len(globals().get('inhibitors', []))"));
}

static char *read_log(struct logindmock *m)
{
	char path[80], *text = NULL;

	log_path(m, path);
	assert_true(fd_read_all(AT_FDCWD, path, LOG_MAX, &text) >= 0);
	return text;
}

unsigned int logindmock_logged(struct logindmock *m, const char *text)
{
	_cleanup_(cleanup_free) char *log = read_log(m);
	unsigned int n = 0;

	for (const char *at = log; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

long logindmock_logged_at(struct logindmock *m, const char *text)
{
	_cleanup_(cleanup_free) char *log = read_log(m);
	const char *at = strstr(log, text);

	return at ? at - log : -1;
}
