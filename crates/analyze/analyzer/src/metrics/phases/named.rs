//! Computes the GPU use of the process during each phase that programs named.

use std::cmp::Reverse;

use metalens_message::{Ns, share};
use metalens_trace::{Names, Symbol};

use super::encoded::Encoded;
use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::basics::statistics::percentile;
use crate::report::NamedPhase;
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::interval::Interval;
use crate::subject::signposts::{SignpostKind, SignpostSpans, Signposts};

/// Number of phases that a report lists.
const LISTED: usize = 100;

/// Returns the report's named phases. `mine` are sorted by start, `busy` is their union.
pub(super) fn named_phases(
    signposts: &Signposts,
    mine: &[Interval],
    encoded: &Encoded<'_>,
    busy: &[Span],
    window: Span,
    chosen: &ChosenProcesses,
    names: &Names,
) -> Vec<NamedPhase> {
    let mut kinds: Vec<(&SignpostKind, &SignpostSpans, u64)> = signposts
        .kinds()
        .map(|(kind, times)| (kind, times, times.total_ns()))
        .collect();
    kinds.sort_by_cached_key(|(kind, times, total)| {
        let text = |symbol: Option<Symbol>| symbol.map(|symbol| names.text(symbol).to_owned());
        let name = names.text(kind.name).to_owned();
        (
            !chosen.contains(kind.process),
            Reverse(*total),
            name,
            [text(kind.subsystem), text(kind.category)],
            times.spans.first().copied(),
        )
    });

    let listed = kinds.into_iter().take(LISTED);
    let phases = listed.map(|(kind, times, total_ns)| {
        let gpu = GpuUse::during(&times.spans, mine, busy, window);
        NamedPhase {
            encoded: encoded.during(&times.spans),
            ..named_phase(kind, times, total_ns, gpu, chosen, names)
        }
    });
    phases.collect()
}

/// GPU use of the process during a phase, inside the window.
struct GpuUse {
    window_ns: u64,
    intervals: u64,
    busy_ns: u64,
}

impl GpuUse {
    fn during(spans: &[Span], mine: &[Interval], busy: &[Span], window: Span) -> Self {
        let covered = union(spans.iter().map(|span| span.clip(window)));
        let begun_by =
            |ns: u64| mine.partition_point(|interval| interval.span.start_ns < ns) as u64;
        let intervals = covered
            .iter()
            .map(|span| begun_by(span.end_ns) - begun_by(span.start_ns));
        Self {
            window_ns: length_ns(&covered),
            intervals: intervals.sum(),
            busy_ns: overlap_ns(&covered, busy),
        }
    }
}

fn named_phase(
    kind: &SignpostKind,
    times: &SignpostSpans,
    total_ns: u64,
    gpu: GpuUse,
    chosen: &ChosenProcesses,
    names: &Names,
) -> NamedPhase {
    let text = |symbol: Symbol| names.text(symbol).to_owned();
    let mut lengths: Vec<u64> = times.spans.iter().map(|span| span.length_ns()).collect();
    lengths.sort_unstable();
    let process = kind.process.and_then(|process| names.process(process));

    NamedPhase {
        name: text(kind.name),
        subsystem: kind.subsystem.map(text),
        category: kind.category.map(text),
        process: process.map(|process| text(process.name)),
        is_analyzed: chosen.contains(kind.process),
        count: times.spans.len() as u64,
        total_ns: Ns(total_ns),
        median_ns: percentile(&lengths, 50).map(Ns),
        start_ns: times.spans.first().map(|span| Ns(span.start_ns)),
        end_ns: times.spans.iter().map(|span| span.end_ns).max().map(Ns),
        unpaired: times.unpaired,
        window_ns: Ns(gpu.window_ns),
        intervals: gpu.intervals,
        busy_ns: Ns(gpu.busy_ns),
        ratio: share(gpu.busy_ns, gpu.window_ns),
        encoded: None,
    }
}
