//! Formats the functions and threads with the most weight.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{CollapsedStacks, CpuFrame, Profile, WeightUnit};
use metalens_render::terminal::style::{TITLE, VERDICT};
use metalens_render::terminal::{Align, Columns};
use metalens_text::shown;
use metalens_text::units::{count, counted};

use crate::out;

use super::words::{percent, process_names, weight};

/// Formats the functions and threads with the most weight.
pub(super) fn screen(profile: &Profile) -> String {
    let processes = process_names(profile);
    let mut text = format!(
        "{VERDICT}{processes}: {} of {}, {}{VERDICT:#}\n",
        counted(profile.samples, "CPU sample"),
        counted(profile.thread_count, "thread"),
        weight(profile.weight, profile.weight_unit),
    );

    let section = |title: &str, frames: &[CpuFrame]| {
        format!(
            "\n{TITLE}{title}{TITLE:#}\n{}",
            functions(frames, profile.weight_unit)
        )
    };
    text.push_str(&section("Functions by self weight", &profile.self_frames));
    text.push_str(&section(
        "Functions by total weight, with callees",
        &profile.total_frames,
    ));

    text.push_str(&format!("\n{TITLE}Threads{TITLE:#}\n"));
    let mut columns = Columns::new(&[
        ("weight", Align::Right),
        ("samples", Align::Right),
        ("running", Align::Right),
        ("thread", Align::Left),
    ]);
    for thread in profile.threads.iter().take(SHOWN) {
        columns.row([
            weight(thread.weight, profile.weight_unit),
            count(thread.samples),
            percent(thread.running_share),
            shown(&thread.name).into_owned(),
        ]);
    }
    text.push_str(&columns.fit(out::text_width()).text());
    text
}

/// Formats the functions with the most weight while the GPU was idle.
pub(super) fn while_idle(stacks: &CollapsedStacks, notes: &[String]) -> String {
    let mut text = String::new();
    for note in notes {
        text.push_str(&format!("{VERDICT}{}{VERDICT:#}\n", shown(note)));
    }
    let mut by_function: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (stack, weight) in &stacks.lines {
        // The first two are the process and the thread.
        let frames = || stack.split(';').skip(2);
        if let Some(last) = frames().last() {
            by_function.entry(last).or_default()[0] += weight;
        }
        for frame in frames().collect::<BTreeSet<&str>>() {
            by_function.entry(frame).or_default()[1] += weight;
        }
    }

    let unit = stacks.unit;
    let whole: u64 = stacks.lines.iter().map(|(_, weight)| weight).sum();
    let titles = [
        "Functions by self weight",
        "Functions by total weight, with callees",
    ];
    for (which, title) in titles.into_iter().enumerate() {
        let mut weights: Vec<(u64, &str)> = by_function
            .iter()
            .filter_map(|(name, own)| Some((*own.get(which)?, *name)))
            .filter(|(own, _)| *own > 0)
            .collect();
        weights.sort_by_key(|&(own, name)| (Reverse(own), name));
        let mut columns = Columns::new(&[
            ("weight", Align::Right),
            ("share", Align::Right),
            ("function", Align::Left),
        ]);
        for (own, name) in weights.into_iter().take(SHOWN) {
            columns.row([
                weight(own, unit),
                percent(Some(ratio(own, whole))),
                shown(name).into_owned(),
            ]);
        }
        text.push_str(&format!(
            "\n{TITLE}{title}{TITLE:#}\n{}",
            columns.fit(out::text_width()).text()
        ));
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Number of rows of each table.
const SHOWN: usize = 20;

/// Formats a table of functions.
fn functions(frames: &[CpuFrame], unit: WeightUnit) -> String {
    let mut columns = Columns::new(&[
        ("weight", Align::Right),
        ("share", Align::Right),
        ("samples", Align::Right),
        ("binary", Align::Left),
        ("function", Align::Left),
    ]);
    for frame in frames.iter().take(SHOWN) {
        columns.row([
            weight(frame.weight, unit),
            percent(frame.share),
            count(frame.samples),
            shown(frame.binary.as_deref().unwrap_or("-")).into_owned(),
            shown(frame.function.as_deref().unwrap_or("(no symbol)")).into_owned(),
        ]);
    }
    columns.fit(out::text_width()).text()
}
