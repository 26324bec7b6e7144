//! A whole query: what it defines, what it selects, in which order and how much of it.

use std::cell::Cell;

use polars_core::prelude::*;
use polars_lazy::prelude::*;
use sqlparser::ast::{
    Expr as Ast, LimitClause, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, Query, SetExpr,
};

use super::datum::Datum;
use super::relation::{Col, Relation, all_of};
use super::scope::{Around, Scope, place_of, refuse, wrong};
use crate::cells::Kind;
use crate::error::{Error, Result};
use crate::frame::failed;
use crate::tables::Which;

/// Makes steps of queries.
pub(crate) struct Planner<'p> {
    /// A table, with its columns as the schema of tables has them.
    table: &'p dyn Fn(Which) -> PolarsResult<LazyFrame>,
    /// How many names it has given.
    given: Cell<usize>,
}

/// Rows on their way out of a SELECT: those that are to be shown, and others to sort by.
pub(crate) struct Selected {
    pub(crate) frame: LazyFrame,
    pub(crate) columns: Vec<Col>,
    pub(crate) order: Vec<Order>,
    /// Whether the rows are in no order of their own.
    pub(crate) shuffled: bool,
}

/// A column to sort by.
#[derive(Clone)]
pub(crate) struct Order {
    pub(crate) by: PlSmallStr,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// What ORDER BY makes of a query's columns.
#[derive(Default)]
pub(crate) struct Sorting {
    pub(crate) order: Vec<Order>,
    /// What it sorts by and the query does not show.
    pub(crate) added: Vec<Expr>,
}

impl Order {
    pub(crate) fn new(by: PlSmallStr, options: OrderByOptions) -> Self {
        Self {
            by,
            descending: options.asc == Some(false),
            nulls_first: options.nulls_first == Some(true),
        }
    }
}

impl<'p> Planner<'p> {
    pub(crate) fn new(table: &'p dyn Fn(Which) -> PolarsResult<LazyFrame>) -> Self {
        Self {
            table,
            given: Cell::new(0),
        }
    }

    /// The rows that a query asks for, in an order that is always the same.
    pub(crate) fn plan(&self, query: &Query) -> Result<Relation> {
        self.ordered(query, &Around::default(), true)
    }

    /// The same of a query inside another, which need not be in any order.
    pub(crate) fn query(&self, query: &Query, around: &Around) -> Result<Relation> {
        self.ordered(query, around, false)
    }

    fn ordered(&self, query: &Query, around: &Around, outermost: bool) -> Result<Relation> {
        refuse_the_rest(query)?;
        let around = self.with(query, around)?;
        let order = query.order_by.as_ref();
        let selected = self.body(&query.body, order, &around)?;
        let limit = limit(query)?;
        let Selected {
            frame,
            columns,
            mut order,
            shuffled,
        } = selected;
        // Where the order would be left to chance it is by all columns, so that the same
        // question has one answer.
        if shuffled && (outermost || limit.is_some()) {
            let all = columns.iter().map(|column| column.inner.clone());
            order.extend(all.map(|by| Order::new(by, OrderByOptions::default())));
        }
        let frame = match order.is_empty() || !(outermost || limit.is_some()) {
            true => frame,
            false => sorted(frame, &order),
        };
        let frame = match limit {
            Some((from, count)) => frame.slice(from, count),
            None => frame,
        };
        Ok(Relation {
            frame: frame.select(all_of(&columns)),
            columns,
        })
    }

    /// What the query can name: what its WITH defines, too.
    fn with(&self, query: &Query, around: &Around) -> Result<Around> {
        let mut around = around.clone();
        let Some(with) = &query.with else {
            return Ok(around);
        };
        if with.recursive {
            return Err(wrong("WITH RECURSIVE is not known here", query));
        }
        for table in &with.cte_tables {
            let made = self.query(&table.query, &around)?;
            let made = super::from::named(made, &table.alias)?;
            around.defined.push((table.alias.name.value.clone(), made));
        }
        Ok(around)
    }

    fn body(&self, body: &SetExpr, order: Option<&OrderBy>, around: &Around) -> Result<Selected> {
        match body {
            SetExpr::Select(select) => self.select(select, order, around),
            SetExpr::Query(query) => {
                let made = self.query(query, around)?;
                self.of_made(made, order, around)
            }
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => {
                let sides = [left, right].map(|side| {
                    let Selected { frame, columns, .. } = self.body(side, None, around)?;
                    Ok(Relation { frame, columns })
                });
                let [left, right] = sides;
                let made = self.combined(*op, *set_quantifier, left?, right?, body)?;
                self.of_made(made, order, around)
            }
            other => Err(Error::Wrong {
                what: format!("`{other}` is not known here"),
                place: place_of(other),
            }),
        }
    }

    /// Rows that have been selected already, sorted by what they show.
    fn of_made(
        &self,
        made: Relation,
        order: Option<&OrderBy>,
        around: &Around,
    ) -> Result<Selected> {
        let scope = Scope::of_rows(&made.columns, around);
        let place = |ast: &Ast| place_in(ast, made.columns.len());
        let Sorting { order, added } =
            self.sorting(order_by(order)?, &made.columns, place, &scope)?;
        Ok(Selected {
            frame: made.frame.with_columns(added),
            columns: made.columns,
            order,
            shuffled: true,
        })
    }

