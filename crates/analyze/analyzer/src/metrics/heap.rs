//! Sums up the details of the tracks Allocations, Leaks and VM Tracker.

use metalens_message::Bytes;
use metalens_trace::{Integers, Names, Symbol};
use rustc_hash::FxHashMap;

use crate::report::{CountedBytes, Heap, HeapAllocations, HeapGroup, HeapLeaks, HeapRegions};
use crate::tables::columns::at;
use crate::tables::heap::HeapTables;
use crate::tables::heap::{HeapRows, LeakRows, RegionRows};

/// Largest number of groups in a list.
const LISTED: usize = 20;

/// Returns the memory outside Metal; `None` if no detail was exported.
pub(crate) fn heap(tables: HeapTables, names: &Names) -> Option<Heap> {
    let rows = (
        tables.allocations.ok(),
        tables.leaks.ok(),
        tables.regions.ok(),
    );
    let heap = Heap {
        allocations: rows.0.map(|rows| allocations(&rows, names)),
        leaks: rows.1.map(|rows| leaks(&rows, names)),
        regions: rows.2.map(|rows| regions(&rows, names)),
    };
    let has_any = heap.allocations.is_some() || heap.leaks.is_some() || heap.regions.is_some();
    has_any.then_some(heap)
}

fn allocations(rows: &HeapRows, names: &Names) -> HeapAllocations {
    let of = |texts: &[Option<Symbol>]| {
        groups(texts, names, |row| {
            let whole = counted(bytes(&rows.sizes, row));
            let is_live = at(&rows.live, row).is_some_and(|live| names.text(live) == "true");
            let live = if is_live { whole.bytes } else { Bytes(0) };
            let live = CountedBytes {
                count: u64::from(is_live),
                bytes: live,
            };
            (whole, live)
        })
    };
    let (categories, whole, live) = of(&rows.categories);
    HeapAllocations {
        whole,
        live,
        categories,
        libraries: of(&rows.libraries).0,
    }
}

fn leaks(rows: &LeakRows, names: &Names) -> HeapLeaks {
    let (objects, whole, _) = groups(&rows.objects, names, |row| {
        let leaked = CountedBytes {
            count: bytes(&rows.counts, row),
            bytes: Bytes(bytes(&rows.sizes, row)),
        };
        (leaked, leaked)
    });
    HeapLeaks { whole, objects }
}

fn regions(rows: &RegionRows, names: &Names) -> HeapRegions {
    let sum = |column: &Integers| column.iter().flatten().fold(0, u64::saturating_add);
    let (types, whole, _) = groups(&rows.types, names, |row| {
        let own = bytes(&rows.dirty, row).saturating_add(bytes(&rows.swapped, row));
        (counted(bytes(&rows.sizes, row)), counted(own))
    });
    HeapRegions {
        whole,
        resident_bytes: Bytes(sum(&rows.resident)),
        dirty_bytes: Bytes(sum(&rows.dirty)),
        swapped_bytes: Bytes(sum(&rows.swapped)),
        types,
    }
}

/// Returns the groups with the most live bytes, and the sums of all.
fn groups(
    texts: &[Option<Symbol>],
    names: &Names,
    parts: impl Fn(usize) -> (CountedBytes, CountedBytes),
) -> (Vec<HeapGroup>, CountedBytes, CountedBytes) {
    let mut sums = (CountedBytes::default(), CountedBytes::default());
    let mut by_name: FxHashMap<Option<Symbol>, (CountedBytes, CountedBytes)> = FxHashMap::default();
    for (row, &text) in texts.iter().enumerate() {
        let (whole, live) = parts(row);
        let group = by_name.entry(text).or_default();
        for (sum, part) in [
            (&mut sums.0, whole),
            (&mut sums.1, live),
            (&mut group.0, whole),
            (&mut group.1, live),
        ] {
            sum.count = sum.count.saturating_add(part.count);
            sum.bytes = sum.bytes.saturating_add(part.bytes);
        }
    }
    let group = |(name, (whole, live)): (Option<Symbol>, _)| HeapGroup {
        name: name.map(|name| names.text(name).to_owned()),
        whole,
        live,
    };
    let mut groups: Vec<HeapGroup> = by_name.into_iter().map(group).collect();
    groups.sort_by_cached_key(|group| {
        let largest = std::cmp::Reverse((group.live.bytes, group.whole.bytes));
        (largest, group.name.clone())
    });
    groups.truncate(LISTED);
    (groups, sums.0, sums.1)
}

const fn counted(bytes: u64) -> CountedBytes {
    CountedBytes {
        count: 1,
        bytes: Bytes(bytes),
    }
}

fn bytes(column: &Integers, row: usize) -> u64 {
    column.get(row).unwrap_or(0)
}
