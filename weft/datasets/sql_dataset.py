"""SqlDataset: the rows of a query."""

from __future__ import annotations

from weft.datasets import nest, structure
from weft.datasets.dataset import Dataset
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.ops.data.sql import sql_dataset


class SqlDataset(Dataset):
    """The rows that a query of an SQLite database gives, a scalar for each column.

    Runs raise InvalidArgumentError for a database that cannot be opened, and where the columns are not as many as the types.

    Args:
        driver_name: "sqlite", scalar string.
        data_source_name: the database's file, scalar string.
        query: the query, scalar string.
        output_types: the types of the columns: string, int8, int16, int32, int64, uint8, uint16, bool or float64.
    """

    def __init__(self, driver_name: TensorLike, data_source_name: TensorLike, query: TensorLike, output_types: Nest) -> None:
        spec = nest.map_structure(lambda dtype: TensorSpec((), as_dtype(dtype)), output_types)
        given = [
            convert_to_tensor(value, dtypes.string, name=name)
            for name, value in (("driver_name", driver_name), ("data_source_name", data_source_name), ("query", query))
        ]
        super().__init__(sql_dataset(*given, **structure.flat_attrs(spec)), spec)
