//! The analysis: a trace in, a report out.

use std::num::NonZeroU64;

use metalens_trace::{Names, Selection, Trace};

use crate::error::{Error, Result};
use crate::facts::{process_facts, run_facts, source, target_facts};
use crate::gaps::{Occupancy, gap_facts, occupancy};
use crate::kernel::KernelNames;
use crate::notes::{report_notes, trace_notes};
use crate::processes::{ProcessUse, touches, usage};
use crate::report::{Busy, Counts, Excluded, Report, SCHEMA, Window};
use crate::spans::{Span, length_ns, overlap_ns, union};
use crate::statistics::ratio;
use crate::target::{Target, choose};
use crate::timeline::{ENCODERS, GPU_INTERVALS, GPU_STATES, Interval, Timeline, label_pairs};
use crate::work::{NamedIntervals, channels, sum_ns};

/// What a report is to be about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Names or pids; the recording's own target if empty.
    pub processes: Vec<String>,
    /// Cut off what comes before, ns since the recording began.
    pub from_ns: Option<u64>,
    /// Cut off what comes from here on, ns since the recording began.
    pub to_ns: Option<u64>,
}

/// The tables and columns that an analysis reads.
#[must_use]
pub fn selection() -> Selection {
    Selection::columns(&[
        (
            GPU_INTERVALS,
            &[
                "start",
                "duration",
                "channel-name",
                "event-label",
                "process",
                "gpu",
                "cmdbuffer-id",
                "encoder-id",
            ],
        ),
        (GPU_STATES, &["start", "duration", "state"]),
        (ENCODERS, &["cmdbuffer-label", "encoder-label"]),
    ])
}

/// Analyzes a trace that was read with [`selection`]. Takes the trace, and
/// frees each of its tables once it is used.
pub fn analyze(mut trace: Trace, request: &Request) -> Result<Report> {
    let (source, run) = (source(&trace), run_facts(&trace));
    let mut notes = trace_notes(&trace);
    let label_pairs = label_pairs(&trace);
    let mut timeline = Timeline::take(&mut trace)?;
    let names = &trace.names;
    let everyone = usage(&timeline.intervals, WHOLE, names);
    let target = choose_target(request, &trace, &timeline, &everyone)?;
    let (window, excluded) = window(request, &timeline, &target, names)?;
    let processes = process_facts(&everyone, &timeline, window, &target, names);
    let others = Others::of(&timeline, &target, window);
    // From here on only the target's own intervals matter; there may be millions.
    let mut mine = std::mem::take(&mut timeline.intervals);
    mine.retain(|one| target.is(one.process) && touches(one.span, window));
    let occupancy = occupancy(&mine, window);
    let kernels = NamedIntervals::of(&mine, &KernelNames::new(names, &label_pairs));
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        source,
        run,
        target: target_facts(&target, names),
        window: Window {
            start_ns: window.start_ns,
            end_ns: window.end_ns,
            span_ns: window.length_ns(),
            excluded,
        },
        counts: counts(&mine, &kernels, &others),
        busy: busy(
            &mine,
            &occupancy,
            &others,
            timeline.active.as_deref(),
            window,
        ),
        gaps: gap_facts(&occupancy.gaps, &kernels),
        kernels: kernels.summaries(&mine, window, names),
        channels: channels(&mine, window, names),
        processes,
        notes: Vec::new(),
    };
    notes.extend(report_notes(&target, &report, &mine, window));
    report.notes = notes;
    Ok(report)
}

const WHOLE: Span = Span {
    start_ns: 0,
    end_ns: u64::MAX,
};

fn choose_target(
    request: &Request,
    trace: &Trace,
    timeline: &Timeline,
    everyone: &[ProcessUse],
) -> Result<Target> {
    if timeline.intervals.is_empty() {
        return Err(Error::NoRows {
            table: GPU_INTERVALS.to_owned(),
        });
    }
    if everyone.is_empty() && request.processes.is_empty() {
        return Err(Error::NoProcesses {
            rows: timeline.intervals.len(),
        });
    }
    choose(&request.processes, &trace.run, &trace.names, everyone)
}

