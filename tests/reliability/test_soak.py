"""A soak tells growth and slowness; the run itself is the command's."""

from __future__ import annotations

from reliability.soak import Sample, problems, text


def sample(at_s: float, mib: int, median_s: float = 0.002, cpu_s: float = 0.1, threads: int = 9) -> Sample:
    return Sample(at_s, {"ps": mib << 20}, {"ps": threads}, 100, median_s, 0.1, cpu_s)


def test_what_is_steady_passes() -> None:
    samples = [sample(i, 100 + (i > 0)) for i in range(9)]
    assert problems(samples) == []
    assert "memory and latency are steady" in text(samples)
    assert "2.00, 2.00, 2.00 ms at the quietest time, 1.00, 1.00, 1.00 ms of processor time" in text(samples)


def test_growth_and_slowness_are_told() -> None:
    samples = [sample(i, 100 + 20 * i, 0.002 if i < 6 else 0.004, 0.1 if i < 6 else 0.2, 9 + 3 * i) for i in range(9)]
    assert problems(samples) == [
        "ps grew by 60 MiB", "ps has 9 more threads", "steps take 4.00 ms at the quietest time, 2.00 ms before",
        "steps take 2.00 ms of processor time, 1.00 ms before",
    ]  # fmt: skip


def test_minutes_in_which_the_machine_does_other_work_are_no_growth() -> None:
    assert problems([sample(i, 100, 0.002 if i in (0, 4, 7) else 0.02) for i in range(9)]) == []
