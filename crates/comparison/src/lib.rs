//! Reports in, comparison out: what changed between two sides, and whether it is
//! more than noise. This crate opens no file, starts no process and prints nothing.
//!
//! ```text
//! reports → Runs (figures of each run, circumstances) ─┬→ compare → Comparison → judge → GateResult
//!           └→ Baseline (the same, as a file) ─────────┘
//! ```
//!
//! # What a change is
//!
//! Of every figure both sides' values are kept. The change is the Hodges–Lehmann
//! estimate: the median of all differences between a new value and a base value.
//! Its interval is made of the same differences, sorted: from the k-th smallest to
//! the k-th largest. How often such an interval covers the true shift depends on
//! nothing but k and the numbers of runs, so the confidence that is told is exact,
//! whatever the figures are distributed like (at ties it is even higher):
//!
//! | runs | interval | confidence |
//! | --- | --- | ---: |
//! | 1 against any number | none: one run has no range | – |
//! | 2 against 2 | all 4 differences | 66.7 % |
//! | 3 against 3 | all 9 differences | 90.0 % |
//! | 4 against 4 | all 16 differences | 97.1 % |
//! | 5 against 5 | the 3rd to the 23rd | 96.8 % |
//!
//! k is the largest that leaves at least 95 %, else 1.
//!
//! # Classes
//!
//! The floor is the change that is worth a word: 2 % of the larger side (half a
//! point of a ratio, and never less than 100 ns).
//!
//! | class | when |
//! | --- | --- |
//! | unchanged | the whole interval is nearer to 0 than the floor |
//! | grown, shrunk | the interval excludes 0, and the estimate is at least the floor |
//! | unstable | neither: the runs differ too much among themselves to decide |
//! | unknown | a side has no value |
//! | added, removed | of kernels: no run of base has it, no run of new has it |
//!
//! Without an interval the estimate alone decides, and the comparison says so.
//!
//! # Many runs
//!
//! Of many recordings of one program [`outlying`](fn@outlying) says which are far from the rest (the
//! modified z-score, by median and MAD), and [`trend`](fn@trend) whether they rise or fall with
//! time and how fast (Mann–Kendall, Theil–Sen). One wild value bends neither.
//!
//! # With and without the recorder
//!
//! [`calibration`] compares runs of one program without and with the recorder, in pairs: what
//! their differences say, and how surely, is in [`paired`].
//!
//! # Laws
//!
//! * Swapped sides mirror each other: changes change their sign, grown is shrunk.
//! * Equal sides are unchanged throughout.
//! * Absent is not zero: a figure that a report does not have has no change, and
//!   neither has a kernel that a side does not have.
//! * A gate that is missed is missed without any table, figure or kernel of new, too.
//! * Runs that are the same one count as such: there is no confidence in them.
//! * Circumstances that are unknown are never called equal.
//! * Same input, same bytes out.

mod alike;
mod baseline;
pub mod calibration;
mod change;
mod compare;
mod fusion;
mod gate;
mod kernels;
pub mod many;
mod metric_changes;
mod metrics;
mod moved;
mod number;
mod outlying;
mod repeated;
mod runs;
pub mod sentences;
mod statistics;
mod trend;
mod unit;
mod words;

pub use alike::{Comparable, Difference};
pub use baseline::{BASELINE_SCHEMA, Baseline, BaselineError, LEAST_RUNS, baseline_json_schema};
pub use change::{Change, Class, Direction, Floor, Side};
pub use compare::{
    Comparison, Method, Options, Preset, RunName, SCHEMA, SideFacts, compare, compare_runs,
    json_schema,
};
pub use fusion::{Fusion, FusionVerdict};
pub use gate::{
    Gate, GateResult, GateRow, GateVerdict, KernelFigure, KernelLimit, Limit, MetricLimit, Rule,
    Severity, judge,
};
pub use kernels::KernelChange;
pub use metric_changes::MetricChange;
pub use metrics::{Group, metric_ids};
pub use moved::{Moved, Quantity};
pub use number::Number;
pub use outlying::{FAR, Far, LEAST_VALUES, Outlying, outlying};
pub use repeated::Repeated;
pub use runs::{Fact, KernelRuns, Runs};
pub use statistics::{Interval, Shift, median, paired, shift};
pub use trend::{ALL_PAIRS, LEAST_POINTS, Trend, trend};
pub use unit::Unit;