/// From the target's first start to its last end, less what was cut off.
fn window(
    request: &Request,
    timeline: &Timeline,
    target: &Target,
    names: &Names,
) -> Result<(Span, Vec<Excluded>)> {
    let mine = timeline
        .intervals
        .iter()
        .filter(|interval| target.is(interval.process));
    let (mut first_ns, mut last_ns) = (u64::MAX, 0);
    for interval in mine.clone() {
        first_ns = first_ns.min(interval.span.start_ns);
        last_ns = last_ns.max(interval.span.end_ns);
    }
    let whole = Span::new(first_ns, last_ns);
    let (from_ns, to_ns) = (request.from_ns, request.to_ns);
    let asked = Span::new(from_ns.unwrap_or(0), to_ns.unwrap_or(u64::MAX));
    let window = whole.clip(asked);
    let cut = window != whole;
    if cut && (window.is_empty() || !mine.clone().any(|one| touches(one.span, window))) {
        return Err(Error::EmptyWindow {
            wanted: target_facts(target, names).name,
            from_ns,
            to_ns,
            first_ns,
            last_ns,
        });
    }
    let excluded = [
        (whole.start_ns, window.start_ns, "before --from"),
        (window.end_ns, whole.end_ns, "after --to"),
    ];
    let excluded = excluded.into_iter().filter(|(from, to, _)| from < to);
    let excluded = excluded.map(|(from_ns, to_ns, why)| Excluded {
        from_ns,
        to_ns,
        why: why.to_owned(),
    });
    Ok((window, excluded.collect()))
}

/// What is known of everyone's intervals when only the target's are left.
struct Others {
    all_intervals: u64,
    unattributed: u64,
    /// When others were on the GPU inside the window.
    busy: Vec<Span>,
}

impl Others {
    fn of(timeline: &Timeline, target: &Target, window: Span) -> Self {
        let all = timeline.intervals.iter();
        let others = all.clone().filter(|one| !target.is(one.process));
        Self {
            all_intervals: timeline.intervals.len() as u64,
            unattributed: all.filter(|one| one.process.is_none()).count() as u64,
            busy: union(others.map(|one| one.span.clip(window))),
        }
    }
}

fn counts(mine: &[Interval], kernels: &NamedIntervals, others: &Others) -> Counts {
    // Ids nearly rise with time, so that sorting them is quicker than hashing.
    let distinct = |id: fn(&Interval) -> Option<NonZeroU64>| {
        let mut ids: Vec<NonZeroU64> = mine.iter().filter_map(id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len() as u64
    };
    Counts {
        intervals: mine.len() as u64,
        encoders: distinct(|interval| interval.encoder),
        command_buffers: distinct(|interval| interval.command_buffer),
        kernels: kernels.count() as u64,
        all_intervals: others.all_intervals,
        unattributed: others.unattributed,
    }
}

fn busy(
    mine: &[Interval],
    occupancy: &Occupancy,
    others: &Others,
    active: Option<&[Span]>,
    window: Span,
) -> Busy {
    let busy_ns = length_ns(&occupancy.busy);
    let sum_ns = sum_ns(mine, window);
    let foreign_busy_ns = length_ns(&others.busy);
    let foreign_overlap_ns = overlap_ns(&occupancy.busy, &others.busy);
    Busy {
        busy_ns,
        sum_ns,
        ratio: ratio(busy_ns, window.length_ns()),
        overlap_factor: ratio(sum_ns, busy_ns),
        machine_busy_ns: busy_ns + foreign_busy_ns - foreign_overlap_ns,
        machine_active_ns: active.map(|active| overlap_ns(active, &[window])),
        foreign_busy_ns,
        foreign_overlap_ns,
    }
}
