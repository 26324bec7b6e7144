//! The document of a comparison: of one recording with another, or of several with one base.

mod figures;
mod gate;
mod kernels;
mod several;

use std::path::Path;

use metalens_analyzer::message::Value;
use metalens_analyzer::{Message, Note, message};
use metalens_comparison::{Change, Class, Comparison, Direction, Number, SideFacts, Unit, words};

use crate::bars::bar;
use crate::document::{Block, Cell, Chart, Column, Document, Drawing, Fact, Section, Table, Tone};
use crate::wording::{plain, unbroken};

/// The figures that are drawn where there is no picture: the time that it took, and the work and
/// the idle time in it.
const DRAWN: [&str; 3] = ["window.span_ns", "busy.busy_ns", "gaps.total_ns"];
/// The longest bar of the drawing.
const BAR: usize = 32;
/// The word for a kernel that a side does not have.
const ABSENT: &str = "–";

/// Returns the document of one comparison. Folders are left out unless `show_names`.
#[must_use]
pub fn document(comparison: &Comparison, show_names: bool) -> Document {
    let comparison = &shown(comparison, show_names);
    let sections = [
        Some(opening(comparison)),
        picture(comparison),
        gate::gate(comparison),
        Some(changes(comparison)),
        Some(kernels::kernels(comparison)),
        figures::idle(comparison),
        Some(figures::figures(comparison)),
        Some(comparable(comparison)),
    ];
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

/// Returns the document of comparisons with one base: their sentences, then one table.
#[must_use]
pub fn several(comparisons: &[Comparison]) -> Document {
    match comparisons {
        [only] => document(only, true),
        several => several::document(several),
    }
}

/// The sentence, and what belongs right below it.
fn opening(comparison: &Comparison) -> Section {
    let missed = comparison.gate.as_ref().filter(|gate| gate.missed);
    let missed = missed.map(|gate| {
        Block::Failure(message!(
            "The gate was missed: {}",
            plain(gate::tally(gate))
        ))
    });
    let headline = Message::new(&comparison.headline, &comparison.headline_values);
    let section = Section::new("verdict", "", 0)
        .with_some(missed)
        .with(Block::Lead(headline));
    section.with_all(remarks(comparison))
}

/// What a reader should know beside the headline.
fn remarks(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(fusion) = &comparison.fusion {
        blocks.push(Block::Lead(Message::new(&fusion.says, &fusion.says_values)));
        let evidence = fusion.evidence.iter().enumerate();
        let evidence = evidence.map(|(at, text)| {
            let values = fusion.evidence_values.get(at);
            Message::new(text, values.map_or(&[], Vec::as_slice))
        });
        blocks.extend(Block::list(evidence));
    }
    let notes = Note::joined(&comparison.notes, &comparison.note_details);
    let notes = notes.map(|note| Block::Warning(Message::new(&note.text, &note.detail.values)));
    blocks.extend(notes);
    let method = &comparison.method;
    blocks.push(Block::Remark(Message::new(
        &method.says,
        &method.says_values,
    )));
    blocks
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of a chart: times are not negative, and below centuries"
)]
fn picture(comparison: &Comparison) -> Option<Section> {
    let ns = |value: Number| value.get().max(0.0).round() as u64;
    let metrics = DRAWN.iter().filter_map(|id| {
        let metric = comparison.metrics.iter().find(|metric| metric.id == *id)?;
        let (base, new) = (metric.change.base.median?, metric.change.new.median?);
        Some((metric.name.as_str(), base, new))
    });
    let metrics: Vec<(&str, Number, Number)> = metrics.collect();
    let sides = metrics
        .iter()
        .flat_map(|&(_, base, new)| [ns(base), ns(new)]);
    let longest = sides.max()?;
    let lines = metrics.iter().flat_map(|&(name, base, new)| {
        [(name, "base", base), ("", "new", new)].map(|(name, side, value)| {
            let time = words::value(value, Unit::Ns);
            let label = format!("{name:<20}  {side:<4}  {time:>8}");
            (label, bar(ns(value), longest, BAR))
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
        Column::name(""),
        Column::words("change"),
        Column::sentence("in words"),
    ];
    let mut table = Table::new("changes", "Changes in four quantities", columns);
    for moved in &comparison.moved {
        table.row([
            Cell::text(moved.what.name()),
            class(moved.class, None),
            Cell::text(Message::new(&moved.says, &moved.says_values)),
        ]);
    }
    Section::new("changes", "Changes", 0).with(Block::Table(table))
}

/// The runs that were compared, and their circumstances, equal or not.
fn comparable(comparison: &Comparison) -> Section {
    let comparable = &comparison.comparable;
    let mut facts = vec![
        Fact::new("base", paths(&comparison.base)),
        Fact::new("new", paths(&comparison.new)),
    ];
    for difference in &comparable.differ {
        facts.push(Fact::new("DIFFERENT", plain(difference.to_string())));
    }
    if !comparable.same.is_empty() {
        let same = joined(&comparable.same, &comparable.same_values, " · ");
        facts.push(Fact::new("same", same));
    }
    if !comparable.unknown.is_empty() {
        facts.push(Fact::new("not known", plain(comparable.unknown.join(", "))));
    }
    for (at, note) in comparable.notes.iter().enumerate() {
        let values = comparable.note_values.get(at);
        let note = Message::new(note, values.map_or(&[], Vec::as_slice));
        facts.push(Fact::new("note", note));
    }
    let title = if comparable.comparable {
        "Recorded alike, as far as is known"
    } else {
        "NOT recorded alike"
    };
    Section::new("comparable", title, 6)
        .folded()
        .with(Block::Facts(facts))
}

fn joined(
    texts: &[String],
    values: &[Vec<metalens_analyzer::PlacedValue>],
    between: &str,
) -> Message {
    let texts = texts.iter().enumerate();
    let messages = texts.map(|(at, text)| {
        let values = values.get(at);
        Message::new(text, values.map_or(&[], Vec::as_slice))
    });
    Message::joined(messages, between)
}

/// The runs of a side, by the input of each.
fn paths(side: &SideFacts) -> Message {
    let runs = side.runs.iter().map(|run| message::path(&run.path));
    Message::joined(runs, ", ")
}

/// A comparison in whose sentences no folders stand, unless `show_names`: pages are posted.
fn shown(comparison: &Comparison, show_names: bool) -> Comparison {
    let mut comparison = comparison.clone();
    if show_names {
        return comparison;
    }
    let is_typed = comparison.has_values();
    for mut message in comparison.messages_mut() {
        let is_hidden =
            message.rewrite(|value| (value.value == Value::Path).then(|| last_name(&value.text)));
        // An earlier version did not say where in a sentence a path stands.
        if !(is_typed && is_hidden) && message.text.contains('/') {
            "(left out)".clone_into(message.text);
        }
    }
    let sides = [&mut comparison.base, &mut comparison.new];
    for run in sides.into_iter().flat_map(|side| &mut side.runs) {
        run.path = last_name(&run.path);
    }
    comparison
}

fn last_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The verdict on a change.
fn class(class: Class, direction: Option<Direction>) -> Cell {
    let (word, tone) = match (direction, class) {
        (_, Class::Added | Class::Removed) => (class_name(class), Tone::Strong),
        (Some(Direction::Better), _) => ("improved", Tone::Good),
        (Some(Direction::Worse), _) => ("regressed", Tone::Bad),
        (None, Class::Unstable | Class::Unknown) => (class_name(class), Tone::Doubtful),
        (None, Class::Unchanged) => (class_name(class), Tone::Faint),
        (None, Class::Grown | Class::Shrunk) => (class_name(class), Tone::Strong),
    };
    Cell::verdict(word, tone)
}

/// The name of a class that says nothing of better or worse.
fn class_name(class: Class) -> &'static str {
    match class {
        Class::Added => "added",
        Class::Removed => "removed",
        Class::Grown => "grown",
        Class::Shrunk => "shrunk",
        Class::Unchanged => "no significant change",
        Class::Unstable => "inconclusive",
        Class::Unknown => "unknown",
    }
}

/// A value of a side; a word if there is none.
fn value(value: Option<Number>, unit: Unit, absent: &'static str) -> Message {
    let value = value.map(|value| metalens_comparison::sentences::value(value, unit));
    value.unwrap_or_else(|| absent.into())
}

/// The difference between the sides, and the same as a share of base.
fn difference(change: &Change, unit: Unit) -> [Message; 2] {
    use metalens_comparison::sentences::{difference, share};
    let by = change.absolute.map(|by| difference(by, unit));
    // The change of a share is in points, not in percent of percent.
    let share = match unit {
        Unit::Ratio => Message::default(),
        _ => share(change),
    };
    [by.unwrap_or_else(|| "–".into()), share]
}

/// `9.000 µs → 9.9 µs`, or once if it stayed.
fn before_and_after(change: &Change, unit: Unit) -> Message {
    let was = value(change.base.median, unit, ABSENT);
    let now = value(change.new.median, unit, ABSENT);
    if unbroken(&was) == unbroken(&now) {
        now
    } else {
        message!("{} → {}", was, now)
    }
}

/// Whether a figure is zero on both sides.
fn is_nothing(change: &Change) -> bool {
    let mut most = [change.base.max, change.new.max].into_iter();
    let is_zero = most.all(|one| one.is_some_and(|one| one.get() == 0.0));
    is_zero && change.class == Class::Unchanged
}
