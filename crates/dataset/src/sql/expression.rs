//! Expressions: each kind of them by its own rule, until only columns and literals are left.

use polars_core::prelude::DataType;
use polars_lazy::prelude::*;
use sqlparser::ast::{
    BinaryOperator, CastKind, DataType as SqlType, Expr as Ast, Ident, UnaryOperator,
    Value as SqlValue,
};

use super::casts;
use super::datum::Datum;
use super::functions::{self, call};
use super::operators::{arithmetic, compare, concatenated, not};
use super::query::Planner;
use super::relation::{Typed, called};
use super::scope::{Scope, as_name, wrong};
use crate::cells::Kind;
use crate::error::Result;

impl Planner<'_> {
    /// What an expression is, over the columns of a scope.
    pub(crate) fn expr(&self, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        if let Some(computed) = scope.computed(ast) {
            return Ok(computed);
        }
        match ast {
            Ast::Nested(inner) => self.expr(inner, scope),
            Ast::Value(value) => literal(&value.value, ast),
            Ast::TypedString(typed) => {
                let text = literal(&typed.value.value, ast)?;
                cast(&text, &typed.data_type, false, ast)
            }
            Ast::Identifier(_) | Ast::CompoundIdentifier(_) => {
                let (table, name) = as_name(ast).ok_or_else(|| unknown_form(ast))?;
                scope.column(table, name)
            }
            Ast::UnaryOp { op, expr } => self.unary(*op, expr, ast, scope),
            Ast::BinaryOp { left, op, right } => self.binary(left, op, right, ast, scope),
            Ast::Case { .. } => self.case(ast, scope),
            Ast::Cast {
                kind,
                expr,
                data_type,
                array: false,
                format: None,
            } => {
                let or_null = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                cast(&self.expr(expr, scope)?, data_type, or_null, ast)
            }
            Ast::Subquery(subquery) => self.value_of(subquery, scope, ast),
            Ast::Function(function) => self.function(function, ast, scope),
            Ast::Extract { .. }
            | Ast::Floor { .. }
            | Ast::Ceil { .. }
            | Ast::Position { .. }
            | Ast::Substring { .. }
            | Ast::Trim { .. } => self.special_call(ast, scope),
            _ => self.test(ast, scope),
        }
    }

    /// Several of them.
    pub(crate) fn exprs<'q>(
        &self,
        asts: impl IntoIterator<Item = &'q Ast>,
        scope: &Scope<'_>,
    ) -> Result<Vec<Typed>> {
        asts.into_iter().map(|ast| self.expr(ast, scope)).collect()
    }

    fn unary(&self, op: UnaryOperator, inner: &Ast, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        match op {
            UnaryOperator::Not => Ok(not(&self.condition(inner, scope)?)),
            UnaryOperator::Plus => self.expr(inner, scope),
            UnaryOperator::Minus => {
                // The least whole number has no positive brother.
                if let Ast::Value(value) = inner
                    && let SqlValue::Number(digits, _) = &value.value
                    && let Ok(number) = format!("-{digits}").parse()
                {
                    return Ok(Datum::Integer(number).into());
                }
                let zero = Datum::Integer(0).into();
                arithmetic(
                    &zero,
                    &BinaryOperator::Minus,
                    &self.expr(inner, scope)?,
                    ast,
                )
            }
            _ => Err(unknown_form(ast)),
        }
    }

    fn binary(
        &self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
        ast: &Ast,
        scope: &Scope<'_>,
    ) -> Result<Typed> {
        use BinaryOperator as Op;
        match op {
            Op::And | Op::Or => {
                let (left, right) = (self.condition(left, scope)?, self.condition(right, scope)?);
                let both = match op {
                    Op::And => left.expr.and(right.expr),
                    _ => left.expr.or(right.expr),
                };
                return Ok(Typed::new(both, Kind::Flag));
            }
            _ => {}
        }
        let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
        match op {
            Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq => {
                compare(&left, op, &right, ast)
            }
            Op::Plus
            | Op::Minus
            | Op::Multiply
            | Op::Divide
            | Op::Modulo
            | Op::DuckIntegerDivide
            | Op::MyIntegerDivide => arithmetic(&left, op, &right, ast),
            Op::StringConcat => concatenated(left, right, ast),
            Op::PGRegexMatch => call("regexp_matches", &[left, right], ast),
            Op::PGRegexNotMatch => Ok(not(&call("regexp_matches", &[left, right], ast)?)),
            _ => Err(unknown_form(ast)),
        }
    }

    fn case(&self, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        let Ast::Case {
            operand,
            conditions,
            else_result,
            ..
        } = ast
        else {
            return Err(unknown_form(ast));
        };
        let operand = operand.as_ref().map(|one| self.expr(one, scope));
        let operand = operand.transpose()?;
        let mut tests = Vec::new();
        let mut results = Vec::new();
        for one in conditions {
            tests.push(match &operand {
                None => self.condition(&one.condition, scope)?,
                Some(operand) => {
                    let value = self.expr(&one.condition, scope)?;
                    compare(operand, &BinaryOperator::Eq, &value, ast)?
                }
            });
            results.push(self.expr(&one.result, scope)?);
        }
        results.push(match else_result {
            Some(otherwise) => self.expr(otherwise, scope)?,
            None => Datum::Null.into(),
        });
        let results = functions::as_one_kind(&results)
            .ok_or_else(|| wrong("the results of this CASE are of different kinds", ast))?;
        Ok(chosen(tests, results))
    }
}

