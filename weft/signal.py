"""tf.signal and tf.spectral: Fourier transforms."""

from __future__ import annotations

from weft.ops.fourier import fft as fft
from weft.ops.fourier import fft2d as fft2d
from weft.ops.fourier import fft3d as fft3d
from weft.ops.fourier import ifft as ifft
from weft.ops.fourier import ifft2d as ifft2d
from weft.ops.fourier import ifft3d as ifft3d
from weft.ops.fourier import irfft as irfft
from weft.ops.fourier import irfft2d as irfft2d
from weft.ops.fourier import rfft as rfft
from weft.ops.fourier import rfft2d as rfft2d
