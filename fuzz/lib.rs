//! Implements the fuzz targets. The tests of the main workspace run the same functions on every file
//! of `corpus/`, so that a fault that was found once cannot return unnoticed.

pub mod documents;
#[path = "../crates/analyze/trace/tests/suite/judge.rs"]
mod judge;
#[expect(dead_code, reason = "the tests of crates/analyze/trace use all of it")]
#[path = "../crates/analyze/trace/tests/suite/mini_bundle.rs"]
mod mini_bundle;
#[expect(dead_code, reason = "the tests of crates/analyze/trace use all of it")]
#[path = "../crates/analyze/trace/tests/suite/mutation.rs"]
mod mutation;
pub mod traces;
#[expect(dead_code, reason = "the tests of the main workspace walk the corpus")]
mod walk;

pub(crate) use walk::Entry;
