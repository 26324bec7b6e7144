//! Finds the steps of the program in the whole recording: tokens, training steps, frames.
//!
//! ```text
//! thread  waits for ──┐      waits for ──┐
//! GPU     ├a┤├b┤├─c─┤ ┘   ├a┤├b┤├─c─┤ ┘      ├a┤├b┤├─c─┤
//! tiles   ├─ step 1 ──────├─ step 2 ─────────├─ step 3, whose length is unknown
//! ```
//!
//! A step begins with the first GPU start of its command buffers. What begins one is looked for in this
//! order: a named interval that has nearly all GPU work, starts on a grid of time, a wait that blocked,
//! work that repeats. Several waits a turn are one step if their work repeats in a longer turn; what
//! repeats between two waits is a layer.

use std::num::NonZeroU64;

use metalens_trace::Names;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Subject;
use super::interval::Interval;
use super::kernel_names::is_default;
use super::submissions::signed;
use super::turns::{SAME_PCT, STARTS, marked, numbered, turns, usual_distance};
use super::waits::Awaited;
use crate::basics::distinct::distinct;
use crate::basics::spans::Span;
use crate::basics::statistics::median;
use crate::error::{Error, Result};
use crate::report::StepsBy;
use crate::request::StepChoice;

/// Number of names that are tried, the longest first.
const TRIED: usize = 16;
/// Share of the GPU work that a name must have to be that of the steps, in percent.
const NAMED_PCT: u64 = 90;
/// Parts of a period of which named steps of that period differ by at most one.
const NEAR_PARTS: u64 = 20;
/// Number of sets of work, of the 64 that are told apart, and parts of the steps, beyond which names say
/// nothing of kinds: each step has a name of its own, such as `Frame 17`.
const MOST_SETS: usize = 32;
/// Factor between numbers of GPU intervals from which on steps are of another kind, in tenths.
const OTHER_KIND: u64 = 15;

/// Steps of one thread, or of one name.
pub(crate) struct Series {
    pub by: StepsBy,
    /// Name of the phase or work that marks them.
    pub name: Option<String>,
    /// Time from one start to the next on the grid, in nanoseconds, if they begin on one.
    pub period_ns: Option<u64>,
    pub steps: Vec<Step>,
    pub kinds: Vec<Kind>,
    /// End of their work on the GPU.
    pub end_ns: u64,
    /// Summed lengths of their work on the GPU.
    pub gpu_ns: u64,
}

/// Step of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// First start on the GPU, never before that of the step before.
    pub start_ns: u64,
    /// Time from the first encoding, or commit, to the last completion; `None` if it is not recorded.
    pub latency_ns: Option<NonZeroU64>,
    /// True if all earlier steps were done on the GPU when its latency begins.
    pub begins_alone: bool,
    /// Place in [`Series::kinds`].
    pub kind: u32,
    /// Place of its first submission; `None` if it has none of its own.
    pub submission: Option<u32>,
}

/// Step with a known length: it ends where the next one begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile {
    /// Place in the series.
    pub place: usize,
    /// Place in [`Series::kinds`].
    pub kind: usize,
    /// False for work that runs once.
    pub counts: bool,
    pub span: Span,
}

impl Tile {
    /// Returns the number by which people call it.
    pub(crate) fn number(&self) -> u64 {
        self.place as u64 + 1
    }
}

