//! What it comes to: four sentences, the findings, the targets.

use metalens_analyzer::{Finding, Report, Severity, ThresholdResult, Verdict, Wanted};
use metalens_text::shown;

use super::Screen;
use crate::screen::columns::{Align, Columns, wrap};
use crate::screen::style::{BAD, FAINT, GOOD, LOUD, VERDICT};
use crate::unbroken::{percent, time};
use crate::words::{evidence, valued};

/// Places to look at beyond this many are left to the report's other forms.
const PLACES: usize = 3;
/// Findings beyond this many are told in one line each.
const IN_FULL: usize = 5;

/// The four sentences, and notes that change what every number means.
pub(super) fn verdict(report: &Report, screen: &mut Screen) {
    let summary = &report.summary;
    for line in wrap(&shown(&format!("{}.", summary.busy)), screen.width) {
        screen.line(format!("{VERDICT}{line}{VERDICT:#}"));
    }
    let rest = [Some(&summary.idle), summary.cause.as_ref()];
    for sentence in rest.into_iter().flatten() {
        screen.text(0, &shown(&format!("{sentence}.")));
    }
    for line in wrap(&shown(&format!("{}.", summary.advice)), screen.width) {
        screen.line(format!("{VERDICT}{line}{VERDICT:#}"));
    }
    for note in report.loud_notes() {
        for line in wrap(&shown(&note.text), screen.width) {
            screen.line(format!("{LOUD}{line}{LOUD:#}"));
        }
    }
}

/// The findings, what matters most first.
pub(super) fn findings(report: &Report, screen: &mut Screen) {
    screen.section("Findings");
    if report.findings.is_empty() {
        screen.line("  none: nothing costs much, and nothing speaks against these numbers");
    }
    let shown = report.findings.len().min(IN_FULL);
    let (full, rest) = report.findings.split_at(shown);
    let mut said: Vec<&[String]> = Vec::new();
    for (at, finding) in full.iter().enumerate() {
        if at > 0 {
            screen.line("");
        }
        one_finding(finding, &evidence(finding), &said, screen);
        said.push(&finding.look_at);
    }
    if !rest.is_empty() {
        screen.line("");
        for finding in rest {
            title(finding, screen);
        }
        screen.text(10, "(--markdown and --json have all of them in full)");
    }
}

/// A finding in full. Places that one before it had are not said again.
fn one_finding(finding: &Finding, evidence: &str, said: &[&[String]], screen: &mut Screen) {
    title(finding, screen);
    if let Some(gain) = finding.gain {
        let (time, factor) = (time(gain.at_most_ns), gain.speedup);
        screen.line(format!(
            "          {GOOD}at most {time} to gain: {factor:.1} times as fast{GOOD:#}"
        ));
    }
    screen.text(10, &shown(evidence));
    if !finding.look_at.is_empty() && !said.contains(&finding.look_at.as_slice()) {
        let places: Vec<&str> = finding
            .look_at
            .iter()
            .take(PLACES)
            .map(String::as_str)
            .collect();
        let places = format!("Look at: {}", places.join("; "));
        screen.text(10, &shown(&format!("{places}.")));
    }
    screen.marked(10, '→', &finding.advice);
}

/// How much it matters, and what it is.
fn title(finding: &Finding, screen: &mut Screen) {
    let word = severity(finding.severity);
    let style = match finding.severity {
        Severity::High => BAD,
        Severity::Medium => LOUD,
        Severity::Low | Severity::Caveat => FAINT,
    };
    let title = wrap(&shown(&finding.title), screen.width - 10);
    for (at, line) in title.into_iter().enumerate() {
        let word = if at == 0 { word } else { "" };
        screen.line(format!(
            "  {style}{word:<7}{style:#} {VERDICT}{line}{VERDICT:#}"
        ));
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "HIGH",
        Severity::Medium => "MEDIUM",
        Severity::Low => "LOW",
        Severity::Caveat => "CAVEAT",
    }
}

/// The targets: value, limit, verdict.
pub(super) fn targets(report: &Report, screen: &mut Screen) {
    screen.section("Targets");
    let mut columns = Columns::new(&[
        ("", Align::Left),
        ("value", Align::Right),
        ("target", Align::Right),
        ("", Align::Left),
    ]);
    for target in &report.thresholds {
        let side = match target.wanted {
            Wanted::Below => "<",
            Wanted::Above => ">",
        };
        columns.row([
            target.id.clone(),
            target
                .value
                .map_or_else(|| "-".to_owned(), |value| valued(value, target.unit)),
            format!("{side} {}", valued(target.limit, target.unit)),
            verdict_word(target),
        ]);
    }
    screen.columns(&columns);
    screen.text(2, &efficiency(report));
    for target in report
        .thresholds
        .iter()
        .filter(|one| one.verdict == Verdict::NotMeasurable)
    {
        screen.item(2, &format!("{}: {}", target.id, target.why));
    }
}

fn verdict_word(target: &ThresholdResult) -> String {
    match target.verdict {
        Verdict::Pass => format!("{GOOD}PASS{GOOD:#}"),
        Verdict::Fail => format!("{BAD}FAIL{BAD:#}"),
        Verdict::NotMeasurable => format!("{LOUD}NOT MEASURABLE{LOUD:#}"),
    }
}

/// GPU time by each idea of what the run time is.
fn efficiency(report: &Report) -> String {
    let efficiency = &report.efficiency;
    let of = |share: Option<f64>, ns: Option<u64>, name: &str| {
        Some(format!("{} of {name} ({})", percent(share?), time(ns?)))
    };
    let all = [
        of(
            efficiency.of_program,
            efficiency.program_ns,
            "the time from first encoding to last completion",
        ),
        of(
            efficiency.of_steady,
            efficiency.steady_ns,
            "the steady part",
        ),
        of(
            efficiency.of_wall,
            efficiency.wall_ns,
            "the whole recording",
        ),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("The GPU time is {}.", all.join(", ")),
    }
}
