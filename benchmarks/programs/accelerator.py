"""Training steps on an accelerator: a weft graph against the same arithmetic in bare JAX, in turns in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import jax

from benchmarks.framework import framework
from benchmarks.programs.network_models import (
    Arrays,
    Model,
    convolutional,
    jax_library,
    perceptron,
    tf_library,
    transformer,
)

RATE = 0.01
TURNS, TURN_S, STEPS_TO_AGREE = 9, 0.5, 5
# Both sides are XLA's arithmetic, but not fused alike, and matrix products may be rounded to fewer bits.
TOLERANCE = 0.02


@dataclass(frozen=True)
class Devices:
    """What JAX has here: its default platform, and the devices as it prints them."""

    platform: str
    devices: list[str]


@dataclass(frozen=True)
class Pair:
    """Seconds of a step on both sides, turn by turn, and whether each variable is an array on the device."""

    weft_s: list[float]
    jax_s: list[float]
    device: str
    variables_stay: bool
    copies_checked: bool


def devices() -> Devices:
    """Tell what `jax.devices()` gives."""
    return Devices(jax.default_backend(), [str(each) for each in jax.devices()])


def mlp() -> Pair:
    """784-2048-2048-10, batch 1,024; on a CPU 784-256-256-10, batch 128."""
    return _pair(perceptron(128, 256) if _on_cpu() else perceptron(1024, 2048))


def cnn() -> Pair:
    """Convolutions of 32 and 64 channels, batch 256; on a CPU of 8 and 16, batch 32."""
    return _pair(convolutional(32, 8) if _on_cpu() else convolutional(256, 32))


def transformer2() -> Pair:
    """Two layers of width 512, batch 16, length 128; on a CPU width 64, batch 4, length 32."""
    return _pair(transformer(4, 32, 64) if _on_cpu() else transformer(16, 128, 512))


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"


@dataclass(frozen=True)
class _Side:
    """One side: `step` trains once and may return before it is done, `loss` waits and tells the loss after all steps."""

    step: Callable[[], object]
    loss: Callable[[], float]


def _pair(model: Model) -> Pair:
    """Check that both sides learn alike, then time them in turns, with copies from the device forbidden."""
    with _graph(model) as ours:
        theirs = _bare(model)
        for _ in range(STEPS_TO_AGREE):
            ours.step()
            theirs.step()
        if abs(ours.loss() - theirs.loss()) > TOLERANCE * abs(theirs.loss()):
            raise AssertionError(f"after {STEPS_TO_AGREE} steps weft's loss is {ours.loss()}, JAX's is {theirs.loss()}")
        sides: dict[str, list[float]] = {"weft": [], "jax": []}
        for turn in range(1 + TURNS):
            for name, side in (("weft", ours), ("jax", theirs)):
                seconds = _seconds_per_step(side)
                if turn:
                    sides[name].append(seconds)
        stay = _are_on_the_device(model)
    return Pair(sides["weft"], sides["jax"], str(jax.devices()[0]), stay, copies_checked=not _on_cpu())


def _seconds_per_step(side: _Side) -> float:
    """Take steps for a while without waiting for any, then wait for the last."""
    side.loss()
    few = 3
    started = time.perf_counter()
    for _ in range(few):
        side.step()
    side.loss()
    count = max(few, round(TURN_S / ((time.perf_counter() - started) / few)))
    with jax.transfer_guard_device_to_host("disallow_explicit"):
        started = time.perf_counter()
        for _ in range(count):
            side.step()
    side.loss()
    return (time.perf_counter() - started) / count


@contextmanager
def _graph(model: Model) -> Iterator[_Side]:
    """Build the model in weft, batch included, on JAX's first device."""
    tf = framework()
    kind = {"cuda": "gpu", "rocm": "gpu"}.get(jax.default_backend(), jax.default_backend())
    with tf.device(f"/device:{kind.upper()}:0"):
        parameters = {
            name: tf.get_variable(name, shape, initializer=tf.zeros_initializer()) for name, shape in model.shapes.items()
        }
        batch = [
            tf.get_variable(name, array.shape, array.dtype, initializer=tf.zeros_initializer(), trainable=False)
            for name, array in (("inputs", model.inputs), ("labels", model.labels))
        ]
        loss = model.loss(tf_library(tf), parameters, *batch)
        step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, value in zip(batch, (model.inputs, model.labels), strict=True):
            variable.load(value, session)
        for name, value in model.initial_values().items():
            parameters[name].load(value, session)
        yield _Side(lambda: session.run(step), lambda: float(session.run(loss)))


def _bare(model: Model) -> _Side:
    library = jax_library()
    inputs, labels = jax.device_put(model.inputs), jax.device_put(model.labels)
    loss = jax.jit(lambda p: model.loss(library, p, inputs, labels))

    def train(p: Arrays) -> dict[str, Any]:
        gradients = jax.grad(lambda p: model.loss(library, p, inputs, labels))(p)
        return {name: p[name] - RATE * gradients[name] for name in p}

    compiled = jax.jit(train, donate_argnums=0)
    held = {name: jax.device_put(value) for name, value in model.initial_values().items()}

    def step() -> None:
        nonlocal held
        held = compiled(held)

    return _Side(step, lambda: float(loss(held)))


def _are_on_the_device(model: Model) -> bool:
    """Whether JAX holds every parameter twice on its first device: the bare side's, and the one that is weft's variable."""
    arrays: list[Any] = cast("Any", jax).live_arrays()
    shapes = [tuple(array.shape) for array in arrays if array.devices() == {jax.devices()[0]}]
    wanted = [tuple(shape) for shape in model.shapes.values()]
    return all(shapes.count(shape) >= 2 * wanted.count(shape) for shape in wanted)
