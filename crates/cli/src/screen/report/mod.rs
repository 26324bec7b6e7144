//! A report on the terminal: the verdict first, then what it rests on.

mod gpu_time;
mod idle;
mod kernels;
mod recording;
mod sparklines;
mod surroundings;
mod verdict;

use metalens_analyzer::{Report, is_loud};

use super::columns::{Columns, wrap};
use super::safe::safe;
use super::style::{FAINT, TITLE};
use crate::words::share;

/// Lines are no longer than this.
const WIDTH: usize = 100;
/// The widest label in a table.
const LABEL: usize = 40;

/// The whole report, styled; ends with a newline.
pub(crate) fn render(report: &Report) -> String {
    let mut screen = Screen::default();
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

#[derive(Default)]
struct Screen {
    text: String,
}

impl Screen {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
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
        for (at, line) in wrap(text, WIDTH - 14).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.line(format!("  {FAINT}{name:<10}{FAINT:#}  {line}"));
        }
    }

    /// A text in lines, each behind so many blanks.
    fn text(&mut self, indent: usize, text: &str) {
        for line in wrap(text, WIDTH - indent) {
            self.line(format!("{:indent$}{line}", ""));
        }
    }

    /// The same, behind a dash.
    fn item(&mut self, indent: usize, text: &str) {
        self.marked(indent, '-', text);
    }

    /// The same, behind a mark of one's own.
    fn marked(&mut self, indent: usize, mark: char, text: &str) {
        for (at, line) in wrap(text, WIDTH - indent - 2).into_iter().enumerate() {
            let mark = if at == 0 { mark } else { ' ' };
            self.line(format!("{:indent$}{mark} {line}", ""));
        }
    }
}

fn notes(report: &Report, screen: &mut Screen) {
    // The phases say where a warm-up ends, and all of it.
    let said = |note: &str| report.phases.warm_up.is_some() && note.starts_with("warm-up: ");
    let notes = report.notes.iter().map(String::as_str);
    let notes = notes.filter(|note| !is_loud(note) && !said(note));
    let failed = report.sanity.checks.iter().filter(|check| !check.ok);
    let quiet: Vec<&str> = notes
        .chain(failed.map(|check| check.says.as_str()))
        .collect();
    if quiet.is_empty() && report.unavailable.is_empty() {
        return;
    }
    screen.section("Notes");
    for note in quiet {
        screen.item(2, &safe(note));
    }
    if !report.unavailable.is_empty() {
        let missing = report.unavailable.iter().map(|one| one.what.as_str());
        let missing = missing.collect::<Vec<_>>().join(", ");
        let text = format!("this input cannot tell: {missing}; --json and --markdown say why");
        screen.item(2, &safe(&text));
    }
}
