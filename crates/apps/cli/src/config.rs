//! Reads `metalens.toml`: findings to leave out, and limits.

use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_comparison::{Gate, GateSection};
use metalens_message::message;
use serde::Deserialize;

use crate::exit::Misuse;

/// The settings file that is read if none is named.
const DEFAULT: &str = "metalens.toml";

/// The largest size of a settings file, in bytes: far more than people write.
const LONGEST: u64 = 16 << 20;

/// The contents of a settings file.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "the sections findings and gate"
)]
struct SettingsFile {
    findings: FindingChoices,
    gate: Option<GateSection>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { ignore = [\"tiny-kernels\"] }"
)]
struct FindingChoices {
    ignore: Vec<String>,
}

/// Returns the settings file that is read: the named one, else the one here; none if there is none. Whatever
/// else has its name is an error when it is read.
fn settings_file(named: Option<&PathBuf>) -> anyhow::Result<Option<PathBuf>> {
    if named.is_some() {
        return Ok(named.cloned());
    }
    let default = PathBuf::from(DEFAULT);
    if !metalens_files::is_absent(&default) {
        return Ok(Some(default));
    }

    // A folder that cannot be listed may still be worked in.
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    match names.find(|name| name.eq_ignore_ascii_case(DEFAULT)) {
        Some(name) => {
            let name = name.display();
            Err(Misuse(format!("{name} is not read: rename it to {DEFAULT}")).into())
        }
        None => Ok(None),
    }
}

/// Returns the gate of the file that `--gate` names, else of the settings file, else the default
/// gate.
pub(crate) fn gate(named: Option<&PathBuf>, config: Option<&PathBuf>) -> anyhow::Result<Gate> {
    let Some(path) = settings_file(named.or(config))? else {
        return Ok(Gate::default());
    };

    let shown = path.display();
    match parse(&path)?.gate {
        Some(section) => section.gate(&shown.to_string()).map_err(anyhow::Error::msg),
        None if named.is_none() => {
            let gate = Gate::default();
            Ok(Gate {
                source: message!(
                    "{}, because {} has no [gate]",
                    gate.source.clone(),
                    metalens_message::path(&shown.to_string())
                ),
                ..gate
            })
        }
        None => anyhow::bail!(
            "{shown} has no [gate] section: add one, or use --gate without a file for the default \
             limits"
        ),
    }
}

/// Returns the ids of the findings that the settings file leaves out.
pub(crate) fn ignored_findings(file: Option<&PathBuf>) -> anyhow::Result<Vec<String>> {
    Ok(match settings_file(file)? {
        Some(path) => parse(&path)?.findings.ignore,
        None => Vec::new(),
    })
}

/// Parses the text of a settings file.
fn parse(path: &Path) -> anyhow::Result<SettingsFile> {
    let shown = path.display();
    let text =
        metalens_files::read_text(path, LONGEST).with_context(|| format!("cannot read {shown}"))?;

    toml::from_str(&text).map_err(|error| {
        let error = error.to_string();
        anyhow::anyhow!("{shown} is not a valid settings file: {}", error.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a file that is cut off at each byte, or has any bit flipped. Each result is an error,
    /// or has known keys and valid limits.
    #[test]
    fn corrupt_settings_never_give_unknown_keys_or_invalid_values() {
        const GOOD: &str = "[findings]\nignore = [\"tiny-kernels\"]\n\n[gate.metrics]\n\
            \"gaps.mean_ns\" = { max = \"200us\" }\n\"busy.ratio\" = { min = \"80%\" }\n\
            \"efficiency.of_program\" = { min = 0.09 }\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metalens.toml");

        let mut accepted = 0;
        let mut check = |bytes: &[u8], what: String| {
            std::fs::write(&path, bytes).unwrap();
            let Ok(gate) = gate(Some(&path), None) else {
                return;
            };
            accepted += 1;

            for metric in &gate.metrics {
                let known = ["gaps.mean_ns", "busy.ratio", "efficiency.of_program"];
                assert!(known.contains(&metric.id.as_str()), "{what}: {}", metric.id);
                let shares = [metric.limit.min, metric.limit.grow, metric.limit.shrink];
                for share in shares.into_iter().flatten() {
                    assert!((0.0..=1.0).contains(&share), "{what}: {share}");
                }
            }
            let table: toml::Table = std::str::from_utf8(bytes).unwrap().parse().unwrap();
            let known = ["findings", "gate"];
            assert!(
                table.keys().all(|key| known.contains(&key.as_str())),
                "{what}"
            );
        };

        check(GOOD.as_bytes(), "the unchanged file".to_owned());
        for at in 0..GOOD.len() {
            check(&GOOD.as_bytes()[..at], format!("cut off at {at}"));
            for bit in 0..8 {
                let mut flipped = GOOD.as_bytes().to_vec();
                flipped[at] ^= 1 << bit;
                check(&flipped, format!("bit {bit} of byte {at}"));
            }
        }
        assert!((100..1_000).contains(&accepted), "{accepted}");
    }

    #[test]
    fn misspelled_keys_are_refused() {
        let check = |toml: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("metalens.toml");
            std::fs::write(&file, toml).unwrap();
            assert!(ignored_findings(Some(&file)).is_err(), "{toml}");
        };
        check("[gates]\n");
        check("[thresholds]\n");
        check("[findings]\nignored = []\n");
        check("[gate.metrics]\n\"busy.ratio\" = { minimum = 0.5 }\n");
    }
}
