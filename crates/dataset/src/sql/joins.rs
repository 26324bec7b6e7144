//! Joins: which rows of two tables are partners.

use polars_lazy::prelude::*;
use sqlparser::ast::{BinaryOperator, Expr as Ast, Ident, Query, Visit, Visitor};
use std::ops::ControlFlow;

use super::operators::met;
use super::query::Planner;
use super::relation::{Col, Found, Relation, Typed};
use super::scope::{Around, Scope, as_name, matching, wrong};
use crate::error::{Error, Result};
use crate::frame::failed;

/// Pairs of rows that a join without any equality may look at.
const PAIRS: u64 = 100_000_000;

/// On which side rows without a partner are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Neither,
    Left,
    Right,
    Both,
}

/// What a join's condition says.
#[derive(Default)]
struct Parts {
    /// What must be equal on both sides.
    keys: Vec<(Typed, Typed)>,
    /// What is about the right side alone.
    of_right: Vec<Typed>,
    /// Anything else.
    rest: Vec<Ast>,
}

impl Planner<'_> {
    /// `JOIN … ON`.
    pub(crate) fn join_on(
        &self,
        left: Relation,
        right: Relation,
        side: Side,
        condition: Option<&Ast>,
        around: &Around,
    ) -> Result<Relation> {
        if side == Side::Right {
            let count = left.columns.len();
            let mut made = self.join_on(right, left, Side::Left, condition, around)?;
            made.columns.rotate_right(count);
            return Ok(made);
        }
        let parts = self.parts(condition, &left.columns, &right.columns, around)?;
        if side != Side::Neither {
            let both = side == Side::Both && !parts.of_right.is_empty();
            if let Some(odd) = parts.rest.first().or(condition.filter(|_| both)) {
                let what = format!(
                    "`{odd}` cannot be tested where rows without a partner are kept: join by \
                     equalities, and put the rest into WHERE"
                );
                return Err(wrong(what, odd));
            }
        }
        let mut right = right;
        for test in parts.of_right {
            right.frame = right.frame.filter(test.expr);
        }
        let mut joined = match parts.keys.is_empty() {
            true => self.all_pairs(left, right, side, condition)?,
            false => self.by_keys(left, right, side, parts.keys),
        };
        for rest in &parts.rest {
            let test = self.condition(rest, &Scope::of_rows(&joined.columns, around))?;
            joined.frame = joined.frame.filter(test.expr);
        }
        Ok(joined)
    }

    /// Tables that are only listed: by what WHERE says of both. WHERE tests it again.
    pub(crate) fn join_where(
        &self,
        left: Relation,
        right: Relation,
        condition: Option<&Ast>,
        around: &Around,
    ) -> Result<Relation> {
        // What it says of other tables is not known yet.
        let known = condition.into_iter().flat_map(conjuncts);
        let mut keys = Vec::new();
        for part in known {
            if let Ok(Some(key)) = self.key(part, &left.columns, &right.columns, around) {
                keys.push(key);
            }
        }
        match keys.is_empty() {
            true => self.all_pairs(left, right, Side::Neither, condition),
            false => Ok(self.by_keys(left, right, Side::Neither, keys)),
        }
    }

    /// `JOIN … USING`: the two columns become one, in the place of the first.
    pub(crate) fn join_using(
        &self,
        left: Relation,
        right: Relation,
        side: Side,
        names: &[&Ident],
        around: &Around,
    ) -> Result<Relation> {
        let mut keys = Vec::new();
        let mut pairs = Vec::new();
        for name in names {
            let one = Scope::of_rows(&left.columns, around).find(None, name)?;
            let other = Scope::of_rows(&right.columns, around).find(None, name)?;
            let ident = Ast::Identifier((*name).clone());
            keys.push(met(&one.typed(), &other.typed(), &ident)?);
            pairs.push((one.clone(), other.clone()));
        }
        let mut joined = match keys.is_empty() {
            true => self.all_pairs(left, right, side, None)?,
            false => self.by_keys(left, right, side, keys.clone()),
        };
        for ((one, other), key) in pairs.into_iter().zip(keys) {
            self.merge(&mut joined, side, (&one, &other), key);
        }
        Ok(joined)
    }

    /// Makes one column of two, which are equal where both are there.
    fn merge(
        &self,
        joined: &mut Relation,
        side: Side,
        (one, other): (&Col, &Col),
        key: (Typed, Typed),
    ) {
        let whole = match side {
            Side::Neither | Side::Left => None,
            // Where there is no partner the left one is absent.
            Side::Right => Some(Col {
                name: one.name.clone(),
                found: Found::ByName,
                ..other.clone()
            }),
            Side::Both => {
                let inner = self.fresh(&one.name);
                let either = coalesce(&[key.0.expr, key.1.expr]);
                let frame = std::mem::take(&mut joined.frame);
                joined.frame = frame.with_column(either.alias(inner.clone()));
                Some(Col {
                    inner,
                    kind: key.0.kind,
                    found: Found::ByName,
                    ..one.clone()
                })
            }
        };
        replace(&mut joined.columns, other, None);
        if whole.is_some() {
            replace(&mut joined.columns, one, whole);
        }
    }

    fn parts(
        &self,
        condition: Option<&Ast>,
        left: &[Col],
        right: &[Col],
        around: &Around,
    ) -> Result<Parts> {
        let mut parts = Parts::default();
        for part in condition.into_iter().flat_map(conjuncts) {
            if let Some(key) = self.key(part, left, right, around)? {
                parts.keys.push(key);
            } else if names_only(part, right, left) {
                let scope = Scope::of_rows(right, around);
                parts.of_right.push(self.condition(part, &scope)?);
            } else {
                parts.rest.push(part.clone());
            }
        }
        Ok(parts)
    }

    /// `a = b` where one is of the left side and the other of the right.
    fn key(
        &self,
        part: &Ast,
        left: &[Col],
        right: &[Col],
        around: &Around,
    ) -> Result<Option<(Typed, Typed)>> {
        let Ast::BinaryOp {
            left: one,
            op: BinaryOperator::Eq,
            right: other,
        } = part
        else {
            return Ok(None);
        };
        let (of_left, of_right) = match () {
            () if names_only(one, left, right) && names_only(other, right, left) => (one, other),
            () if names_only(other, left, right) && names_only(one, right, left) => (other, one),
            () => return Ok(None),
        };
        let of_left = self.expr(of_left, &Scope::of_rows(left, around))?;
        let of_right = self.expr(of_right, &Scope::of_rows(right, around))?;
        met(&of_left, &of_right, part).map(Some)
    }

    fn by_keys(
        &self,
        left: Relation,
        right: Relation,
        side: Side,
        keys: Vec<(Typed, Typed)>,
    ) -> Relation {
        let mut named = (Vec::new(), Vec::new());
        let mut on = (Vec::new(), Vec::new());
        for (one, other) in keys {
            let (name, of_other) = (self.fresh("key"), self.fresh("key"));
            named.0.push(one.expr.alias(name.clone()));
            named.1.push(other.expr.alias(of_other.clone()));
            on.0.push(col(name));
            on.1.push(col(of_other));
        }
        let how = match side {
            Side::Neither => JoinType::Inner,
            Side::Left => JoinType::Left,
            Side::Right => JoinType::Right,
            Side::Both => JoinType::Full,
        };
        let frame = left.frame.with_columns(named.0).join(
            right.frame.with_columns(named.1),
            on.0,
            on.1,
            JoinArgs::new(how),
        );
        let columns = [left.columns, right.columns].concat();
        Relation { frame, columns }
    }

    /// Every row with every other, as long as those are not too many.
    fn all_pairs(
        &self,
        left: Relation,
        right: Relation,
        side: Side,
        condition: Option<&Ast>,
    ) -> Result<Relation> {
        let (some, others) = (height(&left)?, height(&right)?);
        if some.saturating_mul(others) > PAIRS {
            let what = format!(
                "a join without `column = column` would compare {some} rows with {others}: \
                 say what must be equal"
            );
            let place = condition.map(super::scope::place_of).unwrap_or_default();
            return Err(Error::Wrong { what, place });
        }
        let one = || Typed::from(super::datum::Datum::Integer(0));
        Ok(self.by_keys(left, right, side, vec![(one(), one())]))
    }
}

