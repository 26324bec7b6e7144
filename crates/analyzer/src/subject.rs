//! Whom a report is about and when: the target, its window, its intervals.

use metalens_trace::Trace;

use crate::commands::Commands;
use crate::cpu;
use crate::debug_groups;
use crate::error::{Error, Result};
use crate::facts::process_facts;
use crate::gaps::Edges;
use crate::machine::{ForeignUse, foreign_use};
use crate::naming::KernelNames;
use crate::parallel::both;
use crate::phases::signposts::Signposts;
use crate::phases::warm_up;
use crate::processes::{ProcessUse, touches, usage};
use crate::report::{ProcessFacts, WarmUp};
use crate::request::Request;
use crate::spans::{Span, union};
use crate::target::{Target, choose};
use crate::timeline::{GPU_INTERVALS, Interval, Timeline};
use crate::window::Cut;

/// All that the parts of a report are made from, once it is known whom and
/// when it is about.
pub(crate) struct Subject {
    /// Whom.
    pub target: Target,
    /// When.
    pub cut: Cut,
    /// The target's intervals in the window, sorted by start.
    pub mine: Vec<Interval>,
    /// Those next to it.
    pub edges: Edges,
    /// Its encodings and completions.
    pub commands: Commands,
    /// What is left to say of everyone else.
    pub others: Others,
    /// Each process over the whole recording, and inside the window.
    pub processes: Vec<ProcessFacts>,
    /// When the GPU says that it was active, if it was recorded.
    pub active: Option<Vec<Span>>,
    /// The target's warm-up, if it has one.
    pub warm_up: Option<WarmUp>,
    /// The phases that programs named.
    pub signposts: Signposts,
    /// Everyone's intervals in the whole recording, sorted by start, if they were
    /// asked for.
    pub everyone: Option<Vec<Interval>>,
    /// The target's command buffers in the whole recording, in order of commit;
    /// only where there are timings to compare them with.
    pub timed_buffers: Vec<Span>,
}

impl Subject {
    /// Finds out. Takes the tables of GPU intervals, states, encoders,
    /// completions and signposts; everyone else's intervals are dropped.
    pub(crate) fn of(trace: &mut Trace, request: &Request) -> Result<Self> {
        let timeline = Timeline::take(trace);
        let timeline = timeline.map_err(|error| cpu::only_cpu(trace).unwrap_or(error))?;
        let signposts = Signposts::take(trace);
        let everyone = usage(&timeline.intervals, WHOLE, &trace.names);
        let target = choose_target(request, trace, &timeline, &everyone)?;
        let commands = Commands::take(trace, &target, debug_groups::has_any(trace))?;
        let names = &trace.names;
        let mut cut = Cut::asked(request, &timeline, &target, &signposts, names)?;
        let whole = cut.window;
        let kernel_names = KernelNames::new(names, &commands.label_pairs);
        let find = || warm_up::find(&timeline, &target, whole, &kernel_names, names);
        let around = |window| Around {
            edges: Edges::of(of_target(&timeline, &target), window),
            others: Others::of(&timeline, &target, window),
            processes: process_facts(&everyone, &timeline, window, &target, names),
        };
        let (warm_up, around) = if request.skip_warm_up {
            let warm_up = find();
            if let Some(found) = &warm_up {
                cut.to(Span::new(found.end_ns, whole.end_ns), "warm-up", "");
            }
            (warm_up, around(cut.window))
        } else {
            both(find, || around(whole))
        };
        let window = cut.window;
        let work = request.work.as_ref();
        let mut subject = Self {
            edges: around.edges,
            others: around.others,
            processes: around.processes,
            timed_buffers: crate::known_work::command_buffers(&timeline.intervals, &target, work),
            everyone: request.keep_everyone.then(|| timeline.intervals.clone()),
            mine: timeline.intervals,
            active: timeline.active,
            warm_up: None,
            target,
            cut,
            commands,
            signposts,
        };
        subject.keep(whole);
        subject.warm_up =
            warm_up.map(|found| found.report(&subject.mine, whole, request.skip_warm_up));
        if window != whole {
            subject.keep(window);
        }
        Ok(subject)
    }

    /// The window.
    pub(crate) fn window(&self) -> Span {
        self.cut.window
    }

    /// Forgets what is not the target's, or not in the window: there may be millions.
    fn keep(&mut self, window: Span) {
        let target = &self.target;
        self.mine
            .retain(|one| target.is(one.process) && touches(one.span, window));
    }
}

/// What is known of everyone before all but the target's intervals are dropped.
struct Around {
    edges: Edges,
    others: Others,
    processes: Vec<ProcessFacts>,
}

/// All the time that there is.
pub(crate) const WHOLE: Span = Span {
    start_ns: 0,
    end_ns: u64::MAX,
};

fn of_target<'a>(
    timeline: &'a Timeline,
    target: &'a Target,
) -> impl Iterator<Item = &'a Interval> + 'a {
    let all = timeline.intervals.iter();
    all.filter(|one| target.is(one.process))
}

fn choose_target(
    request: &Request,
    trace: &Trace,
    timeline: &Timeline,
    everyone: &[ProcessUse],
) -> Result<Target> {
    if timeline.intervals.is_empty() {
        let no_rows = Error::NoRows {
            table: GPU_INTERVALS.to_owned(),
        };
        return Err(cpu::only_cpu(trace).unwrap_or(no_rows));
    }
    if everyone.is_empty() && request.processes.is_empty() {
        return Err(Error::NoProcesses {
            rows: timeline.intervals.len(),
        });
    }
    choose(&request.processes, &trace.run, &trace.names, everyone)
}

/// What is known of everyone's intervals when only the target's are left.
pub(crate) struct Others {
    /// Everyone's, in the whole recording.
    pub all_intervals: u64,
    /// Those that name no process.
    pub unattributed: u64,
    /// When others were on the GPU inside the window.
    pub busy: Vec<Span>,
    /// The same by process.
    pub users: ForeignUse,
    /// From the first start to the last end of everyone's.
    pub rows: Option<Span>,
}

impl Others {
    fn of(timeline: &Timeline, target: &Target, window: Span) -> Self {
        let all = timeline.intervals.iter();
        let others = all.clone().filter(|one| !target.is(one.process));
        let last_ns = all.clone().map(|one| one.span.end_ns).max();
        Self {
            all_intervals: timeline.intervals.len() as u64,
            unattributed: all.filter(|one| one.process.is_none()).count() as u64,
            busy: union(others.map(|one| one.span.clip(window))),
            users: foreign_use(&timeline.intervals, target, window),
            rows: timeline
                .intervals
                .first()
                .map(|first| Span::new(first.span.start_ns, last_ns.unwrap_or(first.span.end_ns))),
        }
    }
}
