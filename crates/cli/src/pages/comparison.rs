//! `comparison.md`: a comparison filled into `templates/comparison.md`.

use anyhow::Context;
use metalens_comparison::{
    Change, Class, Comparison, Direction, GateRow, GateVerdict, Number, Severity, SideFacts, Unit,
    words,
};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, context};

use super::markdown::{Shown, escaped};
use crate::screen::comparison::gate;

const TEMPLATE: &str = include_str!("../../../../templates/comparison.md");
/// Kernels beyond this many are counted.
const KERNELS: usize = 30;
/// A kernel that a side does not have.
const ABSENT: &str = "–";
/// Rows of a gate beyond this many are counted.
const ROWS: usize = 30;

/// A comparison as Markdown, with its picture if there is one; ends with a newline.
/// Folders are left out unless `show_names`.
pub(crate) fn comparison(
    comparison: &Comparison,
    show_names: bool,
    picture: Option<&Shown>,
) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Custom("markdown"));
    pages.set_formatter(escaped);
    pages.set_keep_trailing_newline(true);
    pages
        .add_template("comparison.md", TEMPLATE)
        .context("templates/comparison.md is broken")?;
    let page = pages
        .get_template("comparison.md")
        .and_then(|page| page.render(contents(comparison, show_names, picture, KERNELS, ROWS)));
    page.context("cannot fill templates/comparison.md")
}

/// What a page is filled from, with so many kernels and limits at most.
pub(super) fn contents(
    comparison: &Comparison,
    show_names: bool,
    picture: Option<&Shown>,
    most_kernels: usize,
    most_rows: usize,
) -> Value {
    let moved = comparison.moved.iter().map(|moved| {
        let (what, class) = (moved.what.name(), words::class(moved.class));
        context! { what, class, says => moved.says.as_str() }
    });
    let rows = comparison.metrics.iter().map(|metric| {
        let group = Value::from_serialize(metric.group);
        let class = class(metric.change.class, metric.change.direction);
        let more = context! { group, class };
        row(&metric.name, &metric.change, metric.unit, "unknown", more)
    });
    let kernels = comparison.kernels.iter().take(most_kernels).map(|kernel| {
        let class = class(kernel.class, kernel.direction);
        let channel = kernel.channel.as_deref();
        let instances = before_and_after(&kernel.instances, Unit::Count);
        let median = before_and_after(&kernel.med_ns, Unit::Ns);
        let more = context! { class, channel, instances, median };
        row(&kernel.name, &kernel.total_ns, Unit::Ns, ABSENT, more)
    });
    let picture =
        picture.map(|one| context! { path => one.path.as_str(), alt => one.alt.as_str() });
    context! {
        headline => comparison.headline.as_str(),
        fusion => Value::from_serialize(&comparison.fusion),
        notes => Value::from_serialize(&comparison.notes),
        method => comparison.method.says.as_str(),
        comparable => Value::from_serialize(&comparison.comparable),
        differ => comparison.comparable.differ.iter().map(ToString::to_string).collect::<Vec<_>>(),
        moved => moved.collect::<Vec<_>>(),
        rows => rows.collect::<Vec<_>>(),
        kernels => kernels.collect::<Vec<_>>(),
        more_kernels => comparison.kernels.len().saturating_sub(most_kernels),
        gate => gate_contents(comparison, show_names, most_rows),
        base => side(&comparison.base, show_names),
        new => side(&comparison.new, show_names),
        picture,
        version => env!("CARGO_PKG_VERSION"),
        schema => comparison.schema.as_str(),
    }
}

/// `absent` is the word for a side without a value.
fn row(name: &str, change: &Change, unit: Unit, absent: &str, more: Value) -> Value {
    let said = |value: Option<Number>| {
        value.map_or_else(|| absent.to_owned(), |value| words::value(value, unit))
    };
    let by = change.absolute;
    let by = by.map_or_else(|| "–".to_owned(), |by| words::difference(by, unit));
    let share = match unit {
        Unit::Ratio => String::new(),
        _ => words::share(change),
    };
    let spread = |side: &metalens_comparison::Side| match (side.min, side.max) {
        (Some(least), Some(most)) if side.values.len() > 1 => {
            let (least, most) = (words::value(least, unit), words::value(most, unit));
            if least == most {
                String::new()
            } else {
                format!("{least} … {most}")
            }
        }
        _ => String::new(),
    };
    let is_nothing = change.class == Class::Unchanged
        && [change.base.max, change.new.max]
            .iter()
            .all(|one| one.is_some_and(|one| one.get() == 0.0));
    context! {
        name,
        base => said(change.base.median),
        new => said(change.new.median),
        base_range => spread(&change.base),
        new_range => spread(&change.new),
        by,
        share,
        is_nothing,
        ..more
    }
}

fn before_and_after(change: &Change, unit: Unit) -> String {
    let said = |value: Option<Number>| {
        value.map_or_else(|| ABSENT.to_owned(), |value| words::value(value, unit))
    };
    let (was, now) = (said(change.base.median), said(change.new.median));
    if was == now {
        now
    } else {
        format!("{was} → {now}")
    }
}

fn class(class: Class, direction: Option<Direction>) -> String {
    let word = words::class(class);
    match direction {
        Some(Direction::Better) => format!("{word}, better"),
        Some(Direction::Worse) => format!("{word}, worse"),
        None => word.to_owned(),
    }
}

fn gate_contents(comparison: &Comparison, show_names: bool, most: usize) -> Option<Value> {
    let found = comparison.gate.as_ref()?;
    let open = found
        .rows
        .iter()
        .filter(|row| row.verdict != GateVerdict::Pass);
    let open: Vec<&GateRow> = open.collect();
    let rows = open.iter().take(most).map(|row| {
        context! {
            name => gate::name(row),
            limit => gate::limit(row),
            found => gate::found(row),
            beyond => gate::beyond(row),
            why => row.why.as_str(),
            verdict => match (row.verdict, row.severity) {
                (GateVerdict::Miss, Severity::Error) => "MISSED",
                (GateVerdict::Miss, Severity::Warn) => "warning",
                _ => "not measurable",
            },
        }
    });
    Some(context! {
        missed => found.missed,
        source => match show_names {
            true => found.source.clone(),
            false => without_folders(&found.source),
        },
        open => open.len(),
        rows => rows.collect::<Vec<_>>(),
        more => open.len().saturating_sub(most),
        tally => gate::tally(found),
    })
}

/// Pages are posted: what a path begins with is nobody's business.
fn side(side: &SideFacts, show_names: bool) -> String {
    let runs = side.runs.iter().map(|run| match show_names {
        true => run.path.clone(),
        false => last_name(&run.path),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// `[gate] of /home/…/metalens.toml` without the folders.
fn without_folders(source: &str) -> String {
    match source.split_once(" of ") {
        Some((what, path)) => format!("{what} of {}", last_name(path)),
        None => source.to_owned(),
    }
}

fn last_name(path: &str) -> String {
    let name = std::path::Path::new(path).file_name();
    name.map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
