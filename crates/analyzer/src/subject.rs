//! Whom a report is about and when: the target, its window, its intervals.

use metalens_trace::{Names, Symbol, Trace};

use crate::buffers::{Buffer, buffers};
use crate::commands::{self, Commands};
use crate::cpu;
use crate::debug_groups;
use crate::error::{Error, Result};
use crate::facts::process_facts;
use crate::gaps::{Edges, sweep};
use crate::kernels::NamedIntervals;
use crate::machine::ForeignUse;
use crate::parallel::both;
use crate::phases::signposts::Signposts;
use crate::phases::warm_up;
use crate::processes::{ProcessUse, Usage, touches, usage};
use crate::report::{ProcessFacts, WarmUp};
use crate::request::Request;
use crate::spans::{Span, extend};
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
    /// Its command buffers in the whole recording, in the order of their ids.
    pub buffers: Vec<Buffer>,
    /// Its encodings and completions.
    pub commands: Commands,
    /// Everyone's distinct pairs of command-buffer label and encoder label.
    pub label_pairs: Vec<(Symbol, Symbol)>,
    /// What is left to say of everyone else.
    pub others: Others,
    /// Each process over the whole recording, and inside the window.
    pub processes: Vec<ProcessFacts>,
    /// When the GPU says that it was active, if it was recorded.
    pub active: Option<Vec<Span>>,
    /// The target's warm-up, if that was to be left out and there is one.
    pub skipped: Option<WarmUp>,
    /// The phases that programs named.
    pub signposts: Signposts,
    /// Everyone's intervals in the whole recording, sorted by start, if they were
    /// asked for.
    pub everyone: Option<Vec<Interval>>,
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
        let tables = commands::Tables::take(trace);
        let label_pairs = tables.label_pairs();
        let with_threads = debug_groups::has_any(trace);
        let asked = Asked {
            request,
            timeline: &timeline,
            target: &target,
            signposts: &signposts,
            label_pairs: &label_pairs,
            everyone: &everyone,
            names: &trace.names,
        };
        let of_commands = || Commands::of(tables, &target, with_threads);
        let (commands, seen) = both(of_commands, || asked.look());
        let (commands, seen) = (commands?, seen?);
        let (window, whole) = (seen.cut.window, seen.whole);
        let mut subject = Self {
            edges: seen.around.edges,
            others: seen.around.others,
            processes: seen.around.processes,
            everyone: request.keep_everyone.then(|| timeline.intervals.clone()),
            mine: timeline.intervals,
            active: timeline.active,
            skipped: None,
            target,
            cut: seen.cut,
            buffers: seen.buffers,
            commands,
            label_pairs,
            signposts,
        };
        subject.keep(whole);
        if let Some(found) = seen.skipped {
            subject.skipped = Some(found.report(&subject.mine, whole, true));
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

/// What the window follows from.
struct Asked<'a> {
    request: &'a Request,
    timeline: &'a Timeline,
    target: &'a Target,
    signposts: &'a Signposts,
    label_pairs: &'a [(Symbol, Symbol)],
    everyone: &'a [ProcessUse],
    names: &'a Names,
}

/// What is seen of everyone's intervals before all but the target's are dropped.
struct Seen {
    cut: Cut,
    /// The window before a warm-up was left out.
    whole: Span,
    skipped: Option<warm_up::Found>,
    around: Around,
    /// The target's, in the whole recording.
    buffers: Vec<Buffer>,
}

impl Asked<'_> {
    fn look(&self) -> Result<Seen> {
        let (timeline, target, names) = (self.timeline, self.target, self.names);
        let intervals = timeline.intervals.iter();
        let mine = intervals.filter(|one| target.is(one.process));
        let mut cut = Cut::asked(self.request, timeline, target, self.signposts, names)?;
        let whole = cut.window;
        let find = || self.warm_up(whole);
        let skipped = self.request.skip_warm_up.then(find).flatten();
        if let Some(found) = &skipped {
            cut.to(Span::new(found.end_ns, whole.end_ns), "warm-up", "");
        }
        Ok(Seen {
            around: self.around(cut.window),
            buffers: buffers(mine, cut.window),
            cut,
            whole,
            skipped,
        })
    }

    fn warm_up(&self, window: Span) -> Option<warm_up::Found> {
        let is_mine = |one: &&Interval| self.target.is(one.process) && touches(one.span, window);
        let mine = self.timeline.intervals.iter().filter(is_mine);
        let kernels = NamedIntervals::by_label(mine.clone(), self.names, self.label_pairs);
        let mut gaps = Vec::new();
        let spans = mine.clone().map(|one| one.span);
        sweep(spans, window, |_, gap| gaps.extend(gap));
        warm_up::find(mine, &kernels, &gaps, window, self.names)
    }

    fn around(&self, window: Span) -> Around {
        let (mut edges, mut others) = (Edges::default(), Others::default());
        let mut in_window = Usage::default();
        for one in &self.timeline.intervals {
            in_window.add(one, window);
            others.count(one);
            if self.target.is(one.process) {
                edges.meet(one, window);
            } else {
                others.add(one, window);
            }
        }
        let in_window = in_window.finish(self.names);
        Around {
            edges,
            others,
            processes: process_facts(self.everyone, &in_window, self.target, self.names),
        }
    }
}

/// What is known of everyone beside the target's intervals.
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
#[derive(Default)]
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
    /// Counts anyone's interval, in order of their starts.
    fn count(&mut self, one: &Interval) {
        self.all_intervals += 1;
        self.unattributed += u64::from(one.process.is_none());
        let rows = self.rows.get_or_insert(one.span);
        rows.end_ns = rows.end_ns.max(one.span.end_ns);
    }

    /// Takes in what an interval of somebody else has in the window.
    fn add(&mut self, one: &Interval, window: Span) {
        let inside = one.span.clip(window);
        extend(&mut self.busy, inside);
        self.users.add(one.process, inside);
    }
}
