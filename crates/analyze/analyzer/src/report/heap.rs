//! Types of the memory outside Metal: heap, leaks and regions of virtual memory.

use metalens_message::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CountedBytes;

/// Memory of the recorded process by the details of the tracks Allocations, Leaks and VM Tracker,
/// in the whole recording. A part is null if the input has no export of its detail; bundles are not
/// read for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heap {
    /// Allocations, as the list of Instruments has them.
    pub allocations: Option<HeapAllocations>,
    /// Objects that nothing refers to any more.
    pub leaks: Option<HeapLeaks>,
    /// Regions of virtual memory when Instruments looked last.
    pub regions: Option<HeapRegions>,
}

/// Allocations of the heap and of virtual memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapAllocations {
    /// All allocations in the list.
    pub whole: CountedBytes,
    /// Those that were live at the end.
    pub live: CountedBytes,
    /// Categories, such as `Malloc 80 Bytes`, the most live bytes first. At most 20.
    pub categories: Vec<HeapGroup>,
    /// Libraries that are responsible, the most live bytes first. At most 20.
    pub libraries: Vec<HeapGroup>,
}

/// Objects that nothing refers to any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapLeaks {
    /// All leaked objects together.
    pub whole: CountedBytes,
    /// Kinds of objects, such as `NSData`, the most bytes first. At most 20.
    pub objects: Vec<HeapGroup>,
}

/// Regions of virtual memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapRegions {
    /// All regions, and their addresses' bytes.
    pub whole: CountedBytes,
    /// Bytes that are in memory.
    pub resident_bytes: Bytes,
    /// Bytes that were changed, and stay in memory.
    pub dirty_bytes: Bytes,
    /// Bytes that were swapped out or compressed.
    pub swapped_bytes: Bytes,
    /// Types of regions, such as `MALLOC_NANO`, the most dirty and swapped bytes first; `live` has
    /// these bytes. At most 20.
    pub types: Vec<HeapGroup>,
}

/// Memory with one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapGroup {
    /// Name of the category, library, object or type; null if Instruments names none.
    pub name: Option<String>,
    /// All memory with the name.
    pub whole: CountedBytes,
    /// Part of it that was live at the end.
    pub live: CountedBytes,
}
