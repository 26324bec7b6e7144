//! Finds the completions that each thread of the program waited for.
//!
//! An encoding that begins after a completion proves nothing: a program that never waits does the
//! same if its CPU is slower than the GPU and the latencies. What tells them apart is which of two
//! events the program's next step follows when times vary:
//!
//! ```text
//! waits    commit ···· completion ├── same ──┤ encoding
//! doesn't  commit ├────────── same ──────────┤ encoding
//! ```
//!
//! So two times are compared: from the completion to the next step, and from the thread's last step to
//! the next. The one that changes less from one pair to the next is the one that is followed. A program
//! waits before an encoding, between two encoders of a command buffer, or before a commit; it does so
//! for each command buffer, for some, or for every n-th. If the times hardly vary, nobody can tell.

use std::num::NonZeroU64;

use metalens_message::Share;
use metalens_text::number::Float;
use rustc_hash::FxHashMap;

use super::chain::{Chain, RecordedWait};
use super::submissions::{Submission, Submissions, signed};
use crate::basics::follows::{Distances, Follows, follows};
use crate::basics::statistics::median;
use crate::report::{HeldBy, WaitVerdict, Waiting};

/// Smallest number of pairs that decide.
const PAIRS: usize = 8;
/// Largest number of command buffers in flight that is looked for.
const DEEPEST: usize = 16;
/// Share of the resampled pairs that must agree.
const SURE: f64 = 0.95;
/// Change of a distance, as a share of another one, below which it is much closer.
const CLOSER: f64 = 0.8;
/// Smallest number of requests that look like requests.
const REQUESTS: usize = 30;
/// Number of kinds of submissions of which each may be looked at as if it were the only one.
const FEW: usize = 3;
/// Share of the submissions of a thread that must come after a completion of another thread.
const MOST: f64 = 0.8;
/// Time before a completion in which a program that waits for it never goes on, in nanoseconds.
const SHORTLY_NS: i64 = 20_000;
/// One pair in this many may lie in that time by chance.
const EARLY: usize = 10;

/// Submissions that one submission waited for, as places in their list.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// The one whose completion came before its first encoding.
    pub before: Option<usize>,
    /// The one whose completion came during its encoding.
    pub within: Option<Within>,
}

/// Wait between two encoders, or before the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Within {
    /// Place of the submission that was waited for.
    pub place: usize,
    /// End of the encoding before the wait.
    pub from_ns: i64,
}

/// What each submission waited for.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// As the recording says, or as it looks; one for each submission.
    pub likely: Vec<Awaited>,
    /// The other answer, if the recording does not tell.
    pub otherwise: Option<Vec<Awaited>>,
    /// Places of the submissions that begin work on a request.
    pub requests: Vec<usize>,
    /// Summary of all threads.
    pub summary: Waiting,
}

/// Pair of a completion and the step of the program that comes after it.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Place of the submission whose encoding or commit comes after the completion.
    place: usize,
    awaited: usize,
    /// Last step of the thread before.
    from_ns: i64,
    completed_ns: i64,
    /// Next step of the thread.
    resumed_ns: i64,
    /// Stands for the thread and the kind of the submission: only those of one are compared.
    kind: u64,
}

/// Point of a submission at which its thread may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Encoding,
    Within,
}

impl Point {
    /// Returns the time at which the thread goes on.
    fn resumed_ns(self, submission: &Submission) -> Option<i64> {
        match self {
            Self::Encoding => submission.encoding_ns,
            Self::Within => Some(submission.committed_ns),
        }
    }
}

/// Answer for the pairs of one kind.
struct Answer {
    point: Point,
    /// How many submissions of the thread before; 0 for one of another thread.
    lag: usize,
    pairs: Vec<Pair>,
    /// Share of the resampled pairs in which the completion is followed.
    share: f64,
    /// How closely it is followed.
    ratio: f64,
    /// True if the pairs are those alone in which the thread took much longer than usual.
    is_rare: bool,
}

impl Answer {
    fn new(point: Point, lag: usize, pairs: Vec<Pair>) -> Self {
        let found = follows_of(&pairs);
        Self {
            point,
            lag,
            pairs,
            share: found.share,
            ratio: found.ratio,
            is_rare: false,
        }
    }

