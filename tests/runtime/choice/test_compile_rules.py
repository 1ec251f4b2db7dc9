"""The way of a stage follows from counts alone, and comes with the rule and its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.runtime.choice import compile_rules
from weft.runtime.choice.compile_rules import (
    COLD_BYTES,
    COLD_NODES,
    COLD_RUNS,
    COLD_UPDATE_BYTES,
    HOST_UPDATE_BYTES,
    LIGHT_BYTES,
    ONLY_XLA_NODES,
    SMALL_BYTES,
    Choice,
    CompileRules,
    Way,
)
from weft.runtime.choice.counted_runs import CountedRuns
from weft.runtime.compiled.code_price import CodePrice
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager

CODE_S, CALL_S = 3.0, 1e-4


class Price(CodePrice):
    """Any code takes as long."""

    call_s = CALL_S

    def code_s(self, nodes: int) -> float:
        return CODE_S


@pytest.fixture
def price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_rules, "code_price", Price())


def rules_of(make_parts: MakeParts, fetches: Any = (), feeds: Any = (), targets: Any = ()) -> CompileRules:
    (stage,) = build_stages(make_parts(fetches, feeds, targets)["a"], ResourceManager()).stages
    return stage.rules


def choose(rules: CompileRules, runs: int = 0, work: int = 0, at_once: bool = False, never: bool = False) -> Choice:
    return rules.choose(CountedRuns(runs, work), compiles_at_once=at_once, never_compiles=never)


def choose_beside(rules: CompileRules, runs: int, work: int = 0, **more: Any) -> Choice:
    return rules.choose(CountedRuns(runs, work, **more), is_beside=True)


@pytest.fixture
def doubled(make_parts: MakeParts) -> CompileRules:
    x = tf.placeholder(tf.float32, [None])
    return rules_of(make_parts, [x * 2.0], [x])


def test_a_cold_stage_is_undecided_and_says_how_cold(doubled: CompileRules) -> None:
    assert choose(doubled, 2, 3 << 20) == (Way.UNDECIDED, "cold: 2 of 5 runs, 3 MB of 400 MB of work")


@pytest.mark.parametrize(
    ("runs", "work", "why"),
    [(COLD_RUNS, 0, "warm: it has run 5 times"), (1, COLD_BYTES + 1, "warm: 400 MB of work, more than 400 MB")],
)
def test_runs_or_work_make_it_warm(doubled: CompileRules, runs: int, work: int, why: str) -> None:
    assert choose(doubled, runs, work) == (Way.COMPILED, why)


def test_where_steps_go_on_runs_pay_for_code_before_it_is_made(doubled: CompileRules, price: None) -> None:
    choice = choose_beside(doubled, COLD_RUNS - 1, COLD_BYTES + 1, seconds=2 * CODE_S)
    assert choice == (Way.UNDECIDED, f"cold: {COLD_RUNS - 1} of {COLD_RUNS} runs")
    choice = choose_beside(doubled, COLD_RUNS, COLD_BYTES + 1, seconds=0.9 * CODE_S)
    assert choice == (Way.UNPAID, f"warm: it has run {COLD_RUNS} times, for less than the {CODE_S:g} s that code takes to make")
    assert choose_beside(doubled, COLD_RUNS, COLD_BYTES + 1, seconds=CODE_S) == (Way.COMPILED, "warm: it has run 5 times")


def test_many_updated_bytes_wait_for_no_five_runs_but_pay_too(make_parts: MakeParts, price: None) -> None:
    elements = COLD_UPDATE_BYTES // 4 + 1
    x = tf.placeholder(tf.float32, [elements])
    rules = rules_of(make_parts, [], [x], [tf.assign_add(tf.get_variable("v", [elements], use_resource=False), x).op])
    rules._program.slots[0].put(np.zeros(elements, np.float32))
    assert choose(rules).way is Way.COMPILED
    assert choose_beside(rules, 0).way is Way.UNPAID
    assert choose_beside(rules, 1, seconds=CODE_S).way is Way.COMPILED


def test_a_large_network_need_not_be_compiled_at_once_where_steps_go_on(make_parts: MakeParts) -> None:
    x = y = tf.placeholder(tf.float32, [])
    for _ in range(COLD_NODES // 2):
        y = tf.tanh(y) * x
    rules = rules_of(make_parts, [y + 1.0, y], [x])
    assert choose_beside(rules, 0).way is Way.UNDECIDED


def test_the_session_may_decide(doubled: CompileRules) -> None:
    assert choose(doubled, at_once=True) == (Way.COMPILED, "the session's global_jit_level is ON")
    assert choose(doubled, COLD_RUNS, never=True) == (Way.HOST, "the session's global_jit_level is OFF")


def test_what_only_xla_has_is_compiled_whatever_the_session_says(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [2])
    rules = rules_of(make_parts, [tf.digamma(x)], [x])
    assert choose(rules, never=True) == (Way.COMPILED, "only XLA has Digamma")


def test_a_large_network_with_ops_that_only_xla_has_need_not_wait(make_parts: MakeParts) -> None:
    x = y = tf.placeholder(tf.float32, [])
    for _ in range(ONLY_XLA_NODES // 2):
        y = tf.tanh(y) * x
    rules = rules_of(make_parts, [tf.digamma(y)], [x])
    assert not rules.waits_for_code
    assert choose_beside(rules, 0).way is Way.UNDECIDED


def test_a_large_network_is_compiled_at_once(make_parts: MakeParts) -> None:
    x = y = tf.placeholder(tf.float32, [])
    for _ in range(COLD_NODES // 2):
        y = tf.tanh(y) * x
    choice = choose(rules_of(make_parts, [y + 1.0, y], [x]))
    assert choice.way is Way.COMPILED
    assert choice.why.startswith("large: ")


@pytest.mark.parametrize(
    ("elements", "way"),
    [(HOST_UPDATE_BYTES // 4, Way.HOST), (HOST_UPDATE_BYTES // 4 + 1, Way.COMPILED), (COLD_UPDATE_BYTES, Way.COMPILED)],
)
def test_updates_stay_on_the_host_up_to_a_size(make_parts: MakeParts, elements: int, way: Way) -> None:
    x = tf.placeholder(tf.float32, [elements])
    rules = rules_of(make_parts, [], [x], [tf.assign_add(tf.get_variable("v", [elements], use_resource=False), x).op])
    assert choose(rules, COLD_RUNS) == (Way.UNDECIDED, "v has no value yet")
    rules._program.slots[0].put(np.zeros(elements, np.float32))
    assert choose(rules, COLD_RUNS).way is way


@pytest.mark.parametrize(("elements", "only_updates"), [(16, True), (17, False)])
def test_arithmetic_on_a_few_numbers_stays_with_the_updates(make_parts: MakeParts, elements: int, only_updates: bool) -> None:
    x = tf.placeholder(tf.float32, [1000])
    rate = tf.get_variable("rate", [elements], use_resource=False)
    decay = tf.assign(rate, rate.read_value() * 0.9).op
    update = tf.assign_sub(tf.get_variable("v", [1000], use_resource=False), x).op
    assert rules_of(make_parts, [], [x], [decay, update]).only_updates is only_updates


def test_a_sum_of_much_is_no_arithmetic_on_a_few_numbers(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [1000])
    total = tf.assign_add(tf.get_variable("v", [], use_resource=False), tf.reduce_sum(x)).op
    assert not rules_of(make_parts, [], [x], [total]).only_updates


@pytest.mark.parametrize(
    ("work", "least_s", "is_beside", "way"),
    [
        (SMALL_BYTES, 2 * CALL_S, True, Way.SMALL),
        (SMALL_BYTES + 1, 2 * CALL_S, True, Way.COMPILED),
        (SMALL_BYTES, 3 * CALL_S, True, Way.COMPILED),
        # Where steps wait for code, work alone decides, and when.
        (SMALL_BYTES, 2 * CALL_S, False, Way.COMPILED),
    ],
)
def test_what_takes_less_than_calling_xla_stays_on_the_host(
    doubled: CompileRules, price: None, work: int, least_s: float, is_beside: bool, way: Way
) -> None:
    counted = CountedRuns(COLD_RUNS, COLD_RUNS * work, seconds=CODE_S, least_s=least_s)
    choice = doubled.choose(counted, is_beside=is_beside)
    assert choice.way is way
    if way is Way.SMALL:
        assert choice.why == "small: 200 KB of work a run, less than calling XLA"


def test_a_stage_whose_arrays_are_as_large_as_a_fed_number_says_is_not_small(make_parts: MakeParts, price: None) -> None:
    n = tf.placeholder(tf.int32, [])
    tiled = tf.tile(tf.ones([1, 1]), [n, n])
    rules = rules_of(make_parts, [tf.matmul(tiled, tiled)], [n])
    choice = choose_beside(rules, COLD_RUNS, seconds=CODE_S, least_s=0.0)
    assert choice.way is Way.COMPILED


def test_a_large_array_that_is_fed_stays_on_the_host_where_little_is_made_of_it(make_parts: MakeParts, price: None) -> None:
    x = tf.placeholder(tf.float32, [None])
    fed = 100 << 20

    def way(y: Any, made: int) -> Choice:
        work = COLD_RUNS * (fed + made)
        return choose_beside(rules_of(make_parts, [y], [x]), COLD_RUNS, work, fed=COLD_RUNS * fed, seconds=CODE_S)

    assert way(x[0] + x[-1], 1000) == (Way.HOST, "fed 100 MB a run, of which little is made")
    assert way(x * 2.0, fed).way is Way.COMPILED
    # Not where NumPy may be slower than memory.
    assert way(tf.reduce_sum(tf.tanh(x)), 1000).way is Way.COMPILED


def test_aliases_and_host_ops_need_no_run_to_be_decided(make_parts: MakeParts) -> None:
    x, text = tf.placeholder(tf.float32, []), tf.placeholder(tf.string, [None])
    assert rules_of(make_parts, [tf.identity(x)], [x]).fixed == (Way.HOST, "only passes values on")
    rules = rules_of(make_parts, [tf.string_to_number(text)], [text])
    assert rules.fixed == (Way.HOST, "host ops: StringToNumber")


def test_little_work_without_variables_is_light(make_parts: MakeParts, doubled: CompileRules) -> None:
    assert doubled.is_light(LIGHT_BYTES - 1)
    assert not doubled.is_light(LIGHT_BYTES)
    assert not doubled.is_light(0), "what has not run on the host may be any size"
    assert not rules_of(make_parts, [tf.get_variable("v", [2]) * 2.0]).is_light(1)
