"""Measures a function for several configurations, such as batch sizes."""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from metalens import _html
from metalens._frames import frame
from metalens._probe import profile

Configuration = Mapping[str, Any]
Work = Mapping[str, float]


class QuickProfile:
    """The times of each configuration: ``rows`` as dictionaries, ``table`` as a data frame.

    A row has the configuration; ``runs``; ``min_ns``, ``median_ns``, ``mean_ns``, ``p95_ns`` and
    ``max_ns`` of one run; ``gpu_share``, the part of the time in which the GPU was busy; and
    ``bytes_per_s`` and ``operations_per_s`` for the median. What is not known is None.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = list(rows)

    @property
    def table(self) -> Any:
        """The rows as a data frame."""
        return frame(self.rows)

    def __repr__(self) -> str:
        return "\n".join(" ".join(f"{key}={value}" for key, value in row.items()) for row in self.rows)

    def _repr_html_(self) -> str:
        return _html.rows([{key: _shown(key, cell) for key, cell in row.items()} for row in self.rows])


def quick_profile(
    function: Callable[..., object],
    configurations: Iterable[Configuration] = ({},),
    *,
    runs: int = 10,
    warm_up: int = 2,
    work: Work | Callable[..., Work] | None = None,
) -> QuickProfile:
    """Measures ``function(**configuration)`` for each configuration.

    The function must wait for its GPU work, as ``mx.eval`` or ``torch.mps.synchronize`` do; else its
    times are those of submitting. ``work`` declares ``bytes`` and ``operations`` of one run, or is a
    function of the configuration that does. On a Mac, the probe tells the GPU's share of the time;
    elsewhere it is None.
    """
    if runs < 1:
        raise ValueError(f"runs is {runs}, which is less than 1")
    return QuickProfile([_measured(function, dict(one), runs, warm_up, work) for one in configurations])


def _measured(
    function: Callable[..., object],
    configuration: Configuration,
    runs: int,
    warm_up: int,
    work: Work | Callable[..., Work] | None,
) -> dict[str, Any]:
    for _ in range(warm_up):
        function(**configuration)

    times = []
    with profile() as measured:
        for _ in range(runs):
            start = time.perf_counter_ns()
            function(**configuration)
            times.append(time.perf_counter_ns() - start)

    times.sort()
    median = statistics.median(times)
    declared = (work(**configuration) if callable(work) else work) or {}
    busy = None if measured.report is None else measured.report.busy.busy_ns
    return {
        **configuration,
        "runs": runs,
        "min_ns": times[0],
        "median_ns": median,
        "mean_ns": statistics.fmean(times),
        "p95_ns": times[math.ceil(0.95 * runs) - 1],
        "max_ns": times[-1],
        "gpu_share": None if busy is None else busy / sum(times),
        "bytes_per_s": _rate(declared.get("bytes"), median),
        "operations_per_s": _rate(declared.get("operations"), median),
    }


def _rate(amount: float | None, ns: float) -> float | None:
    return None if amount is None or ns == 0 else amount * 1e9 / ns


def _shown(key: str, cell: Any) -> str:
    if cell is None:
        return "not recorded"
    if key.endswith("_ns"):
        return _html.duration(cell)
    if key == "gpu_share":
        return f"{cell * 100:.1f} %"
    if key.endswith("_per_s"):
        return f"{cell / 1e9:.4g} G{'B' if key.startswith('bytes') else 'op'}/s"
    return str(cell)
