"""The modules that programs import by their path inside contrib, as `tensorflow.contrib.PACKAGE.python.PATH`.

Each has the public names of its package; a path stands here if there was such a module.
"""

from __future__ import annotations

from typing import Final

_PATHS: Final = {
    "bayesflow": "ops",
    "constrained_optimization": (
        "candidates constrained_minimization_problem constrained_optimizer external_regret_optimizer swap_regret_optimizer"
    ),
    "crf": "ops ops.crf",
    "cudnn_rnn": "layers layers.cudnn_rnn ops ops.cudnn_rnn_ops",
    "data": (
        "ops ops.batching ops.counter ops.enumerate_ops ops.error_ops ops.get_single_element ops.grouping ops.interleave_ops "
        "ops.iterator_ops ops.parsing_ops ops.prefetching_ops ops.random_ops ops.readers ops.resampling ops.scan_ops "
        "ops.shuffle_ops ops.sliding ops.unique ops.writers"
    ),
    "distribute": ("collective_all_reduce_strategy mirrored_strategy one_device_strategy parameter_server_strategy"),
    "distributions": (
        "ops ops.binomial ops.cauchy ops.chi2 ops.deterministic ops.geometric ops.gumbel ops.half_normal ops.independent "
        "ops.inverse_gamma ops.logistic ops.mixture "
        "ops.mvn_diag ops.mvn_full_covariance ops.mvn_tril ops.negative_binomial ops.onehot_categorical ops.poisson "
        "ops.relaxed_bernoulli ops.relaxed_onehot_categorical ops.wishart"
    ),
    "eager": "tfe",
    "estimator": (
        "estimator estimator.early_stopping estimator.export estimator.exporter estimator.extenders estimator.head "
        "estimator.hooks estimator.multi_head estimator.replicate_model_fn estimator.rnn estimator.boosted_trees estimator.dnn "
        "estimator.linear estimator.logit_fns"
    ),
    "factorization": "ops ops.clustering_ops ops.kmeans",
    "feature_column": "feature_column feature_column.sequence_feature_column",
    "framework": (
        "framework framework.checkpoint_utils framework.experimental framework.graph_util framework.tensor_util ops "
        "ops.arg_scope ops.audio_ops ops.checkpoint_ops ops.ops ops.prettyprint_ops ops.script_ops ops.sort_ops ops.variables"
    ),
    "layers": (
        "layers layers.embedding_ops layers.encoders layers.feature_column layers.feature_column_ops layers.initializers "
        "layers.layers layers.normalization layers.optimizers layers.regularizers layers.summaries layers.target_column "
        "layers.utils ops ops.bucketization_op ops.sparse_feature_cross_op ops.sparse_ops"
    ),
    "image": (
        "ops ops.dense_image_warp ops.distort_image_ops ops.image_ops ops.interpolate_spline "
        "ops.single_image_random_dot_stereograms ops.sparse_image_warp"
    ),
    "grid_rnn": "ops ops.grid_rnn_cell",
    "kernel_methods": "kernel_estimators losses mappers mappers.dense_kernel_mapper mappers.random_fourier_features",
    "legacy_seq2seq": "ops ops.seq2seq",
    "linear_optimizer": "ops ops.sdca_ops ops.sparse_feature_column sdca_optimizer",
    "losses": "losses losses.loss_ops metric_learning metric_learning.metric_loss_ops",
    "memory_stats": "ops ops.memory_stats_ops",
    "metrics": "metrics metrics.classification ops ops.confusion_matrix_ops ops.histogram_ops ops.metric_ops ops.set_ops",
    "model_pruning": "layers layers.layers layers.rnn_cells learning pruning strip_pruning_vars_lib",
    "nn": "ops ops.alpha_dropout ops.cross_entropy ops.fwd_gradients ops.sampling_ops ops.scaled_softplus",
    "opt": (
        "training training.adam_gs_optimizer training.adamax training.addsign training.agn_optimizer training.ggt "
        "training.lazy_adam_gs_optimizer training.shampoo "
        "training.drop_stale_gradient_optimizer training.elastic_average_optimizer "
        "training.external_optimizer training.lars_optimizer training.lazy_adam_optimizer training.model_average_optimizer "
        "training.moving_average_optimizer training.multitask_optimizer_wrapper training.nadam_optimizer "
        "training.powersign training.reg_adagrad_optimizer training.sign_decay training.variable_clipping_optimizer "
        "training.weight_decay_optimizers"
    ),
    "resampler": "ops ops.resampler_ops",
    "rnn": "ops ops.core_rnn_cell ops.fused_rnn_cell ops.gru_ops ops.lstm_ops ops.rnn ops.rnn_cell",
    "seq2seq": (
        "ops ops.attention_wrapper ops.basic_decoder ops.beam_search_decoder ops.beam_search_ops ops.decoder ops.helper "
        "ops.loss ops.sampler"
    ),
    "slim": "slim",
    "solvers": "ops",
    "sparsemax": "ops ops.sparsemax ops.sparsemax_loss",
    "timeseries": "timeseries",
    "tpu": (
        "ops ops.tpu_ops tpu tpu.async_checkpoint tpu.bfloat16 tpu.device_assignment tpu.tpu tpu.tpu_feed tpu.util "
        "tpu.tpu_config tpu.tpu_context tpu.tpu_estimator tpu.tpu_function tpu.tpu_optimizer"
    ),
    "testing": "framework framework.fake_summary_writer framework.util",
    "training": (
        "training training.bucket_ops training.device_setter training.evaluation training.feeding_queue_runner "
        "training.hparam training.resample training.sampling_ops training.sequence_queueing_state_saver training.training "
        "training.tuner"
    ),
}

