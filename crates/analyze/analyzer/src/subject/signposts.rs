//! Reads the phases that programs named with os_signpost intervals.
//!
//! Two kinds of tables contain them: `os-signpost` has an event for each begin and each end
//! (several tables, one per set of subsystems), and Xcode's own `OSSignpostIntervals` has the
//! pairs. A recording may have both.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use metalens_message::{Message, message, quote, table};
use metalens_trace::{Names, ProcessId, Symbol, ThreadId};

use super::chosen_processes::ChosenProcesses;
use crate::basics::spans::Span;
use crate::basics::state_interval::StateInterval;
use crate::tables::SignpostTables;
use crate::tables::columns::at;
use crate::tables::reader::TableResult;
use crate::tables::signposts::{
    SIGNPOST_EVENTS, SIGNPOST_INTERVALS, SignpostEvents, SignpostIntervals,
};

/// All os_signpost intervals of a recording.
#[derive(Debug, Default)]
pub(crate) struct Signposts {
    kinds: BTreeMap<SignpostKind, SignpostSpans>,
    /// Process and times of the intervals that began with a message.
    by_message: BTreeMap<Symbol, BTreeSet<(Option<ProcessId>, Span)>>,
    /// Error of a table that could not be used.
    problem: Option<String>,
}

/// Process, category and name of an os_signpost interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SignpostKind {
    pub process: Option<ProcessId>,
    pub subsystem: Option<Symbol>,
    pub category: Option<Symbol>,
    pub name: Symbol,
}

/// Times of the os_signpost intervals of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct SignpostSpans {
    pub spans: Vec<Span>,
    /// Number of begins without an end and of ends without a begin.
    pub unpaired: u64,
}

impl SignpostSpans {
    /// Returns the sum of their lengths; they may overlap. Lengths between events can overflow,
    /// unlike durations in tables: a note then says that the sum is saturated.
    pub(crate) fn total_ns(&self) -> u64 {
        let lengths = self.spans.iter().map(|span| span.length_ns());
        lengths.fold(0, u64::saturating_add)
    }
}

impl Signposts {
    /// Reads the tables and frees their memory.
    pub(crate) fn read(tables: SignpostTables, names: &Names) -> Self {
        let mut signposts = Self::default();
        let mut events = Vec::new();
        for table in tables.events {
            events.extend(signposts.usable(table).iter().flat_map(events_of));
        }

        let (begin, end) = (names.find_symbol("Begin"), names.find_symbol("End"));
        signposts.pair(events, [begin, end], names.find_symbol("Thread"));

        let mut intervals = Vec::new();
        for table in tables.intervals {
            intervals.extend(signposts.usable(table).iter().flat_map(intervals_of));
        }
        signposts.add(intervals);
        signposts
    }

    /// Keeps the error of a table that cannot be used, unless it has no rows, so that nothing is
    /// lost.
    fn usable<T>(&mut self, table: TableResult<T>) -> Option<T> {
        if let Err(absent) = &table
            && absent.rows.is_some_and(|rows| rows > 0)
        {
            self.problem = Some(absent.error.to_string());
        }
        table.ok()
    }

    /// Pairs each end with the last begin of its kind and identifier that has no end yet; if the
    /// scope is the thread, only those of one thread with each other.
    fn pair(
        &mut self,
        mut events: Vec<Event>,
        [begin, end]: [Option<Symbol>; 2],
        thread_wide: Option<Symbol>,
    ) {
        // Several tables each have their own order.
        events.sort_unstable();
        // Two tables may have the same event; no thread logs an event twice at the same time.
        events.dedup();

        let mut open: BTreeMap<(SignpostKind, Option<u64>, Option<ThreadId>), Vec<_>> =
            BTreeMap::new();
        for event in events {
            let has_thread_scope = event.scope.is_some() && event.scope == thread_wide;
            let thread = event.thread.filter(|_| has_thread_scope);
            let begins = open.entry((event.kind, event.identifier, thread));
            if event.event.is_some() && event.event == begin {
                begins.or_default().push((event.time_ns, event.message));
            } else if event.event.is_some() && event.event == end {
                let begun = begins.or_default().pop();
                let kind = self.kinds.entry(event.kind).or_default();
                let Some((start, message)) = begun else {
                    kind.unpaired += 1;
                    continue;
                };
                let span = Span::new(start, event.time_ns);
                kind.spans.push(span);
                self.note_message(message, event.kind, span);
            }
        }

        for ((kind, ..), left) in open.into_iter().filter(|(_, left)| !left.is_empty()) {
            self.kinds.entry(kind).or_default().unpaired += left.len() as u64;
        }
        self.sort();
    }

    fn note_message(&mut self, message: Option<Symbol>, kind: SignpostKind, span: Span) {
        if let Some(message) = message {
            let times = self.by_message.entry(message).or_default();
            times.insert((kind.process, span));
        }
    }

