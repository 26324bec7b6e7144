//! Writes a document as a comment on a pull request, or as a job summary: the verdict first, and
//! never longer than GitHub accepts.
//!
//! Sections with a high priority number are folded. Where there is too much, tables lose rows and
//! then sections go, the highest number first. The last line says which went.

use metalens_text::units::count;

use super::blocks::{Markdown, PREVIEW};
use super::escape::in_html;
use super::fit::{PagePart, fitted};
use super::picture::Picture;
use crate::document::{Block, Document, Section, Table};
use crate::error::Result;

/// The longest comment, in bytes. GitHub documents 65,536 characters; others found that it counts
/// bytes, and accepts four times as many. Bytes are never fewer than characters or UTF-16 units, so
/// this keeps whichever limit applies, and leaves room for the addresses that `gh` writes into a
/// body.
pub const COMMENT_LIMIT: usize = 60_000;
/// The longest job summary of a step, in bytes: 1 MiB, minus the text around it.
pub const SUMMARY_LIMIT: usize = 1_000_000;
/// The charts of a report that a comment shows; the tables have what others would show.
pub const REPORT_CHARTS: [&str; 1] = ["timeline"];
/// The priority from which on sections are folded.
const FOLDED: u8 = 5;
/// Largest number of warnings, because they precede everything else.
const MOST_WARNINGS: usize = 5;
/// Largest number of lines that a reader sees before unfolding anything. A picture is one line.
const MOST_LINES: usize = 60;
/// The priority of a whole table, which is dropped before the section that previews it.
const WHOLE_TABLE: u8 = 4;

/// The parts of a comment that are not in its document.
#[derive(Debug, Clone, Default)]
pub struct CommentFrame {
    /// The name of the comment, by which the next run finds it.
    pub key: String,
    /// The recorded commit, in hexadecimal digits.
    pub commit: Option<String>,
    /// The charts. Without any, some are drawn with characters.
    pub pictures: Vec<Picture>,
    /// The number of charts that the folder has.
    pub charts: usize,
    /// Links at the end of the comment, each a text of ours and an address.
    pub links: Vec<(String, String)>,
}

/// Returns the first line of a comment of this name, by which it is found again.
pub fn marker(key: &str) -> String {
    format!("<!-- metalens:{key} -->")
}

/// A part of a comment.
enum CommentPart<'a> {
    Head(&'a [Section]),
    Section(&'a Section),
    /// All rows of a table that has a preview in its section.
    WholeTable(&'a Section, &'a Table),
    Foot,
}

/// Returns the comment, which has at most `limit` bytes and ends with a line break.
pub fn comment(document: &Document, frame: &CommentFrame, limit: usize) -> Result<String> {
    let contents = contents(document);
    let parts: Vec<PagePart> = contents.iter().map(part).collect();
    let render = |at: usize, most: usize, left_out: &[&str], is_folded: bool| {
        let markdown = Markdown {
            is_comment: true,
            pictures: &frame.pictures,
            most,
        };
        match contents.get(at) {
            Some(CommentPart::Head(opening)) => head(document, opening, frame, markdown),
            Some(CommentPart::Section(section)) => section_text(section, is_folded, markdown),
            Some(CommentPart::WholeTable(section, table)) => whole_table(section, table, markdown),
            Some(CommentPart::Foot) | None => foot(document, frame, left_out, markdown),
        }
    };

    let numbered = parts.iter().enumerate();
    let open = numbered.map(|(at, part)| open_lines(&render(at, part.rows, &[], false)));
    let mut open: Vec<usize> = open.collect();
    let mut folded = vec![false; parts.len()];
    while open.iter().sum::<usize>() > MOST_LINES {
        // The least important one first, and the last of several.
        let long = parts.iter().zip(&open).enumerate();
        let long = long.filter(|(_, (part, lines))| part.priority > 0 && **lines > 1);
        let Some((at, _)) = long.max_by_key(|(_, (part, _))| part.priority) else {
            break;
        };
        if let (Some(folded), Some(open)) = (folded.get_mut(at), open.get_mut(at)) {
            (*folded, *open) = (true, 1);
        }
    }

    let render = |at: usize, most: usize, left_out: &[&str]| {
        let is_folded = folded.get(at) == Some(&true);
        render(at, most, left_out, is_folded)
    };
    fitted(&parts, limit, &render)
}

/// Returns the number of lines that are seen before anything is unfolded, without empty ones.
fn open_lines(markdown: &str) -> usize {
    let mut depth = 0_usize;
    let mut lines = 0;
    for line in markdown.lines() {
        depth += line.matches("<details>").count();
        let is_seen = depth == 0 && !line.is_empty() && !line.starts_with('<');
        let is_summary = depth == 1 && line.starts_with("<summary>");
        lines += usize::from(is_seen || is_summary || line.starts_with("<img"));
        depth = depth.saturating_sub(line.matches("</details>").count());
    }
    lines
}

/// Returns the parts of the comment. Sections without a title come first, folded ones last.
fn contents(document: &Document) -> Vec<CommentPart<'_>> {
    let sections = document.sections.as_slice();
    let is_opening = |section: &Section| section.title.text.is_empty();
    let opening = sections
        .iter()
        .take_while(|section| is_opening(section))
        .count();
    let (opening, sections) = sections.split_at(opening);
    let mut contents = vec![CommentPart::Head(opening)];
    let (folded, open): (Vec<&Section>, Vec<&Section>) =
        sections.iter().partition(|section| is_folded(section));
    let mut whole = Vec::new();
    for section in open.into_iter().chain(folded) {
        contents.push(CommentPart::Section(section));
        for block in &section.blocks {
            if let Block::Table(table) = block
                && table.has_preview
                && table.rows.len() > PREVIEW
            {
                whole.push(CommentPart::WholeTable(section, table));
            }
        }
    }
    contents.extend(whole);
    contents.push(CommentPart::Foot);
    contents
}