impl Series {
    /// Returns each step with a known length, and the other work between them.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Tile> + Clone {
        let later = self.steps.iter().skip(1);
        let steps = self.steps.iter().zip(later).enumerate();
        steps.map(|(place, (step, next))| Tile {
            place,
            kind: step.kind as usize,
            counts: self.counts(step),
            span: Span::new(step.start_ns, next.start_ns),
        })
    }

    /// Returns the steps that lie in a window.
    pub(crate) fn tiles_in(&self, window: Span) -> impl Iterator<Item = Tile> {
        self.tiles()
            .filter(move |tile| tile.counts && tile.span.clip(window) == tile.span)
    }

    /// Returns the steps that begin in a window, each with its place.
    pub(crate) fn begun_in(&self, window: Span) -> impl Iterator<Item = (usize, &Step)> + Clone {
        let begins = window.start_ns..window.end_ns;
        let steps = self.steps.iter().enumerate();
        steps.filter(move |(_, step)| begins.contains(&step.start_ns) && self.counts(step))
    }

    /// Returns whether a step is one of many, and not work that runs once.
    fn counts(&self, step: &Step) -> bool {
        let kind = self.kinds.get(step.kind as usize);
        kind.is_some_and(|kind| !kind.is_foreign)
    }

    /// Returns the time of the step with this number, from 1; the last one ends with its work on the GPU.
    pub(crate) fn step(&self, number: u64) -> Option<Span> {
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        let start_ns = self.steps.get(place)?.start_ns;
        let next = self.steps.get(place + 1);
        let end_ns = next.map_or(self.end_ns, |next| next.start_ns);
        Some(Span::new(start_ns, end_ns.max(start_ns)))
    }

    /// Returns the period of the grid that the program keeps, if named steps usually come a period apart.
    fn period(&self, subject: &Subject) -> Option<u64> {
        let (period_ns, _) = subject.pace.as_ref()?;
        let usual = median(self.tiles().map(|tile| tile.span.length_ns()))?;
        (usual.abs_diff(*period_ns) <= period_ns / NEAR_PARTS).then_some(*period_ns)
    }

    /// Returns the submissions that begin a step, in order, each with whether the step counts.
    pub(crate) fn submissions(&self) -> Vec<(usize, bool)> {
        let steps = self
            .steps
            .iter()
            .filter_map(|step| Some((step.submission? as usize, self.counts(step))));
        let mut steps: Vec<(usize, bool)> = steps.collect();
        steps.sort_unstable();
        steps
    }
}

/// Steps with the same kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub count: u64,
    /// Usual number of GPU intervals.
    pub intervals: u64,
    /// True if the steps are few, and have work that no usual step has.
    pub is_foreign: bool,
}

/// Command buffer; where none is known, GPU interval.
#[derive(Debug, Clone, Copy)]
struct Atom {
    id: Option<NonZeroU64>,
    start_ns: u64,
    end_ns: u64,
    /// Commit, or the start on the GPU.
    order_ns: i64,
    /// Place in the work's list.
    work: u32,
    thread: u32,
}

/// Work of alike command buffers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
struct Work {
    /// Stands for the labels and channels, and how often each comes.
    all: u64,
    /// Has a bit for each label and channel.
    distinct: u64,
    intervals: u32,
}

impl Work {
    fn add(&mut self, interval: &Interval) {
        let names = [interval.label, interval.channel];
        let words = names.into_iter().flat_map(|name| {
            let index = name.map(|name| name.index() as u64);
            [Some(u64::from(index.is_some())), index]
        });
        let hash = hash_of(words.flatten());
        self.all = self.all.wrapping_add(hash);
        self.distinct |= 1 << (hash >> 58);
        self.intervals = self.intervals.saturating_add(1);
    }

    fn and(self, other: Self) -> Self {
        Self {
            all: self.all.wrapping_add(other.all),
            distinct: self.distinct | other.distinct,
            intervals: self.intervals.saturating_add(other.intervals),
        }
    }
}

/// Hashes words as `FxHasher` does with 64 bits. Where words have 32, as in the page for the browser, the
/// upper bits of its hashes are zero.
fn hash_of(words: impl Iterator<Item = u64>) -> u64 {
    const FACTOR: u64 = 0xf135_7aea_2e62_a9c5;
    let hash = words.fold(0_u64, |hash, word| {
        hash.wrapping_add(word).wrapping_mul(FACTOR)
    });
    hash.rotate_left(26)
}

