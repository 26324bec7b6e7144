"""Reports, comparisons and predictions, as the program makes them."""

import csv
import json
import re
import shlex
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from metalens import _html
from metalens._frames import frame
from metalens._program import Error, StrPath, finish, flags, run


class Choice(TypedDict, total=False):
    """The part of a recording that is analyzed. A time is text such as ``1.5s``."""

    process: str | int
    start: str
    end: str
    step: str
    config: StrPath
    work: StrPath
    bytes_per_step: str
    run: int
    allow_truncated: bool


_FLAGS = {"start": "from", "end": "to"}


def _choice(options: Mapping[str, object]) -> list[str]:
    for key in options:
        if key not in Choice.__annotations__:
            raise TypeError(f"there is no argument {key!r}; there are: {', '.join(Choice.__annotations__)}")
    names = {key: _FLAGS.get(key, key).replace("_", "-") for key in options}
    return flags((names[key], value) for key, value in options.items())


class Part:
    """A part of a report, whose keys are attributes: ``report.busy.ratio``, ``report["busy"]``."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts

    def __getattr__(self, name: str) -> Any:
        # A copy of an object asks for this before there is one.
        facts = self.__dict__.get("_facts", {})
        if name not in facts:
            known = ", ".join(facts)
            raise AttributeError(f"there is no {name!r} here; there are: {known}")
        return _part(facts[name])

    def __getitem__(self, key: str) -> Any:
        return _part(self._facts[key])

    def __contains__(self, key: object) -> bool:
        return key in self._facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._facts})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._facts)})"

    def to_dict(self) -> dict[str, Any]:
        """Returns the facts, as ``--json`` has them."""
        return dict(self._facts)


def _part(value: Any) -> Any:
    if isinstance(value, dict):
        return Part(value)
    return [_part(item) for item in value] if isinstance(value, list) else value


class Report(Part):
    """The report on a recording.

    Its attributes are the keys of ``metalens analyze --json``. Five of them are tables: ``steps``,
    ``kernels``, ``gaps``, ``idle`` and ``findings``; what JSON has is ``report["gaps"]`` and so on.
    """

    def __init__(self, facts: Mapping[str, Any], path: StrPath, choice: Sequence[str]) -> None:
        super().__init__(facts)
        self.path = Path(path)
        self._choice = list(choice)

    @property
    def steps(self) -> Any:
        """The kinds of steps, such as tokens or frames; those of the main series first."""
        names = ["intervals", "command_buffers", "count", "total_ns", "median_ns", "p95_ns", "p99_ns"]
        names += ["min_ns", "max_ns", "gpu_ns", "own_ns"]
        rows = [
            {"step": series["name"], "by": series["by"], **{name: kind[name] for name in names}}
            for series in self._facts["steps"]
            for kind in series["kinds"]
        ]
        return frame(rows, ["step", "by", *names])

    @property
    def kernels(self) -> Any:
        """The kernels, the most time first."""
        return frame(self._facts["kernels"])

    @property
    def gaps(self) -> Any:
        """Every stretch without GPU work, with the parts of its time by cause."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "gaps.csv"
            run("analyze", self.path, *self._choice, "--json", "--quiet", f"--gaps={file}")
            with file.open(encoding="utf-8", newline="") as text:
                reader = csv.DictReader(text)
                rows = [{key: _cell(key, cell) for key, cell in row.items()} for row in reader]
                return frame(rows, reader.fieldnames)

    @property
    def idle(self) -> Any:
        """The idle time by cause, the largest first, with its share."""
        idle = self._facts["idle"]
        total = idle["total_ns"]
        rows: list[dict[str, Any]] = [
            {"cause": key.removesuffix("_ns").replace("_", "-"), "time_ns": idle[key]} for key in _html.CAUSES
        ]
        for row in rows:
            row["share"] = row["time_ns"] / total if total else None
        return frame(sorted(rows, key=lambda row: -row["time_ns"]), ["cause", "time_ns", "share"])

    @property
    def findings(self) -> Any:
        """What to do, the most important first."""
        rows = [
            {
                "id": finding["id"],
                "severity": finding["severity"],
                "title": finding["title"],
                "evidence": finding["evidence"]["text"],
                "advice": finding["advice"],
                "saves_ns": (finding["gain"] or {}).get("saves_ns"),
                "speedup": (finding["gain"] or {}).get("speedup"),
                "certainty": (finding["gain"] or {}).get("certainty"),
            }
            for finding in self._facts["findings"]
        ]
        names = ["id", "severity", "title", "evidence", "advice", "saves_ns", "speedup", "certainty"]
        return frame(rows, names)

    def chart(self, chart: str = "timeline") -> str:
        """Draws a chart as SVG: timeline, idle, gaps or kernels."""
        how = flags([("chart", chart), ("format", "svg"), ("output", "-")])
        return run("chart", self.path, *self._choice, *how, "--quiet")

    def __repr__(self) -> str:
        return f"<Report {self.path.name}: {self._facts['verdict']['why']['text']}>"

    def _repr_html_(self) -> str:
        try:
            timeline = self.chart()
        except Error:
            # The recording was moved since; its report is still here.
            timeline = ""
        return _html.report(self._facts, timeline)


