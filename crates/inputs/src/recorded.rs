//! Reads what the recorder wrote beside a bundle about the environment of the program.

use std::path::{Path, PathBuf};

use metalens_analyzer::FrameworkVersion;
use serde::Deserialize;

/// Largest size of the file, in bytes. Usual are some kilobytes.
const MOST_BYTES: u64 = 16 << 20;
/// Name of the format, without its version: later ones only add keys or change others.
const SCHEMA: &str = "metalens.recording/1";

/// The part of `X.recording.json` that is used here.
#[derive(Deserialize)]
struct Recorded {
    schema: String,
    #[serde(default)]
    frameworks: Option<Vec<FrameworkVersion>>,
}

/// Returns the default place of what the recorder wrote about a bundle: beside it, or beside its
/// archive. None for other inputs.
#[must_use]
pub fn default_recorded(input: &Path) -> Option<PathBuf> {
    let has = |path: &Path, wanted: &str| path.extension().is_some_and(|ending| ending == wanted);
    let bundle = if has(input, "zip") {
        input.with_extension("")
    } else {
        input.to_owned()
    };
    has(&bundle, "trace").then(|| bundle.with_extension("recording.json"))
}

/// Returns the frameworks in the environment of the recorded program. `None` if nothing beside the
/// bundle tells: there is no such file, or it is of another format.
pub(crate) fn frameworks(input: &Path) -> Option<Vec<FrameworkVersion>> {
    let text = metalens_files::read(&default_recorded(input)?, MOST_BYTES).ok()?;
    let recorded: Recorded = serde_json::from_slice(&text).ok()?;
    recorded.frameworks.filter(|_| recorded.schema == SCHEMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_beside_a_bundle_names_frameworks() {
        let check = |input: &str, text: &str, expected: Option<&[&str]>| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.recording.json"), text).unwrap();
            let found = frameworks(&folder.path().join(input));
            let names = found.map(|found| {
                let all = found.into_iter();
                all.map(|one| format!("{} {}", one.package, one.version))
                    .collect::<Vec<_>>()
            });
            let expected = expected.map(|all| all.iter().map(ToString::to_string).collect());
            assert_eq!(names, expected, "{input}: {text}");
        };
        let good = r#"{"schema": "metalens.recording/1", "other": 1, "frameworks":
            [{"package": "mlx", "version": "0.29.1", "source": "python-package"}]}"#;
        check("a.trace", good, Some(&["mlx 0.29.1"]));
        check("a.trace.zip", good, Some(&["mlx 0.29.1"]));
        check("a.export", good, None);
        check("b.trace", good, None);
        check("a.trace", &good.replace("/1", "/2"), None);
        check("a.trace", r#"{"schema": "metalens.recording/1"}"#, None);
        check(
            "a.trace",
            r#"{"schema": "metalens.recording/1", "frameworks": []}"#,
            Some(&[]),
        );
        check("a.trace", "no json", None);
    }
}
