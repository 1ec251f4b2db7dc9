"""Ops on handles that only graphs from elsewhere have: lists, ragged tensors as variants, optionals and datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.registry import op_registry

raw: Any = tf.raw_ops


def run(*fetches: Any) -> list[Any]:
    with tf.Session() as session:
        return session.run(list(fetches))


def elements(dataset: Any, types: list[Any], shapes: list[Any]) -> list[Any]:
    handle = raw.IteratorV2(shared_name="", container="", output_types=types, output_shapes=shapes)
    make = raw.MakeIterator(dataset=dataset, iterator=handle)
    following = raw.IteratorGetNext(iterator=handle, output_types=types, output_shapes=shapes)
    found = []
    with tf.Session() as session:
        session.run(make)
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return [[np.asarray(part).tolist() for part in each] for each in found]


def ranged(stop: int, types: list[Any], shapes: list[Any]) -> Any:
    return raw.RangeDataset(start=np.int64(0), stop=np.int64(stop), step=np.int64(1), output_types=types, output_shapes=shapes)


INT = [tf.int64]


def test_an_op_is_found_that_no_function_of_wefts_adds() -> None:
    assert op_registry.is_registered("RaggedTensorToVariant")
    assert not op_registry.is_registered("RaggedTensorToVarian")


def test_a_list_is_joined_and_lists_are_pushed_to() -> None:
    empty = raw.EmptyTensorList(element_shape=np.int32(-1), max_num_elements=np.int32(-1), element_dtype=tf.float32)
    one = raw.TensorListPushBack(input_handle=empty, tensor=[1.0, 2.0])
    pushed = raw.TensorListPushBackBatch(input_handles=tf.stack([one, one]), tensor=[[3.0], [4.0]])
    whole, lengths = raw.TensorListConcat(input_handle=pushed[1], element_dtype=tf.float32)
    found = run(whole, lengths)
    assert [each.tolist() for each in found] == [[1, 2, 4], [2, 1]]


def test_a_ragged_tensor_goes_through_variants_and_has_a_gradient() -> None:
    values = tf.constant([1.0, 2, 3, 4, 5])
    splits = [np.int64([0, 2, 2, 3]), np.int64([0, 1, 3, 5])]
    rows = raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=True)
    assert rows.shape.as_list() == [3]
    back = raw.RaggedTensorFromVariant(
        encoded_ragged=rows, input_ragged_rank=1, output_ragged_rank=2, Tvalues=tf.float32, Tsplits=tf.int64
    )
    whole = raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=False)
    same = raw.RaggedTensorFromVariant(
        encoded_ragged=whole, input_ragged_rank=2, output_ragged_rank=2, Tvalues=tf.float32, Tsplits=tf.int64
    )
    for found in run(back, same):
        assert [each.tolist() for each in found[0]] == [each.tolist() for each in splits]
        assert found[1].tolist() == [1, 2, 3, 4, 5]
    other = raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values * 2, batched_input=True)
    gradient = raw.RaggedTensorToVariantGradient(
        encoded_ragged_grad=other, row_splits=splits[0], dense_values_shape=[5], Tvalues=tf.float32
    )
    assert run(gradient)[0].tolist() == [2, 4, 6, 8, 10]


def test_a_variant_of_another_type_is_refused() -> None:
    whole = raw.RaggedTensorToVariant(rt_nested_splits=[np.int64([0, 1])], rt_dense_values=[1.0], batched_input=False)
    back = raw.RaggedTensorFromVariant(
        encoded_ragged=whole, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.int32, Tsplits=tf.int64
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected values Tensor dtype: int32, found: float32"):
        run(*back)


def test_an_iterators_next_element_is_an_optional() -> None:
    dataset = ranged(1, INT, [()])
    handle = raw.IteratorV2(shared_name="", container="", output_types=INT, output_shapes=[()])
    following = raw.IteratorGetNextAsOptional(iterator=handle, output_types=INT, output_shapes=[()])
    there = raw.OptionalHasValue(optional=following)
    with tf.Session() as session:
        session.run(raw.MakeIterator(dataset=dataset, iterator=handle))
        assert [bool(session.run(there)) for _ in range(3)] == [True, False, False]


def test_datasets_are_windowed_rebatched_and_rewritten() -> None:
    windows = raw.SlidingWindowDataset(
        input_dataset=ranged(6, INT, [()]), window_size=np.int64(3), window_shift=np.int64(2), window_stride=np.int64(1),
        output_types=INT, output_shapes=[(None,)],
    )  # fmt: skip
    assert elements(windows, INT, [(None,)]) == [[[0, 1, 2]], [[2, 3, 4]]]
    cut = raw.RebatchDatasetV2(
        input_dataset=windows, batch_sizes=np.int64([2, 1]), drop_remainder=np.bool_(False), output_types=INT,
        output_shapes=[(None,)],
    )  # fmt: skip
    assert elements(cut, INT, [(None,)]) == [[[0, 1]], [[2]], [[2, 3]], [[4]]]
    same = raw.RewriteDataset(input_dataset=cut, rewrite_name="any", output_types=INT, output_shapes=[(None,)])
    assert len(elements(same, INT, [(None,)])) == 4


def test_a_share_of_the_elements_is_chosen_by_a_seed() -> None:
    sampled = raw.SamplingDataset(
        input_dataset=ranged(1000, INT, [()]), rate=np.float32(0.3), seed=np.int64(1), seed2=np.int64(2), output_types=INT,
        output_shapes=[()],
    )  # fmt: skip
    first, second = elements(sampled, INT, [()]), elements(sampled, INT, [()])
    assert first == second
    assert 200 < len(first) < 400


def test_examples_are_parsed_by_a_dataset() -> None:
    examples = [
        tf.train.Example(features=tf.train.Features(feature={
            "a": tf.train.Feature(int64_list=tf.train.Int64List(value=range(number))),
            "b": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 2])),
        })).SerializeToString()
        for number in (1, 2)
    ]  # fmt: skip
    batch = raw.TensorDataset(components=[tf.constant(examples)], output_shapes=[(2,)])
    for op in (raw.ParseExampleDataset, raw.ParseExampleDatasetV2):
        parsed = op(
            input_dataset=batch, num_parallel_calls=np.int64(1), dense_defaults=[np.zeros(0, np.float32)], sparse_keys=["a"],
            dense_keys=["b"], sparse_types=[tf.int64], Tdense=[tf.float32], dense_shapes=[(1,)],
            output_types=[tf.variant, tf.float32], output_shapes=[(3,), (2, 1)],
        )  # fmt: skip
        [[sparse, dense]] = elements(parsed, [tf.variant, tf.float32], [(3,), (2, 1)])
        assert dense == [[0.5], [1.0]]
        assert [np.asarray(part).tolist() for part in sparse] == [[[0, 0], [1, 0], [1, 1]], [0, 0, 1], [2, 2]]


def test_datasets_that_tell_how_to_run_have_the_same_elements() -> None:
    kinds = {"output_types": INT, "output_shapes": [()]}
    dataset = raw.MaxIntraOpParallelismDataset(
        input_dataset=ranged(3, INT, [()]), max_intra_op_parallelism=np.int64(1), **kinds
    )
    dataset = raw.PrivateThreadPoolDataset(input_dataset=dataset, num_threads=np.int64(2), **kinds)
    none = np.zeros(0, object)
    dataset = raw.OptimizeDatasetV2(
        input_dataset=dataset, optimizations_enabled=none, optimizations_disabled=none, optimizations_default=none, **kinds
    )
    dataset = raw.ChooseFastestDataset(input_datasets=[dataset, dataset], num_experiments=1, **kinds)
    dataset = raw.ExperimentalUniqueDataset(input_dataset=raw.NonSerializableDataset(input_dataset=dataset, **kinds), **kinds)
    assert elements(dataset, INT, [()]) == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("count", "told"), [(2, "2 elements but contained at least 3"), (4, "4 elements but contained only 3")]
)
def test_a_dataset_of_another_size_than_was_said_fails(count: int, told: str) -> None:
    kinds = {"output_types": INT, "output_shapes": [()]}
    dataset = raw.AssertCardinalityDataset(input_dataset=ranged(3, INT, [()]), cardinality=np.int64(count), **kinds)
    with pytest.raises(tf.errors.FailedPreconditionError, match=told):
        elements(dataset, INT, [()])


def test_columns_of_csv_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2.5,ab\n3,4.5,cd\n")
    arguments = {
        "filenames": str(tmp_path / "a.csv"), "compression_type": "", "buffer_size": np.int64(100), "header": np.bool_(False),
        "field_delim": ",", "use_quote_delim": np.bool_(True), "na_value": "", "record_defaults": [[0], [b""]],
        "output_types": [tf.int32, tf.string], "output_shapes": [(), ()],
    }  # fmt: skip
    none = np.zeros(0, np.int64)
    dataset = raw.CSVDatasetV2(select_cols=none, exclude_cols=np.int64([1]), **arguments)
    assert elements(dataset, [tf.int32, tf.string], [(), ()]) == [[1, b"ab"], [3, b"cd"]]
    both = raw.CSVDatasetV2(select_cols=np.int64([0]), exclude_cols=np.int64([1]), **arguments)
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be empty"):
        elements(both, [tf.int32, tf.string], [(), ()])


def test_the_eigenvalues_of_any_matrix() -> None:
    matrix = np.float32([[0, 1], [-1, 0]])
    values, vectors = run(*raw.Eig(input=matrix, Tout=tf.complex64))
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-6)
    np.testing.assert_allclose(sorted(values.imag), [-1, 1], atol=1e-6)


def test_numbers_that_are_not_finite_are_told_with_their_sign() -> None:
    checked = raw.CheckNumericsV2(tensor=[1.0, -np.inf, np.nan], message="here")
    with pytest.raises(tf.errors.InvalidArgumentError, match="here : Tensor had -Inf and NaN values"):
        run(checked)
