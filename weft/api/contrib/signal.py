"""tf.contrib.signal: frames, windows and spectrograms by their former path. This module only re-exports."""

from __future__ import annotations

from weft.api.signal import frame as frame
from weft.api.signal import hamming_window as hamming_window
from weft.api.signal import hann_window as hann_window
from weft.api.signal import inverse_stft as inverse_stft
from weft.api.signal import inverse_stft_window_fn as inverse_stft_window_fn
from weft.api.signal import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from weft.api.signal import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from weft.api.signal import overlap_and_add as overlap_and_add
from weft.api.signal import stft as stft
