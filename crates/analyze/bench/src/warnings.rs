//! Finds the reasons to doubt the figures of a benchmark.

use metalens_analyzer::Note;
use metalens_comparison::{Number, find_outliers};
use metalens_message::{Message, Ns, Share, count, message, name};
use metalens_text::number::rounded;

use crate::result::{PairResult, VariantResult};
use crate::standing::SURE;
use crate::wall_time::WALL;

/// Share of the window from which on other processes are worth a warning.
const OTHERS: f64 = 0.05;
/// Smallest distance of an outlier, as a share of the median.
const FAR: f64 = 0.05;

/// Returns the warnings, those that change the meaning of all numbers first.
pub(crate) fn warnings(variants: &[VariantResult], pairs: &[PairResult]) -> Vec<Message> {
    let mut warnings = loud(variants);
    warnings.extend(variants.iter().filter_map(failed));
    warnings.extend(variants.iter().filter_map(cut));
    warnings.extend(circumstances(pairs));
    warnings.extend(variants.iter().filter_map(others));
    warnings.extend(variants.iter().filter_map(outliers));
    warnings.extend(too_few_runs(pairs));
    warnings
}

/// Returns the notes of the reports that change the meaning of their numbers, each with its
/// variants. That the recordings are synthetic is said elsewhere.
fn loud(variants: &[VariantResult]) -> Vec<Message> {
    let mut notes: Vec<(&Note, Vec<&str>)> = Vec::new();
    for variant in variants {
        for note in &variant.recorded.loud {
            if note.id == "synthetic" {
                continue;
            }
            match notes
                .iter_mut()
                .find(|(known, _)| known.text() == note.text())
            {
                Some((_, names)) => names.push(&variant.name),
                None => notes.push((note, vec![&variant.name])),
            }
        }
    }
    let quoted = notes.into_iter().map(|(note, names)| {
        let names = names.into_iter().map(name);
        message!("{}: {}", Message::joined(names, ", "), &note.message)
    });
    quoted.collect()
}

/// Says that so few runs cannot have the usual confidence.
fn too_few_runs(pairs: &[PairResult]) -> Option<Message> {
    let intervals = pairs.iter().map(|pair| pair.wall.interval);
    let least = intervals
        .map(|interval| interval.map_or(0.0, |interval| interval.confidence))
        .reduce(f64::min)
        .filter(|&least| least < SURE - 1e-9)?;
    Some(if least == 0.0 {
        "one run per variant cannot separate a difference from noise: use --runs 5".into()
    } else {
        message!(
            "the confidence is only {}, because there are so few runs: use --runs 5",
            Share(least)
        )
    })
}

/// Says that the program failed in some of the runs.
fn failed(variant: &VariantResult) -> Option<Message> {
    let failures = || {
        variant
            .runs
            .iter()
            .filter_map(|run| run.end.failure.as_deref())
    };
    let first = failures().next()?;
    Some(message!(
        "{}: {} in {} of {} runs (--ignore-failure)",
        name(&variant.name),
        metalens_message::quote(first),
        count(failures().count() as u64),
        count(variant.runs.len() as u64)
    ))
}

/// Says that a time limit ended some of the runs, and not the others.
fn cut(variant: &VariantResult) -> Option<Message> {
    let cut = variant.runs.iter().filter(|run| run.end.is_cut).count();
    let is_partly = cut > 0 && cut < variant.runs.len();
    is_partly.then(|| {
        message!(
            "{}: the time limit ended {} of {} runs; the others ended on their own",
            name(&variant.name),
            count(cut as u64),
            count(variant.runs.len() as u64)
        )
    })
}

/// Returns the circumstances in which variants differ, and those in which runs of one differ.
fn circumstances(pairs: &[PairResult]) -> Vec<Message> {
    let mut warnings: Vec<Message> = Vec::new();
    let mut add = |message: Message| {
        if warnings.iter().all(|known| known.text != message.text) {
            warnings.push(message);
        }
    };
    for pair in pairs {
        let comparable = &pair.comparison.comparable;
        for differ in &comparable.differ {
            add(message!(
                "{}: {} {}, {} {}; this may cause a difference",
                name(&differ.what),
                name(&pair.base),
                &differ.base,
                name(&pair.new),
                &differ.new
            ));
        }
    }
    warnings
}

/// Says that other processes used the GPU.
fn others(variant: &VariantResult) -> Option<Message> {
    let shares = variant
        .recorded
        .others
        .iter()
        .flatten()
        .map(|share| share.get());
    let most = shares
        .max_by(f64::total_cmp)
        .filter(|&most| most >= OTHERS)?;
    Some(message!(
        "{}: other processes used the GPU for up to {} of the window; close them and run again",
        name(&variant.name),
        Share(most)
    ))
}

/// Names the runs that are far from the others of their variant. A slow first run gets its own
/// sentence, because a warm-up run helps there.
fn outliers(variant: &VariantResult) -> Option<Message> {
    let values = variant.recorded.metrics.get(WALL)?;
    let known: Vec<f64> = values
        .iter()
        .flatten()
        .map(|value: &Number| value.get())
        .collect();
    if known.len() != values.len() {
        return None;
    }
    let middle = metalens_comparison::median(&known)?;
    let far = find_outliers(&known, FAR * middle)?;
    let first = far.outliers.first()?;
    let value = known.get(first.index).copied()?;
    let range = message!("{} to {}", ns(far.others.0), ns(far.others.1));
    if far.outliers.len() == 1 && first.index == 0 && value > far.median {
        return Some(message!(
            "{}: the first run was slow: {}; the others took {}; use --warmup 1",
            name(&variant.name),
            ns(value),
            range
        ));
    }

    let far = far.outliers.iter().filter_map(|outlier| {
        let round = count(outlier.index as u64 + 1);
        Some(message!(
            "run {} took {}",
            round,
            ns(*known.get(outlier.index)?)
        ))
    });

    Some(message!(
        "{}: {}, far from the others ({}): something else may have used the machine",
        name(&variant.name),
        Message::joined(far, ", "),
        range
    ))
}

fn ns(value: f64) -> Message {
    Ns(rounded(value.max(0.0))).into()
}
