//! Builds the remarks on a comparison, and the circumstances of both sides.

use metalens_comparison::Comparison;
use metalens_message::{Message, message};

use crate::cells::paths;
use crate::document::{Block, Fact, Section};
use crate::wording::plain;

/// The note that the headline of a first screen says, too.
pub(super) const SAID: &str = "kernels-gone";

/// Returns the remarks that a reader should know beside the headline.
pub(super) fn remarks(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = fusion(comparison);
    let notes = comparison.notes.iter();
    let notes = notes.map(|note| Block::Warning(note.message.clone()));
    blocks.extend(notes);
    blocks.push(method(comparison));
    blocks
}

/// Returns how the changes were judged.
pub(super) fn method(comparison: &Comparison) -> Block {
    let method = &comparison.method;
    Block::Remark(method.says.clone())
}

/// Returns how many runs there are and how sure intervals are; without intervals, how the changes were
/// judged.
pub(super) fn runs(comparison: &Comparison) -> Block {
    comparison
        .sides()
        .map_or_else(|| method(comparison), Block::Remark)
}

/// Returns which circumstances a side did not record, so that they may be the reason for a change;
/// nothing if all that matter are known.
pub(super) fn unknown(comparison: &Comparison) -> Option<Block> {
    let unknown = comparison.comparable.unknown.iter().map(String::as_str);
    // Nobody requests a clock in most recordings.
    let unknown = unknown.filter(|fact| *fact != "requested GPU clock");
    let (mut of_base, mut of_new, mut of_both) = (Vec::new(), Vec::new(), Vec::new());
    for fact in unknown {
        match (fact.strip_suffix(" (base)"), fact.strip_suffix(" (new)")) {
            (Some(what), _) => of_base.push(what),
            (_, Some(what)) => of_new.push(what),
            (None, None) => of_both.push(fact),
        }
    }

    let sides = [
        ("in base", of_base),
        ("in new", of_new),
        ("on either side", of_both),
    ];
    let said = sides.into_iter().filter(|(_, what)| !what.is_empty());
    let said = said.map(|(side, what)| format!("{side} {}", what.join(", ")));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| {
        let said = plain(said.join("; "));
        Block::Remark(message!(
            "Not recorded, so conditions may differ: {}.",
            said
        ))
    })
}

/// Returns the notes that change the meaning of the numbers, and the number of the others.
pub(super) fn loud_notes(comparison: &Comparison) -> (Vec<Message>, usize) {
    let notes = comparison.notes.iter();
    let loud = notes.filter(|note| note.is_loud() && note.id != SAID);
    let loud: Vec<Message> = loud.map(|note| note.message.clone()).collect();
    let others = comparison.notes.len() - loud.len();
    (loud, others)
}

/// Returns the answer of the preset that asks whether kernels were fused, and its evidence.
pub(super) fn fusion(comparison: &Comparison) -> Vec<Block> {
    let Some(fusion) = &comparison.fusion else {
        return Vec::new();
    };
    let evidence = fusion.evidence.iter().cloned();
    let answer = Block::Lead(fusion.says.clone());
    [Some(answer), Block::list(evidence)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the section with the compared runs and their circumstances, equal or not.
pub(super) fn comparable(comparison: &Comparison) -> Section {
    let comparable = &comparison.comparable;
    let mut facts = vec![
        Fact::new("base", paths(&comparison.base)),
        Fact::new("new", paths(&comparison.new)),
    ];
    for difference in &comparable.differ {
        facts.push(Fact::new("DIFFERENT", plain(difference.to_string())));
    }
    if !comparable.same.is_empty() {
        facts.push(Fact::new("same", Message::joined(&comparable.same, " · ")));
    }
    if !comparable.unknown.is_empty() {
        facts.push(Fact::new(
            "not recorded",
            plain(comparable.unknown.join(", ")),
        ));
    }

    for note in &comparable.notes {
        facts.push(Fact::new("note", note));
    }
    let title = if comparable.comparable {
        "Recorded under the same conditions, as far as known"
    } else {
        "Recorded under DIFFERENT conditions"
    };

    Section::new("comparable", title, 6)
        .folded()
        .with(Block::Facts(facts))
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use metalens_analyzer::Report;
    use metalens_comparison::{CompareOptions, compare};
    use metalens_testing::analysis_of_toml;

    use super::*;

    fn report() -> Report {
        let toml = "seed = 1\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
                    [[process.stream]]\ncount = 20\nduration = \"20us\"\n";
        analysis_of_toml(toml).report
    }

    fn compared(change: fn(&mut Report, &mut Report)) -> Comparison {
        let (mut base, mut new) = (report(), report());
        change(&mut base, &mut new);
        compare(from_ref(&base), from_ref(&new), &CompareOptions::default())
    }

    #[test]
    fn unknown_conditions_are_named() {
        let check = |change: fn(&mut Report, &mut Report), expected: Option<&str>| {
            let found = unknown(&compared(change)).map(|block| match block {
                Block::Remark(said) => said.text,
                _ => String::new(),
            });
            assert_eq!(found.as_deref(), expected);
        };
        check(|_, _| {}, None);
        check(
            |base, new| {
                new.run.device.model = None;
                new.run.device.os = None;
                base.machine.thermal = None;
                base.run.template = None;
                new.run.template = None;
            },
            Some(
                "Not recorded, so conditions may differ: in base thermal state; in new model, \
                 system; on either side template.",
            ),
        );
    }

    /// Without intervals to draw, the page has bars of the figures.
    #[test]
    fn a_page_without_recordings_has_bars() {
        let page = crate::html::comparison_page_of(&compared(|_, _| {}), None, true).unwrap();
        metalens_testing::check_policy(&page);
        assert_eq!(page.matches("<div class=\"times\">").count(), 1);
        let bars = page.split("<div class=\"times\">").nth(1).unwrap();
        for side in ["base", "new"] {
            assert!(bars.contains(&format!(">{side}<")), "{side}");
        }
    }
}