    /// Adds the intervals that events did not give already.
    fn add(&mut self, mut intervals: Vec<(SignpostKind, Option<u64>, Span, Option<Symbol>)>) {
        intervals.sort_unstable();
        intervals.dedup();

        let known = self.kinds.clone();
        for (kind, _, span, message) in intervals {
            self.note_message(message, kind, span);
            let known = known.get(&kind);
            if known.is_none_or(|known| known.spans.binary_search(&span).is_err()) {
                self.kinds.entry(kind).or_default().spans.push(span);
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        for kind in self.kinds.values_mut() {
            kind.spans.sort_unstable();
        }
    }

    /// Returns the times of a phase, sorted by start: of the intervals with this name, or else of those
    /// that began with this message; those of the chosen processes, or else of any process. `None` if
    /// there are none.
    pub(crate) fn of_name(
        &self,
        name: &str,
        chosen: &ChosenProcesses,
        names: &Names,
    ) -> Option<Vec<Span>> {
        let kinds = self.kinds.iter();
        let named = kinds
            .filter(|(kind, _)| names.text(kind.name) == name)
            .map(|(kind, times)| times.spans.iter().map(|&span| (kind.process, span)));
        let mut found_spans: Vec<(Option<ProcessId>, Span)> = named.flatten().collect();
        if found_spans.is_empty() {
            // A message is displayed with more spaces than it was written with.
            let name = words(name);
            let messages = self.by_message.iter();
            let same = messages.filter(|(message, _)| words(names.text(**message)) == name);
            found_spans.extend(same.flat_map(|(_, times)| times));
        }

        if found_spans
            .iter()
            .any(|&(process, _)| chosen.contains(process))
        {
            found_spans.retain(|&(process, _)| chosen.contains(process));
        }
        let mut spans: Vec<Span> = found_spans.into_iter().map(|(_, span)| span).collect();
        spans.sort_unstable();
        (!spans.is_empty()).then_some(spans)
    }

    /// Returns the phases of the chosen processes inside the window, in order of time.
    pub(crate) fn phases(
        &self,
        chosen: &ChosenProcesses,
        window: Span,
        names: &Names,
    ) -> Vec<StateInterval> {
        let own = self
            .kinds
            .iter()
            .filter(|(kind, _)| chosen.contains(kind.process));
        let spans = own.flat_map(|(kind, times)| times.spans.iter().map(move |&span| (kind, span)));
        let inside = spans.map(|(kind, span)| (kind, span.clip(window)));

        let mut phases: Vec<StateInterval> = inside
            .filter(|(_, span)| !span.is_empty())
            .map(|(kind, span)| StateInterval::new(span, names.text(kind.name)))
            .collect();
        phases.sort_by_key(|phase| (phase.start_ns, Reverse(phase.end_ns)));
        phases
    }

    /// Returns all names that have an interval, sorted.
    pub(crate) fn names(&self, names: &Names) -> Vec<String> {
        let kinds = self.kinds.iter();
        let paired = kinds.filter(|(_, times)| !times.spans.is_empty());
        let mut all_names: Vec<String> = paired
            .map(|(kind, _)| names.text(kind.name).to_owned())
            .collect();
        all_names.sort_unstable();
        all_names.dedup();
        all_names
    }

    /// Returns the intervals of each kind. The order of kinds has no meaning.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&SignpostKind, &SignpostSpans)> {
        self.kinds.iter()
    }

    /// Returns the reason why there are no phases, if there are none.
    pub(crate) fn why_none(&self) -> Option<Message> {
        if let Some(problem) = &self.problem {
            return Some(message!(
                "a signpost table could not be used: {}",
                quote(problem)
            ));
        }
        if !self.kinds.is_empty() {
            return None;
        }

        Some(message!(
            "the input has no os_signpost interval (tables {} and {}); on its own, the template \
             records only some signposts of the system. Mark the phases of the program with \
             os_signpost, and record with --instrument os_signpost in addition to the template",
            table(SIGNPOST_EVENTS.schema),
            table(SIGNPOST_INTERVALS.schema)
        ))
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Begin or end of an os_signpost interval. Sorted by time, and at one time by the other
/// fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time_ns: u64,
    kind: SignpostKind,
    identifier: Option<u64>,
    event: Option<Symbol>,
    scope: Option<Symbol>,
    thread: Option<ThreadId>,
    message: Option<Symbol>,
}

fn events_of(table: &SignpostEvents) -> impl Iterator<Item = Event> {
    let rows = 0..table.times.len();
    rows.filter_map(|row| {
        let kind = SignpostKind {
            process: at(&table.processes, row),
            subsystem: at(&table.subsystems, row),
            category: at(&table.categories, row),
            name: at(&table.names, row)?,
        };
        Some(Event {
            time_ns: table.times.get(row)?,
            event: at(&table.events, row),
            scope: at(&table.scopes, row),
            thread: at(&table.threads, row),
            message: at(&table.messages, row),
            kind,
            identifier: table.identifiers.get(row),
        })
    })
}

fn intervals_of(
    table: &SignpostIntervals,
) -> impl Iterator<Item = (SignpostKind, Option<u64>, Span, Option<Symbol>)> {
    let rows = 0..table.starts.len();
    rows.filter_map(|row| {
        let start = table.starts.get(row)?;
        let span = Span::new(start, start + table.durations.get(row)?);
        let kind = SignpostKind {
            process: at(&table.processes, row),
            subsystem: at(&table.subsystems, row),
            category: at(&table.categories, row),
            name: at(&table.names, row)?,
        };
        let message = at(&table.messages, row);
        Some((kind, table.identifiers.get(row), span, message))
    })
}
