//! Chooses the subject of a report: the processes, the window, their GPU intervals, and the
//! names of their work.
//!
//! ```text
//! timeline → processes → chosen_processes → window → buffers, commands, signposts, gaps, named_intervals
//! ```

pub(crate) mod buffers;
pub(crate) mod chain;
pub(crate) mod chosen_processes;
pub(crate) mod commands;
pub(crate) mod debug_groups;
pub(crate) mod dispatches;
pub(crate) mod facts;
pub(crate) mod gaps;
pub(crate) mod interval;
pub(crate) mod kernel_names;
pub(crate) mod named_intervals;
pub(crate) mod others;
pub(crate) mod pace;
pub(crate) mod processes;
pub(crate) mod raw_intervals;
pub(crate) mod shaders;
pub(crate) mod signposts;
pub(crate) mod steps;
pub(crate) mod submissions;
pub(crate) mod timeline;
mod turns;
pub(crate) mod waits;
pub(crate) mod window;

use metalens_trace::{Names, Symbol};

use self::buffers::{Buffer, buffers};
use self::chain::Chain;
use self::chosen_processes::{ChosenProcesses, choose};
use self::commands::{Commands, label_pairs};
use self::debug_groups::groups_of;
use self::dispatches::functions_of;
use self::facts::process_facts;
use self::gaps::Edges;
use self::interval::Interval;
use self::kernel_names::{KernelNames, NameHints};
use self::named_intervals::NamedIntervals;
use self::others::OtherGpuUse;
use self::pace::pace;
use self::processes::{ProcessUse, UsageCollector, usage};
use self::shaders::shaders_of;
use self::signposts::Signposts;
use self::steps::Series;
use self::submissions::Submissions;
use self::timeline::Timeline;
use self::waits::{Waits, waits};
use self::window::Cut;
use crate::basics::parallel::both;
use crate::basics::spans::{Span, touches};
use crate::error::{Error, Result};
use crate::report::{DoubtReason, DoubtfulRows, ProcessFacts, SelectedStep, SourceKind};
use crate::request::Request;
use crate::tables::machine::DriverWork;
use crate::tables::names::NameTables;
use crate::tables::reader::TableResult;
use crate::tables::recording::FinishedBuffers;
use crate::tables::recording::Recording;
use crate::tables::{CommandTables, SignpostTables};

/// Everything that the parts of a report are computed from.
pub(crate) struct Subject {
    /// Processes that the report is about.
    pub chosen: ChosenProcesses,
    /// Window, and what was cut off to get it.
    pub cut: Cut,
    /// GPU intervals of the chosen processes in the window, sorted by start.
    pub mine: Vec<Interval>,
    /// GPU intervals of the chosen processes next to the window.
    pub edges: Edges,
    /// Command buffers of the chosen processes in the whole recording, in the order of their ids.
    pub buffers: Vec<Buffer>,
    /// Encodings and completions of the chosen processes.
    pub commands: Commands,
    /// The driver's work on the command buffers of the chosen processes.
    pub chain: Chain,
    /// Submissions of the whole recording in the order of their commits.
    pub submissions: Submissions,
    /// What they waited for.
    pub waits: Waits,
    /// Period of the grid on which the program begins its work, in nanoseconds, with the submissions on it.
    pub pace: Option<(u64, Vec<usize>)>,
    /// Series of steps in the whole recording, the one with the most GPU work first.
    pub series: Vec<Series>,
    /// Distinct pairs of command-buffer label and encoder label, of all processes.
    pub label_pairs: Vec<(Symbol, Symbol)>,
    /// GPU use of all other processes.
    pub others: OtherGpuUse,
    /// GPU use of each process over the whole recording, and inside the window.
    pub processes: Vec<ProcessFacts>,
    /// Time for which the GPU reports that it was active, if recorded.
    pub active: Option<Vec<Span>>,
    /// Phases that programs named.
    pub signposts: Signposts,
    /// Command buffers that were encoded and completed, in the window if it was cut; `None` if
    /// unknown.
    pub finished: Option<FinishedBuffers>,
    /// GPU intervals of all processes in the whole recording, sorted by start, if they were
    /// requested.
    pub everyone: Option<Vec<Interval>>,
}

/// Tables of what the program and the driver did with command buffers.
pub(crate) struct CommandInput<'a> {
    pub tables: CommandTables,
    /// The driver's rows, which other parts of a report read, too.
    pub driver: &'a TableResult<DriverWork>,
}

