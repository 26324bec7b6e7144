//! Builds the table of the kernels of both sides.

use metalens_comparison::format;
use metalens_comparison::{ChangeClass, Comparison, KernelChange, Unit};
use metalens_message::{Message, kernel, message, name};

use super::MOST_CHANGED;
use crate::cells::{self, ABSENT, before_and_after, class_of_total, difference, value};
use crate::document::{Block, Cell, Column, Section, Table, Tone};
use crate::first_screen::keep_columns;
use crate::wording::plain;

/// Largest number of kernels that screens and pages show.
const KERNELS: usize = 30;
/// Largest number of kernels even where there is room, because nobody reads a longer list.
const MOST_KERNELS: usize = 400;

/// Returns the kernels, the largest change of total time first.
pub(super) fn kernels(comparison: &Comparison) -> Section {
    let all: Vec<&KernelChange> = comparison.kernels.iter().collect();
    section_of(&all)
        .unwrap_or_else(|| empty().with(Block::Text("Neither side has a kernel".into())))
}

/// Returns the kernels that changed by more than noise; nothing if none did.
pub(super) fn changed(comparison: &Comparison) -> Option<Section> {
    let moved = comparison
        .kernels
        .iter()
        .filter(|kernel| is_changed(kernel));
    section_of(&moved.collect::<Vec<_>>())
}

/// Returns the kernels that changed by more than noise, with the columns that differ between them, so
/// that a line is short.
pub(super) fn changed_in_short(comparison: &Comparison) -> Option<Section> {
    let moved = comparison
        .kernels
        .iter()
        .filter(|kernel| is_changed(kernel));
    let moved: Vec<&KernelChange> = moved.collect();
    let shown = moved.get(..MOST_CHANGED).unwrap_or(&moved);
    let mut keys = vec!["kernel", "base", "new", "change", "verdict"];
    let is_counted =
        |kernel: &&KernelChange| kernel.is_one_sided() || kernel.ran_differently_often();
    keys.extend(shown.iter().any(is_counted).then_some("instances"));
    keys.extend(has_ambiguous_names(shown).then_some("channel"));
    let mut section = section_of(&moved)?;
    for table in section.tables_mut() {
        keep_columns(table, &keys);
    }
    Some(section)
}

fn empty() -> Section {
    Section::new(
        "kernels",
        "Kernels, the largest change of total time first",
        3,
    )
}

/// Returns the section with a table of these kernels; nothing if there are none.
fn section_of(kernels: &[&KernelChange]) -> Option<Section> {
    kernels.first()?;
    let columns = vec![
        Column::name("kernel"),
        Column::number("base"),
        Column::number("new"),
        Column::number("change").spare(2),
        Column::number("share").headed(""),
        Column::number("instances").spare(1),
        Column::number("total").spare(3),
        Column::words("verdict").headed(""),
        Column::label("channel").spare(if has_ambiguous_names(kernels) { 2 } else { 4 }),
    ];
    let table = Table::new(
        "kernels",
        "Kernels of both sides, by their median instance",
        columns,
    );
    let table = table.limited(KERNELS, MOST_KERNELS);
    let mut table = table.of(kernels.len());
    table.has_preview = true;
    for kernel in kernels.iter().take(MOST_KERNELS) {
        table.row(row(kernel));
    }
    let rest = kernels.get(KERNELS..).unwrap_or(&[]);
    table.rest = message!(": {}", classes(rest));
    Some(empty().with(Block::Table(table)))
}

/// Returns whether a kernel is on one side only, or its instances changed: their median, their number,
/// or some of them.
fn is_changed(kernel: &KernelChange) -> bool {
    kernel.is_one_sided()
        || kernel.med_ns.is_material()
        || kernel.ran_differently_often()
        || kernel.has_other_tail()
}

fn row(changed: &KernelChange) -> [Cell; 9] {
    let median = &changed.med_ns;
    let [by, share] = difference(median, Unit::Ns);
    let was = changed.channel.as_deref().unwrap_or("-");
    let renamed = changed.renamed.as_ref();
    let new_name = renamed.filter(|new| new.name != changed.name);
    let new_name = new_name.map(|new| message!(" → {}", kernel(&new.name)));
    let channel = renamed.map_or(was, |new| new.channel.as_deref().unwrap_or("-"));
    let channel = if channel == was {
        name(was)
    } else {
        message!("{} → {}", name(was), name(channel))
    };
    [
        message!("{}{}", kernel(&changed.name), new_name).into(),
        value(median.base_value(), Unit::Ns, ABSENT).into(),
        value(median.new_value(), Unit::Ns, ABSENT).into(),
        by.into(),
        share.into(),
        before_and_after(&changed.instances, Unit::Count).into(),
        before_and_after(&changed.total_ns, Unit::Ns).into(),
        verdict(changed),
        channel.into(),
    ]
}

/// Returns the verdict on the median instance; on the number of instances or on the total if only
/// that changed.
fn verdict(kernel: &KernelChange) -> Cell {
    if kernel.is_one_sided() || kernel.med_ns.is_material() {
        cells::verdict(&kernel.med_ns, kernel.class, kernel.direction)
    } else if kernel.ran_differently_often() {
        Cell::verdict("other count", Tone::Strong)
    } else if kernel.has_other_tail() {
        class_of_total(&kernel.total_ns)
    } else {
        cells::verdict(&kernel.med_ns, kernel.class, kernel.direction)
    }
}

fn has_ambiguous_names(kernels: &[&KernelChange]) -> bool {
    let shown = kernels.iter().take(KERNELS);
    let mut names: Vec<&str> = shown.map(|kernel| kernel.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair.first() == pair.last())
}

/// Returns the number of kernels of each class: `3 unchanged, 1 unstable`.
fn classes(kernels: &[&KernelChange]) -> Message {
    let is_sure = kernels
        .iter()
        .any(|kernel| kernel.med_ns.interval.is_some());
    let mut all: Vec<ChangeClass> = kernels.iter().map(|kernel| kernel.class).collect();
    all.sort_unstable();
    let groups = all.chunk_by(|class, other| class == other);
    let said = groups.filter_map(|group| {
        let class = group.first()?;
        Some(format!(
            "{} {}",
            group.len(),
            format::class(*class, None, None, is_sure)
        ))
    });
    plain(said.collect::<Vec<_>>().join(", "))
}
