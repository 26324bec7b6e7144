//! Builds the document of a comparison.

mod brief;
mod circumstances;
mod figures;
mod kernels;
pub(crate) mod pictures;

use metalens_analyzer::id;
use metalens_comparison::{Comparison, Number, Unit, last_name, sentences};
use metalens_message::{Message, Ns, Value, counted, message};

use crate::bars::bar;
use crate::cells::{paths, verdict};
use crate::document::{Block, Chart, Column, Document, Drawing, Section, Table};
use crate::gate;
use crate::wording::{first_sentence, plain};
pub use brief::brief;
use circumstances::{SAID, comparable, remarks};

/// The figures that are drawn as bars where there is no picture: the duration, the work and the
/// idle time in it.
const DRAWN: [&str; 3] = [id!(window.span_ns), id!(busy.busy_ns), id!(gaps.total_ns)];
/// Rows of each table of what changed in a comment; the folded tables have the others.
const MOST_CHANGED: usize = 6;
/// Length of the longest bar of the drawing.
const BAR: usize = 32;

/// Returns the document of one comparison. Folders are left out unless `show_names`.
pub fn document(comparison: &Comparison, show_names: bool) -> Document {
    let comparison = &shown(comparison, show_names);
    let sections = if comparison.is_refused() {
        vec![Some(opening(comparison)), Some(comparable(comparison))]
    } else {
        vec![
            Some(opening(comparison)),
            picture(comparison),
            comparison.gate.as_ref().map(gate::section),
            Some(changes(comparison)),
            figures::difference_of_runs(comparison),
            figures::per_unit(comparison),
            Some(kernels::kernels(comparison)),
            figures::idle(comparison),
            Some(figures::figures(comparison)),
            Some(comparable(comparison)),
        ]
    };
    let (base, new) = (paths(&comparison.base), paths(&comparison.new));
    Document {
        title: message!("GPU comparison: {} → {}", base, new),
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}, {}. Figures are exact in comparison.json; here they are rounded.",
            env!("CARGO_PKG_VERSION"),
            comparison.schema
        )),
    }
}

/// Returns what a reader of a pull request looks at: the verdict, the picture, the limits that failed, what
/// changed. What did not change is folded.
pub fn for_comment(comparison: &Comparison, show_names: bool) -> Document {
    let mut whole = document(comparison, show_names);
    let comparison = &shown(comparison, show_names);
    let moved = [
        kernels::changed_in_short(comparison),
        figures::changed(comparison),
        figures::idle_changed(comparison),
    ];
    // They say in other words what these do.
    let others = ["changes", "difference", "idle"];
    let has_kernels = moved.first().is_some_and(Option::is_some);
    whole
        .sections
        .retain(|section| !others.contains(&section.id));
    for section in &mut whole.sections {
        section.is_folded |= ["kernels", "figures", "comparable"].contains(&section.id);
        if section.id == "kernels" {
            let all = counted(comparison.kernels.len() as u64, "kernel");
            section.title = if has_kernels {
                message!("All {}", all)
            } else {
                message!("{}: none changed by more than noise", all)
            };
            for table in section.tables_mut() {
                table.has_preview = false;
            }
        }
    }
    // The headline says it, too.
    let gone = comparison.notes.iter().find(|note| note.id == SAID);
    for section in &mut whole.sections {
        let is_said =
            |block: &Block| gone.is_some_and(|gone| *block == Block::Warning(gone.message.clone()));
        section.blocks.retain(|block| !is_said(block));
    }
    let open = whole.sections.iter();
    let open = open.take_while(|section| ["verdict", "gate", "picture"].contains(&section.id));
    let mut folded = whole.sections.split_off(open.count());
    for mut section in moved.into_iter().flatten() {
        for table in section.tables_mut() {
            table.has_preview = false;
            table.rows.truncate(MOST_CHANGED);
            merge_changes(table);
        }
        // Open, whatever its order of being left out.
        section.priority = section.priority.min(4);
        whole.sections.push(section);
    }
    whole.sections.append(&mut folded);
    whole
}

