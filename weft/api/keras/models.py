"""tf.keras.models: Model and Sequential."""

from __future__ import annotations

from weft.networks.models.building import clone_model as clone_model
from weft.networks.models.building import model_from_config as model_from_config
from weft.networks.models.building import model_from_json as model_from_json
from weft.networks.models.building import model_from_yaml as model_from_yaml
from weft.networks.models.model import Model as Model
from weft.networks.models.sequential import Sequential as Sequential
from weft.networks.saving.model_files import load_model as load_model
from weft.networks.saving.model_files import save_model as save_model
