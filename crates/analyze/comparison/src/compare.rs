//! Compares two sides of runs.

use metalens_analyzer::{Note, Report};
use metalens_message::{Message, message};

use crate::change::Judge;
use crate::changes::Changes;
use crate::circumstances::{CircumstanceDifference, Comparability, comparability};
use crate::comparison::{Comparison, ComparisonMethod, RunName, SCHEMA, SideFacts};
use crate::difference::difference;
use crate::fusion::{FusionVerdict, fusion};
use crate::headline::different_work;
use crate::kernels;
use crate::moved::{mixed_waits_note, moved, unknown_cause_notes};
use crate::per_unit::PerUnit;
use crate::runs::Runs;
use crate::sentences;
use crate::sessions::Sessions;
use crate::work::{WorkComparison, clear_directions};

/// Options of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareOptions {
    /// Takes the work of both sides as the same, as an eager program and its compiled one do it, and says
    /// whether kernels were fused.
    pub taken_as_same: bool,
    /// Unit of work to compare times per. None to choose it by the work of both sides.
    pub per: Option<PerUnit>,
    /// Compares sides that differ in their circumstances. The comparison records this; the caller
    /// may refuse.
    pub allow_different: bool,
}

/// Compares the reports of two sides.
pub fn compare(base: &[Report], new: &[Report], options: &CompareOptions) -> Comparison {
    compare_runs(&Runs::from_reports(base), &Runs::from_reports(new), options)
}

/// Compares two sides of runs, such as a baseline and reports.
pub fn compare_runs(base: &Runs, new: &Runs, options: &CompareOptions) -> Comparison {
    Changes::between(base, new).comparison(options)
}

impl Changes<'_> {
    /// Says how the work of both sides, which have these names, differs.
    pub fn different_work(&self, work: &WorkComparison, base: &str, new: &str) -> Message {
        different_work(work, &self.metrics, &self.kernels, base, new)
    }

    /// Compares the times too, and returns all changes. Sides that were recorded differently are
    /// noted; the options say whether somebody requested them.
    pub fn comparison(mut self, options: &CompareOptions) -> Comparison {
        let work = self.work(options.taken_as_same, options.per.as_ref());
        clear_directions(&mut self.metrics, &mut self.kernels, &work);
        let Self {
            base,
            new,
            judge,
            sessions,
            repeated,
            metrics,
            kernels,
        } = self;

        let (base, new) = (&*base, &*new);
        let comparable = comparability(base, new, options.allow_different);
        // Changes that look like fusion answer that question even if nobody asks it.
        let fusion = Some(fusion(&metrics, &kernels))
            .filter(|fusion| options.taken_as_same || fusion.verdict == FusionVerdict::Consistent);
        let notes = forced_note(&comparable)
            .into_iter()
            .chain(loud_notes(base, new))
            .chain(caveat_notes(base, new))
            .chain(repeated)
            .chain(kernels::one_sided_note(&kernels, &metrics))
            .chain(mixed_waits_note(base, new))
            .chain(unknown_cause_notes(&metrics));
        let mut comparison = Comparison {
            schema: SCHEMA.to_owned(),
            headline: Message::default(),
            moved: moved(&metrics, &work),
            difference: difference(&metrics),
            work,
            fusion,
            base: facts(base),
            new: facts(new),
            method: method(&judge, &sessions, base, new),
            notes: notes.collect(),
            comparable,
            metrics,
            kernels,
            gate: None,
        };
        comparison.headline = comparison.in_a_headline();
        comparison
    }
}

/// Returns the runs of a side, each by its path and its process.
fn facts(runs: &Runs) -> SideFacts {
    let paths = runs.paths.iter();
    let named = paths.zip(&runs.processes).enumerate();
    let runs = named.map(|(run, (path, process))| RunName {
        path: path.clone(),
        process: process.clone(),
        doubt: runs.doubts.get(run).cloned().flatten(),
    });
    SideFacts {
        runs: runs.collect(),
    }
}

