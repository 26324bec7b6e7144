//! `metalens.toml`, and what the command line says over it.

mod gate;

use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::Settings;
use metalens_comparison::Gate;
use serde::Deserialize;

use crate::args::nanoseconds;

/// Where settings are looked for when no file is named.
const DEFAULT: &str = "metalens.toml";

/// People write it: a thousandth of this is long.
const LONGEST: u64 = 16 << 20;

/// The file's form.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    /// `targets` is how earlier versions spelled it.
    #[serde(alias = "targets")]
    thresholds: ThresholdValues,
    findings: Findings,
    gate: Option<gate::Section>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ThresholdValues {
    average_gap: Option<Value>,
    utilization: Option<Value>,
    launch_efficiency: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Findings {
    ignore: Vec<String>,
}

/// `"1us"`, `"80%"`, `0.8`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Number(f64),
}

impl Value {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// The gate: of a file that was named for it, else of the settings' file, else the
/// default one.
pub(crate) fn gate(named: Option<&PathBuf>, config: Option<&PathBuf>) -> anyhow::Result<Gate> {
    let default = PathBuf::from(DEFAULT);
    let usual = config.or(default.is_file().then_some(&default));
    let Some(path) = named.or(usual) else {
        return Ok(Gate::default());
    };
    let shown = path.display();
    match file(path)?.gate {
        Some(section) => section.gate(&shown.to_string()),
        None if named.is_none() => Ok(Gate::default()),
        None => anyhow::bail!(
            "{shown} has no [gate]: write one, or leave the name out for the default limits"
        ),
    }
}

/// The settings: defaults, then the file's, then the command line's.
pub(crate) fn settings(file: Option<&PathBuf>, thresholds: &[String]) -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    let default = Path::new(DEFAULT);
    let file = file
        .map(PathBuf::as_path)
        .or(default.is_file().then_some(default));
    if let Some(path) = file {
        read(path, &mut settings)?;
    }
    for threshold in thresholds {
        let (id, value) = threshold.split_once('=').with_context(|| {
            format!("--threshold {threshold}: write ID=VALUE, such as average-gap=5us")
        })?;
        set(&mut settings, id, value).with_context(|| format!("--threshold {threshold}"))?;
    }
    Ok(settings)
}

fn file(path: &Path) -> anyhow::Result<File> {
    let shown = path.display();
    let text =
        metalens_files::read_text(path, LONGEST).with_context(|| format!("cannot read {shown}"))?;
    toml::from_str(&text).map_err(|error| {
        let error = error.to_string();
        anyhow::anyhow!("{shown} is not understood: {}", error.trim_end())
    })
}

fn read(path: &Path, settings: &mut Settings) -> anyhow::Result<()> {
    let shown = path.display();
    let file = file(path)?;
    let thresholds = [
        ("average-gap", file.thresholds.average_gap),
        ("utilization", file.thresholds.utilization),
        ("launch-efficiency", file.thresholds.launch_efficiency),
    ];
    for (id, value) in thresholds {
        if let Some(value) = value {
            set(settings, id, &value.text())
                .with_context(|| format!("{shown}: thresholds.{id}"))?;
        }
    }
    settings.ignored_findings.extend(file.findings.ignore);
    Ok(())
}

/// Sets a threshold, which the report then has to measure.
fn set(settings: &mut Settings, id: &str, value: &str) -> anyhow::Result<()> {
    let limits = &mut settings.limits;
    match id {
        "average-gap" => {
            limits.average_gap_ns = nanoseconds(value).map_err(anyhow::Error::msg)?;
        }
        "utilization" => limits.utilization = ratio(value)?,
        "launch-efficiency" => limits.launch_efficiency = ratio(value)?,
        _ => anyhow::bail!(
            "unknown threshold {id}; use average-gap, utilization or launch-efficiency"
        ),
    }
    settings.required_thresholds.push(id.to_owned());
    Ok(())
}

