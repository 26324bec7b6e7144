//! What xctrace left behind, told from a document's beginning and end: no row
//! is looked at.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    /// There is none.
    Nothing,
    /// The query matched nothing: there is no such table.
    Absent,
    /// From its beginning to its end.
    Whole,
    /// It breaks off behind whole rows.
    CutOff,
    /// It breaks off before the first row ends.
    Useless,
}

/// The end of every whole document.
const ENDS: [&[u8]; 2] = [b"</trace-query-result>", b"</trace-toc>"];
/// What matched nothing is 65 bytes long; a schema alone is longer than this.
const SMALL: u64 = 256;
/// Enough of the end to hold the last tag and white space behind it.
const TAIL: usize = 256;

impl Document {
    /// Looks at a file.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
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
        Ok(match tail.is_end() {
            true if size < SMALL && is_no_more_than_a_root(&mut file)? => Self::Absent,
            true => Self::Whole,
            false if has(&mut file, b"</row>")? => Self::CutOff,
            false => Self::Useless,
        })
    }
}

fn is_no_more_than_a_root(file: &mut File) -> io::Result<bool> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.contains("<trace-query-result") && !text.contains("<node"))
}

/// Whether a file has these bytes: a tag, or the beginning of one.
fn has(file: &mut File, tag: &[u8]) -> io::Result<bool> {
    let mut file = BufReader::with_capacity(64 << 10, file);
    let mut piece = Vec::new();
    loop {
        piece.clear();
        let count = file.by_ref().take(1 << 20).read_until(b'>', &mut piece)?;
        if piece.windows(tag.len()).any(|bytes| bytes == tag) {
            return Ok(true);
        }
        if count == 0 {
            return Ok(false);
        }
    }
}

/// The last bytes of what went by.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Takes in what comes next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let from = bytes.len().saturating_sub(TAIL);
        self.0.extend(bytes.iter().skip(from));
        let too_many = self.0.len().saturating_sub(TAIL);
        self.0.drain(..too_many);
    }

    /// Whether that is how a document ends.
    pub(crate) fn is_end(&self) -> bool {
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

    fn check(text: Option<&str>, expected: Document) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.xml");
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        assert_eq!(Document::of(&path).unwrap(), expected, "{text:?}");
    }

    #[test]
    fn beginnings_and_ends() {
        check(None, Document::Nothing);
        check(Some(""), Document::Nothing);
        check(
            Some("<?xml version=\"1.0\"?>\n<trace-query-result>\n</trace-query-result>"),
            Document::Absent,
        );
        check(Some("<trace-query-result/>\n"), Document::Absent);
        check(Some("<trace-toc><run/></trace-toc>"), Document::Whole);
        let small = format!("{HEAD}<node xpath='x'></node></trace-query-result>\n\n");
        check(Some(&small), Document::Whole);
        let rows = "<row><a id=\"1\">2</a></row>\n".repeat(90_000);
        let whole = format!("{HEAD}<node>{rows}</node></trace-query-result>");
        check(Some(&whole), Document::Whole);
        for cut in [1, 20, 30, whole.len() / 2, whole.len() - 80] {
            check(whole.get(..whole.len() - cut), Document::CutOff);
        }
        check(Some(&format!("{HEAD}<node><row><a>")), Document::Useless);
        check(Some("Export failed: no"), Document::Useless);
    }

    #[test]
    fn a_tail_is_the_same_however_it_comes() {
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
