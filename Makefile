# Names for what people do most; everything is in scripts/ and in CMakePresets.json.
BUILD   ?= $(or $(OPC_BUILD_ROOT),$(CURDIR)/build)
PREFIX  ?= /usr
DESTDIR ?=
export OPC_BUILD_ROOT := $(BUILD)
PROGRAM := ops-pod-cleaner supervisor watcher worker reporter loader completions
# Root installs, and whose tree it is builds: a file of root in build/ would end the owner's next build.
OWNER    := $(filter-out root UNKNOWN,$(shell stat -c %U .))
AS_OWNER := $(if $(OWNER),$(if $(filter 0,$(shell id -u)),HOME=~$(OWNER) runuser -u $(OWNER) --))
FORGET   := rm -f $(BUILD)/release/install_manifest.txt

.PHONY: demo check mutants versions bench torture build install uninstall deb dist image clean help

help:
	@echo 'make demo     build, then show the program at work on a cluster in memory; STAY=1: it stays to be played with'
	@echo 'make check    everything that is tested, on an in-memory and on a real API server'
	@echo 'make mutants  the share of N=200 drawn mistakes that the unit tests find; hours'
	@echo 'make versions every scenario on several versions of Kubernetes, written to docs/versions.md; half an hour'
	@echo 'make bench    figures, written to docs/benchmarks.md'
	@echo 'make torture  ten minutes of kills and faults on a real API server, written to docs/torture.md'
	@echo 'make build    the hardened release build, in build/release'
	@echo 'make install  build and install to PREFIX (/usr) below DESTDIR'
	@echo 'make uninstall  take away what it installed; configuration and history stay'
	@echo 'make deb      the Debian package, in build/dist/deb'
	@echo 'make dist     the sources of the commit that is checked out, as a tarball in build/dist'
	@echo 'make image    the container image, build/image/ops-pod-cleaner.tar'
	@echo 'make clean    remove build/'

demo:
	@scripts/deps
	@scripts/quietly $(BUILD)/demo.log scripts/build release -DOPC_TESTS=ON $(PROGRAM) apisim
	@demo/run $(if $(STAY),--stay) $(BUILD)/release

check:
	@scripts/deps
	@scripts/check

N ?= 200
mutants:
	@scripts/deps
	@tests/mutants/draw $(N)

versions:
	@scripts/deps
	@scripts/build dev >/dev/null
	@tests/cluster/versions --build $(BUILD)/dev --page docs/versions.md

bench:
	@scripts/deps
	@scripts/build release -DOPC_TESTS=ON $(PROGRAM) apisim bench_cache bench_history bench_floor bench_drop >/dev/null
	@bench/run $(BUILD)/release

torture:
	@scripts/deps
	@scripts/build release -DOPC_TESTS=ON torture >/dev/null
	@tests/torture/run --build $(BUILD)/release --page docs/torture.md

build:
	@scripts/deps
	@scripts/build release -DOPC_TESTS=ON $(PROGRAM)

install:
	@scripts/deps
	@$(AS_OWNER) scripts/build release -DOPC_TESTS=ON -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(PROGRAM) >/dev/null
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)/release
	@$(FORGET)

image:
	@scripts/deps
	@deploy/image/build

uninstall:
	@$(AS_OWNER) scripts/build release -DOPC_TESTS=ON -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(PROGRAM) >/dev/null
	@DESTDIR=$(DESTDIR) scripts/uninstall $(BUILD)/release
	@$(FORGET)

deb:
	@scripts/deps
	@scripts/package deb

dist:
	@scripts/package dist

clean:
	rm -rf $(BUILD)
