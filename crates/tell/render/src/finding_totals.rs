//! Builds the table of findings over many reports, with the effort that their advice takes.

use metalens_analyzer::Severity;
use metalens_comparison::many::FindingTotal;
use metalens_message::{Message, count, message, name, time};

use crate::document::{Block, Cell, Column, Section, Table, Tone};
use crate::wording::{known, plain};

/// Largest number of findings on a page of text.
const MOST: usize = 40;

/// Returns the findings of groups of reports, each with its name and the number of its reports. Only
/// one group without a name needs no column for it. Nothing without a finding.
pub(crate) fn section<'a>(
    groups: impl IntoIterator<Item = (Option<&'a str>, u64, &'a [FindingTotal])>,
    reports: &'static str,
) -> Option<Section> {
    let groups: Vec<_> = groups.into_iter().collect();
    let has_names = groups.iter().any(|(name, ..)| name.is_some());
    let mut columns = vec![
        Column::name("finding"),
        Column::words("severity"),
        Column::words("effort"),
        Column::number(reports),
        Column::number("saves").spare(1),
        Column::sentence("title").spare(2),
    ];
    if has_names {
        columns.insert(0, Column::name("variant"));
    }

    let caption = "Findings, the effort of their first step, and what they save at most";
    let mut table = Table::new("findings", caption, columns)
        .limited(MOST, usize::MAX)
        .sortable();
    table.rest = " more findings".into();
    for (group, all, totals) in &groups {
        for total in *totals {
            let variant = has_names.then(|| Cell::from(name(group.unwrap_or_default())));
            let cells = [
                name(&total.id).into(),
                severity(total.severity),
                total.effort.label().into(),
                of(total.reports, *all).into(),
                known(total.saves_ns, time).into(),
                plain(&total.title).into(),
            ];
            table.row(variant.into_iter().chain(cells));
        }
    }
    if table.rows.is_empty() {
        return None;
    }
    let remark = "Effort is that of the first step: setting (an option or another recording), small \
                  change (code in one place), redesign (another structure or kernel), or investigate \
                  (the reason comes first)";
    let section = Section::new("findings", "Findings and their effort", 3);
    Some(
        section
            .with(Block::Table(table))
            .with(Block::Remark(remark.into())),
    )
}

fn of(part: u64, whole: u64) -> Message {
    message!("{} of {}", count(part), count(whole))
}

fn severity(severity: Severity) -> Cell {
    let (word, tone) = match severity {
        Severity::High => ("HIGH", Tone::Bad),
        Severity::Medium => ("MEDIUM", Tone::Doubtful),
        Severity::Low => ("LOW", Tone::Faint),
        Severity::Caveat => ("CAVEAT", Tone::Faint),
    };
    Cell::verdict(word, tone)
}
