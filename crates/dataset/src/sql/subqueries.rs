//! Queries inside expressions. Each is asked once, before the query around it.

use polars_core::prelude::*;
use sqlparser::ast::{Expr as Ast, Query};

use super::datum::Datum;
use super::query::Planner;
use super::relation::{Relation, Typed};
use super::scope::{Scope, wrong};
use crate::error::Result;
use crate::frame::failed;

impl Planner<'_> {
    /// `(SELECT …)` as a value: of one row and one column; null if there is no row.
    pub(crate) fn value_of(&self, query: &Query, scope: &Scope<'_>, ast: &Ast) -> Result<Typed> {
        let mut values = self.column_of(query, scope, 2)?;
        match values.len() {
            0 | 1 => Ok(values.pop().unwrap_or_else(|| Datum::Null.into())),
            _ => Err(wrong(format!("`{ast}` has more than one row"), ast)),
        }
    }

    /// `IN (SELECT …)`: the values of its one column, each once.
    pub(crate) fn list_of(&self, query: &Query, scope: &Scope<'_>) -> Result<Vec<Typed>> {
        self.column_of(query, scope, usize::MAX)
    }

    /// `EXISTS (SELECT …)`.
    pub(crate) fn exists(&self, query: &Query, scope: &Scope<'_>) -> Result<bool> {
        let found = self.query(query, &scope.around.inside(scope))?;
        let some = found.frame.limit(1).collect().map_err(failed)?;
        Ok(some.height() > 0)
    }

    fn column_of(&self, query: &Query, scope: &Scope<'_>, most: usize) -> Result<Vec<Typed>> {
        let Relation { frame, columns } = self.query(query, &scope.around.inside(scope))?;
        let [column] = columns.as_slice() else {
            let what = format!(
                "a query with {} columns, where one is wanted",
                columns.len()
            );
            return Err(wrong(what, query));
        };
        let frame = match most {
            usize::MAX => frame.unique(None, UniqueKeepStrategy::Any),
            most => frame.limit(IdxSize::try_from(most).unwrap_or(IdxSize::MAX)),
        };
        let found = frame.collect().map_err(failed)?;
        let cells = found.column(&column.inner).map_err(failed)?;
        let value = |row: usize| {
            let cell = cells.get(row).unwrap_or(AnyValue::Null);
            let value = Typed::from(Datum::of(&cell, column.kind));
            // What is absent is still of the column's kind.
            column
                .kind
                .map_or(value.clone(), |kind| value.of_kind(kind))
        };
        Ok((0..cells.len()).map(value).collect())
    }
}
