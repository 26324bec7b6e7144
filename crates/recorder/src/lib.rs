//! A recording request → a whole `.trace` bundle, under the name that was asked
//! for, or an error that says what there is instead. Prints nothing, asks
//! nothing; what happens is told to a [`Watcher`].
//!
//! ```text
//! RecordRequest → Plan ─ carry_out → Outcome: the Recording, what came of it, and beside it
//!                   │                X.recording.json and X.work.json
//!                   ↓
//! Request → staging folder → xctrace → landed? → whole? → owned → renamed → Recording
//!           beside the output   │  told line by line
//!                               └─ Watcher: what happens, what is wished, what it holds
//! ```
//!
//! # Laws
//!
//! * Under the asked name there is a whole recording or what was there before.
//! * Nothing that exists is replaced unless that is asked for, and then only by
//!   a whole recording.
//! * The exit code alone decides nothing: a recording is good if its bundle is
//!   there, said to be saved, and holds what it should.
//! * A recorder that saves is never killed. If it takes too long it is left to
//!   itself, and where it writes is told.
//! * It is asked to stop once.
//! * Once there may be a recording, no failure removes it: it is kept, and the error says where.
//!
//! None of this has been run against Apple's own `xctrace` by its authors: it was
//! tested against a stand-in that behaves and misbehaves as others' logs say.

mod analyzed;
mod attempt;
mod cargo;
mod check;
mod clock;
mod ending;
mod error;
mod keep;
mod landing;
mod outcome;
mod output;
mod plan;
mod private;
mod promote;
mod provenance;
mod record_request;
mod request;
mod session;
mod shaders;
mod signing;
mod staging;
mod subject;
mod surroundings;
pub mod template;
mod verdict;
mod watch;
mod work;

pub use cargo::Build;
pub use clock::ClockOutcome;
pub use ending::Ending;
pub use error::{Error, Result};
pub use outcome::{NotRecorded, Outcome};
pub use plan::{Plan, free, free_bundle};
pub use provenance::json_schema;
pub use record_request::{RecordRequest, Recorder, Subject};
pub use request::{Patience, Recording, Request, StoppedBy};
pub use session::record;
pub use shaders::ShaderOutcome;
pub use signing::sign_for_tracing;
pub use surroundings::Surroundings;
pub use watch::{Check, Event, Watcher, Wish};
