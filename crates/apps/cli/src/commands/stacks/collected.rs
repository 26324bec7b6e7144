//! Collects the stacks of one recording, with the words about them.

use metalens_analyzer::{
    CollapsedStacks, CpuStacks, IdleStacks, Request, WeightUnit, cpu_stacks, idle_stacks,
    selection, stacks_selection,
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
    /// The texts above a flame graph.
    pub(super) heading: Heading,
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

        let trace = LongWork::begin(quiet).load(input, &stacks_selection(), reading)?;
        Ok(Self::whole(cpu_stacks(&trace, request)?))
    }

    /// Returns the stacks of all samples.
    fn whole(cpu: CpuStacks) -> Self {
        let process = cpu.processes.map_or("all processes".to_owned(), |names| {
            shown(&names.join(", ")).into_owned()
        });
        let subtitle = format!(
            "{} of {}, {}",
            counted(cpu.samples, "sample"),
            counted(cpu.threads, "thread"),
            weight(cpu.weight, cpu.stacks.unit)
        );
        Self {
            heading: heading(cpu.synthetic, &process, "CPU stacks", subtitle),
            stacks: cpu.stacks,
            notes: cpu.notes,
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
            heading: heading(idle.synthetic, &shown(&idle.process), title, subtitle),
            notes,
        }
    }
}

fn heading(synthetic: bool, process: &str, title: &str, subtitle: String) -> Heading {
    let mark = if synthetic { "SYNTHETIC: " } else { "" };
    Heading {
        title: format!("{mark}{process}: {title}"),
        subtitle,
    }
}

/// Formats a weight in its unit.
fn weight(weight: u64, unit: WeightUnit) -> String {
    match unit {
        WeightUnit::Ns => time(weight),
        WeightUnit::Cycles => counted(weight, "cycle"),
        WeightUnit::Samples => count(weight),
    }
}
