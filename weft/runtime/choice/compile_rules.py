"""Which way a stage goes, on the host or through XLA, and why.

Everything that decides is counted: nodes, bytes, runs. Times are not, so that the same program computes the same numbers on
any machine, and two replicas of it go the same ways. Only where code is made beside the steps, and so comes when it comes,
does the time that runs have taken say from when on: a stage is compiled when its runs have taken as long as its code takes to
make, as this process has found that to be (`code_price`). Code that is never used enough to save what it cost has then cost
no more than the runs did, and what would have paid at once is late by as much. The first 1,000 steps of a deep Q network, 140
nodes of 0.45 ms, took 1.15 s of CPU with code made from the hundredth on, and 0.43 s so (TensorFlow 0.65; two loaded cores,
November 2026).

The unit of work is a byte that NumPy makes. On the machine where the limits were found (two cores of a virtual machine,
November 2026) NumPy made about 2 GB in a second, and a node cost 5 µs beside that.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Final, NamedTuple

from weft.framework.devices import device_spec
from weft.passes.stage import Kind
from weft.runtime.choice.counted_runs import CountedRuns
from weft.runtime.choice.program_traits import computes, is_bound_by_memory, is_wide, updates_only
from weft.runtime.compiled.code_price import code_price
from weft.runtime.program.program import Program

# When a cold stage is compiled. The first limit is counted; the others are judgement, each for the reason given with it.
#
# Compiling takes 25 ms at least, and starting XLA ends the time for forking. So set-up, which runs once or a few times, is to
# stay on the host, and a training step is not. Counted in November 2026: 100 steps of MonitoredTrainingSession with Adam,
# summaries every 20 steps and checkpoints every 50, once with a network of 784-128-128-10, once with two convolutions. In both
# 58 stages ran. 54 of them never compile: they are of host ops, or only pass values on. The other four ran once (the initial
# values), 6 times (the step with summaries), 22 times (4 nodes) and 94 times (the step).
COLD_RUNS: Final = 5
"""Any limit from 1 to 5 compiles the same three of the four stages that were counted."""
COLD_BYTES: Final = 400 << 20
"""A stage that has made as much is compiled before it has run often. Judgement: it takes NumPy 0.2 s, eight of the shortest
compilations. It decides nothing for the steps that were counted, which make 1.5 and 11 MB a run, only for those above 80 MB."""
COLD_NODES: Final = 256
"""A stage of more nodes that depends on something is compiled at once, where steps wait for code. Judgement: the counted
steps have 136 and 148 nodes, their initial values 91 and 95, which depend on nothing; what is larger still is taken for a
step."""
COLD_UPDATE_BYTES: Final = 4 << 20
"""Judgement: NumPy's kernels make a new array where a compiled update works in place. Counted steps update 0.2 and 1.4 MB."""

SMALL_BYTES: Final = 200 << 10
"""A stage whose runs are of so little work stays on the host where steps go on meanwhile, since a call of XLA costs more: a
policy of two layers of 64 answers for one observation in 18 µs on the host and in 47 compiled, for 32 in 25 and 70, one of
four layers in 27 and 49; two layers of 256, 313 KB of work for 32 observations, take 74 either way (two loaded cores,
November 2026). Where bytes do not tell how long a node takes, as of convolutions, the quickest run does: it must not take
longer than two calls of code would (`code_price`). The policy of `python -m benchmarks --only until_1000_deep_q` is such a
stage."""

ONLY_XLA_NODES: Final = 256
"""A stage of up to so many nodes waits for its code where only XLA has some of them; a larger one has code for each of these by
itself, until it is warm.

Judgement: four gradients through QR decompositions, of 364 to 607 nodes, took 10 s each to be compiled, for one run; with all
their tests that took more than 150 s, and takes 13 s (two loaded cores, November 2026). A network of 120 nodes with 20 such
derivatives takes its first step in 0.9 s so instead of 1.5, but the next ones in 13 ms instead of 2.
"""

HOST_UPDATE_BYTES: Final = 2 << 20
"""Up to this many bytes of variables and slots, updates by values from elsewhere stay on the host.

A call of XLA costs as much as 100,000 sums. Time on NumPy over that in XLA, two cores, November 2026: gradient descent on 4 KB
0.15, on 256 KB 0.17, on 1 MB 0.37, on 4 MB 0.99; Adagrad on 4 KB 0.14, on 512 KB with its slots 0.5, on 2 MB 0.92, on 4 MB
1.6. Before that each such stage tried both ways eight times and went on with the faster: two parameter servers of one job could
differ.
"""

