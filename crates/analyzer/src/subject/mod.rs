//! Whom a report is about and when: the target, its window, its intervals, and what its
//! work is called.
//!
//! ```text
//! timeline → processes → target → window → warm_up
//!          → buffers, commands, signposts, gaps, named_intervals
//! ```

pub(crate) mod brief;
pub(crate) mod buffers;
pub(crate) mod commands;
pub(crate) mod debug_groups;
pub(crate) mod facts;
pub(crate) mod gaps;
pub(crate) mod kernel_names;
pub(crate) mod named_intervals;
pub(crate) mod others;
pub(crate) mod processes;
pub(crate) mod shaders;
pub(crate) mod signposts;
pub(crate) mod target;
pub(crate) mod timeline;
pub(crate) mod warm_up;
pub(crate) mod window;

use metalens_trace::{Names, Symbol};

use self::buffers::{Buffer, buffers};
use self::commands::{Commands, label_pairs};
use self::debug_groups::groups_of;
use self::facts::process_facts;
use self::gaps::{Edges, sweep};
use self::kernel_names::{Hints, KernelNames};
use self::named_intervals::NamedIntervals;
use self::others::Others;
use self::processes::{ProcessUse, Usage, usage};
use self::shaders::shaders_of;
use self::signposts::Signposts;
use self::target::{Target, choose};
use self::timeline::{Interval, Timeline};
use self::window::Cut;
use crate::basics::parallel::both;
use crate::basics::spans::{Span, touches};
use crate::error::{Error, Result};
use crate::report::{ProcessFacts, WarmUp};
use crate::request::Request;
use crate::tables::recording::Recording;
use crate::tables::{CommandTables, NameTables};

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
    /// Finds out. Everyone else's intervals are dropped. Which thread encoded what is
    /// only kept `with_threads`.
    pub(crate) fn of(
        timeline: Timeline,
        signposts: Signposts,
        tables: CommandTables,
        with_threads: bool,
        recording: &Recording,
        request: &Request,
    ) -> Result<Self> {
        let everyone = usage(&timeline.intervals, WHOLE, &recording.names);
        let target = choose_target(request, recording, &timeline, &everyone)?;
        let label_pairs = label_pairs(&tables.listed.encoders);
        let asked = Asked {
            request,
            timeline: &timeline,
            target: &target,
            signposts: &signposts,
            label_pairs: &label_pairs,
            everyone: &everyone,
            names: &recording.names,
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

    /// The kernels of the target's intervals.
    pub(crate) fn named_intervals(
        &self,
        tables: NameTables,
        names: &Names,
    ) -> Result<NamedIntervals> {
        let (mine, target, commands) = (&self.mine, &self.target, &self.commands);
        let mut texts = Names::new();
        let shaders = shaders_of(tables.shader_samples, mine, target, names, &mut texts)?;
        let events = tables.application_events;
        let groups = groups_of(events, mine, commands, target, names, &mut texts)?;
        let hints = Hints {
            texts,
            shaders,
            groups,
        };
        let names = KernelNames::new(names, &self.label_pairs, &hints);
        Ok(NamedIntervals::of(mine, &names))
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
    recording: &Recording,
    timeline: &Timeline,
    everyone: &[ProcessUse],
) -> Result<Target> {
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
