//! Collects the parts of the window as strips: the steps, and the phases that the process named with
//! signposts.

use std::borrow::Cow;
use std::collections::HashMap;

use metalens_analyzer::{Analysis, StateInterval};

use crate::palette::Palette;
use crate::strip::{Band, BandItem, BandKind};

/// Number of nested phases that are drawn; deeper ones are counted.
const DEPTH: usize = 3;

/// Returns the strips, outermost phases first.
pub(crate) fn bands<'a>(analysis: &'a Analysis, palette: &Palette) -> Vec<Band<'a>> {
    let steps = steps(analysis, palette);
    steps.into_iter().chain(named(analysis, palette)).collect()
}

/// Returns the steps, and what runs once between them; `None` if none are known.
fn steps<'a>(analysis: &Analysis, palette: &Palette) -> Option<Band<'a>> {
    let name = &analysis.report.steps.first()?.name;
    let steps = analysis.steps();
    let items = steps.into_iter().enumerate().map(|(place, step)| BandItem {
        start_ns: step.start_ns,
        end_ns: step.end_ns,
        kind: if step.what == "once" {
            0
        } else {
            1 + place % 2
        },
        name: Cow::Owned(step.what),
    });
    let legends = [
        "runs once".to_owned(),
        format!("{name}s"),
        format!("{name}s"),
    ];
    let fills = [palette.once, palette.phases[0], palette.phases[1]];
    let kinds = fills
        .into_iter()
        .zip(legends)
        .map(|(fill, legend)| BandKind {
            fill,
            legend: Some(legend),
        });
    Some(Band {
        items: items.collect(),
        kinds: kinds.collect(),
        ..Band::new("Steps")
    })
}

/// Returns the process's signposts in rows without overlap.
fn named<'a>(analysis: &'a Analysis, palette: &Palette) -> Vec<Band<'a>> {
    let mut rows: Vec<Band<'a>> = Vec::new();
    let mut shades: HashMap<&str, usize> = HashMap::new();
    let mut hidden = 0_u64;
    for phase in analysis.named_phases() {
        let next = shades.len() % palette.phases.len();
        let kind = *shades.entry(&phase.what).or_insert(next);
        let is_free = |row: &Band<'_>| {
            let last = row.items.last();
            last.is_none_or(|last| last.end_ns <= phase.start_ns)
        };

        let free = rows.iter().position(is_free);
        if free.is_none() && rows.len() < DEPTH {
            rows.push(row(rows.is_empty(), palette));
        }

        let at = free.unwrap_or(rows.len().saturating_sub(1));
        match rows.get_mut(at).filter(|row| is_free(row)) {
            Some(row) => row.items.push(item(phase, kind)),
            None => hidden += 1,
        }
    }
    if let Some(last) = rows.last_mut().filter(|_| hidden > 0) {
        last.name = format!("+{hidden} nested");
    }
    rows
}

fn row<'a>(is_first: bool, palette: &Palette) -> Band<'a> {
    let kinds = palette.phases.map(|fill| BandKind { fill, legend: None });
    Band {
        kinds: kinds.into(),
        is_cut: true,
        has_share: is_first,
        ..Band::new(if is_first { "Signposts" } else { "" })
    }
}

fn item(phase: &StateInterval, kind: usize) -> BandItem<'_> {
    BandItem {
        start_ns: phase.start_ns,
        end_ns: phase.end_ns,
        name: Cow::Borrowed(&phase.what),
        kind,
    }
}
