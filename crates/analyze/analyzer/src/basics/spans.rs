//! Stretches of time, and operations on sets of them.
//!
//! All stretches are half-open, `[start, end)`, in nanoseconds since the recording began: two
//! that touch neither overlap nor leave a gap. Sets are sorted lists of disjoint stretches.
//! Lengths are always lengths of a union: Vertex and Fragment work overlaps, and adding
//! durations would make a GPU busier than the clock.

/// Stretch of time, `[start_ns, end_ns)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    /// First nanosecond of the stretch.
    pub start_ns: u64,
    /// First nanosecond after the stretch.
    pub end_ns: u64,
}

impl Span {
    /// Returns the stretch from start to end; empty if the end is not after the start.
    #[must_use]
    pub(crate) fn new(start_ns: u64, end_ns: u64) -> Self {
        Self {
            start_ns,
            end_ns: end_ns.max(start_ns),
        }
    }

    /// Returns the length in nanoseconds.
    pub(crate) fn length_ns(self) -> u64 {
        self.end_ns - self.start_ns
    }

    /// Returns the part of the span inside another.
    #[must_use]
    pub(crate) fn clip(self, to: Self) -> Self {
        let start_ns = self.start_ns.clamp(to.start_ns, to.end_ns);
        Self::new(start_ns, self.end_ns.min(to.end_ns))
    }

    /// Extends the span by one that does not start earlier, if no time is between them. Returns
    /// whether it did.
    fn absorb(&mut self, later: Self) -> bool {
        let joined = later.start_ns <= self.end_ns;
        if joined {
            self.end_ns = self.end_ns.max(later.end_ns);
        }
        joined
    }

    /// Returns where a part begins, from 0, if the span is cut into parts of about the same length.
    pub(crate) fn edge(self, part: u64, parts: u64) -> u64 {
        let length_ns = self.length_ns();
        let offset = u128::from(length_ns) * u128::from(part) / u128::from(parts.max(1));
        self.start_ns + u64::try_from(offset).unwrap_or(length_ns)
    }

    /// Returns whether the span has no length.
    pub(crate) fn is_empty(self) -> bool {
        self.start_ns == self.end_ns
    }
}

/// Returns `to - from`, negative if `to` is less; none if that does not fit 64 bits, as
/// times that [`crate::tables::times`] accepts always do.
pub(crate) fn between(from: impl Into<i128>, to: impl Into<i128>) -> Option<i64> {
    i64::try_from(to.into() - from.into()).ok()
}

/// Returns whether an interval belongs to a window: it has time in it, or has no length and
/// lies in it, edges included.
pub(crate) fn touches(span: Span, window: Span) -> bool {
    let overlaps = span.start_ns < window.end_ns && span.end_ns > window.start_ns;
    overlaps
        || (span.is_empty() && window.start_ns <= span.start_ns && span.start_ns <= window.end_ns)
}

/// Returns the union of spans that come in order of their starts.
///
/// ```text
/// in   ├──┤   ├─────┤
///        ├──┤   ├─┤   ├──┤
/// out  ├────┤ ├─────┤ ├──┤
/// ```
pub(crate) fn union(sorted: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut union: Vec<Span> = Vec::new();
    for span in sorted {
        extend(&mut union, span);
    }
    union
}

/// Returns the union of a whole list, in the list's own memory: there may be millions of spans.
pub(crate) fn united(mut sorted: Vec<Span>) -> Vec<Span> {
    sorted.retain(|span| !span.is_empty());
    sorted.dedup_by(|next, last| last.absorb(*next));
    sorted
}

/// Adds a span to a union that has no span with a later start.
pub(crate) fn extend(union: &mut Vec<Span>, span: Span) {
    let is_absorbed = union.last_mut().is_some_and(|last| last.absorb(span));
    if !span.is_empty() && !is_absorbed {
        union.push(span);
    }
}

/// Running sums over spans that come in order of their starts.
#[derive(Debug, Default)]
pub(crate) struct RunningUnion {
    /// Number of spans so far.
    pub intervals: u64,
    /// Summed lengths in nanoseconds.
    pub sum_ns: u64,
    /// Length of the union in nanoseconds.
    pub busy_ns: u64,
    /// End of the union so far.
    busy_until: u64,
}

impl RunningUnion {
    /// Returns the length of the union of spans that come in order of their starts.
    pub(crate) fn busy_ns(sorted: impl Iterator<Item = Span>) -> u64 {
        let mut running = Self::default();
        sorted.for_each(|span| running.add(span));
        running.busy_ns
    }

