//! Type of a rule that reads a report.

use super::distrust::distrust;
use super::evidence::Evidence;
use super::framework::Knob;
use crate::report::{Effort, Finding, FrameworkAdvice, Report, Severity, StepSeries};
use metalens_text::units::capital;

/// The concern of a rule, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Concern {
    /// Results of the program may be wrong.
    Results,
    /// Numbers of the report mean less than they seem to.
    Numbers,
    /// The program could be faster, or easier to profile.
    Speed,
}

/// A rule that turns numbers of a report into a finding.
pub(crate) struct Rule {
    /// Stable name: settings and gates refer to it.
    pub id: &'static str,
    /// Concern of the rule: findings are ordered by it first.
    pub concern: Concern,
    /// Rules whose findings tell the same cause as a whole: beside one of them, this one is left
    /// out.
    pub within: &'static [&'static str],
    /// Severity where the time that could be saved is unknown; else that time decides.
    pub severity: Severity,
    /// Effort of the first step, as `docs/findings.md` lists it.
    pub effort: Effort,
    /// Statement of what is wrong, as a clause without a capital.
    pub title: &'static str,
    /// Returns the evidence if the rule fires.
    pub condition: fn(&Report) -> Option<Evidence>,
    /// First step to take, as an imperative clause without a capital.
    pub action: &'static str,
    /// Advice on what to do, in full sentences.
    pub advice: &'static str,
    /// First step and advice for a command-buffer log, which has keys and no tables; `None` if they
    /// are the same.
    pub for_logs: Option<[&'static str; 2]>,
    /// Advice for users of a framework, the first step first.
    pub knobs: &'static [Knob],
    /// Observation that would disprove the finding.
    pub counter_evidence: &'static str,
}

impl Rule {
    /// Rule with the usual settings, to which each rule adds its texts and its condition.
    pub(super) const USUAL: Self = Self {
        id: "",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "",
        condition: |_| None,
        action: "",
        advice: "",
        for_logs: None,
        knobs: &[],
        counter_evidence: "",
    };

    /// Returns the first step and the advice for a recording or a log.
    pub(super) fn words(&self, report: &Report) -> [&'static str; 2] {
        let for_logs = self.for_logs.filter(|_| report.source.is_log());
        for_logs.unwrap_or([self.action, self.advice])
    }

    /// Returns the finding of this rule.
    pub(super) fn finding(&self, evidence: Evidence, report: &Report) -> Finding {
        let seen = report.framework.as_ref().map(|seen| seen.framework);
        // Who uses a framework does not call Metal: its own words are the whole advice.
        let own = self.knobs.iter().find(|knob| seen == Some(knob.framework));
        let [action, advice] = self.words(report);
        // A program that draws uses none of these frameworks.
        let draws = report.steps.first().is_some_and(StepSeries::are_frames);
        let others = self.knobs.iter().filter(|_| seen.is_none() && !draws);
        let judged_ns = report.judged().span_ns;
        let severity = evidence.severity(self.severity, judged_ns);
        let gain = evidence.gain(report).filter(|_| distrust(report).is_none());
        Finding {
            id: self.id.to_owned(),
            severity,
            title: capital(self.title),
            gain,
            evidence: evidence.text,
            look_at: evidence.look_at,
            action: own.and_then(|own| own.action).unwrap_or(action).to_owned(),
            advice: match own {
                Some(own) => format!("{}: {}", own.framework.name(), own.advice),
                None => advice.to_owned(),
            },
            framework_advice: others.map(Knob::advice).collect(),
            counter_evidence: self.counter_evidence.to_owned(),
            effort: self.effort,
        }
    }
}

impl Knob {
    fn advice(&self) -> FrameworkAdvice {
        FrameworkAdvice {
            framework: self.framework,
            advice: self.advice.to_owned(),
        }
    }
}
