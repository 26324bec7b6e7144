//! Provides the writer that all output for people and all JSON goes through.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::letters::{in_json, json_without_commands, shown_lines, without_commands};
use crate::style::PREFIX;

/// A writer that removes everything that a terminal would obey, except line breaks and
/// [`Style`](crate::Style)s of this program. Bytes that are not UTF-8 become U+FFFD.
///
/// Incomplete characters and styles wait for the rest, or until the writer is flushed or
/// dropped.
#[derive(Debug)]
pub struct SafeWriter<W: Write> {
    out: W,
    kind: OutputKind,
    /// True if a runner of GitHub Actions obeys what is written.
    is_on_runner: bool,
    /// Bytes that are not written yet: an incomplete character or style.
    pending: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputKind {
    Page,
    Json,
    Raw,
}

impl<W: Write> SafeWriter<W> {
    /// Returns a writer of text for people: unsafe characters are shown by name.
    pub fn page(out: W) -> Self {
        Self::new(out, OutputKind::Page)
    }

    /// Returns a writer of JSON: unsafe characters are escaped, so that the value stays.
    pub fn json(out: W) -> Self {
        Self::new(out, OutputKind::Json)
    }

    /// Returns a writer of CSV and similar data: unchanged for a file or a program, like a page
    /// for a terminal.
    pub fn data(out: W, is_terminal: bool) -> Self {
        let kind = if is_terminal {
            OutputKind::Page
        } else {
            OutputKind::Raw
        };
        Self::new(out, kind)
    }

    fn new(out: W, kind: OutputKind) -> Self {
        Self {
            out,
            kind,
            is_on_runner: false,
            pending: Vec::new(),
        }
    }

    /// Returns the writer, which writes whole lines of which none is a command to a runner of GitHub
    /// Actions, if this program runs on one.
    #[must_use]
    pub fn on_runner(mut self, is_on_runner: bool) -> Self {
        self.is_on_runner = is_on_runner;
        self
    }

