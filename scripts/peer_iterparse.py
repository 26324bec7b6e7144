#!/usr/bin/env python3
"""Computes metalens' main figures in Python with ElementTree.iterparse.

    peer_iterparse.py FOLDER [--lxml]    an export of one run: toc.xml, metal-gpu-intervals.xml

This is the program that one would write without metalens. It shares no code with metalens, and
scripts/bench requires equal figures. It streams: each row is emptied as soon as it is read, and
only two numbers per row stay in memory, besides the values that later rows may refer to. It checks
nothing: a damaged export gives a traceback or a wrong number.
"""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

if sys.argv[2:] == ["--lxml"]:
    from lxml import etree as ElementTree  # the same interface, in C


def main(folder):
    toc = ElementTree.parse(str(folder / "toc.xml"))
    process = toc.find("run/info/target/process")
    if process is None:
        sys.exit("toc.xml names no target process")
    target = int(process.get("pid"))

    everyone, mine = [], []
    for pid, span in intervals(folder / "metal-gpu-intervals.xml"):
        everyone.append(span)
        if pid == target:
            mine.append(span)
    if not mine:
        sys.exit(f"no interval is of the target, pid {target}")
    print(json.dumps(report(everyone, mine), indent=2))


def intervals(path):
    """Yields the pid and the [start, end) of each row, in nanoseconds.

    xctrace writes each distinct value once, and refers to it later: `<duration ref="5"/>` has the
    value of the element with id 5, of any column and at any depth. The process of nearly every row
    was written inside some label, and contains its pid as another element. So values are collected
    from all elements, not only from cells.
    """
    values = {}  # id → the value of that element

    def value(element):
        if element.tag == "sentinel":  # null
            return None
        return values[element.get("ref") or element.get("id")]

    columns, numbers = [], set()
    for _, element in ElementTree.iterparse(str(path)):  # each as it ends, children first
        tag = element.tag
        if tag in numbers:
            if "id" in element.attrib:
                values[element.get("id")] = int(element.text)
        elif tag == "process":
            if "id" in element.attrib:
                values[element.get("id")] = value(element.find("pid"))
        elif tag == "row":
            # A cell belongs to the column at its position. Tags are types, and two columns are
            # <duration>.
            start, duration, pid = (value(element[at]) for at in columns)
            yield pid, (start, start + duration)
            element.clear()
            # With lxml the emptied rows would fill the memory; with ElementTree they are small.
            before = element.getprevious() if hasattr(element, "getprevious") else None
            if before is not None and before.tag == "row":
                element.getparent().remove(before)
        elif tag == "schema":
            names = [column.findtext("mnemonic") for column in element]
            types = [column.findtext("engineering-type") for column in element]
            columns = [names.index(name) for name in ("start", "duration", "process")]
            numbers = {types[columns[0]], types[columns[1]], "pid"}


def report(everyone, mine):
    """Returns the figures, as crates/analyze/analyzer/src/report.rs defines them."""
    # The window lasts from the first start to the last end of the target's intervals.
    first = min(start for start, _ in mine)
    last = max(end for _, end in mine)
    inside = [(max(start, first), min(end, last)) for start, end in everyone]

    busy, gaps, idle_since = 0, [], first
    for start, end in union(mine):
        busy += end - start
        if start > idle_since:
            gaps.append(start - idle_since)
        idle_since = end
    if last > idle_since:
        gaps.append(last - idle_since)
    gaps.sort()

    return {
        "intervals": len(mine),
        "all_intervals": len(everyone),
        "span_ns": last - first,
        "busy_ns": busy,
        "machine_busy_ns": sum(end - start for start, end in union(inside)),
        "gaps": {
            "count": len(gaps),
            "median_ns": gaps[(len(gaps) - 1) // 2] if gaps else None,
            "total_ns": sum(gaps),
        },
    }


def union(spans):
    """Yields the union of the spans as disjoint spans, in order.

    A sum of the durations would count overlapping work twice.
    """
    current_start = current_end = None
    for start, end in sorted(spans):
        if start >= end:  # no length, or clipped away
            continue
        if current_end is None or start > current_end:
            if current_end is not None:
                yield current_start, current_end
            current_start, current_end = start, end
        else:
            current_end = max(current_end, end)
    if current_end is not None:
        yield current_start, current_end


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--lxml"]):
        sys.exit("usage: peer_iterparse.py FOLDER [--lxml]")
    main(Path(sys.argv[1]))
