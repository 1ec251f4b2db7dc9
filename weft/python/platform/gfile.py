"""tensorflow.python.platform.gfile, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.platform.gfile import Copy as Copy
from weft.platform.gfile import DeleteRecursively as DeleteRecursively
from weft.platform.gfile import Exists as Exists
from weft.platform.gfile import FastGFile as FastGFile
from weft.platform.gfile import FileStatistics as FileStatistics
from weft.platform.gfile import GFile as GFile
from weft.platform.gfile import Glob as Glob
from weft.platform.gfile import IsDirectory as IsDirectory
from weft.platform.gfile import ListDirectory as ListDirectory
from weft.platform.gfile import MakeDirs as MakeDirs
from weft.platform.gfile import MkDir as MkDir
from weft.platform.gfile import Open as Open
from weft.platform.gfile import Remove as Remove
from weft.platform.gfile import Rename as Rename
from weft.platform.gfile import Stat as Stat
from weft.platform.gfile import Walk as Walk
