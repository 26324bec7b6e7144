//! Says in the headline which kernels differ: on one side only, run more or less often, and how their
//! instances changed.

use metalens_message::{Message, Number, Share, counted, kernel, message, name};

use crate::change::{Change, ChangeClass, ChangeSize, Direction};
use crate::comparison::Comparison;
use crate::kernels::KernelChange;
use crate::lengths::KernelLength;
use crate::metric_changes::has_same_steps;
use crate::per_unit::TimeBasis;
use crate::sentences::{first_few, relative, share, value};
use crate::unit::Unit;
use crate::work::{WorkComparison, ran_as_often};

/// Largest number of kernels that a headline names in each list.
const NAMED: usize = 3;
/// Smallest change of the kernels of single runs that is named.
const LARGE: f64 = 0.1;
/// Smallest share of the kernel time of a kernel whose instances are worth a sentence.
const SHARE: f64 = 0.05;

/// Names the kernels that one side lacks, and those that were probably renamed.
pub(crate) fn one_sided(
    work: &WorkComparison,
    kernels: &[KernelChange],
    base: &str,
    new: &str,
) -> Option<Message> {
    let known = kernels.iter().filter_map(|kernel| {
        let new = kernel.renamed.as_ref()?;
        Some((kernel, new))
    });
    let (moved, known): (Vec<_>, Vec<_>) = known.partition(|(was, new)| was.name == new.name);
    let moved = moved.into_iter().map(|(was, new)| {
        let channel = |side: &Option<String>| name(side.as_deref().unwrap_or("unknown"));
        let channels = (channel(&was.channel), channel(&new.channel));
        message!("{} ({} → {})", kernel(&was.name), channels.0, channels.1)
    });
    let arrow = |was: &str, now: &str| message!("{} → {}", kernel(was), kernel(now));
    let known = known.iter().map(|(was, new)| arrow(&was.name, &new.name));
    let guessed = work.renamed.iter().map(|pair| arrow(&pair.base, &pair.new));
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
        list("on another channel: ".into(), moved.collect()),
        list("under another name: ".into(), known.collect()),
        list("probably renamed: ".into(), guessed.collect()),
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
pub(crate) fn other_counts(comparison: &Comparison) -> Option<Message> {
    let work = &comparison.work;
    let is_by_factor = match work.basis {
        TimeBasis::CommandBuffer | TimeBasis::Interval => true,
        TimeBasis::Step => has_same_steps(&comparison.metrics),
        TimeBasis::Whole | TimeBasis::Kernel => false,
    };
    if is_by_factor || work.taken_as_same {
        return None;
    }
    let moved = comparison
        .kernels
        .iter()
        .filter(|kernel| !kernel.is_one_sided())
        .filter(|kernel| kernel.ran_differently_often())
        .filter_map(|change| {
            let (was, now) = (
                change.instances.base_value()?,
                change.instances.new_value()?,
            );
            let median = &change.med_ns;
            let each = median
                .is_material()
                .then(|| message!(", each {}", share(median)));
            Some(message!(
                "{} {} instead of {}{}",
                kernel(&change.name),
                value(now, Unit::Count),
                value(was, Unit::Count),
                each
            ))
        });
    list("Instances: ".into(), moved.collect())
}

/// Names the kernels whose instances became slower or faster, those with the largest effect first; or says that
/// all changed by one factor, at a clock that is not recorded.
pub(crate) fn changed(comparison: &Comparison) -> Option<Message> {
    let kernels = &comparison.kernels;
    let is_clock_known = comparison.comparable.is_clock_known();
    let known = kernels.iter().filter(|kernel| !kernel.is_one_sided());
    let are_all_moved = known.clone().all(|kernel| kernel.med_ns.is_material());
    let ends = ends(kernels).filter(|(least, most)| are_alike(*least, *most));
    if let Some(ends) = ends.filter(|_| are_all_moved && !is_clock_known)
        && known.clone().count() > 1
    {
        let work = if comparison.work.is_other() {
            "more or less work in each, "
        } else {
            ""
        };
        return Some(message!(
            "All {} that both sides have changed alike, each by its median instance: {}; {}changed \
             code or another GPU clock would explain that, and the clock is not recorded",
            counted(known.count() as u64, "kernel"),
            range(ends),
            work
        ));
    }

    let effect = |kernel: &KernelChange| {
        let by = kernel.med_ns.absolute.map_or(0.0, |by| by.get().abs());
        by * kernel.instances.new_value().map_or(1.0, Number::get)
    };
    // Of a single run, the noise is not known.
    let is_sure = |change: &Change| match change.interval {
        Some(_) => change.size == Some(ChangeSize::Large),
        None => change.relative.is_some_and(|by| by.abs() >= LARGE),
    };
    let of = |direction: Direction| {
        let moved = known
            .clone()
            .filter(|kernel| kernel.direction == Some(direction) && is_sure(&kernel.med_ns));
        let mut moved: Vec<&KernelChange> = moved.collect();
        moved.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
        let named = moved.iter();
        let named = named.map(|moved| message!("{} {}", kernel(&moved.name), share(&moved.med_ns)));
        named.collect::<Vec<_>>()
    };
    let lists = [
        list("slower: ".into(), of(Direction::Worse)),
        list("faster: ".into(), of(Direction::Better)),
    ];
    let lists: Vec<Message> = lists.into_iter().flatten().collect();
    (!lists.is_empty()).then(|| message!("Kernels {}", Message::joined(lists, "; ")))
}

/// Says how the kernels that both sides have changed, each by its median instance, if the sides did other work
/// and no rate compares them.
pub(crate) fn common(work: &WorkComparison, kernels: &[KernelChange]) -> Option<Message> {
    let is_asked = work.is_other() && work.basis == TimeBasis::Whole;
    let ends = ends(kernels).filter(|_| is_asked)?;
    Some(message!(
        "Kernels that both sides have, each by its median instance: {}",
        range(ends)
    ))
}

/// Returns the least and the largest relative change of the kernels that both sides have.
fn ends(kernels: &[KernelChange]) -> Option<(f64, f64)> {
    let known = kernels.iter().filter(|kernel| !kernel.is_one_sided());
    let changes = known.filter_map(|kernel| kernel.med_ns.relative);
    let mut changes: Vec<f64> = changes.filter(|change| change.is_finite()).collect();
    changes.sort_by(f64::total_cmp);
    Some((*changes.first()?, *changes.last()?))
}

/// Returns both ends of relative changes, once if they are the same.
fn range((least, most): (f64, f64)) -> Message {
    let (from, to) = (relative(least), relative(most));
    if from.text == to.text {
        from
    } else {
        message!("{} to {}", from, to)
    }
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
/// longer or shorter, or whose instances have several lengths in another mix.
pub(crate) fn tails(kernels: &[KernelChange]) -> Vec<Message> {
    let is_large = |kernel: &&KernelChange| kernel.share.is_some_and(|share| share >= SHARE);
    let large: Vec<&KernelChange> = kernels.iter().filter(is_large).collect();
    let tails = large
        .iter()
        .filter(|kernel| kernel.has_other_tail())
        .map(|tail| message!("{} (total {})", kernel(&tail.name), share(&tail.total_ns)));
    let mixed = large.iter().filter(|kernel| kernel.has_other_mix());
    let mixed = mixed.map(|mixed| {
        let lengths = mixed.lengths.iter().map(length);
        let lengths = Message::joined(lengths, ", ");
        message!("{} ({})", kernel(&mixed.name), lengths)
    });
    let lists = [
        list(
            "Only some instances became longer or shorter, the median did not: ".into(),
            tails.collect(),
        ),
        list(
            "Another mix of lengths, which is other work: ".into(),
            mixed.collect(),
        ),
    ];
    lists.into_iter().flatten().collect()
}

/// Describes a length of a kernel's instances, such as `50.0 µs: 50 % → 69 %`.
fn length(length: &KernelLength) -> Message {
    let known = length.med_ns.base.or(length.med_ns.new);
    let shown = known.map(|ns| value(ns, Unit::Ns));
    let (was, now) = (length.share.base, length.share.new);
    message!("{}: {} → {}", shown, Share(was), Share(now))
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
