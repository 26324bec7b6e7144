//! `comparison.md`: a comparison filled into `templates/comparison.md`.

use anyhow::Context;
use metalens_analyzer::message::Value::Path;
use metalens_comparison::{
    Change, Class, Comparison, GateRow, GateSeverity, GateVerdict, Number, SideFacts, Unit, format,
};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, context};

use super::markdown::{Shown, escaped};
use crate::screen::comparison::gate;

const TEMPLATE: &str = include_str!("../../../../templates/comparison.md");
/// How this page shows a comparison.
const FORM: Form = Form {
    kernels: 30,
    limits: 30,
    number: str::to_owned,
};
/// A kernel that a side does not have.
const ABSENT: &str = "–";

/// How a page shows a comparison.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Kernels beyond this many are counted.
    pub(super) kernels: usize,
    /// Rows of a gate beyond this many are counted.
    pub(super) limits: usize,
    /// How a number with its unit is written.
    pub(super) number: fn(&str) -> String,
}

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
        .and_then(|page| page.render(contents(comparison, show_names, picture, FORM)));
    page.context("cannot fill templates/comparison.md")
}

/// What a page is filled from.
pub(super) fn contents(
    comparison: &Comparison,
    show_names: bool,
    picture: Option<&Shown>,
    form: Form,
) -> Value {
    let comparison = &shown_comparison(comparison, show_names);
    let moved = comparison.moved.iter().map(|moved| {
        let what = moved.what.name();
        let class = format::class(moved.class, moved.direction());
        context! { what, class, says => moved.says.as_str() }
    });
    let rows = comparison.metrics.iter().map(|metric| {
        let group = Value::from_serialize(metric.group);
        let class = format::class(metric.change.class, metric.change.direction);
        let more = context! { group, class };
        row(
            &metric.name,
            (&metric.change, metric.unit, "unknown"),
            form,
            more,
        )
    });
    let kernels = comparison.kernels.iter().take(form.kernels).map(|kernel| {
        let class = format::class(kernel.class, kernel.direction);
        let channel = kernel.channel.as_deref();
        let instances = before_and_after(&kernel.instances, Unit::Count, form);
        let median = before_and_after(&kernel.med_ns, Unit::Ns, form);
        let more = context! { class, channel, instances, median };
        row(
            &kernel.name,
            (&kernel.total_ns, Unit::Ns, ABSENT),
            form,
            more,
        )
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
        more_kernels => comparison.kernels.len().saturating_sub(form.kernels),
        gate => gate_contents(comparison, form),
        base => side(&comparison.base, show_names),
        new => side(&comparison.new, show_names),
        picture,
        version => env!("CARGO_PKG_VERSION"),
        schema => comparison.schema.as_str(),
    }
}

/// `absent` is the word for a side without a value.
fn row(
    name: &str,
    (change, unit, absent): (&Change, Unit, &str),
    form: Form,
    more: Value,
) -> Value {
    let number = form.number;
    let value = |value: Number| number(&format::value(value, unit));
    let said = |known: Option<Number>| known.map_or_else(|| absent.to_owned(), value);
    let by = change.absolute;
    let by = by.map_or_else(
        || "–".to_owned(),
        |by| number(&format::difference(by, unit)),
    );
    let share = match (unit, change.relative) {
        (Unit::Ratio, _) => String::new(),
        (_, None) => format::share(change),
        (_, Some(_)) => number(&format::share(change)),
    };
    let spread = |side: &metalens_comparison::Side| match (side.min, side.max) {
        (Some(least), Some(most)) if side.values.len() > 1 => {
            let (least, most) = (value(least), value(most));
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

fn before_and_after(change: &Change, unit: Unit, form: Form) -> String {
    let value = |value: Number| (form.number)(&format::value(value, unit));
    let said = |known: Option<Number>| known.map_or_else(|| ABSENT.to_owned(), value);
    let (was, now) = (said(change.base.median), said(change.new.median));
    if was == now {
        now
    } else {
        format!("{was} → {now}")
    }
}

fn gate_contents(comparison: &Comparison, form: Form) -> Option<Value> {
    let found = comparison.gate.as_ref()?;
    let open = found
        .rows
        .iter()
        .filter(|row| row.verdict != GateVerdict::Pass);
    let open: Vec<&GateRow> = open.collect();
    let rows = open.iter().take(form.limits).map(|row| {
        context! {
            name => gate::name(row),
            limit => gate::limit(row, form.number),
            found => (form.number)(&gate::found(row)),
            beyond => (form.number)(&gate::beyond(row)),
            why => row.why.as_str(),
            verdict => match (row.verdict, row.severity) {
                (GateVerdict::Miss, GateSeverity::Error) => "MISSED",
                (GateVerdict::Miss, GateSeverity::Warn) => "warning",
                _ => "not measurable",
            },
        }
    });
    Some(context! {
        missed => found.missed,
        source => found.source.as_str(),
        open => open.len(),
        rows => rows.collect::<Vec<_>>(),
        more => open.len().saturating_sub(form.limits),
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

/// A comparison in whose sentences no folders stand, unless `show_names`.
fn shown_comparison(comparison: &Comparison, show_names: bool) -> Comparison {
    let mut comparison = comparison.clone();
    if show_names {
        return comparison;
    }
    let is_typed = comparison.has_values();
    for mut message in comparison.messages_mut() {
        let is_hidden =
            message.rewrite(|value| (value.value == Path).then(|| last_name(&value.text)));
        // An earlier version did not say where in a sentence a path stands.
        if !(is_typed && is_hidden) && message.text.contains('/') {
            "(left out)".clone_into(message.text);
        }
    }
    comparison
}

fn last_name(path: &str) -> String {
    let name = std::path::Path::new(path).file_name();
    name.map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