LIGHT_BYTES: Final = 6 << 20
"""A stage without variables whose work on the host is less computes on the calling thread when it is compiled.

XLA's usual client gives code to threads of its own and divides loops over more than 256 KB between them. For the gradient of
4,096 looked-up rows of 32 that takes 110 to 150 µs instead of 55, and four times the CPU time. Longer computations gain from
their threads, and so does Python that goes on meanwhile: a step of 784-512-10 took 5 % longer on the calling thread.
That gradient is counted as 4.3 MB, with the rows' parts of two servers as 6.0 MB: with a limit of 4 MB both missed what was
measured for them. On a loaded machine a step with it took 0.54 to 0.65 ms of CPU so, and 0.47 to 1.17 ms by XLA's threads,
which a busy machine wakes late (two cores, November 2026).
"""

LIGHT_GROWTH: Final = 4
"""Such code is for inputs up to some times as large as those of the runs on the host. Judgement: a last batch or a test set is
often larger than a training batch, and work that is four times the limit still takes NumPy less than 10 ms."""

_FED_TO_REST: Final = 4
"""Where the large arrays that are fed are so many times what the host makes of them and its nodes cost, and NumPy is as fast as
memory in all of these, the stage stays there: XLA has each fed array copied to where it can read it, NumPy does not. Two
numbers of 100 MB take 0.03 ms of CPU so, and compiled 10 (two loaded cores, November 2026)."""


class Way(Enum):
    """How a stage runs."""

    UNDECIDED = "interpreted so far"
    """On the host, until it has run often enough to be compiled."""
    HOST = "host program"
    SMALL = "host program, being small"
    """As HOST for inputs that are not much larger than so far, else as COMPILED."""
    UNPAID = "host program, until code pays"
    """On the host, until its runs have taken as long as its code takes to make; then as COMPILED."""
    COMPILED = "compiled"


class Choice(NamedTuple):
    """A way and the rule behind it, with its numbers."""

    way: Way
    why: str