/// The first result whose test holds; the last one if none does.
pub(crate) fn chosen(tests: Vec<Typed>, mut results: Vec<Typed>) -> Typed {
    let Some(last) = results.pop() else {
        return Datum::Null.into();
    };
    let kind = last.kind;
    let pairs = tests.into_iter().zip(results).rev();
    let expr = pairs.fold(last.expr, |otherwise, (test, result)| {
        when(test.expr).then(result.expr).otherwise(otherwise)
    });
    Typed {
        expr,
        kind,
        constant: None,
    }
}

/// SQL that is not known here.
pub(crate) fn unknown_form(ast: &Ast) -> crate::error::Error {
    wrong(format!("`{ast}` is not known here"), ast)
}

fn literal(value: &SqlValue, ast: &Ast) -> Result<Typed> {
    let datum = match value {
        SqlValue::Null => Datum::Null,
        SqlValue::Boolean(flag) => Datum::Flag(*flag),
        SqlValue::SingleQuotedString(text) => Datum::Text(text.clone()),
        SqlValue::Number(digits, _) => number(digits)
            .ok_or_else(|| wrong(format!("`{digits}` is a number beyond 64 bits"), ast))?,
        _ => return Err(unknown_form(ast)),
    };
    Ok(datum.into())
}

fn number(digits: &str) -> Option<Datum> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = digits.parse().map(Datum::Integer);
        return whole.or_else(|_| digits.parse().map(Datum::Id)).ok();
    }
    let number: f64 = digits.parse().ok()?;
    number.is_finite().then_some(Datum::Number(number))
}

fn cast(value: &Typed, wanted: &SqlType, or_null: bool, ast: &Ast) -> Result<Typed> {
    let wanted = match wanted {
        SqlType::Int(_)
        | SqlType::Integer(_)
        | SqlType::BigInt(_)
        | SqlType::Int64
        | SqlType::Int8(_) => Kind::Integer,
        SqlType::UBigInt | SqlType::UInt64 => Kind::Id,
        SqlType::Double(_)
        | SqlType::DoublePrecision
        | SqlType::Float(_)
        | SqlType::Float8
        | SqlType::Float64
        | SqlType::Real => Kind::Number,
        SqlType::Boolean | SqlType::Bool => Kind::Flag,
        SqlType::Text | SqlType::Varchar(_) | SqlType::String(_) => Kind::Text,
        SqlType::Date => Kind::Date,
        other => {
            let known = "BIGINT, UBIGINT, DOUBLE, BOOLEAN, VARCHAR and DATE";
            return Err(wrong(
                format!("{other} is no type here: there are {known}"),
                ast,
            ));
        }
    };
    casts::cast(value, wanted, or_null).ok_or_else(|| {
        let what = called(value.kind);
        wrong(
            format!("{what} cannot become {}", called(Some(wanted))),
            ast,
        )
    })
}

/// As polars' own type, where an expression has to be told it.
pub(crate) fn as_number(value: &Typed) -> Expr {
    value.expr.clone().cast(DataType::Float64)
}

/// The name that a query gives to what it selects.
pub(crate) fn written(ast: &Ast) -> String {
    match ast {
        Ast::Identifier(Ident { value, .. }) => value.clone(),
        Ast::CompoundIdentifier(parts) => parts
            .last()
            .map(|ident| ident.value.clone())
            .unwrap_or_default(),
        other => other.to_string().replace('"', ""),
    }
}