/// Returns all series of the recording, the one with the most work on the GPU first: those that are
/// asked for, or else those that are found. The subject still has the intervals of all processes.
pub(crate) fn series(
    subject: &Subject,
    names: &Names,
    choice: Option<&StepChoice>,
) -> Result<Vec<Series>> {
    let finder = Finder::new(subject);
    let wanted = choice.and_then(|choice| choice.name.as_deref());
    if let Some(name) = wanted {
        let series = finder.wanted(name, names);
        let mut series = series.ok_or_else(|| Error::NoSuchStep {
            wanted: name.to_owned(),
            present: subject.signposts.names(names),
            work: finder.labels(names),
        })?;
        series.period_ns = series.period(subject);
        return Ok(vec![series]);
    }
    let mut found: Vec<Series> = finder.named(names).into_iter().collect();
    for series in &mut found {
        series.period_ns = series.period(subject);
    }
    if found.is_empty() {
        let list = &subject.submissions.list;
        let pace = subject.pace.as_ref().map(|(period_ns, places)| {
            let ids = places.iter().filter_map(|&place| Some(list.get(place)?.id));
            (*period_ns, ids.collect::<FxHashSet<NonZeroU64>>())
        });
        let threads = 0..subject.submissions.threads.len().max(1);
        found.extend(threads.filter_map(|thread| {
            let own = finder.of_thread(thread);
            let on_grid = pace.as_ref().and_then(|(_, ids)| paced(&own, ids));
            if let (Some((period_ns, _)), Some(starts)) = (&pace, on_grid) {
                return Some(finder.series(StepsBy::Paced, Some(*period_ns), &own, &starts));
            }
            let (by, starts) = finder.unnamed(&own)?;
            Some(finder.series(by, None, &own, &starts))
        }));
    }
    found.sort_by_key(|series| std::cmp::Reverse(series.gpu_ns));
    Ok(found)
}

/// Looks for steps.
struct Finder<'a> {
    subject: &'a Subject,
    /// In the order of their commits.
    atoms: Vec<Atom>,
    work: Vec<Work>,
}

impl<'a> Finder<'a> {
    fn new(subject: &'a Subject) -> Self {
        let mut finder = Self {
            subject,
            atoms: Vec::new(),
            work: Vec::new(),
        };
        finder.read();
        finder
    }

    fn own(&self) -> impl Iterator<Item = &'a Interval> + use<'a> {
        let chosen = &self.subject.chosen;
        let own = self.subject.mine.iter();
        own.filter(|interval| chosen.contains(interval.process))
    }

    /// Collects the command buffers; where there are hardly any, the intervals with a label.
    fn read(&mut self) {
        let buffers = &self.subject.buffers;
        let mut works: Vec<(Work, u32)> = vec![(Work::default(), 0); buffers.len()];
        let mut last = 0;
        for interval in self.own() {
            let Some(id) = interval.command_buffer else {
                continue;
            };
            if buffers.get(last).is_none_or(|buffer| buffer.id != id) {
                last = buffers.partition_point(|buffer| buffer.id < id);
            }
            if let Some((work, thread)) = works.get_mut(last) {
                if work.intervals == 0 {
                    *thread = self.thread(interval);
                }
                work.add(interval);
            }
        }
        let mut numbers = FxHashMap::default();
        let mut list = Vec::new();
        let mut number = |work: Work| {
            *numbers.entry(work).or_insert_with(|| {
                list.push(work);
                numbered(list.len() - 1)
            })
        };
        if buffers.len() >= STARTS {
            let atoms = buffers.iter().zip(works);
            self.atoms.extend(atoms.map(|(buffer, (work, thread))| {
                Atom {
                    id: Some(buffer.id),
                    start_ns: buffer.span.start_ns,
                    end_ns: buffer.span.end_ns,
                    order_ns: buffer
                        .committed_ns()
                        .unwrap_or(signed(buffer.span.start_ns)),
                    work: number(work),
                    thread,
                }
            }));
        } else {
            let atoms = self.own().map(|interval| {
                let mut work = Work::default();
                work.add(interval);
                Atom {
                    id: interval.command_buffer,
                    start_ns: interval.span.start_ns,
                    end_ns: interval.span.end_ns,
                    order_ns: signed(interval.span.start_ns),
                    work: number(work),
                    thread: self.thread(interval),
                }
            });
            self.atoms = atoms.collect();
        }
        self.work = list;
        self.atoms
            .sort_by_key(|atom| (atom.order_ns, atom.start_ns));
    }

