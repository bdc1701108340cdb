# SPDX-License-Identifier: Apache-2.0
# The tests in virtual machines.

.PHONY: check-vm check-vm-long vm-deps vm-matrix vm-programs

# These programs bring loader and libraries along: they run on every distribution's files.
VM_LIB   := /opt/graced/lib
VM_FLAGS := -Wl,--dynamic-linker=$(VM_LIB)/ld.so -Wl,--disable-new-dtags,-rpath,$(VM_LIB)
VM_PROGRAMS := $(addprefix $(BUILD)/vm/,graced demo pod late csi runtime kernel)

$(BUILD)/vm/graced: $(BUILD)/user/app/main.o $(LIBS)
	$(call link,$(VM_FLAGS))

$(BUILD)/vm/demo: $(BUILD)/tools/demo.o $(BUILD)/libtest.a $(LIBS)
	$(call link,$(VM_FLAGS))

# The host's runtime tests, for a node with another hierarchy of cgroups.
$(BUILD)/vm/runtime: $(BUILD)/tests/runtime/all.o $(suited-runtime:%=$(BUILD)/tests/%.o) \
	$(BUILD)/libtest.a $(LIBS)
	$(call link,$(VM_FLAGS) -lcmocka)

# One of them, on other kernels.
$(BUILD)/vm/kernel: $(BUILD)/tests/kernel/all.o $(suited-kernel:%=$(BUILD)/tests/%.o) \
	$(BUILD)/libtest.a $(LIBS)
	$(call link,$(VM_FLAGS) -lcmocka)

$(BUILD)/vm/late: $(BUILD)/tests/vm/late.o $(BUILD)/libtest.a $(LIBS)
	$(call link,$(VM_FLAGS))

$(BUILD)/vm/pod: tests/vm/pod.c Makefile
	@mkdir -p $(@D)
	$(call say,HELPER,$@)
	$(Q)$(CC) -std=gnu11 -O2 -D_GNU_SOURCE $(WARNINGS) -Werror -static -o $@ $<

$(BUILD)/vm/csi: tests/vm/csi/driver.c Makefile
	@mkdir -p $(@D)
	$(call say,HELPER,$@)
	$(Q)$(CC) -std=gnu11 -O2 -D_GNU_SOURCE $(WARNINGS) -Werror -static -o $@ $< -lnghttp2

# The ordinary programs tell which libraries there are to bring.
vm-programs: $(BUILD)/graced $(BUILD)/tools/demo $(HELPERS) $(VM_PROGRAMS) \
	$(BUILD)/tests/runtime/all $(BUILD)/tests/kernel/all

VM_SCRIPTS := run shutdown account manage volumes status events proof

vm-deps: deps
	@tools/deps install vm

# A node with a real kubelet, shutdowns of one, by the kubelet and by graced, and what is reported of it
# after it went down or was lost. What the scripts have in common is made first. A machine computes on one
# CPU, and waits for a third of its time, so LANES of them run at a time [one more than there are CPUs, where
# each can have 4 GiB], the longest first. Some alone: make check-vm VM_SCRIPTS=shutdown
VM_LANES = $(shell n=$$(($$(nproc) + 1)) m=$$(awk '/^MemAvailable/ { print int($$2 / 4194304) }' /proc/meminfo); \
	echo $$((m < 1 ? 1 : m < n ? m : n)))
check-vm: vm-deps
	$(Q)$(MAKE) -s --no-print-directory vm-programs
	@tools/vm/etcd >/dev/null && tools/vm/image bookworm node >/dev/null && tools/vm/kubernetes >/dev/null
	@BUILD='$(BUILD)' LANES='$(or $(LANES),$(VM_LANES))' tests/vm/all $(VM_SCRIPTS)

# By hand: the alerts over restarts of a node, the Debian package from installation to purge, the Helm
# chart on a cluster, a StatefulSet's pod with the real controllers, machines with Docker and Podman,
# many shutdowns of a slow kubelet, and the kernel half on arm64: two hours on an idle machine. Some alone:
# make check-vm-long VM_LONG=engines
VM_LONG := alerting packages installed statefulset engines standalone slowed arm64

check-vm-long: vm-deps
	@tools/deps install deb
	@tools/deps install arm64
	$(Q)$(MAKE) -s --no-print-directory vm-programs
	@BUILD='$(BUILD)' tests/vm/all $(VM_LONG)

# The kernels of Debian's releases, and every way down with the versions of systemd that they ship.
# Some alone: make vm-matrix VM_MATRIX=ways
VM_MATRIX := matrix ways

vm-matrix: vm-deps
	$(Q)$(MAKE) -s --no-print-directory vm-programs
	@BUILD='$(BUILD)' tests/vm/all $(VM_MATRIX)
