//! Reads `metalens.toml`, and applies the thresholds of the command line over it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::{Settings, WrittenThresholds, message};
use metalens_comparison::{Gate, GateSection};
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
    expecting = "the sections thresholds, findings and gate"
)]
struct SettingsFile {
    /// Thresholds by id. Earlier versions called them `targets`.
    #[serde(alias = "targets")]
    thresholds: WrittenThresholds,
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

/// Returns the settings file that is read if none is named; none if there is none. Whatever else has
/// its name is an error when it is read.
fn default_file() -> anyhow::Result<Option<PathBuf>> {
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
    let settings = match named.or(config) {
        Some(_) => None,
        None => default_file()?,
    };
    let Some(path) = named.or(config).or(settings.as_ref()) else {
        return Ok(Gate::default());
    };

    let shown = path.display();
    match parse(path)?.gate {
        Some(section) => section.gate(&shown.to_string()).map_err(anyhow::Error::msg),
        None if named.is_none() => {
            let gate = Gate::default();
            Ok(Gate {
                source: message!(
                    "{}, because {} has no [gate]",
                    gate.source.clone(),
                    message::path(&shown.to_string())
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

/// Returns the default settings, changed by the settings file, then by the command line; and the
/// origin of the thresholds, in words.
pub(crate) fn settings(
    file: Option<&PathBuf>,
    thresholds: &[String],
) -> anyhow::Result<(Settings, String)> {
    let mut settings = Settings::default();
    let mut sources = Vec::new();

    let default = match file {
        Some(_) => None,
        None => default_file()?,
    };
    if let Some(path) = file.or(default.as_ref()) {
        apply_file(path, &mut settings)?;
        let lacks = if settings.thresholds.is_empty() {
            " has no [thresholds]"
        } else {
            ""
        };
        sources.push(format!("{}{lacks}", path.display()));
    }

    for threshold in thresholds {
        let set = settings.thresholds.set(threshold);
        set.map_err(|why| anyhow::anyhow!("--threshold {threshold}: {why}"))?;
        sources.push(format!("--threshold {threshold}"));
    }
    Ok((settings, sources.join(", ")))
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

/// Applies the settings of a file over those so far.
fn apply_file(path: &Path, settings: &mut Settings) -> anyhow::Result<()> {
    let file = parse(path)?;
    let set = settings.thresholds.set_all(file.thresholds);
    set.map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    settings.ignored_findings.extend(file.findings.ignore);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a file that is cut off at each byte, or has any bit flipped. Each result is an error,
    /// or settings of known keys with valid values.
    #[test]
    fn corrupt_settings_never_give_unknown_keys_or_invalid_values() {
        const GOOD: &str = "[thresholds]\naverage-gap = \"200us\"\nutilization = \"9%\"\n\
            launch-efficiency = 0.09\n\n[findings]\nignore = [\"tiny-kernels\"]\n\n[gate]\n\
            metrics = { \"busy.ratio\" = { min = \"80%\" } }\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metalens.toml");

        let mut accepted = 0;
        let mut check = |bytes: &[u8], what: String| {
            std::fs::write(&path, bytes).unwrap();
            let mut settings = Settings::default();
            if apply_file(&path, &mut settings).is_err() {
                return;
            }
            accepted += 1;

            let thresholds = &settings.thresholds;
            let shares = [thresholds.utilization, thresholds.launch_efficiency];
            for share in shares.into_iter().flatten() {
                assert!((0.0..=1.0).contains(&share), "{what}: {share}");
            }

            let table: toml::Table = std::str::from_utf8(bytes).unwrap().parse().unwrap();
            let known = ["thresholds", "findings", "gate"];
            assert!(
                table.keys().all(|key| known.contains(&key.as_str())),
                "{what}"
            );

            let thresholds = table.get("thresholds").and_then(toml::Value::as_table);
            let known = ["preset", "average-gap", "utilization", "launch-efficiency"];
            let mut keys = thresholds.into_iter().flat_map(toml::Table::keys);
            assert!(keys.all(|key| known.contains(&key.as_str())), "{what}");
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

    type Expected = (Option<u64>, Option<f64>, Option<f64>);

    /// Compares the settings of a file and of `--threshold` options with the expected average gap,
    /// utilization and launch efficiency.
    fn check(toml: &str, thresholds: &[&str], expected: Option<Expected>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metalens.toml");
        std::fs::write(&file, toml).unwrap();
        let thresholds: Vec<String> = thresholds.iter().map(|&text| text.to_owned()).collect();

        let settings = settings(Some(&file), &thresholds).ok();
        let actual = settings.map(|(Settings { thresholds, .. }, _)| {
            (
                thresholds.average_gap_ns,
                thresholds.utilization,
                thresholds.launch_efficiency,
            )
        });
        assert_eq!(actual, expected, "{toml} {thresholds:?}");
    }

    #[test]
    fn the_command_line_overrides_the_file() {
        check("", &[], Some((None, None, None)));
        check(
            "[thresholds]\naverage-gap = \"5us\"\nutilization = 0.5\n",
            &[],
            Some((Some(5_000), Some(0.5), None)),
        );
        check(
            "[thresholds]\naverage-gap = \"5us\"\n",
            &["average-gap=2ms", "launch-efficiency=60%"],
            Some((Some(2_000_000), None, Some(0.6))),
        );
    }

    #[test]
    fn a_preset_sets_every_threshold() {
        let saturated = (Some(1_000), Some(0.8), Some(0.7));
        check("", &["saturated"], Some(saturated));
        check(
            "[thresholds]\nutilization = 0.5\npreset = \"saturated\"\n",
            &["average-gap=2ms"],
            Some((Some(2_000_000), Some(0.5), Some(0.7))),
        );
        check("[thresholds]\npreset = \"satured\"\n", &[], None);
    }

    #[test]
    fn misspelled_keys_are_refused() {
        check("[target]\n", &[], None);
        check("[thresholds]\naverage_gap = \"5us\"\n", &[], None);
        check("[thresholds]\naverage-gap = 5\n", &[], None);
        check("", &["utilisation=0.5"], None);
        check("", &["utilization"], None);
    }
}