    /// Returns how much more the completions tell than the last steps: the logarithm of how much likelier
    /// they make the times.
    fn explains(&self) -> f64 {
        self.pairs.len().float() * (1.0 / self.ratio.max(1e-3)).ln()
    }

    fn verdict(&self) -> WaitVerdict {
        if self.share >= SURE {
            WaitVerdict::Waits
        } else if self.share <= 1.0 - SURE {
            WaitVerdict::DoesNotWait
        } else {
            WaitVerdict::Unknown
        }
    }
}

/// Finds what each submission waited for. If the program's waits are recorded, they tell.
pub(crate) fn waits(submissions: &Submissions, chain: &Chain) -> Waits {
    let count = submissions.list.len();
    let mut found = Waits {
        likely: vec![Awaited::default(); count],
        otherwise: None,
        requests: Vec::new(),
        summary: Waiting {
            of: count.saturating_sub(1) as u64,
            ..Waiting::default()
        },
    };
    if chain.waits.is_empty() {
        let numbers = 0..submissions.threads.len();
        let threads: Vec<Thread> = numbers
            .map(|number| Thread::new(submissions, number))
            .collect();
        let answers = threads.iter().flat_map(|thread| thread.answers(&threads));
        let mut answers: Vec<Answer> = answers.collect();
        pool(&mut answers);
        found.take(&answers, submissions);
        let others = submissions.others.iter();
        let others = others.filter_map(|other| Some((other.completed_ns?, None)));
        let mut others: Vec<(i64, Option<usize>)> = others.collect();
        others.sort_unstable();
        let partner = threads.iter().any(|thread| thread.has_partner(&others));
        found.summary.held_by = partner.then_some(HeldBy::OtherProcess);
    } else {
        found.take_recorded(submissions, &chain.waits);
    }
    found.requests = requests(submissions, &found.likely);
    if !found.requests.is_empty() {
        found.summary.held_by.get_or_insert(HeldBy::Requests);
    }
    found
}

/// Decides together what no thread or kind of submissions tells by itself: they run the same code.
fn pool(answers: &mut [Answer]) {
    let lags = (0..=DEEPEST).flat_map(|lag| [(Point::Encoding, lag), (Point::Within, lag)]);
    for class in lags {
        let is_alike = |answer: &Answer| (answer.point, answer.lag) == class;
        let alike = answers.iter().filter(|answer| is_alike(answer));
        let pairs: Vec<Pair> = alike.flat_map(|answer| &answer.pairs).copied().collect();
        let open = answers.iter_mut().filter(|answer| is_alike(answer));
        let mut open = open
            .filter(|answer| answer.verdict() == WaitVerdict::Unknown)
            .peekable();
        if open.peek().is_some() {
            let share = follows_of(&pairs).share;
            open.for_each(|answer| answer.share = share);
        }
    }
}

impl Waits {
    /// Takes over the pairs of the answers that tell of a wait, or may.
    fn take(&mut self, answers: &[Answer], submissions: &Submissions) {
        let mut otherwise = self.likely.clone();
        let mut is_undecided = false;
        for answer in answers {
            let (likely, other) = match answer.verdict() {
                WaitVerdict::Waits => (true, true),
                WaitVerdict::DoesNotWait => (false, false),
                WaitVerdict::Unknown => (answer.share >= 0.5, answer.share < 0.5),
            };
            is_undecided |= likely != other;
            for (is_wait, list) in [(likely, &mut self.likely), (other, &mut otherwise)] {
                for pair in answer.pairs.iter().filter(|_| is_wait) {
                    pair.add_to(list, answer.point);
                }
            }
        }
        self.otherwise = is_undecided.then_some(otherwise);

        let most = |verdict| {
            let of_it = answers.iter().filter(|answer| answer.verdict() == verdict);
            of_it.max_by_key(|answer| answer.pairs.len())
        };
        let (waits, unknown) = (most(WaitVerdict::Waits), most(WaitVerdict::Unknown));
        let never = most(WaitVerdict::DoesNotWait);
        let pairs = |answer: &Option<&Answer>| answer.map_or(0, |answer| answer.pairs.len());
        let (verdict, answer) = if waits.is_some() && pairs(&waits) >= pairs(&unknown) {
            (WaitVerdict::Waits, waits)
        } else if unknown.is_some() {
            (WaitVerdict::Unknown, unknown)
        } else if never.is_some() || is_never(&submissions.list) {
            (WaitVerdict::DoesNotWait, never)
        } else {
            (WaitVerdict::Unknown, None)
        };
        self.summary.verdict = verdict;
        self.summary.in_flight = answer.map_or(0, |answer| answer.lag as u64);
        self.summary.pairs = pairs(&answer) as u64;
        self.summary.share = answer.map(|answer| Share(answer.share));
    }

