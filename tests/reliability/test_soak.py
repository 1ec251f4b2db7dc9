"""A soak tells growth and slowness; the run itself is the command's."""

from __future__ import annotations

from reliability.soak import Sample, problems, text


def sample(at_s: float, mib: int, median_s: float = 0.002) -> Sample:
    return Sample(at_s, {"ps": mib << 20}, {"ps": 9}, 100, median_s, 0.1)


def test_what_is_steady_passes() -> None:
    samples = [sample(i, 100 + (i > 0)) for i in range(9)]
    assert problems(samples) == []
    assert "memory and latency are steady" in text(samples)


def test_growth_and_slowness_are_told() -> None:
    samples = [sample(i, 100 + 20 * i, 0.002 if i < 6 else 0.004) for i in range(9)]
    assert problems(samples) == ["ps grew by 60 MiB", "steps take 4.00 ms, 2.00 ms before"]
