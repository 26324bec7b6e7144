//! Tables → subject → metrics → report → findings.
//!
//! Given a trace that [`metalens_trace`] has read, says how busy the GPU was,
//! with what, and when it was idle, whose fault that was. This crate starts no
//! process and opens no file, and it does not print: a [`Report`] is plain data.
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
//! arrows and never form a circle. `analyze` calls the stages in this order:
//!
//! | folder | what it does | what is added there |
//! | --- | --- | --- |
//! | `tables` | takes the trace apart, once: a typed struct per table, or why it is absent | a new table, a new column |
//! | `subject` | whom and when: the target, its window, its intervals and what they are called | a new way to choose or to name |
//! | `metrics` | occupancy (busy, gaps), ledger (whose fault), kernels, shape, phases; machine, counters, CPU | a new figure |
//! | `findings` | rules over the finished report; verdicts, notes, the summary | a new finding, a new note |
//! | `report` | the types of all figures: plain data without behavior | the key of a new figure |
//! | `request` | what the user asks: target, window, limits, known work | a new option |
//! | `basics` | stretches of time, percentiles, numbers in words | |
//!
//! A new *column* is a field of its table's struct in `tables`, named beside the others
//! that the table's reader loads. A new *figure* is a field in `report`, computed in the
//! file of `metrics` that is about the same subject. A new *finding* is a rule in the file
//! of `findings` that is about the same subject: it reads the report and nothing else.
//!
//! # Words
//!
//! | word | meaning |
//! | --- | --- |
//! | interval | one row of `metal-gpu-intervals`: one *kick* of the GPU, usually one encoder, several when the driver coalesced, never certainly one dispatch |
//! | target | the process or processes the trace is about |
//! | kernel | what an interval is called |
//! | window | from the start of the target's first interval to the end of its last, or what was cut out of that |
//! | busy | the length of the union of the target's intervals inside the window |
//! | gap | a maximal stretch of the window without an interval of the target |
//! | machine busy | the same union over all processes |
//! | command buffer | all intervals of one id in the recording; counts in a window if at least one of them does |
//!
//! # Whose fault a gap is
//!
//! ```text
//! GPU     …A)                                          [B…
//! program  ------------)A completed     [B encoded)
//!           completion |      host      |  encode  | launch
//! ```
//!
//! | part | what was waited for | joined by |
//! | --- | --- | --- |
//! | completion | the program did not know yet that the GPU was done | A's command buffer in `metal-command-buffer-completed` |
//! | host | the program knew, and was busy with something else | |
//! | encode | the program encoded the next work | B's encoder in `metal-application-encoders-list` |
//! | launch | the next work was on its way to the GPU | |
//! | queued | B was encoded before the gap began: the GPU had it | |
//! | foreign | what of launch and queued another process held the GPU for | everyone's intervals |
//! | unexplained | A has no completion, or B no encoding, in the recording | |
//!
//! A pair is *serialized* when B was encoded only after A was known to be done.
//!
//! # Laws
//!
//! They hold for every report, and are tested on random traces.
//!
//! * Time is whole nanoseconds; stretches are half-open; unions before sums.
//! * busy + gaps = window.
//! * The ledger's parts sum to the idle time, for each gap and in total; two
//!   windows that touch have between them the ledger of the two together.
//! * The queue's times sum to the window.
//! * Figures of a command buffer are the same in each window in which it counts; so is
//!   the queue depth at a moment in each window.
//! * The histogram's counts sum to the gaps, its totals to the idle time.
//! * The kernels' instances sum to the target's intervals, as do the channels'.
//! * The processes' intervals and the unattributed ones sum to all intervals.
//! * The parts of the utilization tile the window; their busy times sum to busy.
//! * Nothing is left out as warm-up unless that is asked for, and then both results are shown.
//! * machine busy = busy + foreign busy - foreign overlap.
//! * Absent is not zero: a target without rows is an error that lists who was there.
//! * Other processes' work is never counted as the target's and never ignored.
//! * `event-depth` is the lane in which Instruments draws a row, never a filter.
//! * Same input, same bytes out.

mod analysis;
mod analyze;
mod basics;
#[doc(hidden)]
pub mod benching;
mod error;
mod findings;
mod metrics;
mod profile;
mod report;
mod request;
mod subject;
mod tables;
#[cfg(test)]
mod testing;

pub use analysis::{Analysis, AnyInterval, ExplainedGap, GpuInterval, GpuSpan, IdleStretch};
pub use analyze::analyze;
pub use basics::held::Held;
pub use basics::message::{Message, MessageMut, PlacedValue};
pub use basics::{message, units};
pub use error::{Error, Present, Result};
pub use findings::ids as finding_ids;
pub use metrics::cpu::stacks::CollapsedStacks;
pub use metrics::ledger::lost_encodings;
pub use profile::{collapsed_stacks, profile};
pub use report::*;
pub use request::Request;
pub use request::settings::{Settings, Thresholds};
pub use request::sidecar::{KnownWork, Per, Sidecar, Timing, WORK_SCHEMA, work_json_schema};
pub use tables::{profile_selection, selection, selection_with_recovery};
