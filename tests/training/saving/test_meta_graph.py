"""Meta graphs: what survives the way through a MetaGraphDef, whole or in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

import weft as tf
from weft.training.saving.meta_graph import (
    copy_scoped_meta_graph,
    export_scoped_meta_graph,
    import_scoped_meta_graph,
    read_meta_graph_file,
)


def build_model() -> Any:
    """y = x w + b in scope 'model', and a step that adds to b."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.name_scope("model"):
        w = tf.Variable([[1.0], [2.0]], name="w")
        b = tf.Variable([0.5], name="b", trainable=False)
        y = tf.add(tf.matmul(x, w), b, name="y")
    tf.add_to_collection("train_op", b.assign_add([1.0]).op)
    return y


def test_a_trained_model_goes_on_in_another_graph(tmp_path: Path) -> None:
    build_model()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(tf.get_collection("train_op"))
        path = tf.train.Saver().save(sess, str(tmp_path / "m"), global_step=1)
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(sess, path)
        assert sess.run("model/y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[4.5]]
        sess.run(tf.get_collection("train_op"))
        assert sess.run("model/y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[5.5]]
        assert saver.save(sess, str(tmp_path / "m"), global_step=2) == str(tmp_path / "m-2")


@pytest.mark.parametrize("as_text", [False, True])
def test_a_meta_graph_is_read_as_it_was_written(tmp_path: Path, as_text: bool) -> None:
    build_model()
    saver = tf.train.Saver()
    written = saver.export_meta_graph(str(tmp_path / "new" / "graph.meta"), as_text=as_text)
    assert read_meta_graph_file(str(tmp_path / "new" / "graph.meta")) == written
    assert written.saver_def == saver.as_saver_def()
    assert {op.name for op in written.meta_info_def.stripped_op_list.op} >= {"MatMul", "SaveV2", "VariableV2"}


def test_a_file_that_is_none_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none"))
    (tmp_path / "other").write_text("this is not a meta graph")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.train.import_meta_graph(str(tmp_path / "other"))


def test_collections_of_every_kind_come_back() -> None:
    build_model()
    for value in ("text", "more"):
        tf.add_to_collection("strings", value)
    tf.add_to_collection("ints", 7)
    tf.add_to_collection("floats", 0.5)
    tf.add_to_collection("tensors", tf.get_default_graph().get_tensor_by_name("model/y:0"))
    tf.add_to_collection("objects", object())
    proto = tf.train.export_meta_graph()
    assert "objects" not in proto.collection_def
    with tf.Graph().as_default() as graph:
        assert tf.train.import_meta_graph(proto) is not None
        assert tf.get_collection("strings") == ["text", "more"]
        assert tf.get_collection("ints") == [7]
        assert tf.get_collection("floats") == [0.5]
        assert tf.get_collection("tensors") == [graph.get_tensor_by_name("model/y:0")]
        assert [v.name for v in tf.global_variables()] == ["model/w:0", "model/b:0"]
        assert tf.trainable_variables() == tf.global_variables()[:1]
        assert tf.global_variables()[0].trainable
        assert not tf.global_variables()[1].trainable


def test_collections_may_be_chosen_on_either_side() -> None:
    build_model()
    tf.add_to_collection("mine", 1)
    proto = tf.train.export_meta_graph(collection_list=["mine", "variables"])
    assert sorted(proto.collection_def) == ["mine", "variables"]
    with tf.Graph().as_default():
        tf.train.import_meta_graph(proto, restore_collections_predicate=lambda key: key != "mine")
        assert tf.get_collection("mine") == []
        assert len(tf.global_variables()) == 2


def test_imported_again_everything_is_in_a_scope_of_its_own(tmp_path: Path) -> None:
    build_model()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        first = tf.train.import_meta_graph(path + ".meta", import_scope="a")
        second = tf.train.import_meta_graph(path + ".meta", import_scope="a")
        assert first.as_saver_def().restore_op_name == "a/save/restore_all"
        assert second.as_saver_def().restore_op_name == "a_1/save/restore_all"
        first.restore(sess, path)
        second.restore(sess, path)
        assert [v.name for v in tf.global_variables()] == ["a/model/w:0", "a/model/b:0", "a_1/model/w:0", "a_1/model/b:0"]
        assert sess.run("a_1/model/y:0", {"a_1/x:0": [[0.0, 0.0]]}).tolist() == [[0.5]]


def test_without_a_saver_one_is_made_of_the_variables_if_there_are_any() -> None:
    tf.constant(1)
    without = tf.train.export_meta_graph()
    tf.Variable(1.0)
    with_one = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(without) is None
    with tf.Graph().as_default():
        assert isinstance(tf.train.import_meta_graph(with_one), tf.train.Saver)


def test_devices_are_cleared_on_either_side() -> None:
    with tf.device("/job:ps/task:3"):
        build_model()
    kept = tf.train.export_meta_graph()
    cleared = tf.train.export_meta_graph(clear_devices=True)
    assert any(node.device for node in kept.graph_def.node)
    assert not any(node.device for node in cleared.graph_def.node)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(kept, clear_devices=True)
        assert not any(op.device for op in graph.get_operations() if not op.name.startswith("save"))
    assert any(node.device for node in kept.graph_def.node)


def test_other_savers_are_left_out() -> None:
    build_model()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(name="old"))
    saver = tf.train.Saver(name="kept")
    proto = saver.export_meta_graph(clear_extraneous_savers=True)
    names = {node.name.partition("/")[0] for node in proto.graph_def.node}
    assert "kept" in names
    assert "old" not in names
    assert len(proto.collection_def[tf.GraphKeys.SAVERS].bytes_list.value) == 1
    with tf.Graph().as_default():
        tf.train.import_meta_graph(proto)
        (found,) = tf.get_collection(tf.GraphKeys.SAVERS)
        assert found.as_saver_def() == saver.as_saver_def()


def test_defaults_are_stripped_and_come_back() -> None:
    build_model()
    proto = tf.train.export_meta_graph(strip_default_attrs=True)
    node = next(node for node in proto.graph_def.node if node.op == "MatMul")
    assert "transpose_a" not in node.attr
    assert proto.meta_info_def.stripped_default_attrs
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(proto)
        assert graph.get_operation_by_name("model/MatMul").get_attr("transpose_a") is False


def test_a_scope_is_exported_with_unbound_inputs() -> None:
    build_model()
    proto, variables = export_scoped_meta_graph(export_scope="model")
    assert sorted(variables) == ["b:0", "w:0"]
    assert [node.name for node in proto.graph_def.node if "/" not in node.name][:1] == ["w"]
    assert tf.get_collection("unbound_inputs") == ["$unbound_inputs_x"]
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(ValueError, match=r"Graph contains unbound inputs: \$unbound_inputs_x"):
            import_scoped_meta_graph(proto)
        new_x = tf.constant([[1.0, 0.0]])
        found = import_scoped_meta_graph(proto, import_scope="here", input_map={"$unbound_inputs_x": new_x})
        assert sorted(found) == ["b:0", "w:0"]
        assert found["w:0"].name == "here/w:0"
        sess.run(tf.global_variables_initializer())
        assert sess.run("here/y:0").tolist() == [[1.5]]


def test_a_scope_is_copied_into_another() -> None:
    with tf.name_scope("from"):
        tf.Variable([1.0], name="v")
    with pytest.raises(ValueError, match="need to be different"):
        copy_scoped_meta_graph("from", "from")
    copies = copy_scoped_meta_graph("from", "to")
    assert [v.name for v in copies.values()] == ["to/v:0"]
    assert [v.name for v in tf.global_variables()] == ["from/v:0", "to/v:0"]


def test_a_graph_that_was_imported_is_exported_again_as_it_is() -> None:
    build_model()
    first = tf.train.Saver().export_meta_graph()
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(first)
        assert saver is not None
        again = saver.export_meta_graph()
    assert {node.name: node for node in again.graph_def.node} == {node.name: node for node in first.graph_def.node}
    assert again.collection_def == first.collection_def


def test_a_partitioned_variable_keeps_its_slices(tmp_path: Path) -> None:
    value = np.arange(12, dtype=np.float32).reshape(6, 2)
    tf.get_variable("p", initializer=tf.constant(value), partitioner=tf.fixed_size_partitioner(3))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(sess, path)
        np.testing.assert_array_equal(np.concatenate(sess.run(tf.global_variables())), value)
        # The slices tell where they belong, so a new Saver writes one tensor again.
        assert tf.train.list_variables(tf.train.Saver().save(sess, str(tmp_path / "n"))) == [("p", [6, 2])]


def test_a_resource_variable_comes_back(tmp_path: Path) -> None:
    variable = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(path + ".meta").restore(sess, path)
        assert sess.run(tf.global_variables()[0]).tolist() == [1.0, 2.0]


def test_arguments_of_a_wrong_type_are_told() -> None:
    with pytest.raises(TypeError, match="graph_def must be of type GraphDef"):
        tf.train.export_meta_graph(graph_def="nodes")
    with pytest.raises(TypeError, match="saver_def must be of type SaverDef"):
        tf.train.export_meta_graph(saver_def=MetaGraphDef())


@pytest.mark.parametrize("as_text", [False, True])
def test_a_graph_is_written_to_a_file(tmp_path: Path, as_text: bool) -> None:
    build_model()
    graph = tf.get_default_graph()
    path = tf.train.write_graph(graph, str(tmp_path / "dir"), "graph.pb", as_text=as_text)
    assert path == str(tmp_path / "dir" / "graph.pb")
    data = (tmp_path / "dir" / "graph.pb").read_bytes()
    if as_text:
        assert b'name: "model/w"' in data
    else:
        assert tf.GraphDef.FromString(data) == graph.as_graph_def()
    assert tf.train.write_graph(graph.as_graph_def(), str(tmp_path / "dir"), "graph.pb") == path
