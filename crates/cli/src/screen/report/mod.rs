//! A report on the terminal: the verdict first, then what it rests on.

mod gpu_time;
mod idle;
mod kernels;
mod recording;
mod sparklines;
mod surroundings;
mod verdict;

use metalens_analyzer::Report;
use metalens_text::shown;

use super::columns::{Columns, wrap};
use super::style::{FAINT, TITLE};
use crate::{unbroken, words};

/// Lines are no longer than this, however wide the terminal is.
const WIDEST: usize = 100;
/// Narrower than this no table can be read: the terminal may break the lines.
const NARROWEST: usize = 60;

/// The whole report, styled, on a terminal of so many columns; ends with a newline.
/// What goes elsewhere is always the same.
pub(crate) fn render(report: &Report, terminal: Option<usize>) -> String {
    let report = &unbroken::report(report);
    let mut screen = Screen {
        text: String::new(),
        width: terminal.map_or(WIDEST, |columns| columns.clamp(NARROWEST, WIDEST)),
    };
    verdict::verdict(report, &mut screen);
    sparklines::sparklines(report, &mut screen);
    verdict::findings(report, &mut screen);
    verdict::targets(report, &mut screen);
    idle::ledger(report, &mut screen);
    idle::gaps(report, &mut screen);
    idle::top_gaps(report, &mut screen);
    idle::latency(report, &mut screen);
    kernels::kernels(report, &mut screen);
    kernels::channels(report, &mut screen);
    kernels::shape(report, &mut screen);
    kernels::known_work(report, &mut screen);
    gpu_time::gpu_time(report, &mut screen);
    gpu_time::processes(report, &mut screen);
    surroundings::phases(report, &mut screen);
    surroundings::machine(report, &mut screen);
    surroundings::cpu(report, &mut screen);
    surroundings::counters(report, &mut screen);
    recording::recording(report, &mut screen);
    notes(report, &mut screen);
    screen.text
}

struct Screen {
    text: String,
    /// How long a line may be.
    width: usize,
}

impl Screen {
    /// How wide a label in a table of numbers may be.
    const fn label(&self) -> usize {
        let room = self.width - NARROWEST;
        if room < 14 { 14 } else { room }
    }

    fn line(&mut self, line: impl AsRef<str>) {
        // All lines are broken: what is copied from a terminal has plain spaces.
        let line = line.as_ref().replace(unbroken::NO_BREAK, " ");
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(format!("\n{TITLE}{title}{TITLE:#}"));
    }

    /// A table whose heading is faint.
    fn columns(&mut self, columns: &Columns) {
        for (at, line) in columns.lines().into_iter().enumerate() {
            match at {
                0 if line.trim().is_empty() => {}
                0 => self.line(format!("{FAINT}{line}{FAINT:#}")),
                _ => self.line(line),
            }
        }
    }

    /// A fact behind its name, wrapped.
    fn fact(&mut self, name: &str, text: &str) {
        for (at, line) in wrap(text, self.width - 14).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.line(format!("  {FAINT}{name:<10}{FAINT:#}  {line}"));
        }
    }

    /// A text in lines, each behind so many blanks.
    fn text(&mut self, indent: usize, text: &str) {
        for line in wrap(text, self.width - indent) {
            self.line(format!("{:indent$}{line}", ""));
        }
    }

    /// The same, behind a dash.
    fn item(&mut self, indent: usize, text: &str) {
        self.marked(indent, '-', text);
    }

    /// The same, behind a mark of one's own.
    fn marked(&mut self, indent: usize, mark: char, text: &str) {
        for (at, line) in wrap(text, self.width - indent - 2).into_iter().enumerate() {
            let mark = if at == 0 { mark } else { ' ' };
            self.line(format!("{:indent$}{mark} {line}", ""));
        }
    }
}

/// A part of a whole, on one line.
fn share(part: u64, whole: u64) -> String {
    unbroken::number(&words::share(part, whole))
}

fn notes(report: &Report, screen: &mut Screen) {
    // The phases say where a warm-up ends, and all of it.
    let notes = report.quiet_notes();
    let notes = notes.filter(|note| note.detail.id != "warm-up");
    let failed = report.sanity.checks.iter().filter(|check| !check.ok);
    let failed = failed.map(|check| check.text.clone());
    let quiet: Vec<String> = notes.map(|note| note.text).chain(failed).collect();
    if quiet.is_empty() && report.not_recorded.is_empty() {
        return;
    }
    screen.section("Notes");
    for note in quiet {
        screen.item(2, &shown(&note));
    }
    if !report.not_recorded.is_empty() {
        let missing = report.not_recorded.iter().map(|one| one.what.as_str());
        let missing = missing.collect::<Vec<_>>().join(", ");
        let text = format!("this input cannot tell: {missing}; --json and --markdown say why");
        screen.item(2, &shown(&text));
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn report_of(preset: &str) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export");
        let scenario = metalens_simulator::Scenario::preset(preset).unwrap();
        metalens_simulator::write_export(&scenario, &export, false).unwrap();
        let input = metalens_trace::Input::open(&export).unwrap();
        let options = metalens_trace::LoadOptions::default();
        let trace = input.load(&metalens_analyzer::selection(), options);
        let request = metalens_analyzer::Request::default();
        metalens_analyzer::analyze(trace.unwrap(), &request)
            .unwrap()
            .report
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for preset in ["eager", "renderer", "awkward"] {
            let report = report_of(preset);
            let elsewhere = render(&report, None);
            for terminal in [80, 100, 140] {
                let text = render(&report, Some(terminal));
                let plain = anstream::adapter::strip_str(&text).to_string();
                let limit = terminal.min(WIDEST);
                let wide = plain.lines().filter(|line| line.width() > limit);
                let wide: Vec<&str> = wide.collect();
                assert!(wide.is_empty(), "{preset} at {terminal}: {wide:#?}");
                assert_eq!(text == elsewhere, limit == WIDEST);
            }
        }
    }
}
