"""Reads recordings as tables of Spark 4: ``spark.dataSource.register(metalens.Spark)``."""

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem, copy_files
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from metalens._program import Error, StrPath, run

RECORDINGS = (".trace", ".trace.zip", ".tracearchive")
# Spark needs 75 ms for an empty partition, three times as long as the program for a recording.
A_PARTITION = 10
# These columns are in the names of folders, where a dataset writes `unknown` instead of null.
IN_FOLDERS = ds.HivePartitioning(
    pa.schema([("device", pa.string()), ("date", pa.date32()), ("run", pa.string())]), null_fallback="unknown"
)


class Spark(DataSource):
    """Tables of a dataset, made of recordings: ``spark.read.format("metalens").load("runs/**/*.trace")``.

    The path is a recording, a folder of recordings, or a pattern with ``*`` and ``**``, on a disk or in an
    object store that pyarrow reads, such as ``s3://``. The option ``table`` names the table (default: runs),
    and ``spark.read.schema("kernel string, total_ns bigint")`` chooses columns.

    Each table has two columns more. ``path`` is the recording. ``problem`` is null, or the reason why a
    recording cannot be read: it is one row, whose other columns are null.
    """

    @classmethod
    def name(cls) -> str:
        """Returns the name of the format."""
        return "metalens"

    def schema(self) -> StructType:
        """Returns the columns of the table, as the program writes them."""
        with tempfile.TemporaryDirectory() as folder:
            # All recordings have the same columns, and a synthetic one can be made anywhere.
            recording = Path(folder, "eager.trace")
            run("synth", "eager", "-o", recording, "--quiet")
            columns = _table(recording, self.options.get("table", "runs"), folder).schema
        known = [(column.name, _spark_type(column.type)) for column in columns]
        return from_arrow_schema(pa.schema([*known, ("path", pa.string()), ("problem", pa.string())]))

    def reader(self, schema: StructType) -> "SparkReader":
        """Returns the reader of the columns that are asked for."""
        known = self.schema().names
        wrong = [name for name in schema.names if name not in known]
        if wrong:
            raise ValueError(f"the table has no column {wrong[0]!r}; there are: {', '.join(known)}")
        # Sail hands the schema of Arrow.
        columns = schema if isinstance(schema, pa.Schema) else to_arrow_schema(schema)
        return SparkReader(self.options.get("path", ""), self.options.get("table", "runs"), columns)


