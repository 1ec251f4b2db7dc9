"""tf.signal and tf.spectral: Fourier and cosine transforms, frames, windows, spectrograms."""

from __future__ import annotations

from weft.ops.signal.cosine_transform import dct as dct
from weft.ops.signal.cosine_transform import idct as idct
from weft.ops.signal.fourier import fft as fft
from weft.ops.signal.fourier import fft2d as fft2d
from weft.ops.signal.fourier import fft3d as fft3d
from weft.ops.signal.fourier import fftshift as fftshift
from weft.ops.signal.fourier import ifft as ifft
from weft.ops.signal.fourier import ifft2d as ifft2d
from weft.ops.signal.fourier import ifft3d as ifft3d
from weft.ops.signal.fourier import ifftshift as ifftshift
from weft.ops.signal.fourier import irfft as irfft
from weft.ops.signal.fourier import irfft2d as irfft2d
from weft.ops.signal.fourier import irfft3d as irfft3d
from weft.ops.signal.fourier import rfft as rfft
from weft.ops.signal.fourier import rfft2d as rfft2d
from weft.ops.signal.fourier import rfft3d as rfft3d
from weft.ops.signal.framing import frame as frame
from weft.ops.signal.framing import overlap_and_add as overlap_and_add
from weft.ops.signal.spectrograms import hamming_window as hamming_window
from weft.ops.signal.spectrograms import hann_window as hann_window
from weft.ops.signal.spectrograms import inverse_stft as inverse_stft
from weft.ops.signal.spectrograms import inverse_stft_window_fn as inverse_stft_window_fn
from weft.ops.signal.spectrograms import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from weft.ops.signal.spectrograms import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from weft.ops.signal.spectrograms import stft as stft