/// `80%` or `0.8`. A bare number above 1 is as likely to be meant in percent as
/// to be a mistake, so it is refused.
fn ratio(text: &str) -> anyhow::Result<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let value: Option<f64> = number.parse().ok().map(|value: f64| value / scale);
    value
        .filter(|value| (0.0..=1.0).contains(value))
        .with_context(|| format!("`{text}` is not a share: write 80% or 0.8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut off at any byte, or with any bit of it flipped, a file is refused, or nothing
    /// but known words are understood of it, within their limits.
    #[test]
    fn broken_anywhere() {
        const GOOD: &str = "[thresholds]\naverage-gap = \"200us\"\nutilization = \"9%\"\n\
            launch-efficiency = 0.09\n\n[findings]\nignore = [\"tiny-kernels\"]\n\n[gate]\n\
            metrics = { \"busy.ratio\" = { min = \"80%\" } }\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metalens.toml");
        let mut understood = 0;
        let mut check = |bytes: &[u8], what: String| {
            std::fs::write(&path, bytes).unwrap();
            let mut settings = Settings::default();
            if read(&path, &mut settings).is_err() {
                return;
            }
            understood += 1;
            let limits = &settings.limits;
            for ratio in [limits.utilization, limits.launch_efficiency] {
                assert!((0.0..=1.0).contains(&ratio), "{what}: {ratio}");
            }
            let table: toml::Table = std::str::from_utf8(bytes).unwrap().parse().unwrap();
            let known = ["thresholds", "findings", "gate"];
            assert!(
                table.keys().all(|key| known.contains(&key.as_str())),
                "{what}"
            );
            let thresholds = table.get("thresholds").and_then(toml::Value::as_table);
            let known = ["average-gap", "utilization", "launch-efficiency"];
            let mut keys = thresholds.into_iter().flat_map(toml::Table::keys);
            assert!(keys.all(|key| known.contains(&key.as_str())), "{what}");
        };
        check(GOOD.as_bytes(), "the file as it is".to_owned());
        for at in 0..GOOD.len() {
            check(&GOOD.as_bytes()[..at], format!("cut off at {at}"));
            for bit in 0..8 {
                let mut flipped = GOOD.as_bytes().to_vec();
                flipped[at] ^= 1 << bit;
                check(&flipped, format!("bit {bit} of byte {at}"));
            }
        }
        assert!((100..1_000).contains(&understood), "{understood}");
    }

    #[test]
    fn shares() {
        let cases = [
            ("80%", Some(0.8)),
            ("0.8", Some(0.8)),
            ("100 %", Some(1.0)),
            ("0", Some(0.0)),
            ("80", None),
            ("-1%", None),
            ("NaN", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(ratio(text).ok(), expected, "{text}");
        }
    }

    /// `expected`: average gap, utilization, launch efficiency.
    fn check(toml: &str, thresholds: &[&str], expected: Option<(u64, f64, f64)>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metalens.toml");
        std::fs::write(&file, toml).unwrap();
        let thresholds: Vec<String> = thresholds.iter().map(|&one| one.to_owned()).collect();
        let found = settings(Some(&file), &thresholds).ok();
        let found = found.map(|found| found.limits);
        let found = found.map(|limits| {
            (
                limits.average_gap_ns,
                limits.utilization,
                limits.launch_efficiency,
            )
        });
        assert_eq!(found, expected, "{toml} {thresholds:?}");
    }

    #[test]
    fn what_is_said_last_counts() {
        check("", &[], Some((1_000, 0.8, 0.7)));
        check(
            "[thresholds]\naverage-gap = \"5us\"\nutilization = 0.5\n",
            &[],
            Some((5_000, 0.5, 0.7)),
        );
        check(
            "[thresholds]\naverage-gap = \"5us\"\n",
            &["average-gap=2ms", "launch-efficiency=60%"],
            Some((2_000_000, 0.8, 0.6)),
        );
    }

    #[test]
    fn typing_errors_are_refused() {
        check("[target]\n", &[], None);
        check("[thresholds]\naverage_gap = \"5us\"\n", &[], None);
        check("[thresholds]\naverage-gap = 5\n", &[], None);
        check("", &["utilisation=0.5"], None);
        check("", &["utilization"], None);
    }
}