class SparkReader(DataSourceReader):
    """Reads a table of many recordings."""

    def __init__(self, place: str, table: str, columns: pa.Schema) -> None:
        self.place = place
        self.table = table
        self.columns = columns

    def partitions(self) -> Sequence[InputPartition]:
        """Lists the recordings, some a partition."""
        found = recordings(self.place)
        starts = range(0, len(found), A_PARTITION)
        return [InputPartition(found[start : start + A_PARTITION]) for start in starts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Lets the program read the recordings, and returns their rows."""
        for recording in partition.value:
            yield from self._rows(recording)

    def _rows(self, recording: "Recording") -> Iterator[pa.RecordBatch]:
        names = self.columns.names
        with tempfile.TemporaryDirectory() as folder:
            try:
                table = _table(recording.on_disk(folder), self.table, folder)
                rows = table.to_table([name for name in names if name in table.schema.names])
            except (Error, OSError) as error:
                # Without the program no recording can be read, which says nothing about this one.
                if isinstance(error, Error) and error.exit_code is None:
                    raise
                if "problem" not in names:
                    return
                rows = pa.table({"problem": [str(error).replace(f"{folder}/", "")]})
        rows = rows.append_column("path", pa.repeat(recording.path, len(rows)))
        cells = [
            rows[column.name].cast(column.type)
            if column.name in rows.column_names
            else pa.nulls(len(rows), column.type)
            for column in self.columns
        ]
        yield from pa.Table.from_arrays(cells, schema=self.columns).to_batches()


@dataclass(frozen=True)
class Recording:
    """A recording on a disk or in an object store."""

    root: str
    """Address of the store and the folder that was searched."""
    inner: str
    """Path in the store."""
    path: str
    """Path for people: what was searched, and where the recording is in it."""

    def on_disk(self, folder: str) -> str:
        """Returns a path that the program can read; copies what is elsewhere into the folder."""
        files, _ = FileSystem.from_uri(self.root)
        if isinstance(files, LocalFileSystem):
            return self.inner
        copy = f"{folder}/{PurePosixPath(self.inner).name}"
        if files.get_file_info(self.inner).type == FileType.Directory:
            os.mkdir(copy)
        copy_files(self.inner, copy, source_filesystem=files, destination_filesystem=LocalFileSystem())
        return copy


def recordings(place: str) -> list[Recording]:
    """Lists the recordings that a path or a pattern names; of a folder, all in it but hidden ones."""
    # Options of a store, such as `?region=eu-central-1`.
    place, mark, options = place.partition("?") if "://" in place else (place, "", "")
    before, star, after = place.partition("*")
    top, slash, last = before.rpartition("/") if star else (before, "", "")
    top, pattern = top + slash, last + star + after
    root = (top if "://" in top else os.path.abspath(top)) + mark + options
    files, folder = FileSystem.from_uri(root)
    if not pattern and _is_recording(files, folder):
        return [Recording(root, folder, top)]

    inner = files.get_file_info(FileSelector(folder, recursive=True))
    paths = [info.path[len(folder) :].lstrip("/") for info in inner]
    if pattern:
        matches = _matcher(pattern).fullmatch
        found = {path for path in paths if matches(path)}
    else:
        found = {path for path in paths if path.endswith(RECORDINGS)}
        found |= {path.removesuffix("/toc.xml") for path in paths if path.endswith("/toc.xml")}
    # What is inside a recording is part of it.
    found = {path for path in found if "/." not in f"/{path}" and found.isdisjoint(_folders(path))}
    if not found:
        raise FileNotFoundError(f"{place!r} names no recording")
    return [Recording(root, f"{folder}/{path}", os.path.join(top, path)) for path in sorted(found)]


def _matcher(pattern: str) -> re.Pattern[str]:
    """Returns the expression of a pattern: ``**/`` is any folders, and ``*`` a part of a name."""
    meanings = {"**/": "(?:.*/)?", "*": "[^/]*"}
    parts = re.split(r"(\*\*/|\*)", pattern)
    return re.compile("".join(meanings.get(part) or re.escape(part) for part in parts))


def _is_recording(files: FileSystem, path: str) -> bool:
    kinds = [info.type for info in files.get_file_info([path, f"{path}/toc.xml"])]
    return kinds[0] == FileType.File or kinds[1] == FileType.File or path.endswith(RECORDINGS)


def _folders(path: str) -> set[str]:
    return {str(folder) for folder in PurePosixPath(path).parents}


def _table(recording: StrPath, name: str, folder: str) -> ds.Dataset:
    """Makes the dataset of a recording, and returns one of its tables."""
    run("analyze", recording, "--parquet", f"{folder}/dataset", "--quiet")
    tables = sorted(os.listdir(f"{folder}/dataset"))
    if name not in tables:
        raise ValueError(f"there is no table {name!r}; there are: {', '.join(tables)}")
    table = ds.dataset(f"{folder}/dataset/{name}", partitioning=IN_FOLDERS)
    # The folders' names come first, as `metalens query --schema` prints them.
    return table.replace_schema(pa.unify_schemas([IN_FOLDERS.schema, table.schema]))


def _spark_type(kind: pa.DataType) -> pa.DataType:
    """Returns the type of a column in Spark, which has no numbers of 64 bits without a sign."""
    return pa.decimal128(20, 0) if kind == pa.uint64() else kind
