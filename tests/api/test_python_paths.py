"""Programs that import modules by their path inside TensorFlow find the same things."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import weft as tf
from weft.api import contrib_paths, generated_ops, public_paths
from weft.checkpoint.tensor_print import print_tensors_in_checkpoint_file
from weft.client.debugger import LocalCLIDebugHook
from weft.estimators.canned.dnn import summarize
from weft.estimators.canned.head import Head
from weft.estimators.canned.optimizers import get_optimizer_instance
from weft.estimators.input_function import parse_input_fn_result
from weft.estimators.model_function import verify_model_fn_args
from weft.framework.attribute_tracking import no_automatic_dependency_tracking
from weft.framework.devices.device_spec import canonical_name
from weft.models.functional.call_choices import smart_cond
from weft.ops.data_flow.barrier import Barrier
from weft.training.saved_model.freezing import freeze_graph
from weft.training.saving.meta_graph import export_scoped_meta_graph


@pytest.mark.parametrize(
    ("path", "name", "same"),
    [
        ("framework.ops", "convert_to_tensor", tf.convert_to_tensor),
        ("framework.ops", "device_v2", tf.device),
        ("ops.string_ops", "string_format", tf.strings.format),
        ("ops.script_ops", "eager_py_func", tf.py_function),
        ("ops.init_ops", "identity_initializer", tf.initializers.identity),
        ("ops.init_ops", "convolutional_delta_orthogonal", tf.contrib.framework.convolutional_delta_orthogonal),
        ("framework.device", "DeviceSpec", tf.DeviceSpec),
        ("ops.gradient_checker_v2", "compute_gradient", tf.compat.v2.test.compute_gradient),
        ("framework.meta_graph", "export_scoped_meta_graph", export_scoped_meta_graph),
        ("framework.smart_cond", "smart_constant_value", tf.contrib.framework.smart_constant_value),
        ("framework.smart_cond", "smart_case", tf.contrib.framework.smart_case),
        ("training.checkpoint_utils", "wait_for_new_checkpoint", tf.contrib.training.wait_for_new_checkpoint),
        ("framework.versions", "VERSION", tf.VERSION),
        ("ops.bitwise_ops", "bitwise_and", tf.bitwise.bitwise_and),
        ("ops.gen_bitwise_ops", "bitwise_or", generated_ops.bitwise_or),
        ("ops.gen_sdca_ops", "sdca_optimizer_v2", generated_ops.sdca_optimizer_v2),
        ("ops.gen_rnn_ops", "block_lstm", generated_ops.block_lstm),
        ("ops.initializers_ns", "variables", tf.initializers.variables),
        ("keras.saving", "load_model", tf.keras.models.load_model),
        ("keras.saving.hdf5_format", "load_model_from_hdf5", tf.keras.models.load_model),
        ("estimator.canned.dnn", "_add_hidden_layer_summary", summarize),
        ("estimator.estimator", "_verify_model_fn_args", verify_model_fn_args),
        ("keras.utils.tf_utils", "smart_cond", smart_cond),
        ("lib.io.python_io", "TFRecordWriter", tf.python_io.TFRecordWriter),
        ("tools.freeze_graph", "freeze_graph", freeze_graph),
        ("tools.inspect_checkpoint", "print_tensors_in_checkpoint_file", print_tensors_in_checkpoint_file),
        ("training.gen_training_ops", "apply_adam", generated_ops.apply_adam),
        ("framework.errors", "OutOfRangeError", tf.errors.OutOfRangeError),
        ("framework.dtypes", "float32", tf.float32),
        ("framework.dtypes", "float32_ref", tf.float32._as_ref),
        ("data", "Dataset", tf.data.Dataset),
        ("keras.optimizer_v2.optimizer_v2", "OptimizerV2", tf.keras.optimizers.Optimizer),
        ("keras.utils.losses_utils", "ReductionV2", tf.keras.losses.Reduction),
        ("ops.io_ops", "restore_v2", generated_ops.restore_v2),
        ("ops.io_ops", "TFRecordReader", tf.TFRecordReader),
        ("ops.resource_variable_ops", "resource_scatter_add", generated_ops.resource_scatter_add),
        ("ops.math_ops", "argmax", tf.argmax),
        ("ops.summary_ops_v2", "create_file_writer", tf.contrib.summary.create_file_writer),
        ("ops.summary_ops_v2", "all_v2_summary_ops", tf.summary.all_v2_summary_ops),
        ("data.ops.dataset_ops", "DatasetV1", tf.data.Dataset),
        ("data.ops.dataset_ops", "get_legacy_output_types", tf.data.get_output_types),
        ("ops.lookup_ops", "StaticHashTableV1", tf.lookup.StaticHashTable),
        ("ops.ragged.ragged_concat_ops", "stack", tf.ragged.stack),
        ("ops.ragged.ragged_tensor_value", "RaggedTensorValue", tf.ragged.RaggedTensorValue),
        ("ops.array_ops", "reshape", tf.reshape),
        ("ops.math_ops", "reduce_mean", tf.reduce_mean),
        ("ops.data_flow_ops", "FIFOQueue", tf.FIFOQueue),
        ("ops.data_flow_ops", "Barrier", Barrier),
        ("ops.variables", "Variable", tf.Variable),
        ("ops.control_flow_ops", "cond", tf.cond),
        ("ops.logging_ops", "Print", tf.Print),
        ("ops.script_ops", "py_function", tf.py_function),
        ("training.summary_io", "summary_iterator", tf.train.summary_iterator),
        ("platform.gfile", "GFile", tf.gfile.GFile),
        ("platform.tf_logging", "info", tf.logging.info),
        ("training.session_run_hook", "SessionRunHook", tf.train.SessionRunHook),
        ("training.basic_session_run_hooks", "SecondOrStepTimer", tf.train.SecondOrStepTimer),
        ("training.training_util", "get_global_step", tf.train.get_global_step),
        ("training.training", "Saver", tf.train.Saver),
        ("util.compat", "as_bytes", tf.compat.as_bytes),
        ("framework.device", "canonical_name", canonical_name),
        ("framework.test_util", "TensorFlowTestCase", tf.test.TestCase),
        ("framework.tensor_shape", "dimension_value", tf.dimension_value),
        ("ops.init_ops", "VarianceScaling", tf.initializers.variance_scaling),
        ("ops.rnn_cell_impl", "LayerRNNCell", tf.nn.rnn_cell.RNNCell),
        ("ops.signal.window_ops", "hann_window", tf.signal.hann_window),
        ("ops.signal.fft_ops", "rfft", tf.signal.rfft),
        ("ops.distributions.student_t", "StudentT", tf.distributions.StudentT),
        ("distribute.mirrored_strategy", "MirroredStrategy", tf.distribute.MirroredStrategy),
        ("estimator.canned.parsing_utils", "classifier_parse_example_spec", tf.estimator.classifier_parse_example_spec),
        ("estimator.head.base_head", "Head", tf.estimator.Head),
        ("estimator.head.regression_head", "RegressionHead", tf.estimator.RegressionHead),
        ("estimator.head.multi_head", "MultiHead", tf.estimator.MultiHead),
        ("estimator.canned.optimizers", "get_optimizer_instance", get_optimizer_instance),
        ("estimator.canned.head", "_Head", Head),
        ("estimator.util", "parse_input_fn_result", parse_input_fn_result),
        ("keras.backend", "get_graph", tf.get_default_graph),
        ("keras.backend", "int_shape", tf.keras.backend.int_shape),
        ("tpu.tpu_config", "TPUConfig", tf.contrib.tpu.TPUConfig),
        ("estimator.tpu.tpu_estimator", "TPUEstimator", tf.estimator.tpu.TPUEstimator),
        ("training.tracking.base", "no_automatic_dependency_tracking", no_automatic_dependency_tracking),
        ("debug.wrappers.hooks", "LocalCLIDebugHook", LocalCLIDebugHook),
        ("keras.layers.noise", "GaussianNoise", tf.keras.layers.GaussianNoise),
        ("keras.layers.recurrent_v2", "LSTM", tf.compat.v2.keras.layers.LSTM),
        ("layers.pooling", "max_pool2d", tf.layers.max_pooling2d),
        ("distribute.cluster_resolver.cluster_resolver", "UnionClusterResolver", tf.distribute.cluster_resolver.UnionResolver),
        ("ops.linalg.linear_operator_diag", "LinearOperatorDiag", tf.linalg.LinearOperatorDiag),
        ("ops.sparse_ops", "sparse_eye", tf.sparse.eye),
        ("framework.config", "list_physical_devices", tf.config.experimental.list_physical_devices),
        # What TensorFlow has in two versions has both by their paths.
        ("ops.array_ops", "transpose_v2", tf.compat.v2.transpose),
        ("ops.nn_ops", "conv2d_v2", tf.compat.v2.nn.conv2d),
        ("ops.nn_ops", "conv3d_v1", tf.nn.conv3d),
        ("data.ops.readers", "TFRecordDatasetV1", tf.data.TFRecordDataset),
        ("ops.check_ops", "assert_equal_v2", tf.compat.v2.assert_equal),
    ],
)
def test_the_path_leads_to_the_same(path: str, name: str, same: object) -> None:
    assert getattr(importlib.import_module(f"weft.python.{path}"), name) is same


@pytest.mark.parametrize(
    ("path", "name", "same"),
    [
        ("python.ops.nn_ops", "bias_add", tf.nn.bias_add),
        ("python.ops.nn", "softmax", tf.nn.softmax),
        ("python.ops.standard_ops", "multiply", tf.multiply),
        ("python.ops.check_ops", "assert_equal", tf.assert_equal),
        ("python.ops.rnn_cell_impl", "LSTMStateTuple", tf.nn.rnn_cell.LSTMStateTuple),
        ("python.framework.tensor_shape", "TensorShape", tf.TensorShape),
        ("python.framework.errors_impl", "OpError", tf.errors.OpError),
        ("python.layers.convolutional", "Conv2D", tf.layers.Conv2D),
        ("python.keras.layers", "Dense", tf.keras.layers.Dense),
        ("python.keras.layers.core", "Dense", tf.keras.layers.Dense),
        ("python.keras.utils.np_utils", "to_categorical", tf.keras.utils.to_categorical),
        ("python.data.ops.dataset_ops", "Dataset", tf.data.Dataset),
        ("python.training.adam", "AdamOptimizer", tf.train.AdamOptimizer),
        ("python.saved_model.tag_constants", "SERVING", "serve"),
        ("contrib.layers.python.layers", "batch_norm", tf.contrib.layers.batch_norm),
        ("contrib.layers.python.layers.initializers", "xavier_initializer", tf.contrib.layers.xavier_initializer),
        ("contrib.framework.python.ops", "add_arg_scope", tf.contrib.framework.add_arg_scope),
        ("contrib.rnn.python.ops.core_rnn_cell", "RNNCell", tf.nn.rnn_cell.RNNCell),
        ("contrib.training.python.training.hparam", "HParams", tf.contrib.training.HParams),
    ],
)
def test_a_path_has_the_public_names_of_its_kind(path: str, name: str, same: object) -> None:
    assert getattr(importlib.import_module(f"weft.{path}"), name) is same


@pytest.mark.parametrize("path", sorted(public_paths.NAMES))
def test_what_a_path_names_is_there(path: str) -> None:
    importlib.import_module(f"weft.python.{path}")


def test_all_names_of_a_path_can_be_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from weft.python.keras.layers import *", names)
    assert names["Dense"] is tf.keras.layers.Dense


def test_a_name_that_a_path_lacks_is_refused_where_it_is_imported() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Dnse'"):
        exec("from weft.python.layers.core import Dnse", {})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'weft\.contrib\.layers\.python\.layers\.layrs'"):
        importlib.import_module("weft.contrib.layers.python.layers.layrs")


def test_generated_ops_take_positional_arguments() -> None:
    gen_math_ops = importlib.import_module("weft.python.ops.gen_math_ops")
    gen_array_ops = importlib.import_module("weft.python.ops.gen_array_ops")
    filled = gen_array_ops.fill([2, 2], 3.0, name="filled")
    product = gen_math_ops.mat_mul(filled, filled, transpose_b=True)
    assert (filled.op.name, product.op.type) == ("filled", "MatMul")
    with tf.Session() as session:
        assert session.run(product).tolist() == [[18.0, 18.0], [18.0, 18.0]]
    with pytest.raises(TypeError, match="Fill takes 3 arguments"):
        gen_array_ops.fill([2], 3.0, None, 1)
    with pytest.raises(AttributeError, match="there is no such op type"):
        gen_array_ops.file([2], 3.0)


def test_lists_are_leaves_of_the_elements_of_datasets() -> None:
    nest = importlib.import_module("weft.python.data.util.nest")
    value = tf.SparseTensorValue([[0]], [1], [1])
    assert nest.flatten((value, [2, 3], {"b": 1, "a": (4,)})) == [value, [2, 3], 4, 1]
    assert not nest.is_sequence([1])


def test_the_tools_around_functions() -> None:
    tf_inspect = importlib.import_module("weft.python.util.tf_inspect")
    tf_decorator = importlib.import_module("weft.python.util.tf_decorator")

    def add(a: int, b: int = 2, *rest: int) -> int:
        """Add."""
        return a + b

    assert tf_inspect.getargspec(add) == (["a", "b"], "rest", None, (2,))
    made = tf_decorator.make_decorator(add, lambda *given: add(*given) + 1)
    assert (made(1), made.__doc__, tf_decorator.unwrap(made)) == (4, "Add.", ([made], add))


def test_a_function_hides_the_module_of_its_name() -> None:
    package = importlib.import_module("weft.contrib.framework.python.ops")
    assert (
        importlib.import_module("weft.contrib.framework.python.ops.arg_scope").add_arg_scope
        is tf.contrib.framework.add_arg_scope
    )
    package.arg_scope = package.variables  # as the import system does under another name of the package
    assert package.arg_scope is tf.contrib.framework.arg_scope


@pytest.mark.parametrize("family", ["array", "math", "nn", "rnn"])
def test_modules_that_register_gradients_can_be_imported(family: str) -> None:
    module = importlib.import_module(f"weft.python.ops.{family}_grad")
    assert module.__name__ == f"weft.python.ops.{family}_grad"


@pytest.mark.parametrize("path", ["python.tpu.tpu_function", "contrib.tpu.python.tpu.tpu_function"])
def test_a_model_is_told_that_it_is_built_for_no_tpu(path: str) -> None:
    assert importlib.import_module(f"weft.{path}").get_tpu_context().number_of_shards is None


@pytest.mark.parametrize(
    "path",
    [
        "python.tpu.ops.tpu_ops",
        "python.tpu.device_assignment",
        "python.tpu.tpu_feed",
        "contrib.tpu.python.tpu.device_assignment",
    ],
)
def test_what_runs_on_tpus_alone_is_missed_where_it_is_used(path: str) -> None:
    module = importlib.import_module(f"weft.{path}")
    with pytest.raises(AttributeError, match="no attribute 'all_to_all'"):
        _ = module.all_to_all


def test_each_step_of_a_sequence_gets_what_is_known_of_the_whole() -> None:
    rnn = importlib.import_module("weft.contrib.estimator.python.estimator.rnn")
    joined = rnn._concatenate_context_input(
        tf.constant([[[1.0], [2.0]], [[3.0], [4.0]]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])
    )
    with tf.Session() as session:
        assert session.run(joined).tolist() == [[[1, 5, 6], [2, 5, 6]], [[3, 7, 8], [4, 7, 8]]]


def test_what_a_function_takes_is_told_through_its_decorators() -> None:
    inspect = importlib.import_module("weft.python.util.tf_inspect")
    assert inspect.getfullargspec(tf.equal).args == ["x", "y", "name"]
    assert inspect.getargspec(tf.cast) == inspect.ArgSpec(["x", "dtype", "name"], None, None, (None,))


def test_metrics_of_several_classes_are_made_of_the_matrix_so_far():
    count = importlib.import_module("weft.python.ops.metrics_impl")._streaming_confusion_matrix
    with tf.Graph().as_default(), tf.Session() as sess:
        matrix, update = count(tf.constant([[0, 1], [2, 1]]), tf.constant([[0, 2], [2, 1]]), 3, tf.constant([[1, 1], [1, 2]]))
        sess.run(tf.local_variables_initializer())
        once = [[1, 0, 0], [0, 2, 1], [0, 0, 1]]
        assert sess.run(update).tolist() == once
        sess.run(update)
        assert sess.run(matrix).tolist() == [[2 * number for number in row] for row in once]


@pytest.mark.parametrize(("path", "doors"), contrib_paths.FURTHER.items())
def test_the_paths_inside_contrib_that_are_no_files_have_the_names_of_their_package(path: str, doors: str) -> None:
    module = importlib.import_module(f"weft.{path}")
    door = importlib.import_module("weft" if doors == "." else f"weft.{doors}")
    name = next(name for name in vars(door) if not name.startswith("_") and name not in ("annotations", "TYPE_CHECKING"))
    assert getattr(module, name) is getattr(door, name)


def test_the_paths_inside_contrib_that_are_no_files_are_imported_from_their_package() -> None:
    pairs = [path.rpartition(".") for path in contrib_paths.FURTHER]
    program = "".join(f"from weft.{package} import {name}\nassert {name} is not None\n" for package, _, name in pairs)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_programs_find_the_classes_of_feature_columns_by_their_former_names() -> None:
    columns = importlib.import_module("weft.python.feature_column.feature_column")
    number = tf.feature_column.numeric_column("x")
    embedding = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_hash_bucket("y", 5), 2)
    assert isinstance(number, columns._NumericColumn)
    assert isinstance(embedding, columns._EmbeddingColumn)
    assert isinstance(embedding, columns._DenseColumn)


def test_layers_arguments_are_put_into_the_words_of_ops() -> None:
    utils = importlib.import_module("weft.python.layers.utils")
    assert utils.convert_data_format("channels_first", 4) == "NCHW"
    assert utils.convert_data_format("channels_last", 5) == "NDHWC"
    assert (utils.normalize_padding("SAME"), utils.normalize_data_format("Channels_Last")) == ("same", "channels_last")
    assert utils.conv_input_length(3, 2, "valid", 2) == 6
    assert utils.deconv_output_length(3, 4, "valid", 2) == 8
    with pytest.raises(ValueError, match="Invalid data_format: NCHW"):
        utils.convert_data_format("NCHW", 4)
    with pytest.raises(ValueError, match="padding"):
        utils.normalize_padding("causal")


def test_exported_names_are_noted_at_the_function() -> None:
    exported = importlib.import_module("weft.python.util.tf_export")

    @exported.tf_export("nn.twice", v1=["twice"])
    def twice(x: int) -> int:
        return 2 * x

    assert (twice(2), twice._tf_api_names, twice._tf_api_names_v1) == (4, ("nn.twice",), ("twice",))
    with pytest.raises(TypeError, match="only takes keyword args"):
        exported.kwarg_only(twice)(2)
