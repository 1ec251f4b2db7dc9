"""Signals: Fourier and cosine transforms, frames, spectrograms."""
