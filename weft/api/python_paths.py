"""The modules that programs import by their path inside TensorFlow, as `tensorflow.python.PATH`, and what each is in weft.

`ALIASES` names the weft module that a path stands for. `NAMES` lists the names that a path gathers: public ones with their
namespace below `weft`, others as `module:name`. The last part is the name in the gathered module.
"""

from __future__ import annotations

from typing import Final

ALIASES: Final = {
    "client.device_lib": "weft.client.device_lib",
    "client.timeline": "weft.client.timeline",
    "estimator.run_config": "weft.estimators.run_config",
    "estimator.training": "weft.estimators.training",
    "framework.dtypes": "weft.framework.dtypes",
    "framework.errors": "weft.errors",
    "framework.graph_util": "weft.api.graph_util",
    "framework.tensor_shape": "weft.framework.tensor_shape",
    "keras.activations": "weft.api.keras.activations",
    "keras.backend": "weft.api.keras.backend",
    "keras.callbacks": "weft.api.keras.callbacks",
    "keras.constraints": "weft.api.keras.constraints",
    "keras.initializers": "weft.api.keras.initializers",
    "keras.layers": "weft.api.keras.layers",
    "keras.losses": "weft.api.keras.losses",
    "keras.metrics": "weft.api.keras.metrics",
    "keras.models": "weft.api.keras.models",
    "keras.optimizers": "weft.api.keras.optimizers",
    "keras.regularizers": "weft.api.keras.regularizers",
    "keras.utils": "weft.api.keras.utils",
    "keras.datasets.cifar10": "weft.api.keras.datasets.cifar10",
    "keras.datasets.fashion_mnist": "weft.api.keras.datasets.fashion_mnist",
    "keras.datasets.imdb": "weft.api.keras.datasets.imdb",
    "keras.datasets.mnist": "weft.api.keras.datasets.mnist",
    "keras.preprocessing.sequence": "weft.api.keras.preprocessing.sequence",
    "keras.preprocessing.text": "weft.api.keras.preprocessing.text",
    "ops.rnn_cell": "weft.api.rnn_cell",
    "platform.app": "weft.platform.app",
    "platform.flags": "weft.platform.flags",
    "lib.io.file_io": "weft.platform.file_io",
    "lib.io.tf_record": "weft.api.python_io",
    "platform.gfile": "weft.platform.gfile",
    "profiler.model_analyzer": "weft.client.model_analyzer",
    "summary.summary": "weft.api.summary",
    "platform.tf_logging": "weft.platform.tf_logging",
    "training.coordinator": "weft.training.coordinator",
    "training.device_setter": "weft.training.device_setter",
    "training.optimizer": "weft.training.optimizers.optimizer",
    "training.queue_runner": "weft.training.queue_runner",
    "training.session_manager": "weft.training.sessions.session_manager",
    "training.session_run_hook": "weft.training.hooks.session_run_hook",
    "training.slot_creator": "weft.training.optimizers.slot_creator",
    "training.supervisor": "weft.training.sessions.supervisor",
    "training.training": "weft.api.train",
    "training.training_ops": "weft.ops.training.update_functions",
    "training.training_util": "weft.training.training_util",
    "util.compat": "weft.api.compat",
    "util.function_utils": "weft.framework.function_signatures",
    "util.nest": "weft.api.contrib.nest",
}

