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

/// What came of a recording.
#[derive(Debug)]
pub struct Outcome {
    /// The recording.
    pub recording: Recording,
    /// How its program ended, if the bundle says.
    pub ending: Option<Ending>,
    /// What came of asking for the times of shaders, if that was asked.
    pub shaders: Option<ShaderOutcome>,
    /// What came of asking for a clock of the GPU, if that was asked.
    pub clock: Option<ClockOutcome>,
    /// What could not be kept beside the bundle.
    pub troubles: Vec<Error>,
}

/// Why there is no recording.
#[derive(Debug)]
pub struct NotRecorded {
    /// The reason.
    pub why: Error,
    /// What could not be kept besides.
    pub trouble: Option<Error>,
}

impl Plan {
    /// Records, and keeps beside the bundle what is known of it. Once there is a bundle, what
    /// fails besides costs nothing more.
    ///
    /// # Errors
    ///
    /// Those of [`record`].
    pub fn carry_out(
        &self,
        surroundings: Option<Surroundings>,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, NotRecorded> {
        let recording = record(&self.request, watcher).map_err(|why| NotRecorded {
            trouble: self.keep_work_of_failed(&why).err(),
            why,
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
