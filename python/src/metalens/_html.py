"""HTML for notebooks. Every text of a recording is escaped."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# Causes of idle time, as keys of a report, and as the program names them.
CAUSES = {
    "completion_ns": "completion latency",
    "host_ns": "host work",
    "encoding_ns": "encoding",
    "driver_wait_ns": "driver wait",
    "driver_ns": "driver",
    "start_latency_ns": "GPU start latency",
    "submission_ns": "submission latency",
    "queued_ns": "queued",
    "contention_ns": "contention",
    "unknown_ns": "unknown",
}

_BOX = "border:1px solid #8886;border-radius:6px;padding:6px 10px"


def report(facts: Mapping[str, Any], timeline: str) -> str:
    """Shows the verdict, tiles and the timeline of a report."""
    summary, idle = facts["summary"], facts["idle"]
    ratio, total = facts["busy"]["ratio"], facts["gaps"]["total_ns"]
    cause = max(CAUSES, key=lambda key: idle[key]) if total else None
    tiles = [
        ("GPU busy", "not recorded" if ratio is None else f"{ratio * 100:.1f} %"),
        ("GPU intervals", f"{facts['counts']['intervals']:,}"),
        ("GPU idle", duration(total)),
        ("Largest cause", CAUSES[cause] if cause else "none"),
    ]
    # The chart says the others, too.
    keys = ("advice",) if timeline else ("busy", "idle", "advice")
    sentences = [summary["warning"], *((summary[key] or {}).get("text") for key in keys)]
    parts = [
        _verdict(facts["verdict"]["why"]["text"]),
        tile_row(tiles),
        *(_line(sentence) for sentence in sentences if sentence),
        _loud(facts["notes"]),
    ]
    if timeline:
        # As a picture, no style or id of the page can meet those of the chart.
        data = base64.b64encode(timeline.encode()).decode()
        text = escape(f"timeline of {facts['process']['name']}")
        parts.append(f'<img alt="{text}" src="data:image/svg+xml;base64,{data}" style="max-width:100%">')
    return "<div>" + "".join(parts) + "</div>"


def comparison(facts: Mapping[str, Any]) -> str:
    """Shows the headline and the changes of a comparison."""
    moved = "".join(f"<li>{escape(change['says']['text'])}</li>" for change in facts["moved"])
    notes = "".join(_line(note["text"]) for note in facts["comparable"]["notes"])
    notes += _loud(facts["notes"])
    return f"<div>{_verdict(facts['headline']['text'])}<ul>{moved}</ul>{notes}</div>"


def tile_row(tiles: Sequence[tuple[str, str]]) -> str:
    """Shows names and values beside each other."""
    boxes = "".join(
        f'<div style="{_BOX}"><small>{escape(name)}</small><br><b>{escape(value)}</b></div>'
        for name, value in tiles
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px;margin:8px 0">{boxes}</div>'


def rows(table: Sequence[Mapping[str, str]]) -> str:
    """Shows rows of text as a table."""
    names = list(dict.fromkeys(name for row in table for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = ("".join(f"<td>{escape(row.get(name, ''))}</td>" for name in names) for row in table)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def duration(ns: float | None) -> str:
    """Returns a time with a unit, with four digits."""
    if ns is None:
        return "not recorded"
    for limit, unit in ((1e3, "ns"), (1e6, "µs"), (1e9, "ms")):
        if abs(ns) < limit:
            return f"{ns / (limit / 1e3):.4g} {unit}"
    return f"{ns / 1e9:,.4g} s"


def _verdict(text: str) -> str:
    return f'<p style="font-size:1.1em"><b>{escape(text)}</b></p>'


def _line(text: str) -> str:
    return f'<p style="margin:2px 0">{escape(text)}</p>'


def _loud(notes: Sequence[Mapping[str, Any]]) -> str:
    loud = [note["text"] for note in notes if note["severity"] == "loud"]
    return "".join(f'<p style="margin:2px 0"><b>{escape(text)}</b></p>' for text in loud)
