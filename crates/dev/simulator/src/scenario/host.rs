//! Describes the signposts, stack samples and hangs of a process on the CPU.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::machine::is_false;
use super::nanos::Nanos;

/// An `os_signpost`: one interval, one event, or one interval around every `every` command
/// buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Signpost {
    /// Name of the interval or event.
    pub name: String,
    /// Subsystem that the signpost is logged under.
    #[serde(default = "Signpost::default_subsystem")]
    pub subsystem: String,
    /// Category that the signpost is logged under. Instruments shows `PointsOfInterest` by default.
    #[serde(default = "Signpost::default_category")]
    pub category: String,
    /// Start, counted from the start of the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Nanos>,
    /// End, counted from the start of the recording; an event if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Nanos>,
    /// Number of command buffers per interval, in place of `from` and `to`. The interval lasts
    /// from the start of the first buffer's encoding to the completion of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<NonZeroU32>,
}

/// Stack samples of the submitting thread, as Time Profiler takes them, from its first encoding
/// until all work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Samples {
    /// Time between two samples.
    #[serde(default = "Samples::default_period")]
    pub period: Nanos,
    /// Function in which the thread is between a completion and the next encoding.
    #[serde(default = "Samples::default_host_function")]
    pub host_function: String,
    /// True to sample the thread while it waits, too. Time Profiler does so only on request.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocked: bool,
    /// True if the thread is in that function from the start of the recording to its first encoding,
    /// too, as if it loaded a model.
    #[serde(default, skip_serializing_if = "is_false")]
    pub from_start: bool,
}

/// A time during which the main thread did not respond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hang {
    /// Start, counted from the start of the recording.
    pub start: Nanos,
    /// Duration of the hang.
    pub length: Nanos,
    /// Name that Instruments has for a hang of this duration.
    #[serde(default = "Hang::default_kind")]
    pub kind: String,
}

impl Signpost {
    fn default_subsystem() -> String {
        "com.example.synthetic".to_owned()
    }

    fn default_category() -> String {
        "PointsOfInterest".to_owned()
    }
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            period: Self::default_period(),
            host_function: Self::default_host_function(),
            blocked: false,
            from_start: false,
        }
    }
}

impl Samples {
    const fn default_period() -> Nanos {
        Nanos::new(1_000_000)
    }

    fn default_host_function() -> String {
        "host_work".to_owned()
    }
}

impl Hang {
    fn default_kind() -> String {
        "Hang".to_owned()
    }
}
