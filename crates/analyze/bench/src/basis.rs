//! Chooses the unit of work that times are compared per.

use std::iter::zip;

use metalens_comparison::{TimeBasis, WorkAmount, WorkComparison};
use metalens_message::{Message, message};

use crate::result::VariantResult;
use crate::sides::SidePair;

/// Choice of the unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BasisChoice {
    /// Whole runs, unless a time limit ended one.
    #[default]
    Auto,
    /// Whole runs, even if their work differs.
    Run,
    /// Units of work if the amounts of work differ.
    Unit,
}

/// Returns the unit of work, and a sentence on the amounts of work if these differ.
pub(crate) fn choose_basis(
    pairs: &[SidePair<'_>],
    variants: &[VariantResult],
    choice: BasisChoice,
) -> (TimeBasis, Option<Message>) {
    let works: Vec<WorkComparison> = pairs
        .iter()
        .map(|pair| pair.changes.work(false, None))
        .collect();
    let Some((pair, different)) =
        zip(pairs, &works).find(|(_, work)| work.amount != WorkAmount::Same)
    else {
        return (TimeBasis::Whole, None);
    };

    let runs = variants.iter().flat_map(|variant| &variant.runs);
    let is_cut = runs.clone().any(|run| run.end.is_cut);
    let is_whole = match choice {
        BasisChoice::Auto => !is_cut,
        BasisChoice::Run => true,
        BasisChoice::Unit => false,
    };
    let basis = if is_whole || different.amount == WorkAmount::Unknown {
        TimeBasis::Whole
    } else if works.iter().all(|work| work.basis == TimeBasis::Step) {
        TimeBasis::Step
    } else if works
        .iter()
        .all(|work| work.basis == TimeBasis::CommandBuffer || work.amount == WorkAmount::Same)
    {
        TimeBasis::CommandBuffer
    } else {
        TimeBasis::Interval
    };

    let others = if works.len() > 1 {
        "The table has the other variants. "
    } else {
        ""
    };
    let sentence = message!(
        "{}. {}{}",
        pair.changes
            .different_work(different, pair.base.name, &pair.new.name),
        others,
        consequence(basis, choice, is_cut)
    );
    (basis, Some(sentence))
}

/// Says what is compared although the amounts of work differ.
fn consequence(basis: TimeBasis, choice: BasisChoice, is_cut: bool) -> &'static str {
    match (basis, choice, is_cut) {
        (TimeBasis::Whole, BasisChoice::Run, true) => {
            "Whole runs are compared (--per run), although the time limit ended them"
        }
        (TimeBasis::Whole, BasisChoice::Run, false) => "Whole runs are compared (--per run)",
        (TimeBasis::Whole, ..) => {
            "Whole runs are compared, as alternatives for one job; use --per unit if they do different jobs"
        }
        (TimeBasis::Step, ..) => "Times are per step",
        (TimeBasis::CommandBuffer, ..) => "Times are per command buffer",
        _ => "Times are per GPU interval",
    }
}
