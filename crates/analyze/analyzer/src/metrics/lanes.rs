//! Defines what pictures draw beside the GPU intervals.

use super::counters::{CounterSample, CounterSeries};
use super::cpu::SampledFunctions;
use crate::basics::state_interval::StateInterval;

/// Series over time that pictures draw and a report only sums up.
#[derive(Default)]
pub(crate) struct Lanes {
    /// Performance states of the GPU, in order of time.
    pub performance: Vec<StateInterval>,
    /// Samples of the counters, in the order of the report.
    pub counters: Vec<CounterSeries>,
    /// Allocated memory of the process, in bytes; empty if it does not change in the window.
    pub memory: Vec<CounterSample>,
    /// CPU samples of the threads that encode.
    pub sampled: SampledFunctions,
}
