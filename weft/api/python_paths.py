"""The modules that programs import by their path inside TensorFlow, as `tensorflow.python.PATH`, and what each is in weft.

`ALIASES` names the weft module that a path stands for. `DOORS` names the public modules, below `weft`, in which the names of a
path are looked up, one after the other; `.` is `weft` itself. `NAMES` lists names that stand elsewhere: public ones with their
namespace below `weft`, others as `module:name`. The last part is the name in the module of that path, but for `place=name`.
"""

from __future__ import annotations

from typing import Final

from weft.api import column_paths, library_paths, public_paths, testing_paths, tool_paths

_GENERATED: Final = (
    "array audio bitwise boosted_trees candidate_sampling collective control_flow ctc data_flow dataset experimental_dataset "
    "functional image io linalg list logging lookup manip math nn parsing ragged_array ragged_conversion ragged_math random "
    "resource_variable rnn script sdca set sparse spectral state stateful_random stateless_random string summary training"
)

_KERAS: Final = (
    "activations callbacks constraints initializers losses metrics models optimizers regularizers datasets.cifar10 "
    "datasets.fashion_mnist datasets.imdb datasets.mnist preprocessing.image preprocessing.sequence preprocessing.text"
)

ALIASES: Final = {
    **{f"ops.gen_{family}_ops": "weft.api.generated_ops" for family in _GENERATED.split()},
    **{f"keras.{module}": f"weft.api.keras.{module}" for module in _KERAS.split()},
    "client.device_lib": "weft.client.device_lib",
    "client.timeline": "weft.client.timeline",
    "eager.monitoring": "weft.events.monitoring",
    "estimator.run_config": "weft.estimators.run_config",
    "estimator.training": "weft.estimators.training",
    "framework.dtypes": "weft.framework.types.dtypes",
    "framework.errors": "weft.errors",
    "framework.errors_impl": "weft.errors",
    "framework.graph_util": "weft.api.graph_util",
    "framework.tensor_shape": "weft.framework.types.tensor_shape",
    "ops.control_flow_util": "weft.ops.control_flow.compiled_contexts",
    "platform.app": "weft.platform.app",
    "platform.flags": "weft.platform.flags",
    "lib.io.file_io": "weft.platform.files.file_io",
    "lib.io.tf_record": "weft.api.python_io",
    "platform.gfile": "weft.platform.files.gfile",
    "profiler.model_analyzer": "weft.api.profiler",
    "saved_model.nested_structure_coder": "weft.training.saved_model.structure_coder",
    "summary.summary": "weft.api.summary",
    "platform.tf_logging": "weft.platform.logs.tf_logging",
    "training.coordinator": "weft.training.coordinator",
    "training.device_setter": "weft.training.device_setter",
    "training.optimizer": "weft.training.optimizers.optimizer",
    "training.queue_runner": "weft.training.queue_runner",
    "training.session_manager": "weft.training.sessions.session_manager",
    "training.session_run_hook": "weft.training.hooks.session_run_hook",
    "training.slot_creator": "weft.training.optimizers.slot_creator",
    "training.supervisor": "weft.training.sessions.supervisor",
    "training.gen_training_ops": "weft.api.generated_ops",
    "training.training": "weft.api.train",
    "training.training_ops": "weft.ops.training.update_functions",
    "training.training_util": "weft.training.training_util",
    "util.compat": "weft.api.compat",
    "util.deprecation": "weft.platform.logs.deprecation",
    "util.function_utils": "weft.framework.compat.function_signatures",
} | tool_paths.ALIASES

