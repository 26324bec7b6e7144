//! Compares two sides of reports: computes the changes between them, and decides whether
//! they are more than noise. This crate opens no file, starts no process and prints nothing.
//!
//! ```text
//! reports → Runs (figures of each run, circumstances) ─┬→ compare → Comparison → judge → GateResult
//!           └→ Baseline (the same, as a file) ─────────┘
//! ```
//!
//! # Changes
//!
//! A figure keeps the values of both sides. Its change is the Hodges–Lehmann estimate:
//! the median of all differences between a new value and a base value. The interval
//! consists of the same differences, sorted: it reaches from the k-th smallest to the
//! k-th largest. The probability that it covers the true shift depends only on k and
//! the numbers of runs. So the stated confidence is exact, whatever the distribution of
//! the figures (with ties it is even higher):
//!
//! | runs | interval | confidence |
//! | --- | --- | ---: |
//! | 1 against any number | none: one run has no range | – |
//! | 2 against 2 | all 4 differences | 66.7 % |
//! | 3 against 3 | all 9 differences | 90.0 % |
//! | 4 against 4 | all 16 differences | 97.1 % |
//! | 5 against 5 | the 3rd to the 23rd | 96.8 % |
//!
//! k is the largest number that leaves at least 95 %, else 1.
//!
//! A row shows values that add up: base is the median of its runs, and new is base plus the change.
//!
//! # Time and work
//!
//! The time of the whole run comes first, then the numbers of GPU intervals, command buffers and
//! kernels. If the sides ran different numbers of GPU intervals, sums over the work are neither better
//! nor worse. If each kernel ran more or less often by the same factor, times are also compared per
//! command buffer if these are as many, else per interval: a mean over unlike intervals would change
//! with their mix.
//!
//! # Classes
//!
//! The floor is the smallest change that counts: 2 % of the larger side (half a percentage point
//! for a ratio, and never less than 100 ns for a time).
//!
//! | class | condition | in sentences and tables |
//! | --- | --- | --- |
//! | grown, shrunk | the interval excludes 0 | regressed, improved; of single runs higher, lower |
//! | unchanged | the interval holds 0 and is closer to it than the floor | no significant change |
//! | unstable | the interval holds 0 and reaches the floor | inconclusive |
//! | unknown | a side has no value | not recorded |
//! | added, removed | kernels only: no run of base has it, no run of new has it | added, removed |
//!
//! A change is small (the whole interval is below the floor), borderline (the floor is in it) or
//! large. Without an interval the estimate alone decides: it is a change if it reaches the floor,
//! and the comparison says so: it calls the figure higher or lower, else "no difference that counts".
//! A figure that has no better side, such as a count, is "increased" or
//! "decreased" in words.
//!
//! # Many runs
//!
//! [`many`] finds the recordings of the same work that are far from the rest (the modified
//! z-score, from median and MAD), and tests whether they rise or fall with time, and how
//! fast (Mann–Kendall, Theil–Sen). A single wild value changes neither result. A run counts once,
//! although its bundle and its export are both there.
//!
//! # By turns
//!
//! Runs that were recorded alternately, one of each side in every round, are compared round by round
//! from six rounds on ([`change_by_turns`]): what slows a whole round down moves both sides.
//! [`runs_to_tell`] says how many runs would show a change that these cannot.
//!
//! # Laws
//!
//! * Swapped sides mirror each other: changes change their sign, and grown becomes shrunk.
//! * Equal sides are unchanged throughout.
//! * Absent is not zero: a figure that a report does not have has no change. The same is
//!   true for a kernel that a side does not have.
//! * A missed gate stays missed when new loses a table, a figure or a kernel.
//! * A run that is given twice adds no confidence.
//! * Unknown circumstances are never called equal.
//! * The same input gives the same bytes.

mod baseline;
mod by_turns;
mod change;
mod changes;
mod circumstances;
mod compare;
mod comparison;
mod difference;
mod environment;
pub mod format;
mod fusion;
mod gate;
mod headline;
mod kernel_sentences;
mod kernels;
mod kinds;
mod lengths;
pub mod many;
mod metric_changes;
mod metrics;
mod moved;
mod outliers;
mod per_unit;
mod repeated;
mod run;
mod runs;
pub mod sentences;
mod sessions;
mod statistics;
mod time_parts;
mod trend;
mod unit;
mod work;

pub use baseline::{Baseline, BaselineError};
pub use by_turns::{
    LEAST_ROUNDS, RunsToTell, change_by_turns, change_of_sides, is_by_rounds, runs_to_tell,
};
pub use change::{
    Change, ChangeClass, ChangeSize, Direction, FittedValues, Floor, LEAST_RUNS, SideValues,
};
pub use changes::Changes;
pub use circumstances::{CircumstanceDifference, Comparability};
pub use compare::{CompareOptions, compare, compare_runs};
pub use comparison::{Comparison, ComparisonMethod, RunName, SCHEMA, SideFacts};
pub use difference::{Difference, DifferencePart, Sides, StepsDifference, StepsPart};
pub use environment::{Environment, distinct_environments};
pub use fusion::{Fusion, FusionVerdict};
pub use gate::{
    Gate, GateResult, GateRow, GateSection, GateSeverity, GateVerdict, KernelFigure, KernelLimit,
    Limit, LimitRule, MetricLimit, Patterns, judge, judge_report,
};
pub use kernels::{KernelChange, NewName};
pub use lengths::KernelLength;
pub use metalens_message::Number;
pub use metric_changes::{MetricChange, OWN_TIMES};
pub use metrics::{MetricGroup, is_amount_of_work, metrics};
pub use moved::{Quantity, QuantityChange};
pub use outliers::{OutlierResult, OutlierValue, find_outliers};
pub use per_unit::{PerUnit, TimeBasis, TimesPerUnit, times_per_unit};
pub use repeated::RepeatedRun;
pub use run::{Run, last_name};
pub use runs::{Circumstance, KernelRuns, Runs};
pub use statistics::{ConfidenceInterval, Shift, median, shift};
pub use time_parts::TimeParts;
pub use unit::Unit;
pub use work::{RenamedKernel, WorkAmount, WorkComparison};
