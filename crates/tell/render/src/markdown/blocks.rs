//! Formats sections and blocks as Markdown.
//!
//! Every text is escaped, so that a kernel called `a | b` or `<img …>` stays a name.

use metalens_message::{Message, Segment};
use metalens_text::units::{capital, count};

use super::escape::{as_code, clipped, in_html, in_markdown};
use super::picture::{Picture, PictureSource};
use crate::bars::{self, bar, over_time};
use crate::document::{
    Block, Cell, Chart, Column, ColumnKind, Drawing, Fact, FindingEntry, Item, Look, Section,
    Table, Tone,
};
use crate::wording::{sentence, unbroken};

/// Length of the longest bar.
const BAR: usize = 14;
/// Largest length of a name in a comment: nobody reads a longer one to its end, and a report has
/// thousands.
const LONGEST_NAME: usize = 120;
/// Largest length of a name in a table of a comment, which has room for the columns beside it.
const LONGEST_CELL: usize = 44;
/// Largest length of a sentence in a comment.
const LONGEST_TEXT: usize = 700;
/// Largest number of places of a finding in a comment; the page has the others.
const PLACES: usize = 5;
/// Number of rows that a comment shows of a table with a preview.
pub(super) const PREVIEW: usize = 8;

/// A writer of one kind of Markdown.
#[derive(Clone, Copy)]
pub(super) struct Markdown<'a> {
    /// True for a comment: names are short, numbers stay beside their units, everything long is
    /// folded.
    pub(super) is_comment: bool,
    /// The pictures that are available.
    pub(super) pictures: &'a [Picture],
    /// Largest number of rows, items and findings.
    pub(super) most: usize,
}

