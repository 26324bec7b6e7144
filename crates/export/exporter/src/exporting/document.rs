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
const ENDS: [&[u8]; 2] = [b"</trace-query-result>", b"</trace-toc>"];
/// A document without a match has 65 bytes; a schema alone has more than this many.
const SMALL: u64 = 256;
/// Number of last bytes that contain the last tag and the white space after it.
const TAIL: usize = 256;

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
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL as u64)))?;
        let mut tail = Tail::default();
        io::copy(&mut file, &mut tail)?;
        file.seek(SeekFrom::Start(0))?;

        Ok(if tail.is_end() {
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

/// The last bytes of a document.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    /// Adds the next bytes of the document.
    fn push(&mut self, bytes: &[u8]) {
        let from = bytes.len().saturating_sub(TAIL);
        self.0.extend(bytes.iter().skip(from));
        let too_many = self.0.len().saturating_sub(TAIL);
        self.0.drain(..too_many);
    }

    /// Returns true if a complete document ends with these bytes.
    fn is_end(&self) -> bool {
        let text = self.0.trim_ascii_end();
        ENDS.iter().any(|end| text.ends_with(end)) || text.ends_with(b"<trace-query-result/>")
    }
}

impl io::Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

    #[test]
    fn a_tail_does_not_depend_on_the_size_of_the_pieces() {
        let text = format!("{}</trace-toc> \n", "x".repeat(1_000));
        for step in [1, 7, 255, 256, 257, 2_000] {
            let mut tail = Tail::default();
            text.as_bytes()
                .chunks(step)
                .for_each(|bytes| tail.push(bytes));
            assert!(tail.is_end(), "{step}");
            tail.push(b"y");
            assert!(!tail.is_end(), "{step}");
        }
    }
}
