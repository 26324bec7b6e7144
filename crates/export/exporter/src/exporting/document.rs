//! Decides whether a document of xctrace is complete, by its beginning and its end, without
//! reading rows.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The state of a document that xctrace wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentState {
    /// The document is missing or empty.
    Nothing,
    /// The query matched nothing: the bundle has no such table.
    Absent,
    /// The document has its beginning and its end.
    Whole,
    /// The document ends early, after at least one complete row.
    CutOff,
    /// The document ends before the first row is complete.
    Useless,
}

/// The ends of complete documents.
const ENDS: [&[u8]; 3] = [
    b"</trace-query-result>",
    b"<trace-query-result/>",
    b"</trace-toc>",
];
/// A document without a match has 65 bytes; a schema alone has more than this many.
const SMALL: u64 = 256;
/// Number of last bytes that contain the last tag and the white space after it.
const TAIL: u64 = 256;

impl DocumentState {
    /// Returns the state of the document in a file.
    pub(crate) fn inspect(path: &Path) -> io::Result<Self> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        if size == 0 {
            return Ok(Self::Nothing);
        }
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        file.rewind()?;

        let tail = tail.trim_ascii_end();
        Ok(if ENDS.iter().any(|end| tail.ends_with(end)) {
            if size < SMALL && has_only_a_root(&mut file)? {
                Self::Absent
            } else {
                Self::Whole
            }
        } else if contains(&mut file, b"</row>")? {
            Self::CutOff
        } else {
            Self::Useless
        })
    }
}

fn has_only_a_root(file: &mut File) -> io::Result<bool> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.contains("<trace-query-result") && !text.contains("<node"))
}

/// Returns true if a file contains a tag, or the beginning of one.
fn contains(file: &mut File, tag: &[u8]) -> io::Result<bool> {
    let mut file = BufReader::with_capacity(64 << 10, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = file.by_ref().take(1 << 20).read_until(b'>', &mut line)?;
        if line.windows(tag.len()).any(|bytes| bytes == tag) {
            return Ok(true);
        }
        if count == 0 {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<?xml version=\"1.0\"?>\n<trace-query-result>\n";

    fn check(text: Option<&str>, expected: DocumentState) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.xml");
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        assert_eq!(DocumentState::inspect(&path).unwrap(), expected, "{text:?}");
    }

    #[test]
    fn documents_are_judged_by_their_beginning_and_end() {
        check(None, DocumentState::Nothing);
        check(Some(""), DocumentState::Nothing);
        check(
            Some("<?xml version=\"1.0\"?>\n<trace-query-result>\n</trace-query-result>"),
            DocumentState::Absent,
        );
        check(Some("<trace-query-result/>\n"), DocumentState::Absent);
        check(Some("<trace-toc><run/></trace-toc>"), DocumentState::Whole);
        let small = format!("{HEAD}<node xpath='x'></node></trace-query-result>\n\n");
        check(Some(&small), DocumentState::Whole);
        let rows = "<row><a id=\"1\">2</a></row>\n".repeat(90_000);
        let whole = format!("{HEAD}<node>{rows}</node></trace-query-result>");
        check(Some(&whole), DocumentState::Whole);
        for cut in [1, 20, 30, whole.len() / 2, whole.len() - 80] {
            check(whole.get(..whole.len() - cut), DocumentState::CutOff);
        }

        check(
            Some(&format!("{HEAD}<node><row><a>")),
            DocumentState::Useless,
        );
        check(Some("Export failed: no"), DocumentState::Useless);
    }
}
