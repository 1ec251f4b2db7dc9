"""The ops of tf.data: a dataset is no array that could be compared; tests/datasets reads what comes out of it."""

from __future__ import annotations

from weft.testing.op_checks import Case

CASES: list[Case] = []

_REASON = "takes and gives datasets; see tests/datasets and the differential programs of data"

WITHOUT_CASE = dict.fromkeys(
    (
        "BatchDatasetV2",
        "CacheDataset",
        "FinalizeDataset",
        "OptionsDataset",
        "ParallelBatchDataset",
        "ParallelFilterDataset",
        "ParallelInterleaveDatasetV4",
        "ParallelMapDatasetV2",
        "ConcatenateDataset",
        "DatasetCardinality",
        "DenseToSparseBatchDataset",
        "DirectedInterleaveDataset",
        "FilterDataset",
        "FlatMapDataset",
        "GroupByWindowDataset",
        "IgnoreErrorsDataset",
        "InterleaveDataset",
        "MapAndBatchDataset",
        "MapDataset",
        "ModelDataset",
        "OptimizeDataset",
        "PaddedBatchDataset",
        "PaddedBatchDatasetV2",
        "ParallelInterleaveDataset",
        "ParallelInterleaveDatasetV2",
        "ParallelMapDataset",
        "PrefetchDataset",
        "RepeatDataset",
        "ScanDataset",
        "ShardDataset",
        "ShuffleAndRepeatDataset",
        "ShuffleDataset",
        "SkipDataset",
        "TakeDataset",
        "TakeWhileDataset",
        "UnbatchDataset",
        "UniqueDataset",
        "WindowDataset",
        "ZipDataset",
    ),
    _REASON,
)
