"""Spark reads a folder of recordings, with the sums of a dataset that `metalens batch` writes."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ROOT

import metalens

RECORDINGS = 200
SUMS = {"runs": "busy_ns", "steps": "gpu_ns", "kernels": "total_ns", "gaps": "duration_ns"}
FIGURES = "path string, problem string, {} bigint"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes recordings into three folders, one of them damaged, and the dataset of all."""
    pytest.importorskip("pyspark.sql")
    folder = tmp_path_factory.mktemp("fleet")
    for number in range(RECORDINGS):
        scenario = folder / "scenario.toml"
        scenario.write_text(
            f"seed = {number}\n[[process]]\nname = 'bench'\npid = 1\nrole = 'target'\n[[process.stream]]\n"
            f"count = 40\nduration = '{20 + number % 7}us'\nencoder-label = ['a', 'b']\nhost = '10us'\n"
        )
        metalens.run("synth", scenario, "-o", folder / f"runs/{number % 3}/{number}.trace")
    damaged = shutil.make_archive(str(folder / "runs/1/199-damaged.trace"), "zip", folder / "runs/1/1.trace")
    os.truncate(damaged, 3_000)
    with pytest.raises(metalens.Error) as failed:
        metalens.run("batch", folder / "runs", "-o", folder / "reports", "--parquet", folder / "dataset")
    assert failed.value.exit_code == 1
    return folder


@pytest.fixture(scope="module", params=["pysail", "pyspark"])
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Starts each engine: Sail, which needs no Java, and Spark on this machine."""
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if request.param == "pysail":
        server = pytest.importorskip("pysail.spark").SparkConnectServer("127.0.0.1", 0)
        server.start()
        connect = pytest.importorskip("pyspark.sql.connect.session")
        builder = connect.SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}")
    elif shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is no java")
    else:
        builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    session.dataSource.register(metalens.Spark)
    yield session
    session.stop()
    if request.param == "pysail":
        server.stop()


@pytest.mark.parametrize("table", SUMS)
def test_sums_are_those_of_a_dataset(spark: Any, fleet: Path, table: str) -> None:
    dataset = pytest.importorskip("pyarrow.dataset").dataset(fleet / "dataset" / table, partitioning="hive")
    expected = sum(dataset.to_table([SUMS[table]])[SUMS[table]].to_pylist())
    reader = spark.read.format("metalens").option("table", table)
    rows = reader.schema(FIGURES.format(SUMS[table])).load(f"{fleet}/runs").collect()
    assert sum(row[SUMS[table]] for row in rows if row.problem is None) == expected > 0
    assert len({row.path for row in rows}) == RECORDINGS + 1
    (damaged,) = (row for row in rows if row.problem is not None)
    assert damaged.path == f"{fleet}/runs/1/199-damaged.trace.zip"
    assert damaged[SUMS[table]] is None


def test_a_pattern_with_all_columns(spark: Any, fleet: Path) -> None:
    pattern = f"{fleet}/runs/**/19*.trace"
    rows = spark.read.format("metalens").load(pattern).filter("date = '2026-01-01'").collect()
    numbers = [19, *range(190, 200)]
    assert {Path(row.path).name for row in rows} == {f"{number}.trace" for number in numbers}
    for row in rows:
        report = metalens.analyze(row.path)
        assert row.device == report.run.device.model
        assert (row.busy_ns, row.window_ns) == (report.busy.busy_ns, report.window.span_ns)
    intervals = spark.read.format("metalens").option("table", "intervals").load(pattern)
    assert intervals.count() == sum(row.interval_count for row in rows)


def test_the_query_of_the_page(spark: Any, fleet: Path) -> None:
    page = (ROOT / "docs/dataset.md").read_text()
    query = page.partition("## Many recordings")[2].partition("```sql")[2].partition("```")[0]
    steps = spark.read.format("metalens").option("table", "steps").load(f"{fleet}/runs/**/*0.trace")
    steps.createOrReplaceTempView("steps")
    (week,) = spark.sql(query).collect()
    assert week.ms > week.gpu_ms > 0
    assert week.slower is None


def test_wrong_words_are_named(spark: Any, fleet: Path) -> None:
    for table, columns, place, words in [
        ("kernel", None, "runs", "there is no table 'kernel'; there are: counters"),
        ("gaps", "kernal string", "runs", "the table has no column 'kernal'"),
        ("gaps", None, "reports/*.trace", "names no recording"),
    ]:
        reader = spark.read.format("metalens").option("table", table)
        with pytest.raises(Exception, match=words):
            (reader.schema(columns) if columns else reader).load(f"{fleet}/{place}").collect()


def test_what_is_elsewhere_is_copied(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program cannot read the paths of this store, which has bundles and a damaged archive."""
    source, fs = pytest.importorskip("metalens.spark"), pytest.importorskip("pyarrow.fs")
    store = fs.SubTreeFileSystem(str(fleet / "runs"), fs.LocalFileSystem())
    opener = SimpleNamespace(from_uri=lambda root: (store, root.removeprefix("store://bucket/")))
    monkeypatch.setattr(source, "FileSystem", opener)
    spark = metalens.Spark({"path": "store://bucket/**/199*.trace*"})
    reader = spark.reader(spark.schema())
    rows = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    (damaged, read) = rows
    assert read["busy_ns"] == metalens.analyze(fleet / "runs/1/199.trace").busy.busy_ns
    assert (read["path"], read["problem"]) == ("store://bucket/1/199.trace", None)
    assert damaged["path"] == "store://bucket/1/199-damaged.trace.zip"
    assert damaged["problem"].startswith("199-damaged.trace.zip: ")
