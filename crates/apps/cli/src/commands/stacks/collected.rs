//! Collects the stacks of one recording, with the words about them.

use metalens_analyzer::{
    CollapsedStacks, IdleStacks, Profile, Request, WeightUnit, collapsed_stacks, idle_stacks,
    profile, profile_selection, selection,
};
use metalens_flamegraph::Heading;
use metalens_text::number::Float;
use metalens_text::shown;
use metalens_text::units::{count, counted, time};

use crate::args::StacksArguments;
use crate::progress::LongWork;

/// The stacks of one recording.
pub(super) struct Collected {
    pub(super) stacks: CollapsedStacks,
    /// Names of the processes.
    process: String,
    /// Title of the stacks.
    title: String,
    /// Numbers of samples, and of threads or idle time.
    subtitle: String,
    pub(super) notes: Vec<String>,
}

impl Collected {
    /// Reads the stacks that the arguments ask for.
    pub(super) fn read(
        arguments: &StacksArguments,
        request: &Request,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        let (input, reading) = (&arguments.input, arguments.reading);
        if arguments.idle {
            let idle = idle_stacks(
                LongWork::begin(quiet).load(input, &selection(), reading)?,
                request,
            )?;
            return Ok(Self::while_idle(idle));
        }

        let trace = LongWork::begin(quiet).load(input, &profile_selection(), reading)?;
        let facts = profile(&trace, request)?;
        let stacks = collapsed_stacks(&trace, request)?;
        Ok(Self::whole(stacks, facts))
    }

    /// Returns the texts above the flame graph.
    pub(super) fn heading(&self) -> Heading {
        Heading {
            title: format!("{}: {}", self.process, self.title),
            subtitle: self.subtitle.clone(),
        }
    }

    /// Returns the stacks of all samples.
    fn whole(stacks: CollapsedStacks, facts: Profile) -> Self {
        Self {
            stacks,
            process: process_names(&facts),
            title: "CPU stacks".to_owned(),
            subtitle: format!(
                "{} of {}, {}",
                counted(facts.samples, "sample"),
                counted(facts.thread_count, "thread"),
                weight(facts.weight, facts.weight_unit)
            ),
            notes: facts.notes,
        }
    }

    /// Returns the stacks while the GPU was idle, with notes about what they lack.
    fn while_idle(idle: IdleStacks) -> Self {
        let title = if idle.submitters_known {
            "Submitting threads, GPU idle"
        } else {
            "All threads, GPU idle"
        };
        let subtitle = format!(
            "{} of {} ({:.1} %), in {} of idle time",
            count(idle.samples),
            counted(idle.samples_in_window, "sample"),
            idle.samples.float() / idle.samples_in_window.float() * 100.0,
            time(idle.idle_ns),
        );

        let mut notes = vec![format!(
            "{title}: {subtitle}, of a window of {}",
            time(idle.window_ns)
        )];
        if !idle.submitters_known {
            let note = "the recording does not show which threads submit, so these are all threads \
                        of the process";
            notes.push(note.to_owned());
        }
        if idle.waiting_recorded == Some(false) {
            let note = "only running threads were sampled: a waiting thread left no sample, so the \
                        shares are shares of CPU time, not of idle time";
            notes.push(note.to_owned());
        }
        Self {
            stacks: idle.stacks,
            process: shown(&idle.process).into_owned(),
            title: title.to_owned(),
            subtitle,
            notes,
        }
    }
}

/// Returns the names of the analyzed processes.
fn process_names(profile: &Profile) -> String {
    if profile.how.is_none() {
        return "all processes".to_owned();
    }

    let mut names: Vec<String> = profile
        .processes
        .iter()
        .filter(|process| process.is_analyzed)
        .map(|process| shown(process.name.as_deref().unwrap_or("unknown process")).into_owned())
        .collect();
    names.dedup();
    names.join(", ")
}

/// Formats a weight in its unit.
fn weight(weight: u64, unit: WeightUnit) -> String {
    match unit {
        WeightUnit::Ns => time(weight),
        WeightUnit::Cycles => counted(weight, "cycle"),
        WeightUnit::Samples => count(weight),
    }
}
