"""Where the variables of two replicas differ."""

from __future__ import annotations

import weft as tf
from weft.training.sessions.model_signature import SignatureDiff, VariableSignature, as_plain, from_plain, signature_of


def variable(dtype: str = "float32", shape: tuple[int | None, ...] | None = (2,), device: str = "") -> VariableSignature:
    return VariableSignature(dtype, shape, device)


def test_a_graphs_signature_has_its_global_variables_and_survives_the_board() -> None:
    with tf.device("/job:ps/task:1"):
        tf.Variable([1.0, 2.0], name="a")
        tf.get_variable("b", [], tf.int64, initializer=tf.zeros_initializer(), use_resource=True)
    tf.Variable(1.0, name="c", validate_shape=False)
    tf.Variable(1.0, name="here", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    signature = signature_of(tf.get_default_graph())
    assert {name: str(each) for name, each in signature.items()} == {
        "a": "float32 [2] on /job:ps/task:1",
        "b": "int64 [] on /job:ps/task:1",
        "c": "float32 unknown shape",
    }
    assert from_plain(as_plain(signature)) == signature


def test_partitions_of_a_variable_are_variables_of_the_signature() -> None:
    tf.get_variable("table", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    assert {name: v.shape for name, v in signature_of(tf.get_default_graph()).items()} == {
        "table/part_0": (2, 2),
        "table/part_1": (2, 2),
    }


def test_equal_and_compatible_models_do_not_differ() -> None:
    for other in (variable(), variable(shape=None), variable(shape=(None,)), variable(device="/job:ps/task:0")):
        diff = SignatureDiff({"v": variable()}, {"v": other})
        assert (diff.only_here, diff.only_there, diff.elsewhere, diff.different) == ([], [], [], [])
        assert str(diff) == ""


def test_names_shapes_dtypes_and_tasks_are_compared() -> None:
    ps0, ps1 = variable(device="/job:ps/task:0"), variable(device="/job:ps/task:1")
    mine = {"w1/v": ps0, "moved": ps0, "wide": variable(shape=(3,)), "kind": variable("int32"), "same": ps0}
    chiefs = {
        "w0/v": ps0,
        "moved": ps1,
        "wide": variable(),
        "kind": variable(),
        "same": variable(device="/job:ps/task:0/cpu:0"),
    }
    diff = SignatureDiff(mine, chiefs)
    assert (diff.only_here, diff.only_there, diff.elsewhere, diff.different) == (
        ["w1/v"],
        ["w0/v"],
        ["moved"],
        ["wide", "kind"],
    )
    assert diff.is_related
    assert diff.never_initialized(["same", "moved"]) == ["moved"]
    assert str(diff).splitlines() == [
        "  only in this replica:",
        "    w1/v (float32 [2] on /job:ps/task:0)",
        "  only in the chief's graph:",
        "    w0/v (float32 [2] on /job:ps/task:0)",
        "  different:",
        "    wide: float32 [3] here, float32 [2] there",
        "    kind: int32 [2] here, float32 [2] there",
        "    moved: float32 [2] on /job:ps/task:0 here, float32 [2] on /job:ps/task:1 there",
    ]


def test_long_lists_are_cut() -> None:
    diff = SignatureDiff({f"v{i}": variable() for i in range(20)}, {})
    assert not diff.is_related
    assert str(diff).splitlines()[-1] == "    and 12 more"
