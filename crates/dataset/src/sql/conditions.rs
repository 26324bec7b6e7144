//! Conditions: expressions that are true, false or absent.

use polars_lazy::prelude::*;
use sqlparser::ast::{BinaryOperator, Expr as Ast};

use super::datum::Datum;
use super::expression::unknown_form;
use super::operators::{compare, equal_or_both_null, is_one_of, not};
use super::patterns::like;
use super::query::Planner;
use super::relation::{Typed, called};
use super::scope::{Scope, wrong};
use crate::cells::Kind;
use crate::error::Result;

impl Planner<'_> {
    /// An expression that is true or false.
    pub(crate) fn condition(&self, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        let found = self.expr(ast, scope)?;
        found.as_kind(Kind::Flag).ok_or_else(|| {
            let what = called(found.kind);
            wrong(format!("`{ast}` is {what}, and no condition"), ast)
        })
    }

    /// What tests a value without an operator.
    pub(crate) fn test(&self, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        match ast {
            Ast::IsNull(inner) => {
                let inner = self.expr(inner, scope)?;
                Ok(Typed::new(inner.expr.is_null(), Kind::Flag))
            }
            Ast::IsNotNull(inner) => {
                let inner = self.expr(inner, scope)?;
                Ok(Typed::new(inner.expr.is_not_null(), Kind::Flag))
            }
            Ast::IsTrue(inner) => self.is(inner, true, scope),
            Ast::IsNotTrue(inner) => Ok(not(&self.is(inner, true, scope)?)),
            Ast::IsFalse(inner) => self.is(inner, false, scope),
            Ast::IsNotFalse(inner) => Ok(not(&self.is(inner, false, scope)?)),
            Ast::IsNotDistinctFrom(left, right) => self.same(left, right, ast, scope),
            Ast::IsDistinctFrom(left, right) => Ok(not(&self.same(left, right, ast, scope)?)),
            Ast::Exists { subquery, negated } => {
                let exists = self.exists(subquery, scope)?;
                Ok(Datum::Flag(exists != *negated).into())
            }
            Ast::Between { negated, .. }
            | Ast::InList { negated, .. }
            | Ast::InSubquery { negated, .. }
            | Ast::Like { negated, .. }
            | Ast::ILike { negated, .. } => {
                let holds = self.holds(ast, scope)?;
                Ok(if *negated { not(&holds) } else { holds })
            }
            _ => Err(unknown_form(ast)),
        }
    }

    fn is(&self, inner: &Ast, wanted: bool, scope: &Scope<'_>) -> Result<Typed> {
        let flag = self.condition(inner, scope)?;
        let is = flag.expr.eq_missing(lit(wanted));
        Ok(Typed::new(is, Kind::Flag))
    }

    fn same(&self, left: &Ast, right: &Ast, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
        equal_or_both_null(&left, &right, ast)
    }

    /// What can be said with NOT before it, as if it were not.
    fn holds(&self, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        let of = |inner: &Ast| self.expr(inner, scope);
        match ast {
            Ast::Between {
                expr, low, high, ..
            } => {
                let value = of(expr)?;
                let above = compare(&value, &BinaryOperator::GtEq, &of(low)?, ast)?;
                let below = compare(&value, &BinaryOperator::LtEq, &of(high)?, ast)?;
                Ok(Typed::new(above.expr.and(below.expr), Kind::Flag))
            }
            Ast::InList { expr, list, .. } => {
                let list = self.exprs(list, scope)?;
                is_one_of(&of(expr)?, &list, ast)
            }
            Ast::InSubquery { expr, subquery, .. } => {
                let list = self.list_of(subquery, scope)?;
                is_one_of(&of(expr)?, &list, ast)
            }
            Ast::Like {
                any: false,
                expr,
                pattern,
                escape_char,
                ..
            }
            | Ast::ILike {
                any: false,
                expr,
                pattern,
                escape_char,
                ..
            } => {
                let escape = escape_char.as_ref().map(|one| one.value.clone());
                let any_case = matches!(ast, Ast::ILike { .. });
                like(&of(expr)?, &of(pattern)?, escape, any_case, ast)
            }
            _ => Err(unknown_form(ast)),
        }
    }
}