    /// Takes over recorded waits that blocked: each is one for the next submission of its thread.
    fn take_recorded(&mut self, submissions: &Submissions, recorded: &[RecordedWait]) {
        let list = &submissions.list;
        let places = list
            .iter()
            .enumerate()
            .map(|(place, each)| (each.id, place));
        let places: FxHashMap<NonZeroU64, usize> = places.collect();
        let numbers = 0..submissions.threads.len();
        let by_thread: Vec<Vec<usize>> = numbers.map(|each| submissions.of_thread(each)).collect();
        let mut lags = [0_usize; DEEPEST + 1];
        for wait in recorded {
            let thread = submissions
                .threads
                .iter()
                .position(|&each| each == wait.thread);
            let Some(own) = by_thread.get(thread.unwrap_or(0)) else {
                continue;
            };
            let (start_ns, end_ns) = (signed(wait.span.start_ns), signed(wait.span.end_ns));
            let next = own.partition_point(|&place| {
                list.get(place)
                    .is_some_and(|each| each.committed_ns < end_ns)
            });
            let (Some(&place), Some(&awaited)) = (own.get(next), places.get(&wait.buffer)) else {
                continue;
            };
            let completed_ns = list.get(awaited).and_then(|each| each.completed_ns);
            // A wait that returned at once held up nothing.
            if awaited >= place || completed_ns.is_some_and(|ns| ns <= start_ns) {
                continue;
            }
            let begun = list.get(place).and_then(|each| each.encoding_ns);
            let point = if begun.is_some_and(|begun_ns| end_ns <= begun_ns) {
                Point::Encoding
            } else {
                Point::Within
            };
            let pair = Pair {
                place,
                awaited,
                from_ns: start_ns,
                completed_ns: completed_ns.unwrap_or(end_ns),
                resumed_ns: end_ns,
                kind: 0,
            };
            pair.add_to(&mut self.likely, point);
            let own_place = own.binary_search(&awaited).ok();
            let lag = own_place.map_or(0, |own_place| next - own_place);
            if let Some(count) = lags.get_mut(lag.min(DEEPEST)) {
                *count += 1;
            }
        }
        let counts = lags.iter().enumerate();
        let most = counts.max_by_key(|&(lag, &count)| (count, DEEPEST - lag));
        let blocked: usize = lags.iter().sum();
        self.summary.is_recorded = true;
        self.summary.pairs = blocked as u64;
        self.summary.in_flight = most.map_or(0, |(lag, _)| lag as u64);
        self.summary.verdict = if blocked > 0 {
            WaitVerdict::Waits
        } else {
            WaitVerdict::DoesNotWait
        };
    }
}

impl Pair {
    /// Adds the pair as a wait. Of several at one point, the last completion counts: the others held
    /// up nothing.
    fn add_to(&self, list: &mut [Awaited], point: Point) {
        let Some(slot) = list.get_mut(self.place) else {
            return;
        };
        match point {
            Point::Encoding => slot.before = slot.before.max(Some(self.awaited)),
            Point::Within => {
                slot.within = Some(Within {
                    place: self.awaited,
                    from_ns: self.from_ns,
                });
            }
        }
    }
}

/// Submissions of a thread.
struct Thread<'a> {
    submissions: &'a Submissions,
    /// Places of its submissions, in the order of their commits.
    own: Vec<usize>,
    /// Completions of its submissions, in order, each with its place.
    completions: Vec<(i64, Option<usize>)>,
}

