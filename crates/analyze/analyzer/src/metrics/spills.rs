//! Finds the kernels whose registers the compiler spilled to memory.
//!
//! `graphics-compiler-spill-events` has an event for each encoder that ran such code, with the
//! spilled bytes, and no time that matters here. An interval of several encoders has the id of
//! one of them, and counts if that one has an event.

use std::cmp::Reverse;
use std::num::NonZeroU64;

use metalens_message::{Bytes, Ns};

use crate::basics::by_id::ById;
use crate::basics::spans::Span;
use crate::report::KernelSpills;
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;
use crate::tables::names::SpillEvents;

/// Encoders of the process that ran code with spilled registers, each with the largest number of
/// spilled bytes of its events.
pub(crate) struct SpilledEncoders(ById<u64>);

impl SpilledEncoders {
    /// Reads the events of the chosen processes.
    pub(crate) fn read(table: &SpillEvents, chosen: &ChosenProcesses) -> Self {
        let rows = 0..table.encoders.len();
        let own = rows.filter(|&row| chosen.owns_row(table.processes.as_ref(), row));

        let mut events: Vec<(NonZeroU64, u64)> = own
            .filter_map(|row| {
                let id = table.encoders.get(row).and_then(NonZeroU64::new)?;
                // An event of no bytes is not a spill.
                let bytes = table.bytes.get(row).filter(|&bytes| bytes > 0)?;
                Some((id, bytes))
            })
            .collect();
        // Of several events of an encoder the largest counts.
        events.sort_unstable_by_key(|&(id, bytes)| (id, Reverse(bytes)));
        events.dedup_by_key(|&mut (id, _)| id);
        Self(ById::new(events))
    }

    /// Returns the spills of each kernel, by its number.
    pub(super) fn by_kernel(
        &self,
        named: &NamedIntervals,
        mine: &[Interval],
        window: Span,
    ) -> Vec<KernelSpills> {
        let mut kernels = vec![KernelSpills::default(); named.count()];
        for (interval, number) in mine.iter().zip(named.numbers()) {
            let bytes = interval.encoder.and_then(|id| self.0.get(id));
            if let Some((bytes, kernel)) = bytes.zip(kernels.get_mut(number)) {
                kernel.instances += 1;
                kernel.total_ns += Ns(interval.span.clip(window).length_ns());
                kernel.max_bytes = kernel.max_bytes.max(Bytes(bytes));
            }
        }
        kernels
    }
}