impl Subject {
    /// Chooses processes and window, and drops the intervals of other processes. The encoders'
    /// threads are kept only for debug groups. The window is cut to a step if one is given.
    pub(crate) fn new(
        mut timeline: Timeline,
        signposts: SignpostTables,
        commands: CommandInput<'_>,
        names: &NameTables,
        recording: &Recording,
        request: &Request,
        step: Option<SelectedStep>,
    ) -> Result<Self> {
        let signposts = Signposts::read(signposts, &recording.names);
        let with_threads = debug_groups::has_any(&names.application_events);
        timeline.attribute(commands.tables.listed.encoders.as_ref().ok());
        let everyone = usage(&timeline.intervals, WHOLE, &recording.names);
        let chosen = choose_processes(request, recording, &timeline, &everyone)?;
        let label_pairs = label_pairs(&commands.tables.listed.encoders);
        let CommandInput {
            tables: input_tables,
            driver,
        } = commands;
        let read_commands = || -> Result<(Commands, Chain)> {
            let CommandTables {
                listed,
                recovery,
                chain,
            } = input_tables;
            let commands = Commands::read(listed, recovery, &chosen, with_threads)?;
            let chain = Chain::read(chain, driver, &chosen, &recording.names)?;
            Ok((commands, chain))
        };
        // What needs the intervals of all processes, before those of others are dropped.
        let read_intervals = || -> Result<(Cut, Vec<Buffer>, Context)> {
            let cut = Cut::requested(request, step, &timeline, &chosen, &recording.names)?;
            let intervals = timeline.intervals.iter();
            let mine = intervals.filter(|interval| chosen.contains(interval.process));
            let buffers = buffers(mine, cut.window);
            let context = Context::new(&timeline.intervals, &chosen, cut.window, &recording.names);
            Ok((cut, buffers, context))
        };
        let (commands, intervals) = both(read_commands, read_intervals);
        let ((mut commands, mut chain), (cut, mut buffers, mut context)) = (commands?, intervals?);
        commands.mark_reused(&mut buffers);
        chain.join_by_order(&buffers, &chosen);
        context.others.are_unrecorded = recording.source.kind == SourceKind::Log;
        let window = cut.window;

        let finished = commands.finished(&buffers, &timeline.intervals, cut.reach());
        let mut subject = Self {
            finished,
            edges: context.edges,
            others: context.others,
            processes: process_facts(&everyone, &context.in_window, &chosen, &recording.names),
            everyone: request.keep_everyone.then(|| timeline.intervals.clone()),
            mine: timeline.intervals,
            active: timeline.active,
            chosen,
            cut,
            buffers,
            commands,
            chain,
            submissions: Submissions::default(),
            waits: Waits::default(),
            pace: None,
            series: Vec::new(),
            label_pairs,
            signposts,
        };

        subject.submissions = Submissions::new(&subject, window);
        subject.waits = waits(&subject.submissions, &subject.chain);
        subject.pace = pace(&subject.submissions);
        subject.series = steps::series(&subject, &recording.names, request.step.as_ref())?;
        subject.keep(window);
        Ok(subject)
    }

    /// Returns the window of the report.
    pub(crate) fn window(&self) -> Span {
        self.cut.window
    }

    /// Counts the GPU intervals in the window that name no process and may be of the chosen ones. They are
    /// not if encodings and completions tell of most command buffers: then those without an interval are
    /// counted instead.
    pub(crate) fn without_process(&self) -> Option<DoubtfulRows> {
        let buffers = self.buffers.iter().filter(|buffer| buffer.in_window);
        let (told, all) = (
            self.finished.map_or(0, |finished| finished.count),
            buffers.count(),
        );
        let rows = self.others.unattributed_inside;
        let of = rows + self.mine.len() as u64;
        (told * 2 < all as u64 && rows * NAMELESS > of).then_some(DoubtfulRows {
            reason: DoubtReason::WithoutProcess,
            rows,
            of,
        })
    }

    /// Returns the GPU intervals with the kernel of each.
    pub(crate) fn named_intervals(
        &self,
        tables: NameTables,
        names: &Names,
    ) -> Result<NamedIntervals> {
        let (mine, chosen, commands) = (&self.mine, &self.chosen, &self.commands);
        let mut texts = Names::new();
        let shaders = shaders_of(
            tables.shader_samples,
            mine,
            self.window(),
            chosen,
            names,
            &mut texts,
        )?;
        let events = tables.application_events;
        let groups = groups_of(events, mine, commands, chosen, names, &mut texts)?;

        let dispatched = functions_of(tables.dispatches, mine, names, &mut texts)?;

        let hints = NameHints {
            texts,
            shaders,
            groups,
            dispatched,
        };
        let names = KernelNames::new(names, &self.label_pairs, &hints);
        Ok(NamedIntervals::new(mine, &names))
    }

    /// Drops intervals of other processes and outside of the window: there may be millions.
    fn keep(&mut self, window: Span) {
        let chosen = &self.chosen;
        self.mine
            .retain(|interval| chosen.contains(interval.process) && touches(interval.span, window));
    }
}

/// One GPU interval in this many may lack its process in a sound recording.
const NAMELESS: u64 = 100;

/// Intervals at the edges of the window, and the GPU use of all processes.
struct Context {
    edges: Edges,
    others: OtherGpuUse,
    in_window: Vec<ProcessUse>,
}

impl Context {
    fn new(intervals: &[Interval], chosen: &ChosenProcesses, window: Span, names: &Names) -> Self {
        let (mut edges, mut others) = (Edges::default(), OtherGpuUse::default());
        let mut in_window = UsageCollector::default();
        for interval in intervals {
            in_window.add(interval, window);
            others.count(interval);
            if chosen.contains(interval.process) {
                edges.add(interval, window);
            } else {
                others.add(interval, window);
            }
        }
        Self {
            edges,
            others,
            in_window: in_window.finish(names),
        }
    }
}

/// Span that contains all points in time.
pub(crate) const WHOLE: Span = Span {
    start_ns: 0,
    end_ns: u64::MAX,
};

fn choose_processes(
    request: &Request,
    recording: &Recording,
    timeline: &Timeline,
    everyone: &[ProcessUse],
) -> Result<ChosenProcesses> {
    if everyone.is_empty() && request.processes.is_empty() {
        return Err(Error::NoProcesses {
            rows: timeline.intervals.len(),
        });
    }
    choose(
        &request.processes,
        &recording.run,
        &recording.names,
        everyone,
    )
}