impl<'a> Thread<'a> {
    fn new(submissions: &'a Submissions, number: usize) -> Self {
        let own = submissions.of_thread(number);
        let completed = |&place: &usize| submissions.list.get(place)?.completed_ns;
        let completions = own
            .iter()
            .filter_map(|place| Some((completed(place)?, Some(*place))));
        let mut completions: Vec<(i64, Option<usize>)> = completions.collect();
        completions.sort_unstable();
        Self {
            submissions,
            own,
            completions,
        }
    }

    /// Returns the answers that tell of the thread's waits: that of a wait for another thread, that of a
    /// wait before every command buffer, or those before each kind of them.
    fn answers(&self, threads: &[Self]) -> Vec<Answer> {
        let own = self.own_answers();
        let others = threads.iter().filter(|other| !std::ptr::eq(*other, self));
        let across = others.filter_map(|other| self.after(&other.completions, &own));
        // Completions of a busy thread come shortly before anything.
        let close = across.into_iter().find(|across| 2.0 * across.ratio < 1.0);
        close.map_or(own, |across| vec![across])
    }

    /// Returns whether the thread goes on after completions of other processes.
    fn has_partner(&self, completions: &[(i64, Option<usize>)]) -> bool {
        self.after(completions, &self.own_answers())
            .is_some_and(|found| found.ratio < CLOSER)
    }

    /// Returns the answer for the last of these completions before each encoding, if it is sure and the
    /// thread follows them more closely than its own.
    fn after(&self, completions: &[(i64, Option<usize>)], own: &[Answer]) -> Option<Answer> {
        let pair = |index: usize| {
            let from_ns = self.at(index.checked_sub(1)?)?.committed_ns;
            let (place, next) = (*self.own.get(index)?, self.at(index)?);
            let resumed_ns = next.encoding_ns?;
            let until = completions.partition_point(|&(ns, _)| ns <= resumed_ns);
            let &(completed_ns, awaited) = completions.get(until.checked_sub(1)?)?;
            let is_before = completed_ns > from_ns && awaited.is_none_or(|awaited| awaited < place);
            is_before.then(|| {
                self.pair(
                    index,
                    awaited.unwrap_or(place),
                    [from_ns, completed_ns, resumed_ns],
                )
            })?
        };
        let pairs: Vec<Pair> = (1..self.own.len()).filter_map(pair).collect();
        let is_most = pairs.len().float() >= MOST * self.own.len().float();
        let found = Answer::new(Point::Encoding, 0, pairs);
        let mut sure = own.iter().filter(|answer| answer.share >= SURE);
        let is_sure = is_most && found.pairs.len() >= PAIRS && found.share >= SURE;
        (is_sure && sure.all(|own| is_closer(&compared(&found, own)))).then_some(found)
    }

    /// Returns the pair of a completion and what comes after it: the thread's last step, the completion,
    /// and the next step.
    fn pair(&self, index: usize, awaited: usize, times: [i64; 3]) -> Option<Pair> {
        let submission = self.at(index)?;
        let [from_ns, completed_ns, resumed_ns] = times;
        Some(Pair {
            place: *self.own.get(index)?,
            awaited,
            from_ns,
            completed_ns,
            resumed_ns,
            kind: submission.kind ^ ((submission.thread as u64) << 48),
        })
    }

