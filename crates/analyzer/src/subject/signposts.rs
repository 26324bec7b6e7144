//! Phases that programs named with os_signpost intervals.
//!
//! Two tables tell of them: `os-signpost` has an event for each begin and each
//! end (several tables of it, one per set of subsystems), and Xcode's own
//! `OSSignpostIntervals` has the pairs. A recording may have both.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use metalens_trace::{Names, ProcessId, Symbol, ThreadId};

use super::target::Target;
use crate::basics::held::Held;
use crate::basics::message::{Message, quote, table};
use crate::basics::spans::Span;
use crate::message;
use crate::tables::SignpostTables;
use crate::tables::columns::{Either, at};
use crate::tables::reader::Given;
use crate::tables::signposts::{
    Identifiers, SIGNPOST_EVENTS, SIGNPOST_INTERVALS, SignpostEvents, SignpostIntervals,
};

/// Every os_signpost interval of a recording.
#[derive(Debug, Default)]
pub(crate) struct Signposts {
    kinds: BTreeMap<Kind, Stretches>,
    /// What was wrong with such a table.
    problem: Option<String>,
}

/// Whose and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub process: Option<ProcessId>,
    pub subsystem: Option<Symbol>,
    pub category: Option<Symbol>,
    pub name: Symbol,
}

/// When.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stretches {
    pub spans: Vec<Span>,
    pub unpaired: u64,
}

impl Stretches {
    /// Returns the sum of their lengths; they may overlap. Lengths between events can
    /// overflow, unlike durations in tables: a note then says that the sum is saturated.
    pub(crate) fn total_ns(&self) -> u64 {
        let lengths = self.spans.iter().map(|span| span.length_ns());
        lengths.fold(0, u64::saturating_add)
    }
}

impl Signposts {
    /// Reads the tables, whose memory ends here.
    pub(crate) fn of(tables: SignpostTables, names: &Names) -> Self {
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

    /// Keeps the error of a table that cannot be used. Without rows nothing is lost.
    fn usable<T>(&mut self, table: Given<T>) -> Option<T> {
        if let Err(absent) = &table
            && absent.rows.is_some_and(|rows| rows > 0)
        {
            self.problem = Some(absent.error.to_string());
        }
        table.ok()
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

    /// Each name's intervals, in no order that means anything.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&Kind, &Stretches)> {
        self.kinds.iter()
    }

    /// Why there are none, if there are none.
    pub(crate) fn why_none(&self) -> Option<Message> {
        if let Some(problem) = &self.problem {
            return Some(message!(
                "a table of signposts could not be used: {}",
                quote(problem)
            ));
        }
        if !self.kinds.is_empty() {
            return None;
        }
        Some(message!(
            "the input has no os_signpost interval (tables {} and {}); the template itself records \
             only some of the system's own. Begin and end the program's phases with os_signpost, \
             and record with --instrument os_signpost beside the template",
            table(SIGNPOST_EVENTS.schema),
            table(SIGNPOST_INTERVALS.schema)
        ))
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

fn events_of(table: &SignpostEvents) -> impl Iterator<Item = Event> {
    let rows = 0..table.times.len();
    rows.filter_map(|row| {
        let kind = Kind {
            process: at(&table.processes, row),
            subsystem: at(&table.subsystems, row),
            category: at(&table.categories, row),
            name: at(&table.names, row)?,
        };
        Some(Event {
            time_ns: table.times.get(row)?,
            what: at(&table.events, row),
            scope: at(&table.scopes, row),
            thread: at(&table.threads, row),
            kind,
            identifier: identifier(&table.identifiers, row),
        })
    })
}

fn intervals_of(
    table: &SignpostIntervals,
) -> impl Iterator<Item = (Kind, Option<Identifier>, Span)> {
    let rows = 0..table.starts.len();
    rows.filter_map(|row| {
        let start = table.starts.get(row)?;
        let span = Span::new(start, start + table.durations.get(row)?);
        let kind = Kind {
            process: at(&table.processes, row),
            subsystem: at(&table.subsystems, row),
            category: at(&table.categories, row),
            name: at(&table.names, row)?,
        };
        Some((kind, identifier(&table.identifiers, row), span))
    })
}

/// What tells signposts of one name apart. It is compared and never shown, so
/// that a bundle's raw number, whatever it stands for, does as well as its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Text(Symbol),
    Number(u64),
}

fn identifier(identifiers: &Identifiers, row: usize) -> Option<Identifier> {
    match &**identifiers {
        Either::Left(numbers) => numbers.get(row).map(Identifier::Number),
        Either::Right(texts) => at(texts, row).map(Identifier::Text),
    }
}
