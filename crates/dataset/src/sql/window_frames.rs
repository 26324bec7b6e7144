//! The rows around a row that a window function takes, and aggregates over them.

use std::ops::Range;

use sqlparser::ast::{Expr as Ast, WindowFrame, WindowFrameBound, WindowFrameUnits};

use super::aggregates::Aggregate;
use super::datum::Datum;
use crate::cells::Kind;

/// Which rows of a partition belong to one of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    start: Bound,
    end: Bound,
    /// Whether rows of equal order are in it or out of it together.
    with_peers: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// The partition's first or last row.
    Edge,
    /// So many rows after this one; before it, if negative.
    Row(i64),
}

impl Frame {
    /// As it is written; unless it is, all rows up to this one and its peers, and the
    /// whole partition if that has no order.
    pub(crate) fn new(written: Option<&WindowFrame>, ordered: bool) -> Option<Self> {
        let Some(written) = written else {
            return Some(Self {
                start: Bound::Edge,
                end: if ordered { Bound::Row(0) } else { Bound::Edge },
                with_peers: true,
            });
        };
        let bound = |bound: &WindowFrameBound| match bound {
            WindowFrameBound::CurrentRow => Some(Bound::Row(0)),
            WindowFrameBound::Preceding(None) | WindowFrameBound::Following(None) => {
                Some(Bound::Edge)
            }
            WindowFrameBound::Preceding(Some(by)) => Some(Bound::Row(-count(by)?)),
            WindowFrameBound::Following(Some(by)) => Some(Bound::Row(count(by)?)),
        };
        let starts_last = matches!(written.start_bound, WindowFrameBound::Following(None));
        let ends_first = matches!(written.end_bound, Some(WindowFrameBound::Preceding(None)));
        let end = written.end_bound.as_ref();
        let frame = Self {
            start: bound(&written.start_bound)?,
            end: end.map_or(Some(Bound::Row(0)), bound)?,
            with_peers: written.units == WindowFrameUnits::Range,
        };
        let known = match written.units {
            WindowFrameUnits::Rows => true,
            WindowFrameUnits::Range => {
                let simple = |bound| matches!(bound, Bound::Edge | Bound::Row(0));
                ordered && simple(frame.start) && simple(frame.end)
            }
            WindowFrameUnits::Groups => false,
        };
        (known && !starts_last && !ends_first).then_some(frame)
    }

    /// The rows that belong to a row, whose peers these are, of so many.
    pub(crate) fn of(self, row: usize, peers: &Range<usize>, rows: usize) -> Range<usize> {
        let moved = |by: i64| {
            let by_rows = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
            match by < 0 {
                true => row.checked_sub(by_rows),
                false => Some(row.saturating_add(by_rows)),
            }
        };
        let start = match self.start {
            Bound::Edge => 0,
            Bound::Row(0) if self.with_peers => peers.start,
            Bound::Row(by) => moved(by).unwrap_or_default(),
        };
        let end = match self.end {
            Bound::Edge => rows,
            Bound::Row(0) if self.with_peers => peers.end,
            Bound::Row(by) => moved(by).map_or(0, |row| row.saturating_add(1)),
        };
        let end = end.min(rows);
        start.min(end)..end
    }
}

fn count(ast: &Ast) -> Option<i64> {
    ast.to_string().parse().ok().filter(|count| *count >= 0)
}

/// Running aggregates: what has been added already, as long as frames only grow.
#[derive(Default)]
pub(crate) struct Sums {
    over: Range<usize>,
    count: i64,
    whole: i128,
    real: f64,
    least: Option<Datum>,
    most: Option<Datum>,
}

impl Sums {
    /// Whether an aggregate is known over windows.
    pub(crate) fn know(aggregate: Aggregate) -> bool {
        matches!(
            aggregate,
            Aggregate::Rows
                | Aggregate::Count
                | Aggregate::Sum
                | Aggregate::Mean
                | Aggregate::Min
                | Aggregate::Max
        )
    }

    /// An aggregate of those of the values.
    pub(crate) fn of(
        &mut self,
        aggregate: Aggregate,
        values: &[Datum],
        frame: &Range<usize>,
        kind: Kind,
    ) -> Result<Datum, String> {
        let grows = frame.start == self.over.start && frame.end >= self.over.end;
        if !grows {
            *self = Self {
                over: frame.start..frame.start,
                ..Self::default()
            };
        }
        let added = values.get(self.over.end.max(frame.start)..frame.end);
        added
            .unwrap_or_default()
            .iter()
            .for_each(|value| self.add(value));
        self.over = frame.clone();
        Ok(match aggregate {
            Aggregate::Rows | Aggregate::Count => Datum::Integer(self.count),
            _ if self.count == 0 => Datum::Null,
            Aggregate::Sum if kind == Kind::Integer => i64::try_from(self.whole)
                .map(Datum::Integer)
                .map_err(|_| format!("the sum {} is beyond 64 bits", self.whole))?,
            Aggregate::Sum => Datum::Number(self.real),
            Aggregate::Mean => Datum::Number(self.real / self.count as f64),
            Aggregate::Min => self.least.clone().unwrap_or(Datum::Null),
            _ => self.most.clone().unwrap_or(Datum::Null),
        })
    }

    fn add(&mut self, value: &Datum) {
        match value {
            Datum::Null => return,
            Datum::Integer(number) => self.whole += i128::from(*number),
            Datum::Number(number) => self.real += number,
            _ => {}
        }
        self.count += 1;
        let is = |best: &Option<Datum>, wanted| {
            best.as_ref().is_none_or(|best| value.order(best) == wanted)
        };
        if is(&self.least, std::cmp::Ordering::Less) {
            self.least = Some(value.clone());
        }
        if is(&self.most, std::cmp::Ordering::Greater) {
            self.most = Some(value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    ///```text
    /// row     0  1  2  3  4
    /// peers   └──┘  │  └──┘
    ///```
    #[test]
    fn frames() {
        let peers = [0..2, 0..2, 2..3, 3..5, 3..5];
        let check = |start, end, with_peers, expected: [Range<usize>; 5]| {
            let frame = Frame {
                start,
                end,
                with_peers,
            };
            for (row, expected) in expected.into_iter().enumerate() {
                assert_eq!(frame.of(row, &peers[row], 5), expected, "{frame:?} {row}");
            }
        };
        use Bound::{Edge, Row};
        check(Edge, Row(0), true, [0..2, 0..2, 0..3, 0..5, 0..5]);
        check(Edge, Row(0), false, [0..1, 0..2, 0..3, 0..4, 0..5]);
        check(Edge, Edge, false, [0..5, 0..5, 0..5, 0..5, 0..5]);
        check(Row(-1), Row(1), false, [0..2, 0..3, 1..4, 2..5, 3..5]);
        check(Row(0), Edge, true, [0..5, 0..5, 2..5, 3..5, 3..5]);
        check(Row(-2), Row(-1), false, [0..0, 0..1, 0..2, 1..3, 2..4]);
        check(Row(1), Row(2), false, [1..3, 2..4, 3..5, 4..5, 5..5]);
    }
}
