//! Builds the document of several comparisons with one base, side by side.

use metalens_analyzer::message::kernel;
use metalens_analyzer::{Message, message};
use metalens_comparison::format;
use metalens_comparison::sentences::{difference, share};
use metalens_comparison::{Change, ChangeClass, Comparison, KernelChange, Unit};

use super::cells::{ABSENT, is_nothing, paths, value};
use super::circumstances::{comparable, loud_notes, remarks, runs, unknown};
use crate::document::{Block, Column, Document, Section, Table};
use crate::first_screen::{keep_rows, more};
use crate::gate;
use crate::wording::plain;

/// Largest number of comparisons that have room beside each other.
const BESIDE: usize = 4;
/// Largest number of kernels that are shown of each comparison.
const KERNELS: usize = 20;
/// Rows of figures and of kernels on the first screen: of two comparisons, and of more.
const ROWS: [[usize; 2]; 2] = [[7, 3], [3, 2]];

/// Returns the sentences of each comparison, then tables of all.
pub(super) fn document(comparisons: &[Comparison]) -> Document {
    let mut sections = Vec::new();
    for (comparison, number) in comparisons.iter().zip(1_u64..) {
        let section = headline(comparison, number).with_all(remarks(comparison));
        sections.push(section);
        sections.extend(comparison.gate.as_ref().map(gate::section));
    }

    for (at, part) in comparisons.chunks(BESIDE).enumerate() {
        sections.push(figures(part, at * BESIDE, |change| !is_nothing(change)));
        sections.extend(kernels(part, at * BESIDE));
    }
    sections.extend(circumstances(comparisons));

    Document {
        title: "GPU comparison".into(),
        sections,
        footer: Message::default(),
    }
}

/// Returns the circumstances of the first comparison, and those that differ from them.
fn circumstances(comparisons: &[Comparison]) -> Vec<Section> {
    let first = comparisons.first().map(|comparison| &comparison.comparable);
    let others = comparisons.iter().skip(1);
    let others = others.filter(|comparison| Some(&comparison.comparable) != first);
    comparisons
        .iter()
        .take(1)
        .chain(others)
        .map(comparable)
        .collect()
}

/// Returns the first screen: the sentences of each comparison, whose failed limits are on standard
/// error, then what changed in any of them. Remarks on all comparisons alike stand once, below
/// their sentences.
pub(super) fn brief(comparisons: &[Comparison]) -> Document {
    let mut hidden_notes = 0;
    let mut remarks: Vec<Vec<Block>> = Vec::new();
    for comparison in comparisons {
        let (notes, hidden) = loud_notes(comparison);
        let notes = notes.into_iter().map(Block::Warning);
        let others = unknown(comparison).into_iter().chain([runs(comparison)]);
        remarks.push(notes.chain(others).collect());
        hidden_notes += hidden;
    }
    let first = remarks.first().cloned().unwrap_or_default().into_iter();
    let common = first.filter(|remark| remarks.iter().all(|all| all.contains(remark)));
    let common: Vec<Block> = common.collect();

    let mut sections = Vec::new();
    for ((comparison, remarks), number) in comparisons.iter().zip(remarks).zip(1_u64..) {
        let own = remarks
            .into_iter()
            .filter(|remark| !common.contains(remark));
        sections.push(headline(comparison, number).with_all(own));
    }
    sections.push(Section::new("all", "", 0).with_all(common));

    let rows = ROWS[usize::from(comparisons.len() > 2)];
    let mut hidden = [0, 0];
    for (at, part) in comparisons.chunks(BESIDE).enumerate() {
        let mut figures = figures(part, at * BESIDE, Change::is_material);
        let kernels = kernels(part, at * BESIDE);
        hidden[0] += shorten(&mut figures, rows[0]);
        sections.push(figures);
        if let Some(mut kernels) = kernels {
            hidden[1] += shorten(&mut kernels, rows[1]);
            sections.push(kernels);
        }
    }
    let left_out = circumstances(comparisons);
    let counts = [
        (hidden[0], "changed figure"),
        (hidden[1], "kernel"),
        (hidden_notes, "note"),
    ];
    sections.push(more(counts, &left_out, "--json prints every figure"));

    Document {
        sections,
        ..Document::default()
    }
}

/// Leaves the first rows of a section's tables. Returns the number of the others.
fn shorten(section: &mut Section, rows: usize) -> usize {
    section
        .tables_mut()
        .map(|table| keep_rows(table, rows))
        .sum()
}

