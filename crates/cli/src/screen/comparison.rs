//! A comparison on the terminal: the sentence first, then what it rests on.

pub(crate) mod baseline;
pub(crate) mod gate;
mod tables;

use metalens_comparison::{Class, Comparison, Direction, format};
use metalens_text::{Style, shown};

use super::columns::{Columns, wrap};
use super::style::{BAD, FAINT, GOOD, LOUD, TITLE, VERDICT};
use crate::unbroken;

/// Lines are no longer than this.
const WIDTH: usize = 100;

/// Comparisons with one base, styled; ends with a newline.
pub(crate) fn render(comparisons: &[Comparison]) -> String {
    let mut lines = Lines::default();
    let comparisons: Vec<Comparison> = comparisons.iter().map(unbroken::comparison).collect();
    match comparisons.as_slice() {
        [only] => one(only, &mut lines),
        several => many(several, &mut lines),
    }
    lines.text
}

fn one(comparison: &Comparison, lines: &mut Lines) {
    lines.verdict(&comparison.headline);
    lines.said(comparison);
    moved(comparison, lines);
    gate::gate(comparison, lines);
    tables::figures(comparison, lines);
    tables::kernels(comparison, lines);
    alike(comparison, lines);
}

/// Each against base: their sentences, then one table.
fn many(comparisons: &[Comparison], lines: &mut Lines) {
    for (at, comparison) in comparisons.iter().enumerate() {
        if at > 0 {
            lines.line("");
        }
        let new = paths(&comparison.new);
        lines.line(format!("{TITLE}new {}{TITLE:#}  {}", at + 1, shown(&new)));
        lines.verdict(&comparison.headline);
        lines.said(comparison);
        gate::gate(comparison, lines);
    }
    tables::figures_of_all(comparisons, lines);
    tables::kernels_of_all(comparisons, lines);
    let first = comparisons.first().map(|one| &one.comparable);
    for (at, comparison) in comparisons.iter().enumerate() {
        if at == 0 || Some(&comparison.comparable) != first {
            alike(comparison, lines);
        }
    }
}

fn moved(comparison: &Comparison, lines: &mut Lines) {
    lines.section("What moved");
    for moved in &comparison.moved {
        let style = class_style(moved.class, None);
        for (at, line) in wrap(&shown(&moved.says), WIDTH - 38)
            .into_iter()
            .enumerate()
        {
            let (what, class) = match at {
                0 => (
                    moved.what.name(),
                    format::class(moved.class, moved.direction()),
                ),
                _ => ("", ""),
            };
            lines.line(format!(
                "  {FAINT}{what:<11}{FAINT:#}  {style}{class:<21}{style:#}  {line}"
            ));
        }
    }
}

/// What was compared, and what of its circumstances is known to be the same.
fn alike(comparison: &Comparison, lines: &mut Lines) {
    let comparable = &comparison.comparable;
    lines.section("Whether they can be compared");
    lines.fact("base", &paths(&comparison.base));
    lines.fact("new", &paths(&comparison.new));
    if !comparable.same.is_empty() {
        lines.fact("same", &comparable.same.join(" · "));
    }
    for difference in &comparable.differ {
        lines.fact("DIFFERENT", &difference.to_string());
    }
    if !comparable.unknown.is_empty() {
        lines.fact("not known", &comparable.unknown.join(", "));
    }
    for note in &comparable.notes {
        lines.fact("note", note);
    }
}

/// Runs by what was read of them.
fn paths(side: &metalens_comparison::SideFacts) -> String {
    let runs = side.runs.iter().map(|run| run.path.as_str());
    runs.collect::<Vec<_>>().join(", ")
}

/// What must be seen is coloured; a class with no good side is not.
fn class_style(class: Class, direction: Option<Direction>) -> Style {
    match (direction, class) {
        (Some(Direction::Better), _) => GOOD,
        (Some(Direction::Worse), _) => BAD,
        (None, Class::Unstable | Class::Unknown) => LOUD,
        (None, Class::Unchanged) => FAINT,
        (None, _) => VERDICT,
    }
}

/// A class in its colour, for the last column of a table.
fn styled(class: Class, direction: Option<Direction>) -> String {
    let style = class_style(class, direction);
    let word = format::class(class, direction);
    format!("{style}{word}{style:#}")
}

/// What is written.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref().replace(unbroken::NO_BREAK, " ");
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(format!("\n{TITLE}{title}{TITLE:#}"));
    }

    fn verdict(&mut self, text: &str) {
        for line in wrap(&shown(&format!("{text}.")), WIDTH) {
            self.line(format!("{VERDICT}{line}{VERDICT:#}"));
        }
    }

    /// What belongs right below the sentence.
    fn said(&mut self, comparison: &Comparison) {
        if let Some(fusion) = &comparison.fusion {
            self.verdict(&fusion.says);
            for evidence in &fusion.evidence {
                self.line(format!("  - {}", shown(evidence)));
            }
        }
        for note in &comparison.notes {
            for line in wrap(&shown(note), WIDTH) {
                self.line(format!("{LOUD}{line}{LOUD:#}"));
            }
        }
        for line in wrap(&comparison.method.says, WIDTH) {
            self.line(format!("{FAINT}{line}{FAINT:#}"));
        }
    }

    /// A table whose heading is faint.
    fn columns(&mut self, columns: &Columns) {
        for (at, line) in columns.lines().into_iter().enumerate() {
            match at {
                0 => self.line(format!("{FAINT}{line}{FAINT:#}")),
                _ => self.line(line),
            }
        }
    }

    /// A fact behind its name, wrapped.
    fn fact(&mut self, name: &str, text: &str) {
        for (at, line) in wrap(&shown(text), WIDTH - 14).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.line(format!("  {FAINT}{name:<10}{FAINT:#}  {line}"));
        }
    }
}
