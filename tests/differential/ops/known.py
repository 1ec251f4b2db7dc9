"""What the harness has to know of single ops: how far their values may differ, what cannot be compared, and what differs."""

from __future__ import annotations

from typing import Final

NO_MUTATION: Final = frozenset(("WriteFile", "SaveV2", "RestoreV2", "MergeV2Checkpoints", "PyFunc", "PyFuncStateless"))
"""Ops whose inputs name files or programs."""

SHAPES_ONLY: Final = {
    **dict.fromkeys(("EncodeJpeg", "EncodeJpegVariableQuality"), "each library packs a JPEG's bytes in its own way"),
    "Empty": "what is in it is not said",
    "Timestamp": "the time of the run",
}
"""Ops whose values differ from run to run, and why."""

IGNORED_OUTPUTS: Final = {
    **dict.fromkeys(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"), (3, 4)),
    "FusedBatchNormV2": (3, 4),
    "FusedBatchNormV3": (3, 4, 5),
}
"""Outputs that no program looks at: TensorFlow declares spaces for GPU libraries to be empty vectors and makes scalars of them,
and leaves what it reserves for gradients unwritten without training."""

ANY_SIGN: Final = frozenset(("Svd", "Qr", "SelfAdjointEigV2"))
"""Ops whose vectors may have either sign."""

_GROUPED: Final = "whether a zero times an infinity is in a sum depends on how the library groups it"

FINITE_ONLY: Final = dict.fromkeys((
    "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2",
    "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "LRN", "LRNGrad",
    "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3",
), _GROUPED) | dict.fromkeys((
    "AdjustHue", "AdjustSaturation", "RGBToHSV",
), "no colour has such numbers") | dict.fromkeys((
    "ResizeArea", "ResizeBicubic", "ResizeBicubicGrad", "ResizeBilinear", "ResizeBilinearGrad", "ScaleAndTranslate",
    "CropAndResizeGradImage", "CropAndResizeGradBoxes",
), "whether a pixel of weight zero is read depends on the library") | dict.fromkeys((
    "Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter", "MaxPoolGrad",
), "which of numbers and NaN is the greatest depends on where it stands, in TensorFlow") | dict.fromkeys((
    "Cholesky", "CholeskyGrad", "LogMatrixDeterminant", "Lu", "MatrixDeterminant", "MatrixInverse", "MatrixSolve",
    "MatrixTriangularSolve", "Qr", "SelfAdjointEigV2", "Svd",
), "how far they spread through a matrix depends on the order in which a library works through it") | dict.fromkeys((
    "BesselY1",
), "TensorFlow has NaN at zero in float32, and minus infinity in float64") | dict.fromkeys((
    "Expint",
), "TensorFlow has NaN at infinity") | dict.fromkeys((
    "MaxPool", "MaxPoolV2", "MaxPool3D", "MaxPoolWithArgmax",
), "whether the greatest of numbers and NaN is NaN depends on where in the window it stands, in TensorFlow")  # fmt: skip
"""Ops of whose results, where a case's own inputs have NaN or infinities, only what is finite in both is compared, and why."""

AT_ZERO: Final = frozenset(("BesselY1",))
"""Those of them for whose input a zero is as an infinity."""

DEPENDENT: Final = dict.fromkeys(
    ("MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradGrad", "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGradWithArgmax",
     "MaxPoolGradGradWithArgmax"),
    "one input is what the op made of another: of others there is no gradient",
)  # fmt: skip
"""Ops whose values and shapes are not mutated one by one, and why."""

UNWRITTEN: Final = dict.fromkeys(
    ("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D", "BlockLSTM", "BlockLSTMV2", "BlockLSTMGrad", "BlockLSTMGradV2"),
    "TensorFlow leaves the memory of the result as it is where the input is empty",
)
"""Ops whose values are not compared where an input is empty, and why."""

_SINGLE: Final = ("CTCLoss", "CropAndResize", "CropAndResizeGradImage", "ResizeBicubic", "ResizeBicubicGrad", "ResizeBilinear",
                  "ResizeBilinearGrad")  # fmt: skip
UNWRITTEN_ROWS: Final = dict.fromkeys(
    ("BlockLSTM", "BlockLSTMV2"),
    "TensorFlow leaves the memory of the steps behind `seq_len_max` as it is, weft has zeros there",
)
"""Ops of whose results only that is compared which weft does not leave zero, and why."""

REPEATED: Final = (
    "weft sums the gradients of a row that comes repeatedly, TensorFlow's op applies one after the other; clients of \
TensorFlow sum them before"
)
"""Why updates of rows are compared for rows that differ alone."""

LOOSE: Final = {"MatrixExponential": 1e-2, **dict.fromkeys(_SINGLE, 2e-5)}
"""Relative tolerances of ops that approximate, instead of those of the types."""

FINITE_IF_COMPLEX: Final = dict.fromkeys(
    (
        "Acos",
        "Acosh",
        "Angle",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Inv",
        "Reciprocal",
        "ReciprocalGrad",
        "SqrtGrad",
        "RsqrtGrad",
    ),
    "what a complex infinity, or a complex number over zero, is divided into differs between C++ libraries and NumPy",
)
"""Ops of whose complex results, where NaN, an infinity or a zero comes in, only what is finite in both is compared, and why."""

MORE_GRADIENTS: Final = {
    "HSVToRGB": "weft has one for its input, TensorFlow none",
    "MatrixSolveLs": "weft has one for the regularizer, too, TensorFlow none",
    "PadV2": "weft has one for the value of the padding, too, TensorFlow none",
    "ResizeBilinearGrad": "weft has one for its inputs, TensorFlow none",
    "SparseConcat": "weft has one where the shapes of the inputs are not known, TensorFlow none",
}
"""Ops that have gradients for more inputs than in TensorFlow: those that both have are compared."""

GRADIENT_OF: Final = {
    **dict.fromkeys(
        ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
        "TensorFlow takes the statistics, its other outputs, for constants, weft has their gradients",
    ),
    "SelfAdjointEigV2": "the vectors may have either sign, and their gradient with them",
    "SoftmaxCrossEntropyWithLogits": "weft has the gradient of its second output for the labels, too, TensorFlow none",
}
"""Ops whose first output alone is asked for gradients, and why."""

UNASKED: Final = {
    "SelfAdjointEigV2": "TensorFlow declares the vectors that are not asked for an empty vector, and leaves a scalar unwritten"
}
"""Ops of which TensorFlow makes a scalar of an output that is not asked for, where weft has the empty vector declared."""

MESSAGES: Final = {
    "DecodeJSONExample": "TensorFlow writes the numbers of a list one by one, weft packed: they are compared as messages"
}
"""Ops whose strings are Examples."""

DIFFERENCES: Final[dict[str, str]] = {
    "ScatterNd": "TensorFlow refuses a constant shape of int16, weft takes it",
    **dict.fromkeys(
        ("StridedSliceAssign", "ResourceStridedSliceAssign"),
        "a value of another shape than the slice is an UnimplementedError as in TensorFlow 1.15, of later ones an "
        "InvalidArgumentError",
    ),
    "AssignVariableOp": "weft refuses a value of another shape than the variable's node declares, TensorFlow takes it in a run",
    "BlockLSTMV2": "its gradient in TensorFlow is that of BlockLSTM, whose gates are in another order",
    **dict.fromkeys(
        ("MatrixDeterminant", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy"),
        "TensorFlow's gradients of complex numbers lack the conjugate",
    ),
    "ExtractVolumePatches": "TensorFlow takes the patches of volumes of unknown shape for tensors of four axes; they have five",
    **dict.fromkeys(
        ("MatrixDiagV2", "MatrixDiagPartV2"),
        "TensorFlow's gradient takes the diagonals for aligned as the third versions of these ops align them",
    ),
}  # fmt: skip
"""Ops that do not agree on all cases, and why; `meant.py` tells of a case whether it is one of those."""

_FILES: Final = "works on files: tests/ops/io, tests/checkpoint and tests/datasets"
_PICTURES: Final = "its draws or its bytes are each library's own: tests/ops/image"
_EXAMPLES: Final = "its attributes depend on each other: tests/ops/io"
_HANDLES: Final = "its handle is of one process: tests/datasets and tests/client"
_NESTED: Final = "its function makes datasets: tests/datasets"

WITHOUT: Final[dict[str, str]] = {
    **dict.fromkeys((
        "CSVDataset", "FixedLengthRecordDatasetV2", "FixedLengthRecordReaderV2", "IdentityReaderV2", "MergeV2Checkpoints",
        "InitializeTableFromTextFileV2", "ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompletedV2", "ReaderReadUpToV2",
        "ReaderReadV2", "ReaderResetV2", "ReaderRestoreStateV2", "ReaderSerializeStateV2", "Restore", "RestoreSlice",
        "DatasetToTFRecord", "RestoreV2", "Save", "SaveSlices", "SaveV2",
        "TFRecordDataset", "TFRecordDatasetV2", "TFRecordReaderV2", "TextLineReaderV2", "WholeFileReaderV2", "WriteFile",
        "RecordInput",
    ), _FILES),
    **dict.fromkeys((
        "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox", "ImageSummary", "AudioSummaryV2",
        "TensorSummaryV2",
    ), _PICTURES),
    **dict.fromkeys((
        "BoostedTreesCenterBias", "BoostedTreesCreateEnsemble", "BoostedTreesCreateQuantileStreamResource",
        "BoostedTreesDeserializeEnsemble", "BoostedTreesEnsembleResourceHandleOp", "BoostedTreesExampleDebugOutputs",
        "BoostedTreesGetEnsembleStates", "BoostedTreesPredict", "BoostedTreesQuantileStreamResourceAddSummaries",
        "BoostedTreesQuantileStreamResourceDeserialize", "BoostedTreesQuantileStreamResourceFlush",
        "BoostedTreesQuantileStreamResourceGetBucketBoundaries", "BoostedTreesQuantileStreamResourceHandleOp",
        "BoostedTreesSerializeEnsemble", "BoostedTreesTrainingPredict", "BoostedTreesUpdateEnsemble",
        "IsBoostedTreesEnsembleInitialized", "IsBoostedTreesQuantileStreamResourceInitialized",
    ), "what they do depends on an ensemble or a stream: tests/ops/trees"),
    **dict.fromkeys(("FractionalAvgPool", "FractionalMaxPool"), "their windows and values by TensorFlow's: tests/ops/nn"),
    **dict.fromkeys(("DecodeBmp", "DecodeImage"), "it takes BMP files with other numbers of channels: tests/ops/image"),
    **dict.fromkeys((
        "ParseExample", "ParseExampleV2", "ParseSingleExample", "ParseSingleSequenceExample", "SparseCross",
        "ParseSequenceExample", "ParseSequenceExampleV2",
        "DeserializeSparse", "Dequantize", "AddSparseToTensorsMap", "DenseToSparseBatchDataset", "SparseTensorSliceDataset",
    ), _EXAMPLES),
    **dict.fromkeys((
        "DeleteSessionTensor", "GetSessionHandle", "GetSessionTensor", "DeserializeIterator", "SerializeIterator", "Iterator",
        "IteratorFromStringHandle", "IteratorFromStringHandleV2", "IteratorToStringHandle", "IteratorGetNextSync",
        "DummyMemoryCache", "DummySeedGenerator", "CacheDatasetV2", "ShuffleDatasetV3", "ShuffleAndRepeatDatasetV2",
        "ConsumeMutexLock", "MutexLock", "MutexV2",
        "RngReadAndSkip", "TensorArrayCloseV3", "TensorArrayGradV3", "TensorArrayGradWithShape",
    ), _HANDLES),
    **dict.fromkeys((
        "FlatMapDataset", "GeneratorDataset", "GroupByWindowDataset", "InterleaveDataset", "OneShotIterator", "WindowDataset",
        "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV4",
    ), _NESTED),
    **dict.fromkeys((
        "AssertCardinalityDataset", "CSVDatasetV2", "ChooseFastestDataset", "ExperimentalCSVDataset",
        "ExperimentalChooseFastestDataset", "ExperimentalDatasetCardinality", "ExperimentalDenseToSparseBatchDataset",
        "ExperimentalDirectedInterleaveDataset", "ExperimentalGroupByReducerDataset", "ExperimentalGroupByWindowDataset",
        "ExperimentalIgnoreErrorsDataset", "ExperimentalMapAndBatchDataset", "ExperimentalMatchingFilesDataset",
        "ExperimentalMaxIntraOpParallelismDataset", "ExperimentalNonSerializableDataset",
        "ExperimentalParallelInterleaveDataset", "ExperimentalParseExampleDataset", "ExperimentalPrivateThreadPoolDataset",
        "ExperimentalRandomDataset", "ExperimentalScanDataset", "ExperimentalSlidingWindowDataset",
        "ExperimentalTakeWhileDataset", "ExperimentalUnbatchDataset", "ExperimentalUniqueDataset", "GroupByReducerDataset",
        "IteratorGetNextAsOptional", "LegacyParallelInterleaveDatasetV2", "MatchingFilesDataset",
        "MaxIntraOpParallelismDataset", "NonSerializableDataset", "OptimizeDatasetV2", "ParallelInterleaveDatasetV3",
        "ParseExampleDataset", "ParseExampleDatasetV2", "PrivateThreadPoolDataset", "RandomDatasetV2", "RebatchDatasetV2",
        "RewriteDataset", "SamplingDataset", "ShuffleDatasetV2", "SlidingWindowDataset",
    ), "a form of another dataset, or one whose seeds or files are of one process: tests/ops/foreign, tests/datasets"),
    **dict.fromkeys((
        "RaggedTensorFromVariant", "RaggedTensorToVariant", "RaggedTensorToVariantGradient", "TensorListConcat",
        "TensorListPushBackBatch",
    ), "what it makes or takes is no array: tests/ops/foreign"),
    "SqlDataset": "it reads a database's file: tests/datasets",
    **dict.fromkeys((
        "Barrier", "BarrierClose", "BarrierIncompleteSize", "BarrierInsertMany", "BarrierReadySize", "BarrierTakeMany",
        *(f"{order}Map{what}" for order in ("", "Ordered") for what in (
            "Clear", "IncompleteSize", "Peek", "Size", "Stage", "Unstage", "UnstageNoKey",
        )),
    ), "its handle is of one process: tests/ops/data_flow"),
    "Eig": "the order of the eigenvalues is each library's own: tests/ops/foreign",
    "SampleDistortedBoundingBox": "its draws are each library's own: tests/ops/foreign",
    **dict.fromkeys(("EagerPyFunc", "PyFunc", "PyFuncStateless"), "it calls a function of the client's process"),
    **dict.fromkeys(("Placeholder", "PlaceholderV2"), "each case has some"),
    **dict.fromkeys(("_Arg", "_Recv", "_Send"), "the master makes them, no graph has them"),
}  # fmt: skip
"""Ops that no case runs, and why."""
