"""Makes data frames of whichever library is installed."""

import importlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from typing import Any

from metalens._program import Error

Row = Mapping[str, Any]
LIBRARIES = ("pandas", "polars", "pyarrow")
_chosen: str | None = None


def use_frames(library: str | None) -> None:
    """Chooses the library of tables: pandas, polars or pyarrow; None for the first installed."""
    global _chosen
    if library is not None and library not in LIBRARIES:
        raise ValueError(f"library is {library!r}, not one of {', '.join(LIBRARIES)}")
    _chosen = library


def frame(rows: Sequence[Row], columns: Sequence[str] | None = None) -> Any:
    """Returns rows as a data frame. What is absent is null in it.

    ``columns`` are those of a table that may have no rows.
    """
    names = list(columns if columns is not None else dict.fromkeys(key for row in rows for key in row))
    cells = {name: [row.get(name) for row in rows] for name in names}
    library = _library()
    module = importlib.import_module(library)
    if library == "pandas":
        return module.DataFrame({name: _for_pandas(module, column) for name, column in cells.items()})
    made = {name: _plain(column) for name, column in cells.items()}
    if library == "polars":
        return module.DataFrame(made, strict=False)
    return module.table({name: _for_arrow(module, column) for name, column in made.items()})


def _library() -> str:
    if _chosen is not None:
        return _chosen
    for library in LIBRARIES:
        if importlib.util.find_spec(library) is not None:
            return library
    raise Error("tables need one of " + ", ".join(LIBRARIES) + ": pip install pandas")


def _for_pandas(pandas: Any, column: list[Any]) -> Any:
    """Keeps whole numbers and flags as they are: beside a null, pandas would make them floats."""
    kinds = {type(cell) for cell in column}
    if type(None) not in kinds or len(kinds) != 2:
        return column
    if int in kinds:
        is_large = any(cell is not None and cell >= 1 << 63 for cell in column)
        return pandas.array(column, dtype="UInt64" if is_large else "Int64")
    return pandas.array(column, dtype="boolean") if bool in kinds else column


def _for_arrow(arrow: Any, column: list[Any]) -> Any:
    """Names the type of ids, which can have 64 bits: Arrow looks at signs first."""
    is_id = any(isinstance(cell, int) and cell >= 1 << 63 for cell in column)
    return arrow.array(column, arrow.uint64() if is_id else None)


def _plain(column: list[Any]) -> list[Any]:
    """Writes nested cells as JSON if the column has others too: a column has one type."""
    kinds = {type(cell) for cell in column} - {type(None)}
    if len(kinds) > 1 and kinds & {dict, list}:
        return [json.dumps(cell) if isinstance(cell, dict | list) else cell for cell in column]
    return column
