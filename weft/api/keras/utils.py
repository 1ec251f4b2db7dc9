"""tf.keras.utils: what programs need beside models."""

from __future__ import annotations

from weft.networks.callbacks.progress import Progbar as Progbar
from weft.networks.datasets.files import get_file as get_file
from weft.networks.fitting.enqueuers import GeneratorEnqueuer as GeneratorEnqueuer
from weft.networks.fitting.enqueuers import OrderedEnqueuer as OrderedEnqueuer
from weft.networks.fitting.enqueuers import SequenceEnqueuer as SequenceEnqueuer
from weft.networks.fitting.sequence import Sequence as Sequence
from weft.networks.models.multi_gpu import multi_gpu_model as multi_gpu_model
from weft.networks.models.source_inputs import convert_all_kernels_in_model as convert_all_kernels_in_model
from weft.networks.models.source_inputs import get_source_inputs as get_source_inputs
from weft.networks.numpy_tools import normalize as normalize
from weft.networks.numpy_tools import to_categorical as to_categorical
from weft.networks.objects.registry import CustomObjectScope as CustomObjectScope
from weft.networks.objects.registry import custom_object_scope as custom_object_scope
from weft.networks.objects.registry import deserialize_keras_object as deserialize_keras_object
from weft.networks.objects.registry import get_custom_objects as get_custom_objects
from weft.networks.objects.registry import serialize_keras_object as serialize_keras_object
from weft.networks.refusals import model_to_dot as model_to_dot
from weft.networks.refusals import plot_model as plot_model
from weft.networks.saving.hdf5_matrix import HDF5Matrix as HDF5Matrix
