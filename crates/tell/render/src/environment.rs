//! Builds the table of the environments in which recordings were made.

use metalens_comparison::Environment;
use metalens_message::{Message, count, message, name};

use crate::document::{Block, Column, Section, Table};

/// Largest number of environments on a page of text.
const MOST: usize = 30;
/// Largest number of variants that are named in a cell.
const NAMED: usize = 3;

/// The things that have environments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// Variants of a benchmark, which are named.
    Variants,
    /// Recordings of an index or a dataset, which are counted.
    Recordings,
}

/// Returns the table of environments; nothing without any.
pub(crate) fn section(environments: &[Environment], of: Of) -> Option<Section> {
    if environments.is_empty() {
        return None;
    }
    let columns = vec![
        Column::name("chip"),
        Column::label("Mac").spare(2),
        Column::label("system"),
        Column::label("Instruments").spare(1),
        match of {
            Of::Variants => Column::label("variants"),
            Of::Recordings => Column::number("recordings"),
        },
    ];
    let caption = "Chip, system and version of Instruments";
    let table = Table::new("environment", caption, columns);
    let mut table = table.limited(MOST, usize::MAX);
    table.rest = " more environments".into();
    for environment in environments {
        let text = |fact: Option<&String>| fact.map_or("not recorded".into(), |text| name(text));
        table.row(vec![
            text(environment.gpu.as_ref()),
            text(environment.model.as_ref()),
            text(environment.os.as_ref()),
            text(environment.instruments_version.as_ref()),
            match of {
                Of::Variants => variants(&environment.of),
                Of::Recordings => count(environment.of.len() as u64),
            },
        ]);
    }

    Some(Section::new("environment", "Environment", 2).with(Block::Table(table)))
}

fn variants(of: &[String]) -> Message {
    let named = of.iter().take(NAMED).map(|report| name(report));
    let named = Message::joined(named, ", ");
    match of.len().saturating_sub(NAMED) as u64 {
        0 => named,
        more => message!("{} and {} more", named, count(more)),
    }
}
