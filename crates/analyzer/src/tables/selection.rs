//! The tables and columns to load.

use metalens_trace::Selection;

use super::commands::{APPLICATION, COMPLETIONS, ENCODERS, SUBMISSIONS};
use super::counters::{COUNTER_INFO, COUNTER_INTERVALS, COUNTER_VALUES};
use super::cpu::SAMPLES;
use super::gpu::{GPU_INTERVALS, GPU_STATES};
use super::machine::{
    ALLOCATED, BUFFER_ERRORS, COMPOSITOR, DEVICE, DRIVER_EVENTS, DRIVER_INTERVALS, HANG_RISKS,
    HANGS, PERFORMANCE, SHADER_COMPILES, SURFACES, THERMAL, VSYNCS, WIRED,
};
use super::names::{APPLICATION_EVENTS, SHADER_LIST, SHADER_SAMPLES};
use super::signposts::{SIGNPOST_EVENTS, SIGNPOST_INTERVALS};

/// The tables and columns that an analysis reads. Those that its main figures
/// rest on must be readable; the others are left out with a note if they are not.
#[must_use]
pub fn selection() -> Selection {
    Selection::columns(&[
        GPU_INTERVALS.wanted(),
        GPU_STATES.wanted(),
        ENCODERS.wanted(),
        COMPLETIONS.wanted(),
    ])
    .and_if_readable(&[
        SHADER_SAMPLES.wanted(),
        SHADER_LIST.wanted(),
        APPLICATION_EVENTS.wanted(),
        SIGNPOST_EVENTS.wanted(),
        SIGNPOST_INTERVALS.wanted(),
    ])
    .and_if_readable(&[
        PERFORMANCE.wanted(),
        DEVICE.wanted(),
        THERMAL.wanted(),
        ALLOCATED.wanted(),
        WIRED.wanted(),
        DRIVER_INTERVALS.wanted(),
        DRIVER_EVENTS.wanted(),
        SHADER_COMPILES.wanted(),
        HANGS.wanted(),
        HANG_RISKS.wanted(),
        BUFFER_ERRORS.wanted(),
        COMPOSITOR.wanted(),
        VSYNCS.wanted(),
        SURFACES.wanted(),
    ])
    .and_if_readable(&[
        COUNTER_INTERVALS.wanted(),
        COUNTER_VALUES.wanted(),
        COUNTER_INFO.wanted(),
    ])
    .and_if_readable(&SAMPLES)
    .with_labels_unnumbered()
}

/// The same, and the tables in which encodings stand that the encoder list lost:
/// they are as large as the list, and it is seldom that they are needed.
#[must_use]
pub fn selection_with_recovery() -> Selection {
    selection().and_if_readable(&[APPLICATION.wanted(), SUBMISSIONS.wanted()])
}

/// The tables and columns that a profile of the CPU reads.
#[must_use]
pub fn profile_selection() -> Selection {
    Selection::columns(&SAMPLES)
}
