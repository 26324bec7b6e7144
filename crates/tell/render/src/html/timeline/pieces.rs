//! Intervals and idle parts of a timeline, and the numbers that the page's script knows them by.

use std::num::NonZeroU64;

use metalens_analyzer::{Cause, IdleStretch};

use super::packed::Packed;

/// A GPU interval of the process.
pub(super) struct IntervalPiece<'a> {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) lane: usize,
    pub(super) kernel: &'a str,
    /// Number of the kernel's color.
    pub(super) color: usize,
    /// Id of its command buffer; `None` if unknown.
    pub(super) buffer: Option<NonZeroU64>,
}

/// Start and end of a stretch, relative to the start of the window.
pub(super) type Stretch = (u64, u64);

/// Returns the index of the stretch's cause among all causes.
pub(super) fn number_of(stretch: &IdleStretch) -> usize {
    let mut causes = Cause::ALL.iter();
    causes
        .position(|&cause| cause == stretch.cause)
        .unwrap_or(0)
}

/// Packs a bit for each part that is not zero, then these parts.
pub(super) fn put_parts(packed: &mut Packed, parts: [u64; Cause::ALL.len()]) {
    let there = parts.iter().enumerate().filter(|(_, ns)| **ns > 0);
    packed.put(there.map(|(at, _)| 1 << at).sum());
    for ns in parts.into_iter().filter(|&ns| ns > 0) {
        packed.put(ns);
    }
}
