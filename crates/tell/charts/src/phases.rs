//! Collects the parts of the window as strips: warm-up and segments, and the phases that the
//! process named with signposts.
//!
//! Iterations are not drawn: their number and length are certain, but not where each begins.

use std::borrow::Cow;
use std::collections::HashMap;

use metalens_analyzer::{Analysis, StateInterval};
use metalens_text::units::short_time;

use crate::palette::Palette;
use crate::strip::{Band, BandItem, BandKind};

/// Number of nested phases that are drawn; deeper ones are counted.
const DEPTH: usize = 3;

/// Returns the strips, outermost phases first.
pub(crate) fn bands<'a>(analysis: &'a Analysis, palette: &Palette) -> Vec<Band<'a>> {
    let parts = parts(analysis, palette);
    parts.into_iter().chain(named(analysis, palette)).collect()
}

/// Returns warm-up and segments, if there is more than one part.
fn parts<'a>(analysis: &Analysis, palette: &Palette) -> Option<Band<'a>> {
    let (report, window) = (&analysis.report, &analysis.report.window);
    let warm_up = report.phases.warm_up.as_ref();
    let warm_until = warm_up
        .map(|warm_up| warm_up.end_ns.min(window.end_ns))
        .filter(|&end| end > window.start_ns);
    let segments = segments(analysis);
    if warm_until.is_none() && segments.len() < 2 {
        return None;
    }

    let item = |start_ns, end_ns, kind, name: String| BandItem {
        start_ns,
        end_ns,
        name: Cow::Owned(name),
        kind,
    };

    let warm = warm_until.map(|end| item(window.start_ns, end, 0, "warm-up".to_owned()));
    let cold = warm_until.unwrap_or(window.start_ns);
    let several = segments.len() > 1;
    let pause = short_time(report.phases.segments.quiet_gap_ns);
    let legend = if several {
        format!("segments, with pauses of {pause} or more between them")
    } else {
        "steady".to_owned()
    };
    let rest = segments.into_iter().enumerate();
    let rest = rest.map(|(at, (start, end))| {
        let name = if several {
            format!("segment {}", at + 1)
        } else {
            "steady".to_owned()
        };
        item(start.max(cold), end, 1 + at % 2, name)
    });
    let rest = rest.filter(|item| item.start_ns < item.end_ns);

    Some(Band {
        items: warm.into_iter().chain(rest).collect(),
        kinds: [
            (palette.warm_up, "warm-up"),
            (palette.phases[0], &legend),
            (palette.phases[1], &legend),
        ]
        .map(|(fill, legend)| BandKind {
            fill,
            legend: Some(legend.to_owned()),
        })
        .into(),
        ..Band::new("Segments")
    })
}

/// Returns the stretches between the quiet gaps.
fn segments(analysis: &Analysis) -> Vec<(u64, u64)> {
    let window = &analysis.report.window;
    let quiet_ns = analysis.report.phases.segments.quiet_gap_ns;
    let mut at = window.start_ns;
    let mut segments = Vec::new();
    let quiet = analysis.gap_times().filter(|gap| gap.1 - gap.0 >= quiet_ns);
    for (start, end) in quiet.chain([(window.end_ns, window.end_ns)]) {
        if start > at {
            segments.push((at, start));
        }
        at = end;
    }
    segments
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