    fn own_answers(&self) -> Vec<Answer> {
        let all: Vec<usize> = (0..self.own.len()).collect();
        for point in [Point::Encoding, Point::Within] {
            let regular = self.best(point, &all).filter(|answer| {
                answer.share >= SURE && !answer.is_rare && self.is_ring(point, answer.lag, &all)
            });
            if let Some(answer) = regular {
                return vec![self.extended(answer, &all)];
            }
        }
        // Of a short run, nobody can tell.
        let few = self.pairs(Point::Encoding, 1, &all);
        if few.len() < PAIRS && 2 * few.len() > self.own.len() {
            let few = Answer::new(Point::Encoding, 1, few);
            return vec![Answer { share: 0.5, ..few }];
        }
        let mut answers: Vec<Answer> = Vec::new();
        let kinds = self.kinds();
        // Of many answers, some would be sure by chance.
        let sure = if kinds.len() > FEW { 1.0 } else { SURE };
        for indices in kinds {
            for point in [Point::Encoding, Point::Within] {
                let Some(answer) = self.best(point, &indices) else {
                    continue;
                };
                let is_sure = answer.share >= sure;
                if is_sure && !answer.is_rare && self.is_ring(point, answer.lag, &indices) {
                    answers.push(self.extended(answer, &indices));
                } else if is_sure || 10 * answer.pairs.len() >= self.own.len() {
                    answers.push(answer);
                }
                if is_sure {
                    break;
                }
            }
        }
        answers
    }

    /// Returns the submissions of each kind, as places among the thread's; those of rare kinds together.
    fn kinds(&self) -> Vec<Vec<usize>> {
        let mut kinds: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for index in 0..self.own.len() {
            let kind = self.at(index).map_or(0, |submission| submission.kind);
            kinds.entry(kind).or_default().push(index);
        }
        let (mut common, rare): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
            kinds.into_values().partition(|own| own.len() >= PAIRS);
        let mut rare: Vec<usize> = rare.into_iter().flatten().collect();
        rare.sort_unstable();
        common.extend((!rare.is_empty()).then_some(rare));
        common.sort_unstable();
        common
    }

    /// Returns the answer for the number of command buffers in flight that explains most: of those that
    /// are sure, the one that the program follows most closely.
    fn best(&self, point: Point, indices: &[usize]) -> Option<Answer> {
        let answers = (1..=DEEPEST).filter_map(|lag| {
            let pairs = self.pairs(point, lag, indices);
            (pairs.len() >= PAIRS).then(|| self.answer(point, lag, indices, pairs))
        });
        let answers: Vec<Answer> = answers.collect();
        let shares = answers.iter().map(|answer| answer.share);
        let share = shares.fold(0.0, f64::max);
        let rare = self.after_long_waits(point, indices);
        if rare.is_some() || share < SURE {
            let most = || answers.into_iter().max_by_key(|answer| answer.pairs.len());
            return rare.or_else(most);
        }
        let sure = answers.iter().filter(|answer| answer.share >= SURE);
        let best = sure.max_by(|one, other| one.explains().total_cmp(&other.explains()))?;
        // Where several completions come shortly before, a wait is for the last one, unless the program
        // follows an earlier one more closely.
        let later = answers.iter().find(|answer| {
            let both = compared(best, answer);
            answer.lag < best.lag
                && answer.share >= 0.5
                && 10 * both.len() >= 9 * best.pairs.len()
                && !is_closer(&both)
        });
        let lag = later.map_or(best.lag, |later| later.lag);
        let best = answers.into_iter().find(|answer| answer.lag == lag);
        best.map(|best| Answer { share, ..best })
    }

    /// Returns the answer for those pairs alone in which the thread took much longer than usual: a program
    /// may wait before some command buffers, and be slow before the others.
    fn after_long_waits(&self, point: Point, indices: &[usize]) -> Option<Answer> {
        /// Usual deviations from the usual time from which on a time is long.
        const LONG: i64 = 5;
        let pairs = self.pairs(point, 1, indices);
        let took = |pair: &Pair| pair.resumed_ns - pair.from_ns;
        let usual_ns = median(pairs.iter().map(took))?;
        let apart_ns = median(pairs.iter().map(|pair| (took(pair) - usual_ns).abs()))?;
        let (pairs, usual): (Vec<Pair>, Vec<Pair>) = pairs
            .into_iter()
            .partition(|pair| took(pair) > usual_ns + LONG * apart_ns);
        let found = Answer::new(point, 1, pairs);
        let of_usual = follows_of(&usual).share;
        let is_followed = found.share >= SURE && found.ratio < CLOSER && of_usual <= 0.5;
        // A wait makes them longer by the time until the completion.
        let longer_ns = median(found.pairs.iter().map(took)).unwrap_or(0) - usual_ns;
        let until = |pair: &Pair| pair.completed_ns - pair.from_ns;
        let until_ns = median(found.pairs.iter().map(until)).unwrap_or(0);
        let is_longer_by_it = 4 * (longer_ns - until_ns).abs() < until_ns;
        let is_rare = is_followed || is_longer_by_it && of_usual < SURE;
        let is_wait = found.pairs.len() >= PAIRS && is_rare;
        is_wait.then(|| Answer {
            share: found.share.max(SURE),
            is_rare: true,
            ..found
        })
    }

