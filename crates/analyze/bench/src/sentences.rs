//! Writes the results of a benchmark as sentences, in which each value keeps its type.

use metalens_comparison::sentences::{more_runs, relation, sureness, value};
use metalens_comparison::{
    Change, ChangeClass, GateResult, GateSeverity, GateVerdict, KernelFigure, LimitRule, Number,
    RunsToTell, TimeBasis, Unit, is_amount_of_work,
};
use metalens_message::{Message, Share, count, counted, message, name, percent};

use crate::result::VariantResult;
use crate::wall_time::floor;

/// Says how much faster or slower one variant is than another.
pub(crate) fn versus(
    new: &str,
    base: &str,
    change: &Change,
    basis: TimeBasis,
    needed: Option<RunsToTell>,
) -> Message {
    // The medians of the runs, as in the tables. The difference is that of all pairs of runs.
    let (Some(was), Some(now)) = (change.base.median, change.new.median) else {
        return message!(
            "{} and {}: {}",
            name(new),
            name(base),
            if basis == TimeBasis::Whole {
                "wall time is not recorded"
            } else {
                "wall time is not known, because nothing shows the time between units of one of them"
            }
        );
    };
    let both = message!("{} → {}", value(was, Unit::Ns), value(now, Unit::Ns));
    let sure = || sureness(change, Unit::Ns).map(|sure| message!(", {}", sure));

    let is_faster = match change.class {
        ChangeClass::Grown => false,
        ChangeClass::Shrunk => true,
        ChangeClass::Unchanged => {
            return message!(
                "{} is as fast as {}, no difference that counts: {}{}",
                name(new),
                name(base),
                both,
                sure()
            );
        }
        _ => {
            return message!(
                "the runs vary too much to tell whether {} is faster than {}: {}{}{}",
                name(new),
                name(base),
                both,
                sure(),
                needed.map(|needed| more_runs(needed, was))
            );
        }
    };

    let (new, base) = (name(new), name(base));
    let relation = relation(change, &floor(basis), Some(base.clone()), " in these runs");
    let relation = relation.unwrap_or_else(|| {
        let word = if is_faster { "faster" } else { "slower" };
        message!("is {} than {}", word, base)
    });
    message!("{} {}: {}", new, relation, both)
}

/// Says what a gate decided about a variant beside another, and after how many pairs of runs.
pub(crate) fn decision(gate: &GateResult, base: &str, new: &VariantResult) -> Message {
    let rows = gate.rows.iter();
    let times = rows.filter(|row| {
        let is_count = row.of == Some(KernelFigure::Instances) || is_amount_of_work(&row.what);
        let is_upper = matches!(row.rule, LimitRule::Grow | LimitRule::Slower);
        is_upper && !is_count && row.severity == GateSeverity::Error && row.value.is_some()
    });
    let is_slower = times.clone().any(|row| row.verdict == GateVerdict::Miss);
    let most = times.map(|row| row.limit.get()).reduce(f64::max);
    let decided = match (gate.missed, is_slower) {
        _ if gate.inconclusive => "undecided".into(),
        (true, true) => "slower".into(),
        (true, false) => "a limit failed that is none of time".into(),
        (false, _) => {
            let most = most.map(|most| percent(Share(most)));
            message!("not slower by more than {}", most)
        }
    };
    let pairs = counted(new.runs.len() as u64, "pair");
    let (new, base) = (name(&new.name), name(base));
    message!("{} beside {}: {}, after {}", new, base, decided, pairs)
}

/// Says which variant is the fastest of several.
pub(crate) fn fastest(
    best: &str,
    best_value: Number,
    variants: usize,
    basis: TimeBasis,
    rivals: &[(&str, ChangeClass)],
) -> Message {
    let time = message!("{}{}", value(best_value, Unit::Ns), basis.per());
    if rivals.is_empty() {
        return message!(
            "{} is the fastest of {}: {}",
            name(best),
            count(variants as u64),
            time
        );
    }

    let names = Message::joined(rivals.iter().map(|(rival, _)| name(rival)), ", ");
    let are_equal = rivals
        .iter()
        .all(|(_, class)| *class == ChangeClass::Unchanged);
    if are_equal && rivals.len() + 1 == variants {
        message!(
            "No difference between the {} counts: the lowest median is that of {}, {}",
            counted(variants as u64, "variant"),
            name(best),
            time
        )
    } else if are_equal {
        message!(
            "{} and {} are the fastest of {}, with no difference that counts: {}",
            name(best),
            names,
            count(variants as u64),
            time
        )
    } else {
        message!(
            "The runs vary too much to tell which of {} is the fastest: {} has the lowest median, {}, but {} may be as fast",
            counted(variants as u64, "variant"),
            name(best),
            time,
            names
        )
    }
}

/// Says how long the only variant takes.
pub(crate) fn alone(
    variant: &str,
    wall: &metalens_comparison::SideValues,
    basis: TimeBasis,
) -> Message {
    let runs = wall.values.iter().flatten().count() as u64;
    let shown = |number: Option<Number>| number.map(|number| value(number, Unit::Ns));
    let range = (runs > 1).then(|| {
        message!(
            ", the median of {} from {} to {}",
            counted(runs, "run"),
            shown(wall.min),
            shown(wall.max)
        )
    });
    message!(
        "{} takes {}{}{}",
        name(variant),
        shown(wall.median),
        basis.per(),
        range
    )
}