# Where the names of a path stand, but for those of the package.
_FURTHER: Final = {"layers": "contrib.slim.utils", "rnn": "rnn_cell nn", "metrics": "metrics", "distributions": "distributions"}

# The paths that have a public module of their own.
_OWN: Final = {
    "slim": {
        f"slim.{path}": f"contrib.slim.{door}"
        for door, paths in {
            "evaluation": "evaluation", "learning": "learning", "model_analyzer": "model_analyzer", "queues": "queues",
            "summaries": "summaries", "data_decoder": "data.data_decoder", "data_provider": "data.data_provider",
            "dataset": "data.dataset", "dataset_data_provider": "data.dataset_data_provider",
            "parallel_reader": "data.parallel_reader",
            "tfexample_decoder": "data.tfexample_decoder", "nets.alexnet": "nets.alexnet",
            "nets.inception": "nets.inception nets.inception_v1 nets.inception_v2 nets.inception_v3",
            "nets.overfeat": "nets.overfeat", "nets.resnet_utils": "nets.resnet_utils", "nets.resnet_v1": "nets.resnet_v1",
            "nets.resnet_v2": "nets.resnet_v2", "nets.vgg": "nets.vgg",
        }.items()
        for path in paths.split()
    }
    | {"slim.data.prefetch_queue": "training.input.prefetch_queue"},
    "timeseries": {
        f"timeseries.{path}": " ".join(f"networks.time_series.{each}" for each in rooms.split())
        for path, rooms in {
            "ar_model": "ar_model prediction_models", "estimators": "estimators", "feature_keys": "feature_keys",
            "head": "head", "input_pipeline": "readers input_functions feature_keys", "model": "model sequential_model",
            "math_utils": "statistics likelihoods", "saved_model_utils": "saved_models", "state_management": "state_management",
        }.items()
    },
    "eager": dict.fromkeys(("metrics", "metrics_impl"), "contrib.eager.metrics"),
    "bayesflow": {"ops.monte_carlo": "contrib.bayesflow.monte_carlo"},
    "solvers": {
        f"ops.{door}": f"contrib.solvers.{door}" for door in ("lanczos", "least_squares", "linear_equations", "util")
    },
}  # fmt: skip

DOORS: Final = {
    package: dict.fromkeys(paths.split(), f"contrib.{package} {_FURTHER.get(package, '')}") | _OWN.get(package, {})
    for package, paths in _PATHS.items()
}

_KERAS: Final = (
    "activations applications backend callbacks constraints datasets initializers layers losses metrics models optimizers "
    "preprocessing regularizers utils wrappers datasets.boston_housing datasets.cifar10 datasets.cifar100 datasets.imdb "
    "datasets.mnist datasets.reuters preprocessing.image preprocessing.sequence preprocessing.text wrappers.scikit_learn"
)
# tf.keras's first place, by its public path and by the two paths inside of it.
KERAS_ALIASES: Final = {
    f"{prefix}{path}": f"weft.api.keras.{path}" for path in _KERAS.split() for prefix in ("", "api.keras.", "python.keras.")
}
KERAS_DOORS: Final = dict.fromkeys(("", "api.keras", "python.keras"), "keras")

