//! GPU time over run time, by three ideas of what the run time is.

use crate::basics::spans::Span;
use crate::basics::statistics::ratio;
use crate::report::{Efficiency, WindowSummary};
use crate::subject::buffers::Buffer;
use crate::subject::commands::Commands;
use crate::subject::timeline::Interval;

/// The three, of a busy time within a window.
#[must_use]
pub(crate) fn efficiency(
    busy_ns: u64,
    program: Option<Span>,
    steady: Option<&WindowSummary>,
    wall_ns: Option<u64>,
) -> Efficiency {
    let program_ns = program.map(Span::length_ns);
    Efficiency {
        program_ns,
        of_program: program_ns.and_then(|whole| ratio(busy_ns, whole)),
        steady_ns: steady.map(|steady| steady.end_ns - steady.start_ns),
        of_steady: steady.and_then(|steady| steady.ratio),
        wall_ns,
        of_wall: wall_ns.and_then(|whole| ratio(busy_ns, whole)),
    }
}

/// From the first encoding to the last completion of what ran in the window,
/// held inside it where the window was cut.
#[must_use]
pub(crate) fn program<'a>(
    mine: &[Interval],
    buffers: impl Iterator<Item = &'a Buffer>,
    commands: &Commands,
    asked: Span,
) -> Option<Span> {
    let encoded = mine.iter().filter_map(|one| commands.encoding(one));
    let first_ns = encoded.map(|one| one.span.start_ns).min()?;
    let completed = buffers.filter_map(|one| commands.completion(one.id));
    let last_ns = completed.max()?;
    let whole = Span::new(first_ns, last_ns).clip(asked);
    Some(whole).filter(|span| !span.is_empty())
}