class Comparison(Part):
    """What changed between two sides. Its attributes are the keys of ``metalens compare --json``."""

    @property
    def metrics(self) -> Any:
        """The figures of both sides, and their change."""
        metrics = self._facts["metrics"]
        return frame(
            [
                {
                    "id": metric["id"],
                    "name": metric["name"],
                    "unit": metric["unit"],
                    "base": metric["base"]["median"],
                    "new": metric["new"]["median"],
                    "relative": metric["relative"],
                    "change": metric["class"],
                }
                for metric in metrics
            ]
        )

    def __repr__(self) -> str:
        return f"<Comparison: {self._facts['headline']['text']}>"

    def _repr_html_(self) -> str:
        return _html.comparison(self._facts)


class Prediction(Part):
    """What a change would leave. Its attributes are the keys of ``metalens what-if --json``."""

    def __repr__(self) -> str:
        facts = self._facts
        after = (
            [facts["after_ns"]] if facts["after_ns"] is not None else [facts["least_ns"], facts["most_ns"]]
        )
        left = " to ".join(map(_html.duration, after))
        return f"<Prediction: {_html.duration(facts['before_ns'])} → {left}>"


def analyze(path: StrPath, **choice: Unpack[Choice]) -> Report:
    """Reports on a recording: a ``.trace`` bundle, its zip, or what ``xctrace export`` wrote."""
    options = _choice(choice)
    facts = json.loads(run("analyze", path, *options, "--json", "--quiet"))
    return Report(facts, path, options)


def compare(
    base: StrPath | Sequence[StrPath],
    new: StrPath | Sequence[StrPath],
    *,
    preset: str | None = None,
    per: str | None = None,
    allow_different: bool = False,
) -> Comparison:
    """Compares recordings of two sides. Three or more of a side give exact intervals."""
    options = flags([("preset", preset), ("per", per), ("allow-different", allow_different)])
    sides = ["--base", *_paths(base), "--new", *_paths(new)]
    return Comparison(json.loads(run("compare", *options, "--json", "--quiet", *sides)))


def what_if(
    path: StrPath,
    *,
    in_flight: int | None = None,
    per_buffer: int | None = None,
    encode_ahead: bool = False,
    host: float | None = None,
    driver: float | None = None,
    latency: float | None = None,
    kernels: Mapping[str, float] | None = None,
    no_others: bool = False,
    **choice: Unpack[Choice],
) -> Prediction:
    """Predicts what a change of the program would leave.

    ``in_flight=0`` never waits for a command buffer; ``host``, ``driver``, ``latency`` and
    ``kernels={"gemm*": 0.5}`` are factors of time. ``after_ns`` is None if the recording
    does not tell: then see ``least_ns`` and ``most_ns``. Without a change, ``changes`` has what each
    leaves.
    """
    change: list[tuple[str, object]] = [
        ("in-flight", in_flight),
        ("per-buffer", per_buffer),
        ("encode-ahead", encode_ahead),
        ("host", _factor(host)),
        ("driver", _factor(driver)),
        ("latency", _factor(latency)),
        ("no-others", no_others),
    ]
    change += [("kernel", f"{name}={factor}x") for name, factor in (kernels or {}).items()]
    options = [*flags(change), *_choice(choice)]
    return Prediction(json.loads(run("what-if", path, *options, "--json", "--quiet")))


