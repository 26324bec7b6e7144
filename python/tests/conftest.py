"""Recordings for the tests: scenarios that the program simulates, and real ones where there are any."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import metalens

# Every built-in scenario with GPU work of its process, but the one of a million intervals.
SCENARIOS = ("eager", "fused", "batched", "pipelined", "renderer", "shared-machine", "awkward", "two-runs")
ROOT = Path(__file__).parents[2]
Simulate = Callable[[str | Path], Path]


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Simulate:
    """Returns a function that writes the recording of a scenario, once."""
    folder = tmp_path_factory.mktemp("simulated")

    def write(scenario: str | Path) -> Path:
        recording = folder / f"{Path(scenario).stem}.trace"
        if not recording.exists():
            metalens.run("synth", scenario, "-o", recording)
        return recording

    return write


@pytest.fixture(scope="session")
def recordings(simulated: Simulate) -> list[Path]:
    """Returns the recordings of all scenarios, and the real ones that have rows to report on."""
    return [*map(simulated, SCENARIOS), *real_recordings()]


def real_recordings() -> list[Path]:
    """Returns the real recordings below ``$METALENS_REAL`` that can be reported on."""
    top = os.environ.get("METALENS_REAL")
    if not top or not Path(top).is_dir():
        print("SKIPPED: real recordings: METALENS_REAL names no folder")
        return []
    bundles = [path for path in Path(top).rglob("*.trace") if path.is_dir()]
    exports = [path.parent for path in Path(top).rglob("toc.xml")]
    return [path for path in sorted(bundles + exports) if _has_rows(path)]


def _has_rows(path: Path) -> bool:
    try:
        metalens.run("analyze", path, "--json", "--quiet")
    except metalens.Error as error:
        # 1 and 4: the folder has no recording that can be read, or no rows of the process.
        assert error.exit_code in (1, 4), error
        return False
    return True
