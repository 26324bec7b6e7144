//! Writes documents as text for a terminal.

pub mod style;
mod table;
#[cfg(test)]
mod width_tests;

use metalens_analyzer::Severity;
use metalens_message::Message;
use metalens_text::columns::{shorten, wrap};
use metalens_text::units::capital;
use metalens_text::{Style, shown};
use unicode_width::UnicodeWidthStr;

use crate::bars;
use crate::document::{Block, Chart, Document, Drawing, Fact, FindingEntry, Item, Section, Table};
use crate::wording::{NO_BREAK, sentence, unbroken};
use style::{BAD, FAINT, GOOD, LOUD, TITLE, VERDICT};

/// Largest width of a sentence, however wide the terminal is.
const WIDEST_TEXT: usize = 100;
/// Least width of a sentence, and of the value of a fact.
const NARROWEST_TEXT: usize = 30;
const NARROWEST_FACT: usize = 20;
/// Least width that tables are made for: none can be read in less, so a narrower terminal breaks
/// the lines.
const NARROWEST: usize = 60;
/// Largest width of a line in a table; longer ones are hard to read.
const WIDEST: usize = 180;
/// Least width of the names of facts.
const NAMES: usize = 10;
/// Largest number of places of a finding; pages have the others.
const PLACES: usize = 3;
/// Number of findings in full; each further one is one line.
const FINDINGS_IN_FULL: usize = 5;
/// Largest number of items of a list; the others are counted.
const ITEMS: usize = 50;

/// Returns a document as styled lines for a terminal with this many columns; ends with a line
/// break. Without a terminal, the width is always the same.
pub fn text(document: &Document, columns: Option<usize>) -> String {
    let columns_or_usual = columns.unwrap_or(WIDEST_TEXT);
    let mut screen = Screen {
        text: String::new(),
        width: columns_or_usual.clamp(NARROWEST, WIDEST),
        prose: columns_or_usual.clamp(NARROWEST_TEXT, WIDEST_TEXT),
        is_terminal: columns.is_some(),
    };
    let is_alone = document.sections.len() == 1;
    for part in &document.sections {
        if is_alone || !is_without_room(part, &screen) {
            section(part, &mut screen);
        }
    }
    screen.text
}

struct Screen {
    text: String,
    /// Width of a line in a table.
    width: usize,
    /// Width of a line of a sentence.
    prose: usize,
    /// True if somebody reads it on a terminal; else names are not shortened.
    is_terminal: bool,
}

