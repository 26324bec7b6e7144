//! Calls of functions: which of them is an aggregate, which one looks at other rows, and
//! what each takes.

use std::ops::ControlFlow;

use polars_lazy::prelude::*;
use sqlparser::ast::{
    DateTimeField, DuplicateTreatment, Expr as Ast, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Query, Visit, Visitor,
};

use super::aggregates::{self, Aggregate};
use super::datum::Datum;
use super::expression::unknown_form;
use super::functions;
use super::query::Planner;
use super::relation::{Typed, called};
use super::scope::{Scope, only, wrong};
use crate::cells::Kind;
use crate::error::Result;

impl Planner<'_> {
    /// A call that is neither an aggregate nor over a window: those have been computed
    /// where they may stand.
    pub(crate) fn function(
        &self,
        function: &Function,
        ast: &Ast,
        scope: &Scope<'_>,
    ) -> Result<Typed> {
        let name = name_of(function);
        if function.over.is_some() || super::window::is_only_window(&name) {
            let what = format!("{name}() OVER (…) may stand in SELECT, QUALIFY and ORDER BY only");
            return Err(wrong(what, ast));
        }
        if is_aggregate(function) {
            let what = format!("the aggregate {name}() cannot stand here");
            return Err(wrong(what, ast));
        }
        let inputs = self.exprs(plain_arguments(function, ast)?, scope)?;
        functions::call(&name, &inputs, ast)
    }

    /// A call that has a form of its own: `EXTRACT(YEAR FROM date)`, `FLOOR(x)`, …
    pub(crate) fn special_call(&self, ast: &Ast, scope: &Scope<'_>) -> Result<Typed> {
        let (name, inputs): (&str, Vec<&Ast>) = match ast {
            Ast::Extract { field, expr, .. } => match field {
                DateTimeField::Year => ("year", vec![expr]),
                DateTimeField::Month => ("month", vec![expr]),
                DateTimeField::Day => ("day", vec![expr]),
                _ => return Err(unknown_form(ast)),
            },
            Ast::Floor { expr, .. } => ("floor", vec![expr]),
            Ast::Ceil { expr, .. } => ("ceil", vec![expr]),
            Ast::Position { expr, r#in } => ("strpos", vec![r#in, expr]),
            Ast::Substring {
                expr,
                substring_from: Some(from),
                substring_for,
                ..
            } => {
                let length = substring_for.iter().map(Box::as_ref);
                let inputs: [&Ast; 2] = [expr, from];
                ("substr", inputs.into_iter().chain(length).collect())
            }
            Ast::Trim {
                trim_where: None,
                trim_what: None,
                expr,
                trim_characters: None,
            } => ("trim", vec![expr]),
            _ => return Err(unknown_form(ast)),
        };
        functions::call(name, &self.exprs(inputs, scope)?, ast)
    }

    /// An aggregate, and the one column that it takes: of the rows that its FILTER leaves.
    pub(crate) fn aggregate(
        &self,
        function: &Function,
        ast: &Ast,
        scope: &Scope<'_>,
    ) -> Result<(Aggregate, Typed, Kind)> {
        let name = name_of(function);
        let (aggregate, input) = match argument_list(function) {
            Some(list) if is_star(list) && name == "count" => {
                (Aggregate::Rows, Datum::Flag(true).into())
            }
            _ => self.aggregate_of(&name, function, ast, scope)?,
        };
        let (input, kind) = aggregate.takes(&input).ok_or_else(|| {
            wrong(
                format!("{name}() takes numbers, not {}", called(input.kind)),
                ast,
            )
        })?;
        let Some(filter) = &function.filter else {
            return Ok((aggregate, input, kind));
        };
        let filter = self.condition(filter, scope)?;
        let nothing = Datum::Null.literal(input.kind);
        let left = when(filter.expr).then(input.expr).otherwise(nothing);
        let aggregate = match aggregate {
            Aggregate::Rows => Aggregate::Count,
            other => other,
        };
        let left = Typed {
            expr: left,
            kind: input.kind,
            constant: None,
        };
        Ok((aggregate, left, kind))
    }

    fn aggregate_of(
        &self,
        name: &str,
        function: &Function,
        ast: &Ast,
        scope: &Scope<'_>,
    ) -> Result<(Aggregate, Typed)> {
        let mut arguments = plain_arguments(function, ast)?;
        // percentile_cont(0.9) WITHIN GROUP (ORDER BY x)
        if let [within] = function.within_group.as_slice() {
            arguments.insert(0, &within.expr);
        }
        let distinct = argument_list(function).and_then(|list| list.duplicate_treatment)
            == Some(DuplicateTreatment::Distinct);
        let (input, fraction) = match self.exprs(arguments, scope)?.as_slice() {
            [input] => (input.clone(), None),
            [input, fraction] => {
                let fraction = fraction.as_kind(Kind::Number);
                match fraction.and_then(|one| one.constant) {
                    Some(Datum::Number(at)) if (0.0..=1.0).contains(&at) => {
                        (input.clone(), Some(at))
                    }
                    _ => return Err(wrong(format!("{name}() takes a fraction from 0 to 1"), ast)),
                }
            }
            _ => return Err(wrong(format!("{name}() takes one column"), ast)),
        };
        let quantile = name.starts_with("quantile") || name.starts_with("percentile");
        let known = Aggregate::named(name, distinct, fraction)
            .filter(|_| quantile == fraction.is_some())
            .ok_or_else(|| wrong(format!("`{ast}` is not known here"), ast))?;
        Ok((known, input))
    }
}

