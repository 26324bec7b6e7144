//! Splits the bytes of a window into tokens, as far as its rows are plain.
//!
//! ```xml
//! <row><start-time id="1" fmt="00:00.000">0</start-time><duration ref="4"/><sentinel/>…</row>
//! ```
//!
//! A row is plain if it has only tags, text and entities, each tag has its end tag, and each
//! number is valid. Anything else ends the plain rows before it, without an error: the reader for
//! all of XML continues there.

use super::token::{ByteRange, Lexicon, PlainRows, RowToken, Text, Word};
use crate::xml::attributes::parse_u64;
use crate::xml::guard::{clean_length, newlines};
use crate::xml::ids::TagId;

/// Maximum depth of plain cells. Real ones have a depth of three.
const DEPTH: usize = 32;

/// A tokenizer. From one window to the next it remembers only guesses.
pub(super) struct Tokenizer {
    /// The last tag of a child, by its parent and position.
    guesses: Vec<TagId>,
    open: Vec<OpenElement>,
}

/// An open element.
#[derive(Clone, Copy)]
struct OpenElement {
    name: ByteRange,
    tag: TagId,
    children: usize,
}

const GUESSES: usize = 1 << 10;

impl Tokenizer {
    pub(super) fn new() -> Self {
        Self {
            guesses: vec![0; GUESSES],
            open: Vec::new(),
        }
    }

    /// Splits the plain rows at the beginning of a window into tokens.
    pub(super) fn tokenize(&mut self, window: &[u8], lexicon: &Lexicon, rows: &mut PlainRows) {
        rows.tokens.clear();
        rows.bytes = 0;
        let clean = window.get(..clean_length(window)).unwrap_or(&[]);
        let text = match std::str::from_utf8(clean) {
            Ok(text) => text,
            Err(error) => {
                let valid = clean.get(..error.valid_up_to()).unwrap_or(&[]);
                std::str::from_utf8(valid).unwrap_or("")
            }
        };

        let mut scan = Scan {
            text,
            bytes: text.as_bytes(),
            at: 0,
            lexicon,
            tokens: &mut rows.tokens,
            memory: self,
        };

        let mut complete = 0;
        loop {
            scan.memory.open.clear();
            scan.skip_space();
            if scan.row().is_none() {
                break;
            }
            complete = scan.tokens.len();
            rows.bytes = scan.at;
        }

        rows.tokens.truncate(complete);
        rows.lines = newlines(window.get(..rows.bytes).unwrap_or(&[]));
    }
}

/// A position in a window. The methods move past the text that they match, and return `None` for
/// text that is not plain.
struct Scan<'w, 's> {
    text: &'w str,
    bytes: &'w [u8],
    at: usize,
    lexicon: &'w Lexicon,
    tokens: &'s mut Vec<RowToken>,
    memory: &'s mut Tokenizer,
}

