"""Off macOS a profile does nothing and says so once; with a probe, its log becomes a report.

The probe here is a fake in C, because only a Mac can load the real one.
"""

import ctypes
import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import metalens
from metalens import _probe

needs_linux = pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has a probe")
# The fake begins a log with its header and ends it with one command buffer of 6 µs.
FAKE = r"""
#include <errno.h>
#include <stdio.h>
static FILE *log_file;
int metalens_start(const char *path) {
    if (log_file != NULL) return EBUSY;
    if ((log_file = fopen(path, "w")) == NULL) return errno;
    fputs("{\"format\":\"command-buffer-log/1\",\"program\":\"cell\",\"pid\":1,\"synthetic\":true}\n", log_file);
    return 0;
}
void metalens_stop(void) {
    fputs("{\"command_buffer\":1,\"encode\":1000,\"commit\":2000,\"gpu_start\":3000,\"gpu_end\":9000,"
          "\"completed\":9500}\n{\"end\":9700,\"command_buffers\":1}\n", log_file);
    fclose(log_file);
    log_file = NULL;
}
void metalens_phase_begin(const char *name) { if (log_file) fprintf(log_file, "{\"phase\":\"%s\",", name); }
void metalens_phase_end(const char *name) {
    (void)name;
    if (log_file) fputs("\"start\":1000,\"end\":9600}\n", log_file);
}
"""


@pytest.fixture
def fake_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the fake in the place of the probe."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("SKIPPED: the fake probe needs a C compiler")
    source, library = tmp_path / "fake.c", tmp_path / "libfake.so"
    source.write_text(FAKE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    loaded = _probe._declared(ctypes.CDLL(str(library)))
    monkeypatch.setattr(_probe, "_probe", lambda: loaded)


@needs_linux
def test_off_macos_nothing_happens_and_it_is_said_once() -> None:
    _probe._probe.cache_clear()
    with pytest.warns(UserWarning, match="only on macOS") as said:
        for _ in range(3):
            with metalens.profile() as profile, metalens.phase("decode"):
                pass
    assert len(said) == 1
    assert profile.log is None and profile.report is None
    assert "only on macOS" in profile._repr_html_()


def test_a_profile_has_the_log_of_its_cell(fake_probe: None, tmp_path: Path) -> None:
    log = tmp_path / "cell.jsonl"
    with metalens.profile(log) as profile:
        assert profile.log is None
        with metalens.phase("decode"), pytest.raises(metalens.Error, match="written already"):
            metalens.profile().__enter__()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[1] == {"phase": "decode", "start": 1000, "end": 9600}
    assert profile.log == log
    with pytest.raises(metalens.Error, match="nowhere/x: No such file"):
        metalens.profile("nowhere/x").__enter__()


def test_a_report_is_made_from_the_log(fake_probe: None) -> None:
    with metalens.profile() as profile:
        pass
    report = profile.report
    assert report is not None
    assert report.busy.busy_ns == 6000
    assert profile._repr_html_()


def test_an_error_in_the_cell_is_not_hidden(fake_probe: None) -> None:
    with pytest.raises(ZeroDivisionError), metalens.profile() as profile:
        1 / 0  # noqa: B018
    assert profile.log is not None and profile.log.exists()


def test_quick_profile_measures_each_configuration() -> None:
    calls: list[int] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        profile = metalens.quick_profile(
            lambda batch: calls.append(batch),
            [{"batch": 1}, {"batch": 2}],
            runs=5,
            warm_up=1,
            work=lambda batch: {"bytes": 100 * batch},
        )
    assert calls == [1] * 6 + [2] * 6
    for row, batch in zip(profile.rows, (1, 2), strict=True):
        assert row["batch"] == batch and row["runs"] == 5
        assert 0 < row["min_ns"] <= row["median_ns"] <= row["p95_ns"] <= row["max_ns"]
        assert row["bytes_per_s"] == pytest.approx(100 * batch * 1e9 / row["median_ns"])
        assert row["operations_per_s"] is None
    assert len(profile.table) == 2
    assert "not recorded" in profile._repr_html_()
    with pytest.raises(ValueError, match="runs is 0"):
        metalens.quick_profile(print, runs=0)


def test_quick_profile_has_the_share_of_the_gpu_in_the_measured_time(fake_probe: None) -> None:
    (row,) = metalens.quick_profile(lambda: sum(range(10_000)), runs=3).rows
    assert row["gpu_share"] == pytest.approx(6000 / (3 * row["mean_ns"]))