impl Markdown<'_> {
    /// Returns the blocks of a section, without its title.
    pub(super) fn blocks(self, section: &Section) -> String {
        let blocks = section.blocks.iter().map(|block| self.block(block));
        let blocks: Vec<String> = blocks.filter(|block| !block.is_empty()).collect();
        blocks.join("\n\n")
    }

    /// Returns a text under a heading, or below a line that unfolds it.
    pub(super) fn under(self, title: &Message, is_folded: bool, text: &str) -> String {
        if title.text.is_empty() {
            text.to_owned()
        } else if is_folded {
            let title = in_html(&unbroken(title));
            format!("<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>")
        } else {
            let marks = if self.is_comment { "####" } else { "##" };
            format!("{marks} {}\n\n{text}", self.named(title))
        }
    }

    /// Returns a sentence as Markdown.
    pub(super) fn text(self, message: &Message) -> String {
        if self.is_comment {
            in_markdown(&clipped(&unbroken(message), LONGEST_TEXT))
        } else {
            in_markdown(&message.text)
        }
    }

    /// Returns a text with its names as code.
    pub(super) fn named(self, message: &Message) -> String {
        let written = |(text, value): Segment<'_>| match value {
            Some(value) if value.value.is_name() => self.code(text),
            Some(value) if value.value.is_measure() && self.is_comment => {
                in_markdown(&text.replace(' ', "\u{a0}"))
            }
            // Blanks at its beginning are part of the line.
            _ => {
                let blanks = text.len() - text.trim_start_matches(' ').len();
                format!("{}{}", " ".repeat(blanks), in_markdown(text))
            }
        };
        message.segments().into_iter().map(written).collect()
    }

    fn code(self, name: &str) -> String {
        if self.is_comment {
            as_code(&clipped(name, LONGEST_NAME))
        } else {
            as_code(name)
        }
    }

    fn block(self, block: &Block) -> String {
        match block {
            Block::Lead(text) => format!("**{}**", self.text(&sentence(text.clone()))),
            Block::Text(text) | Block::Remark(text) => self.text(&sentence(text.clone())),
            Block::Warning(text) => self.quoted("WARNING", &self.text(text)),
            Block::Failure(text) => {
                let text = self.text(&sentence(text.clone()));
                self.quoted("CAUTION", &format!("**{text}**"))
            }
            Block::Heading(text) => format!("**{text}**"),
            Block::List(items) => self.list(items),
            Block::Facts(facts) => self.facts(facts),
            Block::Missing(facts) => self.missing(facts),
            Block::Table(table) => self.table(table),
            Block::Chart(chart) => self.chart(chart),
            Block::Findings(findings) | Block::FirstSteps(findings) => self.findings(findings),
        }
    }

    fn quoted(self, kind: &str, text: &str) -> String {
        if self.is_comment {
            format!("> [!{kind}]\n> {text}")
        } else {
            format!("> {text}")
        }
    }

    fn list(self, items: &[Item]) -> String {
        let lines = items.iter().take(self.most).map(|item| {
            let text = self.text(&item.text);
            let text = if item.is_strong {
                format!("**{text}**")
            } else {
                text
            };
            match &item.report {
                Some(report) => format!("- {text} ([report]({report}/report.md))"),
                None => format!("- {text}"),
            }
        });
        self.counted(lines.collect(), items.len())
    }

    fn missing(self, facts: &[Fact]) -> String {
        let lines = facts.iter().take(self.most);
        let lines =
            lines.map(|fact| format!("- {}: {}", in_markdown(&fact.name), self.text(&fact.value)));
        self.counted(lines.collect(), facts.len())
    }

    /// Returns lines, and a line with the number of all if some are missing.
    fn counted(self, lines: Vec<String>, all: usize) -> String {
        let shown = lines.len();
        let mut text = lines.join("\n");
        if shown < all {
            text.push_str(&format!("\n\n{}", shown_of(shown, all)));
        }
        text
    }

    fn facts(self, facts: &[Fact]) -> String {
        let mut text = "| | |\n| --- | --- |".to_owned();
        for fact in facts {
            let name = in_markdown(&capital(&fact.name));
            text.push_str(&format!("\n| {name} | {} |", self.named(&fact.value)));
        }
        text
    }

    fn table(self, table: &Table) -> String {
        let is_preview = self.is_comment && table.has_preview;
        let (most, is_kept): (usize, fn(&Column) -> bool) = match () {
            () if is_preview => (PREVIEW, |column| column.spare == 0),
            () if self.is_comment => (self.most, |_| true),
            () => (self.most.min(table.short), |_| true),
        };
        let shown = table.rows.len().min(most);
        let mut text = self.rows(table, shown, is_kept);
        let hidden = table.total.saturating_sub(shown);
        if hidden > 0 && self.is_comment {
            text.push_str(&format!("\n\n{}", shown_of(shown, table.total)));
        } else if hidden > 0 {
            let rest = self.text(&sentence(table.rest.clone()));
            let rest = if rest.is_empty() { "." } else { &rest };
            text.push_str(&format!("\n\n… and {} more{rest}", count(hidden as u64)));
        }
        text
    }

    /// Returns rows of a table under its headings.
    pub(super) fn rows(self, table: &Table, most: usize, is_kept: fn(&Column) -> bool) -> String {
        let longest = if self.is_comment {
            LONGEST_CELL
        } else {
            usize::MAX
        };
        let table = &*table.with_short_names(longest);
        let columns = table.columns.iter();
        let headings = columns.filter(|column| is_kept(column));
        let (mut names, mut lines) = ("|".to_owned(), "|".to_owned());
        for column in headings {
            let heading = self.text(&column.heading);
            names.push_str(&format!(" {}{}|", capital(&heading), blank(&heading)));
            lines.push_str(match column.kind {
                ColumnKind::Number => " ---: |",
                _ => " --- |",
            });
        }

        let mut text = format!("{names}\n{lines}");
        for row in table.rows.iter().take(most) {
            text.push_str("\n|");
            let cells = row.iter().zip(&table.columns);
            for (cell, _) in cells.filter(|(_, column)| is_kept(column)) {
                let cell = self.cell(cell);
                text.push_str(&format!(" {cell}{}|", blank(&cell)));
            }
        }
        text
    }

    fn cell(self, cell: &Cell) -> String {
        match &cell.look {
            Look::Plain if cell.is_name() => self.code(&cell.text.text),
            Look::Bar(part, whole, _) => bar(*part, *whole, BAR),
            Look::OverTime(busy, _) => over_time(busy),
            Look::Verdict(tone) if self.is_comment => self.verdict(&cell.text, *tone),
            Look::Verdict(Tone::Bad) => format!("**{}**", self.text(&cell.text)),
            Look::Report(folder) => format!("[{}]({folder}/report.md)", self.text(&cell.text)),
            Look::Finding(folder, ..) => {
                format!("[{}]({folder}/report.md#findings)", self.text(&cell.text))
            }
            Look::Plain | Look::Ranked(_) | Look::Cause(_) | Look::Verdict(_) => {
                self.text(&cell.text)
            }
        }
    }

    /// Returns a verdict with an arrow for its direction, which is seen before it is read.
    fn verdict(self, text: &Message, tone: Tone) -> String {
        let words = self.text(text);
        let of_total = words.strip_prefix("total ").unwrap_or(&words);
        let arrow = match of_total.split([',', ' ']).next().unwrap_or("") {
            "higher" | "increased" => "▲ ",
            "lower" | "decreased" => "▼ ",
            "regressed" => "✗ ",
            "improved" => "✓ ",
            _ => "",
        };
        match tone {
            Tone::Bad => format!("**{arrow}{words}**"),
            _ => format!("{arrow}{words}"),
        }
    }

    pub(super) fn has_pictures(self) -> bool {
        !self.pictures.is_empty()
    }

    fn chart(self, chart: &Chart) -> String {
        let picture = self
            .pictures
            .iter()
            .find(|picture| picture.chart == chart.id);
        match (picture, &chart.drawing) {
            (Some(picture), _) => picture_of(picture),
            // There are pictures, and none of this: it could not be drawn.
            (None, Drawing::Lines(lines, legend)) if !self.has_pictures() => fenced(lines, legend),
            (None, Drawing::Step(steps)) => {
                let (lines, legend) = bars::steps(steps);
                fenced(&lines, &legend)
            }
            (None, _) => String::new(),
        }
    }

    fn findings(self, findings: &[FindingEntry]) -> String {
        let shown = findings.iter().take(self.most).zip(1..);
        let texts = shown.map(|(finding, number)| {
            if self.is_comment {
                self.folded_finding(finding)
            } else {
                self.finding(finding, number)
            }
        });
        let texts: Vec<String> = texts.collect();
        let mut text = texts.join("\n\n");
        if texts.len() < findings.len() {
            text.push_str(&format!("\n\n{}", shown_of(texts.len(), findings.len())));
        }
        text
    }

    fn finding(self, finding: &FindingEntry, number: usize) -> String {
        let severity = finding.severity.name();
        let gain = finding.gain.as_ref().map_or_else(String::new, |gain| {
            format!(
                " · saves {} {}, {}× faster",
                gain.certainty,
                self.text(&gain.time),
                gain.factor.text
            )
        });
        let mut text = format!(
            "### {number}. {}\n\n*{severity}* · `{}`{gain}\n\n{}\n",
            self.text(&finding.title),
            in_markdown(&finding.id).replace('`', ""),
            self.text(&finding.evidence),
        );
        for place in &finding.places {
            text.push_str(&format!("\n- {}", self.text(place)));
        }
        if !finding.places.is_empty() {
            text.push('\n');
        }
        text + &self.advice(finding)
    }

    fn folded_finding(self, finding: &FindingEntry) -> String {
        let gain = finding.gain.as_ref().map_or_else(String::new, |gain| {
            format!(
                " · saves {} {}, {}× faster",
                gain.certainty,
                in_html(&unbroken(&gain.time)),
                gain.factor.text
            )
        });
        let mut text = format!(
            "<details>\n<summary><b>{}</b> · {}{gain}</summary>\n\n**Evidence:** {}\n",
            in_html(&clipped(&finding.title.text, LONGEST_NAME)),
            finding.severity.name(),
            self.text(&finding.evidence),
        );
        text.push_str(&self.advice(finding));
        if !finding.places.is_empty() {
            text.push_str("\n\nLook at:\n");
        }
        for place in finding.places.iter().take(PLACES) {
            text.push_str(&format!("\n- {}", self.text(place)));
        }
        text + "\n\n</details>"
    }

    fn advice(self, finding: &FindingEntry) -> String {
        let mut text = format!("\n**Do:** {}\n", self.with_code(&finding.advice));
        for advice in &finding.framework_advice {
            text.push_str(&format!("\n- {}", self.with_code(advice)));
        }
        if !finding.framework_advice.is_empty() {
            text.push('\n');
        }
        let counter_evidence = self.with_code(&finding.counter_evidence);
        text + &format!("\n**Counter-evidence:** {counter_evidence}")
    }

    /// Returns a sentence whose own words have commands in backticks: these become code. Names and
    /// texts that would be clipped are written as in any sentence.
    fn with_code(self, message: &Message) -> String {
        let is_long = message.text.chars().nth(LONGEST_TEXT).is_some();
        if self.is_comment && is_long || !message.text.contains('`') {
            return self.text(message);
        }
        let written = |(text, value): Segment<'_>| match value {
            None if text.matches('`').count() % 2 == 0 => {
                let parts = text.split('`').zip([false, true].into_iter().cycle());
                let parts = parts.map(|(part, is_code)| match part.trim() {
                    _ if is_code => self.code(part),
                    "" => part.to_owned(),
                    words => part.replacen(words, &in_markdown(words), 1),
                });
                parts.collect()
            }
            _ => in_markdown(text),
        };
        message.segments().into_iter().map(written).collect()
    }
}

