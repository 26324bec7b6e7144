//! Words for what the stacks of a profile weigh, and whose they are.

use metalens_analyzer::{Profile, WeightUnit};
use metalens_text::shown;
use metalens_text::units::{count, counted, time};

/// Returns the names of the analyzed processes.
pub(super) fn process_names(profile: &Profile) -> String {
    if profile.how.is_none() {
        return "all processes".to_owned();
    }

    let mut names: Vec<String> = profile
        .processes
        .iter()
        .filter(|process| process.is_analyzed)
        .map(|process| shown(process.name.as_deref().unwrap_or("unknown process")).into_owned())
        .collect();
    names.dedup();
    names.join(", ")
}

/// Formats a weight in its unit.
pub(super) fn weight(weight: u64, unit: WeightUnit) -> String {
    match unit {
        WeightUnit::Ns => time(weight),
        WeightUnit::Cycles => counted(weight, "cycle"),
        WeightUnit::Samples => count(weight),
    }
}

/// Formats a share. A dash if it is unknown.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