    /// Returns whether each of these submissions may have waited for the one this many before: none
    /// goes on before that one has completed.
    fn is_ring(&self, point: Point, lag: usize, indices: &[usize]) -> bool {
        let later = indices.iter().filter_map(|&index| {
            let completed_ns = self.at(index.checked_sub(lag)?)?.completed_ns?;
            Some(completed_ns <= point.resumed_ns(self.at(index)?)?)
        });
        let later: Vec<bool> = later.collect();
        let after = later.iter().filter(|&&is_after| is_after).count();
        !later.is_empty() && 100 * after >= 99 * later.len()
    }

    /// Adds the waits that blocked nobody: with other times they would.
    fn extended(&self, mut answer: Answer, indices: &[usize]) -> Answer {
        let known: Vec<usize> = answer.pairs.iter().map(|pair| pair.place).collect();
        let more = indices.iter().filter_map(|&index| {
            let before = index.checked_sub(answer.lag)?;
            let (place, awaited) = (*self.own.get(index)?, *self.own.get(before)?);
            let completed_ns = self.at(before)?.completed_ns?;
            let resumed_ns = answer.point.resumed_ns(self.at(index)?)?;
            let is_new = completed_ns <= resumed_ns && known.binary_search(&place).is_err();
            is_new.then(|| self.pair(index, awaited, [resumed_ns, completed_ns, resumed_ns]))?
        });
        let more: Vec<Pair> = more.collect();
        answer.pairs.extend(more);
        answer
    }

    fn at(&self, index: usize) -> Option<&'a Submission> {
        self.submissions.list.get(*self.own.get(index)?)
    }

    fn answer(&self, point: Point, lag: usize, indices: &[usize], pairs: Vec<Pair>) -> Answer {
        let mut answer = Answer::new(point, lag, pairs);
        // A program that waits for a completion never goes on shortly before it.
        if point == Point::Encoding && EARLY * self.early(lag, indices) >= answer.pairs.len() {
            answer.share = 0.0;
        }
        answer
    }

    /// Returns the pairs in which the thread's submission this many before completed after the thread's
    /// last step, and before the next.
    fn pairs(&self, point: Point, lag: usize, indices: &[usize]) -> Vec<Pair> {
        let pair = |&index: &usize| {
            let (last, before) = (index.checked_sub(1)?, index.checked_sub(lag)?);
            let submission = self.at(index)?;
            let completed_ns = self.at(before)?.completed_ns?;
            let (from_ns, resumed_ns) = match point {
                Point::Encoding => (self.at(last)?.committed_ns, submission.encoding_ns?),
                Point::Within => {
                    let pauses = self.submissions.pauses.get(submission.pauses.clone())?;
                    *pauses.iter().find(|&&(from_ns, until_ns)| {
                        from_ns < completed_ns && completed_ns <= until_ns
                    })?
                }
            };
            let waited = completed_ns > from_ns && completed_ns <= resumed_ns;
            let awaited = *self.own.get(before)?;
            waited.then(|| self.pair(index, awaited, [from_ns, completed_ns, resumed_ns]))?
        };
        indices.iter().filter_map(pair).collect()
    }

    /// Counts the encodings that begin shortly before the completion of the submission this many
    /// before.
    fn early(&self, lag: usize, indices: &[usize]) -> usize {
        let early = indices.iter().filter_map(|&index| {
            let completed_ns = self.at(index.checked_sub(lag)?)?.completed_ns?;
            let early_ns = completed_ns - self.at(index)?.encoding_ns?;
            (1..=SHORTLY_NS).contains(&early_ns).then_some(())
        });
        early.count()
    }
}

