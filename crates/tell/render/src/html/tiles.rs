//! Builds the tiles at the top of a report's page: its figures, to be read in one glance.

use metalens_analyzer::Report;
use metalens_message::{Ns, factor, percent, steps_per_second, time};
use metalens_text::units::capital;

use super::blocks::stacked;
use super::escape::escaped;
use crate::wording::{plain, share, unbroken};

/// Returns the tiles: how fast, how busy, why idle, what to change, at which clock. One without content is left
/// out. The first leads to the section with this id.
pub(super) fn tiles(report: &Report, busy_section: &str) -> String {
    let tiles = [
        rate(report),
        busy(report, busy_section),
        idle(report),
        win(report),
        clock(report),
    ];
    let tiles: String = tiles.into_iter().flatten().collect();
    format!("<div class=\"tiles\">\n{tiles}</div>\n")
}

/// Returns a tile that leads to a section.
fn tile(to: &str, name: &str, figure: &str, below: &str) -> String {
    format!(
        "<a class=\"tile\" href=\"#{to}\"><span>{name}</span><b>{figure}</b>{below}</a>\n",
        to = escaped(to)
    )
}

/// Returns the rate of the steps, and the usual length of one.
fn rate(report: &Report) -> Option<String> {
    let main = report.steps.first()?;
    let figure = unbroken(&steps_per_second(main.per_second?));
    let usual_ns = main.kinds.first()?.median_ns;
    let usual = usual_ns.map_or_else(String::new, |ns| {
        format!("<small>median {}</small>", unbroken(&time(ns)))
    });
    let name = format!("{}s a second", escaped(&capital(&main.name)));
    Some(tile("step", &name, &figure, &usual))
}

/// Returns the busy share, of the window and of the whole recording.
fn busy(report: &Report, section: &str) -> Option<String> {
    let figure = unbroken(&percent(report.busy.ratio?));
    let window = unbroken(&time(report.window.span_ns));
    let mut below = format!("<small>from first to last work ({window})</small>");
    let efficiency = &report.efficiency;
    let others = [
        (
            efficiency.of_program,
            efficiency.program_ns,
            "from first encoding to last completion",
        ),
        (
            efficiency.of_wall,
            efficiency.wall_ns,
            "of the whole recording",
        ),
    ];
    for (share, ns, name) in others {
        if let (Some(share), Some(ns)) = (share, ns) {
            let (share, ns) = (unbroken(&percent(share)), unbroken(&time(ns)));
            below += &format!("<small>{share} {name} ({ns})</small>");
        }
    }
    Some(tile(section, "GPU busy", &figure, &below))
}

/// Returns the idle time as a bar of its causes.
fn idle(report: &Report) -> Option<String> {
    let parts = report.idle.parts.largest_first();
    let (cause, ns) = *parts.first()?;
    let figure = unbroken(&time(report.idle.total_ns));
    let most = unbroken(&share(ns, report.idle.total_ns));
    let below = format!(
        "{}<small>{most} {}</small>",
        stacked(&parts),
        escaped(cause.label())
    );
    Some(tile("idle", "GPU idle", &figure, &below))
}

/// Returns the finding whose action gains the most.
fn win(report: &Report) -> Option<String> {
    let finding = report
        .findings
        .iter()
        .filter(|finding| finding.gain.is_some());
    let finding = finding.max_by_key(|finding| finding.gain.map_or(Ns(0), |gain| gain.saves_ns))?;
    let gained = finding.gain?;
    let certainty = gained.certainty.words();
    let figure = format!("{}× faster", unbroken(&factor(gained.speedup)));
    let below = format!("<small>{certainty}: {}</small>", escaped(&finding.action));
    let to = format!("finding-{}", finding.id);
    Some(tile(&to, "Biggest win", &figure, &below))
}

/// Returns the performance state in which the GPU did most of its work.
fn clock(report: &Report) -> Option<String> {
    let states = report.machine.performance.as_ref()?.states.iter();
    let state = states.max_by_key(|state| state.busy_ns)?;
    let busy = unbroken(&percent(state.busy_share?));
    let below = format!("<small>{busy} of the busy time</small>");
    let name = escaped(&capital(&plain(&state.state).text));
    Some(tile("machine", "GPU clock", &name, &below))
}