/// Puts another column, if any, into the place of one that only its full name finds from
/// now on, if it has any.
fn replace(columns: &mut Vec<Col>, one: &Col, by: Option<Col>) {
    let is_it = |column: &Col| column.inner == one.inner && column.found == one.found;
    let Some(at) = columns.iter().position(is_it) else {
        return;
    };
    let left = (one.found == Found::Always).then(|| Col {
        found: Found::ByFullName,
        ..one.clone()
    });
    columns.splice(at..=at, by.into_iter().chain(left));
}

fn height(relation: &Relation) -> Result<u64> {
    let marked = relation.frame.clone().with_column(lit(true).alias("rows"));
    let counted = marked
        .select([col("rows").count()])
        .collect()
        .map_err(failed)?;
    let cell = counted.column("rows").and_then(|column| column.get(0));
    Ok(cell.map_err(failed)?.extract().unwrap_or_default())
}

/// A condition, cut where it says AND.
fn conjuncts(condition: &Ast) -> Vec<&Ast> {
    match condition {
        Ast::Nested(inner) => conjuncts(inner),
        Ast::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        } => [conjuncts(left), conjuncts(right)].concat(),
        other => vec![other],
    }
}

/// Whether an expression names columns of the one side, and none of the other.
fn names_only(ast: &Ast, one: &[Col], other: &[Col]) -> bool {
    let mut named = Named {
        one,
        other,
        of_one: 0,
        astray: false,
    };
    let _: ControlFlow<()> = ast.visit(&mut named);
    named.of_one > 0 && !named.astray
}

struct Named<'c> {
    one: &'c [Col],
    other: &'c [Col],
    of_one: usize,
    astray: bool,
}

impl Visitor for Named<'_> {
    type Break = ();

    // What a query inside names is not looked into: such a part is tested afterwards.
    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.astray = true;
        ControlFlow::Break(())
    }

    fn pre_visit_expr(&mut self, ast: &Ast) -> ControlFlow<()> {
        let Some((table, name)) = as_name(ast) else {
            return ControlFlow::Continue(());
        };
        let of = |columns| matching(columns, table, name).count();
        match (of(self.one), of(self.other)) {
            (1, 0) => self.of_one += 1,
            _ => self.astray = true,
        }
        ControlFlow::Continue(())
    }
}
