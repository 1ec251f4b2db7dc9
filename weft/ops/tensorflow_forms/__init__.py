"""What stands for weft's own ops in graphs that are written to files: nodes of TensorFlow's ops that do the same.

Each module has the forms of a family; importing it registers them. An op without a form is written as it is.
"""

from weft.ops.tensorflow_forms import (
    arrays as arrays,
)
from weft.ops.tensorflow_forms import (
    bands as bands,
)
from weft.ops.tensorflow_forms import (
    branches as branches,
)
from weft.ops.tensorflow_forms import (
    buffers as buffers,
)
from weft.ops.tensorflow_forms import (
    decomposition_derivatives as decomposition_derivatives,
)
from weft.ops.tensorflow_forms import (
    derivatives as derivatives,
)
from weft.ops.tensorflow_forms import (
    dilated as dilated,
)
from weft.ops.tensorflow_forms import (
    elements as elements,
)
from weft.ops.tensorflow_forms import (
    exponentials as exponentials,
)
from weft.ops.tensorflow_forms import (
    image_derivatives as image_derivatives,
)
from weft.ops.tensorflow_forms import (
    images as images,
)
from weft.ops.tensorflow_forms import (
    loops as loops,
)
from weft.ops.tensorflow_forms import (
    matrices as matrices,
)
from weft.ops.tensorflow_forms import (
    products as products,
)
from weft.ops.tensorflow_forms import (
    rows as rows,
)
from weft.ops.tensorflow_forms import (
    scan_derivatives as scan_derivatives,
)
from weft.ops.tensorflow_forms import (
    sparse as sparse,
)
from weft.ops.tensorflow_forms import (
    spectral_derivatives as spectral_derivatives,
)
from weft.ops.tensorflow_forms import (
    state as state,
)
from weft.ops.tensorflow_forms import (
    sums as sums,
)
