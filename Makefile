# SPDX-License-Identifier: Apache-2.0
# Builds graced, its tests and its tools. `make help` lists the targets, `make V=1` shows commands.

BUILD   ?= build
# One name for each object, whoever asks for it: what depends on what is kept by name.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
# From git's tags, or from the file of a tarball: asked once.
BUILT_FROM := $(shell tools/version)
ifeq ($(origin VERSION),undefined)
VERSION := $(firstword $(BUILT_FROM))
endif
COMMIT  := $(lastword $(BUILT_FROM))
prefix  ?= /usr/local
# systemd and people look here, whatever the prefix.
sysconfdir ?= /etc

# bpftool lives in /usr/sbin, which is not on every user's PATH.
export PATH := $(PATH):/usr/sbin:/sbin

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG   ?= $(or $(shell for c in clang clang-19 clang-16 clang-14; do \
	command -v $$c && break; done),clang)
BPFTOOL ?= bpftool
Q        = $(if $(V),,@)
say      = $(if $(V),,@printf '  %-8s%s\n' $(1) $(2))

# These targets run without a toolchain, or fetch it first; every other one needs it now.
ifneq ($(filter-out deps check quick check-arm64 vm-deps vm-matrix check-vm check-vm-long demo bench bench-fleet tarball dist deb deb-arm64 chart krew uninstall clean help fmt lint,$(or $(MAKECMDGOALS),all)),)
MISSING := $(shell CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' tools/deps missing)
ifneq ($(MISSING),)
$(error graced needs $(MISSING); run make deps)
endif
endif

# --- flags ------------------------------------------------------------------------------------

PKG_CONFIG := pkg-config
PKGS     := libbpf libelf zlib libsystemd jansson yaml-0.1 libprotobuf-c
WARNINGS := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
HARDEN   := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
# A struct may have the members of another one (core/facts/saved.h).
DIALECT  := -std=gnu11 -fms-extensions -Wno-microsoft-anon-tag
MODE     := -O2 -g -ffunction-sections -fdata-sections $(HARDEN) -Werror

# A variant is the same tree built a second time, into a directory of its own. Sanitizers make gcc
# warn about code it does not warn about otherwise, so only the plain build has -Werror. What they print
# are functions and lines, which is a quarter less to compile than variables.
ifeq ($(VARIANT),asan)
MODE := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
else ifeq ($(VARIANT),fuzz)
MODE := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all
CC   := $(CLANG)
else ifeq ($(VARIANT),coverage)
MODE := -O0 -g --coverage
else ifeq ($(VARIANT),arm64)
SYSROOT := $(shell tools/arm64/sysroot)/root
MODE := -O2 -g -ffunction-sections -fdata-sections $(HARDEN)
WARNINGS += -Wno-missing-field-initializers -Wno-string-concatenation
CC   := $(CLANG) --target=aarch64-linux-gnu --sysroot=$(SYSROOT)
AR   := aarch64-linux-gnu-ar
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif

GEN  := $(BUILD)/gen
SKEL := $(GEN)/graced.skel.h
# CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are the caller's, and come last.
INCLUDES := -Iuser -Iinclude -I$(GEN)
COMPILE   = $(CC) $(INCLUDES) -D_GNU_SOURCE $(CPPFLAGS) \
	$(DIALECT) -fPIE $(MODE) $(WARNINGS) $(PKG_CFLAGS) $(SCREEN) $(ENTRY) $(CFLAGS)
LINK      = $(CC) -pie -pthread $(MODE) $(CFLAGS) -Wl,-z,relro,-z,now -Wl,--as-needed -Wl,--gc-sections $(LDFLAGS)
# graced top has a screen where ncurses is there to be built with; it is loaded at run time.
SCREEN := $(shell $(PKG_CONFIG) --exists ncursesw 2>/dev/null && \
	echo -DGRACED_NCURSES $$($(PKG_CONFIG) --cflags-only-I ncursesw))
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)

