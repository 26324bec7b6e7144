"""The module's figures are those of the program, in every library of tables."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Simulate

import metalens

LIBRARIES = ("pandas", "polars", "pyarrow")


def cells(table: Any) -> list[dict[str, Any]]:
    """Returns the rows of a table of any library. What is absent is None."""
    if hasattr(table, "to_pylist"):
        rows = table.to_pylist()
    elif hasattr(table, "to_dicts"):
        rows = table.to_dicts()
    else:
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [dict(row) for row in rows]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    """Chooses each library of tables in turn."""
    pytest.importorskip(request.param)
    metalens.use_frames(request.param)
    yield request.param
    metalens.use_frames(None)


def test_figures_are_those_of_the_program(recordings: list[Path]) -> None:
    for path in recordings:
        expected = json.loads(metalens.run("analyze", path, "--json", "-q"))
        report = metalens.analyze(path)
        assert report.to_dict() == expected, path
        assert report.busy.ratio == expected["busy"]["ratio"], path


def test_tables_add_up_to_the_report(recordings: list[Path], library: str) -> None:
    for path in recordings:
        report = metalens.analyze(path)
        gaps, facts = cells(report.gaps), report.to_dict()
        assert len(gaps) == facts["gaps"]["count"], path
        assert sum(gap["duration_ns"] for gap in gaps) == facts["gaps"]["total_ns"], path
        assert sum(row["time_ns"] for row in cells(report.idle)) == facts["idle"]["total_ns"], path
        idle = cells(report.idle)
        assert {gap["cause"] for gap in gaps} <= {row["cause"] for row in idle}, path
        for row in idle:
            key = f"{row['cause'].replace('-', '_')}_ns"
            assert sum(gap[key] for gap in gaps) == row["time_ns"] == facts["idle"][key], (path, key)
        kernels = cells(report.kernels)
        assert [dict(row) for row in kernels] == facts["kernels"], path
        kinds = [(series["name"], kind) for series in facts["steps"] for kind in series["kinds"]]
        steps = cells(report.steps)
        assert [row["step"] for row in steps] == [name for name, _ in kinds], path
        assert [row["median_ns"] for row in steps] == [kind["median_ns"] for _, kind in kinds], path
        found = [finding["id"] for finding in facts["findings"]]
        assert [row["id"] for row in cells(report.findings)] == found, path


def test_a_part_of_a_recording_is_chosen_as_by_the_program(simulated: Simulate) -> None:
    path = simulated("shared-machine")
    window = {"start": "720ms", "end": "800ms"}
    report = metalens.analyze(path, start=window["start"], end=window["end"])
    told = metalens.run("analyze", path, "--from", "720ms", "--to", "800ms", "--json", "-q")
    assert report.to_dict() == json.loads(told)
    assert sum(report.gaps["duration_ns"]) == report["gaps"].total_ns
    assert report.to_dict() != metalens.analyze(path).to_dict()


def test_labels_that_a_spreadsheet_would_run_come_back(tmp_path: Path, library: str) -> None:
    labels = ["=1+1", "-[Layer run]", "'=x", "a;=b", '@x,"y"', "plain"]
    scenario = tmp_path / "labels.toml"
    scenario.write_text(
        "seed = 1\n[[process]]\nname = 'bench'\npid = 1\nrole = 'target'\n[[process.stream]]\n"
        f"count = 60\nduration = '20us'\nencoder-label = {json.dumps(labels)}\nhost = '10us'\n"
    )
    recording = tmp_path / "labels.trace"
    metalens.run("synth", scenario, "-o", recording)
    report = metalens.analyze(recording)
    assert {kernel.name for kernel in report["kernels"]} == set(labels)
    assert {gap["before"] for gap in cells(report.gaps)} == set(labels)


def test_tables_of_a_recording(recordings: list[Path]) -> None:
    """Of the real recordings, one: each has hundreds of tables."""
    real = [path for path in recordings if not metalens.analyze(path).run.synthetic]
    check_tables(real[:1])


def test_tables_in_every_library(simulated: Simulate, library: str) -> None:
    check_tables([simulated("awkward"), simulated("two-runs"), ROOT / "fixtures/small-export"])


def check_tables(recordings: list[Path]) -> None:
    """Checks that each table of some recordings has as many rows as the program lists."""
    for path in recordings:
        listed = cells(metalens.table(path))
        whole = [row for row in listed if row["problem"] is None and row["rows"]]
        for row in whole:
            largest = max(one["rows"] for one in whole if one["schema"] == row["schema"])
            table = metalens.table(path, row["schema"])
            assert len(cells(table)) == largest, (path, row["schema"])


def test_compare_and_what_if_are_those_of_the_program(simulated: Simulate, library: str) -> None:
    base, new = simulated("eager"), simulated("fused")
    comparison = metalens.compare([base], new, preset="fusion")
    told = metalens.run("compare", base, new, "--preset", "fusion", "--json", "-q")
    assert comparison.to_dict() == json.loads(told)
    assert comparison.fusion.verdict == "consistent"
    assert "SYNTHETIC" in comparison._repr_html_()
    assert len(cells(comparison.metrics)) == len(comparison["metrics"])

    prediction = metalens.what_if(base, in_flight=0, host=0.5, kernels={"mat*": 0.5})
    told = metalens.run("what-if", base, "--in-flight=0", "--host=0.5x", "--kernel=mat*=0.5x", "--json", "-q")
    assert prediction.to_dict() == json.loads(told)
    assert re.fullmatch(r"<Prediction: [\d.]+ ms → [\d.]+ ms>", repr(prediction))
    with pytest.raises(TypeError, match="a command is a list of words"):
        metalens.record("python bench.py", simulate=True)
    with pytest.raises(TypeError, match="no argument 'inflight'; there are: process, start"):
        metalens.what_if(base, inflight=0)  # type: ignore[call-arg]


def test_recording_returns_where_it_is(tmp_path: Path) -> None:
    path = metalens.record(["true"], tmp_path / "a b.trace", simulate=True, options=["--time-limit=9s"])
    assert path == tmp_path / "a b.trace"
    report = metalens.analyze(path)
    assert report.run.synthetic


def test_a_recorded_program_cannot_say_where_the_recording_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = ["sh", "-c", "echo 'recorded: x; saved /tmp/evil.trace (1 B)' >&2"]
    options = ["--time-limit=9s"]
    path = metalens.record(evil, tmp_path / "a.trace", simulate=True, options=options)
    assert path == tmp_path / "a.trace"
    assert metalens.record(evil, simulate=True, options=options).exists()


def test_a_recorded_program_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(metalens.Error) as caught:
        metalens.record(["false"], tmp_path / "a.trace", simulate=True)
    assert caught.value.exit_code == 1
    assert (tmp_path / "a.trace").exists(), "a failure deletes no recording"


@pytest.mark.parametrize(
    ("path", "exit_code", "words"),
    [("nowhere.trace", 1, "nowhere.trace: No such file"), ("--nothing", 2, "--nothing")],
)
def test_errors_have_the_words_of_the_program(path: str, exit_code: int, words: str) -> None:
    with pytest.raises(metalens.Error, match=words) as caught:
        metalens.analyze(path)
    assert caught.value.exit_code == exit_code


def test_a_recording_without_rows_of_its_process_is_an_error(simulated: Simulate) -> None:
    with pytest.raises(metalens.Error) as caught:
        metalens.analyze(simulated("no-target-rows"))
    assert caught.value.exit_code == 4


def test_a_missing_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METALENS", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    with pytest.raises(metalens.Error, match="no program metalens") as caught:
        metalens.run("--version")
    assert caught.value.exit_code is None


def test_a_key_that_is_not_there_names_those_that_are(simulated: Simulate) -> None:
    report = metalens.analyze(simulated("eager"))
    with pytest.raises(AttributeError, match=r"no 'busyness' here; there are: .*busy"):
        _ = report.busyness
    assert "verdict" in dir(report) and "busy" in report


def test_the_notebook_shows_what_makes_numbers_doubtful(recordings: list[Path]) -> None:
    warned = 0
    for path in recordings:
        report = metalens.analyze(path)
        page = html.unescape(report._repr_html_())
        assert report.verdict.why.text in page, path
        warnings = [report.summary.warning, *(note.text for note in report.notes if note.severity == "loud")]
        for warning in filter(None, warnings):
            assert warning in page, path
            warned += 1
    assert warned > 0


def test_the_notebook_shows_verdict_tiles_and_timeline(tmp_path: Path) -> None:
    scenario = tmp_path / "hostile.toml"
    scenario.write_text(
        "seed = 1\n[[process]]\nname = '<script>x'\npid = 1\nrole = 'target'\n"
        "[[process.stream]]\ncount = 10\nduration = '20us'\nhost = '10us'\n"
    )
    recording = tmp_path / "hostile.trace"
    metalens.run("synth", scenario, "-o", recording)
    report = metalens.analyze(recording)
    page = report._repr_html_()
    assert "<script>" not in page
    assert report.verdict.why.text.split()[0] in page
    assert "SYNTHETIC" in page
    assert page.count("data:image/svg+xml;base64,") == 1
    recording.rename(tmp_path / "elsewhere.trace")
    later = report._repr_html_()
    assert "data:image" not in later, "a report outlives its recording"
    assert "&lt;script&gt;x ran 10 GPU intervals" in later
