//! Recognizes what people give by mistake: frame captures of Xcode, Chrome traces, and files of metalens itself.

use std::path::Path;

use crate::error::Problem;

/// JSON documents, by a text in them (of metalens, the value of their key `schema`): what they are, and what reads
/// them.
const OWN: [(&str, &str, &str); 7] = [
    (
        "traceEvents\"",
        "a Chrome trace, as PyTorch and Perfetto write it",
        "open it at ui.perfetto.dev; metalens reads recordings of the GPU: `metalens record`",
    ),
    (
        "metalens.report/",
        "a report of metalens",
        "give the recording that it was made from",
    ),
    (
        "metalens.comparison/",
        "a comparison of metalens",
        "give the recordings that it was made from",
    ),
    (
        "metalens.baseline/",
        "a baseline of metalens",
        "`metalens compare --baseline FILE RUN` compares runs with it",
    ),
    (
        "metalens.index/",
        "an index of metalens",
        "give the folder of the recordings to `metalens batch`",
    ),
    (
        "metalens.manifest/",
        "the manifest of a report folder",
        "give the recording that the report was made from",
    ),
    (
        "metalens.recording/",
        "the file X.recording.json that metalens writes beside a recording",
        "give the .trace bundle beside it",
    ),
];

/// Returns the problem of a folder that is no recording but known to be something else.
/// `has_recording` is true if it has files that only recordings have.
pub(super) fn folder(path: &Path, has_recording: bool) -> Option<Problem> {
    let is_named = |ending: &str| path.extension().is_some_and(|found| found == ending);
    if is_named("gputrace") || path.join("capture").is_file() && path.join("metadata").is_file() {
        return Some(Problem::Mistaken {
            found: "a frame capture of Xcode (.gputrace)",
            hint: "open it in Xcode; metalens reads recordings of Instruments: `metalens record`",
        });
    }
    // A recording to which somebody added a report is still a recording.
    let has_report = || path.join("report.json").is_file() && path.join("manifest.json").is_file();
    if !has_recording && has_report() {
        return Some(Problem::Mistaken {
            found: "a report folder of metalens",
            hint: "open report.html in it, or give the recording that it was made from",
        });
    }

    let is_empty = || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if is_named("trace") && is_empty() {
        return Some(Problem::Mistaken {
            found: "an empty folder",
            hint: "copy the bundle again, with all its contents",
        });
    }
    None
}

/// Returns the problem of a JSON document that is known, by its first bytes.
pub(super) fn json(start: &[u8]) -> Option<Problem> {
    let contains = |needle: &str| memchr::memmem::find(start, needle.as_bytes()).is_some();
    let mut own = OWN.iter();
    let &(_, found, hint) = own.find(|(schema, ..)| contains(&format!("\"{schema}")))?;
    Some(Problem::Mistaken { found, hint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use metalens_failure::Failure;
    use std::fs;

    #[test]
    fn folders_given_by_mistake_are_named() {
        let root = tempfile::tempdir().unwrap();
        let of = |has_recording: bool, name: &str, files: &[&str], expected: Option<&str>| {
            let path = root.path().join(name);
            fs::create_dir(&path).unwrap();
            for file in files {
                fs::write(path.join(file), "").unwrap();
            }
            let found = folder(&path, has_recording).map(|problem| problem.to_string());
            let expected = expected.map(|what| format!("this is {what}, not a recording"));
            assert_eq!(found, expected, "{name}");
        };
        let check = |name: &str, files: &[&str], expected| of(false, name, files, expected);

        check(
            "frame.gputrace",
            &[],
            Some("a frame capture of Xcode (.gputrace)"),
        );
        check(
            "renamed",
            &["capture", "metadata"],
            Some("a frame capture of Xcode (.gputrace)"),
        );
        check(
            "out",
            &["report.json", "manifest.json"],
            Some("a report folder of metalens"),
        );
        check(
            "named-so.trace",
            &["report.json", "manifest.json"],
            Some("a report folder of metalens"),
        );
        of(true, "inside", &["report.json", "manifest.json"], None);
        check("empty.trace", &[], Some("an empty folder"));
        check("some.trace", &["form.template"], None);
        check("export", &["toc.xml"], None);
        check("nothing", &[], None);
    }

    #[test]
    fn files_of_metalens_are_named_with_what_to_do() {
        for (schema, found, hint) in OWN {
            let text = format!("{{\n  \"schema\": \"{schema}2\",\n  \"x\": 1\n}}");
            let problem = json(text.as_bytes()).unwrap();
            assert_eq!(
                problem.to_string(),
                format!("this is {found}, not a recording")
            );
            let error = crate::Error::in_file(problem, "x.json");
            assert_eq!(error.hint().as_deref(), Some(hint));
        }
        assert!(json(b"{\"schema\": \"other/1\"}").is_none());
    }
}
