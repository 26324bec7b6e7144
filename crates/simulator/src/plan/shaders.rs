//! Which shader ran when: the shaders of a process take its encoders in turn.

use super::{Kick, Plan, ProcessIndex};

/// The part of a kick that one shader took.
#[derive(Debug, Clone)]
pub(crate) struct Share<'p> {
    pub(crate) kick: &'p Kick,
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) name: &'p str,
    /// Its place in the list of shaders, from 1.
    pub(crate) number: usize,
}

impl Share<'_> {
    /// `matmul (1)`, as the list of shaders has it.
    pub(crate) fn numbered_name(&self) -> String {
        format!("{} ({})", self.name, self.number)
    }
}

/// The kicks of the processes the application tables cover, divided among their shaders: a kick
/// of several encoders into equal parts.
pub(crate) fn shares(plan: &Plan) -> Vec<Share<'_>> {
    let mut shares: Vec<Share<'_>> = plan.kicks.iter().flat_map(|kick| of(plan, kick)).collect();
    shares.sort_by_key(|share| share.start_ns);
    shares
}

fn of<'p>(plan: &'p Plan, kick: &'p Kick) -> impl Iterator<Item = Share<'p>> {
    let process = plan.process_of(kick);
    let covered = process.filter(|process| plan.is_instrumented(*process));
    let parts = u64::from(kick.encoder_count);
    covered.into_iter().flat_map(move |process| {
        let owner = plan.process(process);
        let first = kick.encoder.get() - owner.first_encoder.get();
        let share = move |part: u8| {
            let from_ns = kick.duration_ns * u64::from(part) / parts;
            let to_ns = kick.duration_ns * (u64::from(part) + 1) / parts;
            let place = (first + usize::from(part)).checked_rem(owner.shaders.len())?;
            Some(Share {
                kick,
                process,
                start_ns: kick.start_ns + from_ns,
                duration_ns: to_ns - from_ns,
                name: &owner.shaders[place],
                number: place + 1,
            })
        };
        (0..kick.encoder_count).filter_map(share)
    })
}
