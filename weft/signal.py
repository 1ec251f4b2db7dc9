"""tf.signal and tf.spectral: Fourier and cosine transforms, frames, windows, spectrograms."""

from __future__ import annotations

from weft.ops.cosine_transform import dct as dct
from weft.ops.cosine_transform import idct as idct
from weft.ops.fourier import fft as fft
from weft.ops.fourier import fft2d as fft2d
from weft.ops.fourier import fft3d as fft3d
from weft.ops.fourier import fftshift as fftshift
from weft.ops.fourier import ifft as ifft
from weft.ops.fourier import ifft2d as ifft2d
from weft.ops.fourier import ifft3d as ifft3d
from weft.ops.fourier import ifftshift as ifftshift
from weft.ops.fourier import irfft as irfft
from weft.ops.fourier import irfft2d as irfft2d
from weft.ops.fourier import irfft3d as irfft3d
from weft.ops.fourier import rfft as rfft
from weft.ops.fourier import rfft2d as rfft2d
from weft.ops.fourier import rfft3d as rfft3d
from weft.ops.framing import frame as frame
from weft.ops.framing import overlap_and_add as overlap_and_add
from weft.ops.spectrograms import hamming_window as hamming_window
from weft.ops.spectrograms import hann_window as hann_window
from weft.ops.spectrograms import inverse_stft as inverse_stft
from weft.ops.spectrograms import inverse_stft_window_fn as inverse_stft_window_fn
from weft.ops.spectrograms import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from weft.ops.spectrograms import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from weft.ops.spectrograms import stft as stft
