"""tf.typing: the types of arguments that take many forms, for the annotations of programs.

```python
def dense(x: tf.typing.TensorLike, units: int, shape: tf.typing.ShapeLike = None) -> tf.Tensor: ...
```
"""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike as DTypeLike
from weft.framework.building.aliases import Scalar as Scalar
from weft.framework.building.aliases import ShapeLike as ShapeLike
from weft.framework.building.aliases import TensorLike as TensorLike
from weft.framework.building.run_signature import Feeds as _Feeds
from weft.framework.building.run_signature import Fetch as Fetch
from weft.framework.building.run_signature import Fetches as Fetches

# Under a name of its own: type checkers take a renamed import for the module's private business.
FeedDict = _Feeds
