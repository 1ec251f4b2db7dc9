"""What is told of the objects in a checkpoint, and of those that it would save."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf

checkpoint = tf.contrib.checkpoint


def test_a_checkpoint_is_drawn(tmp_path: Path) -> None:
    optimizer, weight = tf.train.MomentumOptimizer(0.1, 0.9), tf.Variable(1.0, name="weight")
    optimizer.minimize(weight * weight)
    objects = tf.train.Checkpoint(optimizer=optimizer, weight=weight)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = objects.write(str(tmp_path / "model"), session=session)
        tf.train.Saver([weight]).save(session, str(tmp_path / "by_name"))
    assert checkpoint.dot_graph_from_checkpoint(path).splitlines() == [
        "digraph {",
        'N_0 [shape=point label="" width=.25]',
        'N_0 -> N_1 [label="optimizer"]',
        'N_0 -> N_2 [label="weight"]',
        'N_1 [shape=point label="" width=.25 color=red,tooltip="Optimizer"]',
        'N_1 -> N_3 [label="momentum" style=dotted]',
        "N_2 -> N_3 [style=dotted]",
        'N_2 [shape=point label="" color=blue width=.25 tooltip="Variable weight shape=[] float32"]',
        'N_3 [shape=point label="" color=orange width=.25 tooltip="Slot variable weight/Momentum shape=[] float32"]',
        "}",
    ]
    described = checkpoint.object_metadata(path)
    assert isinstance(described, checkpoint.CheckpointableObjectGraph)
    assert [child.local_name for child in described.nodes[0].children] == ["optimizer", "weight"]
    assert checkpoint.list_objects(objects) == [objects, optimizer, weight, optimizer.get_slot(weight, "momentum")]
    with pytest.raises(ValueError, match="does not appear to be object-based"):
        checkpoint.object_metadata(str(tmp_path / "by_name"))
