//! Says in the headline which kernels differ: on one side only, run more or less often, and how their
//! instances changed.

use metalens_analyzer::message::{counted, kernel, name};
use metalens_analyzer::{Message, message};

use crate::change::ChangeClass;
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, has_same_steps};
use crate::per_unit::TimeBasis;
use crate::sentences::{first_few, relative, share, value};
use crate::unit::Unit;
use crate::work::{WorkComparison, ran_as_often};

/// Largest number of kernels that a headline names in each list.
const NAMED: usize = 3;
/// Smallest share of the kernel time of a kernel whose instances are worth a sentence.
const SHARE: f64 = 0.05;

/// Names the kernels that one side lacks, and those that were probably renamed.
pub(crate) fn one_sided(
    work: &WorkComparison,
    kernels: &[KernelChange],
    base: &str,
    new: &str,
) -> Option<Message> {
    let pairs = work.renamed.iter();
    let renamed = pairs.map(|pair| message!("{} → {}", kernel(&pair.base), kernel(&pair.new)));
    let gone: Vec<&KernelChange> = kernels
        .iter()
        .filter(|kernel| {
            let is_renamed = work.renamed.iter().any(|other| other.base == kernel.name);
            kernel.class == ChangeClass::Removed && !is_renamed
        })
        .collect();
    let added: Vec<&KernelChange> = kernels
        .iter()
        .filter(|kernel| {
            let is_renamed = work.renamed.iter().any(|other| other.new == kernel.name);
            kernel.class == ChangeClass::Added && !is_renamed
        })
        .collect();
    // As many on each side ran equally often.
    let may_be_renamed = added.iter().any(|now| {
        let before = gone.iter().filter(|was| ran_as_often(was, now));
        let after = added.iter().filter(|other| {
            let (was, now) = (&now.instances, &other.instances);
            was.new_value() == now.new_value()
        });
        before.count() == after.count()
    });
    let lists = [
        list("probably renamed: ".into(), renamed.collect()),
        list(message!("only in {}: ", name(base)), names(&gone)),
        list(message!("only in {}: ", name(new)), names(&added)),
    ];
    let lists: Vec<Message> = lists.into_iter().flatten().collect();
    let doubt = may_be_renamed
        .then(|| Message::from("; which of them have another name now cannot be told"));
    (!lists.is_empty()).then(|| message!("Kernels {}{}", Message::joined(lists, "; "), doubt))
}

fn names(kernels: &[&KernelChange]) -> Vec<Message> {
    kernels.iter().map(|change| kernel(&change.name)).collect()
}

fn list(title: Message, items: Vec<Message>) -> Option<Message> {
    (!items.is_empty()).then(|| message!("{}{}", title, first_few(items, NAMED)))
}

/// Names the kernels that both sides have and that ran more or less often, unless all did so by the
/// same factor, so that times are compared per unit.
pub(crate) fn other_counts(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
) -> Option<Message> {
    let is_by_factor = match work.basis {
        TimeBasis::CommandBuffer | TimeBasis::Interval => true,
        TimeBasis::Step => has_same_steps(metrics),
        TimeBasis::Whole | TimeBasis::Kernel => false,
    };
    if is_by_factor || work.taken_as_same {
        return None;
    }
    let moved = kernels
        .iter()
        .filter(|kernel| !kernel.is_one_sided())
        .filter(|kernel| kernel.ran_differently_often())
        .filter_map(|change| {
            let (was, now) = (
                change.instances.base_value()?,
                change.instances.new_value()?,
            );
            Some(message!(
                "{} {} instead of {}",
                kernel(&change.name),
                value(now, Unit::Count),
                value(was, Unit::Count)
            ))
        });
    list("Instances: ".into(), moved.collect())
}

/// Says how the kernels that both sides have changed, each by its median instance: if all changed by one
/// factor at a clock that is not recorded, or if the sides did other work and no rate compares them.
pub(crate) fn common(
    work: &WorkComparison,
    kernels: &[KernelChange],
    is_clock_known: bool,
) -> Option<Message> {
    let known: Vec<&KernelChange> = kernels
        .iter()
        .filter(|kernel| !kernel.is_one_sided())
        .collect();
    let changes = known.iter().filter_map(|kernel| kernel.med_ns.relative);
    let mut changes: Vec<f64> = changes.filter(|change| change.is_finite()).collect();
    changes.sort_by(f64::total_cmp);
    let (least, most) = (*changes.first()?, *changes.last()?);
    let range = || {
        let (from, to) = (relative(least), relative(most));
        if from.text == to.text {
            from
        } else {
            message!("{} to {}", from, to)
        }
    };

    let is_one_factor = known.len() > 1
        && known.iter().all(|kernel| kernel.med_ns.is_material())
        && are_alike(least, most);
    if is_one_factor && !is_clock_known {
        return Some(message!(
            "All {} that both sides have changed alike, each by its median instance: {}; another \
             GPU clock would explain that, and the clock is not recorded",
            counted(known.len() as u64, "kernel"),
            range()
        ));
    }
    (work.is_other() && work.basis == TimeBasis::Whole).then(|| {
        message!(
            "Kernels that both sides have, each by its median instance: {}",
            range()
        )
    })
}

/// Returns whether the least and the largest relative change of kernels are one factor, as that of a clock is.
fn are_alike(least: f64, most: f64) -> bool {
    /// Share by which the factors of two kernels may differ.
    const APART: f64 = 0.03;
    /// Smallest change that is worth a reason.
    const LEAST: f64 = 0.05;
    let is_large = least.abs() >= LEAST && most.abs() >= LEAST && least.signum() == most.signum();
    is_large && (1.0 + most) <= (1.0 + least) * (1.0 + APART)
}

/// Names the kernels whose median and total tell different stories: of which only some instances became
/// longer or shorter, or that run in several lengths, so that the median went from one to another.
pub(crate) fn tails(kernels: &[KernelChange]) -> Vec<Message> {
    let is_large = |kernel: &&KernelChange| kernel.share.is_some_and(|share| share >= SHARE);
    let large: Vec<&KernelChange> = kernels.iter().filter(is_large).collect();
    let tails = large
        .iter()
        .filter(|kernel| kernel.has_other_tail())
        .map(|tail| message!("{} (total {})", kernel(&tail.name), share(&tail.total_ns)));
    let others = large.iter().filter(|kernel| kernel.has_other_mix());
    let mixed = others.map(|mixed| {
        let name = kernel(&mixed.name);
        message!("{} (median {})", name, share(&mixed.med_ns))
    });
    let lists = [
        list(
            "Only some instances became longer or shorter, the median did not: ".into(),
            tails.collect(),
        ),
        list(
            "The median instance changed, the total did not; instances may be of several lengths: "
                .into(),
            mixed.collect(),
        ),
    ];
    lists.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_changed_by_one_factor_changed_alike() {
        let check = |least: f64, most: f64, expected: bool| {
            assert_eq!(are_alike(least, most), expected, "{least} {most}");
        };
        check(0.30, 0.31, true);
        check(-0.24, -0.23, true);
        check(0.30, 0.40, false);
        check(-0.24, 0.24, false);
        // Too small for a clock.
        check(0.03, 0.031, false);
    }
}
