//! Says how much effort the first step of each rule's advice usually takes.

use crate::report::Effort;

/// Rules by the effort of their first step, as `docs/findings.md` lists them.
const EFFORTS: [(Effort, &[&str]); 4] = [
    (
        Effort::Setting,
        &[
            "low-performance-state",
            "thermal",
            "tables-disagree",
            "incomplete-recording",
            "contention",
            "shared-gpu",
            "warm-up-inside",
            "little-work",
        ],
    ),
    (
        Effort::SmallChange,
        &[
            "serialized",
            "submission-latency",
            "completion-latency",
            "encoding-bound",
            "queue-starved",
            "many-encoders-per-buffer",
            "small-transfers",
            "compiling-inside",
            "unlabeled",
        ],
    ),
    (
        Effort::Redesign,
        &[
            "host-bound",
            "eager-execution",
            "tiny-kernels",
            "transfers-dominate",
            "inefficient-kernels",
            "register-spills",
            "limiter",
            "no-limiter",
            "hangs",
        ],
    ),
    (
        Effort::Investigate,
        &[
            "command-buffer-errors",
            "clock-fault",
            "outliers",
            "slowing-down",
            "memory-growing",
        ],
    ),
];

/// Returns the effort of a rule's first step.
pub(super) fn effort(rule: &str) -> Option<Effort> {
    let mut efforts = EFFORTS.into_iter();
    efforts
        .find(|(_, rules)| rules.contains(&rule))
        .map(|(effort, _)| effort)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_one_effort() {
        let listed = EFFORTS.iter().flat_map(|(_, rules)| rules.iter().copied());
        let mut listed: Vec<&str> = listed.collect();
        let mut ids = super::super::ids();
        listed.sort_unstable();
        ids.sort_unstable();
        assert_eq!(listed, ids);
    }

    #[test]
    fn the_docs_list_the_efforts() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        for (effort, rules) in EFFORTS {
            for rule in rules {
                let mut lines = docs.lines();
                let line = lines.find(|line| line.starts_with(&format!("| `{rule}` |")));
                let end = format!("| {} |", effort.label());
                assert!(line.is_some_and(|line| line.ends_with(&end)), "{line:?}");
            }
        }
    }
}
