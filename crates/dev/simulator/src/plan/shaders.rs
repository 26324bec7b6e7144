//! Computes what the shader timeline samples: the shaders of a process take its encoders in turn.

use super::model::{Kick, Plan, ProcessIndex};

/// The part of a kick in which one shader was sampled.
#[derive(Debug, Clone)]
pub(crate) struct ShaderInterval<'p> {
    pub(crate) kick: &'p Kick,
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) name: &'p str,
    /// Number of the shader in the process's list, from 1.
    pub(crate) number: usize,
    /// Depth of nesting, from 0.
    pub(crate) depth: u64,
}

impl ShaderInterval<'_> {
    /// Returns the name in the form of the list of shaders: `matmul (1)`.
    pub(crate) fn numbered_name(&self) -> String {
        format!("{} ({})", self.name, self.number)
    }
}

/// Divides the kicks of the processes that the application tables cover among their shaders. A
/// kick of several encoders is divided into equal parts; of each part a share is sampled, from
/// its start. A nested sample is the middle third of the outer one:
///
/// ```text
/// kick     [-----------------------)
/// depth 0  [--------------)            sampled: 60 %
/// depth 1       [----)
/// ```
pub(crate) fn intervals(plan: &Plan) -> Vec<ShaderInterval<'_>> {
    let mut intervals: Vec<ShaderInterval<'_>> = plan
        .kicks
        .iter()
        .flat_map(|kick| intervals_of(plan, kick))
        .collect();
    intervals.sort_by_key(|interval| interval.start_ns);
    intervals
}

/// Returns the samples of a kick: outer ones, each followed by the one inside it.
pub(crate) fn intervals_of<'p>(
    plan: &'p Plan,
    kick: &'p Kick,
) -> impl Iterator<Item = ShaderInterval<'p>> {
    let process = plan.process_of(kick);
    let covered = process.filter(|process| plan.is_instrumented(*process));
    let parts = u64::from(kick.encoder_count);
    let sampled = plan.encoder(kick.encoder).sampled;

    covered.into_iter().flat_map(move |process| {
        let owner = plan.process(process);
        let first = kick.encoder.get() - owner.first_encoder.get();
        let shader = move |turn: usize| {
            let index = turn.checked_rem(owner.shaders.len())?;
            Some((index + 1, owner.shaders[index].as_str()))
        };

        (0..kick.encoder_count)
            .filter_map(move |part| {
                let from_ns = kick.duration_ns * u64::from(part) / parts;
                let to_ns = kick.duration_ns * (u64::from(part) + 1) / parts;
                let (number, name) = shader(first + usize::from(part))?;
                let outer = ShaderInterval {
                    kick,
                    process,
                    start_ns: kick.start_ns + from_ns,
                    duration_ns: (to_ns - from_ns) * u64::from(sampled.percent) / 100,
                    name,
                    number,
                    depth: 0,
                };

                let third_ns = outer.duration_ns / 3;
                let (number, name) = shader(first + usize::from(part) + 1)?;
                let inner = ShaderInterval {
                    start_ns: outer.start_ns + third_ns,
                    duration_ns: third_ns,
                    name,
                    number,
                    depth: 1,
                    ..outer.clone()
                };

                let inner = (sampled.nested && third_ns > 0).then_some(inner);
                (outer.duration_ns > 0).then(|| std::iter::once(outer).chain(inner))
            })
            .flatten()
    })
}
