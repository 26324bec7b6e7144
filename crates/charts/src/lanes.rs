//! What the timeline's lanes are: channels, and causes of idle time.

use metalens_analyzer::{Analysis, Cause, Report};

use crate::coverage::{Grid, Sweep};

/// More channels than this share a lane.
const CHANNELS: usize = 6;

/// The names of the channels' lanes: as work flows through the GPU.
pub(crate) fn channels(report: &Report) -> Vec<Option<String>> {
    const ORDER: [&str; 4] = ["Compute", "Vertex", "Fragment", "Blit"];
    let mut channels: Vec<_> = report.channels.iter().collect();
    channels.sort_by_key(|channel| std::cmp::Reverse(channel.busy_ns));
    let more = channels.len() > CHANNELS;
    channels.truncate(CHANNELS);
    let rank = |name: Option<&str>| {
        let known = ORDER.iter().position(|&one| Some(one) == name);
        known.unwrap_or(ORDER.len())
    };
    channels.sort_by_key(|channel| (rank(channel.name.as_deref()), channel.name.clone()));
    let mut names: Vec<Option<String>> = channels.iter().map(|one| one.name.clone()).collect();
    if more {
        names.push(Some(MORE.to_owned()));
    }
    names
}

const MORE: &str = "more channels";

/// The idle time by cause, in the order of `Cause::ALL`.
pub(crate) fn causes(analysis: &Analysis, grid: Grid) -> Vec<Sweep> {
    let mut sweeps = vec![Sweep::new(grid); Cause::ALL.len()];
    for gap in analysis.gaps() {
        let mut at = gap.start_ns;
        if at >= grid.end_ns {
            break;
        }
        // The parts follow each other as the causes do; only what another
        // process took of a launch may have come earlier.
        for (sweep, (_, ns)) in sweeps.iter_mut().zip(gap.parts.by_cause()) {
            sweep.add(at, at.saturating_add(ns));
            at = at.saturating_add(ns);
        }
    }
    sweeps
}