fn part(content: &CommentPart<'_>) -> PagePart {
    let (name, priority, rows) = match content {
        CommentPart::Head(_) | CommentPart::Foot => (String::new(), 0, usize::MAX),
        CommentPart::Section(section) => {
            let rows = section.blocks.iter().map(row_count).max();
            (
                section.title.text.clone(),
                section.priority,
                rows.unwrap_or(0),
            )
        }
        CommentPart::WholeTable(section, table) => {
            let name = format!("{} in full", section.title.text);
            (name, section.priority + WHOLE_TABLE, table.rows.len())
        }
    };
    PagePart {
        name,
        priority,
        rows,
    }
}

/// Returns the number of rows of a block that can be left out one by one.
fn row_count(block: &Block) -> usize {
    match block {
        Block::List(items) => items.len(),
        Block::Missing(facts) => facts.len(),
        Block::Findings(findings) | Block::FirstSteps(findings) => findings.len(),
        Block::Table(table) if !table.has_preview => table.rows.len(),
        _ => 0,
    }
}

fn head(
    document: &Document,
    opening: &[Section],
    frame: &CommentFrame,
    markdown: Markdown<'_>,
) -> String {
    let title = markdown.named(&document.title);
    let mut text = format!("{}\n### {title}\n\n", marker(&frame.key));
    let is_warning = |block: &&Block| matches!(block, Block::Warning(_));
    for section in opening {
        let mut section = section.clone();
        let warnings = section.blocks.iter().filter(is_warning).count();
        let mut surplus = warnings.saturating_sub(MOST_WARNINGS);
        section.blocks.retain(|block| {
            let goes = surplus > 0 && is_warning(&block);
            surplus -= usize::from(goes);
            !goes
        });
        text.push_str(&markdown.blocks(&section));
        text.push_str("\n\n");
    }
    text
}

fn section_text(section: &Section, folds: bool, markdown: Markdown<'_>) -> String {
    let text = markdown.blocks(section);
    if text.is_empty() {
        return text;
    }
    markdown.under(&section.title, folds || is_folded(section), &text) + "\n\n"
}

/// Returns whether a reader has to unfold a section.
fn is_folded(section: &Section) -> bool {
    section.is_folded || section.priority >= FOLDED
}

fn whole_table(section: &Section, table: &Table, markdown: Markdown<'_>) -> String {
    let shown = table.rows.len().min(markdown.most);
    let text = markdown.rows(table, shown, |_| true);
    format!(
        "<details>\n<summary>{} in full ({} of {} shown)</summary>\n\n{text}\n\n</details>\n\n",
        in_html(&section.title.text),
        count(shown as u64),
        count(table.total as u64),
    )
}