/// Returns the method by which changes are judged.
fn method(judge: &Judge, sessions: &Sessions, base: &Runs, new: &Runs) -> ComparisonMethod {
    let confidence = judge.confidence();
    let says = sentences::method(confidence, base.count(), new.count());
    let order = order(base, new).filter(|_| confidence.is_some());
    ComparisonMethod {
        estimate: "hodges-lehmann".to_owned(),
        interval: confidence.map(|_| "ordered-differences".to_owned()),
        confidence,
        sessions: sessions.count,
        floor: judge.floor,
        says: message!("{}{}", says, order),
    }
}

/// Says which side was recorded first, if one was: no interval covers a machine that changes between the
/// sides.
fn order(base: &Runs, new: &Runs) -> Option<Message> {
    let (first, looks) = match (base.is_before(new), new.is_before(base)) {
        (true, _) => ("base", "slower"),
        (_, true) => ("new", "faster"),
        _ => return None,
    };
    Some(message!(
        "; {} was recorded first, and a machine that became slower since makes new look {}",
        first,
        looks
    ))
}

/// Returns the note of sides that are compared although they were recorded differently.
fn forced_note(comparable: &Comparability) -> Option<Note> {
    let differ = comparable.differ.iter().map(CircumstanceDifference::says);
    comparable.forced.then(|| {
        let text = message!(
            "FORCED: the sides were recorded under different conditions and compared on request: {}",
            Message::joined(differ, "; ")
        );
        Note::loud("forced", text)
    })
}

/// Returns the loud notes of both sides, each once and with the sides that it applies to.
fn loud_notes<'a>(base: &'a Runs, new: &'a Runs) -> impl Iterator<Item = Note> + 'a {
    let of_base = base.loud.iter().map(move |note| {
        let is_on_both = new.has_loud(note.text());
        with_sides(note, if is_on_both { "base and new" } else { "base" })
    });
    let only_new = new.loud.iter().filter(|note| !base.has_loud(note.text()));
    of_base.chain(only_new.map(|note| with_sides(note, "new")))
}

/// Returns a note for each caveat that only one side has: what both have in common explains no
/// change.
fn caveat_notes<'a>(base: &'a Runs, new: &'a Runs) -> impl Iterator<Item = Note> + 'a {
    let sides = [("base", base, new), ("new", new, base)];
    sides.into_iter().flat_map(|(name, runs, other)| {
        let caveats = runs.caveats.iter();
        let own = caveats.filter(|title| !other.caveats.contains(title));
        own.map(move |title| {
            Note::loud(
                "caveat",
                message!("caveat of {}: {}", name, Message::words(title)),
            )
        })
    })
}

/// Returns a loud note that names its sides.
fn with_sides(note: &Note, sides: &'static str) -> Note {
    Note::loud(&note.id, message!("{} ({})", &note.message, sides))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_that_was_recorded_first_is_said() {
        let runs = |dates: &[&str]| Runs {
            dates: dates.iter().map(|date| Some((*date).to_owned())).collect(),
            ..Runs::default()
        };
        let check = |base: &[&str], new: &[&str], expected: Option<&str>| {
            let order = order(&runs(base), &runs(new));
            let first = order
                .as_ref()
                .map(|order| order.text.split(' ').nth(1).unwrap());
            assert_eq!(first, expected, "{base:?} {new:?}");
        };
        let [one, two, three, four] =
            [1, 2, 3, 4].map(|minute| format!("2026-03-30T13:0{minute}:00Z"));
        check(&[&one, &two], &[&three, &four], Some("base"));
        check(&[&three, &four], &[&one, &two], Some("new"));
        check(&[&one, &three], &[&two, &four], None);
        check(&[&one, &one], &[&one, &one], None);
        check(&[&one, "no date"], &[&three, &four], None);
        check(&[], &[&one], None);
    }
}
