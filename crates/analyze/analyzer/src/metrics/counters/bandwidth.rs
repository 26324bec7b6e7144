//! Computes the memory bandwidth that counters show, and its share of the chip's.

use crate::metrics::known_work::{Chip, share_range};
use crate::report::{ChipLimits, CounterBandwidth};

/// Counter of what the GPU read from memory, in GB/s.
pub(super) const READ: &str = "GPU Read Bandwidth";
/// Counter of what the GPU wrote to memory, in GB/s.
pub(super) const WRITE: &str = "GPU Write Bandwidth";

/// Memory bandwidth of the chip.
pub(super) struct Bandwidth {
    /// Bandwidth in GB/s; `None` if the chip is unknown.
    pub(super) chip: Option<ChipLimits>,
}

impl Bandwidth {
    /// Finds the chip by the name of its GPU.
    pub(super) fn of_chip(gpu: Option<&str>) -> Self {
        let chip = gpu.and_then(Chip::by_name);
        Self {
            chip: chip.and_then(|chip| chip.bandwidth(None)),
        }
    }

    /// Returns the bandwidth from both counters; `None` if one was not counted.
    pub(super) fn of(&self, read: Option<f64>, write: Option<f64>) -> Option<CounterBandwidth> {
        let (read, write) = (read?, write?);
        Some(CounterBandwidth {
            read_gb_per_s: read,
            write_gb_per_s: write,
            gb_per_s: read + write,
            share: share_range(Some(read + write), self.chip),
        })
    }
}
