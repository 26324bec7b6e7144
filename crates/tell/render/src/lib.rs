//! Renders reports, comparisons and indexes for people: on a terminal, as Markdown and as HTML.
//!
//! ```text
//! Report ──────┐
//! Comparison ──┤  builders   ┌──────────┐  terminal   lines of a screen
//! Baseline ────┼───────────▶ │ document │ ─ markdown   a page, a comment on a pull request
//! WhatIf ──────┤             │          │
//! Index ───────┤             └──────────┘  html       a page with a timeline
//! Bench ───────┘
//! ```
//!
//! A builder says each heading, column and sentence once. A medium knows no report: it escapes
//! texts, keeps numbers beside their units, and leaves out what has no room.
//!
//! | module | duty |
//! | --- | --- |
//! | [`document`] | sections, blocks, tables and cells |
//! | [`report`], [`comparison`], [`baseline`], [`what_if`], [`bench`](mod@bench), [`index`] | builders: one document each |
//! | [`terminal`], [`markdown`], [`html`] | media |
//! | [`csv`], [`json`] | the same for programs |
//! | [`for_page`] | a report without folders and the names of other processes, unless they are to be shown |
//! | [`folder`] | the folders that `analyze -o`, `compare -o`, `bench -o` and `batch` write, and the first three read back |

mod bars;
pub mod baseline;
pub mod bench;
mod cells;
pub mod comparison;
pub mod csv;
pub mod document;
mod environment;
mod error;
mod finding_totals;
mod first_screen;
#[cfg(unix)]
pub mod folder;
pub mod gate;
pub mod html;
pub mod index;
pub mod json;
pub mod markdown;
mod redact;
pub mod report;
pub mod terminal;
pub mod what_if;
mod wording;

pub use error::{Error, Result};
pub use redact::for_page;
