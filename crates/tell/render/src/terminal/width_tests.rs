//! Tests screens in terminals of several widths.

use anstream::adapter::strip_str;
use metalens_analyzer::{Cause, Report};
use metalens_message::Ns;

use super::*;
use crate::report::{brief, document};

fn reports() -> Vec<Report> {
    let names = ["eager", "renderer", "shared-machine", "awkward"];
    let analyses = names.into_iter().map(metalens_testing::analysis_of);
    analyses.map(|analysis| analysis.report).collect()
}

/// Returns the screen of a terminal without its colors.
fn screen(document: &Document, columns: usize) -> String {
    strip_str(&text(document, Some(columns))).to_string()
}

/// A terminal that is narrower than sixty columns breaks the lines; any other has whole lines.
#[test]
fn lines_fit_the_terminal() {
    let mut wide = Vec::new();
    for report in reports() {
        for columns in [40, 60, 72, 80, 100, 140, 200] {
            for shown in [brief(&report), document(&report)] {
                let screen = screen(&shown, columns);
                let lines = screen.lines().map(|line| (line.width(), line));
                let limit = columns.max(NARROWEST);
                let too_wide = lines.filter(|(width, _)| *width > limit);
                wide.extend(too_wide.map(|(width, line)| format!("{columns}: {width}: {line}")));
            }
        }
    }
    assert_eq!(wide, <[String; 0]>::default());
}

/// Names of causes are never shortened: they are the words of the documents.
#[test]
fn causes_of_idle_time_are_whole_in_a_narrow_terminal() {
    for report in reports() {
        for columns in [40, 60, 80] {
            let screen = screen(&document(&report), columns);
            let idle = screen.split("Idle time by cause\n").nth(1).unwrap();
            for (cause, ns) in report.idle.parts.largest_first() {
                let is_there = idle
                    .lines()
                    .any(|line| line.trim().starts_with(cause.label()));
                assert!(
                    is_there || ns == Ns(0),
                    "{columns}: {}: {idle}",
                    cause.label()
                );
            }
        }
    }
}

/// Names may be shortened, words of metalens not.
#[test]
fn no_word_of_metalens_is_cut_at_eighty_columns() {
    for report in reports() {
        let document = document(&report);
        let screen = screen(&document, 80);
        let tables = document.sections.iter().flat_map(Section::tables);
        let rows = tables.flat_map(|table| table.rows.iter().take(table.short));
        let first = rows.filter_map(|row| row.first());
        for words in first.filter(|cell| !cell.is_name()) {
            let words = words.text.text.as_str();
            assert!(screen.contains(words), "{words} in {screen}");
        }
    }
}

/// Each cause of idle time has one line.
#[test]
fn meanings_of_causes_are_whole_at_eighty_columns() {
    for report in reports() {
        let screen = screen(&brief(&report), 80);
        let (_, idle) = screen.split_once("Idle time by cause\n").unwrap();
        let (idle, _) = idle.split_once("\n\n").unwrap();
        for cause in Cause::ALL {
            let begins = format!("  {}  ", cause.label());
            let mut lines = idle.lines().filter(|line| line.starts_with(&begins));
            assert!(
                lines.all(|line| line.ends_with(cause.explanation())),
                "{idle}"
            );
        }
    }
}

/// A wider terminal shows more of a table.
#[test]
fn a_wider_terminal_shows_more_columns() {
    let report = metalens_testing::analysis_of("renderer").report;
    let headings = |columns: usize| {
        let screen = screen(&document(&report), columns);
        let kernels = screen.split("\nPasses\n").nth(1).unwrap();
        let heading = kernels.lines().next().unwrap();
        heading.split_whitespace().count()
    };
    assert!(headings(60) < headings(100), "{}", headings(60));
    assert!(headings(100) <= headings(160), "{}", headings(160));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for preset in ["eager", "renderer", "awkward"] {
        let whole = document(&metalens_testing::analysis_of(preset).report);
        let elsewhere = text(&whole, None);
        for columns in [80, 100, 140] {
            let text = text(&whole, Some(columns));
            let plain = strip_str(&text).to_string();
            let wide = plain.lines().filter(|line| line.width() > columns);
            let wide: Vec<&str> = wide.collect();
            assert!(wide.is_empty(), "{preset} at {columns}: {wide:#?}");
            // Elsewhere the lines are as wide, but names are never shortened.
            if columns == WIDEST_TEXT && preset != "awkward" {
                assert_eq!(text, elsewhere);
            }
        }
    }
}