    /// What ORDER BY says: of shown columns, where `place` finds any, and of others.
    pub(crate) fn sorting(
        &self,
        order: &[OrderByExpr],
        shown: &[Col],
        place: impl Fn(&Ast) -> Result<Option<usize>>,
        scope: &Scope<'_>,
    ) -> Result<Sorting> {
        let mut sorting = Sorting::default();
        for one in order {
            let by = match place(&one.expr)?.and_then(|place| shown.get(place)) {
                Some(column) => column.inner.clone(),
                None => {
                    let by = self.fresh("order");
                    let made = self.expr(&one.expr, scope)?;
                    sorting.added.push(made.expr.alias(by.clone()));
                    by
                }
            };
            sorting.order.push(Order::new(by, one.options));
        }
        Ok(sorting)
    }

    /// A table, or what WITH calls so; its columns have names that no other column has.
    pub(crate) fn relation(&self, which: Which) -> Result<Relation> {
        let frame = (self.table)(which).map_err(failed)?;
        let columns = which.columns();
        let columns = columns
            .iter()
            .map(|about| Col::new(about.name, about.name.into(), Some(about.kind)));
        Ok(self.renewed(&Relation {
            frame,
            columns: columns.collect(),
        }))
    }

    /// The same rows under names that no other column has.
    pub(crate) fn renewed(&self, relation: &Relation) -> Relation {
        let mut exprs = Vec::new();
        let mut columns = Vec::new();
        for column in &relation.columns {
            let inner = self.fresh(&column.name);
            exprs.push(col(column.inner.clone()).alias(inner.clone()));
            columns.push(Col {
                inner,
                ..column.clone()
            });
        }
        Relation {
            frame: relation.frame.clone().select(exprs),
            columns,
        }
    }

    /// A name for a column that no other column has.
    pub(crate) fn fresh(&self, of: &str) -> PlSmallStr {
        let number = self.given.get() + 1;
        self.given.set(number);
        format!("{of}#{number}").into()
    }
}

/// The parts of ORDER BY.
pub(crate) fn order_by(order: Option<&OrderBy>) -> Result<&[OrderByExpr]> {
    let Some(order) = order else {
        return Ok(&[]);
    };
    match &order.kind {
        OrderByKind::Expressions(exprs) => Ok(exprs),
        // In the dialect that is parsed ALL is the name of a column.
        OrderByKind::All(_) => Err(wrong("ORDER BY ALL is not known here", order)),
    }
}

/// `ORDER BY 2`: the place of a shown column, from 0.
pub(crate) fn place_in(ast: &Ast, shown: usize) -> Result<Option<usize>> {
    let Ast::Value(value) = ast else {
        return Ok(None);
    };
    let text = value.value.to_string();
    let place = text.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    match place.filter(|place| *place < shown) {
        Some(place) => Ok(Some(place)),
        None => Err(wrong(
            format!("there is no column {text}: the query shows {shown}"),
            ast,
        )),
    }
}

fn sorted(frame: LazyFrame, order: &[Order]) -> LazyFrame {
    let by: Vec<Expr> = order.iter().map(|one| col(one.by.clone())).collect();
    let options = SortMultipleOptions::default()
        .with_order_descending_multi(order.iter().map(|one| one.descending))
        .with_nulls_last_multi(order.iter().map(|one| !one.nulls_first))
        .with_maintain_order(true);
    frame.sort_by_exprs(by, options)
}

/// LIMIT and OFFSET.
fn limit(query: &Query) -> Result<Option<(i64, IdxSize)>> {
    let (limit, offset) = match (&query.limit_clause, &query.fetch) {
        (None, None) => return Ok(None),
        (None, Some(fetch)) => (fetch.quantity.as_ref(), None),
        (Some(LimitClause::LimitOffset { limit, offset, .. }), _) => {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        (Some(LimitClause::OffsetCommaLimit { offset, limit }), _) => (Some(limit), Some(offset)),
    };
    let count = |ast: &Ast| {
        let text = ast.to_string();
        text.parse::<u32>().map_err(|_| {
            wrong(
                format!("LIMIT and OFFSET take a whole number, not {text}"),
                ast,
            )
        })
    };
    let limit = limit.map(count).transpose()?.unwrap_or(IdxSize::MAX);
    let offset = offset.map(count).transpose()?.unwrap_or_default();
    Ok(Some((i64::from(offset), limit)))
}

fn refuse_the_rest(query: &Query) -> Result<()> {
    let by = matches!(&query.limit_clause,
        Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty());
    let fetch = query.fetch.as_ref();
    let ties = fetch.is_some_and(|fetch| fetch.with_ties || fetch.percent);
    let rest = [
        (by, "LIMIT … BY"),
        (ties, "FETCH … WITH TIES or PERCENT"),
        (!query.locks.is_empty(), "FOR UPDATE"),
        (query.for_clause.is_some(), "FOR"),
        (query.settings.is_some(), "SETTINGS"),
        (query.format_clause.is_some(), "FORMAT"),
        (!query.pipe_operators.is_empty(), "|>"),
    ];
    refuse(&rest, query)
}

/// A row of nothing, for SELECT without FROM.
pub(crate) fn one_row(name: &PlSmallStr) -> LazyFrame {
    let cell = super::datum::column(name, Kind::Flag, vec![Datum::Flag(true)]);
    let height = cell.len();
    DataFrame::new(height, vec![cell])
        .unwrap_or_default()
        .lazy()
}