impl<'w> Scan<'w, '_> {
    fn row(&mut self) -> Option<()> {
        self.expect(b"<row>")?;
        let mut column = 0;
        while !self.eat(b"</row>") {
            self.expect(b"<")?;
            self.element(self.lexicon.column(column))?;
            self.content()?;
            column += 1;
        }
        let next = self.place()?;
        self.tokens.push(RowToken::EndRow { next });
        Some(())
    }

    /// Reads the content of the element that was just begun, unless it has ended already.
    fn content(&mut self) -> Option<()> {
        while let Some(open) = self.memory.open.last_mut() {
            let child = (usize::from(open.tag) * 16 + open.children.min(15)) % GUESSES;
            open.children += 1;
            let text = self.text_up_to_tag()?;
            if !text.span.is_empty() {
                self.tokens.push(RowToken::Text(text));
            }
            if self.bytes.get(self.at + 1) == Some(&b'/') {
                self.close()?;
                continue;
            }
            self.at += 1;
            let guess = self.memory.guesses.get(child).copied().unwrap_or(0);
            let found = self.element(guess)?;
            if let Some(guess) = self.memory.guesses.get_mut(child) {
                *guess = found;
            }
        }
        Some(())
    }

    /// Reads an element after its `<`: all of it, or its start tag. Returns the number of its tag,
    /// or 0 for an unknown tag.
    fn element(&mut self, guess: TagId) -> Option<TagId> {
        let start = self.at;
        let Some(word) = self.word(guess) else {
            if self.eat(b"sentinel/>") {
                self.tokens.push(RowToken::Null);
            } else {
                self.any_tag(start)?;
            }
            return Some(0);
        };
        if word.is_special || self.known(word, start).is_none() {
            self.any_tag(start)?;
        }
        Some(word.number)
    }

    /// Reads the name of a known tag, which is most likely the guessed one.
    fn word(&mut self, guess: TagId) -> Option<&'w Word> {
        let ends = |at: usize| matches!(self.bytes.get(at), Some(b' ' | b'/' | b'>'));
        if let Some(word) = self.lexicon.word(guess) {
            let end = self.at + word.name.len();
            if ends(end) && self.bytes.get(self.at..end) == Some(word.name.as_bytes()) {
                self.at = end;
                return Some(word);
            }
        }
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|b| matches!(b, b' ' | b'/' | b'>'))?;
        let name = self.text.get(self.at..self.at + length)?;
        let word = self.lexicon.find(name)?;
        self.at += length;
        Some(word)
    }

    /// Reads a reference, or an element with an id and a display form. `None` for all others, which
    /// may still be a valid tag.
    fn known(&mut self, word: &Word, start: usize) -> Option<()> {
        let tag = word.number;
        if self.eat(b" ref=\"") {
            let id = self.number()?;
            self.expect(b"\"/>")?;
            self.tokens.push(RowToken::Reference { tag, id });
            return Some(());
        }

        self.expect(b" id=\"")?;
        let id = self.number()?;
        self.expect(b"\" fmt=\"")?;
        let display = self.display()?;
        if word.is_integer {
            self.expect(b">")?;
            let number = self.number()?;
            self.end_of(word.name.as_bytes())?;
            self.tokens.push(RowToken::Number { tag, id, number });
            return Some(());
        }

        if self.eat(b"/>") {
            let text = self.nothing()?;
            self.tokens.push(RowToken::Leaf {
                tag,
                id,
                display,
                text,
            });
            return Some(());
        }

        self.expect(b">")?;
        let content = self.at;
        let text = self.text_up_to_tag()?;
        if self.end_of(word.name.as_bytes()).is_some() {
            self.tokens.push(RowToken::Leaf {
                tag,
                id,
                display,
                text,
            });
            return Some(());
        }

        self.at = content;
        self.opened(self.span(start, start + word.name.len())?, tag)?;
        self.tokens.push(RowToken::Enter { tag, id, display });
        Some(())
    }

    fn opened(&mut self, name: ByteRange, tag: TagId) -> Option<()> {
        if self.memory.open.len() >= DEPTH {
            return None;
        }
        let children = 0;
        self.memory.open.push(OpenElement {
            name,
            tag,
            children,
        });
        Some(())
    }

    /// Reads any tag from its name on: it ends at the first `>` outside quotes.
    fn any_tag(&mut self, start: usize) -> Option<()> {
        self.at = start;
        let first = *self.bytes.get(start)?;
        if !(first.is_ascii_alphabetic() || first == b'_' || !first.is_ascii()) {
            return None;
        }
        let length = end_of_tag(self.bytes.get(start..)?)?;
        self.at = start + length + 1;
        let inside = self.bytes.get(start..start + length)?;
        let empty = inside.ends_with(b"/");
        let end = start + length - usize::from(empty);
        let inside = self.span(start, end)?;
        self.tokens.push(RowToken::Tag { inside, empty });
        if empty {
            return Some(());
        }
        let name = self.span(start, start + name_length(inside.bytes(self.bytes)))?;
        self.opened(name, 0)
    }

    /// Reads `</name>` of the innermost open element.
    fn close(&mut self) -> Option<()> {
        let open = self.memory.open.pop()?;
        self.end_of(open.name.bytes(self.bytes))?;
        self.tokens.push(RowToken::Close);
        Some(())
    }

    fn end_of(&mut self, name: &[u8]) -> Option<()> {
        let rest = self.bytes.get(self.at..)?.strip_prefix(b"</")?;
        rest.strip_prefix(name)?.strip_prefix(b">")?;
        self.at += name.len() + 3;
        Some(())
    }

    /// Reads a display form up to its quote. `None` if it has entities, which need checks.
    fn display(&mut self) -> Option<ByteRange> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr3(b'"', b'&', b'<', rest)?;
        let span = self.span(self.at, self.at + length)?;
        self.at += length;
        self.expect(b"\"")?;
        Some(span)
    }

    fn text_up_to_tag(&mut self) -> Option<Text> {
        let rest = self.bytes.get(self.at..)?;
        let mut length = memchr::memchr2(b'<', b'&', rest)?;
        let escaped = rest.get(length) == Some(&b'&');
        if escaped {
            length += memchr::memchr(b'<', rest.get(length..)?)?;
        }
        let span = self.span(self.at, self.at + length)?;
        self.at += length;
        Some(Text { span, escaped })
    }

    fn nothing(&self) -> Option<Text> {
        let span = self.span(self.at, self.at)?;
        let escaped = false;
        Some(Text { span, escaped })
    }

    /// Reads all digits that follow.
    fn number(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?;
        let mut value: u64 = 0;
        let mut length = 0;
        for &digit in rest {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        self.at += length;
        match length {
            1..=19 => Some(value),
            // A longer number may not fit into 64 bits.
            _ => parse_u64(rest.get(..length)?),
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Skips an expected text, and returns true if it is there. The length is known at compile
    /// time, so that this compares only two or three machine words.
    fn eat<const N: usize>(&mut self, expected: &[u8; N]) -> bool {
        let found = self.bytes.get(self.at..self.at + N) == Some(expected);
        if found {
            self.at += N;
        }
        found
    }

    fn expect<const N: usize>(&mut self, expected: &[u8; N]) -> Option<()> {
        self.eat(expected).then_some(())
    }

    fn span(&self, start: usize, end: usize) -> Option<ByteRange> {
        Some(ByteRange {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(end).ok()?,
        })
    }

    fn place(&self) -> Option<u32> {
        u32::try_from(self.at).ok()
    }
}

/// Returns the position of a tag's `>`: the first one outside quotes.
fn end_of_tag(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    for at in memchr::memchr3_iter(b'>', b'"', b'\'', tag) {
        match (quote, tag.get(at)?) {
            (None, b'>') => return Some(at),
            (None, &begun) => quote = Some(begun),
            (Some(begun), &found) if begun == found => quote = None,
            (Some(_), _) => {}
        }
    }
    None
}

/// Returns the length of a tag's name, which ends at white space.
pub(super) fn name_length(inside: &[u8]) -> usize {
    let space = |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t');
    inside.iter().position(space).unwrap_or(inside.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::tags::Tags;

    /// Checks the number of tokens of a row with one number and one text; none if the row is left
    /// to the reader.
    fn check(row: &str, tokens: Option<usize>) {
        let mut tags = Tags::default();
        let columns = ["duration", "string"].map(|name| tags.number(name).unwrap());
        let lexicon = Lexicon::new(&tags, &columns);
        let mut rows = PlainRows::default();
        let before = "\n<row><duration ref=\"1\"/><sentinel/></row>\n";
        let window = format!("{before}{row}<row>");
        Tokenizer::new().tokenize(window.as_bytes(), &lexicon, &mut rows);
        let expected = match tokens {
            Some(tokens) => (3 + tokens, before.len() + row.len(), 2),
            None => (3, before.len() - 1, 1),
        };
        let found = (rows.tokens.len(), rows.bytes, rows.lines);
        assert_eq!(found, expected, "{row}: {:?}", rows.tokens);
    }

    #[test]
    fn plain_rows_become_tokens() {
        let number = "<duration id=\"2\" fmt=\"1 µs\">1000</duration>";
        check(
            &format!("<row>{number}<string id=\"3\" fmt=\"a\">a</string></row>"),
            Some(3),
        );
        check(
            &format!("<row>{number}<string id=\"3\" fmt=\"a\"/></row>"),
            Some(3),
        );
        check(
            &format!("<row>{number}<string id=\"3\" fmt=\"a>b\">a &gt; b</string></row>"),
            Some(3),
        );

        // Unusual attributes give two tags, a text and an end.
        check(
            &format!("<row>{number}<string fmt='a' id=\"3\">a</string></row>"),
            Some(5),
        );
        check(
            &format!("<row>{number}<string id=\"3\" fmt=\"a &amp; b\"/></row>"),
            Some(3),
        );

        // A composite gives its tag, a text, a child and its end.
        check(
            "<row><sentinel/><label id=\"3\" fmt=\"\">x<string ref=\"3\"/></label></row>",
            Some(6),
        );
    }

    #[test]
    fn other_rows_are_left_to_the_reader() {
        for row in [
            "<row",
            "<row a=\"1\"></row>",
            "<row><sentinel/></rows>",
            "<row> <sentinel/></row>",
            "<row>x<sentinel/></row>",
            "<row><!-- x --><sentinel/></row>",
            "<row><duration id=\"2\" fmt=\"\">1</string></row>",
            "<row><duration id=\"2\" fmt=\"\">1</duration ></row>",
            "<row><duration id=\"2\" fmt=\"\">1<![CDATA[]]></duration></row>",
            "<row><duration id=\"2\" fmt=\"\u{1}\">1</duration></row>",
            "<row><1/></row>",
        ] {
            check(row, None);
        }
    }
}
