//! Builds the section on phases: warm-up, segments, iterations, and phases that programs named.

use metalens_analyzer::message::{Value, count, moment, name, number, percent, process, time};
use metalens_analyzer::{Message, Phases, Report, message};

use crate::document::{Block, Column, Fact, Section, Table};
use crate::wording::known;

/// Largest numbers of named phases on screens and pages, and on interactive pages.
const NAMED: (usize, usize) = (10, 50);

/// Returns the phases; `None` if there are none.
pub(super) fn phases(report: &Report) -> Option<Section> {
    let phases = &report.phases;
    let facts = Block::facts(facts(phases));
    let named = (!phases.signposts.is_empty()).then(|| Block::Table(named(phases)));
    if facts.is_none() && named.is_none() {
        return None;
    }
    let section = Section::new("phases", "Phases", 7);
    Some(section.with_some(facts).with_some(named))
}

fn facts(phases: &Phases) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(warm_up) = &phases.warm_up {
        let done = if warm_up.skipped {
            "cut off"
        } else {
            "counted here (--skip-warmup cuts it off)"
        };
        let text = message!(
            "until {}, {}: {}; the GPU was busy {} without it, {} with it",
            moment(warm_up.end_ns),
            done,
            Message::new(&warm_up.explanation, &warm_up.explanation_values),
            known(warm_up.steady.ratio, percent),
            known(warm_up.whole.ratio, percent),
        );
        facts.push(Fact::new("warm-up", text));
    }
    if phases.segments.count > 1 {
        let quiet = time(phases.segments.quiet_gap_ns);
        let text = message!(
            "{}, separated by gaps of {} or more",
            count(phases.segments.count),
            quiet
        );
        facts.push(Fact::new("segments", text));
    }
    if let Some(found) = &phases.iterations {
        let drift = found.drift_pct.map(|drift| {
            let value = |drift: f64| Value::Change {
                change: drift / 100.0,
            };
            message!(", drift {}", number(format!("{drift:+.1} %"), drift, value))
        });
        let text = message!(
            "{}, {} each (from {} to {}), with {} of GPU time in each{}",
            count(found.count),
            time(found.median_period_ns),
            time(found.min_period_ns),
            time(found.max_period_ns),
            time(found.median_busy_ns),
            drift,
        );
        facts.push(Fact::new("iterations", text));
    }
    facts
}

fn named(phases: &Phases) -> Table {
    let (short, long) = NAMED;
    let columns = vec![
        Column::name("phase (os_signpost)"),
        Column::number("count"),
        Column::number("total"),
        Column::number("med"),
        Column::number("GPU busy"),
        Column::label("process").spare(1),
    ];
    let table = Table::new("signposts", "Phases that programs named", columns);
    let mut table = table.sortable().limited(short, long);
    for one in &phases.signposts {
        let owner = one.process.as_deref().unwrap_or("-");
        table.row([
            name(&one.name),
            count(one.count),
            time(one.total_ns),
            known(one.median_ns, time),
            known(one.ratio, percent),
            process(owner, one.is_analyzed),
        ]);
    }
    table
}