_NAMES: Final = {
    "ops.gradients": "weft.autodiff.jacobians:hessian_vector_product=_hessian_vector_product",
    "ops.gradients_impl": "weft.autodiff.jacobians:hessian_vector_product=_hessian_vector_product",
    "ops.losses.losses_impl": "weft.models.losses:num_present=_num_present",
    "ops.parallel_for.gradients": "weft.autodiff.jacobians:batch_jacobian weft.autodiff.jacobians:jacobian",
    "util.lazy_loader": "weft.framework.compat.lazy_loader:LazyLoader",
    "debug": (
        "weft.client.debugger:has_inf_or_nan weft.client.debugger:DumpingDebugHook weft.client.debugger:LocalCLIDebugHook "
        "weft.client.debugger:TensorBoardDebugHook weft.client.debugger:DumpingDebugWrapperSession "
        "weft.client.debugger:LocalCLIDebugWrapperSession weft.client.debugger:TensorBoardDebugWrapperSession"
    ),
    "debug.lib.debug_data": "weft.client.debugger:has_inf_or_nan",
    "debug.wrappers.hooks": (
        "weft.client.debugger:DumpingDebugHook weft.client.debugger:LocalCLIDebugHook weft.client.debugger:TensorBoardDebugHook"
    ),
    "debug.wrappers.local_cli_wrapper": "weft.client.debugger:LocalCLIDebugWrapperSession",
    "debug.wrappers.dumping_wrapper": "weft.client.debugger:DumpingDebugWrapperSession",
    "saved_model.loader_impl": "weft.training.saved_model.inspection:read_saved_model=parse_saved_model",
    "estimator.canned.parsing_utils": "estimator.classifier_parse_example_spec estimator.regressor_parse_example_spec",
    "estimator.head.base_head": "estimator.Head",
    "estimator.head.binary_class_head": "estimator.BinaryClassHead",
    "estimator.head.multi_class_head": "estimator.MultiClassHead",
    "estimator.head.multi_head": "estimator.MultiHead",
    "estimator.head.multi_label_head": "estimator.MultiLabelHead",
    "estimator.head.regression_head": (
        "estimator.LogisticRegressionHead estimator.PoissonRegressionHead estimator.RegressionHead"
    ),
    "keras.backend_config": (
        "weft.networks.state.defaults:epsilon weft.networks.state.defaults:floatx "
        "weft.networks.state.defaults:image_data_format weft.networks.state.defaults:set_epsilon "
        "weft.networks.state.defaults:set_floatx weft.networks.state.defaults:set_image_data_format"
    ),
    "keras.backend": "get_default_graph=get_graph weft.networks.state.graph_state:track_variable",
    "keras.engine.network": "weft.networks.engine.network:Network",
    "distribute.distribute_coordinator": "contrib.distribute.run_standard_tensorflow_server",
    "training.saving.saveable_object": (
        "weft.ops.variables.saveable_object:SaveSpec weft.ops.variables.saveable_object:SaveableObject"
    ),
    "keras.utils.conv_utils": (
        "weft.models.functional.conv_arguments:conv_input_length weft.models.functional.call_choices:conv_output_length "
        "weft.models.functional.conv_arguments:convert_data_format weft.models.functional.conv_arguments:deconv_output_length "
        "weft.models.functional.conv_arguments:normalize_data_format weft.models.functional.conv_arguments:normalize_padding "
        "weft.models.layers.conv:per_axis=normalize_tuple"
    ),
    "util.tf_export": (
        "weft.framework.compat.exported_names:api_export weft.framework.compat.exported_names:estimator_export "
        "weft.framework.compat.exported_names:keras_export weft.framework.compat.exported_names:kwarg_only "
        "weft.framework.compat.exported_names:tf_export"
    ),
    "ops.inplace_ops": (
        "weft.ops.array.rows_in_place:alias_inplace_add weft.ops.array.rows_in_place:alias_inplace_sub "
        "weft.ops.array.rows_in_place:alias_inplace_update weft.ops.array.rows_in_place:alias_inplace_add=inplace_add "
        "weft.ops.array.rows_in_place:alias_inplace_sub=inplace_sub "
        "weft.ops.array.rows_in_place:alias_inplace_update=inplace_update"
    ),
    "framework.func_graph": "weft.framework.graphs.func_graph:FuncGraph",
    "framework.sparse_tensor": "weft.framework.composites.sparse_tensor:is_sparse",
    "framework.device": "weft.framework.devices.device_spec:canonical_name weft.framework.devices.device_spec:merge_device",
    "data.ops.dataset_ops": (
        "data.Dataset=DatasetV1 data.Dataset=DatasetV2 data.get_output_classes=get_legacy_output_classes "
        "data.get_output_shapes=get_legacy_output_shapes data.get_output_types=get_legacy_output_types"
    ),
    "ops.lookup_ops": "lookup.StaticHashTable=StaticHashTableV1",
    "client.session": "weft.client.session:BaseSession weft.client.conversions:register_session_run_conversion_functions",
    "eager.backprop": "GradientTape",
    "eager.context": ("executing_eagerly executing_eagerly=in_eager_mode weft.framework.compat.behavior:in_graph_mode"),
    "estimator.canned.head": (
        "weft.estimators.canned.head:Head=_Head weft.estimators.canned.head:LossSpec "
        "weft.estimators.canned.class_heads:BinaryClassHead=_binary_logistic_head_with_sigmoid_cross_entropy_loss "
        "weft.estimators.canned.class_heads:MultiClassHead=_multi_class_head_with_softmax_cross_entropy_loss "
        "weft.estimators.canned.regression_head:RegressionHead=_regression_head"
    ),
    "estimator.canned.metric_keys": "weft.estimators.canned.keys:MetricKeys",
    "estimator.canned.optimizers": "weft.estimators.canned.optimizers:get_optimizer_instance",
    "estimator.canned.prediction_keys": "weft.estimators.canned.keys:PredictionKeys",
    "estimator.util": (
        "weft.framework.compat.function_signatures:fn_args weft.estimators.input_function:parse_input_fn_result"
    ),
    "framework.device_spec": "DeviceSpec=DeviceSpecV1 DeviceSpec=DeviceSpecV2",
    "layers.base": "weft.models.layers.input_spec:InputSpec",
    "framework.ops": (
        "weft.models.functional.graph_helpers:get_graph_from_inputs=_get_graph_from_inputs weft.framework.unique_numbers:uid "
        "weft.framework.nodes.eager_tensor:EagerTensor weft.framework.graphs.collection_proto:register_proto_function "
        "weft.framework.importing.name_prefix:prepend_name_scope weft.framework.importing.name_prefix:strip_name_scope "
        "weft.framework.building.graph_functions:inside_function "
        "device=device_v2 convert_to_tensor=internal_convert_to_tensor weft.ops.variables.tensor_kinds:TensorLike=_TensorLike "
        "weft.ops.variables.tensor_kinds:is_dense_tensor_like weft.ops.variables.tensor_kinds:register_dense_tensor_like_type "
        "weft.ops.variables.tensor_kinds:as_graph_element=_as_graph_element"
    ),
    "framework.function": "weft.autodiff.defined_function:Defun",
    "framework.meta_graph": (
        "weft.training.saving.meta_graph:copy_scoped_meta_graph weft.training.saving.meta_graph:export_scoped_meta_graph "
        "weft.training.saving.meta_graph:import_scoped_meta_graph weft.training.saving.meta_graph:read_meta_graph_file "
        "weft.training.saving.meta_graph:import_scoped_meta_graph_with_return_elements"
    ),
    "framework.tensor_util": (
        "weft.framework.nodes.constant_value:told_value=constant_value "
        "weft.framework.nodes.constant_value:constant_value_as_shape"
    ),
    "layers.convolutional": (
        "layers.Conv1D=Convolution1D layers.Conv2D=Convolution2D layers.Conv3D=Convolution3D "
        "layers.SeparableConv2D=SeparableConvolution2D layers.Conv2DTranspose=Convolution2DTranspose "
        "layers.Conv2DTranspose=Deconvolution2D layers.Conv3DTranspose=Convolution3DTranspose layers.conv2d=convolution2d "
        "layers.conv2d_transpose=deconv2d layers.separable_conv2d=separable_convolution2d"
    ),
    "layers.utils": (
        "weft.models.functional.static_choices:constant_value weft.models.functional.call_choices:conv_output_length "
        "weft.models.layers.conv:per_axis=normalize_tuple weft.models.functional.call_choices:smart_cond "
        "weft.models.functional.conv_arguments:conv_input_length weft.models.functional.conv_arguments:convert_data_format "
        "weft.models.functional.conv_arguments:deconv_output_length "
        "weft.models.functional.conv_arguments:normalize_data_format weft.models.functional.conv_arguments:normalize_padding"
    ),
    "ops.confusion_matrix": "weft.models.metrics.confusion_matrix:remove_squeezable_dimensions",
    "ops.control_flow_ops": (
        "weft.ops.control_flow.ordering:with_dependencies weft.ops.control_flow.switching:merge "
        "weft.ops.control_flow.switching:switch"
    ),
    "ops.array_ops": (
        "weft.ops.array.shape_ops:shape_internal weft.ops.array.shape_ops:size_internal reverse=reverse_v2 "
        "weft.ops.array.identity:prevent_gradient weft.ops.array.batch_gather:batch_gather_nd"
    ),
    "ops.data_flow_ops": (
        "contrib.staging.StagingArea contrib.framework.RecordInput weft.ops.data_flow.barrier:Barrier "
        "weft.ops.data_flow.map_staging:MapStagingArea"
    ),
    "ops.init_ops": (
        "weft.ops.variables.initializers:Initializer weft.ops.variables.initializers:fans=_compute_fans "
        "initializers.zeros=Zeros initializers.ones=Ones initializers.constant=Constant "
        "initializers.random_normal=RandomNormal initializers.random_uniform=RandomUniform "
        "initializers.truncated_normal=TruncatedNormal initializers.variance_scaling=VarianceScaling "
        "initializers.orthogonal=Orthogonal initializers.identity=Identity initializers.identity=identity_initializer "
        "contrib.framework.convolutional_delta_orthogonal contrib.framework.convolutional_orthogonal_1d "
        "contrib.framework.convolutional_orthogonal_2d contrib.framework.convolutional_orthogonal_3d "
        "initializers.uniform_unit_scaling=UniformUnitScaling initializers.glorot_uniform=GlorotUniform "
        "initializers.glorot_normal=GlorotNormal"
    ),
    "ops.logging_ops": "weft.ops.control_flow.assertion:print_v2",
    "ops.resource_variable_ops": (
        "ResourceVariable weft.ops.variables.resource_variable:is_resource_variable "
        "weft.ops.state.resource_state:variable_shape"
    ),
    "ops.rnn": "weft.api.rnn_cell=rnn_cell_impl weft.models.rnn.stacked:transpose_batch_time=_transpose_batch_time",
    "ops.rnn_cell_impl": (
        "weft.models.rnn.cell:BIAS_NAME=_BIAS_VARIABLE_NAME weft.models.rnn.cell:WEIGHTS_NAME=_WEIGHTS_VARIABLE_NAME "
        "weft.models.rnn.cell:assert_like_rnn_cell=assert_like_rnncell weft.models.rnn.sizes:joined_shape=_concat "
        "weft.models.rnn.cell:zero_state_tensors=_zero_state_tensors nn.rnn_cell.RNNCell=LayerRNNCell"
    ),
    "ops.script_ops": "py_function=eager_py_func",
    "ops.string_ops": "strings.format=string_format",
    "ops.variable_scope": "Variable=variable",
    "ops.variables": "weft.ops.variables.partitioned_variable:PartitionedVariable Variable=VariableV1",
    "ops.weights_broadcast_ops": (
        "weft.models.weights_broadcast:assert_broadcastable weft.models.weights_broadcast:broadcast_weights"
    ),
    "tf2": "weft.framework.compat.behavior:enabled",
    "training.monitored_session": (
        "weft.training.sessions.coordinated_session:CoordinatedSession=_CoordinatedSession "
        "weft.training.sessions.hooked_session:HookedSession=_HookedSession "
        "weft.training.sessions.recoverable_session:RecoverableSession=_RecoverableSession"
    ),
    "training.checkpoint_management": "weft.checkpoint.checkpoint_state:meta_graph_filename",
    "training.basic_session_run_hooks": "weft.training.hooks.hook_timer:NeverTriggerTimer",
    "training.evaluation": (
        "weft.training.sessions.evaluation:StopAfterNEvalsHook=_StopAfterNEvalsHook "
        "weft.training.sessions.evaluation:evaluate_once=_evaluate_once "
        "weft.training.sessions.evaluation:get_or_create_eval_step=_get_or_create_eval_step"
    ),
    "tpu.tpu_function": "weft.estimators.tpu.shards:get_tpu_context",
    "training.moving_averages": (
        "weft.ops.variables.moving_average:assign_moving_average "
        "weft.training.optimizers.moving_averages:weighted_moving_average"
    ),
    "util.all_util": "weft.framework.compat.decorators:make_all weft.framework.compat.decorators:remove_undocumented",
    "util.nest": "weft.framework.nested.nest:is_named_tuple=_is_namedtuple",
    "util.tf_contextlib": "contextlib:contextmanager",
    "util.tf_decorator": "weft.framework.compat.decorators:make_decorator weft.framework.compat.decorators:unwrap",
    "util.tf_inspect": (
        "weft.framework.compat.decorators:ArgSpec weft.framework.compat.decorators:getargspec inspect:getdoc inspect:getfile "
        "weft.framework.compat.decorators:getfullargspec inspect:getmembers inspect:getmodule inspect:getmro inspect:getsource "
        "inspect:isbuiltin inspect:isclass inspect:isfunction inspect:isgenerator inspect:isgeneratorfunction inspect:ismethod "
        "inspect:ismodule inspect:isroutine inspect:stack inspect:currentframe inspect:getcallargs inspect:getsourcefile "
        "inspect:getsourcelines inspect:isframe inspect:getframeinfo"
    ),
}
_LISTS: Final = (_NAMES, column_paths.NAMES, library_paths.NAMES, public_paths.NAMES, testing_paths.NAMES, tool_paths.NAMES)
NAMES: Final = {path: " ".join(names[path] for names in _LISTS if path in names) for path in set().union(*_LISTS)}

