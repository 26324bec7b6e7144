//! Analyzes a recording of the GPU: how busy it was, with what work, and why it was idle.
//!
//! The input is a trace that [`metalens_trace`] has read, the output is a [`Report`]: plain data.
//! This crate starts no process, opens no file, and does not print.
//!
//! # Stages
//!
//! ```text
//! trace ─▶ tables ─▶ subject ─▶ metrics ─▶ findings ─▶ Analysis
//!                       ▲          │           │
//!          request ─────┘          └─▶ report ◀┘
//! ```
//!
//! Each stage is a folder and a function of those before it; imports point back along the
//! arrows and never form a circle. `questions` calls the stages in this order:
//!
//! | folder | duty | what is added there |
//! | --- | --- | --- |
//! | `tables` | takes the trace apart, once: a typed struct per table, or the reason why it is absent | a new table, a new column |
//! | `subject` | chooses the processes, the window, their GPU intervals, and the names of their work | a new way to choose or to name |
//! | `metrics` | computes busy time, gaps and their causes, kernels, shape, phases, machine, counters, CPU | a new figure |
//! | `findings` | applies rules to the finished report; makes thresholds, notes and the summary | a new finding, a new note |
//! | `report` | defines the types of all figures: plain data without behavior | the key of a new figure |
//! | `request` | defines what the user asks for: process, window, thresholds, work file | a new option |
//! | `questions` | answers what users ask: the whole analysis, what a change leaves, call stacks | a new question |
//! | `basics` | provides stretches of time and percentiles | |
//!
//! The figures that are compared, limited by gates or columns of a dataset are listed once, in
//! `figures.rs`.
//!
//! A new *column* is a field of its table's struct in `tables`, listed with the others
//! that the table's reader loads. A new *figure* is a field in `report`, computed in the
//! file of `metrics` with the same subject. A new *finding* is a rule in the file of
//! `findings` with the same subject: it reads the report and nothing else.
//!
//! # Words
//!
//! | word | meaning |
//! | --- | --- |
//! | GPU interval | one row of `metal-gpu-intervals`: one *kick* of the GPU, usually one encoder, several if the driver coalesced them, never certainly one dispatch |
//! | process | the process that the report is about; sometimes there are several |
//! | kernel | the name of a GPU interval |
//! | window | the time from the start of the process's first GPU interval to the end of its last, or a part of that |
//! | busy time | the length of the union of the process's GPU intervals inside the window |
//! | gap | a maximal stretch of the window without a GPU interval of the process; all gaps are the idle time |
//! | machine busy | the same union over all processes |
//! | command buffer | all GPU intervals with one id in the recording; it counts in a window if at least one of them does |
//! | queue depth | the number of command buffers that are committed and not finished |
//!
//! # Idle time by cause
//!
//! ```text
//! GPU     …A)                                                     [B…
//! program  ------------)A completed [B encoded … commit)
//!           completion |    host    |     encoding     | submission
//! ```
//!
//! | cause | what happened during that time | table that tells it |
//! | --- | --- | --- |
//! | completion | completion latency: the GPU was done, and the program, which waited for that, was not notified yet | A's command buffer in `metal-command-buffer-completed` |
//! | host | host work: the program did not encode the next command buffer yet | |
//! | encoding | the program encoded the next command buffer, up to its commit | B's encoder in `metal-application-encoders-list`, B's commit in `metal-gpu-intervals` |
//! | submission | submission latency: the next work was committed, and the GPU did not start it yet | |
//! | queued | the next work was committed before the gap began | |
//! | contention | another process ran on the GPU, during submission or queued time | GPU intervals of all processes |
//! | unknown | A has no completion, or B no encoding, in the recording | |
//!
//! A pair is *serialized* if the program encoded B only after it was notified of A's completion.
//!
//! # Laws
//!
//! Every report obeys these laws. They are tested on random traces.
//!
//! * Times are whole nanoseconds; stretches are half-open; unions are made before sums.
//! * Busy time + gaps = window.
//! * The idle time by cause sums to the idle time, for each gap and in total. The causes of
//!   two adjacent windows add up to the causes of both together.
//! * The steps of the main series and what runs once tile the run; the parts of a step sum to its length.
//! * The times at each queue depth sum to the window.
//! * The figures of a command buffer are the same in each window in which it counts, and so
//!   is the queue depth at any time in each window.
//! * The histogram's counts sum to the number of gaps, its totals to the idle time.
//! * The kernels' instances sum to the process's GPU intervals, and so do the channels'.
//! * The intervals of all processes and the unattributed ones sum to all intervals.
//! * The parts of the utilization tile the window; their busy times sum to the busy time.
//! * Machine busy = busy time + others' busy time - their overlap.
//! * Absent is not zero: a process without GPU intervals is an error that lists those with some.
//! * The work of other processes is never counted as the process's own, and never ignored.
//! * `event-depth` is the lane in which Instruments draws a row, and never filters rows.
//! * The same input gives the same output, byte for byte.

mod analysis;
mod basics;
mod error;
mod figures;
mod findings;
mod metrics;
mod questions;
mod replay;
mod report;
mod request;
mod subject;
mod tables;
#[cfg(test)]
mod testing;

pub use analysis::{
    Analysis, AnyInterval, CommandBuffer, ExplainedGap, GpuInterval, GpuSpan, IdleStretch,
};
pub use basics::state_interval::StateInterval;
pub use error::{Error, GpuProcess, Result, RunSamples};
pub use figures::{FIGURES, Figure, MetricGroup, Preference, TimePlace};
pub use findings::{distrust, doubt, ids as finding_ids};
pub use metrics::counters::{CounterSample, CounterSeries, CounterTrack};
pub use metrics::cpu::SampledFunctions;
pub use metrics::cpu::stacks::CollapsedStacks;
pub use metrics::gap_causes::lost_encodings;
pub use metrics::idle::TOP_GAPS;
pub use metrics::mixes::estimate as estimate_kernels;
pub use questions::{
    CpuStacks, IdleStacks, ProgramChange, analyze, cpu_stacks, idle_stacks, what_if,
};
pub use report::*;
pub use request::work_file::{AmountScope, KnownWork, WORK_SCHEMA, WorkFile};
pub use request::{Request, StepChoice};
pub use subject::timeline::lacks_intervals;
pub use tables::{selection, selection_with_raw_events, selection_with_recovery, stacks_selection};
