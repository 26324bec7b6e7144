//! Reads the file about the program's environment that the recorder wrote beside a bundle.

use std::path::{Path, PathBuf};

use metalens_analyzer::FrameworkVersion;
use serde::Deserialize;

use crate::error::{Result, cannot_read};

/// Largest size of the file, in bytes. It usually has some kilobytes.
const MOST_BYTES: u64 = 16 << 20;
/// Name of the format and its version. Other versions are not read.
const SCHEMA: &str = "metalens.recording/1";

/// The part of `X.recording.json` that is used here.
#[derive(Deserialize)]
struct Recorded {
    schema: String,
    #[serde(default)]
    frameworks: Option<Vec<FrameworkVersion>>,
}

/// Returns the default path of the recorder's file about a bundle: beside the bundle, or beside its
/// archive. Returns `None` for other inputs.
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

/// Returns the frameworks in the environment of the recorded program. Returns `None` if there is no
/// file beside the bundle, or if it has another format.
///
/// # Errors
///
/// Fails if there is a file that cannot be read.
pub(crate) fn frameworks(input: &Path) -> Result<Option<Vec<FrameworkVersion>>> {
    let Some(file) = default_recorded(input) else {
        return Ok(None);
    };
    let text = metalens_files::read_optional(&file, MOST_BYTES).map_err(cannot_read(&file))?;
    let recorded = text.and_then(|text| serde_json::from_slice::<Recorded>(&text).ok());
    let recorded = recorded.filter(|recorded| recorded.schema == SCHEMA);
    Ok(recorded.and_then(|recorded| recorded.frameworks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_beside_a_bundle_names_frameworks() {
        let check = |input: &str, text: &str, expected: Option<&[&str]>| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.recording.json"), text).unwrap();
            let found = frameworks(&folder.path().join(input)).unwrap();
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
