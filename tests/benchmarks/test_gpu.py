"""The GPU mode says when there is none, and judges ratios that are formed turn by turn."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import weft as tf
from benchmarks.contender import Answer, Contender
from benchmarks.framework import WEFT
from benchmarks.gpu import NETWORKS, NoAcceleratorError, Timed, as_json, hold, in_words
from benchmarks.programs.accelerator import Devices, Pair
from benchmarks.programs.network_models import Model, convolutional, jax_library, perceptron, tf_library, transformer


def answering(monkeypatch: pytest.MonkeyPatch, devices: Devices, pair: Pair) -> None:
    def ask(_: Contender, program: str, **__: Any) -> Answer:
        return Answer(asdict(devices if program.endswith("devices") else pair))

    monkeypatch.setattr(Contender, "ask", ask)


PAIR = Pair([1.0, 2.1, 1.0], [1.0, 2.0, 1.0], "cuda:0", variables_stay=True, copies_checked=True)


def test_without_an_accelerator_the_mode_says_what_jax_has(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, Devices("cpu", ["cpu:0"]), PAIR)
    with pytest.raises(NoAcceleratorError, match=r"There is no GPU here: jax.devices\(\) gives cpu:0"):
        hold(Contender(WEFT, "python", sees_accelerators=True), list(NETWORKS), rounds=1, tell=lambda _: None)


def test_a_network_is_judged_by_the_median_of_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, Devices("gpu", ["cuda:0"]), PAIR)
    timed = hold(Contender(WEFT, "python", sees_accelerators=True), list(NETWORKS), rounds=2, tell=lambda _: None)
    assert [len(each.pairs) for each in timed] == [2, 2, 2]
    assert "ratio 1.000 (1.000 to 1.050), goal ≤ 1.05 reached; variables stay on the device, no copies" in in_words(timed)
    assert as_json(timed)["mlp"]["ratio"] == 1.0


def test_what_leaves_the_device_and_what_fails_is_told() -> None:
    away = Pair([2.0], [1.0], "cuda:0", variables_stay=False, copies_checked=True)
    printed = in_words([Timed(NETWORKS[0], [away]), Timed(NETWORKS[1], [], ["RuntimeError: no"])])
    assert "missed; VARIABLES LEAVE THE DEVICE" in printed
    assert "Two convolutions, two dense layers failed: RuntimeError: no" in printed


@pytest.mark.parametrize(
    "model", [perceptron(4, 8), convolutional(2, 2), transformer(2, 4, 16)], ids=["mlp", "cnn", "transformer"]
)
def test_both_libraries_compute_the_same_loss(model: Model) -> None:
    values = model.initial_values()
    theirs = float(model.loss(jax_library(), values, model.inputs, model.labels))
    with tf.Graph().as_default(), tf.Session() as session:
        parameters = {name: tf.constant(value) for name, value in values.items()}
        loss = model.loss(tf_library(tf), parameters, tf.constant(model.inputs), tf.constant(model.labels))
        assert session.run(loss) == pytest.approx(theirs, rel=1e-4)
    assert np.isfinite(theirs)


@pytest.mark.slow
def test_the_programs_run_on_a_cpu() -> None:
    timed = hold(Contender(WEFT, sys.executable), [NETWORKS[0]], rounds=1, tell=lambda _: None)
    assert timed[0].reasons == []
    assert timed[0].pairs[0].variables_stay