NAMES: Final = {
    "client.session": (
        "weft.client.session:BaseSession InteractiveSession weft.client.conversions:register_session_run_conversion_functions "
        "Session"
    ),
    "estimator.estimator": "estimator.Estimator estimator.VocabInfo estimator.WarmStartSettings",
    "estimator.export.export": (
        "estimator.export.build_parsing_serving_input_receiver_fn estimator.export.build_raw_serving_input_receiver_fn "
        "estimator.export.ServingInputReceiver estimator.export.TensorServingInputReceiver"
    ),
    "estimator.exporter": ("estimator.BestExporter estimator.Exporter estimator.FinalExporter estimator.LatestExporter"),
    "estimator.inputs.numpy_io": "estimator.inputs.numpy_input_fn",
    "estimator.inputs.pandas_io": "estimator.inputs.pandas_input_fn",
    "estimator.model_fn": "estimator.EstimatorSpec estimator.ModeKeys",
    "framework.device": "DeviceSpec",
    "framework.ops": (
        "add_to_collection add_to_collections colocate_with container control_dependencies convert_to_tensor device "
        "get_collection get_collection_ref get_default_graph get_default_session Graph GraphKeys IndexedSlices init_scope "
        "name_scope NotDifferentiable op_scope Operation RegisterGradient reset_default_graph Tensor"
    ),
    "keras": "keras.Input keras.Model keras.Sequential",
    "ops.array_ops": (
        "boolean_mask concat expand_dims fill gather gather_nd identity one_hot ones ones_like pad placeholder "
        "placeholder_with_default rank reshape reverse reverse_sequence sequence_mask shape size slice split squeeze "
        "stack stop_gradient strided_slice tile transpose unique unstack where zeros zeros_like"
    ),
    "ops.clip_ops": "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm",
    "ops.control_flow_ops": "case cond group no_op weft.ops.control_flow.ordering:with_dependencies tuple while_loop",
    "ops.data_flow_ops": (
        "ConditionalAccumulator ConditionalAccumulatorBase dynamic_partition dynamic_stitch FIFOQueue PaddingFIFOQueue "
        "PriorityQueue QueueBase RandomShuffleQueue SparseConditionalAccumulator contrib.staging.StagingArea"
    ),
    "ops.init_ops": (
        "constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer "
        "orthogonal_initializer random_normal_initializer random_uniform_initializer truncated_normal_initializer "
        "uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer"
    ),
    "ops.io_ops": (
        "FixedLengthRecordReader IdentityReader matching_files read_file ReaderBase TextLineReader TFRecordReader "
        "WholeFileReader write_file"
    ),
    "ops.logging_ops": "Assert Print weft.ops.control_flow.assertion:print_v2",
    "ops.lookup_ops": (
        "contrib.lookup.FastHashSpec contrib.lookup.HasherSpec contrib.lookup.IdTableWithHashBuckets "
        "contrib.lookup.index_table_from_file contrib.lookup.index_table_from_tensor contrib.lookup.index_to_string "
        "contrib.lookup.index_to_string_table_from_file contrib.lookup.index_to_string_table_from_tensor "
        "lookup.KeyValueTensorInitializer contrib.lookup.LookupInterface contrib.lookup.MutableDenseHashTable "
        "lookup.experimental.MutableHashTable lookup.StaticHashTable lookup.StaticVocabularyTable "
        "contrib.lookup.string_to_index contrib.lookup.StrongHashSpec contrib.lookup.TableInitializerBase "
        "tables_initializer contrib.lookup.TextFileIdTableInitializer lookup.TextFileIndex lookup.TextFileInitializer "
        "contrib.lookup.TextFileStringTableInitializer"
    ),
    "ops.math_ops": (
        "abs add add_n argmax argmin cast ceil cos cumprod cumsum div divide equal exp floor floordiv greater "
        "greater_equal less less_equal log logical_and logical_not logical_or matmul maximum minimum multiply negative "
        "not_equal pow range reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum round "
        "scalar_mul segment_sum sigmoid sign sin sqrt square squared_difference subtract tanh tensordot to_float to_int32 "
        "to_int64 truediv unsorted_segment_sum"
    ),
    "ops.random_ops": "multinomial random_crop random_gamma random_normal random_shuffle random_uniform truncated_normal",
    "ops.rnn": "nn.bidirectional_dynamic_rnn nn.dynamic_rnn nn.static_bidirectional_rnn nn.static_rnn",
    "ops.script_ops": "numpy_function py_func py_function",
    "ops.state_ops": (
        "assign assign_add assign_sub batch_scatter_update is_variable_initialized scatter_add scatter_sub scatter_update"
    ),
    "ops.string_ops": (
        "as_string reduce_join regex_replace string_join string_split string_strip string_to_hash_bucket_fast "
        "string_to_number substr"
    ),
    "ops.variable_scope": (
        "AUTO_REUSE get_local_variable get_variable get_variable_scope variable_op_scope variable_scope VariableScope"
    ),
    "ops.variables": (
        "global_variables global_variables_initializer local_variables local_variables_initializer model_variables "
        "moving_average_variables weft.ops.variables.partitioned_variable:PartitionedVariable "
        "report_uninitialized_variables trainable_variables Variable variables_initializer"
    ),
    "pywrap_tensorflow": "train.NewCheckpointReader weft.events.events_writer:EventsWriter",
    "training.basic_session_run_hooks": (
        "train.CheckpointSaverHook train.CheckpointSaverListener train.FeedFnHook train.FinalOpsHook "
        "train.GlobalStepWaiterHook weft.training.hooks.hook_timer:NeverTriggerTimer train.LoggingTensorHook "
        "train.NanLossDuringTrainingError train.NanTensorHook train.ProfilerHook train.SecondOrStepTimer "
        "train.SessionRunArgs train.SessionRunHook train.StepCounterHook train.StopAtStepHook train.SummarySaverHook"
    ),
    "training.input": (
        "train.batch train.batch_join train.input_producer train.limit_epochs train.match_filenames_once "
        "train.maybe_batch train.maybe_batch_join train.maybe_shuffle_batch train.maybe_shuffle_batch_join "
        "train.range_input_producer train.shuffle_batch train.shuffle_batch_join train.slice_input_producer "
        "train.string_input_producer"
    ),
    "training.monitored_session": (
        "train.ChiefSessionCreator train.MonitoredSession train.MonitoredTrainingSession train.Scaffold "
        "train.SessionCreator train.SingularMonitoredSession train.WorkerSessionCreator"
    ),
    "training.moving_averages": (
        "weft.ops.variables.moving_average:assign_moving_average train.ExponentialMovingAverage "
        "weft.training.optimizers.moving_averages:weighted_moving_average"
    ),
    "training.saver": (
        "train.checkpoint_exists train.export_meta_graph train.get_checkpoint_state train.import_meta_graph "
        "train.latest_checkpoint train.Saver"
    ),
    "training.server_lib": "train.ClusterSpec train.Server",
    "training.summary_io": "train.SummaryWriter train.summary_iterator",
}
