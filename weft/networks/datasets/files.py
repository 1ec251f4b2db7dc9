"""Files that are fetched once and kept in a cache: `~/.keras`, or where KERAS_HOME says."""

from __future__ import annotations

import hashlib
import os
import tarfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Final

from weft.errors import UnavailableError
from weft.platform.waits.wait_watch import Watched

_OF_DOWNLOADS: Final = (
    "Look whether this host reaches it: proxies, firewalls; a file that is put into the cache is not fetched."
)


def cache_home() -> Path:
    """The folder of the cache."""
    return Path(os.environ.get("KERAS_HOME", "") or Path.home() / ".keras")


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | None = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of a file in the cache; it is downloaded first if it is not there.

    Args:
        fname: its name in the cache, or an absolute path.
        origin: its URL.
        untar: whether it is a tar archive to unpack; `fname` is then what it unpacks to.
        md5_hash, file_hash: the hash that it must have, of MD5 or SHA-256.
        cache_subdir: the folder in the cache.
        hash_algorithm: "md5", "sha256", or "auto", which goes by the length of the hash.
        extract: whether to unpack it, tar or zip.
        archive_format: accepted.
        cache_dir: the cache; `~/.keras` when None.

    Raises:
        UnavailableError: it is not there and cannot be downloaded.
        ValueError: what was downloaded has another hash.
    """
    folder = Path(cache_dir or cache_home()) / cache_subdir
    wanted = Path(fname) if os.path.isabs(fname) else folder / fname
    archive = wanted.with_name(wanted.name + ".tar.gz") if untar else wanted
    known = file_hash or md5_hash
    if not archive.exists() or (known and not _matches(archive, known, hash_algorithm)):
        _download(origin, archive)
        if known and not _matches(archive, known, hash_algorithm):
            archive.unlink()
            raise ValueError(f"{origin}: what was downloaded does not have the hash {known}")
    if untar or extract:
        _unpack(archive, archive.parent)
    return str(wanted)


def _matches(path: Path, known: str, algorithm: str) -> bool:
    kind = "sha256" if algorithm == "sha256" or (algorithm == "auto" and len(known) == 64) else "md5"
    return hashlib.new(kind, path.read_bytes(), usedforsecurity=False).hexdigest() == known


def _download(origin: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    try:
        print(f"Downloading data from {origin}")
        with Watched(lambda: f"{origin} has been read", _OF_DOWNLOADS), urllib.request.urlopen(origin, timeout=30) as answer:
            partial.write_bytes(answer.read())
    except (urllib.error.URLError, OSError) as error:
        raise UnavailableError(
            None,
            None,
            f"URL fetch failure on {origin}: {error}. Without a network, put the file at {path}, or set KERAS_HOME "
            f"to a folder whose "
            f"{path.parent.name}/ has it",
        ) from error
    partial.replace(path)


def _unpack(archive: Path, folder: Path) -> None:
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(folder)
