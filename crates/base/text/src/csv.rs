//! Writes comma-separated values that spreadsheets and scripts read the same way.
//!
//! * Null is an empty field; an empty text is `""`.
//! * A text is quoted where necessary, and quotes in it are doubled.
//! * A text that a spreadsheet would run gets an apostrophe before it: see [`defused`].
//!   Numbers do not: -2 stays -2.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// A CSV writer: writes the fields of a row, then ends the row.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    has_fields: bool,
}

impl<W: Write> Writer<W> {
    /// Returns a writer at the beginning of a row.
    pub fn new(out: W) -> Self {
        Self {
            out,
            has_fields: false,
        }
    }

    /// Writes a text, defused and quoted where necessary; nothing for null.
    pub fn text<'a>(&mut self, text: impl Into<Option<&'a str>>) -> io::Result<()> {
        self.separate()?;
        match text.into() {
            Some(text) => self.out.write_all(field(text).as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes a number, or another value that is not a text from outside.
    pub fn value(&mut self, value: impl Display) -> io::Result<()> {
        self.separate()?;
        write!(self.out, "{value}")
    }

    /// Writes a value, or nothing for null.
    pub fn optional(&mut self, value: Option<impl Display>) -> io::Result<()> {
        match value {
            Some(value) => self.value(value),
            None => self.separate(),
        }
    }

    /// Writes a complete row of texts, such as the headings.
    pub fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        texts.into_iter().try_for_each(|text| self.text(text))?;
        self.end()
    }

    /// Ends the current row.
    pub fn end(&mut self) -> io::Result<()> {
        self.has_fields = false;
        self.out.write_all(b"\n")
    }

    fn separate(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_fields, true) {
            self.out.write_all(b",")?;
        }
        Ok(())
    }
}

fn field(text: &str) -> Cow<'_, str> {
    let text = defused(text);
    let is_changed = matches!(text, Cow::Owned(_));
    if text.is_empty() || is_changed || text.contains(needs_quotes) {
        return Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    text
}

fn needs_quotes(letter: char) -> bool {
    matches!(letter, '"' | ',' | ';') || letter.is_control()
}

/// Returns a text with an apostrophe wherever a spreadsheet would otherwise run what follows:
/// at the beginning, and after characters that some programs take for the end of a cell (`;`,
/// a tab, a line break).
///
/// A formula begins with `=`, `+`, `-` or `@`, or their wide forms. Blanks, hidden characters
/// and apostrophes before it make no difference, so that removing one apostrophe restores the
/// text. A tab or a line break that begins the text gets an apostrophe too.
pub fn defused(text: &str) -> Cow<'_, str> {
    let begins_odd = text
        .trim_start_matches('\'')
        .starts_with(['\t', '\n', '\r']);
    if !begins_odd && !text.split(ENDS_OF_CELLS).any(is_formula) {
        return Cow::Borrowed(text);
    }

    let mut out = String::with_capacity(text.len() + 1);
    for (index, cell) in text.split_inclusive(ENDS_OF_CELLS).enumerate() {
        if is_formula(cell) || (index == 0 && begins_odd) {
            out.push('\'');
        }
        out.push_str(cell);
    }
    Cow::Owned(out)
}

const ENDS_OF_CELLS: [char; 4] = [';', '\t', '\n', '\r'];

fn is_formula(cell: &str) -> bool {
    let start = cell.trim_start_matches(is_ignored_before_a_formula);
    start.starts_with([
        '=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫',
    ])
}

fn is_ignored_before_a_formula(letter: char) -> bool {
    letter == '\'' || letter.is_whitespace() || letter.is_control() || crate::is_hidden(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_defused() {
        let check = |text: &str, expected: &str| assert_eq!(field(text), expected, "{text:?}");
        check("matmul-f16", "matmul-f16");
        check("a = b + c", "a = b + c");
        check("", "\"\"");
        check("a,\"b\"", "\"a,\"\"b\"\"\"");
        check("a\nb", "\"a\nb\"");
        check(" a ", " a ");
        check("it's", "it's");
        check("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\"");
        check("+SUM(1)", "\"'+SUM(1)\"");
        check("@SUM(1)", "\"'@SUM(1)\"");
        check("-2+3", "\"'-2+3\"");
        check("-[Object commit]", "\"'-[Object commit]\"");
        check("\ta", "\"'\ta\"");
        check("\t=a", "\"'\t'=a\"");
        check("\r=a", "\"'\r'=a\"");
        check("＝a", "\"'＝a\"");
        check("－1", "\"'－1\"");
        check(" \u{feff}=a", "\"' \u{feff}=a\"");
        check("a;=b", "\"a;'=b\"");
        check("a\n@b", "\"a\n'@b\"");
        check("\"=a", "\"\"\"=a\"");
        check("'=a", "\"''=a\"");
        check("=a;b", "\"'=a;b\"");
        check("\\,=a", "\"\\,=a\"");
    }

    #[test]
    fn numbers_null_and_empty_stay_apart() {
        let mut out = Vec::new();
        let mut csv = Writer::new(&mut out);
        csv.texts(["n", "s", "-x"]).unwrap();
        csv.value(-2).unwrap();
        csv.text("").unwrap();
        csv.text(None).unwrap();
        csv.end().unwrap();
        csv.optional(None::<u64>).unwrap();
        csv.text(Some("-2")).unwrap();
        csv.optional(Some(0.5)).unwrap();
        csv.end().unwrap();
        let expected = "n,s,\"'-x\"\n-2,\"\",\n,\"'-2\",0.5\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    proptest::proptest! {
        /// No cell begins like a formula in any reader, and removing the apostrophes restores
        /// the text.
        #[test]
        fn no_cell_begins_like_a_formula(text in "[-=+@'\"; \t\na＝]{0,12}") {
            let safe = defused(&text);
            proptest::prop_assert!(!safe.starts_with(['=', '+', '-', '@', '\t', '\n', '＝']));
            for cell in safe.split(ENDS_OF_CELLS) {
                let begins = cell.trim_start();
                proptest::prop_assert!(!begins.starts_with(['=', '+', '-', '@', '＝']), "{safe:?}");
            }
            let removed = safe.len() - text.len();
            let apostrophes = |text: &str| text.matches('\'').count();
            proptest::prop_assert_eq!(apostrophes(&safe) - apostrophes(&text), removed);
        }
    }
}
