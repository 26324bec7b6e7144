//! Phases that programs named with os_signpost intervals.
//!
//! Two tables tell of them: `os-signpost` has an event for each begin and each
//! end (several tables of it, one per set of subsystems), and Xcode's own
//! `OSSignpostIntervals` has the pairs. A recording may have both.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use metalens_trace::{Column, Integers, Names, ProcessId, Symbol, Table, ThreadId, Trace};

use crate::analysis::Held;
use crate::report::NamedPhase;
use crate::spans::{Span, length_ns, overlap_ns, union};
use crate::statistics::{percentile, ratio};
use crate::target::Target;
use crate::timeline::Interval;

/// The tables of events.
pub(crate) const EVENTS: &str = "os-signpost";
/// The table of intervals.
pub(crate) const INTERVALS: &str = "OSSignpostIntervals";

/// The columns of events.
pub(crate) const EVENT_COLUMNS: [&str; 9] = [
    "time",
    "thread",
    "process",
    "event-type",
    "scope",
    "identifier",
    "name",
    "subsystem",
    "category",
];
/// The columns of intervals.
pub(crate) const INTERVAL_COLUMNS: [&str; 7] = [
    "start",
    "duration",
    "name",
    "category",
    "subsystem",
    "identifier",
    "process",
];

/// How many names a report lists.
const LISTED: usize = 100;

/// Every os_signpost interval of a recording.
#[derive(Debug, Default)]
pub(crate) struct Signposts {
    kinds: BTreeMap<Kind, Stretches>,
    /// What was wrong with such a table.
    problem: Option<String>,
}

/// Whose and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    process: Option<ProcessId>,
    subsystem: Option<Symbol>,
    category: Option<Symbol>,
    name: Symbol,
}

/// When.
#[derive(Debug, Clone, Default)]
struct Stretches {
    spans: Vec<Span>,
    unpaired: u64,
}

impl Stretches {
    /// Returns the sum of their lengths; they may overlap. Lengths between events can
    /// overflow, unlike durations in tables: a note then says that the sum is saturated.
    fn total_ns(&self) -> u64 {
        let lengths = self.spans.iter().map(|span| span.length_ns());
        lengths.fold(0, u64::saturating_add)
    }
}

impl Signposts {
    /// Takes the tables, which end here.
    pub(crate) fn take(trace: &mut Trace) -> Self {
        let mut signposts = Self::default();
        let mut events = Vec::new();
        while let Ok(table) = trace.take_table(EVENTS) {
            signposts.keep(events_of(&table), &table, |found| events.extend(found));
        }
        let (begin, end) = (
            trace.names.find_symbol("Begin"),
            trace.names.find_symbol("End"),
        );
        let thread_wide = trace.names.find_symbol("Thread");
        signposts.pair(events, [begin, end], thread_wide);
        let mut intervals = Vec::new();
        while let Ok(table) = trace.take_table(INTERVALS) {
            signposts.keep(intervals_of(&table), &table, |found| {
                intervals.extend(found);
            });
        }
        signposts.add(intervals);
        signposts
    }

    fn keep<T>(
        &mut self,
        found: metalens_trace::Result<Vec<T>>,
        table: &Table,
        mut add: impl FnMut(Vec<T>),
    ) {
        match found {
            Ok(found) => add(found),
            // Without rows nothing is lost.
            Err(error) if table.rows() > 0 => self.problem = Some(error.to_string()),
            Err(_) => {}
        }
    }

    /// Pairs each end with the last begin of its kind and identifier that has
    /// none yet; those of one thread only with each other, if that is their scope.
    fn pair(
        &mut self,
        mut events: Vec<Event>,
        [begin, end]: [Option<Symbol>; 2],
        thread_wide: Option<Symbol>,
    ) {
        events.sort_unstable();
        // Two tables may have the same event; no thread logs one twice at once.
        events.dedup();
        let mut open: BTreeMap<(Kind, Option<Identifier>, Option<ThreadId>), Vec<u64>> =
            BTreeMap::new();
        for event in events {
            let is_threads = event.scope.is_some() && event.scope == thread_wide;
            let thread = event.thread.filter(|_| is_threads);
            let begins = open.entry((event.kind, event.identifier, thread));
            if event.what.is_some() && event.what == begin {
                begins.or_default().push(event.time_ns);
            } else if event.what.is_some() && event.what == end {
                let begun = begins.or_default().pop();
                let stretches = self.kinds.entry(event.kind).or_default();
                match begun {
                    Some(start) => stretches.spans.push(Span::new(start, event.time_ns)),
                    None => stretches.unpaired += 1,
                }
            }
        }
        for ((kind, ..), left) in open.into_iter().filter(|(_, left)| !left.is_empty()) {
            self.kinds.entry(kind).or_default().unpaired += left.len() as u64;
        }
        self.sort();
    }