NAMES: Final = {
    "estimator": {
        "estimator.early_stopping": "weft.estimators.hooks.early_stopping:_StopOnPredicateHook",
        "estimator.rnn": (
            "weft.estimators.canned.rnn:CLIP_NORM=_DEFAULT_CLIP_NORM "
            "weft.estimators.canned.rnn:LEARNING_RATE=_DEFAULT_LEARNING_RATE "
            "weft.estimators.canned.rnn:with_context=_concatenate_context_input"
        ),
    },
    # TensorFlow's package leaves this class out.
    "distributions": {"ops.gumbel": "weft.models.distributions.extremes:Gumbel"},
    "image": {
        "ops.distort_image_ops": ("weft.ops.image.augmentation:random_hsv_in_yiq weft.ops.image.colours:adjust_hsv_in_yiq")
    },
    "tpu": {"tpu.tpu_function": "weft.estimators.tpu.shards:get_tpu_context"},
    # The function stands in the package where its module would: TensorFlow's package imports all names of the module.
    "framework": {
        "ops": "contrib.framework.arg_scope",
        "ops.audio_ops": (
            "weft.ops.signal.audio_files:decode_wav weft.ops.signal.audio_files:encode_wav "
            "weft.ops.signal.speech_features:audio_spectrogram weft.ops.signal.speech_features:mfcc"
        ),
    },
    "seq2seq": {
        "ops.attention_wrapper": (
            "contrib.seq2seq.AttentionMechanism=_BaseAttentionMechanism "
            "weft.models.seq2seq.attention:bahdanau_score=_bahdanau_score "
            "weft.models.seq2seq.attention:products_of=_luong_score "
            "weft.models.seq2seq.attention:masked_score=_maybe_mask_score "
            "weft.models.seq2seq.attention_wrapper:attention_of=_compute_attention"
        ),
        "ops.decoder": "weft.models.rnn.stacked:transpose_batch_time=_transpose_batch_time",
    },
    "rnn": {
        "ops.core_rnn_cell": (
            "weft.models.rnn.cell:BIAS_NAME=_BIAS_VARIABLE_NAME weft.models.rnn.cell:WEIGHTS_NAME=_WEIGHTS_VARIABLE_NAME "
            "weft.models.rnn.sizes:linear_map=_linear"
        )
    },
}

_LEARN: Final = "contrib.learn.python.learn."

# The paths beside `python`, and those inside a package some of whose inner paths are modules of their own; each with its doors.
FURTHER: Final = {
    "contrib.image.ops.gen_image_ops": "contrib.image",
    "contrib.lookup.lookup_ops": "contrib.lookup",
    "contrib.predictor.predictor_factories": "contrib.predictor",
    "contrib.util.loader": ".",
    "contrib.tensorboard.plugins.projector.projector_config_pb2": "contrib.tensorboard.plugins.projector",
    f"{_LEARN}export_strategy": "contrib.learn",
    f"{_LEARN}basic_session_run_hooks": "train",
    f"{_LEARN}session_run_hook": "train",
    f"{_LEARN}monitored_session": "train",
    f"{_LEARN}graph_actions": "contrib.learn.graph_actions",
    f"{_LEARN}learn_io.numpy_io": "contrib.learn.io",
    f"{_LEARN}learn_io.pandas_io": "contrib.learn.io",
    f"{_LEARN}preprocessing.text": "contrib.learn.preprocessing",
    f"{_LEARN}preprocessing.categorical": "contrib.learn.preprocessing",
    f"{_LEARN}estimators.dnn": "contrib.learn",
    f"{_LEARN}estimators.dnn_linear_combined": "contrib.learn",
    f"{_LEARN}estimators.linear": "contrib.learn",
    f"{_LEARN}estimators.svm": "contrib.learn",
    f"{_LEARN}utils.input_fn_utils": "contrib.learn.utils",
    f"{_LEARN}utils.saved_model_export_utils": "contrib.learn.utils",
    f"{_LEARN}learn_io.graph_io": "contrib.learn.io",
    f"{_LEARN}models": "contrib.learn.models",
    f"{_LEARN}ops.embeddings_ops": "contrib.learn.ops",
    f"{_LEARN}ops.losses_ops": "contrib.learn.ops",
}
