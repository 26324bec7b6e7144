//! Finds the fastest variant, and says how sure that is.

use metalens_analyzer::Message;
use metalens_comparison::{Change, ChangeClass, Direction, Number};

use crate::result::{Bench, Rival, Standing, VariantResult, WorkBasis};
use crate::sentences::{alone, fastest, versus};
use crate::wall_time::{needed, time_change};

impl Bench {
    /// Returns the fastest of some of the variants and its rivals, by their positions among these.
    /// None for a single variant, or without any time.
    #[must_use]
    pub fn standing_of(&self, variants: &[&VariantResult]) -> Option<Standing> {
        find_standing(variants, self.basis)
    }
}

/// Finds the fastest variant, and compares all others with it.
pub(crate) fn find_standing(variants: &[&VariantResult], basis: WorkBasis) -> Option<Standing> {
    let mut order: Vec<(usize, f64)> = variants
        .iter()
        .enumerate()
        .filter_map(|(at, one)| Some((at, one.wall.median?.get())))
        .collect();
    order.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let ((best, least), others) = order.split_first()?;
    let fastest = variants.get(*best)?;
    if variants.len() < 2 {
        return None;
    }

    let others = others.iter().filter_map(|&(at, median)| {
        let other = variants.get(at)?;
        let sides = (other.wall_per_unit(basis), fastest.wall_per_unit(basis));
        let change = time_change((&sides.0, &sides.1), basis, false);
        let needed = needed(&change, basis);
        let names = (fastest.name.as_str(), other.name.as_str());
        Some(Rival {
            variant: at,
            times: Number::new(median / least),
            says: versus(names, &change, basis, needed),
            runs_to_tell: needed,
            change,
        })
    });
    let others: Vec<Rival> = others.collect();
    Some(Standing {
        best: *best,
        wins: !others.is_empty() && others.iter().all(|one| is_won(&one.change, basis)),
        others,
    })
}

/// Least confidence of a winner: that of three runs each.
pub(crate) const SURE: f64 = 0.9;

/// Returns whether the change is for the better, large enough to count, and sure enough.
fn is_won(change: &Change, basis: WorkBasis) -> bool {
    // The sum of many chances may miss the confidence by its last digit.
    let is_sure = |confidence: f64| confidence >= SURE - 1e-9;
    let floor = basis.floor().relative;
    change.direction == Some(Direction::Better)
        && change.relative.is_some_and(|share| share.abs() >= floor)
        && change.material_class() == ChangeClass::Shrunk
        && change.interval.is_some_and(|one| is_sure(one.confidence))
}

/// Says which variant is the fastest, or how long the only one takes.
pub(crate) fn verdict(
    variants: &[VariantResult],
    standing: Option<&Standing>,
    basis: WorkBasis,
) -> Message {
    let (Some(standing), [_, _, ..]) = (standing, variants) else {
        return match variants {
            [only] => alone(&only.name, &only.wall, basis),
            [] => "No run is complete".into(),
            _ => "No run has a time".into(),
        };
    };
    if let ([only], 2) = (standing.others.as_slice(), variants.len()) {
        return only.says.clone();
    }

    let name = |at: usize| variants.get(at).map_or("", |one| one.name.as_str());
    let rivals: Vec<(&str, ChangeClass)> = standing
        .others
        .iter()
        .filter(|one| !is_won(&one.change, basis))
        .map(|one| (name(one.variant), one.change.material_class()))
        .collect();
    let best = variants.get(standing.best);
    let least = best.and_then(|best| best.wall.median);
    least.map_or_else(Message::default, |least| {
        fastest((name(standing.best), least), variants.len(), basis, &rivals)
    })
}
