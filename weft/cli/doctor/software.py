"""Packages and devices: whether what is installed is what weft needs."""

from __future__ import annotations

import glob
import importlib
import importlib.metadata
import platform
from collections.abc import Iterator

from packaging.requirements import Requirement

from weft.cli.doctor.finding import Finding, problem, warning
from weft.cli.versions import versions


def packages() -> Iterator[Finding]:
    """The versions, and each package that weft needs and that is missing or of another version."""
    yield Finding("versions", f"{versions()}, {platform.platform(terse=True)}")
    for text in importlib.metadata.requires("weft") or []:
        needed = Requirement(text)
        # The marker of what an extra brings names that extra, which is none here.
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            yield from _wrong(needed)


def _wrong(needed: Requirement) -> Iterator[Finding]:
    remedy = f"pip install '{needed.name}{needed.specifier}'"
    try:
        version = importlib.metadata.version(needed.name)
    except importlib.metadata.PackageNotFoundError:
        yield problem(f"package {needed.name}", "is not installed", remedy)
        return
    if not needed.specifier.contains(version, prereleases=True):
        yield problem(f"package {needed.name}", f"version {version}; weft needs {needed.specifier}", remedy)


def devices() -> Finding:
    """JAX's devices. Starts JAX, which takes the memory of GPUs as its settings say."""
    try:
        found = importlib.import_module("jax").devices()
    except Exception as error:
        remedy = "JAX_PLATFORMS=cpu leaves accelerators out; else look at the driver, and at who holds the device"
        return problem("JAX", f"does not start: {error}", remedy)
    kinds = [f"{device.platform}:{device.id} ({device.device_kind})" for device in found]
    if glob.glob("/dev/nvidia[0-9]*") and not any(device.platform == "gpu" for device in found):
        text = f"this machine has an NVIDIA GPU, and JAX uses {', '.join(kinds)}"
        return warning("JAX", text, "pip install 'weft[cuda]', and look at JAX_PLATFORMS and CUDA_VISIBLE_DEVICES")
    return Finding("JAX", ", ".join(kinds))