ARCH     := $(if $(filter aarch64%,$(shell $(CC) -dumpmachine 2>/dev/null)),arm64,x86)
BPFFLAGS := -target bpf -g -O2 -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude -Ivmlinux -Ibpf \
	-Wall -Werror

# --- sources ----------------------------------------------------------------------------------

LAYERS      := base core wire io app
# The sources of a folder and of all below it, by name.
sources      = $(sort $(shell find $(1) -name '$(2)' 2>/dev/null))
objs         = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))
all-objs     = $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1),*.c))
layer-objs   = $(filter-out %/main.o,$(call all-objs,user/$(1)))
layer-tests  = $(patsubst %.c,$(BUILD)/%,$(call sources,tests/$(1),test_*.c))
LIBS        := $(foreach l,app io wire core base,$(BUILD)/lib$(l).a)
# What a layer's test may link with is what the layer itself may call.
libs-of-base := $(BUILD)/libbase.a
libs-of-core := $(BUILD)/libcore.a $(libs-of-base)
libs-of-wire := $(BUILD)/libwire.a $(libs-of-core)
libs-of-io   := $(BUILD)/libio.a $(libs-of-wire)
libs-of-app  := $(BUILD)/libapp.a $(libs-of-io)
# Folders of tests that are one program each.
SUITES       := $(LAYERS) kernel daemon runtime
$(foreach s,kernel daemon runtime,$(eval libs-of-$(s) := $(libs-of-app)))