    fn thread(&self, interval: &Interval) -> u32 {
        let thread = interval.encoder;
        let thread = thread.and_then(|encoder| self.subject.commands.thread(encoder));
        let threads = self.subject.submissions.threads.iter();
        let place = threads.zip(0..).find(|&(&each, _)| each == thread);
        place.map_or(0, |(_, place)| place)
    }

    fn of_thread(&self, thread: usize) -> Vec<Atom> {
        let own = self.atoms.iter();
        let own = own.filter(|atom| atom.thread as usize == thread);
        own.copied().collect()
    }

    /// Returns the series of a name that has nearly all work of the process.
    fn named(&self, names: &Names) -> Option<Series> {
        let chosen = &self.subject.chosen;
        let all_ns: u64 = self.atoms.iter().map(Atom::gpu_ns).sum();
        let kinds = self.subject.signposts.kinds();
        let own = kinds
            .filter(|(kind, times)| chosen.contains(kind.process) && times.spans.len() >= STARTS);
        // Names that have nearly all work last long.
        let mut own: Vec<_> = own
            .map(|(kind, times)| (times.total_ns(), kind, times))
            .collect();
        own.sort_by_key(|&(ns, kind, _)| (std::cmp::Reverse(ns), names.text(kind.name)));
        let own = own.into_iter().take(TRIED);
        let candidates = own.filter_map(|(_, kind, times)| {
            let mut pairs = times.spans.windows(2);
            if !pairs.all(|two| matches!(two, [one, next] if one.end_ns <= next.start_ns)) {
                return None;
            }
            let (atoms, starts) = self.during(&times.spans);
            let inside_ns: u64 = atoms.iter().map(Atom::gpu_ns).sum();
            let is_all = u128::from(inside_ns) * 100 >= u128::from(all_ns) * u128::from(NAMED_PCT);
            (is_all && starts.len() >= STARTS).then_some((kind.name, atoms, starts))
        });
        // Of nested ones the outermost, which are the fewest; of those with one number, the first name.
        let best = candidates.min_by_key(|(name, _, starts)| (starts.len(), names.text(*name)));
        let (name, atoms, starts) = best?;
        let mut series = self.series(StepsBy::Named, None, &atoms, &starts);
        series.name = Some(names.text(name).to_owned());
        Some(series)
    }

    /// Returns the series that somebody asks for: of the phases with this name or message, or of the work
    /// with this label.
    fn wanted(&self, name: &str, names: &Names) -> Option<Series> {
        let spans = self
            .subject
            .signposts
            .of_name(name, &self.subject.chosen, names);
        let (atoms, starts) = match spans {
            Some(spans) => self.during(&spans),
            None => {
                let is_wanted = |interval: &Interval| {
                    let label = interval.label.map(|label| names.text(label));
                    label.is_some_and(|label| label.split(':').any(|part| part == name))
                };
                let own = self.own().filter(|interval| is_wanted(interval));
                let own = own.filter_map(|interval| interval.command_buffer);
                let marked: FxHashSet<NonZeroU64> = own.collect();
                let atoms = self.atoms.iter().enumerate();
                let starts =
                    atoms.filter(|(_, atom)| atom.id.is_some_and(|id| marked.contains(&id)));
                (self.atoms.clone(), starts.map(|(index, _)| index).collect())
            }
        };
        let mut series = self.series(StepsBy::Named, None, &atoms, &starts);
        series.name = Some(name.to_owned());
        (!series.steps.is_empty()).then_some(series)
    }