/// Puts a change and its share of base into one column: a line of a comment is short. Of a share, only
/// its change in points is known.
fn merge_changes(table: &mut Table) {
    let is_change = |column: &Column| column.key == "change";
    let Some(at) = table.columns.iter().position(is_change) else {
        return;
    };
    if let Some(share) = table.columns.get_mut(at + 1) {
        share.heading = "change".into();
    }
    table.columns.remove(at);
    for row in &mut table.rows {
        let by = row.remove(at);
        if let Some(share) = row.get_mut(at).filter(|share| share.text.text.is_empty()) {
            *share = by;
        }
    }
}

/// Returns the opening section: the headline, and the facts that belong right below it.
fn opening(comparison: &Comparison) -> Section {
    let gate = comparison.gate.as_ref().map(gate::verdict_line);
    let section = Section::new("verdict", "", 0)
        .with_some(gate)
        .with_all(headline(comparison));
    section.with_all(remarks(comparison))
}

/// Returns the headline: how the time changed, and apart from it what else differs.
fn headline(comparison: &Comparison) -> impl Iterator<Item = Block> {
    let headline = comparison.headline.with_short_kernels();
    let (first, rest) = first_sentence(&headline);
    let rest = (!rest.text.is_empty()).then_some(Block::Text(rest));
    [Block::Lead(first)].into_iter().chain(rest)
}

fn picture(comparison: &Comparison) -> Option<Section> {
    let metrics = DRAWN.iter().filter_map(|id| {
        let metric = comparison.metrics.iter().find(|metric| metric.id == *id)?;
        let (base, new) = (metric.change.base_value()?, metric.change.new_value()?);
        Some((metric.name.as_str(), base, new))
    });
    let metrics: Vec<(&str, Number, Number)> = metrics.collect();
    let sides = metrics
        .iter()
        .flat_map(|&(_, base, new)| [base, new].map(|ns| Ns(ns.to_whole())));
    let longest = sides.max()?;
    let names = metrics.iter().map(|(name, ..)| name.chars().count());
    let names = names.max().unwrap_or(0);
    let lines = metrics.iter().flat_map(|&(name, base, new)| {
        [(name, "base", base), ("", "new", new)].map(|(name, side, value)| {
            let time = sentences::value(value, Unit::Ns).text;
            let label = format!("{name:<names$}  {side:<4}  {time:>8}");
            (label, bar(Ns(value.to_whole()), longest, BAR))
        })
    });

    let chart = Chart {
        id: "compare".to_owned(),
        drawing: Drawing::Lines(lines.collect(), String::new()),
    };
    let section = Section::new("picture", "Time at a glance", 2);
    Some(section.with(Block::Chart(chart)))
}

fn changes(comparison: &Comparison) -> Section {
    let columns = vec![
        Column::name("quantity").headed(""),
        Column::words("change"),
        Column::sentence("details"),
    ];
    let mut table = Table::new("changes", "Changes in four quantities", columns);
    for moved in &comparison.moved {
        let mut metrics = comparison.metrics.iter();
        let metric = metrics.find(|metric| metric.id == moved.what.id());
        let change = metric.map(|metric| &metric.change);
        table.row([
            moved.what.name().into(),
            change.map_or_else(|| "".into(), |change| verdict(change, moved.class, None)),
            moved.says.clone().into(),
        ]);
    }
    Section::new("changes", "Changes", 0).with(Block::Table(table))
}

/// Returns the comparison with sentences that name no folders, unless `show_names`: pages are
/// posted.
pub fn shown(comparison: &Comparison, show_names: bool) -> Comparison {
    let mut comparison = comparison.clone();
    if show_names {
        return comparison;
    }
    for message in comparison.messages_mut() {
        let is_hidden =
            message.rewrite(|value| (value.value == Value::Path).then(|| last_name(&value.text)));
        // In an edited sentence, nobody knows where a path stands.
        if !is_hidden && message.text.contains('/') {
            *message = Message::from("(left out)");
        }
    }
    let sides = [&mut comparison.base, &mut comparison.new];
    for run in sides.into_iter().flat_map(|side| &mut side.runs) {
        run.path = last_name(&run.path);
    }
    comparison
}
