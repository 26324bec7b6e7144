//! Runs experiments that the authors cannot run, because they have no Mac: each has a question, an
//! expectation, and a bounded recording or two, which experiments share. The evidence has the answers
//! without names, paths, or environment, so that it can be published. Prints nothing.
//!
//! ```text
//! EXPERIMENTS ─ judge ─┬─> Lab ─ record, once each ─> recordings
//!                      └─> Answer: as expected / otherwise / could not tell, and why ─> Evidence
//! ```
//!
//! # Rules
//!
//! * The evidence has what `xctrace` printed, line by line: what nobody has seen yet is worth most. The
//!   names of the user and the machine, folders and what looks like a secret are replaced. Texts of
//!   programs and of the system are not in it.
//! * An experiment that depends on a recording which could not be made says that it could not tell.
//! * A stop of the user keeps the answers so far.

mod counts;
mod evidence;
mod experiments;
mod fake_tools;
mod inspect;
mod judges;
mod lab;
mod pythons;
mod recordings;

pub use evidence::{Answer, EvidenceFile, ExperimentVerdict, Judgment, SCHEMA};
pub use experiments::{EXPERIMENTS, Experiment};
pub use fake_tools::FakeTools;
pub use lab::{Recorders, Setup};

use lab::Lab;

/// An event for those who watch the experiments.
#[derive(Debug)]
pub enum VerifyEvent<'a> {
    /// There is no `xctrace` that runs, for this reason.
    NoXctrace(String),
    /// A recording begins: its purpose.
    Recording(&'static str),
    /// An experiment has an answer.
    Answered(&'a Answer),
}

/// Runs the experiments, and returns the evidence. Without an `xctrace` that runs, those that need none have
/// answers.
pub fn verify(setup: Setup<'_>, watch: &mut dyn FnMut(VerifyEvent<'_>)) -> EvidenceFile {
    let only = setup.only.clone();
    let chosen = EXPERIMENTS
        .iter()
        .filter(|experiment| only.is_empty() || only.iter().any(|id| id == experiment.id));

    let mut lab = Lab::new(setup, watch);
    let mut answers = Vec::new();
    for experiment in chosen {
        let judgment = if lab.is_stopped() {
            Judgment::unknown("you stopped before this experiment")
        } else {
            (experiment.judge)(&mut lab).unwrap_or_else(|judgment| judgment)
        };
        let answer = experiment.answer(judgment);
        lab.tell(VerifyEvent::Answered(&answer));
        answers.push(answer);
    }
    lab.into_evidence(answers)
}