    /// Returns the names of work that can be asked for, without those that Metal gives on its own.
    fn labels(&self, names: &Names) -> Vec<String> {
        let labels = distinct(self.own().filter_map(|interval| interval.label));
        let labels = labels.into_iter().map(|label| names.text(label).split(':'));
        let parts = labels.flatten().filter(|part| !part.is_empty());
        let mut parts: Vec<&str> = parts.filter(|part| !is_default(part)).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.into_iter().map(str::to_owned).collect()
    }

    /// Returns the command buffers that were committed during spans, which are sorted by start, and the
    /// places of the first of each.
    fn during(&self, spans: &[Span]) -> (Vec<Atom>, Vec<usize>) {
        let place_of = |atom: &Atom| {
            let at_ns = u64::try_from(atom.order_ns).ok()?;
            let after = spans.partition_point(|span| span.start_ns <= at_ns);
            let place = after.checked_sub(1)?;
            (at_ns < spans.get(place)?.end_ns).then_some(place)
        };
        let (mut inside, mut starts, mut last) = (Vec::new(), Vec::new(), None);
        for atom in &self.atoms {
            let Some(place) = place_of(atom) else {
                continue;
            };
            if last != Some(place) {
                starts.push(inside.len());
            }
            last = Some(place);
            inside.push(*atom);
        }
        (inside, starts)
    }

    /// Returns the starts after waits that blocked, or else those of work that repeats.
    fn unnamed(&self, own: &[Atom]) -> Option<(StepsBy, Vec<usize>)> {
        let waited = self.waited(own).map(|starts| (StepsBy::Waited, starts));
        waited.or_else(|| {
            let line: Vec<u32> = own.iter().map(|atom| atom.work).collect();
            Some((StepsBy::Repeated, turns(&line)?))
        })
    }

    /// Returns the starts after waits; `None` if there are few, or if only some command buffers of a fixed
    /// number in flight had to wait.
    fn waited(&self, own: &[Atom]) -> Option<Vec<usize>> {
        let waits = self.blocked(own);
        if waits.len() + 1 < STARTS {
            return None;
        }
        let places: Vec<u32> = waits.iter().map(|&(index, _)| numbered(index)).collect();
        let starts: Vec<usize> = match usual_distance(&places, SAME_PCT) {
            Some(1) => (0..own.len()).collect(),
            usual => {
                let behind = waits
                    .iter()
                    .filter(|(_, lag)| lag.is_some_and(|lag| lag > 1));
                if usual.is_none() && behind.count() * 2 > waits.len() {
                    return None;
                }
                let first = places
                    .first()
                    .copied()
                    .filter(|&first| first > 0)
                    .map(|_| 0);
                let mut starts: Vec<usize> = first.into_iter().collect();
                for &place in &places {
                    // A wait that did not block ends a step, too.
                    let last = starts.last().copied();
                    if let (Some(usual), Some(last)) = (usual, last) {
                        let between = (last + usual..place as usize).step_by(usual);
                        let is_multiple = (place as usize - last).is_multiple_of(usual);
                        starts.extend(between.filter(|_| is_multiple));
                    }
                    starts.push(place as usize);
                }
                starts
            }
        };
        let steps = ranges(&starts, own.len());
        let is_even = usual_distance(&places, SAME_PCT).is_some();
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let line = steps.map(|range| {
            let work = self.work_of(own.get(range).unwrap_or(&[]));
            let next = numbered(numbers.len());
            *numbers
                .entry(if is_even { work.all } else { work.distinct })
                .or_insert(next)
        });
        let line: Vec<u32> = line.collect();
        let turns = marked(&line).unwrap_or_else(|| (0..starts.len()).collect());
        let starts: Vec<usize> = turns
            .iter()
            .filter_map(|&turn| starts.get(turn).copied())
            .collect();
        (starts.len() >= STARTS).then_some(starts)
    }