# The doors, and the paths whose names they have.
_PATHS_OF: Final = {
    ".": (
        "client.session framework.constant_op framework.device framework.device_spec framework.importer "
        "framework.indexed_slices framework.load_library framework.ops framework.random_seed framework.tensor_spec "
        "framework.tensor_util ops.clip_ops ops.confusion_matrix ops.control_flow_ops ops.custom_gradient "
        "ops.functional_ops ops.gradients ops.gradients_impl ops.histogram_ops ops.init_ops_v2 ops.map_fn ops.numerics "
        "ops.partitioned_variables ops.script_ops ops.session_ops ops.sort_ops ops.standard_ops ops.state_ops "
        "ops.template ops.tensor_array_ops ops.variable_scope ops.variables framework.versions"
    ),
    ". sparse": "framework.sparse_tensor ops.sparse_ops",
    ". io train": "framework.graph_io",
    ". manip quantization": "ops.array_ops",
    ". math linalg": "ops.math_ops ops.special_math_ops",
    ". linalg": "ops.linalg.linalg ops.linalg.linalg_impl ops.linalg_ops ops.linalg_ops_impl",
    ". debugging": "ops.check_ops ops.control_flow_assert",
    ". initializers": "ops.init_ops",
    ". io": "ops.io_ops ops.parsing_ops",
    ". queue io": "ops.data_flow_ops",
    ". random": "ops.random_ops",
    "random": "ops.stateless_random_ops",
    ". strings": "ops.string_ops",
    ". ragged": "ops.ragged.ragged_tensor",
    "ragged": (
        "ops.ragged.ragged_array_ops ops.ragged.ragged_concat_ops ops.ragged.ragged_factory_ops "
        "ops.ragged.ragged_functional_ops ops.ragged.ragged_math_ops ops.ragged.ragged_tensor_value"
    ),
    ". contrib.lookup lookup lookup.experimental": "ops.lookup_ops",
    ". summary": "ops.logging_ops",
    "contrib.summary": "ops.summary_ops_v2",
    "nn math": "ops.candidate_sampling_ops ops.ctc_ops ops.nn ops.nn_impl ops.nn_ops",
    "nn": "ops.embedding_ops ops.rnn",
    "rnn_cell": "ops.rnn_cell ops.rnn_cell_impl",
    "image io": "ops.image_ops ops.image_ops_impl",
    "losses": "ops.losses.losses ops.losses.losses_impl ops.losses.util",
    "metrics": "ops.metrics ops.metrics_impl",
    "sets": "ops.sets",
    "signal": (
        "ops.signal.dct_ops ops.signal.fft_ops ops.signal.mel_ops ops.signal.mfcc_ops ops.signal.reconstruction_ops "
        "ops.signal.shape_ops ops.signal.signal ops.signal.spectral_ops ops.signal.window_ops ops.spectral_ops"
    ),
    "distributions contrib.distributions": "ops.distributions.util",
    "distributions": (
        "ops.distributions.bernoulli ops.distributions.beta ops.distributions.categorical ops.distributions.dirichlet "
        "ops.distributions.dirichlet_multinomial ops.distributions.distribution ops.distributions.distributions "
        "ops.distributions.exponential ops.distributions.gamma ops.distributions.kullback_leibler "
        "ops.distributions.laplace ops.distributions.multinomial ops.distributions.normal ops.distributions.student_t "
        "ops.distributions.uniform"
    ),
    "test": "ops.gradient_checker platform.benchmark platform.googletest platform.test",
    "layers": "layers.base layers.convolutional layers.core layers.layers layers.normalization layers.pooling",
    "feature_column": (
        "feature_column.feature_column feature_column.feature_column_lib feature_column.feature_column_v2 "
        "feature_column.sequence_feature_column"
    ),
    "data": "data",
    "data data.experimental": (
        "data.experimental.ops.batching data.experimental.ops.cardinality data.experimental.ops.counter "
        "data.experimental.ops.error_ops data.experimental.ops.get_single_element data.experimental.ops.parsing_ops "
        "data.experimental.ops.random_ops data.experimental.ops.take_while_ops data.experimental.ops.unique "
        "data.experimental.ops.writers data.experimental.ops.grouping data.experimental.ops.interleave_ops "
        "data.experimental.ops.iterator_ops data.experimental.ops.optimization data.experimental.ops.prefetching_ops "
        "data.experimental.ops.readers data.experimental.ops.resampling data.experimental.ops.scan_ops "
        "data.experimental.ops.shuffle_ops data.ops.dataset_ops data.ops.iterator_ops data.ops.readers"
    ),
    "contrib.nest": "util.nest",
    "distribute distribute.experimental contrib.distribute": (
        "distribute.cross_device_ops distribute.distribute_lib distribute.distribution_strategy_context "
        "distribute.reduce_util distribute.values training.distribute training.distribution_strategy_context"
    ),
    "distribute distribute.experimental": (
        "distribute.collective_all_reduce_strategy distribute.mirrored_strategy distribute.one_device_strategy "
        "distribute.parameter_server_strategy"
    ),
    "distribute.cluster_resolver contrib.cluster_resolver": (
        "distribute.cluster_resolver distribute.cluster_resolver.slurm_cluster_resolver "
        "distribute.cluster_resolver.tfconfig_cluster_resolver"
    ),
    "estimator.tpu": "estimator.tpu estimator.tpu.tpu_config estimator.tpu.tpu_context estimator.tpu.tpu_estimator",
    "contrib.tpu tpu": "tpu.tpu_config tpu.tpu_context tpu.tpu_estimator tpu.tpu_optimizer",
    "estimator": (
        "estimator.canned.baseline estimator.canned.dnn estimator.canned.dnn_linear_combined "
        "estimator.canned.linear estimator.estimator estimator.estimator_lib estimator.exporter estimator.model_fn"
    ),
    "estimator.inputs": "estimator.inputs.inputs estimator.inputs.numpy_io estimator.inputs.pandas_io",
    "estimator.export": "estimator.export.export estimator.export.export_lib estimator.export.export_output",
    "keras": "keras",
    "keras.layers layers": (
        "keras.engine.base_layer keras.engine.input_spec keras.layers.cudnn_recurrent keras.layers.advanced_activations "
        "keras.layers.convolutional keras.layers.core keras.layers.embeddings keras.layers.merge "
        "keras.layers.normalization keras.layers.pooling keras.layers.recurrent keras.layers.wrappers"
    ),
    "keras.backend": "keras.backend",
    "keras.layers": "keras.layers",
    "keras.models keras": "keras.engine.input_layer keras.engine.sequential keras.engine.training",
    "keras.utils": (
        "keras.utils keras.utils.data_utils keras.utils.generic_utils keras.utils.np_utils keras.utils.tf_utils "
        "keras.utils.vis_utils"
    ),
    "graph_util": "framework.graph_util_impl tools.optimize_for_inference_lib",
    "saved_model saved_model.builder": "saved_model.builder saved_model.builder_impl",
    "saved_model saved_model.loader": "saved_model.loader saved_model.loader_impl",
    "saved_model saved_model.signature_def_utils": "saved_model.signature_def_utils saved_model.signature_def_utils_impl",
    "saved_model saved_model.utils": "saved_model.utils saved_model.utils_impl",
    "saved_model": "saved_model.saved_model saved_model.simple_save",
    "saved_model.tag_constants": "saved_model.tag_constants",
    "saved_model.signature_constants": "saved_model.signature_constants",
    "saved_model.constants": "saved_model.constants",
    "saved_model.main_op": "saved_model.main_op saved_model.main_op_impl",
    "summary": "summary.plugin_asset summary.writer.writer summary.writer.writer_cache",
    "train": (
        "summary.summary_iterator training.adadelta training.adagrad training.adagrad_da training.adam training.basic_loops "
        "training.basic_session_run_hooks training.checkpoint_management training.checkpoint_utils training.evaluation "
        "training.ftrl training.gradient_descent training.input training.learning_rate_decay training.momentum "
        "training.monitored_session training.moving_averages training.proximal_adagrad training.proximal_gradient_descent "
        "training.queue_runner_impl training.rmsprop training.saver training.server_lib training.summary_io "
        "training.sync_replicas_optimizer training.tracking.util training.warm_starting_util training.checkpoint_state_pb2"
    ),
    "profiler": "profiler.option_builder",
    "bitwise": "ops.bitwise_ops",
    "initializers": "ops.initializers_ns",
    "manip": "ops.manip_ops",
    "python_io": "lib.io.python_io",
    "keras.models": "keras.engine.saving keras.saving",
    "keras.estimator": "keras.estimator",
    "compat": "util.compat_internal",
    "keras.optimizers": "keras.optimizer_v2.adam",
    # They are imported to register gradients, which weft does with each op, or with what weft has no use for: Python's code is
    # not translated, and there are no TPUs. These have no names, and tell so who asks for one.
    "": (
        "autograph.converters.break_statements autograph.converters.continue_statements "
        "autograph.converters.return_statements autograph.core.converter autograph.core.naming autograph.pyct.anno "
        "autograph.pyct.common_transformers.anf autograph.pyct.compiler autograph.pyct.inspect_utils autograph.pyct.parser "
        "autograph.pyct.qual_names autograph.pyct.templates ops.linalg.linear_operator_addition "
        "ops.array_grad ops.control_flow_grad ops.cudnn_rnn_grad ops.data_flow_grad ops.image_grad ops.linalg_grad "
        "ops.manip_grad ops.math_grad ops.nn_grad ops.optional_grad ops.random_grad ops.rnn_grad ops.sparse_grad "
        "ops.state_grad ops.tensor_array_grad tpu.device_assignment tpu.ops tpu.ops.tpu_ops tpu.tpu tpu.tpu_feed"
    ),
}

DOORS: Final = {path: doors for doors, paths in _PATHS_OF.items() for path in paths.split()}
