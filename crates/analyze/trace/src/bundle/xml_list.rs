//! Reads two XML property lists: the strings of a run, a flat list, and the manifest, of which only
//! the keys matter.
//!
//! The reader is as strict as for exports: it refuses characters that XML forbids, and does not
//! know entities that the DOCTYPE defines. It builds no tree for nested elements.

use std::io::Read;

use crate::error::{Error, Problem, Result};
use crate::xml::{Pull, Token, check_attributes};

/// Many texts in one buffer: a text of one byte takes 5 bytes and not 40.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: String,
    /// End of each text.
    ends: Vec<u32>,
}

impl Texts {
    /// Returns the number of texts.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the text at an index.
    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.all.get(start as usize..end as usize)
    }

    /// Adds a text. `None` if there is no more room.
    fn push(&mut self, text: &str) -> Option<()> {
        let end = u32::try_from(self.all.len() + text.len()).ok()?;
        self.all.push_str(text);
        self.ends.push(end);
        Some(())
    }
}

/// Reads a list that contains only strings.
pub(crate) fn strings(list: impl Read, file: &str) -> Result<Texts> {
    let mut strings = Texts::default();
    visit_texts(list, file, "not a list of strings", |path, text| {
        let is_string = path == ["plist", "array", "string"];
        is_string.then(|| strings.push(text)).flatten()
    })?;
    Ok(strings)
}

/// Returns true if a dictionary has a key.
pub(crate) fn has_key(list: impl Read, file: &str, wanted: &str) -> Result<bool> {
    let mut found = false;
    visit_texts(list, file, "not a property list", |path, text| {
        found |= path == ["plist", "dict", "key"] && text == wanted;
        Some(())
    })?;
    Ok(found)
}

/// Calls `visit` with the path and the text of each innermost element. If `visit` returns `None`,
/// the error is `fault`.
fn visit_texts(
    list: impl Read,
    file: &str,
    fault: &str,
    mut visit: impl FnMut(&[String], &str) -> Option<()>,
) -> Result<()> {
    let mut pull = Pull::property_list(list, file);
    let (mut path, mut text) = (Vec::new(), String::new());
    let (mut innermost, mut began) = (false, false);
    loop {
        let visited = match pull.next()? {
            Token::Open { tag, empty } => {
                let checked = check_attributes(tag.attributes_raw());
                let name = tag.name().as_ref().to_owned();
                checked.map_err(|problem| pull.error(problem))?;
                text.clear();
                path.push(name);
                (innermost, began) = (!empty, true);
                if empty {
                    close(&mut path, true, "", &mut visit)
                } else {
                    Some(())
                }
            }
            Token::Close => {
                let visited = close(&mut path, innermost, &text, &mut visit);
                innermost = false;
                visited
            }
            Token::Text(more) if innermost => {
                text.push_str(&more);
                Some(())
            }
            Token::Text(more) => more.trim().is_empty().then_some(()),
            Token::Nothing => Some(()),
            Token::End if began => return Ok(()),
            Token::End => None,
        };
        visited.ok_or_else(|| unsupported(&pull, fault))?;
    }
}

/// Closes an element. An empty list has no text; an empty string is a text.
fn close(
    path: &mut Vec<String>,
    innermost: bool,
    text: &str,
    visit: &mut impl FnMut(&[String], &str) -> Option<()>,
) -> Option<()> {
    let is_list = path
        .last()
        .is_some_and(|name| matches!(name.as_str(), "plist" | "array" | "dict"));
    let visited = if innermost && !is_list {
        visit(path, text)
    } else {
        Some(())
    };
    path.pop();
    visited
}

fn unsupported<R: Read>(pull: &Pull<R>, fault: &str) -> Error {
    pull.error(Problem::UnsupportedBundle {
        detail: fault.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<String>> {
        let list = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE plist PUBLIC \"a\" \"b\"><plist version=\"1.0\">{body}</plist>"
        );
        let texts = strings(list.as_bytes(), "list")?;
        let text = |at| texts.get(at).unwrap().to_owned();
        assert_eq!(texts.get(texts.len()), None);
        Ok((0..texts.len()).map(text).collect())
    }

    #[test]
    fn a_list_of_strings_is_read() {
        let body = "\n<array>\n\t<string></string><string>a &lt;b&#956;</string>\n<string/><string> c\nd </string></array>\n";
        assert_eq!(read(body).unwrap(), ["", "a <bμ", "", " c\nd "]);
        assert_eq!(read("<array/>").unwrap(), [""; 0]);
        assert_eq!(read("<array></array>").unwrap(), [""; 0]);
    }

    #[test]
    fn other_lists_are_refused() {
        for body in [
            "<array><string>a</string><integer>1</integer></array>",
            "<array><array><string>a</string></array></array>",
            "<array><string>&custom;</string></array>",
            "<array><string>a</array>",
            "<dict><key>a</key><string>b</string></dict>",
            "<array>a</array>x",
            "<array><string>a</string></array>x",
        ] {
            assert!(read(body).is_err(), "{body}");
        }
        for list in ["", "x", "<plist><array><string>a", "bplist00"] {
            assert!(strings(list.as_bytes(), "list").is_err(), "{list}");
        }
    }

    /// A program that prints a name would send these characters to a terminal.
    #[test]
    fn characters_that_xml_forbids_are_refused() {
        let check = |text: &str, expected: &str| {
            let body = format!("<array>\n<string>{text}</string></array>");
            assert_eq!(read(&body).unwrap_err().to_string(), expected);
        };
        let byte =
            |byte: u8| format!("list, line 3, byte 90: byte 0x{byte:02x} may not appear in XML");
        check("\u{1b}]0;x\u{7}", &byte(0x1b));
        check("\0", &byte(0));
        let entity = "list, line 3, byte 90: not well-formed XML: an unknown entity";
        check("&#27;", entity);
        check("&#x1b;", entity);
    }

    #[test]
    fn keys_are_found() {
        let has = |list: &str, key: &str| has_key(list.as_bytes(), "list", key);
        let manifest = "<plist><dict><key>paths</key><array><string>x</string></array><key>synthetic</key><string>y</string></dict></plist>";
        assert!(has(manifest, "synthetic").unwrap());
        assert!(!has(manifest, "x").unwrap());
        assert!(has("bplist00", "x").is_err());
    }
}
