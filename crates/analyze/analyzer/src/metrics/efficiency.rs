//! Computes GPU busy time divided by run time, for two definitions of run time.

use metalens_message::{Ns, share};

use crate::basics::spans::Span;
use crate::report::Efficiency;
use crate::subject::buffers::Buffer;
use crate::subject::commands::Commands;
use crate::subject::interval::Interval;

/// Returns the ratios of a busy time within a window.
pub(crate) fn efficiency(busy_ns: Ns, program: Option<Span>, wall_ns: Option<Ns>) -> Efficiency {
    let program_ns = program.map(|program| Ns(program.length_ns()));
    Efficiency {
        program_ns,
        of_program: program_ns.and_then(|whole| share(busy_ns, whole)),
        wall_ns,
        of_wall: wall_ns.and_then(|whole| share(busy_ns, whole)),
    }
}

/// Returns the time from the first encoding to the last completion of the work in the window,
/// limited to `part` if the window was cut. `None` if the last completion is unknown: it
/// is not recorded, or a command buffer was committed several times, so that any of its completions may
/// be the last.
pub(crate) fn program<'a>(
    mine: &[Interval],
    buffers: impl Iterator<Item = &'a Buffer> + Clone,
    commands: &Commands,
    part: Span,
) -> Option<Span> {
    let encodings = mine
        .iter()
        .filter_map(|interval| commands.encoding(interval));
    let first_ns = encodings.map(|encoding| encoding.span.start_ns).min()?;
    if buffers.clone().any(|buffer| buffer.is_reused) {
        return None;
    }
    // Without the completion of the last work, an earlier one would make the program seem faster.
    let last = buffers.clone().max_by_key(|buffer| buffer.span.end_ns)?;
    commands.completion(last.id)?;
    let completions = buffers.filter_map(|buffer| commands.completion(buffer.id));
    let last_ns = completions.max()?;
    let whole = Span::new(first_ns, last_ns).clip(part);
    Some(whole).filter(|span| !span.is_empty())
}
