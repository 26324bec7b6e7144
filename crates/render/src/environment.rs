//! Builds the table of the environments in which recordings were made.

use metalens_analyzer::message::{count, name};
use metalens_analyzer::{FrameworkVersion, Message, message};
use metalens_comparison::Environment;

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
    /// Recordings of an index, which are counted.
    Recordings,
    /// Runs of a dataset, which are counted. A dataset does not have the frameworks.
    Runs,
}

/// Returns the table of environments; nothing without any.
pub(crate) fn section(environments: &[Environment], of: Of) -> Option<Section> {
    if environments.is_empty() {
        return None;
    }
    let mut columns = vec![
        Column::name("chip"),
        Column::label("Mac").spare(2),
        Column::label("system"),
        Column::label("Instruments").spare(1),
    ];
    if of != Of::Runs {
        columns.push(Column::label("frameworks"));
    }
    columns.push(match of {
        Of::Variants => Column::label("variants"),
        Of::Recordings | Of::Runs => Column::number("recordings"),
    });
    let caption = "Chip, system, version of Instruments, and frameworks where the program lives";
    let table = Table::new("environment", caption, columns);
    let mut table = table.limited(MOST, usize::MAX);
    table.rest = " more environments".into();
    for one in environments {
        let text = |fact: Option<&String>| fact.map_or("not recorded".into(), |text| name(text));
        let mut cells = vec![
            text(one.gpu.as_ref()),
            text(one.model.as_ref()),
            text(one.os.as_ref()),
            text(one.instruments_version.as_ref()),
        ];
        if of != Of::Runs {
            cells.push(frameworks(one.frameworks.as_deref()));
        }
        cells.push(match of {
            Of::Variants => variants(&one.of),
            Of::Recordings | Of::Runs => count(one.of.len() as u64),
        });
        table.row(cells);
    }

    let section = Section::new("environment", "Environment", 2).with(Block::Table(table));
    let is_known = environments.iter().any(|one| one.frameworks.is_some());
    let remark = if of == Of::Runs {
        Some("A dataset does not have the versions of frameworks")
    } else if is_known {
        Some(
            "Frameworks are those in the environment of the program when it was recorded; it may \
             not use all of them",
        )
    } else {
        None
    };
    Some(section.with_some(remark.map(|text| Block::Remark(text.into()))))
}

/// Returns frameworks with their versions, such as `mlx 0.29.1, torch 2.6.0`.
pub(crate) fn frameworks(known: Option<&[FrameworkVersion]>) -> Message {
    match known {
        None => "not known".into(),
        Some([]) => "none found".into(),
        Some(known) => {
            let all = known
                .iter()
                .map(|one| name(&format!("{} {}", one.package, one.version)));
            Message::joined(all, ", ")
        }
    }
}

fn variants(of: &[String]) -> Message {
    let named = of.iter().take(NAMED).map(|one| name(one));
    let named = Message::joined(named, ", ");
    match of.len().saturating_sub(NAMED) as u64 {
        0 => named,
        more => message!("{} and {} more", named, count(more)),
    }
}
