//! Writers that all output for people and all JSON goes through.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::letters::{in_json, shown_lines};
use crate::style::PREFIX;

/// A writer that lets nothing through that a terminal would obey, but line breaks and
/// our own [`Style`](crate::Style)s. What is no UTF-8 becomes U+FFFD.
///
/// Parts of characters and of styles are held back until the rest comes, or until it is
/// flushed or dropped.
#[derive(Debug)]
pub struct Door<W: Write> {
    out: W,
    kind: Kind,
    held: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    Json,
    Raw,
}

impl<W: Write> Door<W> {
    /// For text that people read: what must not be obeyed is shown by name.
    pub fn page(out: W) -> Self {
        Self::new(out, Kind::Page)
    }

    /// For JSON: what must not be obeyed is escaped, so that its value stays.
    pub fn json(out: W) -> Self {
        Self::new(out, Kind::Json)
    }

    /// For CSV and the like: to a file or a program as it is, to a terminal like a page.
    pub fn data(out: W, is_terminal: bool) -> Self {
        let kind = if is_terminal { Kind::Page } else { Kind::Raw };
        Self::new(out, kind)
    }

    fn new(out: W, kind: Kind) -> Self {
        Self {
            out,
            kind,
            held: Vec::new(),
        }
    }

    /// Writes the first bytes of what is held.
    fn pass(&mut self, length: usize) -> io::Result<()> {
        let rest = self.held.split_off(length.min(self.held.len()));
        let held = std::mem::replace(&mut self.held, rest);
        let text = String::from_utf8_lossy(&held);

        let safe = match self.kind {
            Kind::Page => styled_lines(&text),
            Kind::Json => in_json(&text),
            Kind::Raw => return self.out.write_all(&held),
        };
        self.out.write_all(safe.as_bytes())
    }
}

impl<W: Write> Write for Door<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        let length = whole_length(&self.held);
        self.pass(length)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(usize::MAX)?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Door<W> {
    fn drop(&mut self) {
        // Whoever wants to hear of a failure flushes.
        let _ = self.pass(usize::MAX);
    }
}

/// Lines in which our own styles are what a terminal obeys.
fn styled_lines(text: &str) -> Cow<'_, str> {
    let mut parts = text.split(PREFIX.as_str());
    let first = shown_lines(parts.next().unwrap_or(""));
    let mut out = first;
    for part in parts {
        let out = out.to_mut();
        match part.split_once('m') {
            Some((parameters, rest)) => {
                out.push_str(&format!("\u{1b}[{parameters}m"));
                out.push_str(&shown_lines(rest));
            }
            None => out.push_str(&shown_lines(part)),
        }
    }
    out
}

/// How much of some bytes ends with a whole character, and not within a style.
fn whole_length(bytes: &[u8]) -> usize {
    // No style is longer than this.
    let longest = PREFIX.len() + 8;
    let last_escape = bytes.iter().rposition(|&byte| byte == 0x1b);
    if let Some(at) = last_escape.filter(|at| bytes.len() - at < longest) {
        let rest = bytes.get(at..).unwrap_or_default();
        if !rest.contains(&b'm') {
            return at;
        }
    }

    // The last character's first byte is one of the last four.
    let is_first = |byte: u8| !(0x80..0xc0).contains(&byte);
    let near = bytes.len().saturating_sub(4);
    let end = bytes.get(near..).unwrap_or_default();
    let Some(at) = end.iter().rposition(|&byte| is_first(byte)) else {
        return bytes.len();
    };
    let last = end.get(at..).unwrap_or_default();
    let is_begun = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    match is_begun {
        true => near + at,
        false => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    fn page(parts: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut door = Door::page(&mut out);
        for part in parts {
            door.write_all(part).unwrap();
        }
        drop(door);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_our_own_styles_are_obeyed() {
        let style = Style::BOLD_RED;
        let text = format!("{style}error:{style:#} a\u{1b}[31mb\u{1b}]0;c\u{7}\n");
        let expected = "\u{1b}[1;31merror:\u{1b}[0m a‹U+001B›[31mb‹U+001B›]0;c‹U+0007›\n";
        assert_eq!(page(&[text.as_bytes()]), expected);
        assert_eq!(page(&[b"\x1b[1;31mx\x1b[0m"]), "‹U+001B›[1;31mx‹U+001B›[0m");
        // One that somebody began and did not end.
        let begun = PREFIX.as_bytes();
        assert!(!page(&[begun, b"\x1b[2J"]).contains('\u{1b}'));
        assert!(!page(&[begun]).contains('\u{1b}'));
    }

    #[test]
    fn however_it_is_cut_it_is_the_same() {
        let style = Style::BOLD;
        let text = format!("a\u{9b}{style}核\u{202e}{style:#}\u{1b}[2J 👩\n");
        let whole = page(&[text.as_bytes()]);
        for cut in 0..=text.len() {
            let (before, after) = text.as_bytes().split_at(cut);
            assert_eq!(page(&[before, after]), whole, "{cut}");
        }
        let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(page(&single), whole);
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(page(&[b"a\x9bb\xff\xe6"]), "a\u{fffd}b\u{fffd}\u{fffd}");
    }

    #[test]
    fn data_is_shown_to_people_alone() {
        let check = |is_terminal: bool, expected: &[u8]| {
            let mut out = Vec::new();
            Door::data(&mut out, is_terminal)
                .write_all(b"a\x1b,\xc2\x9b\n")
                .unwrap();
            assert_eq!(out, expected);
        };
        check(false, b"a\x1b,\xc2\x9b\n");
        check(true, "a‹U+001B›,‹U+009B›\n".as_bytes());
    }

    #[test]
    fn json_is_escaped() {
        let mut out = Vec::new();
        let mut door = Door::json(&mut out);
        serde_json::to_writer_pretty(&mut door, &["a\u{9b}\u{202e}\u{e0041}\u{7f}核"]).unwrap();
        drop(door);
        let expected = "[\n  \"a\\u009b\\u202e\\udb40\\udc41\\u007f核\"\n]";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
