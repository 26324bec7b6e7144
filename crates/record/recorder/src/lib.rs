//! Turns a request to record into a complete `.trace` bundle at the requested path, or into an
//! error that says what there is instead. Prints nothing and asks nothing; a [`Watcher`] is told
//! what happens. Reads no bundle itself: a [`BundleReader`] does, once, and all that is said about a
//! recording comes from its [`RecordedBundle`].
//!
//! ```text
//! RecordRequest → RecordingPlan ─ carry_out → RecordingOutcome: the Recording with its messages,
//!                   │        and beside the bundle X.recording.json and X.work.json
//!                   ↓
//! XctraceRequest → staging folder → xctrace → found? → complete? → given back → renamed → Recording
//!                  beside the output  │ read line by line
//!                                     ├─ Watcher: gets events, asks to stop
//!                                     └─ BundleReader: reads the bundle, which is then judged
//! ```
//!
//! # Rules
//!
//! * The requested path has either a complete recording or what was there before.
//! * An existing bundle is replaced only on request, and only by a complete recording.
//! * The exit code alone decides nothing. A recording is good if its bundle exists, if
//!   `xctrace` said that it saved it, and if it contains what it was recorded for.
//! * An `xctrace` that is saving is never killed. If it takes too long it is left running, and
//!   the error says where it writes.
//! * `xctrace` is asked to stop once.
//! * Once there may be a recording, no failure removes it: it is kept, and the error says where.
//!
//! The authors have not run any of this with Apple's own `xctrace`. It was tested with a fake
//! `xctrace`, which behaves and misbehaves as in logs that others published.

mod attempt;
mod cargo;
mod check;
mod error;
mod explain;
mod find_bundle;
mod idle_target;
mod launcher;
mod log;
mod machine;
mod other_work;
mod outcome;
mod password;
mod plan;
mod probe;
mod program_end;
mod promote;
mod provenance;
mod raw_recording;
mod reached;
mod record_request;
mod recorded_bundle;
mod request;
mod running;
mod scratch;
mod session;
mod set_aside;
mod shaders;
mod signing;
mod staging;
mod start_signal;
mod tail;
mod target;
pub mod template;
mod traced;
mod watch;
mod work_file;

pub use cargo::CargoBuild;
pub use error::{Error, Result};
pub use machine::MachineSnapshot;
pub use other_work::OtherWork;
pub use outcome::{LeftProcesses, RecordingFailure, RecordingOutcome};
pub use plan::{RecordingPlan, unused_bundle_path, unused_path};
pub use probe::{LogDraft, Probe, ProbePlan, ProbeRecording, as_text, loadable, log_beside};
pub use program_end::ProgramEnd;
pub use provenance::{Provenance, redactor};
pub use reached::ReachedProgram;
pub use record_request::{RecordRequest, Recorder, RecordingSubject};
pub use recorded_bundle::{
    BundleReader, BundleVerdict, ReadingDepth, RecordedBundle, RecordedIssue, RecordedProgram,
};
pub use request::{OutputRoute, RecordTimeouts, Recording, StoppedBy, XctraceRequest};
pub use running::RunningProcesses;
pub use session::record;
pub use shaders::ShaderOutcome;
pub use traced::TracedProgram;
pub use watch::{RecordingEvent, StopRequest, Watcher};
