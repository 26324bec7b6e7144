//! UNION, INTERSECT and EXCEPT.

use polars_core::prelude::*;
use polars_lazy::prelude::*;
use sqlparser::ast::{SetExpr, SetOperator, SetQuantifier};

use super::query::Planner;
use super::relation::{Col, Relation, all_of, called};
use super::scope::wrong;
use crate::error::Result;
use crate::frame::failed;

impl Planner<'_> {
    /// Two queries' rows as one: columns by their places, under the first one's names.
    pub(crate) fn combined(
        &self,
        op: SetOperator,
        quantifier: SetQuantifier,
        left: Relation,
        right: Relation,
        ast: &SetExpr,
    ) -> Result<Relation> {
        let all = match quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            _ => return Err(wrong("BY NAME is not known here", ast)),
        };
        let (left, right, columns) = self.aligned(&left, &right, ast)?;
        let frame = match (op, all) {
            (SetOperator::Union, true) => stacked([left, right])?,
            (SetOperator::Union, false) => {
                stacked([left, right])?.unique(None, UniqueKeepStrategy::Any)
            }
            (_, true) => return Err(wrong(format!("{op} ALL is not known here"), ast)),
            (SetOperator::Intersect, false) => self.by_side(left, right, &columns, true)?,
            (SetOperator::Except | SetOperator::Minus, false) => {
                self.by_side(left, right, &columns, false)?
            }
        };
        Ok(Relation { frame, columns })
    }

    /// Both sides with the same columns of the same kinds.
    fn aligned(
        &self,
        left: &Relation,
        right: &Relation,
        ast: &SetExpr,
    ) -> Result<(LazyFrame, LazyFrame, Vec<Col>)> {
        let (some, others) = (left.columns.len(), right.columns.len());
        if some != others {
            let what = format!("one side has {some} columns, the other {others}");
            return Err(wrong(what, ast));
        }
        let mut exprs = (Vec::new(), Vec::new());
        let mut columns = Vec::new();
        for (one, other) in left.columns.iter().zip(&right.columns) {
            let (one_typed, other_typed) = (one.typed(), other.typed());
            let Some((one_met, other_met)) = one_typed.meet(&other_typed) else {
                let (kind, of_other) = (called(one.kind), called(other.kind));
                let what = format!(
                    "`{}` is {kind} on one side and {of_other} on the other",
                    one.name
                );
                return Err(wrong(what, ast));
            };
            let inner = self.fresh(&one.name);
            let kind = one_met.kind;
            exprs.0.push(one_met.expr.alias(inner.clone()));
            exprs.1.push(other_met.expr.alias(inner.clone()));
            columns.push(Col::new(&one.name, inner, kind));
        }
        let frames = (left.frame.clone(), right.frame.clone());
        Ok((frames.0.select(exprs.0), frames.1.select(exprs.1), columns))
    }

    /// Rows that are on the first side, each once: those that are on the other, too, or
    /// those that are not. Nulls are equal here.
    fn by_side(
        &self,
        left: LazyFrame,
        right: LazyFrame,
        columns: &[Col],
        on_both: bool,
    ) -> Result<LazyFrame> {
        let side = self.fresh("side");
        let (first, last) = (self.fresh("first"), self.fresh("last"));
        let marked = |frame: LazyFrame, mark: i64| {
            frame
                .with_column(lit(mark).alias(side.clone()))
                .select([all_of(columns), vec![col(side.clone())]].concat())
        };
        let keys = all_of(columns);
        let last_side = if on_both { 1_i64 } else { 0 };
        let sides = stacked([marked(left, 0), marked(right, 1)])?;
        Ok(sides
            .group_by(keys.clone())
            .agg([
                col(side.clone()).min().alias(first.clone()),
                col(side).max().alias(last.clone()),
            ])
            .filter(col(first).eq(lit(0_i64)).and(col(last).eq(lit(last_side))))
            .select(keys))
    }
}

fn stacked(frames: [LazyFrame; 2]) -> Result<LazyFrame> {
    concat(frames, UnionArgs::default()).map_err(failed)
}
