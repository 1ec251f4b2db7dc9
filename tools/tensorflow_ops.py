"""Which of TensorFlow's ops weft has: a table for docs/tensorflow.md, and the lists that it is made of.

    tools/tensorflow_ops.py                 print the table and what no family names
    tools/tensorflow_ops.py --write         write the table into docs/tensorflow.md
    PYTHON tools/tensorflow_ops.py --names  print the ops of the TensorFlow that PYTHON has, one a line

The lists, `tensorflow_ops_VERSION.txt` beside this file, are made by the last of these.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "tensorflow.md"
VERSIONS = ("1.15", "2.21")
BEGIN, END = "<!-- The table of ops, by tools/tensorflow_ops.py -->", "<!-- End of the table of ops -->"

# Families of ops that weft lacks: a pattern that an op's whole name matches, and why they are not there. The first one counts.
FAMILIES = (
    (r"A|B|None|Old|Binary|Unary|Simple|Restrict|Attr.*|.*Attr|Foo\d|Fact|N(In|Ints|Polymorphic).*|InPolymorphic.*|"
     r"(Ref)?(Int|Int64|Float|TwoFloat|TwoInt|FiveFloat|Two)(In|Out|Refs).*|Ref(In|Out|Input|Output).*|Out(T|Type).*|"
     r"Polymorphic.*|TypeList.*|ListInput|ListOutput|ComplexStruct|MixedStruct|SimpleStruct|ConstructionFails|CopyOp|"
     r"DefaultAttrs|DevicePlacementOp|DtypeWithDefaultOp|GraphDefVersion|KernelLabel.*|OpWith.*|RequiresOlder.*|Reserved.*|"
     r"Resource(Create|Initialized|Using)Op|Sleep(Identity)?Op|StubResource.*|TestStringOutput|Namespace.*|Risc.*|"
     r"IsResourceHandle.*|IsTensorFloat32Enabled|Conv2DBackprop.*V2|Mlir.*|Conv|WindowOp|Send|Recv|GlobalShuffleDataset|"
     r"ListDataset", "ops of TensorFlow's own tests and experiments"),
    (r"Barrier.*|Mutex.*|ConsumeMutexLock|TensorMap.*|"
     r"EmptyTensorMap|Composite.*|MakeWeak.*|IndexFlatMap.*|WeightedFlatMap.*|EagerPyFunc|CheckPinned|GetSessionHandleV2|"
     r"(Unb|B)atch(Grad)?", "containers and locks that Python's layers of 1.x and 2.x do not offer"),
    (r"Stateful(Uniform|Standard|Truncated|Random).*|Stateless(Random(Gamma|Poisson|Binomial)|Parameterized|Shuffle|Sample).*|"
     r"RngSkip|NonDeterministicInts|RandomIndexShuffle|ParameterizedTruncatedNormal|RandomPoisson|Fractional.*Pool.*",
     "distributions whose numbers weft has not made equal to TensorFlow's"),
    (r"_.*|.*Mkl.*|Fused(ResizeAnd)?PadConv2D",
     "TensorFlow's own: what its graph rewriting makes of other ops; no client writes them"),
    (
        r".*TPU.*|.*Tpu.*|Xla.*|Infeed.*|Outfeed.*|Prelinearize.*|.*SparseCore.*|.*Minibatch.*|GlobalIterId|.*DedupData.*|"
        r"CrossReplicaSum|AllToAll|CollectivePermute|ComputeBatchSize|ConvertToCooTensor|TensorStridedSliceUpdate|"
        r"AssignVariableXlaConcatND|ReadVariableXlaSplitND|MakeUnique|TopK.*Unique|UpdateTaskIdAndGlobalCoreArray|ApproxTopK",
        "TPUs and XLA's own bridge: weft compiles whole stages by JAX",
    ),
    (
        r"Quantized.*|Requantiz.*|QuantizeDown.*|UniformQuantiz.*|UniformDequantiz.*|UniformRequantiz.*|"
        r"CustomAggregator|CalibrationStatisticsSaver|CompareAndBitpack|StochasticCastToInt",
        "arithmetic on quantized types: training does not use it",
    ),
    (
        r"BoostedTrees.*|TensorForest.*|SdcaShrinkL1",
        "SDCA on variables, forests, and the forms of boosted trees that no estimator of 1.15 writes",
    ),
    (
        r"Cudnn.*|Nccl.*|Collective.*|.*DTensor.*|CopyToMesh.*|Relayout.*|SyncDevice|DeviceIndex",
        "libraries and meshes of GPUs: weft's strategies have all-reduce of their own",
    ),
    (
        r"Experimental.*Dataset.*|Experimental.*|.*StatsAggregator.*|.*StatsDataset|LatencyStats.*|.*Autotune.*|Assert.*Dataset|"
        r"ChooseFastest.*|MaxIntraOp.*|PrivateThreadPool.*|ThreadPool.*|NonSerializableDataset|SleepDataset|AutoShardDataset|"
        r"OptimizeDatasetV2|RewriteDataset|DataService.*|RegisterDataset.*|.*Snapshot.*|DatasetTo.*|DatasetFromGraph|"
        r"DatasetFingerprint|SaveDataset.*|LoadDataset|CompressElement|UncompressElement|DistributedSave|IteratorGetModelProto|"
        r"InitializeTableFromDataset|.*MultiDeviceIterator.*|WrapDatasetVariant|UnwrapDatasetVariant|GetElementAtIndex|"
        r"DummyIterationCounter|FilterByLastComponentDataset|IteratorGetDevice|MapDefun",
        "tf.data's experiments, services and bookkeeping",
    ),
    (
        r"Anonymous.*|Delete(Iterator|MemoryCache|MultiDeviceIterator|RandomSeedGenerator|SeedGenerator)",
        "objects of eager execution, which has no session",
    ),
    (
        r".*Rpc.*|BigQuery.*|GenerateBigQuery.*|Gcs.*|.*LMDB.*|.*Sql.*|FileSystemSetConfiguration|RemoteFused.*|"
        r"WorkerHeartbeat|GetDeadline|GetOptions|Debug.*|.*Copy(Host)?|DumpTensor",
        "services, databases and debuggers of TensorFlow's own",
    ),
    (
        r"(Reader|QueueDequeue|QueueEnqueue|Queue(Close|Size|IsClosed)|LookupTable|InitializeTable|TensorArray|HashTable|"
        r"MutableHashTable|MutableDenseHashTable|FIFOQueue|PaddingFIFOQueue|PriorityQueue|RandomShuffleQueue|Stack|"
        r"TextLineReader|TFRecordReader|WholeFileReader|IdentityReader|FixedLengthRecord|Batch|Tile|Save|Restore|Inplace|"
        r"SelfAdjointEig|SpaceToBatch|Reverse|AdjustContrast|Conv3DBackprop|RandomCrop|NonMaxSuppression|Skipgram|NegTrain|"
        r"TensorSummary|AudioSummary|RefSelect|RefIdentity|Unpack|DestroyTemporaryVariable|"
        r"TemporaryVariable|InvGrad|HostConst|FakeQueue).*",
        "forms that no TensorFlow since 1.0 writes, or that only few programs use",
    ),
    (
        r"Enter|Exit|Merge|Switch|NextIteration|LoopCond|Ref(Enter|Exit|Merge|NextIteration|Switch)|PartitionedCall|"
        r"StatefulPartitionedCall|Case|StatelessCase|SymbolicGradient|RemoteCall|For|Abort|FakeParam|ToBool",
        "calls and control flow: raised to weft's If and While when a graph is taken in; RemoteCall, For and Abort are not",
    ),
    (
        r"Audio.*|DecodeWav|EncodeWav|Mfcc|DecodeWebP|DecodeJxl|DecodeProtoV2|EncodeProto|UnicodeScript",
        "decoders of sound, of later kinds of images, of other messages and of scripts: a program's own input has them",
    ),
    (
        r"KMC2.*|Kmeans.*|NearestNeighbors|GenerateVocabRemapping|LoadAndRemapMatrix|KthOrderStatistic|IsotonicRegression|"
        r"GenerateBoundingBoxProposals|ImmutableConst|SobolSample|BandedTriangularSolve|.?R?FFTND|IRFFTND",
        "clustering, warm starts of vocabularies and other numerics that only libraries beside TensorFlow use",
    ),
    (r"DestroyResourceOp", "objects of eager execution, which has no session"),
    (
        r".*CSRSparseMatrix.*|SparseMatrix.*|CSR.*|DenseToCSR.*",
        "sparse matrices in compressed rows: SparseTensor has what programs use",
    ),
    (
        r"RaggedCross|SparseCrossHashed",
        "crosses of features by TensorFlow 2's ragged and hashed functions: SparseCross and SparseCrossV2 have the others",
    ),
    (r"QuantizeAndDequantize", "the oldest form of an op, which no TensorFlow since 1.0 writes; weft has the later ones"),
    (r"RebatchDataset", "batches cut for the replicas of TensorFlow 2's strategies: RebatchDatasetV2 has the sizes given"),
    (
        r".*Summary(File|Db)?Writer|Write.*Summary|ImportEvent|SummaryWriter.*",
        "writers of events inside of graphs: FileWriter has them",
    ),
)  # fmt: skip
OTHERS = "others, by no rule: each fails the steps that need it with its name"


def tensorflows(version: str) -> list[str]:
    """The ops of a TensorFlow, by the list."""
    return (HERE / f"tensorflow_ops_{version}.txt").read_text(encoding="utf-8").split()


def registered() -> set[str]:
    """weft's ops."""
    ops = importlib.import_module("weft.ops")
    for module in pkgutil.walk_packages(ops.__path__, "weft.ops."):
        importlib.import_module(module.name)
    return {definition.name for definition in importlib.import_module("weft.framework.registry.op_registry").registered()}


