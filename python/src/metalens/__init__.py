"""Is my Mac's GPU busy, with what, and why is it idle?

The module runs the program ``metalens``, which is in the same package, so that its figures are those
of the program. It reads recordings on any machine; only a Mac can record.

    >>> import metalens
    >>> report = metalens.analyze("run.trace")
    >>> report.verdict.bound
    'latency'
    >>> report.gaps  # a data frame of pandas, polars or pyarrow, whichever is installed
"""

from typing import TYPE_CHECKING

from metalens._frames import use_frames
from metalens._probe import Profile, phase, profile
from metalens._program import Error, run
from metalens._quick import QuickProfile, quick_profile
from metalens._report import (
    Comparison,
    Part,
    Prediction,
    Report,
    analyze,
    compare,
    record,
    table,
    what_if,
)

if TYPE_CHECKING:
    from metalens.spark import Spark

__all__ = [
    "Comparison",
    "Error",
    "Part",
    "Prediction",
    "Profile",
    "QuickProfile",
    "Report",
    "Spark",
    "analyze",
    "compare",
    "phase",
    "profile",
    "quick_profile",
    "record",
    "run",
    "table",
    "use_frames",
    "what_if",
]


def __getattr__(name: str) -> object:
    """Imports what needs pyspark, once somebody asks for it."""
    if name != "Spark":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from metalens.spark import Spark

    return Spark
