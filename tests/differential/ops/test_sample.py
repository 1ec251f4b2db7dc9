"""A sample of the harness's cases, against TensorFlow's answers as files hold them."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.differential.ops import oracle
from tests.differential.ops.archive import Reader
from tests.differential.ops.campaign import differences
from tests.differential.ops.case import OpCase
from tests.differential.ops.compare import Slack, slack_of
from tests.differential.ops.oracle import Results
from tests.differential.ops.sample import ANSWERS, CASES
from weft.framework.types.dtypes import as_dtype


@pytest.mark.timeout(240)
def test_a_sample_of_ops_does_what_it_did_in_tensorflow(tmp_path: Path) -> None:
    # Results are written beside the cases.
    cases = Path(shutil.copy(CASES, tmp_path))
    records = Reader(str(cases)).records
    answers = Reader(str(ANSWERS))
    theirs = Results({each["number"]: each for each in answers.records}, answers)
    with contextlib.closing(oracle.weft("cold", 200)) as library:
        ours = library.start(cases).result()
    assert len(ours.of) == len(records) > 200
    slacks = [_slack(cases, each) for each in records]
    found = [
        f"{each['op']}, {each['kind']}, {each['form']}: {text}"
        for number, each in enumerate(records)
        for _, text in differences(each["op"], ours, theirs, [number], slacks)
    ]
    assert found == []


def _slack(cases: Path, record: Any) -> Slack:
    """What is left open by what a case is fed."""
    fed = [Reader(str(cases)).array(each, lambda name: as_dtype(name).as_numpy_dtype) for each in record["feeds"].values()]
    return slack_of(OpCase(record["op"], fed))
