//! Formats the cells that the tables of comparisons share.

use std::path::Path;

use metalens_comparison::{Change, ChangeClass, ChangeSize, Direction, Number, SideFacts, Unit};
use metalens_comparison::{format, sentences};
use metalens_message::{Message, counted, message};

use crate::document::{Cell, Tone};

/// The text for a kernel that a side does not have.
pub(crate) const ABSENT: &str = "–";

/// Returns the runs of a side, by the input of each; their number if all inputs have one name.
pub(crate) fn paths(side: &SideFacts) -> Message {
    let names: Vec<_> = side
        .runs
        .iter()
        .map(|run| Path::new(&run.path).file_name())
        .collect();
    if names.len() > 1 && names.windows(2).all(|pair| pair[0] == pair[1]) {
        // Runs of a benchmark differ by their folders, which are not shown.
        return counted(names.len() as u64, "run");
    }
    let runs = side
        .runs
        .iter()
        .map(|run| metalens_message::path(&run.path));
    Message::joined(runs, ", ")
}

/// Returns the verdict on a change, in color.
pub(crate) fn class(change: &Change) -> Cell {
    verdict(change, change.class, change.direction)
}

/// Returns the verdict on a change that has a class and a direction of its own, as a kernel has that
/// only one side has.
pub(crate) fn verdict(change: &Change, class: ChangeClass, direction: Option<Direction>) -> Cell {
    let text = format::class(class, change.size, direction, change.interval.is_some());
    Cell::verdict(text, tone(class, change.size, direction))
}

/// Returns the verdict on the change of a total with its size, in color: the columns beside it are about
/// the median.
pub(crate) fn class_of_total(change: &Change) -> Cell {
    let (class, size, direction) = (change.class, change.size, change.direction);
    let is_sure = change.interval.is_some();
    let word = format::class(class, size, direction, is_sure);
    let share = sentences::share(change);
    let share = (!share.text.is_empty()).then(|| message!(", {}", share));
    let text = message!("total {}{}", word, share);
    Cell::verdict(text, tone(class, size, direction))
}

fn tone(class: ChangeClass, size: Option<ChangeSize>, direction: Option<Direction>) -> Tone {
    match (direction, class) {
        _ if size == Some(ChangeSize::Small) => Tone::Faint,
        (_, ChangeClass::Added | ChangeClass::Removed) => Tone::Strong,
        (Some(Direction::Better), _) => Tone::Good,
        (Some(Direction::Worse), _) => Tone::Bad,
        (None, ChangeClass::Unstable | ChangeClass::Unknown) => Tone::Doubtful,
        (None, ChangeClass::Unchanged) => Tone::Faint,
        (None, ChangeClass::Grown | ChangeClass::Shrunk) => Tone::Strong,
    }
}

/// Returns the value of a side, or `absent` if there is none.
pub(crate) fn value(value: Option<Number>, unit: Unit, absent: &'static str) -> Message {
    let value = value.map(|value| sentences::value(value, unit));
    value.unwrap_or_else(|| absent.into())
}

/// Returns the difference between the sides, in the unit and as a share of base.
pub(crate) fn difference(change: &Change, unit: Unit) -> [Message; 2] {
    let by = change.absolute.map(|by| sentences::difference(by, unit));
    // The change of a share is in points, not in percent of percent.
    let share = match unit {
        Unit::Ratio => Message::default(),
        _ => sentences::share(change),
    };
    // One word says that nothing changed.
    let is_same = change.absolute.is_some_and(|by| by.get() == 0.0) && !share.text.is_empty();
    let by = by.filter(|_| !is_same);
    let absent = if is_same { "" } else { "–" };
    [by.unwrap_or_else(|| absent.into()), share]
}

/// Returns `9.000 µs → 9.9 µs`, or one value if both are equal.
pub(crate) fn before_and_after(change: &Change, unit: Unit) -> Message {
    let was = value(change.base_value(), unit, ABSENT);
    let now = value(change.new_value(), unit, ABSENT);
    if was.text == now.text {
        now
    } else {
        message!("{} → {}", was, now)
    }
}

/// Returns whether a figure is zero on both sides.
pub(crate) fn is_nothing(change: &Change) -> bool {
    let mut most = [change.base.max, change.new.max].into_iter();
    let is_zero = most.all(|value| value.is_some_and(|value| value.get() == 0.0));
    is_zero && change.class == ChangeClass::Unchanged
}
