//! Tables → timeline → metrics → report.
//!
//! Given a trace that [`metalens_trace`] has read, says how busy the GPU was,
//! with what, and when it was idle. This crate starts no process and opens no
//! file; it neither prints nor formats for people: a [`Report`] is plain data.
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
//!
//! # Laws
//!
//! They hold for every report, and are tested on random traces.
//!
//! * Time is whole nanoseconds; stretches are half-open; unions before sums.
//! * busy + gaps = window.
//! * The histogram's counts sum to the gaps, its totals to the idle time.
//! * The kernels' instances sum to the target's intervals, as do the channels'.
//! * The processes' intervals and the unattributed ones sum to all intervals.
//! * machine busy = busy + foreign busy - foreign overlap.
//! * Absent is not zero: a target without rows is an error that lists who was there.
//! * Other processes' work is never counted as the target's and never ignored.
//! * `event-depth` is the lane in which Instruments draws a row, never a filter.
//! * Same input, same bytes out.

mod analyze;
mod error;
mod facts;
mod gaps;
mod kernel;
mod notes;
mod processes;
mod report;
mod spans;
mod statistics;
mod target;
mod timeline;
mod work;

pub use analyze::{Request, analyze, selection};
pub use error::{Error, Present, Result};
pub use kernel::NamedBy;
pub use report::{
    Bucket, Busy, Channel, Counts, DeviceFacts, Excluded, Gaps, Kernel, ProcessFacts, Reader,
    Report, RunFacts, SCHEMA, Source, SourceKind, TargetFacts, TargetProcess, TopGap, Window,
    json_schema,
};
pub use target::How;
