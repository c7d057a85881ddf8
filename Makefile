# Two commands for newcomers: `make demo` and `make test`. Everything is set up in .venv; nothing is installed elsewhere.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find crates -name '*.rs') Cargo.toml Cargo.lock crates/core/Cargo.toml crates/py/Cargo.toml pyproject.toml
SECONDS_TO_FUZZ ?= 120
SECONDS_A_TARGET ?= 10

# Builds the extension with a profile of Cargo.toml. The log has everything; a line a crate shows that it goes on.
# Where no group is named, maturin installs the one of tests and checks, which takes 50 seconds.
build = $(BIN)/maturin develop --group build --profile $(1) 2>&1 | tee $(BIN)/.build.log | sed -n 's/^ *Compiling \([^ ]*\).*/  \1/p'; \
  grep -q 'Installed bytepair' $(BIN)/.build.log || { cat $(BIN)/.build.log; exit 1; }

.PHONY: help demo test test-cluster test-browser pictures check bench docs fuzz fuzz-coverage sanitize sanitize-extension test-arm clean tools
help:
	@echo "make demo   train a tokenizer on text that comes with Python, and look at it"
	@echo "make test   all tests (cargo test, pytest); uses ../shared/data or BYTEPAIR_DATA where it is there"
	@echo "make test-cluster  Ray, Spark and Slurm, started here, and what reads shards; installs them into build/cluster (7 GB)"
	@echo "make test-browser  every page in a real Chromium, which it installs: phone and desktop, light and dark"
	@echo "make pictures  the same, and the pictures of docs/pictures are taken anew"
	@echo "make check  formatting, lints, types, stubs"
	@echo "make bench  against the peers, in one run"
	@echo "make docs   the documentation, into build/docs"
	@echo "make fuzz   random cases against the oracles, SECONDS_TO_FUZZ=$(SECONDS_TO_FUZZ), fuzz-coverage, and mutations"
	@echo "make fuzz-coverage  libFuzzer on each reader and each stage, SECONDS_A_TARGET=$(SECONDS_A_TARGET)"
	@echo "make sanitize  AddressSanitizer and valgrind over the core's tests of what is unsafe"
	@echo "make sanitize-extension  AddressSanitizer over the extension in tests of calls from Python"
	@echo "make test-arm  the core's tests as a 64-bit ARM processor runs them, emulated"
	@echo "make clean  remove what make made"

# Says what is missing, and the command that installs it, before anything starts.
tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "bytepair needs Python 3.10 or later as $(PYTHON): 'sudo apt install python3 python3-venv' or 'brew install python';"; \
	  echo "then, if it has another name, 'make $(MAKECMDGOALS) PYTHON=python3.12'"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "bytepair needs Python's venv module: 'sudo apt install python3-venv'"; exit 1; }
	@command -v cargo >/dev/null || { \
	  echo "bytepair needs a Rust toolchain: 'curl --proto =https -sSf https://sh.rustup.rs | sh'"; exit 1; }
	@command -v cc >/dev/null || { \
	  echo "bytepair needs a C compiler to link: 'sudo apt install gcc libc6-dev' or 'xcode-select --install'"; exit 1; }

