"""Datasets are read as they are by pandas, polars, DuckDB and pyarrow."""

import datetime
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import metalens

TABLES = ("runs", "intervals", "gaps", "kernels", "findings", "counters", "phase_kernels", "steps")
# Of each run: device, date, and sums that are figures of its report.
Runs = dict[str, tuple[str, str, int, int]]


def by_pandas(dataset: Path) -> Runs:
    pandas = pytest.importorskip("pandas")
    tables = {name: pandas.read_parquet(dataset / name) for name in TABLES}
    gaps = tables["gaps"].groupby("run", observed=True)["duration_ns"].sum()
    kernels = tables["kernels"].groupby("run", observed=True)["total_ns"].sum()
    return {
        row.run: (row.device, row.date, int(gaps.get(row.run, 0)), int(kernels[row.run]))
        for row in tables["runs"].itertuples()
    }


def by_polars(dataset: Path) -> Runs:
    polars = pytest.importorskip("polars")
    tables = {name: polars.read_parquet(dataset / name) for name in TABLES}
    sums = [
        dict(tables[name].group_by("run").agg(polars.col(column).sum()).rows())
        for name, column in (("gaps", "duration_ns"), ("kernels", "total_ns"))
    ]
    runs = tables["runs"].select("run", "device", "date").rows()
    return {run: (device, text(date), sums[0].get(run, 0), sums[1][run]) for run, device, date in runs}


def by_duckdb(dataset: Path) -> Runs:
    duckdb = pytest.importorskip("duckdb")
    for name in TABLES:
        duckdb.sql(f"SELECT * FROM read_parquet('{dataset}/{name}/**/*.parquet')").fetchall()
    rows = duckdb.sql(
        f"""
        SELECT run, device, CAST(date AS VARCHAR),
            (SELECT coalesce(sum(duration_ns), 0)::BIGINT
             FROM read_parquet('{dataset}/gaps/**/*.parquet') gaps WHERE gaps.run = runs.run),
            (SELECT sum(total_ns)::BIGINT
             FROM read_parquet('{dataset}/kernels/**/*.parquet') kernels WHERE kernels.run = runs.run)
        FROM read_parquet('{dataset}/runs/**/*.parquet') runs
        """
    ).fetchall()
    return {run: tuple(rest) for run, *rest in rows}


def by_pyarrow(dataset: Path) -> Runs:
    arrow = pytest.importorskip("pyarrow.dataset")
    tables = {
        name: arrow.dataset(dataset / name, partitioning="hive").to_table().to_pylist() for name in TABLES
    }

    def total(name: str, column: str, run: str) -> int:
        return sum(row[column] for row in tables[name] if row["run"] == run)

    return {
        row["run"]: (
            row["device"],
            text(row["date"]),
            total("gaps", "duration_ns", row["run"]),
            total("kernels", "total_ns", row["run"]),
        )
        for row in tables["runs"]
    }


def text(date: Any) -> str:
    return date.isoformat() if isinstance(date, datetime.date) else str(date)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, recordings: list[Path]) -> tuple[Path, list[Any]]:
    """Writes a dataset, with a recording whose device is unknown; returns it with the reports."""
    folder = tmp_path_factory.mktemp("dataset")
    nameless = folder / "nameless.export"
    metalens.run("synth", "eager", "-o", nameless)
    toc = nameless / "toc.xml"
    toc.write_text(toc.read_text().replace("Synthetic Mac", ""))
    dataset = folder / "fleet"
    reports: dict[str, Any] = {}
    for path in [*recordings, nameless]:
        before = names(dataset)
        told = json.loads(metalens.run("analyze", path, "--json", "-q", "--parquet", dataset))
        # A bundle and its export are one run, which the later one replaces.
        reports |= {run.name: told for run in names(dataset) - before}
    return dataset, list(reports.values())


def names(dataset: Path) -> set[Path]:
    return {path.parent for path in dataset.glob("runs/*/*/*/part.parquet")}


@pytest.mark.parametrize("read", [by_pandas, by_polars, by_duckdb, by_pyarrow])
def test_a_dataset_is_read_as_it_is(recorded: tuple[Path, list[Any]], read: Callable[[Path], Runs]) -> None:
    dataset, reports = recorded
    expected = sorted(
        (
            report["run"]["device"]["model"] or "unknown",
            (report["run"]["start"] or "unknown")[:10],
            report["gaps"]["total_ns"],
            report["busy"]["sum_ns"],
        )
        for report in reports
    )
    assert ("unknown", "2026-01-01") in {row[:2] for row in expected}
    assert sorted(read(dataset).values()) == expected


@pytest.mark.parametrize("read", [by_pandas, by_polars, by_duckdb, by_pyarrow])
def test_a_run_of_unknown_date_is_read_too(tmp_path: Path, read: Callable[[Path], Runs]) -> None:
    """A table alone knows neither its device nor its date."""
    table = (ROOT / "fixtures/small-export/metal-gpu-intervals.xml").read_bytes()
    alone = tmp_path / "metal-gpu-intervals.xml.gz"
    alone.write_bytes(gzip.compress(table))
    dataset = tmp_path / "fleet"
    metalens.run("analyze", alone, "--parquet", dataset, "-q")
    (found,) = read(dataset).values()
    assert found[:2] == ("unknown", "unknown")