/// Returns the submissions that begin work on a request: the CPU's time before them is as irregular as
/// the time between arrivals that know nothing of each other, and matters.
fn requests(submissions: &Submissions, waits: &[Awaited]) -> Vec<usize> {
    let list = &submissions.list;
    let mut found = Vec::new();
    for thread in 0..submissions.threads.len() {
        let mut last_ns: Option<i64> = None;
        let mut free: Vec<(i64, usize)> = Vec::new();
        for place in submissions.of_thread(thread) {
            let Some(submission) = list.get(place) else {
                continue;
            };
            let awaited = waits.get(place).and_then(|each| list.get(each.before?));
            let free_ns = last_ns.max(awaited.and_then(|awaited| awaited.completed_ns));
            let begun_ns = submission.encoding_ns.unwrap_or(submission.committed_ns);
            free.extend(free_ns.map(|free_ns| ((begun_ns - free_ns).max(0), place)));
            last_ns = Some(submission.committed_ns);
        }
        let run_ns = list.last().zip(list.first());
        let run_ns = run_ns.map_or(0, |(last, first)| last.committed_ns - first.committed_ns);
        let mut sorted: Vec<i64> = free.iter().map(|&(ns, _)| ns).collect();
        sorted.sort_unstable();
        let usual_ns = 2 * sorted.get(sorted.len() / 4).copied().unwrap_or(0);
        let longer = sorted.iter().map(|ns| ns - usual_ns);
        let beyond: Vec<i64> = longer.filter(|&ns| ns > 0).collect();
        let beyond_ns: i64 = beyond.iter().sum();
        if beyond.len() >= REQUESTS && 20 * beyond_ns >= run_ns && is_exponential(&beyond) {
            let held = free.iter().filter(|&&(ns, _)| ns > usual_ns);
            found.extend(held.map(|&(_, place)| place));
        }
    }
    found
}

/// Returns whether times, which come in order, are distributed as those between independent arrivals:
/// the test of Kolmogorov and Smirnov.
fn is_exponential(sorted: &[i64]) -> bool {
    /// Largest distance of the distributions, times the root of the number of times.
    const DISTANCE: f64 = 1.06;
    let count = sorted.len().float();
    let mean = sorted.iter().map(|&ns| ns.float()).sum::<f64>() / count;
    let distances = sorted.iter().enumerate().map(|(index, &ns)| {
        let expected = 1.0 - (-ns.float() / mean).exp();
        let below = index.float() / count;
        (expected - below)
            .abs()
            .max((expected - below - 1.0 / count).abs())
    });
    distances.fold(0.0, f64::max) * count.sqrt() <= DISTANCE
}

/// Returns the times from the completions of two answers to what both come before.
fn compared(first: &Answer, second: &Answer) -> Vec<Distances> {
    let both = first.pairs.iter().filter_map(|pair| {
        let other = second
            .pairs
            .binary_search_by_key(&pair.place, |pair| pair.place);
        let other = second.pairs.get(other.ok()?)?;
        Some(Distances {
            first_ns: pair.resumed_ns - pair.completed_ns,
            second_ns: other.resumed_ns - other.completed_ns,
            kind: pair.kind,
        })
    });
    both.collect()
}

/// Decides whether what comes after the completions follows them, or the last steps.
fn follows_of(pairs: &[Pair]) -> Follows {
    let distances = pairs.iter().map(|pair| Distances {
        first_ns: pair.resumed_ns - pair.completed_ns,
        second_ns: pair.resumed_ns - pair.from_ns,
        kind: pair.kind,
    });
    follows(&distances.collect::<Vec<_>>())
}

/// Returns whether events follow the first of two others much more closely than the second.
fn is_closer(both: &[Distances]) -> bool {
    let found = follows(both);
    found.share >= SURE && found.ratio < CLOSER
}

/// Returns whether the recording shows enough commits and encodings of a program that never encodes
/// after a completion.
fn is_never(list: &[Submission]) -> bool {
    list.len() > PAIRS
        && list
            .iter()
            .all(|each| each.encoding_ns.is_some() && each.completed_ns.is_some())
}
