"""Pictures of a step: what is drawn, and that it is well-formed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tensorboard.compat.proto import step_stats_pb2

import weft as tf

SVG = "{http://www.w3.org/2000/svg}"
PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


def stats(nodes: dict[str, list[tuple[str, str, int, int]]]) -> Any:
    """StepStats: for each device the nodes' names, labels, begins and durations in microseconds."""
    made = step_stats_pb2.StepStats()
    for device, own in nodes.items():
        target = made.dev_stats.add(device=device)
        for name, label, begin, duration in [("_SOURCE", "_SOURCE", 0, 0), *own]:
            target.node_stats.add(node_name=name, timeline_label=label, all_start_micros=begin, all_end_rel_micros=duration)
    return made


STEP = stats(
    {
        PS: [("w", "w = VariableV2()", 1000, 10), ("w/read", "w/read = Identity(w)", 1010, 5)],
        WORKER: [
            ("x<y", "x<y = Const()", 1000, 400),
            ("RecvTensor", "[4B] edge_0_w/read from /job:ps to /job:worker", 1015, 100),
            ("product", "product = MatMul(x<y, w/read)", 1400, 2600),
        ],
    }
)


def parse(picture: Any) -> Any:
    assert picture._repr_svg_() == picture.svg
    return ElementTree.fromstring(picture.svg)


def texts(picture: Any) -> list[str]:
    return [str(element.text) for element in parse(picture).iter(f"{SVG}text")]


def titles(picture: Any) -> list[str]:
    return [str(element.text) for element in parse(picture).iter(f"{SVG}title")]


def test_a_timeline_has_a_row_for_each_device_and_a_bar_for_each_node_and_transfer() -> None:
    picture = tf.draw_timeline(STEP)
    assert texts(picture)[0] == "/job:ps/task:0/CPU:0"
    assert "/job:worker/task:0/CPU:0" in texts(picture)
    assert titles(picture) == [
        "w: VariableV2, 10 µs",
        "w/read: Identity, 5 µs",
        "x<y: Const, 400 µs",
        "[4B] edge_0_w/read from /job:ps to /job:worker: RecvTensor, 100 µs",
        "product: MatMul, 2600 µs",
    ]
    assert [text for text in texts(picture) if text.endswith(" ms")] == [f"{n / 2:g} ms" for n in range(7)]


def test_bars_are_as_long_as_their_nodes_ran() -> None:
    bars = {
        title.text.partition(":")[0]: float(rect.get("width"))
        for rect in parse(tf.draw_timeline(STEP)).iter(f"{SVG}rect")
        for title in rect.iter(f"{SVG}title")
    }
    assert bars["product"] == pytest.approx(bars["x<y"] * 2600 / 400, rel=0.01)


def test_a_placement_has_a_column_for_each_device_and_marks_what_crosses() -> None:
    picture = tf.draw_placement(STEP)
    assert titles(picture) == ["w: VariableV2", "w/read: Identity", "x<y: Const", "product: MatMul"]
    edges = [path.get("stroke") for path in parse(picture).findall(f"{SVG}path")]
    assert sorted(edges) == ["#8a8f98", "#8a8f98", "#f28e2b"]


def test_large_graphs_are_drawn_by_the_first_part_of_their_names() -> None:
    nodes = [(f"layer{i % 3}/node{i}", f"layer{i % 3}/node{i} = Add(layer{(i - 1) % 3}/node{i - 1})", i, 1) for i in range(90)]
    assert titles(tf.draw_placement(stats({WORKER: nodes}))) == [f"layer{i}: 30 nodes" for i in range(3)]


def test_pictures_of_a_real_run_are_saved(tmp_path: Path) -> None:
    metadata = tf.RunMetadata()
    with tf.Graph().as_default(), tf.Session() as session:
        total = tf.add(tf.constant(1.0), tf.constant(2.0), name="total")
        session.run(total, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    for draw in (tf.draw_timeline, tf.draw_placement):
        path = tmp_path / "picture.svg"
        draw(metadata).save(path)
        assert "total: Add" in path.read_text(encoding="utf-8")


def test_a_run_that_was_not_traced_is_told() -> None:
    with pytest.raises(ValueError, match=r"not traced.*FULL_TRACE"):
        tf.draw_timeline(tf.RunMetadata())
