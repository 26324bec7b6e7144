//! Computes the figures that follow from GPU intervals, gaps and commands alone: most of the
//! work of an analysis.

use metalens_message::{Factor, Ns, ratio, share};
use metalens_trace::Names;

use super::efficiency::program;
use super::gap_causes::GapSplitter;
use super::idle::{Idle, idle};
use super::judged::judged;
use super::kernels::{Kernels, channels};
use super::latency::latency;
use super::phases::phases;
use super::sanity::joined;
use super::shape::shape;
use super::steps::StepsInput;
use crate::basics::parallel::{both, half};
use crate::basics::spans::{Span, length_ns, overlap_ns};
use crate::replay::{Recorded, replay};
use crate::report::{
    Busy, Channel, Counts, HeldBy, JudgedPart, Kernel, Latency, OncePart, Phases, Replay, Shape,
    StepSeries,
};
use crate::request::StepChoice;
use crate::subject::gaps::Occupancy;
use crate::subject::interval::encoders;
use crate::subject::steps::Series;
use crate::subject::{Subject, WHOLE};

/// Input of the figures.
pub(crate) struct FiguresInput<'a> {
    pub subject: &'a Subject,
    /// Steps that somebody wants to look at.
    pub choice: Option<&'a StepChoice>,
    pub occupancy: &'a Occupancy,
    pub kernels: &'a Kernels,
    pub names: &'a Names,
}

/// Figures of a report.
pub(crate) struct Figures {
    pub idle: Idle,
    pub work: WorkFigures,
    pub kernels: Vec<Kernel>,
    pub shape: Shape,
    pub phases: Phases,
    pub judged: Option<JudgedPart>,
    pub steps: Vec<StepSeries>,
    pub once: Vec<OncePart>,
    pub replay: Option<Replay>,
}

/// Figures that need little but the intervals and their command buffers.
pub(crate) struct WorkFigures {
    pub counts: Counts,
    /// Number of encoders that the encoder list contains; `None` if there is no list.
    pub encoders_listed: Option<u64>,
    pub busy: Busy,
    pub latency: Latency,
    pub channels: Vec<Channel>,
    /// Time from the first encoding to the last completion.
    pub program: Option<Span>,
}

