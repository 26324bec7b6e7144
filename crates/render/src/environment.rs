//! Builds the table of the environments in which recordings were made.

use metalens_analyzer::message::{count, name};
use metalens_analyzer::{FrameworkVersion, Message, message};
use metalens_comparison::Environment;

use crate::document::{Block, Column, Section, Table};

/// Largest number of environments on a page of text.
const MOST: usize = 30;
/// Largest number of variants that are named in a cell.
const NAMED: usize = 3;

/// Returns the environments: of a benchmark with the names of the variants, of an index with the
/// numbers of recordings; nothing without any.
pub(crate) fn section(environments: &[Environment], is_of_variants: bool) -> Option<Section> {
    if environments.is_empty() {
        return None;
    }
    let columns = vec![
        Column::name("chip"),
        Column::label("Mac").spare(2),
        Column::label("system"),
        Column::label("Instruments").spare(1),
        Column::label("frameworks"),
        if is_of_variants {
            Column::label("variants")
        } else {
            Column::number("recordings")
        },
    ];
    let caption = "Chip, system, version of Instruments, and frameworks where the program lives";
    let table = Table::new("environment", caption, columns);
    let mut table = table.limited(MOST, usize::MAX);
    table.rest = " more environments".into();
    for one in environments {
        let text = |fact: Option<&String>| fact.map_or("not recorded".into(), |text| name(text));
        table.row([
            text(one.gpu.as_ref()),
            text(one.model.as_ref()),
            text(one.os.as_ref()),
            text(one.instruments_version.as_ref()),
            frameworks(one.frameworks.as_deref()),
            if is_of_variants {
                variants(&one.of)
            } else {
                count(one.of.len() as u64)
            },
        ]);
    }

    let section = Section::new("environment", "Environment", 2).with(Block::Table(table));
    let is_known = environments.iter().any(|one| one.frameworks.is_some());
    let remark = is_known.then(|| {
        Block::Remark(
            "Frameworks are those in the environment of the program when it was recorded; it may \
             not use all of them"
                .into(),
        )
    });
    Some(section.with_some(remark))
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
