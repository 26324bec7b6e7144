//! Builds the section of findings, the most important first.

use metalens_analyzer::{Finding, Report};
use metalens_message::{Message, factor, rough_time};
use metalens_text::units::capital;

use crate::document::{Block, FindingEntry, Section, ShownGain};
use crate::wording::{plain, sentence};

/// Returns the findings, with an explanation of their upper bounds.
pub(super) fn findings(report: &Report) -> Section {
    let section = Section::new("findings", "Findings", 2);
    if report.findings.is_empty() {
        return section.with(Block::Text(
            "No findings: no rule found a way to make the program faster, or a reason to doubt \
             these numbers"
                .into(),
        ));
    }
    let gains = report
        .findings
        .iter()
        .filter(|finding| finding.gain.is_some());
    let remark = (gains.count() > 1).then(|| {
        Block::Remark(
            "Savings are predicted by a replay of the recorded command buffers where they say about, \
             and limits where they say at most. They overlap, so they do not add up"
                .into(),
        )
    });
    let findings = report.findings.iter().map(entry).collect();
    section.with(Block::Findings(findings)).with_some(remark)
}

fn entry(finding: &Finding) -> FindingEntry {
    let by_framework = finding.framework_advice.iter();
    let by_framework =
        by_framework.map(|own| plain(format!("{}: {}", own.framework.name(), own.advice)));
    FindingEntry {
        id: finding.id.clone(),
        severity: finding.severity,
        title: plain(&finding.title),
        gain: finding.gain.map(|gain| ShownGain {
            time: rough_time(gain.saves_ns),
            factor: factor(gain.speedup),
            share: 1.0 - gain.speedup.0.recip(),
            certainty: gain.certainty.words(),
        }),
        evidence: evidence(finding),
        places: finding.look_at.clone(),
        action: plain(&finding.action),
        advice: plain(&finding.advice),
        framework_advice: by_framework.collect(),
        counter_evidence: plain(&finding.counter_evidence),
    }
}

/// Returns the evidence as a sentence. A name at its beginning keeps its spelling.
fn evidence(finding: &Finding) -> Message {
    let mut evidence = finding.evidence.clone();
    if !finding.evidence.begins_with_name() {
        // The places of values count bytes, which a capital letter of another length would move.
        let capital = capital(&evidence.text);
        if capital.len() == evidence.text.len() {
            evidence.text = capital;
        }
    }
    sentence(evidence)
}

#[cfg(test)]
mod tests {
    use metalens_message::message;

    use super::*;

    #[test]
    fn evidence_is_a_sentence() {
        let check = |evidence: Message, expected: &str| {
            let finding = Finding {
                evidence,
                ..any_finding()
            };
            assert_eq!(super::evidence(&finding).text, expected);
        };
        check("in 3 of 4".into(), "In 3 of 4.");
        check("über alles.".into(), "Über alles.");
        check("4 of 4".into(), "4 of 4.");
        let sin = metalens_message::kernel("sin");
        check(message!("{} takes all", sin), "sin takes all.");
    }

    fn any_finding() -> Finding {
        serde_json::from_value(serde_json::json!({
            "id": "tiny-kernels", "severity": "low", "title": "t", "evidence": { "text": "e", "values": [] },
            "look_at": [], "action": "a", "advice": "a", "framework_advice": [], "effort": "setting", "counter_evidence": "d", "gain": null,
        }))
        .unwrap()
    }
}