/// Returns the headline of one of several comparisons, below the verdict of its gate.
fn headline(comparison: &Comparison, number: u64) -> Section {
    let new = message!(
        "new {}: {}",
        plain(number.to_string()),
        paths(&comparison.new)
    );
    Section::new("new", new, 0)
        .with_some(comparison.gate.as_ref().map(gate::verdict_line))
        .with(Block::Lead(comparison.headline.clone()))
}

fn columns(before: usize, count: usize) -> Vec<Column> {
    let mut columns = vec![Column::name(""), Column::number("base")];
    for number in before + 1..=before + count {
        columns.push(Column::number(plain(format!("new {number}"))));
        columns.push(Column::number(""));
    }
    columns
}

/// Returns the table of the figures of each comparison beside base: those of which a change is
/// `shown`.
fn figures(comparisons: &[Comparison], before: usize, shown: fn(&Change) -> bool) -> Section {
    let columns = columns(before, comparisons.len());
    let mut table = Table::new("figures", "Figures of all sides", columns);
    let metrics = comparisons.first().map_or(&[][..], |first| &first.metrics);
    for metric in metrics {
        let changes = comparisons
            .iter()
            .map(|comparison| change(comparison, &metric.id));
        if !changes.clone().flatten().any(shown) {
            continue;
        }
        let cells = changes.flat_map(|change| cells(change, metric.unit, "unknown"));
        let first = [
            plain(&metric.name),
            value(metric.change.base_value(), metric.unit, "unknown"),
        ];
        table.row(first.into_iter().chain(cells));
    }
    let title = "Figures: = is no change that counts, ? is inconclusive";
    Section::new("figures", title, 5).with(Block::Table(table))
}

fn change<'a>(comparison: &'a Comparison, id: &str) -> Option<&'a Change> {
    let mut metrics = comparison.metrics.iter();
    metrics
        .find(|metric| metric.id == id)
        .map(|metric| &metric.change)
}

/// Returns the value of one of several sides, and its change. `absent` is the text for a side
/// without a value.
fn cells(change: Option<&Change>, unit: Unit, absent: &'static str) -> [Message; 2] {
    let Some(change) = change else {
        return [ABSENT.into(), Message::default()];
    };
    // The change of a share is in points, not in percent of percent.
    let by = match (unit, change.absolute) {
        (Unit::Ratio, Some(by)) => difference(by, unit),
        _ => share(change),
    };
    let became = match change.material_class() {
        ChangeClass::Unchanged => "=".into(),
        ChangeClass::Unstable => message!("{} ?", by),
        _ => by,
    };
    [value(change.new_value(), unit, absent), became]
}

/// Returns the table of the kernels of each comparison beside base: in the order of the first
/// comparison, then those that the others add.
fn kernels(comparisons: &[Comparison], before: usize) -> Option<Section> {
    let mut seen: Vec<&KernelChange> = Vec::new();
    let all = comparisons
        .iter()
        .flat_map(|comparison| comparison.kernels.iter().take(KERNELS));
    for kernel in all {
        if !seen.iter().any(|known| is_same(known, kernel)) {
            seen.push(kernel);
        }
    }
    if seen.is_empty() {
        return None;
    }
    let columns = columns(before, comparisons.len());
    let mut table = Table::new("kernels", "Median instance of kernels", columns);
    for listed in seen {
        let was = value(listed.med_ns.base_value(), Unit::Ns, ABSENT);
        let first = [kernel(&listed.name), was];
        let rest = comparisons.iter().flat_map(|side| side_of(side, listed));
        table.row(first.into_iter().chain(rest));
    }
    let section = Section::new("kernels", "Kernels: median instance", 3);
    Some(section.with(Block::Table(table)))
}

fn side_of(comparison: &Comparison, kernel: &KernelChange) -> [Message; 2] {
    let mut kernels = comparison.kernels.iter();
    let found = kernels.find(|own| is_same(own, kernel));
    let [now, became] = cells(found.map(|kernel| &kernel.med_ns), Unit::Ns, ABSENT);
    match found.map(|kernel| kernel.class) {
        Some(class @ (ChangeClass::Added | ChangeClass::Removed)) => {
            [now, format::class(class, None, None, true).into()]
        }
        _ => [now, became],
    }
}

fn is_same(kernel: &KernelChange, other: &KernelChange) -> bool {
    (&kernel.name, &kernel.channel) == (&other.name, &other.channel)
}
