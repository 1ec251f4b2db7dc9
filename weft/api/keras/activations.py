"""tf.keras.activations: functions of tensors that layers take by name."""

from __future__ import annotations

from weft.networks.objects.activations import deserialize as deserialize
from weft.networks.objects.activations import elu as elu
from weft.networks.objects.activations import exponential as exponential
from weft.networks.objects.activations import get as get
from weft.networks.objects.activations import hard_sigmoid as hard_sigmoid
from weft.networks.objects.activations import linear as linear
from weft.networks.objects.activations import relu as relu
from weft.networks.objects.activations import selu as selu
from weft.networks.objects.activations import serialize as serialize
from weft.networks.objects.activations import sigmoid as sigmoid
from weft.networks.objects.activations import softmax as softmax
from weft.networks.objects.activations import softplus as softplus
from weft.networks.objects.activations import softsign as softsign
from weft.networks.objects.activations import tanh as tanh