fn foot(
    document: &Document,
    frame: &CommentFrame,
    left_out: &[&str],
    markdown: Markdown<'_>,
) -> String {
    let links = frame.links.iter();
    let links: Vec<String> = links
        .map(|(text, url)| format!("[{text}]({url})"))
        .collect();
    let mut text = links.join(" · ");
    if !left_out.is_empty() {
        text.push_str(if text.is_empty() { "" } else { "\n\n" });
        text.push_str(&format!(
            "Left out to keep within GitHub's limit: {}. The report folder has them.",
            super::escape::in_markdown(&left_out.join(", "))
        ));
    }

    if !text.is_empty() {
        text.push_str("\n\n");
    }
    let mut said = vec![markdown.text(&document.footer)];
    said.extend(
        frame
            .commit
            .as_ref()
            .map(|commit| format!("recorded at commit {commit}")),
    );

    let shown = frame.pictures.len();
    if shown > 0 && shown < frame.charts {
        said.push(format!("{shown} of {} charts shown", frame.charts));
    }
    text + &format!("<sub>{}</sub>\n", said.join(" · "))
}

#[cfg(test)]
mod tests {
    use metalens_analyzer::Severity;

    use super::*;
    use crate::document::{Column, FindingEntry};
    use crate::report::document;
    use crate::wording::plain;

    /// Returns the number of lines that a reader of the comment sees.
    fn lines_of(document: &Document) -> usize {
        open_lines(&comment(document, &CommentFrame::default(), COMMENT_LIMIT).unwrap())
    }

    #[test]
    fn folded_lines_are_not_seen() {
        let check = |markdown: &str, expected: usize| {
            assert_eq!(open_lines(markdown), expected, "{markdown}");
        };
        check("<!-- key -->\n### Title\n\na\nb\n", 3);
        let folded = "<details>\n<summary>More</summary>\n\na\n\nb\n\n</details>\n";
        check(folded, 1);
        let outer = format!("<details>\n<summary>All</summary>\n\n{folded}\n</details>\n\nc\n");
        check(&outer, 2);
        check(
            "<picture>\n<source srcset=\"a\">\n<img src=\"b\">\n</picture>\n",
            1,
        );
    }

    #[test]
    fn a_reader_sees_at_most_sixty_lines() {
        for name in ["eager", "renderer", "shared-machine", "awkward", "two-runs"] {
            let report = metalens_testing::analysis_of(name).report;
            let lines = lines_of(&document(&report));
            assert!((10..=MOST_LINES).contains(&lines), "{name}: {lines}");
        }
    }

    /// A document with more of everything than a recording has.
    #[test]
    fn a_long_comment_folds_what_matters_least() {
        let words = |number: usize| plain("words ".repeat(number));
        let finding = |at: usize| FindingEntry {
            id: format!("finding-{at}"),
            severity: Severity::High,
            title: words(5),
            gain: None,
            evidence: words(5),
            places: vec![words(5); 9],
            action: words(5),
            advice: words(5),
            framework_advice: Vec::new(),
            counter_evidence: words(5),
        };
        let mut sections = vec![
            Section::new("verdict", "", 0)
                .with_all((0..20).map(|at| Block::Warning(words(at + 1)))),
            Section::new("findings", "Findings", 2)
                .with(Block::Findings((0..20).map(finding).collect())),
        ];
        for priority in 1..=4 {
            let mut table = Table::new("t", "Rows", vec![Column::name("row")]);
            for _ in 0..50 {
                table.row([words(1)]);
            }
            let title = words(usize::from(priority));
            sections.push(Section::new("rows", title, priority).with(Block::Table(table)));
        }
        let document = Document {
            title: "Long".into(),
            sections,
            footer: "end".into(),
        };
        assert!(lines_of(&document) <= MOST_LINES);
        // The head is never folded.
        let text = comment(&document, &CommentFrame::default(), COMMENT_LIMIT).unwrap();
        assert_eq!(text.matches("[!WARNING]").count(), MOST_WARNINGS);
    }
}