    /// Adds those that events did not give already.
    fn add(&mut self, mut intervals: Vec<(Kind, Option<Identifier>, Span)>) {
        intervals.sort_unstable();
        intervals.dedup();
        let known = self.kinds.clone();
        for (kind, _, span) in intervals {
            let known = known.get(&kind);
            if known.is_none_or(|known| known.spans.binary_search(&span).is_err()) {
                self.kinds.entry(kind).or_default().spans.push(span);
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        for stretches in self.kinds.values_mut() {
            stretches.spans.sort_unstable();
        }
    }

    /// When a phase of a name ran, sorted by start: the target's, or else
    /// anybody's. None if there is no such name.
    pub(crate) fn of_name(&self, name: &str, target: &Target, names: &Names) -> Option<Vec<Span>> {
        let kinds = self.kinds.iter();
        let named =
            kinds.filter(|(kind, found)| names.text(kind.name) == name && !found.spans.is_empty());
        let own = named.clone().filter(|(kind, _)| target.is(kind.process));
        let spans = |kinds: &mut dyn Iterator<Item = (&Kind, &Stretches)>| -> Vec<Span> {
            kinds.flat_map(|(_, found)| found.spans.clone()).collect()
        };
        let mut found = spans(&mut own.clone());
        if found.is_empty() {
            found = spans(&mut named.clone());
        }
        found.sort_unstable();
        (!found.is_empty()).then_some(found)
    }

    /// When the target's phases ran, inside the window, in order of time.
    pub(crate) fn held(&self, target: &Target, window: Span, names: &Names) -> Vec<Held> {
        let own = self
            .kinds
            .iter()
            .filter(|(kind, _)| target.is(kind.process));
        let spans = own.flat_map(|(kind, found)| found.spans.iter().map(move |&span| (kind, span)));
        let inside = spans.map(|(kind, span)| (kind, span.clip(window)));
        let mut held: Vec<Held> = inside
            .filter(|(_, span)| !span.is_empty())
            .map(|(kind, span)| Held {
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                what: names.text(kind.name).to_owned(),
                is_induced: false,
            })
            .collect();
        held.sort_by_key(|one| (one.start_ns, Reverse(one.end_ns)));
        held
    }

    /// All names that have an interval.
    pub(crate) fn names(&self, names: &Names) -> Vec<String> {
        let kinds = self.kinds.iter();
        let paired = kinds.filter(|(_, found)| !found.spans.is_empty());
        let mut all: Vec<String> = paired
            .map(|(kind, _)| names.text(kind.name).to_owned())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What a report says of them. `mine` are sorted by start, `busy` is their union.
    pub(super) fn named_phases(
        &self,
        mine: &[Interval],
        busy: &[Span],
        window: Span,
        target: &Target,
        names: &Names,
    ) -> Vec<NamedPhase> {
        let mut kinds: Vec<(&Kind, &Stretches, u64)> = self
            .kinds
            .iter()
            .map(|(kind, found)| (kind, found, found.total_ns()))
            .collect();
        kinds.sort_by_cached_key(|(kind, found, total)| {
            let text = |symbol: Option<Symbol>| symbol.map(|one| names.text(one).to_owned());
            let name = names.text(kind.name).to_owned();
            (
                !target.is(kind.process),
                Reverse(*total),
                name,
                [text(kind.subsystem), text(kind.category)],
                found.spans.first().copied(),
            )
        });
        let listed = kinds.into_iter().take(LISTED);
        let phases = listed.map(|(kind, found, total_ns)| {
            let gpu = Gpu::during(&found.spans, mine, busy, window);
            named_phase(kind, found, total_ns, gpu, target, names)
        });
        phases.collect()
    }

    /// Why there are none, if there are none.
    pub(super) fn why_none(&self) -> Option<String> {
        if let Some(problem) = &self.problem {
            return Some(format!("a table of signposts could not be used: {problem}"));
        }
        if !self.kinds.is_empty() {
            return None;
        }
        Some(format!(
            "the input has no os_signpost interval (tables {EVENTS} and {INTERVALS}); the template \
             itself records only some of the system's own. Begin and end the program's phases with \
             os_signpost, and record with --instrument os_signpost beside the template"
        ))
    }
}

/// What the target did on the GPU during a phase, inside the window.
struct Gpu {
    window_ns: u64,
    intervals: u64,
    busy_ns: u64,
}

impl Gpu {
    fn during(spans: &[Span], mine: &[Interval], busy: &[Span], window: Span) -> Self {
        let covered = union(spans.iter().map(|span| span.clip(window)));
        let begun_by = |ns: u64| mine.partition_point(|one| one.span.start_ns < ns) as u64;
        let intervals = covered
            .iter()
            .map(|span| begun_by(span.end_ns) - begun_by(span.start_ns));
        Self {
            window_ns: length_ns(&covered),
            intervals: intervals.sum(),
            busy_ns: overlap_ns(&covered, busy),
        }
    }
}

fn named_phase(
    kind: &Kind,
    found: &Stretches,
    total_ns: u64,
    gpu: Gpu,
    target: &Target,
    names: &Names,
) -> NamedPhase {
    let text = |symbol: Symbol| names.text(symbol).to_owned();
    let mut lengths: Vec<u64> = found.spans.iter().map(|span| span.length_ns()).collect();
    lengths.sort_unstable();
    let process = kind.process.and_then(|process| names.process(process));
    NamedPhase {
        name: text(kind.name),
        subsystem: kind.subsystem.map(text),
        category: kind.category.map(text),
        process: process.map(|process| text(process.name)),
        is_target: target.is(kind.process),
        count: found.spans.len() as u64,
        total_ns,
        median_ns: percentile(&lengths, 50),
        start_ns: found.spans.first().map(|span| span.start_ns),
        end_ns: found.spans.iter().map(|span| span.end_ns).max(),
        unpaired: found.unpaired,
        window_ns: gpu.window_ns,
        intervals: gpu.intervals,
        busy_ns: gpu.busy_ns,
        ratio: ratio(gpu.busy_ns, gpu.window_ns),
    }
}

/// A begin or an end. Sorted by time, and at one time by what comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time_ns: u64,
    kind: Kind,
    identifier: Option<Identifier>,
    what: Option<Symbol>,
    scope: Option<Symbol>,
    thread: Option<ThreadId>,
}

fn events_of(table: &Table) -> metalens_trace::Result<Vec<Event>> {
    let times = table.integers("time")?;
    let what = table.texts("event-type")?;
    let kinds = Kinds::of(table)?;
    let scopes = table.texts("scope").unwrap_or(&[]);
    let identifiers = Identifiers::of(table);
    let threads = threads_of(table);
    let event = |row: usize| {
        Some(Event {
            time_ns: times.get(row)?,
            what: at(what, row),
            scope: at(scopes, row),
            thread: at(threads, row),
            kind: kinds.get(row)?,
            identifier: identifiers.get(row),
        })
    };
    Ok((0..table.rows()).filter_map(event).collect())
}

fn intervals_of(table: &Table) -> metalens_trace::Result<Vec<(Kind, Option<Identifier>, Span)>> {
    let (starts, durations) = (table.integers("start")?, table.integers("duration")?);
    let kinds = Kinds::of(table)?;
    let identifiers = Identifiers::of(table);
    let interval = |row: usize| {
        let start = starts.get(row)?;
        let span = Span::new(start, start + durations.get(row)?);
        Some((kinds.get(row)?, identifiers.get(row), span))
    };
    Ok((0..table.rows()).filter_map(interval).collect())
}

/// What tells signposts of one name apart. It is compared and never shown, so
/// that a bundle's raw number, whatever it stands for, does as well as its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Text(Symbol),
    Number(u64),
}

/// The column of them.
enum Identifiers<'a> {
    Texts(&'a [Option<Symbol>]),
    Numbers(&'a Integers),
}

impl<'a> Identifiers<'a> {
    fn of(table: &'a Table) -> Self {
        match table.integers("identifier") {
            Ok(numbers) => Self::Numbers(numbers),
            Err(_) => Self::Texts(table.texts("identifier").unwrap_or(&[])),
        }
    }

    fn get(&self, row: usize) -> Option<Identifier> {
        match self {
            Self::Texts(texts) => at(texts, row).map(Identifier::Text),
            Self::Numbers(numbers) => numbers.get(row).map(Identifier::Number),
        }
    }
}

/// The columns that both tables have.
struct Kinds<'a> {
    names: &'a [Option<Symbol>],
    processes: &'a [Option<ProcessId>],
    subsystems: &'a [Option<Symbol>],
    categories: &'a [Option<Symbol>],
}

impl<'a> Kinds<'a> {
    fn of(table: &'a Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            names: table.texts("name")?,
            processes: table.processes("process")?,
            subsystems: table.texts("subsystem").unwrap_or(&[]),
            categories: table.texts("category").unwrap_or(&[]),
        })
    }

    /// None of a row without a name.
    fn get(&self, row: usize) -> Option<Kind> {
        Some(Kind {
            process: at(self.processes, row),
            subsystem: at(self.subsystems, row),
            category: at(self.categories, row),
            name: at(self.names, row)?,
        })
    }
}

fn threads_of(table: &Table) -> &[Option<ThreadId>] {
    let mut columns = table.columns();
    match columns.find(|(spec, _)| spec.mnemonic == "thread") {
        Some((_, Column::Threads(threads))) => threads,
        _ => &[],
    }
}

fn at<T: Copy>(column: &[Option<T>], row: usize) -> Option<T> {
    column.get(row).copied().flatten()
}
