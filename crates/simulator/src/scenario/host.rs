//! What a process shows of itself on the CPU: signposts, samples of its stack, hangs.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::machine::is_false;
use super::nanos::Nanos;

/// An `os_signpost`: one interval, one event, or one interval around every so many command buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Signpost {
    /// What it marks.
    pub name: String,
    /// Who marks it.
    #[serde(default = "Signpost::default_subsystem")]
    pub subsystem: String,
    /// Instruments shows `PointsOfInterest` without being asked.
    #[serde(default = "Signpost::default_category")]
    pub category: String,
    /// Where it begins, since the recording's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Nanos>,
    /// Where it ends; an event, without a length, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Nanos>,
    /// Instead of `from` and `to`: from the start of a command buffer's encoding to the completion
    /// of the last of so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<NonZeroU32>,
}

/// Samples of the submitting thread's stack, as Time Profiler takes them, from its first encoding
/// until all is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Samples {
    /// From one sample to the next.
    #[serde(default = "Samples::default_period")]
    pub period: Nanos,
    /// The function the thread is in between a completion and the next encoding.
    #[serde(default = "Samples::default_host_function")]
    pub host_function: String,
    /// Whether the thread is sampled while it waits, too. Time Profiler does so only when asked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocked: bool,
}

/// A time during which the main thread did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hang {
    /// Since the recording's start.
    pub start: Nanos,
    /// How long it took.
    pub length: Nanos,
    /// What Instruments calls one of that length.
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
