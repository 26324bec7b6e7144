//! Phases that programs named, and what the target did on the GPU during each.

use std::cmp::Reverse;

use metalens_trace::{Names, Symbol};

use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::basics::statistics::{percentile, ratio};
use crate::report::NamedPhase;
use crate::subject::signposts::{Kind, Signposts, Stretches};
use crate::subject::target::Target;
use crate::subject::timeline::Interval;

/// How many names a report lists.
const LISTED: usize = 100;

/// What a report says of named phases. `mine` are sorted by start, `busy` is their union.
pub(super) fn named_phases(
    signposts: &Signposts,
    mine: &[Interval],
    busy: &[Span],
    window: Span,
    target: &Target,
    names: &Names,
) -> Vec<NamedPhase> {
    let mut kinds: Vec<(&Kind, &Stretches, u64)> = signposts
        .kinds()
        .map(|(kind, found)| (kind, found, found.total_ns()))
        .collect();
    kinds.sort_by_cached_key(|(kind, found, total)| {
        let text = |symbol: Option<Symbol>| symbol.map(|one| names.text(one).to_owned());
        let name = names.text(kind.name).to_owned();
        (
            !target.is(kind.process),
            Reverse(*total),
            name,
            [text(kind.subsystem), text(kind.category)],
            found.spans.first().copied(),
        )
    });
    let listed = kinds.into_iter().take(LISTED);
    let phases = listed.map(|(kind, found, total_ns)| {
        let gpu = Gpu::during(&found.spans, mine, busy, window);
        named_phase(kind, found, total_ns, gpu, target, names)
    });
    phases.collect()
}

/// What the target did on the GPU during a phase, inside the window.
struct Gpu {
    window_ns: u64,
    intervals: u64,
    busy_ns: u64,
}

impl Gpu {
    fn during(spans: &[Span], mine: &[Interval], busy: &[Span], window: Span) -> Self {
        let covered = union(spans.iter().map(|span| span.clip(window)));
        let begun_by = |ns: u64| mine.partition_point(|one| one.span.start_ns < ns) as u64;
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
    kind: &Kind,
    found: &Stretches,
    total_ns: u64,
    gpu: Gpu,
    target: &Target,
    names: &Names,
) -> NamedPhase {
    let text = |symbol: Symbol| names.text(symbol).to_owned();
    let mut lengths: Vec<u64> = found.spans.iter().map(|span| span.length_ns()).collect();
    lengths.sort_unstable();
    let process = kind.process.and_then(|process| names.process(process));
    NamedPhase {
        name: text(kind.name),
        subsystem: kind.subsystem.map(text),
        category: kind.category.map(text),
        process: process.map(|process| text(process.name)),
        is_analyzed: target.is(kind.process),
        count: found.spans.len() as u64,
        total_ns,
        median_ns: percentile(&lengths, 50),
        start_ns: found.spans.first().map(|span| span.start_ns),
        end_ns: found.spans.iter().map(|span| span.end_ns).max(),
        unpaired: found.unpaired,
        window_ns: gpu.window_ns,
        intervals: gpu.intervals,
        busy_ns: gpu.busy_ns,
        ratio: ratio(gpu.busy_ns, gpu.window_ns),
    }
}