class CompileRules:
    """The rules for one stage; plain facts about its program, and no state.

    Args:
        program: what the stage runs.
        kind: what the passes made of it.
        device: where it runs.
        outside: the places of inputs that are arrays of the host.
        has_static: whether values that are fed decide shapes, or what else code is made for.
    """

    def __init__(self, program: Program, kind: Kind, device: str, outside: Collection[int], has_static: bool = False) -> None:
        self._program = program
        self._is_on_cpu = device_spec.device_type(device) == "CPU"
        self._only_updates = self._is_on_cpu and kind is Kind.COMPILED and updates_only(program)
        self.fixed = self._fixed_choice(kind)
        self._is_wide = is_wide(program, outside)
        # A loop may turn more often, and a number that is fed make larger arrays, with inputs of the same size.
        self._may_be_small = self._is_on_cpu and not program.has_bodies and not has_static
        self._is_bound_by_memory = self._is_on_cpu and not program.slots and is_bound_by_memory(program)
        only_xla_has = [op.type for op in program.nodes if op.op_def.compiled_only]
        self._needs_xla = only_xla_has if len(program.nodes) <= ONLY_XLA_NODES else []
        # What depends on nothing, such as variables' initial values, is not run often, however large it is. Those of a network
        # of 60 layers with Adam's slots took 6.6 s with their compilation, and take 0.3 s.
        self._depends = bool(program.inputs or program.read_slots)

    @property
    def only_updates(self) -> bool:
        """Whether the stage does nothing but update whole variables of a CPU by values from elsewhere."""
        return self._only_updates

    @property
    def must_compile(self) -> str:
        """The ops that only XLA has, as text; empty without such, and where the stage can run without code of all of it."""
        return ", ".join(dict.fromkeys(self._needs_xla))

    @property
    def waits_for_code(self) -> bool:
        """Whether even the first run waits for code: only XLA has some of its few ops."""
        return bool(self._needs_xla)

    def choose(
        self, counted: CountedRuns, *, is_beside: bool = False, compiles_at_once: bool = False, never_compiles: bool = False
    ) -> Choice:
        """The way of the next run.

        Args:
            counted: the runs so far.
            is_beside: whether steps go on while code is made, or wait for it.
            compiles_at_once: whether the session compiles all that can be.
            never_compiles: whether it compiles nothing that need not be.
        """
        program = self._program
        if self.fixed is not None:
            return self.fixed
        if new := self._new_variables():
            return Choice(Way.UNDECIDED, f"a branch or loop needs {new}, which has no value yet")
        if self._needs_xla:
            return Choice(Way.COMPILED, f"only XLA has {self.must_compile}")
        if compiles_at_once:
            return Choice(Way.COMPILED, "the session's global_jit_level is ON")
        if never_compiles:
            return Choice(Way.HOST, "the session's global_jit_level is OFF")
        runs, work = counted.runs, counted.work
        reason = self._reason_to_compile(counted, is_beside)
        if reason is None:
            text = "" if is_beside else f", {_size(work)} of {_size(COLD_BYTES)} of work"
            return Choice(Way.UNDECIDED, f"cold: {runs} of {COLD_RUNS} runs{text}")
        if self._is_wide:
            return Choice(Way.HOST, f"wide: {len(program.inputs)} small inputs, which XLA takes one by one, for few nodes")
        if is_beside and work <= runs * SMALL_BYTES and counted.least_s <= 2 * code_price.call_s and self._may_be_small:
            return Choice(Way.SMALL, f"small: {_size(work // max(runs, 1))} of work a run, less than calling XLA")
        if self._is_bound_by_memory and counted.fed > _FED_TO_REST * (work - counted.fed):
            return Choice(Way.HOST, f"fed {_size(counted.fed // max(runs, 1))} a run, of which little is made")
        if self._only_updates:
            new = next((slot.name for slot in program.slots if slot.value is None), "")
            updated = program.updated_bytes()
            if new:
                return Choice(Way.UNDECIDED, f"{new} has no value yet")
            if updated <= HOST_UPDATE_BYTES:
                return Choice(Way.HOST, f"updates of {_size(updated)}, at most {_size(HOST_UPDATE_BYTES)}")
        if is_beside and counted.seconds < self.code_s:
            return Choice(Way.UNPAID, f"{reason}, for less than the {self.code_s:.2g} s that code takes to make")
        return Choice(Way.COMPILED, reason)

    @property
    def code_s(self) -> float:
        """How much computing time its code takes to make."""
        return code_price.code_s(self._program.code_nodes)

    def is_light(self, work: int) -> bool:
        """Whether code for a stage that needs so much work on the host in a run is to compute on the calling thread.

        The values of variables stay where XLA's usual threads can update them.
        """
        return 0 < work < LIGHT_BYTES and not self._program.slots and self._is_on_cpu

    def _fixed_choice(self, kind: Kind) -> Choice | None:
        program = self._program
        if kind is Kind.HOST:
            return Choice(Way.HOST, "host ops: " + ", ".join(dict.fromkeys(op.type for op in program.nodes if computes(op))))
        if kind is Kind.ROWS:
            return Choice(Way.HOST, "rows of tables, or many small variables: in place on NumPy")
        # On an accelerator an assignment stays there, so it is compiled.
        if program.is_alias and (self._is_on_cpu or not program.written_slots):
            return Choice(Way.HOST, "only passes values on")
        return None

    def _reason_to_compile(self, counted: CountedRuns, is_beside: bool) -> str | None:
        nodes, runs, work = len(self._program.nodes), counted.runs, counted.work
        if not is_beside and nodes > COLD_NODES and self._depends:
            return f"large: {nodes} nodes, more than {COLD_NODES}"
        if runs >= COLD_RUNS:
            return f"warm: it has run {COLD_RUNS} times"
        if not is_beside and work > COLD_BYTES:
            return f"warm: {_size(work)} of work, more than {_size(COLD_BYTES)}"
        updated = self._program.updated_bytes()
        return f"updates {_size(updated)}, more than {_size(COLD_UPDATE_BYTES)}" if updated > COLD_UPDATE_BYTES else None

    def _new_variables(self) -> str:
        """A variable of a branch that has no value yet: compiled branches need one to read, or to leave as it is."""
        program = self._program
        slots = (program.slots[number] for number in program.conditional_slots & program.read_slots)
        return next((slot.name for slot in slots if slot.value is None), "")


def _size(size_bytes: int) -> str:
    """A size as people read it."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes} B"