def table(
    path: StrPath,
    name: str | None = None,
    *,
    number: int | None = None,
    run_number: int | None = None,
    allow_truncated: bool = False,
) -> Any:
    """Returns a table of a recording as the recording has it; without a name, the list of tables."""
    options = flags([("number", number), ("run", run_number), ("allow-truncated", allow_truncated)])
    if name is not None:
        lines = run("tables", path, *options, f"--schema={name}", "--format=jsonl", "--quiet")
        # Texts can have other signs that Python takes for the end of a line.
        rows = [json.loads(line) for line in lines.split("\n") if line]
        if rows:
            return frame(rows)
    listed = json.loads(run("tables", path, *options, "--json", "--quiet"))
    if name is None:
        return frame(listed)
    return frame([], next(table["columns"] for table in listed if table["schema"] == name))


def record(
    command: Sequence[StrPath],
    output: StrPath | None = None,
    *,
    time_limit: str | None = None,
    cpu: bool = False,
    force: bool = False,
    simulate: bool = False,
    options: Sequence[str] = (),
) -> Path:
    """Records a program on a Mac, and returns the path of the recording.

    ``options`` are any others of ``metalens record``. With ``simulate``, a fake recorder writes a
    synthetic recording on any machine, and nothing is measured.
    """
    if isinstance(command, str):
        raise TypeError("a command is a list of words, such as ['python', 'bench.py']")
    chosen = flags(
        [
            ("output", output),
            ("time-limit", time_limit),
            ("cpu", cpu),
            ("force", force),
            ("simulate", simulate),
        ]
    )
    _, words = finish(["record", *chosen, *options, "--", *map(str, command)])
    if output is not None:
        return Path(output)
    # The recorded program writes to the same stream, but not after its end.
    saved = re.findall(r"^recorded: .*; saved (.+) \([\d.,]+ \w+\)$", words, re.MULTILINE)
    if not saved:
        raise Error(f"the program did not say where the recording is: {words.strip()}")
    # The program quotes paths as a shell reads them.
    return Path(*shlex.split(saved[-1]))


def _paths(side: StrPath | Sequence[StrPath]) -> list[StrPath]:
    return [side] if isinstance(side, str | PathLike) else list(side)


def _factor(factor: float | None) -> str | None:
    return None if factor is None else f"{factor}x"


_ENDS_OF_CELLS = re.compile(r"(?<=[;\t\n\r])")
_FORMULA = tuple("=+-@＝＋－＠﹦﹢﹣﹫")


def _cell(column: str, cell: str) -> Any:
    """Reads a cell of the CSV of gaps, in which text that a spreadsheet would run has a ' before."""
    if cell == "":
        return None
    if column.endswith("_ns"):
        return int(cell)
    if column == "serialized":
        return cell == "true"
    parts = _ENDS_OF_CELLS.split(cell)
    return "".join(_restored(part, is_first=place == 0) for place, part in enumerate(parts))


def _restored(part: str, *, is_first: bool) -> str:
    start = re.sub(r"^'+", "", part)
    while start and (start[0] == "'" or start[0].isspace() or unicodedata.category(start[0])[0] == "C"):
        start = start[1:]
    begins_odd = is_first and part.lstrip("'").startswith(("\t", "\n", "\r"))
    return part.removeprefix("'") if start.startswith(_FORMULA) or begins_odd else part
