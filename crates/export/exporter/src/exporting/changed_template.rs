//! Finds out whether a bundle was recorded with a changed copy of Apple's template, from the file
//! beside the bundle.

use std::path::Path;

/// Largest size of that file, in bytes. It usually has some kilobytes.
const MAX_BYTES: u64 = 16 << 20;

/// Returns a possible cause of a failed export if the template was changed, else an empty text. One
/// project saw `xctrace` refuse such bundles, and five exported them.
pub(crate) fn cause(bundle: &Path) -> &'static str {
    let text = metalens_files::read(&bundle.with_extension("recording.json"), MAX_BYTES).ok();
    let json = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let is_changed = json.is_some_and(|json| !json["shader_timeline"].is_null());
    if is_changed {
        ". It was recorded with a changed copy of Apple's template (--shader-timeline), which may be the \
         cause: record again without that option, or let metalens read the bundle itself"
    } else {
        ""
    }
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
    }
}