def reason(name: str) -> str:
    """Why weft lacks an op."""
    return next((text for pattern, text in FAMILIES if re.fullmatch(pattern, name)), OTHERS)


def table() -> str:
    """The table in Markdown: how many ops of each TensorFlow there are, and the families of those that are not."""
    own = registered()
    lists = {version: tensorflows(version) for version in VERSIONS}
    lines = ["| ops | " + " | ".join(VERSIONS) + " |", "|---|" + "---:|" * len(VERSIONS)]

    def row(text: str, counts: list[int]) -> None:
        lines.append(f"| {text} | " + " | ".join(map(str, counts)) + " |")

    row("that TensorFlow registers", [len(lists[version]) for version in VERSIONS])
    row("that weft has", [len(own.intersection(lists[version])) for version in VERSIONS])
    for text in [*dict.fromkeys(text for _, text in FAMILIES), OTHERS]:
        row(f"not: {text}", [sum(reason(name) == text for name in lists[version] if name not in own) for version in VERSIONS])
    others = sorted({name for version in VERSIONS for name in lists[version] if name not in own and reason(name) == OTHERS})
    return "\n".join([*lines, "", f"The others are: {', '.join(f'`{name}`' for name in others)}.", ""])


def page() -> str:
    """docs/tensorflow.md with the table of now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{after}"


def _names() -> list[str]:
    """The ops of the TensorFlow that runs this."""
    op_def_pb2 = importlib.import_module("tensorflow.core.framework.op_def_pb2")
    importlib.import_module("tensorflow")
    try:
        lib = importlib.import_module("tensorflow.python.client.pywrap_tf_session")
        buffer = lib.TF_GetAllOpList()
    except (ImportError, AttributeError):
        lib = importlib.import_module("tensorflow.python.pywrap_tensorflow")
        buffer = lib.TF_GetAllOpList()
    return sorted(op.name for op in op_def_pb2.OpList.FromString(lib.TF_GetBuffer(buffer)).op)


def main() -> None:
    """Print or write what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.names:
        sys.stdout.write("\n".join(_names()) + "\n")
    elif asked.write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(table())


if __name__ == "__main__":
    main()
