//! Finds out whether a bundle was recorded with a changed copy of Apple's template, from the file
//! beside the bundle.

use std::path::Path;

/// Largest size of that file, in bytes. It usually has some kilobytes.
const MAX_BYTES: u64 = 16 << 20;

/// Returns a possible cause of a failed export if the template was changed, else an empty text. One
/// project saw `xctrace` refuse such bundles, and five exported them.
pub(crate) fn cause(bundle: &Path) -> String {
    let text = metalens_files::read(&bundle.with_extension("recording.json"), MAX_BYTES).ok();
    let json = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let is_set = |key: &str| {
        let value = json.as_ref().and_then(|json| json.get(key));
        value.is_some_and(|value| !value.is_null())
    };
    let options = [
        ("shader_timeline", "--shader-timeline"),
        ("gpu_clock", "--gpu-clock"),
    ];
    let used: Vec<&str> = options
        .into_iter()
        .filter(|(key, _)| is_set(key))
        .map(|(_, option)| option)
        .collect();
    if used.is_empty() {
        return String::new();
    }

    format!(
        ". It was recorded with a changed copy of Apple's template ({}), which may be the cause: \
         record again without that option, or let metalens read the bundle itself",
        used.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_beside_a_bundle_tells() {
        let check = |text: Option<&str>, expected: &str| {
            let folder = tempfile::tempdir().unwrap();
            if let Some(text) = text {
                std::fs::write(folder.path().join("x.recording.json"), text).unwrap();
            }
            let cause = cause(&folder.path().join("x.trace"));
            assert_eq!(cause.is_empty(), expected.is_empty(), "{cause}");
            assert!(cause.contains(expected), "{cause}");
        };
        check(None, "");
        check(Some("no json"), "");
        check(Some(r#"{"shader_timeline": null}"#), "");
        check(Some(r#"{"shader_timeline": {}}"#), "(--shader-timeline)");
        check(
            Some(r#"{"shader_timeline": {}, "gpu_clock": {}}"#),
            "(--shader-timeline, --gpu-clock)",
        );
    }
}
