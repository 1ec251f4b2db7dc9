"""`weft credentials`: makes the token, or the authority and the certificates, by which a cluster's tasks know each other."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from weft.cli.option_values import days
from weft.cli.parser import OneLineParser
from weft.credentials.authority import CertificateAuthority
from weft.credentials.cluster_token import FILE_VARIABLE, find_token, read_secret, write_secret, write_token
from weft.credentials.credentials import AUTHORITY_FILE, FOLDER_VARIABLE, names_of
from weft.distributed.rpc.pages.http_door import page_token
from weft.errors import NotFoundError, OpError

_KEY_FILE: Final = "authority.key"
_BEARER_FILE: Final = "bearer"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*[:-][0-9]+|client")


_DESCRIPTION: Final = """\
Make the secrets by which the tasks and clients of a cluster know each other: one
token for all of them, or an authority and a certificate for each. Copy a token to
each host and set WEFT_CLUSTER_TOKEN_FILE to its path, or WEFT_CREDENTIALS to the
folder of a task's certificate.
"""
_TOKEN: Final = """\
Write a new token, from which every task and client of the cluster that has it
derives its keys.
"""
_AUTHORITY: Final = """\
Make the authority whose certificates the tasks and clients of a cluster accept:
authority.key, which stays where no task runs, and authority.pem for all hosts.
"""
_PAGES: Final = """\
Write what lets Prometheus, or another reader, ask the tasks for their metrics and
for nothing else. It is derived from the cluster's token, which the environment
tells.
"""
_ISSUE: Final = """\
Sign a certificate for each NAME, into the authority's folder. A client's lets it
open sessions; a task's also lets it serve as that task.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    kinds = parser.add_subparsers(title="kinds", metavar="KIND", required=True, parser_class=OneLineParser)

    token = _add(kinds, "token", "one secret for all tasks and clients", _TOKEN)
    token.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="a new file, for its owner only")
    token.set_defaults(run=_make_token)

    authority = _add(kinds, "authority", "the key that signs certificates", _AUTHORITY)
    authority.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder for its key and certificate")
    authority.add_argument("--days", type=days, default=825, metavar="N", help="how long certificates are valid (825)")
    authority.set_defaults(run=_make_authority)

    pages = _add(kinds, "pages", "what Prometheus needs to read the tasks' metrics", _PAGES)
    pages.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="a folder for 'bearer' and authority.pem"
    )
    pages.set_defaults(run=_make_pages_token)

    issue = _add(kinds, "issue", "certificates, one for each task, and for clients", _ISSUE)
    issue.add_argument("folder", type=Path, metavar="FOLDER", help="the authority's folder")
    issue.add_argument("names", nargs="+", metavar="NAME", help="worker:0, ps:1 ..., or client")
    issue.add_argument(
        "--host", action="append", default=[], metavar="HOST", help="a host name or address of the tasks; may be repeated"
    )
    issue.set_defaults(run=_issue)


def _add(kinds: argparse._SubParsersAction[OneLineParser], name: str, summary: str, description: str) -> OneLineParser:
    return kinds.add_parser(name, help=summary, description=description)


def _make_token(arguments: argparse.Namespace) -> int:
    return _told(lambda: write_token(arguments.output)) or _say(
        f"Wrote a cluster token to {arguments.output}. Copy it to each host of the cluster, and set {FILE_VARIABLE} to "
        f"its path for every task and client."
    )


def _make_pages_token(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.output

    def make() -> None:
        token = find_token(os.environ)
        if token is None:
            raise NotFoundError.of(f"There is no cluster token to make it of: set {FILE_VARIABLE}")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_secret(folder / _BEARER_FILE, page_token(token).encode())
        write_secret(folder / AUTHORITY_FILE, CertificateAuthority.of_token(token).certificate)

    return _told(make) or _say(
        f"Wrote {_BEARER_FILE} and {AUTHORITY_FILE} to {folder}. Who has them may read the pages of the cluster's tasks, and "
        "nothing else."
    )


def _make_authority(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.folder

    def make() -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority = CertificateAuthority.new(arguments.days)
        write_secret(folder / _KEY_FILE, authority.private_key())
        write_secret(folder / AUTHORITY_FILE, authority.certificate)

    return _told(make) or _say(
        f"Made an authority in {folder}. Keep {_KEY_FILE} where no task runs. Next: weft credentials issue {folder} "
        f"worker:0 ps:0 client"
    )


def _issue(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.folder
    wrong = [name for name in arguments.names if not _NAME.fullmatch(name)]
    if wrong:
        return _refuse(f"{wrong[0]!r} is neither a task, such as worker:0, nor 'client'")

    def make() -> None:
        authority = CertificateAuthority.load(read_secret(folder / _KEY_FILE, "authority's key"))
        for name in arguments.names:
            stem = name.replace(":", "-")
            identity = f"{stem}.weft"
            made = authority.issue(identity, (*names_of(identity), *arguments.host))
            write_secret(folder / f"{stem}.pem", made.certificate + made.key)

    return _told(make) or _say(
        f"Wrote {len(arguments.names)} certificates to {folder}. Copy {AUTHORITY_FILE} and its own NAME.pem to each "
        f"task's host, and set {FOLDER_VARIABLE} to their folder there."
    )


def _told(make: Callable[[], None]) -> int:
    try:
        make()
    except FileExistsError as error:
        return _refuse(f"{error.filename} exists and may be in use: remove it first, or choose another place")
    except OSError as error:
        return _refuse(f"{error.filename} cannot be written: {error.strerror}")
    except (OpError, ValueError) as error:
        return _refuse(str(error))
    return 0


def _say(text: str) -> int:
    print(text)
    return 0


def _refuse(text: str) -> int:
    OneLineParser(prog="weft credentials").error(text)