    /// Adds a span that does not start before the last one.
    pub(crate) fn add(&mut self, span: Span) {
        self.intervals += 1;
        self.sum_ns += span.length_ns();
        let fresh_from = span.start_ns.max(self.busy_until);
        self.busy_ns += span.end_ns.saturating_sub(fresh_from);
        self.busy_until = self.busy_until.max(span.end_ns);
    }
}

/// Returns the summed length of disjoint spans.
pub(crate) fn length_ns(disjoint: &[Span]) -> u64 {
    disjoint.iter().map(|span| span.length_ns()).sum()
}

/// Ratio of list lengths above which a search for each span of the short list is faster than a
/// walk over the long one.
const SEARCH_RATIO: usize = 16;

/// Returns the time in nanoseconds that two unions have in common.
pub(crate) fn overlap_ns(a: &[Span], b: &[Span]) -> u64 {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if few.len() * SEARCH_RATIO < many.len() {
        return few.iter().map(|&part| time_in(part, many)).sum();
    }

    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut total = 0;
    while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
        total += x.clip(y).length_ns();
        if x.end_ns <= y.end_ns {
            a.next();
        } else {
            b.next();
        }
    }
    total
}

/// Returns the time in nanoseconds of a part that the spans of a union cover.
pub(crate) fn time_in(part: Span, union: &[Span]) -> u64 {
    if part.is_empty() {
        return 0;
    }

    let first = union.partition_point(|span| span.end_ns <= part.start_ns);
    let from_first = union.iter().skip(first);
    let inside = from_first.take_while(|span| span.start_ns < part.end_ns);
    inside.map(|span| span.clip(part).length_ns()).sum()
}

/// Cuts a part where a union begins and ends, and tells for each piece whether the union covers
/// it. The pieces tile the part; none is empty.
pub(crate) fn pieces(part: Span, union: &[Span]) -> impl Iterator<Item = (Span, bool)> + use<'_> {
    let mut next = union.partition_point(|span| span.end_ns <= part.start_ns);
    let mut from_ns = part.start_ns;

    std::iter::from_fn(move || {
        if from_ns >= part.end_ns {
            return None;
        }
        let (end_ns, is_inside) = match union.get(next).map(|span| span.clip(part)) {
            Some(span) if span.start_ns <= from_ns => {
                next += 1;
                (span.end_ns, true)
            }
            Some(span) => (span.start_ns, false),
            None => (part.end_ns, false),
        };

        let piece = Span::new(from_ns, end_ns);
        from_ns = end_ns;
        Some((piece, is_inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans(list: &[(u64, u64)]) -> Vec<Span> {
        list.iter()
            .map(|&(start, end)| Span::new(start, end))
            .collect()
    }

    #[test]
    fn touching_spans_are_one() {
        let found = union(spans(&[(0, 2), (2, 4), (4, 4), (5, 9), (6, 7)]));
        assert_eq!(found, spans(&[(0, 4), (5, 9)]));
    }

    /// Tells for each nanosecond of a window whether a list covers it, by counting one by one.
    fn covered(list: &[Span], window: Span) -> Vec<bool> {
        (window.start_ns..window.end_ns)
            .map(|t| list.iter().any(|s| s.start_ns <= t && t < s.end_ns))
            .collect()
    }

    proptest! {
        #[test]
        fn span_sets_agree_with_counting(
            mut a in prop::collection::vec((0_u64..60, 0_u64..12), 0..12),
            mut b in prop::collection::vec((0_u64..60, 0_u64..12), 0..12),
            from in 0_u64..60, length in 0_u64..40,
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let spans_of = |list: &[(u64, u64)]| -> Vec<Span> {
                list.iter().map(|&(start, length)| Span::new(start, start + length)).collect()
            };
            let window = Span::new(from, from + length);
            let clipped = |list: &[Span]| union(list.iter().map(|s| s.clip(window)));
            let (union_a, union_b) = (clipped(&spans_of(&a)), clipped(&spans_of(&b)));
            let (in_a, in_b) = (covered(&spans_of(&a), window), covered(&spans_of(&b), window));
            let count = |bits: Vec<bool>| bits.into_iter().filter(|&bit| bit).count() as u64;

            prop_assert_eq!(&united(spans_of(&a)), &union(spans_of(&a)));
            prop_assert_eq!(length_ns(&union_a), count(in_a.clone()));
            let both = in_a.iter().zip(&in_b).map(|(&x, &y)| x && y).collect();
            prop_assert_eq!(overlap_ns(&union_a, &union_b), count(both));
        }
    }
}