    /// Returns the command buffers of a thread before which it waited, with the number of command buffers
    /// from the one it waited for; `None` for one of another thread.
    fn blocked(&self, own: &[Atom]) -> Vec<(usize, Option<usize>)> {
        let (list, likely) = (&self.subject.submissions.list, &self.subject.waits.likely);
        let numbers: FxHashMap<NonZeroU64, usize> = own
            .iter()
            .zip(0..)
            .filter_map(|(atom, index)| Some((atom.id?, index)))
            .collect();
        let index_of = |place: usize| numbers.get(&list.get(place)?.id).copied();
        let waits = likely.iter().enumerate().filter_map(|(place, awaited)| {
            let Awaited { before, within } = awaited;
            let awaited = before.or(within.map(|within| within.place))?;
            let index = index_of(place)?;
            Some((
                index,
                index_of(awaited).and_then(|awaited| index.checked_sub(awaited)),
            ))
        });
        let mut waits: Vec<(usize, Option<usize>)> = waits.collect();
        waits.sort_unstable();
        if !self.subject.submissions.is_sample {
            return waits;
        }
        // Of very many, those with the work of the ones in the sample.
        let work = |&(index, _): &(usize, Option<usize>)| own.get(index).map(|atom| atom.work);
        let first: FxHashSet<u32> = waits.iter().filter_map(work).collect();
        let sampled = list.iter().filter_map(|each| numbers.get(&each.id));
        let alike = sampled.filter(|&&index| {
            own.get(index)
                .is_some_and(|atom| first.contains(&atom.work))
        });
        if alike.count() * SAME_PCT > waits.len() * 100 {
            return Vec::new();
        }
        let all = own
            .iter()
            .enumerate()
            .filter(|(_, atom)| first.contains(&atom.work));
        all.map(|(index, _)| (index, Some(1))).collect()
    }

    fn work_of(&self, atoms: &[Atom]) -> Work {
        let works = atoms
            .iter()
            .filter_map(|atom| self.work.get(atom.work as usize));
        works.fold(Work::default(), |sum, &work| sum.and(work))
    }

    /// Makes the series of the steps that begin with these.
    fn series(
        &self,
        by: StepsBy,
        period_ns: Option<u64>,
        own: &[Atom],
        starts: &[usize],
    ) -> Series {
        let mut works = Vec::with_capacity(starts.len());
        let mut steps = Vec::with_capacity(starts.len());
        let (mut last_ns, mut done_ns) = (0, 0);
        for range in ranges(starts, own.len()) {
            let atoms = own.get(range).unwrap_or(&[]);
            let begun_ns = self.begun_ns(atoms);
            works.push(self.work_of(atoms));
            let start_ns = atoms.iter().map(|atom| atom.start_ns).min().unwrap_or(0);
            last_ns = start_ns.max(last_ns);
            steps.push(Step {
                start_ns: last_ns,
                latency_ns: begun_ns.and_then(|ns| self.latency(ns, atoms)),
                begins_alone: begun_ns.is_some_and(|ns| ns >= done_ns),
                kind: 0,
                submission: atoms.first().and_then(|first| self.submission(first)),
            });
            done_ns = atoms.iter().map(|atom| atom.end_ns).fold(done_ns, u64::max);
        }
        let kinds = kinds(&works, &mut steps);
        let from = starts.first().copied().unwrap_or(0);
        Series {
            by,
            name: None,
            period_ns,
            steps,
            kinds,
            end_ns: own.iter().map(|atom| atom.end_ns).max().unwrap_or(0),
            gpu_ns: own.iter().skip(from).map(Atom::gpu_ns).sum(),
        }
    }

    fn submission(&self, atom: &Atom) -> Option<u32> {
        let committed_ns = u64::try_from(atom.order_ns).ok()?;
        let place = self.subject.submissions.place_of(atom.id?, committed_ns)?;
        Some(numbered(place))
    }

