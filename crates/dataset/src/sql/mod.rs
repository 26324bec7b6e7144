//! SQL: what a query says, made into steps that polars takes.
//!
//! ```text
//! text → names (what it may name, and nothing else) → query → select → from, expression, window
//!                                                        ↓
//!                                            Relation: a LazyFrame, its columns and their kinds
//! ```
//!
//! polars has SQL of its own. It asks for so many of polars' parts that all of metalens would
//! take half as long again to build and be half as large again (the figures stand in the
//! crate's documentation), adds whole numbers round and round, and knows neither
//! `= (SELECT …)` nor which of two columns of one name is meant. So the text is parsed by
//! the same parser, `sqlparser`, and translated here. `scripts/check-dataset` asks DuckDB the
//! same questions.
//!
//! Every column has one [`Kind`](crate::cells::Kind), known before anything is read: a text
//! that is compared with a number is a mistake, said with its place, and not an empty
//! answer. Days are counted in whole numbers and never lose that they are days.

mod aggregates;
mod calls;
mod casts;
mod conditions;
mod datum;
mod expression;
mod from;
mod function_list;
mod functions;
mod joins;
mod names;
mod near;
mod operators;
mod patterns;
mod query;
mod relation;
mod scope;
mod select;
mod sets;
mod subqueries;
mod window;
mod window_frames;

pub(crate) use datum::{Datum, cells};
pub use functions::{AboutFunction, functions};
pub(crate) use names::Asked;
pub(crate) use query::Planner;
pub(crate) use relation::Col;
