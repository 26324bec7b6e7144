//! Whether two recordings were made alike: machine, system, recorder, clock,
//! neighbours. Where they were not, a difference may be theirs.

use metalens_analyzer::units::{counted, percent};
use metalens_analyzer::{Report, StateTime};

use crate::canvas::ratio;

/// A share that differs by less is called the same.
const SHARE: f64 = 0.05;
/// So many differences are named.
const NAMED: usize = 6;

/// What is known of one recording; nothing is not the same as unknown.
type Fact = (&'static str, Option<String>, Option<String>);

/// The circumstances by how they compare.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Alike {
    /// `GPU: base Apple M1, new Apple M4`.
    pub(crate) differ: Vec<String>,
    /// What only the new recording tells.
    pub(crate) not_of_base: Vec<&'static str>,
    /// What only the base tells.
    pub(crate) not_of_new: Vec<&'static str>,
    /// `Apple M1`.
    pub(crate) same: Vec<String>,
    /// What neither recording tells.
    pub(crate) unknown: Vec<&'static str>,
}

impl Alike {
    pub(crate) fn of(base: &Report, new: &Report) -> Self {
        let mut alike = Self::default();
        for fact in plain(base, new) {
            alike.add(fact);
        }
        alike.add_shares(
            "GPU clock at work",
            &states(base, |machine| {
                machine.performance.as_ref().map(|all| &all.states)
            }),
            &states(new, |machine| {
                machine.performance.as_ref().map(|all| &all.states)
            }),
        );
        alike.add_others(base, new);
        alike
    }

    fn add(&mut self, (what, base, new): Fact) {
        match (base, new) {
            (None, None) => self.unknown.push(what),
            (None, Some(_)) => self.not_of_base.push(what),
            (Some(_), None) => self.not_of_new.push(what),
            (Some(base), Some(new)) if base == new => self.same.push(match what {
                "Instruments" | "recording mode" | "thermal state" => format!("{what} {base}"),
                _ => base,
            }),
            (Some(base), Some(new)) => {
                self.differ.push(format!("{what}: base {base}, new {new}"));
            }
        }
    }

    /// What a reader must know before the numbers, one line each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let differ = self.differ.iter().take(NAMED);
        let mut lines: Vec<String> = differ.map(|one| format!("NOT ALIKE: {one}")).collect();
        if let more @ 1.. = self.differ.len().saturating_sub(NAMED) {
            let more = counted(more as u64, "other circumstance");
            lines.push(format!("NOT ALIKE: {more}"));
        }
        for (who, what) in [("base", &self.not_of_base), ("new", &self.not_of_new)] {
            if !what.is_empty() {
                let what = what.join(", ");
                lines.push(format!("PERHAPS NOT ALIKE: {who} does not tell its {what}"));
            }
        }
        lines
    }

    /// The longest state; that it is the same is not enough.
    fn add_shares(&mut self, what: &'static str, base: &Main, new: &Main) {
        let said = |main: &Main| {
            main.as_ref().map(|(state, share)| match share {
                Some(share) => format!("{state} {}", percent(*share)),
                None => state.clone(),
            })
        };
        let near = match (base, new) {
            (Some((one, a)), Some((other, b))) => {
                one == other && (a.unwrap_or(1.0) - b.unwrap_or(1.0)).abs() < SHARE
            }
            _ => false,
        };
        match near {
            true => self
                .same
                .extend(said(new).map(|state| format!("{what} {state}"))),
            false => self.add((what, said(base), said(new))),
        }
    }

    fn add_others(&mut self, base: &Report, new: &Report) {
        let share = |report: &Report| ratio(report.busy.foreign_busy_ns, report.window.span_ns);
        let (before, now) = (share(base), share(new));
        if (before - now).abs() >= SHARE {
            self.differ.push(format!(
                "other processes on the GPU: base {} of the time, new {}",
                percent(before),
                percent(now)
            ));
        }
    }
}

fn plain(base: &Report, new: &Report) -> Vec<Fact> {
    type Get = fn(&Report) -> Option<String>;
    let facts: [(&'static str, Get); 8] = [
        ("program", |report| Some(report.target.name.clone())),
        ("GPU", |report| report.run.device.gpu.clone()),
        ("model", |report| report.run.device.model.clone()),
        ("system", |report| report.run.device.os.clone()),
        ("template", |report| report.run.template.clone()),
        ("Instruments", |report| {
            report.run.instruments_version.clone()
        }),
        ("recording mode", |report| report.run.recording_mode.clone()),
        ("thermal state", |report| {
            report.machine.thermal.as_ref()?.worst.clone()
        }),
    ];
    let mut all: Vec<Fact> = facts
        .into_iter()
        .map(|(what, get)| (what, get(base), get(new)))
        .collect();
    let cut = |report: &Report| {
        let why = report.window.excluded.iter().map(|one| one.why.clone());
        let why: Vec<String> = why.collect();
        match why.is_empty() {
            true => "nothing".to_owned(),
            false => why.join(", "),
        }
    };
    let (before, now) = (cut(base), cut(new));
    if before != now {
        all.push(("left out", Some(before), Some(now)));
    }
    all
}

/// The state that most of the busy time was in, and how much of it.
type Main = Option<(String, Option<f64>)>;

fn states(
    report: &Report,
    of: impl Fn(&metalens_analyzer::Machine) -> Option<&Vec<StateTime>>,
) -> Main {
    let states = of(&report.machine)?.iter();
    // Of equal ones the first.
    let main = states.rev().max_by_key(|state| state.busy_ns)?;
    (main.busy_ns > 0).then(|| (main.state.clone(), main.busy_share))
}
