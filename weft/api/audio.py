"""tf.audio: WAV files to numbers and back. This module only re-exports."""

from __future__ import annotations

from weft.ops.signal.audio_files import decode_wav as decode_wav
from weft.ops.signal.audio_files import encode_wav as encode_wav
