//! Tables of Metal resources that were allocated and freed, with the stack of each.

use metalens_trace::Integers;

use super::columns::{OrNull, Processes, Stacks, Texts, Threads, columns};
use super::reader::tables;

tables! {
    /// Tables of allocations: a recording has one of them.
    struct AllocationTables {
        resources: Allocations = RESOURCES,
        before: Allocations = RESOURCES_BEFORE,
    }
}

columns! {
    /// Table of allocations since Instruments 16.
    table RESOURCES = "metal-resource-allocations";
    /// Table of allocations before Instruments 16.
    table RESOURCES_BEFORE = "metal-gpu-allocations";
    struct Allocations {
        times: Integers = "timestamp",
        processes: Processes = "process",
        threads: OrNull<Threads> = "thread",
        ids: Integers = "resource-id",
        parents: OrNull<Integers> = "parent-resource-id",
        labels: OrNull<Texts> = "label",
        sizes: Integers = "resource-size",
        /// `Allocation` or `Deallocation`.
        events: Texts = "event-type",
        stacks: OrNull<Stacks> = "backtrace",
    }
}
