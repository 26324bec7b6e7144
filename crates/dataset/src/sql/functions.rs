//! The functions of single values: which one a call means, and whether it takes what it
//! is given.

use sqlparser::ast::Expr as Ast;

use super::function_list::FUNCTIONS;
use super::near;
use super::relation::{Typed, called};
use super::scope::wrong;
use crate::cells::Kind;
use crate::error::Result;

/// A function that queries can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AboutFunction {
    /// How it is called.
    pub usage: &'static str,
    /// What it makes.
    pub about: &'static str,
}

/// Every function of single values that queries can call.
#[must_use]
pub fn functions() -> Vec<AboutFunction> {
    let about = |&Scalar { usage, about, .. }: &Scalar| AboutFunction { usage, about };
    FUNCTIONS.iter().map(about).collect()
}

/// A function, as a query calls it.
pub(crate) struct Scalar {
    /// Its name, and other names of it.
    pub(crate) names: &'static [&'static str],
    /// What it takes, and what it is.
    pub(crate) usage: &'static str,
    pub(crate) about: &'static str,
    pub(crate) takes: Takes,
    pub(crate) make: fn(&[Typed]) -> Option<Typed>,
}

/// How many values, and of which kind: others are turned into it where nothing is lost.
pub(crate) enum Takes {
    /// Exactly these; the optional ones last, of which so many may be left out.
    Each(&'static [Kind], usize),
    /// At least one, of one kind whichever.
    AnyOfOneKind,
    /// One, of a kind that the function looks at.
    One,
    /// Any.
    Any,
}

/// The function of that name, of these values.
pub(crate) fn call(name: &str, of: &[Typed], ast: &Ast) -> Result<Typed> {
    let has_name = |one: &&Scalar| one.names.contains(&name);
    let Some(function) = FUNCTIONS.iter().find(has_name) else {
        let names = FUNCTIONS.iter().flat_map(|one| one.names).copied();
        let all = names.chain(super::aggregates::NAMES.iter().copied());
        let near = near::nearest(name, all.chain(super::window::NAMES.iter().copied()));
        let meant = match near.as_slice() {
            [] => String::new(),
            near => format!("; did you mean {}?", near.join(", ")),
        };
        return Err(wrong(format!("there is no function {name}(){meant}"), ast));
    };
    let wrong_use = || {
        let had: Vec<&str> = of.iter().map(|one| called(one.kind)).collect();
        let usage = function.usage;
        wrong(format!("{usage} was called with {}", had.join(", ")), ast)
    };
    let inputs = match &function.takes {
        Takes::Each(kinds, optional) => {
            if of.len() > kinds.len() || of.len() + optional < kinds.len() {
                return Err(wrong_use());
            }
            let as_taken: Option<Vec<Typed>> = of
                .iter()
                .zip(kinds.iter())
                .map(|(one, kind)| one.as_kind(*kind))
                .collect();
            as_taken.ok_or_else(wrong_use)?
        }
        Takes::AnyOfOneKind if !of.is_empty() => as_one_kind(of).ok_or_else(wrong_use)?,
        Takes::One if of.len() == 1 => of.to_vec(),
        Takes::Any if !of.is_empty() => of.to_vec(),
        _ => return Err(wrong_use()),
    };
    (function.make)(&inputs).ok_or_else(wrong_use)
}

/// All as the one kind that holds each.
pub(crate) fn as_one_kind(of: &[Typed]) -> Option<Vec<Typed>> {
    let mut all = of.first()?.clone();
    for one in of {
        all = all.meet(one)?.0;
    }
    match all.kind {
        None => Some(of.to_vec()),
        Some(kind) => of.iter().map(|one| one.as_kind(kind)).collect(),
    }
}
