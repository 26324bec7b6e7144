//! Tables of the details of the tracks Allocations, Leaks and VM Tracker, which name no process: they
//! are about the recorded one.

use metalens_trace::Integers;

use super::columns::{Texts, columns};
use super::reader::tables;

tables! {
    /// Details of the tracks of memory outside Metal.
    struct HeapTables {
        allocations: HeapRows = ALLOCATIONS,
        leaks: LeakRows = LEAKS,
        regions: RegionRows = REGIONS,
    }
}

columns! {
    /// Detail `Allocations List`.
    table ALLOCATIONS = "allocations-list";
    struct HeapRows {
        categories: Texts = "category",
        /// `true` or `false`.
        live: Texts = "live",
        sizes: Integers = "size",
        libraries: Texts = "responsible-library",
    }
}

columns! {
    /// Detail `Leaks`.
    table LEAKS = "leaks-list";
    struct LeakRows {
        objects: Texts = "leaked-object",
        sizes: Integers = "size",
        counts: Integers = "count",
    }
}

columns! {
    /// Detail `Regions Map`.
    table REGIONS = "vm-regions-map";
    struct RegionRows {
        types: Texts = "type",
        sizes: Integers = "virtual-size",
        resident: Integers = "resident-size",
        dirty: Integers = "dirty-size",
        swapped: Integers = "swapped-size",
    }
}