    /// Returns when the encoding of the first command buffer begins, or else its commit.
    fn begun_ns(&self, atoms: &[Atom]) -> Option<u64> {
        let first = atoms.first()?;
        let encoding_ns = self.submission(first).and_then(|place| {
            let list = &self.subject.submissions.list;
            list.get(place as usize)?.encoding_ns
        });
        u64::try_from(encoding_ns.unwrap_or(first.order_ns)).ok()
    }

    fn latency(&self, begun_ns: u64, atoms: &[Atom]) -> Option<NonZeroU64> {
        let commands = &self.subject.commands;
        let ends = atoms
            .iter()
            .filter_map(|atom| commands.completion(atom.id?));
        NonZeroU64::new(ends.max()?.checked_sub(begun_ns)?)
    }
}

impl Atom {
    fn gpu_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// Returns the starts on the grid, if they are of this thread.
fn paced(own: &[Atom], on_grid: &FxHashSet<NonZeroU64>) -> Option<Vec<usize>> {
    let starts = own.iter().enumerate();
    let starts = starts.filter(|(_, atom)| atom.id.is_some_and(|id| on_grid.contains(&id)));
    let starts: Vec<usize> = starts.map(|(index, _)| index).collect();
    (starts.len() >= STARTS).then_some(starts)
}

/// Returns the ranges from each start to the next.
fn ranges(starts: &[usize], count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let ends = starts.iter().skip(1).copied().chain([count]);
    starts.iter().zip(ends).map(|(&start, end)| start..end)
}

/// Groups steps by their work, and returns the kinds. Numbers of intervals that vary without a break are of
/// one kind.
fn kinds(works: &[Work], steps: &mut [Step]) -> Vec<Kind> {
    let mut order: Vec<usize> = (0..works.len()).collect();
    let different: FxHashSet<u64> = works.iter().map(|work| work.distinct).collect();
    let names_tell = different.len() <= MOST_SETS.min(works.len() / 2).max(MOST_SETS / 2);
    let set = |work: &Work| if names_tell { work.distinct } else { 0 };
    let key = |index: usize| works.get(index).map(|work| (set(work), work.intervals));
    order.sort_by_key(|&index| key(index));
    let mut kinds: Vec<Kind> = Vec::new();
    let mut sets: Vec<u64> = Vec::new();
    let mut last: Option<(u64, u32)> = None;
    let mut group: Vec<u64> = Vec::new();
    for index in order {
        let Some((distinct, intervals)) = key(index) else {
            continue;
        };
        let is_new = last.is_none_or(|(set, before)| {
            set != distinct || 10 * u64::from(intervals) >= OTHER_KIND * u64::from(before).max(1)
        });
        if is_new {
            close(&mut kinds, &mut group);
            sets.push(distinct);
        }
        group.push(u64::from(intervals));
        last = Some((distinct, intervals));
        if let Some(step) = steps.get_mut(index) {
            step.kind = numbered(sets.len() - 1);
        }
    }
    close(&mut kinds, &mut group);
    let usual = kinds
        .iter()
        .zip(&sets)
        .filter(|(kind, _)| kind.count >= STARTS as u64);
    let usual = usual.fold(0, |all, (_, set)| all | set);
    // The first step may be a part of one, because the program began it in its own way.
    let first = steps.first().map(|step| step.kind as usize);
    for (place, (kind, set)) in kinds.iter_mut().zip(&sets).enumerate() {
        let is_other = set & !usual != 0 || (Some(place) == first && kind.count == 1);
        kind.is_foreign = kind.count < STARTS as u64 && usual != 0 && is_other;
    }
    kinds
}

fn close(kinds: &mut Vec<Kind>, group: &mut Vec<u64>) {
    if let Some(&intervals) = group.get(group.len() / 2) {
        kinds.push(Kind {
            count: group.len() as u64,
            intervals,
            is_foreign: false,
        });
    }
    group.clear();
}
