"""Reads metal-resource-allocations.xml of each folder, with metal-driver-event-intervals.xml and
os-signpost.xml if they are there, and prints one line of figures for each.

Written from Apple's format and the words in docs/reading-a-report.md, not from the Rust code.
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def rows(path):
    """Yields the rows as dicts of elements, with references resolved."""
    root = xml.parse(path).getroot()
    known = {element.get("id"): element for element in root.iter() if element.get("id")}
    names = [col.findtext("mnemonic") for col in root.iter("col")]
    for row in root.iter("row"):
        cells = [known.get(cell.get("ref"), cell) for cell in row]
        yield known, dict(zip(names, cells))


def is_of(pid, known, row):
    """Returns whether a row is of a process."""
    process = row["process"].find("pid")
    return known.get(process.get("ref"), process).text == pid


def figures(path, pid):
    """Returns counts and bytes of one process."""
    made = inside = size = freed = freed_size = unborn = peak = 0
    live = {}
    events = sorted(rows(path), key=lambda row: int(row[1]["timestamp"].text))
    births, ends = [], []
    for known, row in events:
        if not is_of(pid, known, row):
            continue
        at, key = int(row["timestamp"].text), row["resource-id"].text
        if row["event-type"].text == "Deallocation":
            if key not in live:
                unborn += 1
                continue
            freed, freed_size = freed + 1, freed_size + live[key]
            ends.append((at, live.pop(key)))
            continue
        frames = [known.get(one.get("ref"), one) for one in row["backtrace"].iter("frame")]
        is_inside = any("initWithPrimaryBuffer:" in frame.get("name") for frame in frames)
        own = 0 if is_inside else int(row["resource-size"].text)
        made, inside, size = made + 1, inside + is_inside, size + own
        live[key] = own
        births.append((at, own))
    for at, _ in births:
        now = sum(own for born, own in births if born <= at)
        peak = max(peak, now - sum(own for end, own in ends if end <= at))
    return made, inside, size, freed, freed_size, unborn, peak, len(live), sum(live.values())


def phases(path, folder, pid):
    """Returns allocations and bytes in each phase, summed up, and in no phase."""
    begun, spans = {}, {}
    events = sorted(rows(folder / "os-signpost.xml"), key=lambda row: int(row[1]["time"].text))
    for known, row in events:
        if not is_of(pid, known, row):
            continue
        at, name = int(row["time"].text), row["name"].text
        key = name, row["subsystem"].text, row["category"].text, row["identifier"].text
        if row["event-type"].text == "Begin":
            begun.setdefault(key, []).append(at)
        elif row["event-type"].text == "End" and begun.get(key):
            spans.setdefault(name, []).append((begun[key].pop(), at))
    if not spans:
        return ()
    sums = [0, 0, 0, 0]
    for known, row in rows(path):
        if not is_of(pid, known, row) or row["event-type"].text == "Deallocation":
            continue
        at = int(row["timestamp"].text)
        frames = [known.get(one.get("ref"), one) for one in row["backtrace"].iter("frame")]
        is_inside = any("initWithPrimaryBuffer:" in frame.get("name") for frame in frames)
        own = 0 if is_inside else int(row["resource-size"].text)
        within = [any(start <= at < end for start, end in each) for each in spans.values()]
        sums[0], sums[1] = sums[0] + sum(within), sums[1] + own * sum(within)
        if not any(within):
            sums[2], sums[3] = sums[2] + 1, sums[3] + own
    return sums


def wired(path, pid):
    """Returns times and bytes that the driver wired, and that it was asked to unwire."""
    sums = {"Wire Memory": [0, 0], "Unwire Memory Request": [0, 0]}
    for known, row in rows(path):
        if not is_of(pid, known, row):
            continue
        # The label has the size as a number of its own, which its text rounds.
        sizes = [known.get(one.get("ref"), one) for one in row["event-label"].iter("size-in-bytes")]
        sums[row["event-type"].text][0] += 1
        sums[row["event-type"].text][1] += int(sizes[0].text)
    return *sums["Wire Memory"], *sums["Unwire Memory Request"]


for line in sys.stdin:
    folder, pid = line.rstrip("\n").split("\t")
    folder = Path(folder)
    table = folder / "metal-resource-allocations.xml"
    events = folder / "metal-driver-event-intervals.xml"
    printed = [*figures(table, pid), *(wired(events, pid) if events.exists() else ())]
    has_signposts = (folder / "os-signpost.xml").exists()
    print(*printed, *(phases(table, folder, pid) if has_signposts else ()))