# What builds the project is all that `make demo` needs.
$(BIN)/.tools: pyproject.toml | tools
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setting up .venv (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group build
	@touch $@

$(BIN)/.installed: pyproject.toml $(BIN)/.tools
	@echo "installing what tests and checks need (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

$(BIN)/.built: $(SOURCES) $(BIN)/.tools | tools
	@echo "building the core (a minute or two the first time); what compiles now:"
	@$(call build,quick)
	@touch $@

# What is measured is what is released, which takes longer to build. `make demo` puts the other one back after a change.
$(BIN)/.released: $(SOURCES) $(BIN)/.tools | tools
	@echo "building the core as it is released (some minutes); what compiles now:"
	@$(call build,release)
	@touch $@ $(BIN)/.built

demo: $(BIN)/.built
	@$(BIN)/bytepair demo

test: $(BIN)/.built $(BIN)/.installed
	cargo test --quiet -p bytepair-core
	$(BIN)/pytest -n auto --maxprocesses 8 --dist worksteal -rs

# What the engines and the readers of shards need cannot stand beside the rest: a place of its own, which sees the project.
build/cluster/.installed: pyproject.toml | tools
	@test -x build/cluster/bin/python || $(PYTHON) -m venv build/cluster
	@echo "setting up build/cluster (once; some minutes)"
	@build/cluster/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@build/cluster/bin/python -m pip install --quiet --disable-pip-version-check --group cluster
	@echo $(CURDIR)/python > $$(build/cluster/bin/python -c 'import site; print(site.getsitepackages()[0])')/bytepair.pth
	@touch $@

# Tests beside others that need torch.
NEED_TORCH := tests/compat/test_grammars.py::test_xgrammar_has_the_same_tokens \
  tests/test_transplant.py::test_pairs_of_added_tokens_and_types

# A reason is shown for each test that is skipped: without Java those of Spark are, without Slurm its own part.
test-cluster: $(BIN)/.built build/cluster/.installed
	@command -v java >/dev/null || echo "no Java is installed: Spark is not tested; 'sudo apt install openjdk-17-jre-headless'"
	BYTEPAIR_CLUSTER=1 build/cluster/bin/python -m pytest -rs tests/cluster $(NEED_TORCH) \
	  tests/test_docs.py::test_shards_are_read_back_as_the_guide_says

# A browser is the system's: Debian's package is installed if none is found, and BYTEPAIR_CHROMIUM may name another.
$(BIN)/.browser: pyproject.toml $(BIN)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group browser --group docs
	@touch $@

test-browser: $(BIN)/.built $(BIN)/.browser
	@test -x "$${BYTEPAIR_CHROMIUM:-$$(command -v chromium)}" || { \
	  echo "installing chromium (once)"; \
	  if [ "$$(id -u)" = 0 ]; then as_root=; else as_root="sudo -n"; fi; \
	  { $$as_root apt-get update -qq && $$as_root apt-get install -qq -y chromium; } >$(BIN)/.browser.log 2>&1 || { \
	    cat $(BIN)/.browser.log; echo "no Chromium: 'sudo apt install chromium', or name one in BYTEPAIR_CHROMIUM"; exit 1; }; }
	BYTEPAIR_BROWSER=$${BYTEPAIR_BROWSER:-1} $(BIN)/pytest -rs tests/browser

# Fonts decide how they look: 'sudo apt install fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji'.
pictures: export BYTEPAIR_PICTURES = docs/pictures
pictures: test-browser

check: $(BIN)/.built $(BIN)/.installed
	cargo fmt --check
	cargo clippy --quiet --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps -p bytepair-core
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest bytepair._core
	$(BIN)/pytest -n0 tests/house

# A peer that cannot be installed here is left out, and the benchmarks say so.
build/peers/.installed: pyproject.toml $(BIN)/.installed
	@echo "installing the peers (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --group bench || \
	  for peer in $$($(BIN)/python -m benchmarks.packages); do \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: "$$peer" || \
	      echo "not installed: $$peer"; \
	  done
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
	  --upgrade --target build/peers tokenizers==1.0.0rc3 || echo "not installed: tokenizers 1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check Cython setuptools wheel click && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps youtokentome==1.0.6 || \
	  echo "not installed: youtokentome"
	@touch $@

bench: $(BIN)/.released build/peers/.installed
	$(BIN)/python -m benchmarks.encode
	$(BIN)/python -m benchmarks.train
	$(BIN)/python -m benchmarks.ladder
	$(BIN)/python -m benchmarks.encoders
	$(BIN)/python -m benchmarks.count
	$(BIN)/python -m benchmarks.families
	$(BIN)/python -m benchmarks.shards

docs: $(BIN)/.built $(BIN)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@# What is wrong is a warning, which --quiet hides.
	@export NO_MKDOCS_2_WARNING=1; $(BIN)/python -m mkdocs build --strict --quiet --site-dir build/docs || \
	  $(BIN)/python -m mkdocs build --strict --site-dir build/docs
	@cargo doc --quiet --no-deps -p bytepair-core
	@echo "open build/docs/index.html, and target/doc/bytepair_core/index.html for the core"

fuzz: $(BIN)/.built $(BIN)/.installed
	$(BIN)/python -m fuzz.sweep --seconds $(SECONDS_TO_FUZZ)
	$(BIN)/python -m fuzz.linear
	$(BIN)/python -m fuzz.coverage --seconds $(SECONDS_A_TARGET)
	$(BIN)/python -m fuzz.mutations --seconds $(SECONDS_A_TARGET)

# Needs a C++ compiler, and says so where there is none.
fuzz-coverage: $(BIN)/.built $(BIN)/.installed
	$(BIN)/python -m fuzz.coverage --seconds $(SECONDS_A_TARGET)

# The modules with `unsafe` in them, and encoding, which runs them together. Valgrind takes fifty times as long: it is left
# without the largest. It knows no AVX-512, so it sees the tiers below.
UNSAFE := cache:: helpers:: large_pages:: row:: stored units:: split:: encode:: normalize::joined pipeline::in_blocks pipeline::batch
UNSAFE_SMALL := helpers:: cache::known cache::pool cache::seen cache::ring large_pages:: row:: stored:: units:: encode:: normalize::joined pipeline::in_blocks
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

sanitize: | tools
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
	  cargo test --quiet --target $(HOST) --target-dir target/sanitize -p bytepair-core --lib -- $(UNSAFE)
	@command -v valgrind >/dev/null || { echo "no valgrind is installed: 'sudo apt install valgrind'"; exit 1; }
	CARGO_TARGET_$(shell echo $(HOST) | tr a-z- A-Z_)_RUNNER="valgrind --quiet --error-exitcode=9" \
	  cargo test --quiet --target $(HOST) --target-dir target/valgrind -p bytepair-core --lib -- $(UNSAFE_SMALL)

# Tests of calls that leave Python: texts, lists, arrays, files, threads; none that limit or measure memory, of which the sanitizer
# takes much. Python's objects are single blocks here, so that what is read beyond one is seen, and other libraries may throw.
CALLS := $(addprefix tests/test_,encode.py decode.py count.py calls.py special.py adding.py chunks.py growing.py align.py \
  prefix_cache.py encode_stream.py encode_buffer.py caller_objects.py replaced_text.py stored_text.py encoders.py \
  post_processing.py train.py counts.py threads.py fuzz.py) tests/prompts tests/formats

sanitize-extension: $(BIN)/.installed | tools
	@test -e "$$(cc -print-file-name=libasan.so)" || { echo "no AddressSanitizer of gcc: 'sudo apt install gcc'"; exit 1; }
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address PYO3_PYTHON=$(abspath $(BIN))/python \
	  cargo build --quiet --target $(HOST) --target-dir target/sanitize -p bytepair-extension --profile quick
	rm -rf build/sanitize && mkdir -p build/sanitize && cp -r python/bytepair build/sanitize/
	cp target/sanitize/$(HOST)/quick/lib_core.so build/sanitize/bytepair/$$(cd python/bytepair && echo _core.*.so)
	LD_PRELOAD="$$(readlink -f "$$(cc -print-file-name=libasan.so)") libstdc++.so.6" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	  PYTHONMALLOC=malloc PYTHONPATH=build/sanitize $(BIN)/python -m pytest -n0 -p no:cacheprovider \
	  -k "not grow_memory and not peak_of_a_call" $(CALLS)

ARM := aarch64-unknown-linux-gnu

test-arm: | tools
	@command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-gcc >/dev/null || { \
	  echo "no emulator, or no linker: 'sudo apt install qemu-user gcc-aarch64-linux-gnu'"; exit 1; }
	@test -d "$$(rustc --print sysroot)/lib/rustlib/$(ARM)" || { \
	  echo "no standard library for $(ARM): 'rustup target add $(ARM)'"; exit 1; }
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
	  cargo test --quiet --target $(ARM) --target-dir target/arm -p bytepair-core --lib

clean:
	rm -rf .venv target build demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis python/bytepair/_core*.so
