"""Public names by the modules inside TensorFlow that define them, where these are called otherwise there or stand in modules of
their own: `from tensorflow.python.keras.layers.noise import GaussianNoise`. They are written as in `python_paths.NAMES`.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "data.experimental.ops.distribute_options": "data.experimental.DistributeOptions",
    "data.experimental.ops.enumerate_ops": "data.experimental.enumerate_dataset",
    "data.experimental.ops.optimization_options": (
        "data.experimental.MapVectorizationOptions data.experimental.OptimizationOptions"
    ),
    "data.experimental.ops.stats_options": "data.experimental.StatsOptions",
    "data.experimental.ops.threading_options": "data.experimental.ThreadingOptions",
    "data.ops.optional_ops": "data.experimental.Optional OptionalSpec",
    "distribute.central_storage_strategy": (
        "compat.v2.distribute.experimental.CentralStorageStrategy "
        "distribute.experimental.CentralStorageStrategy=CentralStorageStrategyV1"
    ),
    "distribute.cluster_resolver.cluster_resolver": (
        "distribute.cluster_resolver.ClusterResolver distribute.cluster_resolver.SimpleClusterResolver "
        "distribute.cluster_resolver.UnionResolver=UnionClusterResolver"
    ),
    "distribute.cluster_resolver.kubernetes_cluster_resolver": "distribute.cluster_resolver.KubernetesClusterResolver",
    "distribute.collective_all_reduce_strategy": (
        "compat.v2.distribute.experimental.MultiWorkerMirroredStrategy=CollectiveAllReduceStrategy "
        "distribute.experimental.MultiWorkerMirroredStrategy=CollectiveAllReduceStrategyV1"
    ),
    "distribute.tpu_strategy": "distribute.experimental.TPUStrategy=TPUStrategyV1",
    "eager.context": "config.experimental.VirtualDeviceConfiguration config.experimental_list_devices=list_devices",
    "eager.def_function": "config.experimental_run_functions_eagerly=run_functions_eagerly function",
    "feature_column.dense_features": "keras.layers.DenseFeatures",
    "feature_column.dense_features_v2": "compat.v2.keras.layers.DenseFeatures",
    "feature_column.sequence_feature_column": "keras.experimental.SequenceFeatures",
    "framework.config": (
        "config.threading.get_intra_op_parallelism_threads config.threading.set_intra_op_parallelism_threads "
        "config.threading.get_inter_op_parallelism_threads config.threading.set_inter_op_parallelism_threads "
        "config.optimizer.get_jit=get_optimizer_jit config.optimizer.set_jit=set_optimizer_jit "
        "config.optimizer.get_experimental_options=get_optimizer_experimental_options "
        "config.optimizer.set_experimental_options=set_optimizer_experimental_options config.get_soft_device_placement "
        "config.set_soft_device_placement config.experimental.get_device_policy config.experimental.set_device_policy "
        "config.experimental.get_synchronous_execution config.experimental.set_synchronous_execution "
        "config.experimental.list_physical_devices config.experimental.list_logical_devices "
        "config.experimental.get_visible_devices config.experimental.set_visible_devices "
        "config.experimental.get_memory_growth config.experimental.set_memory_growth "
        "config.experimental.get_virtual_device_configuration config.experimental.set_virtual_device_configuration"
    ),
    "framework.tensor_conversion_registry": "register_tensor_conversion_function",
    "framework.tensor_util": "make_ndarray=MakeNdarray",
    "keras.callbacks_v1": "keras.callbacks.TensorBoard",
    "keras.engine.input_layer": "keras.layers.InputLayer",
    "keras.layers.convolutional": (
        "keras.layers.Conv2DTranspose=Deconvolution2D keras.layers.Conv2DTranspose=Deconv2D "
        "keras.layers.Conv3DTranspose=Deconvolution3D keras.layers.Conv3DTranspose=Deconv3D"
    ),
    "keras.layers.convolutional_recurrent": "keras.layers.ConvLSTM2D",
    "keras.layers.dense_attention": "keras.layers.Attention keras.layers.AdditiveAttention",
    "keras.layers.local": "keras.layers.LocallyConnected1D keras.layers.LocallyConnected2D",
    "keras.layers.noise": "keras.layers.GaussianNoise keras.layers.GaussianDropout keras.layers.AlphaDropout",
    "keras.layers.normalization_v2": "compat.v2.keras.layers.BatchNormalization",
    "keras.layers.recurrent": "keras.experimental.PeepholeLSTMCell",
    "keras.layers.recurrent_v2": (
        "compat.v2.keras.layers.GRUCell compat.v2.keras.layers.GRU compat.v2.keras.layers.LSTMCell compat.v2.keras.layers.LSTM"
    ),
    "keras.layers.serialization": "keras.layers.serialize keras.layers.deserialize",
    "keras.utils.data_utils": "keras.experimental.terminate_keras_multiprocessing_pools",
    "keras.utils.io_utils": "keras.utils.HDF5Matrix",
    "keras.utils.layer_utils": "keras.utils.get_source_inputs keras.utils.convert_all_kernels_in_model",
    "keras.utils.multi_gpu_utils": "keras.utils.multi_gpu_model",
    "layers.convolutional": (
        "layers.Conv2DTranspose=Deconv2D layers.Conv3DTranspose=Deconvolution3D layers.Conv3DTranspose=Deconv3D "
        "layers.conv1d=convolution1d layers.conv3d=convolution3d layers.conv2d_transpose=convolution2d_transpose "
        "layers.conv2d_transpose=deconvolution2d layers.conv3d_transpose=convolution3d_transpose "
        "layers.conv3d_transpose=deconvolution3d layers.conv3d_transpose=deconv3d"
    ),
    "layers.core": "layers.Dense=FullyConnected layers.dense=fully_connected",
    "layers.normalization": "layers.BatchNormalization=BatchNorm layers.batch_normalization=batch_norm",
    "layers.pooling": (
        "layers.AveragePooling2D=AvgPool2D layers.MaxPooling2D=MaxPool2D layers.max_pooling2d=max_pool2d "
        "layers.average_pooling2d=avg_pool2d"
    ),
    "ops.control_flow_v2_toggles": "enable_control_flow_v2 disable_control_flow_v2 control_flow_v2_enabled",
    "ops.critical_section_ops": "CriticalSection",
    "ops.gradients_util": "AggregationMethod",
    "ops.image_ops_impl": "image.non_max_suppression_overlaps=non_max_suppression_with_overlaps",
    "ops.init_ops_v2": (
        "compat.v2.keras.initializers.Initializer compat.v2.zeros_initializer=Zeros compat.v2.ones_initializer=Ones "
        "compat.v2.constant_initializer=Constant compat.v2.random_uniform_initializer=RandomUniform "
        "compat.v2.random_normal_initializer=RandomNormal compat.v2.keras.initializers.TruncatedNormal "
        "compat.v2.keras.initializers.VarianceScaling compat.v2.keras.initializers.Orthogonal "
        "compat.v2.keras.initializers.Identity compat.v2.keras.initializers.glorot_uniform=GlorotUniform "
        "compat.v2.keras.initializers.glorot_normal=GlorotNormal compat.v2.keras.initializers.Identity=identity_initializer "
        "compat.v2.keras.initializers.lecun_normal compat.v2.keras.initializers.lecun_uniform "
        "compat.v2.keras.initializers.he_normal compat.v2.keras.initializers.he_uniform compat.v2.zeros_initializer=zero "
        "compat.v2.ones_initializer=one compat.v2.random_uniform_initializer=uniform "
        "compat.v2.random_normal_initializer=normal compat.v2.keras.initializers.Orthogonal=orthogonal "
        "compat.v2.keras.initializers.glorot_normal compat.v2.keras.initializers.glorot_uniform"
    ),
    "ops.linalg.linalg_impl": "linalg.expm=matrix_exponential",
    "ops.linalg.linear_operator": "linalg.LinearOperator",
    "ops.linalg.linear_operator_adjoint": "linalg.LinearOperatorAdjoint",
    "ops.linalg.linear_operator_block_diag": "linalg.LinearOperatorBlockDiag",
    "ops.linalg.linear_operator_circulant": (
        "linalg.LinearOperatorCirculant linalg.LinearOperatorCirculant2D linalg.LinearOperatorCirculant3D"
    ),
    "ops.linalg.linear_operator_composition": "linalg.LinearOperatorComposition",
    "ops.linalg.linear_operator_diag": "linalg.LinearOperatorDiag",
    "ops.linalg.linear_operator_full_matrix": "linalg.LinearOperatorFullMatrix",
    "ops.linalg.linear_operator_householder": "linalg.LinearOperatorHouseholder",
    "ops.linalg.linear_operator_identity": "linalg.LinearOperatorIdentity linalg.LinearOperatorScaledIdentity",
    "ops.linalg.linear_operator_inversion": "linalg.LinearOperatorInversion",
    "ops.linalg.linear_operator_kronecker": "linalg.LinearOperatorKronecker",
    "ops.linalg.linear_operator_low_rank_update": "linalg.LinearOperatorLowRankUpdate",
    "ops.linalg.linear_operator_lower_triangular": "linalg.LinearOperatorLowerTriangular",
    "ops.linalg.linear_operator_toeplitz": "linalg.LinearOperatorToeplitz",
    "ops.linalg.linear_operator_zeros": "linalg.LinearOperatorZeros",
    "ops.losses.loss_reduction": "compat.v2.keras.losses.Reduction=ReductionV2",
    "ops.nn_impl": "linalg.normalize",
    "ops.ragged.ragged_string_ops": (
        "strings.bytes_split=string_bytes_split strings.unicode_encode strings.unicode_decode "
        "strings.unicode_decode_with_offsets strings.unicode_split strings.unicode_split_with_offsets "
        "compat.v2.strings.split=string_split_v2 strings.split=strings_split_v1 strings.ngrams"
    ),
    "ops.ragged.segment_id_ops": "ragged.row_splits_to_segment_ids ragged.segment_ids_to_row_splits",
    "ops.sets_impl": (
        "sets.size=set_size sets.intersection=set_intersection sets.difference=set_difference sets.union=set_union"
    ),
    "ops.sparse_ops": "sparse.expand_dims=sparse_expand_dims sparse.eye=sparse_eye sparse.cross_hashed=sparse_cross_hashed",
    "ops.stateless_random_ops": (
        "random.stateless_uniform=stateless_random_uniform random.stateless_normal=stateless_random_normal"
    ),
    "ops.summary_ops_v2": (
        "compat.v2.summary.experimental.get_step compat.v2.summary.experimental.set_step "
        "compat.v2.summary.create_file_writer=create_file_writer_v2 compat.v2.summary.create_noop_writer "
        "compat.v2.summary.write compat.v2.summary.experimental.write_raw_pb compat.v2.summary.trace_on "
        "compat.v2.summary.trace_export compat.v2.summary.trace_off"
    ),
    "platform.benchmark": "test.Benchmark=TensorFlowBenchmark",
}
