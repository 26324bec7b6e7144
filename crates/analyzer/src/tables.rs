//! The tables and columns that analyses read.

use metalens_trace::Selection;

use crate::commands::{APPLICATION, COMPLETIONS, ENCODERS, SUBMISSIONS};
use crate::cpu::samples::{CPU_PROFILE, SAMPLE_COLUMNS, TIME_PROFILE, TIME_SAMPLE};
use crate::debug_groups::APPLICATION_EVENTS;
use crate::phases::signposts;
use crate::shaders::{SHADER_LIST, SHADER_SAMPLES};
use crate::timeline::{GPU_INTERVALS, GPU_STATES};
use crate::{counters, machine};

/// The tables and columns that an analysis reads. Those that its main figures
/// rest on must be readable; the others are left out with a note if they are not.
#[must_use]
pub fn selection() -> Selection {
    Selection::columns(&[
        (
            GPU_INTERVALS,
            &[
                "start",
                "duration",
                "start-latency",
                "channel-name",
                "event-label",
                "process",
                "gpu",
                "cmdbuffer-id",
                "encoder-id",
            ],
        ),
        (GPU_STATES, &["start", "duration", "state"]),
        (
            ENCODERS,
            &[
                "start",
                "duration",
                "thread",
                "process",
                "cmdbuffer-label",
                "encoder-label",
                "encoder-id",
            ],
        ),
        (COMPLETIONS, &["timestamp", "cmdbuffer-id"]),
    ])
    .and_if_readable(&[
        (
            SHADER_SAMPLES,
            &["start", "duration", "name", "channel-name", "process"],
        ),
        (SHADER_LIST, &["name", "pso-name", "shader-type", "process"]),
        (
            APPLICATION_EVENTS,
            &[
                "start",
                "duration",
                "event-type",
                "process",
                "thread",
                "event-label",
            ],
        ),
        (signposts::EVENTS, &signposts::EVENT_COLUMNS),
        (signposts::INTERVALS, &signposts::INTERVAL_COLUMNS),
    ])
    .and_if_readable(machine::TABLES)
    .and_if_readable(counters::TABLES)
    .and_if_readable(&SAMPLES)
    .with_labels_unnumbered()
}

/// The same, and the tables in which encodings stand that the encoder list lost:
/// they are as large as the list, and it is seldom that they are needed.
#[must_use]
pub fn selection_with_recovery() -> Selection {
    selection().and_if_readable(&[
        (APPLICATION, &["start", "duration", "process", "encoder-id"]),
        (
            SUBMISSIONS,
            &[
                "start",
                "duration",
                "num-encoders",
                "process",
                "cmdbuffer-id",
            ],
        ),
    ])
}

/// The tables and columns that a profile of the CPU reads.
#[must_use]
pub fn profile_selection() -> Selection {
    Selection::columns(&SAMPLES)
}

const SAMPLES: [(&str, &[&str]); 3] = [
    (TIME_PROFILE, &SAMPLE_COLUMNS),
    (CPU_PROFILE, &SAMPLE_COLUMNS),
    (TIME_SAMPLE, &SAMPLE_COLUMNS),
];