    /// Writes the first bytes of the pending ones.
    fn pass(&mut self, length: usize) -> io::Result<()> {
        let rest = self.pending.split_off(length.min(self.pending.len()));
        let complete = std::mem::replace(&mut self.pending, rest);
        let text = String::from_utf8_lossy(&complete);

        let safe = match self.kind {
            OutputKind::Page => styled_lines(&text),
            OutputKind::Json => in_json(&text),
            OutputKind::Raw if !self.is_on_runner => return self.out.write_all(&complete),
            OutputKind::Raw => text,
        };
        match (self.is_on_runner, self.kind) {
            (false, _) => self.out.write_all(safe.as_bytes()),
            (true, OutputKind::Json) => self.out.write_all(json_without_commands(&safe).as_bytes()),
            (true, _) => self.out.write_all(without_commands(&safe).as_bytes()),
        }
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let length = if self.is_on_runner {
            let last = self.pending.iter().rposition(|&byte| byte == b'\n');
            last.map_or(0, |last| last + 1)
        } else {
            complete_length(&self.pending)
        };
        self.pass(length)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(usize::MAX)?;
        self.out.flush()
    }
}

impl<W: Write> Drop for SafeWriter<W> {
    fn drop(&mut self) {
        // A drop cannot return an error: a caller that needs it flushes first.
        let _ = self.pass(usize::MAX);
    }
}

/// Returns lines in which only styles of this program are escape sequences.
fn styled_lines(text: &str) -> Cow<'_, str> {
    let mut parts = text.split(PREFIX.as_str());
    let mut out = shown_lines(parts.next().unwrap_or(""));
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

/// Returns the length of the longest start of some bytes that ends with a complete character,
/// outside a style.
fn complete_length(bytes: &[u8]) -> usize {
    // No style is longer than this.
    let longest = PREFIX.len() + 12;
    let last_escape = bytes.iter().rposition(|&byte| byte == 0x1b);
    if let Some(start) = last_escape.filter(|start| bytes.len() - start < longest) {
        let rest = bytes.get(start..).unwrap_or_default();
        if !rest.contains(&b'm') {
            return start;
        }
    }

    // A character has at most four bytes: its first byte is one of the last four.
    let near = bytes.len().saturating_sub(4);
    let end = bytes.get(near..).unwrap_or_default();
    let Some(start) = end.iter().rposition(|&byte| is_first_of_character(byte)) else {
        return bytes.len();
    };
    let last = end.get(start..).unwrap_or_default();
    let is_begun = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if is_begun { near + start } else { bytes.len() }
}

fn is_first_of_character(byte: u8) -> bool {
    !(0x80..0xc0).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    fn page(parts: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = SafeWriter::page(&mut out);
        for part in parts {
            writer.write_all(part).unwrap();
        }
        drop(writer);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_styles_of_this_program_become_escapes() {
        let style = Style::BOLD_RED;
        let text = format!("{style}error:{style:#} a\u{1b}[31mb\u{1b}]0;c\u{7}\n");
        let expected = "\u{1b}[1;31merror:\u{1b}[0m a‹U+001B›[31mb‹U+001B›]0;c‹U+0007›\n";
        assert_eq!(page(&[text.as_bytes()]), expected);
        assert_eq!(page(&[b"\x1b[1;31mx\x1b[0m"]), "‹U+001B›[1;31mx‹U+001B›[0m");
        // A style that is begun and not ended.
        let begun = PREFIX.as_bytes();
        assert!(!page(&[begun, b"\x1b[2J"]).contains('\u{1b}'));
        assert!(!page(&[begun]).contains('\u{1b}'));
    }

    #[test]
    fn output_does_not_depend_on_how_the_input_is_cut() {
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
    fn a_runner_gets_no_commands_however_the_input_is_cut() {
        type Make = fn(&mut Vec<u8>) -> SafeWriter<&mut Vec<u8>>;
        let makes: [(Make, &str); 3] = [
            (|out| SafeWriter::page(out), "‹U+003A›:x #‹U+0023›[y\nz\n"),
            (
                |out| SafeWriter::data(out, false),
                "‹U+003A›:x #‹U+0023›[y\nz\n",
            ),
            (|out| SafeWriter::json(out), "::x #\\u0023[y\nz\n"),
        ];
        let text = "::x ##[y\nz\n";
        for (make, expected) in makes {
            for cut in 0..=text.len() {
                let (before, after) = text.split_at(cut);
                let mut out = Vec::new();
                let mut writer = make(&mut out).on_runner(true);
                writer.write_all(before.as_bytes()).unwrap();
                writer.write_all(after.as_bytes()).unwrap();
                drop(writer);
                assert_eq!(String::from_utf8(out).unwrap(), expected, "{cut}");
            }
        }
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(page(&[b"a\x9bb\xff\xe6"]), "a\u{fffd}b\u{fffd}\u{fffd}");
    }

    #[test]
    fn data_is_changed_only_for_a_terminal() {
        let check = |is_terminal: bool, expected: &[u8]| {
            let mut out = Vec::new();
            SafeWriter::data(&mut out, is_terminal)
                .write_all(b"a\x1b,\xc2\x9b\n")
                .unwrap();
            assert_eq!(out, expected);
        };
        check(false, b"a\x1b,\xc2\x9b\n");
        check(true, "a‹U+001B›,‹U+009B›\n".as_bytes());
    }

    #[test]
    fn unsafe_characters_in_json_are_escaped() {
        let mut out = Vec::new();
        let mut writer = SafeWriter::json(&mut out);
        serde_json::to_writer_pretty(&mut writer, &["a\u{9b}\u{202e}\u{e0041}\u{7f}核"]).unwrap();
        drop(writer);
        let expected = "[\n  \"a\\u009b\\u202e\\udb40\\udc41\\u007f核\"\n]";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
