"""`weft k8s`: a job as what Kubernetes takes."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.cli import os_trouble
from weft.cli.job_options import add_job_options, job_from
from weft.cli.option_values import port, whole_seconds
from weft.cli.parser import OneLineParser
from weft.credentials.cluster_token import find_token, new_token, read_secret, write_secret
from weft.errors import OpError
from weft.jobs.description import JobDescription, JobError
from weft.jobs.kubernetes.manifest import KINDS, manifest
from weft.jobs.kubernetes.pods import Manifest, Placement
from weft.jobs.kubernetes.secrets import needed_files

_SUMMARY = """\
Write the objects by which Kubernetes runs a job. The cluster itself is kubectl's:
pipe them to kubectl apply -f -.
"""
_DESCRIPTION = """\
Print the objects that run a job on Kubernetes, for kubectl apply -f -: a Secret
with the cluster's token, and, as --kind says, an Indexed Job for each role and a
headless Service, or one JobSet, or one TFJob of Kubeflow. PROGRAM is a path in
the image. The token is that of the environment or of --token-file, or a fresh one.
With --credentials each task has its certificate out of that folder instead, in a
Secret of its role.
"""
_BY_KUBECTL: Final = (
    "kubectl does that with what 'weft k8s manifest' prints: weft k8s manifest ... PROGRAM | kubectl apply -f -"
)


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _SUMMARY
    parser.elsewhere = dict.fromkeys(("apply", "create", "deploy", "delete"), _BY_KUBECTL)
    kinds = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=OneLineParser)
    made = kinds.add_parser("manifest", help="print the objects that run a job")
    made.description = _DESCRIPTION
    made.add_argument("--name", required=True, metavar="NAME", help="the job's name")
    made.add_argument("--image", required=True, metavar="IMAGE", help="the image that has weft and the program")
    made.add_argument("--kind", choices=list(KINDS), default="jobs", help="Indexed Jobs, one JobSet or one TFJob (jobs)")
    made.add_argument("--namespace", metavar="NAME", help="where it runs (kubectl's own)")
    made.add_argument("--port", type=port, default=2222, metavar="PORT", help="where tasks listen (2222)")
    made.add_argument(
        "--health-port", type=port, default=2223, metavar="PORT", help="where they tell probes that they serve (2223)"
    )
    made.add_argument("--grace", type=whole_seconds, default=60, metavar="S", help="seconds between SIGTERM and the kill (60)")
    made.add_argument(
        "--wait",
        type=whole_seconds,
        default=1800,
        metavar="S",
        help="seconds that pods wait for others that are silent (1800)",
    )
    made.add_argument("--no-probes", action="store_true", help="leave the probes out, for programs that make no server")
    made.add_argument("--token-file", type=Path, metavar="FILE", help="the file of the cluster's token (see above)")
    made.add_argument(
        "--credentials",
        type=Path,
        metavar="FOLDER",
        help="the certificates of all tasks, in place of a token (see above)",
    )
    made.add_argument(
        "--format",
        choices=["yaml", "json"],
        default="yaml",
        help="what is printed; yaml needs weft[k8s], and kubectl reads both (yaml)",
    )
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="a new file, for its owner only: it has the token")
    add_job_options(made)
    made.set_defaults(run=lambda arguments: _manifest(arguments, made))


def _manifest(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    job = job_from(arguments, parser, is_here=False)
    if arguments.credentials is not None and arguments.token_file is not None:
        parser.error("--credentials and --token-file: tasks know each other by certificates or by a token")
    try:
        certificates = None if arguments.credentials is None else _certificates(arguments.credentials, job)
        placement = Placement(
            arguments.name, arguments.image, _token(arguments.token_file) if certificates is None else "", arguments.namespace,
            arguments.port, arguments.health_port, arguments.grace, arguments.wait, not arguments.no_probes, certificates,
        )  # fmt: skip
        text = _text(manifest(job, placement, arguments.kind), arguments.format)
        if arguments.output is None:
            sys.stdout.write(text)
        else:
            write_secret(arguments.output, text.encode())
    except BrokenPipeError:
        raise
    except FileExistsError:
        parser.error(f"{arguments.output} exists: remove it first, or choose another place")
    except OSError as error:
        parser.error(os_trouble.told(error))
    except (JobError, OpError, ImportError) as error:
        parser.error(str(error))
    return 0


def _certificates(folder: Path, job: JobDescription) -> dict[str, str]:
    """The files that the job's tasks need, as far as they are there; the authority's key stays where it is."""
    if not folder.is_dir():
        raise JobError(f"--credentials: there is no folder {str(folder)!r}: weft credentials authority {folder}")
    names = [name for name in needed_files(job) if (folder / name).exists()]
    return {name: (folder / name).read_text() for name in names}


def _token(file: Path | None) -> str:
    if file is not None:
        return read_secret(file, "cluster token").decode().strip()
    found = find_token(os.environ)
    return new_token() if found is None else found.decode()


def _text(objects: Sequence[Manifest], form: str) -> str:
    if form == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2) + "\n"
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        raise ImportError(
            "YAML needs PyYAML: pip install 'weft[k8s]', or take --format json, which kubectl reads, too"
        ) from None
    text: str = yaml.safe_dump_all(objects, sort_keys=False, width=200)
    return text
