//! From a window's bytes to tokens, as far as its rows are plain.
//!
//! ```xml
//! <row><start-time id="1" fmt="00:00.000">0</start-time><duration ref="4"/><sentinel/>…</row>
//! ```
//!
//! A row is plain if nothing in it but tags, text and entities occurs, each tag
//! is closed by its like, and each number is one. What looks otherwise ends the
//! plain rows before it, without a judgement: the reader that knows all of XML
//! goes on from there.

use super::token::{Lexicon, Rows, Span, Text, Token, Word};
use crate::xml::attributes::parse_u64;
use crate::xml::guard::{clean_length, newlines};
use crate::xml::ids::TagId;

/// Plain cells nest no deeper. Real ones nest three deep.
const DEPTH: usize = 32;

/// What a tokeniser remembers from one window to the next: only guesses.
pub(super) struct Tokeniser {
    /// The tag that a child had the last time, by its parent and place.
    guesses: Vec<TagId>,
    open: Vec<Opened>,
}

/// An element that was opened.
#[derive(Clone, Copy)]
struct Opened {
    name: Span,
    tag: TagId,
    children: usize,
}

const GUESSES: usize = 1 << 10;

impl Tokeniser {
    pub(super) fn new() -> Self {
        Self {
            guesses: vec![0; GUESSES],
            open: Vec::new(),
        }
    }

    /// Takes the plain rows at the beginning of a window apart.
    pub(super) fn tokenise(&mut self, window: &[u8], lexicon: &Lexicon, rows: &mut Rows) {
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
        let mut whole = 0;
        loop {
            scan.memory.open.clear();
            scan.skip_space();
            if scan.row().is_none() {
                break;
            }
            whole = scan.tokens.len();
            rows.bytes = scan.at;
        }
        rows.tokens.truncate(whole);
        rows.lines = newlines(window.get(..rows.bytes).unwrap_or(&[]));
    }
}

/// A place in a window. The methods step over what they find, and give `None`
/// for what is not plain.
struct Scan<'w, 's> {
    text: &'w str,
    bytes: &'w [u8],
    at: usize,
    lexicon: &'w Lexicon,
    tokens: &'s mut Vec<Token>,
    memory: &'s mut Tokeniser,
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
        self.tokens.push(Token::EndRow { next });
        Some(())
    }

    /// What is inside the element that was just begun, if it did not end at once.
    fn content(&mut self) -> Option<()> {
        while let Some(open) = self.memory.open.last_mut() {
            let child = (usize::from(open.tag) * 16 + open.children.min(15)) % GUESSES;
            open.children += 1;
            let text = self.text_up_to_tag()?;
            if !text.span.is_empty() {
                self.tokens.push(Token::Text(text));
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

    /// An element, behind its `<`: the whole of it, or its first tag. Its tag's
    /// number, if that is known.
    fn element(&mut self, guess: TagId) -> Option<TagId> {
        let start = self.at;
        let Some(word) = self.word(guess) else {
            if self.eat(b"sentinel/>") {
                self.tokens.push(Token::Null);
            } else {
                self.any_tag(start)?;
            }
            return Some(0);
        };
        let found = match word.is_special {
            true => None,
            false => self.known(word, start),
        };
        if found.is_none() {
            self.any_tag(start)?;
        }
        Some(word.number)
    }

    /// The tag whose name stands here: most likely the guessed one.
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

    /// A reference, or an element with an id and a display form; `None` for all
    /// else, which may still be a tag like any other.
    fn known(&mut self, word: &Word, start: usize) -> Option<()> {
        let tag = word.number;
        if self.eat(b" ref=\"") {
            let id = self.number()?;
            self.expect(b"\"/>")?;
            self.tokens.push(Token::Reference { tag, id });
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
            self.tokens.push(Token::Number { tag, id, number });
            return Some(());
        }
        if self.eat(b"/>") {
            let text = self.nothing()?;
            self.tokens.push(Token::Leaf {
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
            self.tokens.push(Token::Leaf {
                tag,
                id,
                display,
                text,
            });
            return Some(());
        }
        self.at = content;
        self.opened(self.span(start, start + word.name.len())?, tag)?;
        self.tokens.push(Token::Enter { tag, id, display });
        Some(())
    }

    fn opened(&mut self, name: Span, tag: TagId) -> Option<()> {
        if self.memory.open.len() >= DEPTH {
            return None;
        }
        let children = 0;
        self.memory.open.push(Opened {
            name,
            tag,
            children,
        });
        Some(())
    }

    /// Any tag, from its name on: it ends at the first `>` that is not quoted.
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
        self.tokens.push(Token::Tag { inside, empty });
        if empty {
            return Some(());
        }
        let name = self.span(start, start + name_length(inside.of(self.bytes)))?;
        self.opened(name, 0)
    }

    /// `</name>` of the element opened last.
    fn close(&mut self) -> Option<()> {
        let open = self.memory.open.pop()?;
        self.end_of(open.name.of(self.bytes))?;
        self.tokens.push(Token::Close);
        Some(())
    }

    fn end_of(&mut self, name: &[u8]) -> Option<()> {
        let rest = self.bytes.get(self.at..)?.strip_prefix(b"</")?;
        rest.strip_prefix(name)?.strip_prefix(b">")?;
        self.at += name.len() + 3;
        Some(())
    }

    /// `a &gt; b"`, without entities: those have to be looked at.
    fn display(&mut self) -> Option<Span> {
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

    /// Digits, as long as there are any.
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
            // It may not fit, and then there is more to say.
            _ => parse_u64(rest.get(..length)?),
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The length is known when this is compiled, which makes it a comparison of
    /// two or three words.
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

    fn span(&self, start: usize, end: usize) -> Option<Span> {
        Some(Span {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(end).ok()?,
        })
    }

    fn place(&self) -> Option<u32> {
        u32::try_from(self.at).ok()
    }
}

/// Where a tag's `>` is: the first that is not in quotes.
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

/// A tag's name ends at white space.
pub(super) fn name_length(inside: &[u8]) -> usize {
    let space = |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t');
    inside.iter().position(space).unwrap_or(inside.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::tags::Tags;

    /// A row of one number and one text, and how many tokens it comes to; none
    /// if it is left to the reader.
    fn check(row: &str, tokens: Option<usize>) {
        let mut tags = Tags::default();
        let columns = ["duration", "string"].map(|name| tags.number(name).unwrap());
        let lexicon = Lexicon::new(&tags, &columns);
        let mut rows = Rows::default();
        let before = "\n<row><duration ref=\"1\"/><sentinel/></row>\n";
        let window = format!("{before}{row}<row>");
        Tokeniser::new().tokenise(window.as_bytes(), &lexicon, &mut rows);
        let expected = match tokens {
            Some(tokens) => (3 + tokens, before.len() + row.len(), 2),
            None => (3, before.len() - 1, 1),
        };
        let found = (rows.tokens.len(), rows.bytes, rows.lines);
        assert_eq!(found, expected, "{row}: {:?}", rows.tokens);
    }

    #[test]
    fn plain_rows() {
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
        // Two tags, a text and an end where the attributes are not the usual ones.
        check(
            &format!("<row>{number}<string fmt='a' id=\"3\">a</string></row>"),
            Some(5),
        );
        check(
            &format!("<row>{number}<string id=\"3\" fmt=\"a &amp; b\"/></row>"),
            Some(3),
        );
        // A composite: its tag, a text, a child, its end.
        check(
            "<row><sentinel/><label id=\"3\" fmt=\"\">x<string ref=\"3\"/></label></row>",
            Some(6),
        );
    }

    #[test]
    fn rows_that_are_left() {
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
