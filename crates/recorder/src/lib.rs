//! A recording request → a whole `.trace` bundle, under the name that was asked
//! for, or an error that says what there is instead. Prints nothing, asks
//! nothing; what happens is told to a [`Watcher`].
//!
//! ```text
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

mod attempt;
mod cargo;
mod error;
mod keep;
mod landing;
mod output;
mod promote;
mod request;
mod session;
mod signing;
mod staging;
mod target;
pub mod template;
mod verdict;
mod watch;

pub use cargo::Build;
pub use error::{Error, Result};
pub use landing::size;
pub use request::{Patience, Recording, Request, StoppedBy};
pub use session::record;
pub use signing::sign_for_tracing;
pub use target::{Found, resolve};
pub use watch::{Check, Event, Watcher, Wish};