/// What a call is called, in small letters.
pub(crate) fn name_of(function: &Function) -> String {
    match only(&function.name) {
        Some(ident) => ident.value.to_lowercase(),
        None => function.name.to_string(),
    }
}

/// Whether it makes one value of many rows, in the query itself.
pub(crate) fn is_aggregate(function: &Function) -> bool {
    function.over.is_none() && aggregates::NAMES.contains(&name_of(function).as_str())
}

/// The arguments of a call, without names and stars.
pub(crate) fn plain_arguments<'f>(function: &'f Function, ast: &Ast) -> Result<Vec<&'f Ast>> {
    let list = match &function.args {
        FunctionArguments::None => return Ok(Vec::new()),
        FunctionArguments::List(list) => list,
        FunctionArguments::Subquery(_) => {
            return Err(wrong(format!("`{ast}` is not known here"), ast));
        }
    };
    let plain = |argument: &'f FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr),
        other => Err(wrong(format!("`{other}` cannot be an argument here"), ast)),
    };
    list.args.iter().map(plain).collect()
}

fn argument_list(function: &Function) -> Option<&FunctionArgumentList> {
    match &function.args {
        FunctionArguments::List(list) => Some(list),
        _ => None,
    }
}

/// `count(*)`, and `count()`.
pub(crate) fn is_star(list: &FunctionArgumentList) -> bool {
    matches!(
        list.args.as_slice(),
        [] | [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]
    )
}

/// The calls in expressions that `wanted` finds, each once, outermost first; not those
/// in queries inside them.
pub(crate) fn calls(asts: &[&Ast], wanted: fn(&Function) -> bool) -> Vec<Ast> {
    let mut finder = Finder {
        wanted,
        depth: 0,
        found: Vec::new(),
    };
    for ast in asts {
        let _: ControlFlow<()> = ast.visit(&mut finder);
    }
    finder.found
}

struct Finder {
    wanted: fn(&Function) -> bool,
    depth: usize,
    found: Vec<Ast>,
}

impl Visitor for Finder {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, ast: &Ast) -> ControlFlow<()> {
        if let Ast::Function(function) = ast
            && self.depth == 0
            && (self.wanted)(function)
            && !self.found.contains(ast)
        {
            self.found.push(ast.clone());
        }
        ControlFlow::Continue(())
    }
}
