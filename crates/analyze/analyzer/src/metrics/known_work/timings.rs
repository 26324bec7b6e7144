//! Compares the program's own GPU times with the trace's.
//!
//! ```text
//! trace     ├─A─┤   ├──B──┤      first start to last end of a command buffer's
//! program   ├─A─┤   ├──B──┤      intervals; GPUStartTime to GPUEndTime
//!           └─ distance ──┘      of the first start to the last start
//! ```
//!
//! The two clocks may have different origins: only lengths are compared.

use crate::basics::spans::Span;
use crate::basics::statistics::median_number;
use crate::report::{TimingCheck, TimingDrift, TimingOrder, TimingVerdict};
use crate::request::work_file::Timing;
use crate::subject::buffers::Buffer;
use metalens_message::{Message, Ns, Share, message, percent_to, ungrouped};
use metalens_text::number::{Float, rounded};

/// Largest difference that counts as none.
const FINE: f64 = 0.05;
/// Largest difference that counts as small.
const NOTED: f64 = 0.10;
/// Number of the largest differences that are listed.
const WORST: usize = 5;

/// Sorts command buffers by their commits; `None` if some were committed several times.
#[must_use]
pub(crate) fn in_order_of_commit(buffers: &[Buffer]) -> Option<Vec<Span>> {
    if buffers.iter().any(|buffer| buffer.is_reused) {
        return None;
    }

    let mut ordered: Vec<&Buffer> = buffers.iter().collect();
    ordered.sort_unstable_by_key(|buffer| {
        let started = i128::from(buffer.span.start_ns);
        let committed = buffer.committed_ns().map_or(started, i128::from);
        (committed, started, buffer.id)
    });
    Some(ordered.into_iter().map(|buffer| buffer.span).collect())
}

/// Timing with its command buffer.
struct PairedTiming<'a> {
    number: u64,
    label: Option<&'a String>,
    trace: Span,
    start_ns: f64,
    program_ns: f64,
}

/// Compares timings with command buffers; `None` if there are no timings.
#[must_use]
pub(crate) fn check(timings: &[Timing], buffers: &[Span]) -> Option<TimingCheck> {
    let first = timings.first()?;
    let is_numbered = first.command_buffer.is_some();
    let is_comparable = is_numbered || timings.len() == buffers.len();
    let pairs = if is_comparable {
        pairs(timings, buffers)
    } else {
        Vec::new()
    };

    let mut drifts: Vec<TimingDrift> = pairs.iter().filter_map(drift).collect();
    let median_drift = median_number(drifts.iter().map(|timing| timing.drift.abs()));
    let median_bias = median_number(drifts.iter().map(|timing| timing.drift));
    let clock_drift = clock_drift(&pairs);
    let verdict = verdict(median_drift, clock_drift);
    let matched = drifts.len() as u64;
    let why = why(
        verdict,
        matched,
        timings.len(),
        buffers.len(),
        is_comparable,
    );

    drifts.sort_by(|a, b| {
        let by_drift = b.drift.abs().total_cmp(&a.drift.abs());
        by_drift.then(a.command_buffer.cmp(&b.command_buffer))
    });
    drifts.truncate(WORST);

    Some(TimingCheck {
        timings: timings.len() as u64,
        command_buffers: buffers.len() as u64,
        matched,
        matched_by: if is_numbered {
            TimingOrder::Number
        } else {
            TimingOrder::Order
        },
        verdict,
        why,
        median_drift,
        median_bias,
        clock_drift,
        worst: drifts,
    })
}

fn pairs<'a>(timings: &'a [Timing], buffers: &[Span]) -> Vec<PairedTiming<'a>> {
    let pair = |(index, timing): (usize, &'a Timing)| {
        let number = timing.command_buffer.unwrap_or(index as u64);
        let trace = *buffers.get(usize::try_from(number).ok()?)?;
        let (start_ns, end_ns) = timing.span_ns().ok()?;
        Some(PairedTiming {
            number,
            label: timing.label.as_ref(),
            trace,
            start_ns,
            program_ns: end_ns - start_ns,
        })
    };
    timings.iter().enumerate().filter_map(pair).collect()
}

/// Returns the difference of a pair; `None` if the program measured 0, as Metal says of a
/// buffer that failed.
fn drift(pair: &PairedTiming<'_>) -> Option<TimingDrift> {
    let trace_ns = pair.trace.length_ns();
    (pair.program_ns > 0.0).then(|| TimingDrift {
        command_buffer: pair.number,
        label: pair.label.cloned(),
        trace_ns: Ns(trace_ns),
        program_ns: Ns(rounded(pair.program_ns)),
        drift: (trace_ns.float() - pair.program_ns) / pair.program_ns,
    })
}

/// Returns the difference of the time from the first start to the last, on the trace's clock
/// and on the program's.
fn clock_drift(pairs: &[PairedTiming<'_>]) -> Option<f64> {
    let by_start = |a: &&PairedTiming<'_>, b: &&PairedTiming<'_>| a.start_ns.total_cmp(&b.start_ns);
    let (first, last) = (
        pairs.iter().min_by(by_start)?,
        pairs.iter().max_by(by_start)?,
    );

    let program = last.start_ns - first.start_ns;
    let trace = last.trace.start_ns.float() - first.trace.start_ns.float();
    (program > 0.0).then_some((trace - program) / program)
}

fn verdict(median_drift: Option<f64>, clock_drift: Option<f64>) -> TimingVerdict {
    let Some(drift) = median_drift else {
        return TimingVerdict::NotComparable;
    };
    match drift.max(clock_drift.unwrap_or(0.0).abs()) {
        worst if worst <= FINE => TimingVerdict::Fine,
        worst if worst <= NOTED => TimingVerdict::Noted,
        _ => TimingVerdict::ClockFault,
    }
}

fn why(
    verdict: TimingVerdict,
    matched: u64,
    timings: usize,
    buffers: usize,
    is_comparable: bool,
) -> Message {
    let limit = |share: f64| percent_to(0, Share(share));
    let matched = ungrouped(matched);

    match verdict {
        TimingVerdict::NotComparable if !is_comparable => message!(
            "the file has {} timings, and the recording has {} command buffers of the process, so \
             they cannot be paired: number the timings with command_buffer",
            ungrouped(timings as u64),
            ungrouped(buffers as u64)
        ),
        TimingVerdict::NotComparable => {
            "no timing with a duration belongs to a command buffer of the recording".into()
        }
        TimingVerdict::Fine => message!(
            "the GPU times of {} command buffers in the program and in the recording agree within {}",
            matched,
            limit(FINE)
        ),
        TimingVerdict::Noted => message!(
            "the GPU times of {} command buffers in the program and in the recording differ by up to {}",
            matched,
            limit(NOTED)
        ),
        TimingVerdict::ClockFault => message!(
            "the GPU times of {} command buffers in the program and in the recording differ by more \
             than {}: a clock is wrong, rows are missing, or the timings are of another run",
            matched,
            limit(NOTED)
        ),
    }
}