# The linker takes a map's place from the first object that names it: the definitions come first.
BPF_SRCS  := $(wildcard bpf/maps.bpf.c) $(filter-out bpf/maps.bpf.c,$(wildcard bpf/*.bpf.c))
BPF_OBJS  := $(BPF_SRCS:%.c=$(BUILD)/%.o)
UNIT      := $(foreach l,$(LAYERS),$(call layer-tests,$(l)))
# These define functions of the library or of libc anew, and are programs of their own.
LONE      := $(BUILD)/tests/io/files/test_append $(BUILD)/tests/app/commands/test_wait \
	$(BUILD)/tests/app/daemon/test_stopper $(BUILD)/tests/app/live/test_losses \
	$(BUILD)/tests/app/live/test_search
KERNEL    := $(call layer-tests,kernel)
DAEMON    := $(call layer-tests,daemon)
RUNTIME   := $(call layer-tests,runtime)
SUITED    := $(filter-out $(LONE),$(UNIT) $(KERNEL) $(DAEMON) $(RUNTIME))
HELPERS   := $(patsubst tests/kernel/helpers/%.c,$(BUILD)/tests/helpers/%,\
	$(wildcard tests/kernel/helpers/*.c))
TEST_BPF  := $(patsubst %.c,$(BUILD)/%.o,$(call sources,tests,*.bpf.c))
VECTORS   := $(BUILD)/tests/vectors
FUZZ      := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
TOOLS     := $(patsubst %.c,$(BUILD)/%,$(wildcard tools/*.c))
# What needs no kernel: built plain and with sanitizers.
PORTABLE  := $(BUILD)/graced $(UNIT) $(VECTORS) $(FUZZ)

.PHONY: all always plain-programs asan-programs check-programs quick-programs portable unit deps check demo demo-programs bench bench-fleet install \
	uninstall clean help
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/graced

# --- the kernel half --------------------------------------------------------------------------

$(BUILD)/%.bpf.o: %.bpf.c Makefile
	@mkdir -p $(@D)
	$(call say,BPF,$@)
	$(Q)$(CLANG) $(BPFFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/bpf/graced.bpf.o: $(BPF_OBJS)
	$(call say,GENOBJ,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

# One variable of every type, so that BTF has all of them.
$(BUILD)/vmlinux/all.c: vmlinux/vmlinux_min.h
	@mkdir -p $(@D)
	$(Q){ echo '#include "vmlinux_min.h"'; sed -n \
		-e 's/^\(struct\|union\|enum\) \([A-Za-z0-9_]*\) {$$/\1 \2 all_\2;/p' \
		-e 's/^} \([A-Za-z0-9_]*\);$$/\1 all_\1;/p' $<; } > $@

$(BUILD)/vmlinux/all.o: $(BUILD)/vmlinux/all.c
	$(call say,BPF,$@)
	$(Q)$(CLANG) $(BPFFLAGS) -c $< -o $@

$(SKEL): $(BUILD)/bpf/graced.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name graced_bpf > $@

# --- the user half ----------------------------------------------------------------------------

define proto-rules
$(GEN)/$(notdir $(1:.proto=)).pb-c%c $(GEN)/$(notdir $(1:.proto=)).pb-c%h: $(1)
	@mkdir -p $$(@D)
	$$(call say,PROTO,$(GEN)/$(notdir $(1:.proto=)).pb-c.c)
	$$(Q)protoc-c --proto_path=$(dir $(1)) --c_out=$(GEN) $$<
endef
$(foreach p,$(call sources,user/wire,*.proto),$(eval $(call proto-rules,$(p))))

$(GEN)/%.o: $(GEN)/%.c Makefile
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

# Written when the version is another one, and not otherwise.
FEATURES := $(foreach p,$(PKGS),+$(p))
$(BUILD)/version.txt: always
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT) $(FEATURES)' | cmp -s - $@ || \
		echo '$(VERSION) $(COMMIT) $(FEATURES)' >$@
$(BUILD)/user/base/version.o: $(BUILD)/version.txt
$(BUILD)/user/base/version.o: private MODE += -DGRACED_VERSION='"$(VERSION)"' \
	-DGRACED_COMMIT='"$(COMMIT)"' -DGRACED_FEATURES='"$(FEATURES)"'

# Only io includes the skeleton; the dependency files know which of its files do, from the second
# build on.
$(call layer-objs,io): | $(SKEL)
PROTOS := $(patsubst %.proto,$(GEN)/%.pb-c,$(notdir $(call sources,user/wire,*.proto)))
$(call layer-objs,wire) $(call all-objs,tests): | $(PROTOS:=.h)
$(call all-objs,tests tools) $(SUITES:%=$(BUILD)/tests/%/all.o): INCLUDES += -Itests
$(call all-objs,$(addprefix tests/,kernel daemon io lib)): | $(SKEL)
# Compiling these takes longer than running them; what they call stays optimized.
ifeq ($(VARIANT),asan)
$(UNIT:=.o): private MODE += -O0
else ifeq ($(VARIANT),)
$(SUITED:=.o): private MODE += -O1
endif
# Their main()s are functions that tests/suite.c calls: core_stop_test_outcome().
flat = $(subst /,_,$(1))
$(SUITED:=.o): private ENTRY = -Dmain=$(call flat,$(*:tests/%=%)) -Wno-missing-prototypes

define archive
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcsD $@ $(filter %.o,$^)
endef
define link
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS) $(1) $(LDLIBS)
endef

define layer-rules
$(BUILD)/lib$(1).a: $(call layer-objs,$(1)) Makefile
	$$(archive)
endef
$(foreach l,$(LAYERS),$(eval $(call layer-rules,$(l))))
$(BUILD)/libwire.a: $(PROTOS:=.o)

$(BUILD)/graced: $(BUILD)/user/app/main.o $(LIBS)
	$(call link)

# --- tests ------------------------------------------------------------------------------------

$(BUILD)/libtest.a: $(call all-objs,tests/lib) Makefile
	$(archive)

$(foreach s,$(SUITES),$(eval suited-$(s) := $(patsubst $(BUILD)/tests/%,%,$(filter $(BUILD)/tests/$(s)/%,$(SUITED)))))
# The list is written when a test came or went, and not otherwise.
define suite-rules
$(GEN)/suite-$(1).def: always
	@mkdir -p $$(@D)
	@printf 'TEST(%s, "%s")\n' $(foreach n,$(suited-$(1)),$(call flat,$(n)) $(n)) >$$@.new
	@cmp -s $$@.new $$@ || cp $$@.new $$@
$(BUILD)/tests/$(1)/all.o: tests/suite.c $(GEN)/suite-$(1).def Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(COMPILE) -DLIST='"suite-$(1).def"' -c $$< -o $$@
$(BUILD)/tests/$(1)/all: $(BUILD)/tests/$(1)/all.o $(suited-$(1):%=$(BUILD)/tests/%.o) \
	$(BUILD)/libtest.a $(libs-of-$(1))
	$$(call link,-lcmocka)
$(suited-$(1):%=$(BUILD)/tests/%): $(BUILD)/tests/$(1)/all
	@ln -srf $$< $$@
endef
$(foreach s,$(SUITES),$(eval $(call suite-rules,$(s))))
$(LONE): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libtest.a
	$(call link,-lcmocka)
$(foreach s,io app,$(eval $(filter $(BUILD)/tests/$(s)/%,$(LONE)): $(libs-of-$(s))))

# The peer that plays a runtime speaks HTTP/2.
PEERED := $(BUILD)/tests/io/all $(BUILD)/tests/daemon/all
$(PEERED): LDLIBS += -lnghttp2

# These play the kernel half.
wrap = $(foreach f,$(1),-Wl,--wrap=$(f))
$(BUILD)/tests/app/commands/test_wait: LDLIBS += $(call wrap,say_host_pids held_any monitor_run monitor_end \
	monitor_cgfs monitor_kern monitor_ring monitor_event monitor_engine engine_get_cgroup \
	kern_watch_get kern_read_stats kern_misses ring_drain cgfs_scan cgfs_populated \
	cgfs_dir_exists own_path sd_event_add_time_relative sd_event_source_set_time_relative \
	sd_event_source_set_enabled sd_event_source_disable_unref)
$(BUILD)/tests/app/daemon/test_stopper: LDLIBS += $(call wrap,monitor_event monitor_lookup monitor_feed \
	monitor_hierarchy monitor_cgfs lookup_stop cgfs_signal feed_obs log_at)
$(BUILD)/tests/app/live/test_losses: LDLIBS += $(call wrap,feed_obs ring_drain scan_populated \
	kern_read_stats kern_misses kern_watch_each kern_watch_get kern_watch_delete)
$(BUILD)/tests/app/live/test_search: LDLIBS += $(call wrap,ring_drain kern_init_get kern_init_add \
	kern_watch_add kern_watch_get cgfs_members_step cgfs_pids)

$(BUILD)/tests/wire/kernel/test_abi: | $(BUILD)/tests/wire/kernel/abi.bpf.o
$(BUILD)/tests/wire/all $(BUILD)/tests/wire/json/test_rows: | $(BUILD)/tests/wire/json/rows.bpf.o
# It includes headers of libc, which ask which machine that is.
$(BUILD)/tests/wire/json/rows.bpf.o: BPFFLAGS += $(DIALECT) -Iuser -D__$(if $(filter arm64,$(ARCH)),aarch64,x86_64)__ \
	-isystem $(SYSROOT)/usr/include/$(shell $(CC) -print-multiarch)

$(BUILD)/tests/vectors: $(call objs,tests/kubelet/*.c) $(BUILD)/libtest.a $(libs-of-wire)
	$(call link)

# Helpers run inside bare namespaces and cgroups: static, so that they need no file but themselves.
$(HELPERS): $(BUILD)/tests/helpers/%: tests/kernel/helpers/%.c tests/lib/box/page.h tests/lib/box/grove.h Makefile
	@mkdir -p $(@D)
	$(call say,HELPER,$@)
	$(Q)$(CC) -std=gnu11 -O2 -g -D_GNU_SOURCE $(WARNINGS) -Werror -Itests -pthread -static -o $@ $<

# libFuzzer brings its own main; elsewhere replay_main.c runs the stored corpus.
$(FUZZ): %: %.o $(if $(filter fuzz,$(VARIANT)),,$(BUILD)/tests/fuzz/replay_main.o) $(libs-of-wire)
	$(call link,$(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer))

$(BUILD)/tests/fuzz/fuzz_shutdown: $(call objs,tests/lib/shutdown/shutwalk*.c tests/lib/shutdown/managewalk*.c)

$(filter-out %/vmlinux-check %/stack-check,$(TOOLS)): $(BUILD)/libtest.a $(LIBS)
# The runtime it plays is the tests'.
$(BUILD)/tools/bench_node: LDLIBS += -lcmocka -lnghttp2
$(TOOLS): %: %.o
	$(call link)

portable: $(PORTABLE)
# Two builds side by side: with make -k, one that fails does not keep the other from being tested.
check-programs: plain-programs asan-programs
plain-programs: all $(UNIT) $(VECTORS) $(KERNEL) $(DAEMON) $(RUNTIME) $(HELPERS) $(TEST_BPF) $(TOOLS) \
	$(BUILD)/vmlinux/all.o
quick-programs: all $(UNIT) $(VECTORS) $(KERNEL) $(HELPERS) $(BUILD)/tools/stack-check $(BUILD)/tools/settings $(BUILD)/tools/records \
	$(BUILD)/tools/vmlinux-check $(BUILD)/vmlinux/all.o
asan-programs:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan VARIANT=asan portable

deps:
	@tools/deps install

check: deps
	@BUILD='$(BUILD)' tools/check-run

unit: $(UNIT)
	@BUILD='$(BUILD)' tools/check-run unit

# --- the rest ---------------------------------------------------------------------------------

ifneq ($(wildcard tools/demo.c),)
demo-programs: $(BUILD)/tools/demo $(HELPERS)

demo:
	@tools/deps install build
	$(Q)tools/progress $(MAKE) -s --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all demo-programs
	@GRACED='$(abspath $(BUILD)/graced)' HELPERS='$(abspath $(BUILD)/tests/helpers)' \
		$(BUILD)/tools/demo
endif

bench: deps
	$(Q)$(MAKE) -s --no-print-directory all $(TOOLS) $(HELPERS)
	@BUILD='$(BUILD)' tools/bench

bench-fleet: deps
	$(Q)$(MAKE) -s --no-print-directory all $(BUILD)/tools/fleet $(BUILD)/tools/bench_node $(HELPERS)
	@BUILD='$(BUILD)' tools/bench-fleet

# An administrator's configuration is never overwritten.
install: all
	install -D -m 755 $(BUILD)/graced $(DESTDIR)$(prefix)/sbin/graced
	install -D -m 755 deploy/kubectl-graced $(DESTDIR)$(prefix)/bin/kubectl-graced
	$(foreach n,1 5 8,$(foreach m,$(wildcard docs/*.$(n)), \
		install -D -m 644 $(m) $(DESTDIR)$(prefix)/share/man/man$(n)/$(notdir $(m)) &&)) :
	install -D -m 644 docs/completions/graced.bash \
		$(DESTDIR)$(prefix)/share/bash-completion/completions/graced
	install -D -m 644 docs/completions/_graced \
		$(DESTDIR)$(prefix)/share/zsh/site-functions/_graced
	install -D -m 644 docs/completions/graced.fish \
		$(DESTDIR)$(prefix)/share/fish/vendor_completions.d/graced.fish
	install -d $(DESTDIR)$(prefix)/lib/systemd/system
	sed -e 's,@prefix@,$(prefix),' -e 's,@sysconfdir@,$(sysconfdir),' deploy/graced.service \
		>$(DESTDIR)$(prefix)/lib/systemd/system/graced.service
	chmod 644 $(DESTDIR)$(prefix)/lib/systemd/system/graced.service
	test -e $(DESTDIR)$(sysconfdir)/graced/graced.yaml || \
		install -D -m 644 deploy/graced.yaml $(DESTDIR)$(sysconfdir)/graced/graced.yaml

# The configuration and what was recorded stay. In mode assist the daemon has had logind wait longer
# (user/io/logind/delay.h), which nobody needs any more; one that runs would say it again.
DROPIN := /etc/systemd/logind.conf.d/zz-graced.conf
uninstall:
	$(if $(DESTDIR),,@if systemctl --quiet is-active graced.service 2>/dev/null; then \
		echo 'graced runs: systemctl disable --now graced' >&2; exit 1; fi)
	rm -f $(DESTDIR)$(prefix)/sbin/graced $(DESTDIR)$(prefix)/bin/kubectl-graced
	rm -f $(foreach n,1 5 8,$(foreach m,$(wildcard docs/*.$(n)), \
		$(DESTDIR)$(prefix)/share/man/man$(n)/$(notdir $(m))))
	rm -f $(DESTDIR)$(prefix)/share/bash-completion/completions/graced
	rm -f $(DESTDIR)$(prefix)/share/zsh/site-functions/_graced
	rm -f $(DESTDIR)$(prefix)/share/fish/vendor_completions.d/graced.fish
	rm -f $(DESTDIR)$(prefix)/lib/systemd/system/graced.service
	if test -e $(DESTDIR)$(DROPIN); then rm $(DESTDIR)$(DROPIN)$(if $(DESTDIR),, && \
		{ systemctl kill --signal=HUP systemd-logind.service || \
		echo 'systemd-logind waits as long as before until it is reloaded'; }); fi

include tools/chores.mk
include tools/packages.mk
include tools/vm.mk

clean:
	rm -rf $(BUILD)

help:
	@echo 'make            builds $(BUILD)/graced'
	@echo 'make deps       installs missing Debian packages (root)'
	@echo 'make check      every test that needs no VM (root for all of it)'
	@echo 'make quick      the layers that differ from the last commit, replays, goldens, kernel rows, gates'
	@echo 'make unit       the unit tests alone'
	@echo 'make walk       the random walks alone'
	@echo 'make vm-matrix  the demo, and every way down, on the kernels of other releases (root)'
	@echo 'make check-vm   a node with a real kubelet in a virtual machine (root)'
	@echo 'make check-vm-long  machines with Docker and Podman, many shutdowns of a slow kubelet, by hand (root)'
	@echo 'make demo       shows the main job on this host with demonstration pods (root)'
	@echo 'make bench      what it costs here, as a table and $(BUILD)/bench.json (root)'
	@echo 'make bench-fleet  what a Prometheus needs for 200 to 2,000 nodes, as a table and $(BUILD)/bench-fleet.json'
	@echo 'make install    DESTDIR= prefix= sysconfdir='
	@echo 'make tarball    the sources as $(BUILD)/graced-VERSION.tar.gz, the same bytes each time'
	@echo 'make dist       a tarball and an RPM that run on every distribution with glibc 2.31, in $(BUILD) (root)'
	@echo 'make check-dist  runs them on the files of Debian 11 to sid, and of glibc alone (root)'
	@echo 'make deb        the Debian packages, in $(BUILD)'
	@echo 'make deb-arm64  the same for arm64'
	@echo 'make image      an OCI image without a registry, as $(BUILD)/graced-image.tar'
	@echo 'make images     the same for amd64 and arm64, as $(BUILD)/graced-images.tar'
	@echo 'make chart      the Helm chart, as $(BUILD)/graced-VERSION.tgz'
	@echo 'make krew       kubectl graced, as an archive and a manifest for krew (URL=: where it will be)'
	@echo 'make uninstall  the same; leaves the configuration and what was recorded'
	@echo 'make generated  writes completions, deploy/graced.yaml and lists of settings anew, from the tables'
	@echo 'make goldens    adds a new member of a record to the replays, where it says nothing'
	@echo 'make fmt        formats the C files'
	@echo 'make lint       what can be judged without building'
	@echo 'make fuzz       fuzzes each target for TIME=60 seconds'
	@echo 'make coverage   lines of user/ the unit tests run'
	@echo 'make screenshots  draws the pictures of docs/questions.md with Prometheus and Chromium (root)'
	@echo 'make arm64      builds $(BUILD)/arm64/graced and the unit tests for arm64'
	@echo 'make check-arm64  runs them in an emulator of programs'
	@echo 'make clean      removes $(BUILD)'
	@echo 'Variables: BUILD VERSION CC CLANG BPFTOOL V=1'

-include $(shell find $(addprefix $(BUILD)/,user bpf tests tools) -name '*.d' 2>/dev/null)