impl FiguresInput<'_> {
    /// Computes the figures on up to four threads: there may be millions of intervals, and none of
    /// these needs another.
    pub(crate) fn figures(&self) -> Figures {
        let (gaps, named) = (&self.occupancy.gaps, &self.kernels.named);
        let idle_figures = || idle(gaps, &GapSplitter::new(self.subject), named);
        let ((idle, phases), (work, shape)) = both(
            || half(idle_figures, || self.phases()),
            || half(|| self.work(), || self.shape()),
        );
        let judged = judged(self.subject, self.kernels, self.occupancy, self.names);
        let replay = self.replayed(judged.as_ref(), replay);
        let (steps, once) = self.steps(&work);
        Figures {
            idle,
            work,
            kernels: self.kernels.summaries(self.names),
            shape,
            phases,
            judged,
            steps,
            once,
            replay,
        }
    }

    /// Returns what is made of the recorded command buffers of the part that is judged.
    pub(crate) fn replayed<T>(
        &self,
        judged: Option<&JudgedPart>,
        replay: impl FnOnce(&Recorded<'_>) -> T,
    ) -> T {
        let subject = self.subject;
        let part = judged
            .map(|part| Span::new(part.start_ns.0, part.end_ns.0))
            .or_else(|| subject.cut.is_cut().then(|| subject.window()));
        let paced = subject.pace.iter().flat_map(|(_, places)| places);
        let held = paced.chain(&subject.waits.requests).copied();
        let mut held: Vec<usize> = held.collect();
        held.sort_unstable();
        let recorded = Recorded {
            submissions: &subject.submissions,
            part,
            part_ns: part.unwrap_or(subject.window()).length_ns(),
            kernels: &self.kernels.named,
            waits: &subject.waits,
            driver: subject.chain.source,
            held: &held,
            steps: subject
                .series
                .first()
                .map(Series::submissions)
                .unwrap_or_default(),
        };
        replay(&recorded)
    }

    /// Returns the steps in the window, and the parts of the run that are no step.
    fn steps(&self, work: &WorkFigures) -> (Vec<StepSeries>, Vec<OncePart>) {
        let (subject, window) = (self.subject, self.subject.window());
        let run = work.program.map_or(window, |program| Span {
            start_ns: program.start_ns.min(window.start_ns),
            end_ns: program.end_ns.max(window.end_ns),
        });
        let mut channels = work.channels.iter();
        let draws = channels.any(|channel| channel.name.as_deref() == Some("Vertex"));
        let serves = subject.waits.summary.held_by == Some(HeldBy::Requests);
        let usual_name = match (draws, serves) {
            (true, _) => "frame",
            (_, true) => "request",
            _ => "step",
        };
        let steps = StepsInput {
            series: &subject.series,
            window,
            occupancy: self.occupancy,
            splitter: GapSplitter::new(subject),
            run: if subject.cut.is_cut() { window } else { run },
            mine: &subject.mine,
            kernels: &self.kernels.named,
            usual_name,
            choice: self.choice,
        };
        steps.measure()
    }

    fn work(&self) -> WorkFigures {
        let (subject, names, window) = (self.subject, self.names, self.subject.window());
        let (mine, named) = (&subject.mine, &self.kernels.named);
        let buffers = &subject.buffers;
        let in_window = buffers.iter().filter(|buffer| buffer.in_window);
        let (encoders, encoders_listed) = self.encoders();
        // If the window was cut, the program's run time is cut there too.
        let part = if subject.cut.is_cut() { window } else { WHOLE };

        WorkFigures {
            counts: Counts {
                intervals: mine.len() as u64,
                encoders,
                command_buffers: in_window.clone().count() as u64,
                reused_command_buffers: in_window.clone().filter(|buffer| buffer.is_reused).count()
                    as u64,
                kernels: named.count() as u64,
                coalesced: named.coalesced,
                coalesced_encoders: named.coalesced_encoders,
                all_intervals: subject.others.all_intervals,
                unattributed: subject.others.unattributed,
            },
            encoders_listed,
            busy: self.busy(),
            latency: latency(buffers, &subject.commands, &subject.chain, window, names),
            channels: channels(mine, window, names),
            program: program(mine, in_window, &subject.commands, part),
        }
    }

    /// Returns the number of encoders, and of those in the encoder list, if there is one.
    fn encoders(&self) -> (u64, Option<u64>) {
        let encoders = encoders(&self.subject.mine);
        let encoder_list = self.subject.commands.listed_encoders();
        let listed = encoder_list.map(|listed| joined(&encoders, listed));
        (encoders.len() as u64, listed)
    }

    fn busy(&self) -> Busy {
        let others = &self.subject.others.busy;
        let are_known = !self.subject.others.are_unrecorded;
        let (window, busy) = (self.subject.window(), &self.occupancy.busy);
        let (busy_ns, sum_ns) = (length_ns(busy), self.kernels.sum_ns());
        let others_busy_ns = length_ns(others);
        let others_overlap_ns = overlap_ns(busy, others);
        let active = self.subject.active.as_deref();

        Busy {
            busy_ns: Ns(busy_ns),
            sum_ns: Ns(sum_ns),
            ratio: share(busy_ns, window.length_ns()),
            overlap_factor: ratio(sum_ns, busy_ns).map(Factor),
            machine_busy_ns: Ns(busy_ns + others_busy_ns - others_overlap_ns),
            machine_active_ns: active.map(|active| Ns(overlap_ns(active, &[window]))),
            others_busy_ns: are_known.then_some(Ns(others_busy_ns)),
            others_overlap_ns: are_known.then_some(Ns(others_overlap_ns)),
        }
    }

    fn shape(&self) -> Shape {
        shape(self.subject, self.kernels, self.occupancy, self.names)
    }

    fn phases(&self) -> Phases {
        phases(
            self.subject,
            &self.kernels.named,
            self.occupancy,
            self.names,
        )
    }
}
