"""TensorBoard's pages, in a real browser, show what weft writes: curves, histograms, pictures, the graph with its devices."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.chromium import NEEDS_CHROMIUM, chromium_tab

pytestmark = NEEDS_CHROMIUM


def _write(folder: Path) -> None:
    with tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="pictures")
        loss = tf.reduce_sum(tf.square(tf.layers.dense(tf.layers.flatten(x), 3, name="logits")), name="loss")
    tf.summary.scalar("train/loss", loss)
    tf.summary.image("seen", x, 1)
    tf.summary.histogram("weights", tf.trainable_variables()[0])
    merged = tf.summary.merge_all()
    with tf.Session() as session, tf.summary.FileWriter(str(folder), session.graph) as writer:
        session.run(tf.global_variables_initializer())
        for step in range(3):
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            summary = session.run(merged, {x: np.full((1, 4, 4, 1), step / 3)}, options=options, run_metadata=metadata)
            writer.add_summary(summary, step)
            writer.add_run_metadata(metadata, f"step {step}", step)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    _write(tmp_path)
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(tmp_path), "--port", str(port), "--load_fast=false"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if f":{port}/" in line:
                break
        yield f"http://localhost:{port}/"
        process.terminate()


def test_each_page_shows_what_was_written(address: str) -> None:
    from playwright.sync_api import expect  # noqa: PLC0415 - where it is installed

    with chromium_tab() as tab:
        for page, shown in (
            ("scalars", "tag: train/loss"),
            ("images", "seen/image"),
            ("histograms", "weights"),
            ("graphs", "Main Graph"),
        ):
            tab.goto(f"{address}#{page}")
            tab.reload()
            expect(tab.get_by_text(shown).first).to_be_visible()
        tab.locator("paper-radio-button").filter(has_text="Device").first.click()
        expect(tab.get_by_text("unknown device").first).to_be_visible()