impl Screen {
    fn line(&mut self, line: impl AsRef<str>) {
        // All lines are broken by now: text that is copied from a terminal has plain spaces.
        let line = line.as_ref().replace(NO_BREAK, " ");
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// Adds an indented text in one style; the first line has a mark before it.
    fn marked(&mut self, indent: usize, mark: &str, text: &str, style: Style) {
        let hang = indent + mark.width();
        let room = self.prose.saturating_sub(hang);
        for (at, line) in wrap(&shown(text), room).into_iter().enumerate() {
            let before = if at == 0 {
                format!("{:indent$}{mark}", "")
            } else {
                " ".repeat(hang)
            };
            self.line(format!("{before}{style}{line}{style:#}"));
        }
    }

    fn sentence(&mut self, indent: usize, message: &Message, style: Style) {
        self.marked(indent, "", &unbroken(message), style);
    }
}

fn section(section: &Section, screen: &mut Screen) {
    let has_title = !section.title.text.is_empty();
    if has_title {
        screen.line("");
        let title = shown(&section.title.text).into_owned();
        screen.marked(0, "", &title, TITLE);
    }
    // The section that opens a document has no title, and no line before it.
    if !has_title && !screen.text.is_empty() {
        screen.line("");
    }
    let indent = if has_title { 2 } else { 0 };
    let mut tables = laid_out(section, screen.is_terminal.then_some(screen.width));
    for block in &section.blocks {
        match block {
            Block::Lead(text) => screen.sentence(indent, &sentence(text.clone()), VERDICT),
            Block::Text(text) => screen.sentence(indent, &sentence(text.clone()), Style::NONE),
            Block::Remark(text) => screen.sentence(indent, &sentence(text.clone()), FAINT),
            Block::Warning(text) => screen.sentence(indent, text, LOUD),
            Block::Failure(text) => screen.sentence(indent, &sentence(text.clone()), BAD),
            Block::Heading(text) => screen.line(format!("\n{VERDICT}{text}{VERDICT:#}")),
            Block::List(items) => list(items, screen),
            Block::Facts(list) => facts(list, screen),
            Block::Missing(list) => missing(list, screen),
            Block::Table(found) => {
                if let Some(shown) = tables.next() {
                    table(found, &shown, screen);
                }
            }
            Block::Chart(found) => chart(found, screen),
            Block::Findings(found) => findings(found, screen),
            Block::FirstSteps(found) => first_steps(found, screen),
        }
        if matches!(block, Block::Findings(_)) && section.blocks.len() > 1 {
            screen.line("");
        }
    }
}

/// Lays out the tables of a section. Tables with the same headings align with each other.
fn laid_out(section: &Section, width: Option<usize>) -> impl Iterator<Item = table::TableLines> {
    let tables: Vec<&Table> = section.tables().collect();
    let groups = tables.chunk_by(|table, other| table.columns == other.columns);
    let shown: Vec<_> = groups
        .flat_map(|group| table::lay_out(group, width))
        .collect();
    shown.into_iter()
}

fn table(table: &Table, shown: &table::TableLines, screen: &mut Screen) {
    for (at, line) in shown.lines.iter().enumerate() {
        match at {
            0 if line.trim().is_empty() => {}
            0 => screen.line(format!("{FAINT}{line}{FAINT:#}")),
            _ => screen.line(line),
        }
    }
    let hidden = table
        .total
        .saturating_sub(table.rows.len().min(table.short));
    if hidden > 0 {
        let rest = unbroken(&table.rest);
        screen.marked(2, "", &format!("… and {hidden} more{rest}"), Style::NONE);
    }
    for reason in &shown.reasons {
        screen.marked(2, "- ", reason, Style::NONE);
    }
    if !shown.dropped.is_empty() {
        let dropped = format!("No room for: {}", shown.dropped.join(", "));
        screen.marked(2, "", &dropped, FAINT);
    }
}

fn list(items: &[Item], screen: &mut Screen) {
    for item in items.iter().take(ITEMS) {
        let style = if item.is_strong { VERDICT } else { Style::NONE };
        screen.marked(2, "- ", &unbroken(&item.text), style);
    }
    let hidden = items.len().saturating_sub(ITEMS);
    if hidden > 0 {
        screen.line(format!("  … and {hidden} more"));
    }
}

/// Adds named values, whose names have one width.
fn facts(facts: &[Fact], screen: &mut Screen) {
    let widest = facts.iter().map(|fact| fact.name.width()).max();
    let names = widest.unwrap_or(0).clamp(NAMES, 3 * NAMES);
    for fact in facts {
        let name = shorten(&shown(&fact.name), names);
        let padding = " ".repeat(names.saturating_sub(name.width()) + 2);
        let room = screen.prose.saturating_sub(names + 4).max(NARROWEST_FACT);
        let lines = wrap(&shown(&unbroken(&fact.value)), room);
        for (at, line) in lines.into_iter().enumerate() {
            if at == 0 {
                screen.line(format!("  {FAINT}{name}{FAINT:#}{padding}{line}"));
            } else {
                screen.line(format!("  {:names$}  {line}", ""));
            }
        }
    }
}

/// Adds the names of missing things without the reasons, which pages have.
fn missing(facts: &[Fact], screen: &mut Screen) {
    let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
    let names = format!("{}; --json and --markdown say why", names.join(", "));
    screen.marked(2, "", &names, Style::NONE);
}

/// Returns whether a section is nothing but charts that are wider than the screen.
fn is_without_room(section: &Section, screen: &Screen) -> bool {
    let has_blocks = !section.blocks.is_empty();
    has_blocks
        && section.blocks.iter().all(|block| match block {
            Block::Chart(Chart {
                drawing: Drawing::Lines(lines, _),
                ..
            }) => chart_widths(lines).1 > screen.width,
            _ => false,
        })
}

/// Returns the width of the names of a chart's lines, and that of whole lines.
fn chart_widths(lines: &[(String, String)]) -> (usize, usize) {
    let names = lines.iter().map(|(name, _)| name.width()).max();
    let names = names.unwrap_or(0).max(6);
    let widest = lines.iter().map(|(_, drawn)| drawn.width()).max();
    (names, names + 4 + widest.unwrap_or(0))
}

fn chart(chart: &Chart, screen: &mut Screen) {
    let drawn;
    let (lines, legend) = match &chart.drawing {
        Drawing::Lines(lines, legend) => (lines, legend),
        Drawing::Step(steps) => {
            drawn = bars::steps(steps);
            (&drawn.0, &drawn.1)
        }
        Drawing::None | Drawing::Parts(_) => return,
    };
    let (names, widest) = chart_widths(lines);
    if widest > screen.width {
        // In two lines, bars would stand for other moments.
        let needs = format!("it needs a terminal of {widest} columns");
        screen.line(format!("  {FAINT}{needs}{FAINT:#}"));
        return;
    }
    for (name, drawn) in lines {
        let padding = " ".repeat(names.saturating_sub(name.width()));
        screen.line(format!("  {FAINT}{name}{FAINT:#}{padding}  {drawn}"));
    }
    if !legend.is_empty() {
        screen.marked(names + 4, "", legend, FAINT);
    }
}

fn findings(findings: &[FindingEntry], screen: &mut Screen) {
    let (full, rest) = findings.split_at(findings.len().min(FINDINGS_IN_FULL));
    let mut said: Vec<&[Message]> = Vec::new();
    for (at, finding) in full.iter().enumerate() {
        if at > 0 {
            screen.line("");
        }
        finding_in_full(finding, &said, screen);
        said.push(&finding.places);
    }
    if !rest.is_empty() {
        screen.line("");
        for finding in rest {
            finding_title(finding, screen);
        }
        screen.marked(
            10,
            "",
            "(--markdown and --json show all findings in full)",
            Style::NONE,
        );
    }
}

/// Adds the findings in two lines each: the title, and the first step with what it saves.
fn first_steps(findings: &[FindingEntry], screen: &mut Screen) {
    for finding in findings {
        finding_title(finding, screen);
        let action = capital(&finding.action.text);
        let step = match &finding.gain {
            Some(gain) => {
                let (time, factor) = (unbroken(&gain.time), &gain.factor.text);
                format!("{action}; saves {} {time} ({factor}×)", gain.certainty)
            }
            None => action,
        };
        screen.marked(10, "→ ", &step, Style::NONE);
    }
}

/// A finding in full. Places that one before it had are not said again.
fn finding_in_full(finding: &FindingEntry, said: &[&[Message]], screen: &mut Screen) {
    finding_title(finding, screen);
    if let Some(gain) = &finding.gain {
        let (time, factor) = (unbroken(&gain.time), &gain.factor.text);
        let gain = format!("saves {} {time}: {factor}× faster", gain.certainty);
        screen.marked(10, "", &gain, GOOD);
    }
    screen.marked(10, "", &unbroken(&finding.evidence), Style::NONE);
    if !finding.places.is_empty() && !said.contains(&finding.places.as_slice()) {
        let places = finding.places.iter().take(PLACES).map(unbroken);
        let places = places.collect::<Vec<_>>().join("; ");
        screen.marked(10, "", &format!("Look at: {places}."), Style::NONE);
    }
    screen.marked(10, "→ ", &unbroken(&finding.advice), Style::NONE);
    for advice in &finding.framework_advice {
        screen.marked(12, "· ", &unbroken(advice), Style::NONE);
    }
}

/// Adds the severity of a finding, and its title.
fn finding_title(finding: &FindingEntry, screen: &mut Screen) {
    let word = finding.severity.name().to_uppercase();
    let style = match finding.severity {
        Severity::High => BAD,
        Severity::Medium => LOUD,
        Severity::Low | Severity::Caveat => FAINT,
    };
    let room = screen.prose - 10;
    let title = wrap(&shown(&finding.title.text), room);
    for (at, line) in title.into_iter().enumerate() {
        let word = if at == 0 { &*word } else { "" };
        screen.line(format!(
            "  {style}{word:<7}{style:#} {VERDICT}{line}{VERDICT:#}"
        ));
    }
}