/// A sentence without room in its table is shown below it, if its verdict asks for a reason.
#[test]
fn sentences_without_room_are_below_the_table() {
    use crate::document::{Cell, Column, Tone};
    let columns = vec![
        Column::name("limit"),
        Column::words("verdict"),
        Column::sentence("reason"),
    ];
    let mut found = Table::new("limits", "Limits", columns);
    for (tone, name) in [(Tone::Good, "kept"), (Tone::Bad, "missed")] {
        let reason = crate::wording::plain(format!("{name} ").repeat(9));
        found.row([
            Cell::from(name),
            Cell::verdict("verdict", tone),
            Cell::from(reason),
        ]);
    }
    let shown = |width: usize| table::lay_out(&[&found], Some(width)).remove(0);
    let sizes = |shown: &table::TableLines| (shown.lines.len(), shown.reasons.len());
    assert_eq!(sizes(&shown(120)), (3, 0));
    assert_eq!(sizes(&shown(60)), (5, 0), "each is in two lines");
    let narrow = shown(42);
    assert_eq!(sizes(&narrow), (3, 1));
    assert!(narrow.reasons[0].contains("missed"));
}

/// Returns the kernels' table of a screen: its heading, its rows, and the lines below them.
fn kernels_of(document: &Document, columns: usize) -> Vec<String> {
    let screen = screen(document, columns);
    let kernels = screen.split("\nPasses\n").nth(1).unwrap();
    let lines = kernels.lines().take_while(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Kernels of one name ran on two channels, so the channel stays in every width, and what has no room
/// is named.
#[test]
fn rows_stay_apart_in_a_narrow_terminal() {
    let report = metalens_testing::analysis_of("renderer").report;
    for columns in [60, 72, 80, 100, 180] {
        let lines = kernels_of(&document(&report), columns);
        let rows = lines.iter().filter(|line| line.contains(" %  "));
        let names = rows.map(|line| {
            let words: Vec<&str> = line.split_whitespace().rev().take(2).collect();
            words.join(" of ")
        });
        let names: Vec<String> = names.collect();
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(names.len(), 12, "{columns}: {lines:#?}");
        assert_eq!(distinct.len(), 12, "{columns}: {lines:#?}");
    }

    let all = ["avg", "min", "max", "stddev", "instances", "med", "channel"];
    for columns in [60, 100] {
        let lines = kernels_of(&document(&report), columns);
        let named = lines
            .iter()
            .find_map(|line| line.trim().strip_prefix("No room for: "));
        let named: Vec<&str> = named.map_or_else(Vec::new, |named| named.split(", ").collect());
        for heading in all {
            let is_shown = lines[0].split_whitespace().any(|word| word == heading);
            assert_eq!(is_shown, !named.contains(&heading), "{columns}: {lines:#?}");
        }
    }
}

/// The column that a reader sorts by is on every screen.
#[test]
fn the_column_to_sort_by_is_never_left_out() {
    let report = metalens_testing::analysis_of("renderer").report;
    for heading in ["stddev", "avg", "min", "channel", "instances"] {
        let mut sorted = document(&report);
        sorted.keep(&["kernels".to_owned()]).unwrap();
        sorted.sort(heading).unwrap();
        for columns in [60, 80, 100] {
            let lines = kernels_of(&sorted, columns);
            let shown = lines[0].split_whitespace();
            assert!(
                shown.into_iter().any(|word| word == heading),
                "{columns}: {lines:#?}"
            );
        }
    }
}

/// Without room for the chart, neither its title nor its scale is printed.
#[test]
fn a_timeline_without_room_is_left_out() {
    let report = metalens_testing::analysis_of("renderer").report;
    let check = |columns: usize, expected: bool| {
        let screen = screen(&brief(&report), columns);
        assert_eq!(screen.contains("each column is"), expected, "{screen}");
        assert_eq!(screen.contains("Timeline"), expected, "{screen}");
    };
    check(60, false);
    check(100, true);
}
