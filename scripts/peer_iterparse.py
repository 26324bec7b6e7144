#!/usr/bin/env python3
"""What metalens' figures cost in Python: the same job with ElementTree.iterparse.

    peer_iterparse.py FOLDER [--lxml]    an export of one run: toc.xml, metal-gpu-intervals.xml

The program one would write without metalens, and a second opinion on it: the
two share no code, and scripts/bench demands equal figures. It reads the
streaming way: a row is emptied as soon as it is read, and what stays are two
numbers a row and the values that later rows may refer to. It checks nothing:
of a damaged export it makes a traceback or a wrong number.
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
    """The pid and the [start, end) of each row, in nanoseconds.

    A value that was written before is not written again but referred to:
    `<duration ref="5"/>` is the element with id 5, of any column, at any depth.
    The process of nearly every row was written once, inside some label, and its
    pid nests once more. So values come from all elements, not from cells alone.
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
            # The place tells a cell's column; its tag does not: two are <duration>.
            start, duration, pid = (value(element[at]) for at in columns)
            yield pid, (start, start + duration)
            element.clear()
            # lxml keeps the emptied rows with their parent; ElementTree's cost little.
            before = element.getprevious() if hasattr(element, "getprevious") else None
            if before is not None and before.tag == "row":
                element.getparent().remove(before)
        elif tag == "schema":
            names = [column.findtext("mnemonic") for column in element]
            types = [column.findtext("engineering-type") for column in element]
            columns = [names.index(name) for name in ("start", "duration", "process")]
            numbers = {types[columns[0]], types[columns[1]], "pid"}


def report(everyone, mine):
    """The figures, as crates/analyzer/src/report.rs defines them."""
    # The window: from the target's first start to its last end.
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
    """The disjoint stretches that spans cover together.

    Adding durations instead would count overlapping work twice.
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
