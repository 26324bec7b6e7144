//! Assigns shaders to kicks: the shaders of a process take its encoders in turn.

use super::{Kick, Plan, ProcessIndex};

/// The part of a kick that one shader took.
#[derive(Debug, Clone)]
pub(crate) struct ShaderInterval<'p> {
    pub(crate) kick: &'p Kick,
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) name: &'p str,
    /// Number in the list of shaders, from 1.
    pub(crate) number: usize,
}

impl ShaderInterval<'_> {
    /// Returns the name in the form of the list of shaders: `matmul (1)`.
    pub(crate) fn numbered_name(&self) -> String {
        format!("{} ({})", self.name, self.number)
    }
}

/// Divides the kicks of the processes that the application tables cover among their shaders. A
/// kick of several encoders is divided into equal parts.
pub(crate) fn shader_intervals(plan: &Plan) -> Vec<ShaderInterval<'_>> {
    let mut intervals: Vec<ShaderInterval<'_>> = plan
        .kicks
        .iter()
        .flat_map(|kick| intervals_of(plan, kick))
        .collect();
    intervals.sort_by_key(|interval| interval.start_ns);
    intervals
}

/// Returns the shaders of a kick, one after another, each for an equal share of its time.
fn intervals_of<'p>(plan: &'p Plan, kick: &'p Kick) -> impl Iterator<Item = ShaderInterval<'p>> {
    let process = plan.process_of(kick);
    let covered = process.filter(|process| plan.is_instrumented(*process));
    let parts = u64::from(kick.encoder_count);
    covered.into_iter().flat_map(move |process| {
        let owner = plan.process(process);
        let first = kick.encoder.get() - owner.first_encoder.get();
        let interval = move |part: u8| {
            let from_ns = kick.duration_ns * u64::from(part) / parts;
            let to_ns = kick.duration_ns * (u64::from(part) + 1) / parts;
            let place = (first + usize::from(part)).checked_rem(owner.shaders.len())?;
            Some(ShaderInterval {
                kick,
                process,
                start_ns: kick.start_ns + from_ns,
                duration_ns: to_ns - from_ns,
                name: &owner.shaders[place],
                number: place + 1,
            })
        };
        (0..kick.encoder_count).filter_map(interval)
    })
}
