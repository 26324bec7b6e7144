//! Builds the verdict: a word and its reason, four sentences, loud notes, and the window at a glance.

use metalens_analyzer::{Report, Severity, UtilizationChunk};
use metalens_message::{Ns, Quantity, Share, count, message};
use metalens_text::number::rounded;
use metalens_text::units::capital;

use crate::bars::{NONE, column};
use crate::document::{Block, Chart, Drawing, Section};
use crate::wording::{plain, sentence, short_time};

/// Largest number of warnings; the notes of the report have the others.
const WARNINGS: usize = 20;

/// Returns the sentences of the summary, and the notes that change the meaning of every number.
pub(super) fn verdict(report: &Report) -> Section {
    let summary = &report.summary;
    let warning = summary.warning.as_deref();
    let warning = warning.map(|text| sentence(plain(capital(text))));
    // Wrong results come before every number, and what numbers mean right after the first ones.
    let is_about_results = report.findings.first();
    let is_about_results =
        is_about_results.is_some_and(|finding| finding.severity != Severity::Caveat);
    let (first, third) = if is_about_results {
        (warning.map(Block::Failure), None)
    } else {
        (None, warning.map(Block::Warning))
    };
    let mut rest = sentence(summary.idle.clone());
    if let Some(cause) = &summary.cause {
        let cause = sentence(cause.clone());
        rest = message!("{} {}", rest, cause);
    }
    let [steps, slow] = [&summary.steps, &summary.slow].map(|text| text.clone().map(sentence));
    let loud = report.loud_notes().take(WARNINGS);
    let loud = loud.map(|note| note.message.clone());
    let hidden = report.loud_notes().skip(WARNINGS).count() as u64;
    let more = (hidden > 0).then(|| message!("… and {} more, in report.json", count(hidden)));
    let next = summary.next.as_deref();
    let next = next.map(|next| sentence(plain(next)));
    Section::new("verdict", "", 0)
        .with_some(first)
        .with_some(steps.map(Block::Lead))
        .with(Block::Lead(sentence(report.verdict.why.clone())))
        .with_some(slow.map(Block::Lead))
        .with(Block::Lead(summary.busy.clone()))
        .with_some(third)
        .with(Block::Text(rest))
        .with(Block::Lead(summary.advice.clone()))
        .with_some(next.map(Block::Remark))
        .with_all(loud.chain(more).map(Block::Warning))
}

/// Returns the busy share of the GPU over time: a line for the process, and one for other processes
/// if they had any work.
pub(super) fn timeline(report: &Report) -> Section {
    let chunks = &report.shape.utilization;
    let mut lines = Vec::new();
    let mut legend = String::new();
    if let [first, second, ..] = chunks.as_slice() {
        let (of_busy, of_others) = full_heights(report);
        let busy = line(report, of_busy, |chunk| chunk.busy_ns);
        lines.push(("busy".to_owned(), busy));
        let has_others = chunks.iter().any(|chunk| chunk.others_ns > Ns(0));
        if has_others {
            let others = line(report, of_others, |chunk| chunk.others_ns);
            lines.push(("others".to_owned(), others));
        }
        let each = short_time(second.start_ns.saturating_sub(first.start_ns));
        let of_others = (has_others && of_others > of_busy)
            .then(|| message!(" ({} for others)", Share(of_others)));
        let said = message!(
            "each column is {}; full height is {} busy{}, {} means no work",
            each,
            Share(of_busy),
            of_others,
            plain(NONE)
        );
        legend = said.text;
    }

    let drawing = Drawing::Lines(lines, legend);
    let chart = Chart {
        id: "timeline".to_owned(),
        drawing,
    };
    Section::new("timeline", "Timeline", 1).with(Block::Chart(chart))
}

/// Returns the busy shares that a column of full height stands for, in the line of the process and in
/// that of others. It is 100 %, or the largest share of both if that is less than half: else a program
/// that waits would be a flat line. A process that is flat even so has a scale of its own.
fn full_heights(report: &Report) -> (f64, f64) {
    /// A column has eight levels.
    const LEVELS: f64 = 8.0;
    let largest = |part: fn(&UtilizationChunk) -> Ns| {
        let shares = columns(report).filter(|&(_, length_ns)| length_ns > Ns(0));
        let shares = shares.map(|(chunk, length_ns)| share_of(part(chunk), length_ns));
        shares.fold(0.0, f64::max)
    };
    let full = |peak: f64| if peak > 0.0 && peak < 0.5 { peak } else { 1.0 };
    let of_busy = largest(|chunk| chunk.busy_ns);
    let of_both = full(of_busy.max(largest(|chunk| chunk.others_ns)));
    let is_flat = of_busy * LEVELS < of_both;
    (if is_flat { full(of_busy) } else { of_both }, of_both)
}

fn share_of(part_ns: Ns, whole_ns: Ns) -> f64 {
    part_ns.number() / whole_ns.number()
}

fn line(report: &Report, full: f64, busy: fn(&UtilizationChunk) -> Ns) -> String {
    let columns = columns(report);
    columns
        .map(|(chunk, length_ns)| {
            column(
                busy(chunk),
                Ns(rounded((length_ns.number() * full).floor())),
            )
        })
        .collect()
}

/// Returns the parts of the window, each with its length in nanoseconds.
fn columns(report: &Report) -> impl Iterator<Item = (&UtilizationChunk, Ns)> {
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let columns = chunks.iter().zip(ends);
    columns.map(|(chunk, end_ns)| (chunk, end_ns.saturating_sub(chunk.start_ns)))
}
