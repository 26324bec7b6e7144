//! A recording from a plan: the bundle, what is kept beside it, and what came of it.

use crate::clock::ClockOutcome;
use crate::ending::{self, Ending};
use crate::error::Error;
use crate::plan::Plan;
use crate::provenance;
use crate::request::Recording;
use crate::session::record;
use crate::shaders::ShaderOutcome;
use crate::surroundings::Surroundings;
use crate::watch::Watcher;
use crate::{clock, shaders};

/// The outcome of a recording.
#[derive(Debug)]
pub struct Outcome {
    /// The recording.
    pub recording: Recording,
    /// The end of its program, if the bundle says.
    pub ending: Option<Ending>,
    /// The outcome of asking for the times of shaders, if that was asked.
    pub shaders: Option<ShaderOutcome>,
    /// The outcome of asking for a clock of the GPU, if that was asked.
    pub clock: Option<ClockOutcome>,
    /// The reasons why something could not be kept beside the bundle.
    pub troubles: Vec<Error>,
}

/// The reason why there is no recording.
#[derive(Debug)]
pub struct NotRecorded {
    /// The reason.
    pub why: Error,
    /// The reason why the known work could not be kept either.
    pub trouble: Option<Error>,
}

impl Plan {
    /// Records, and keeps beside the bundle what is known of it. Once there is a bundle, what
    /// fails besides costs nothing more.
    ///
    /// # Errors
    ///
    /// The errors of [`record`].
    pub fn carry_out(
        &self,
        surroundings: Option<Surroundings>,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Box<NotRecorded>> {
        let recording = record(&self.request, watcher).map_err(|why| {
            let trouble = self.keep_work_of_failed(&why).err();
            Box::new(NotRecorded { why, trouble })
        })?;
        let bundle = &recording.bundle;
        let kept = self.keep_work(bundle);
        let ending = ending::look(bundle);
        let machine = surroundings.map(Surroundings::made_on);
        let shaders = shaders::look(bundle, &self.asked);
        let clock = clock::look(bundle, &self.asked);
        let found = provenance::Found {
            machine,
            changed: provenance::Changed {
                shader_timeline: shaders.as_ref(),
                gpu_clock: clock.as_ref(),
            },
            ending: ending.as_ref(),
        };
        let written = provenance::write((&self.asked, &self.request), &recording, found);
        Ok(Outcome {
            ending,
            shaders,
            clock,
            troubles: kept.err().into_iter().chain(written.err()).collect(),
            recording,
        })
    }
}