/// Returns a space to follow a cell; nothing if the cell is empty, because the space before it is
/// enough.
fn blank(cell: &str) -> &'static str {
    if cell.is_empty() { "" } else { " " }
}

pub(super) fn shown_of(shown: usize, all: usize) -> String {
    format!("{} of {} shown.", count(shown as u64), count(all as u64))
}

/// Returns a picture: light or dark by the reader's theme, if there are both.
fn picture_of(picture: &Picture) -> String {
    match &picture.source {
        PictureSource::File(path) => format!("![{}]({path})", in_markdown(&picture.alt)),
        PictureSource::Addresses { light, dark } => {
            let dark = dark.as_ref().map(|dark| {
                format!("<source media=\"(prefers-color-scheme: dark)\" srcset=\"{dark}\">\n")
            });
            format!(
                "<picture>\n{}<img alt=\"{}\" src=\"{light}\" width=\"{}\">\n</picture>",
                dark.unwrap_or_default(),
                in_html(&picture.alt),
                picture.width
            )
        }
    }
}

/// Returns bars of characters as a code block. The words are ours, so they are not escaped.
fn fenced(lines: &[(String, String)], legend: &str) -> String {
    let names = lines.iter().map(|(name, _)| name.chars().count());
    let names = names.max().unwrap_or(0);
    let mut text = "```text".to_owned();
    for (name, drawn) in lines {
        text.push_str(&format!("\n{name:names$}  {drawn}"));
    }
    if !legend.is_empty() {
        text.push_str(&format!("\n{:names$}  {legend}", ""));
    }
    text + "\n```"
}
