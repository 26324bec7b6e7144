//! Collapses the stacks of the threads that submit, as far as they were sampled while the GPU was idle.
//!
//! These are all gaps of the window, whatever their cause. The samples of findings are only those
//! in idle time that host work and encoding caused.

use metalens_trace::Trace;

use crate::basics::spans::{Span, length_ns};
use crate::error::{Error, Result};
use crate::metrics::cpu::samples::{Sample, Samples};
use crate::metrics::cpu::stacks::{CollapsedStacks, collapse};
use crate::metrics::cpu::tally::{Members, Tally};
use crate::metrics::cpu::{inside, of_submitters};
use crate::questions::analyze::selected_step;
use crate::questions::measure::Measured;
use crate::request::Request;
use crate::subject::Subject;
use crate::subject::facts::analyzed_process;
use crate::tables::recording::Recording;

/// Stacks of the threads that submit while the GPU was idle.
#[derive(Debug, Clone, PartialEq)]
pub struct IdleStacks {
    /// Stacks of the samples.
    pub stacks: CollapsedStacks,
    /// True if nothing was measured.
    pub synthetic: bool,
    /// Name of the process.
    pub process: String,
    /// Number of samples of these threads while the GPU was idle.
    pub samples: u64,
    /// Number of samples of these threads in the whole window.
    pub samples_in_window: u64,
    /// Idle time of the GPU, in nanoseconds.
    pub idle_ns: u64,
    /// Length of the window, in nanoseconds.
    pub window_ns: u64,
    /// True if the threads that submit are known; if not, the samples are of all threads of the
    /// process.
    pub submitters_known: bool,
    /// True if waiting threads were sampled too; `None` if unknown.
    pub waiting_recorded: Option<bool>,
}

/// Returns the stacks of the threads that submit while the GPU was idle. The trace must have been
/// read with [`selection`](crate::selection).
pub fn idle_stacks(trace: Trace, request: &Request) -> Result<IdleStacks> {
    let step = selected_step(&trace, request)?;
    let measured = Measured::new(trace, request, step)?;
    let (recording, subject) = (&measured.recording, &measured.subject);
    let names = &recording.names;
    let table = measured.tables.cpu.ok_or(Error::NoSamples)?;
    let samples = Samples::read(table, &recording.run, names)?.ok_or(Error::NoSamples)?;
    let gaps = measured.occupancy.gaps.iter();
    let idle: Vec<Span> = gaps.map(|gap| gap.span).collect();

    let submitting = submitting(&samples, subject, recording);
    let examined = inside(&submitting, &idle);
    if examined.is_empty() {
        let samples = Tally::new(&submitting).samples;
        return Err(Error::unanswered(
            format!(
                "none of the {samples} CPU samples of the submitting threads lies in the idle time of the GPU"
            ),
            "the threads were waiting, and only running threads were sampled, or the recording is \
             too short: record for longer",
        ));
    }

    Ok(IdleStacks {
        stacks: collapse(samples.unit, &examined, names),
        synthetic: recording.facts.synthetic,
        process: analyzed_process(&subject.chosen, names).name,
        samples: Tally::new(&examined).samples,
        samples_in_window: Tally::new(&submitting).samples,
        idle_ns: length_ns(&idle),
        window_ns: subject.window().length_ns(),
        submitters_known: !subject.commands.threads.is_empty(),
        waiting_recorded: samples.waiting_recorded,
    })
}

/// Returns the samples in the window of the threads that submit.
fn submitting(samples: &Samples, subject: &Subject, recording: &Recording) -> Vec<Sample> {
    let names = &recording.names;
    let members = Members::new(&subject.chosen.processes, names);
    let rows = samples.rows.iter();
    let of_process: Vec<Sample> = rows.filter(|sample| members.has(sample)).copied().collect();
    let in_window = inside(&of_process, &[subject.window()]);
    of_submitters(&in_window, &subject.commands.threads, names)
}
