//! The two XML property lists that are read: the strings of a run, which are
//! one flat list, and the manifest, of which only the keys matter.
//!
//! A property list always has a DOCTYPE, so this is no place for the stricter
//! reader of exports. Entities that it might define are refused, not expanded,
//! and what nests is counted, not built.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::xml::{character_of, check_attributes, check_tag};

/// The strings of a list of nothing but strings; `None` for anything else.
pub(crate) fn strings(bytes: &[u8]) -> Option<Vec<String>> {
    let mut strings = Vec::new();
    let end = texts(bytes, |path, text| {
        let is_one = path == ["plist", "array", "string"];
        is_one.then(|| strings.push(text))
    });
    end.map(|()| strings)
}

/// Whether a dictionary has a key.
pub(crate) fn has_key(bytes: &[u8], wanted: &str) -> bool {
    let mut found = false;
    let end = texts(bytes, |path, text| {
        found |= path == ["plist", "dict", "key"] && text == wanted;
        Some(())
    });
    end.is_some() && found
}

/// Elements nest as deep as this in a manifest, and no deeper.
const DEPTH_LIMIT: usize = 16;

/// Tells of each innermost element where it is and what is in it, until told
/// to stop by `None`; `None`, too, for what is broken.
fn texts(bytes: &[u8], mut tell: impl FnMut(&[String], String) -> Option<()>) -> Option<()> {
    let mut reader = Reader::from_reader(bytes);
    reader.config_mut().check_comments = true;
    let (mut buffer, mut path, mut text) = (Vec::new(), Vec::new(), String::new());
    let (mut innermost, mut began) = (false, false);
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).ok()?;
        if let Event::Start(tag) | Event::Empty(tag) = &event {
            check_tag(tag.name().as_ref()).ok()?;
            check_attributes(tag.attributes_raw()).ok()?;
        }
        match event {
            Event::Start(tag) => {
                path.push(tag.name().as_ref().to_owned());
                (innermost, began) = (true, true);
                text.clear();
                if path.len() > DEPTH_LIMIT {
                    return None;
                }
            }
            Event::Empty(tag) => {
                path.push(tag.name().as_ref().to_owned());
                if !matches!(tag.name().as_ref(), "array" | "dict") {
                    tell(&path, String::new())?;
                }
                path.pop();
                innermost = false;
            }
            Event::End(tag) => {
                // An empty list has no texts; an empty string is one.
                let list = matches!(tag.name().as_ref(), "plist" | "array" | "dict");
                if innermost && !list {
                    tell(&path, std::mem::take(&mut text))?;
                }
                path.pop();
                innermost = false;
            }
            Event::Text(more) if innermost => text.push_str(&more.into_inner()),
            Event::GeneralRef(entity) if innermost => {
                text.push(character_of(&entity.into_inner())?);
            }
            Event::Text(more) => more.into_inner().trim().is_empty().then_some(())?,
            Event::GeneralRef(_) | Event::CData(_) => return None,
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {}
            Event::Eof => return (began && path.is_empty()).then_some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<Vec<String>> {
        strings(format!("<?xml version=\"1.0\"?><!DOCTYPE plist PUBLIC \"a\" \"b\"><plist version=\"1.0\">{body}</plist>").as_bytes())
    }

    #[test]
    fn a_list_of_strings() {
        let body = "\n<array>\n\t<string></string><string>a &lt;b&#956;</string>\n<string/><string> c\nd </string></array>\n";
        assert_eq!(read(body).unwrap(), ["", "a <bμ", "", " c\nd "]);
        assert_eq!(read("<array/>").unwrap(), [""; 0]);
        assert_eq!(read("<array></array>").unwrap(), [""; 0]);
    }

    #[test]
    fn anything_else() {
        for body in [
            "<array><string>a</string><integer>1</integer></array>",
            "<array><array><string>a</string></array></array>",
            "<array><string>&custom;</string></array>",
            "<array><string>a</array>",
            "<dict><key>a</key><string>b</string></dict>",
            "<array>a</array>x",
        ] {
            assert_eq!(read(body), None, "{body}");
        }
        assert_eq!(strings(b""), None);
        assert_eq!(strings(b"<plist><array><string>a"), None);
    }

    #[test]
    fn keys() {
        let manifest = "<plist><dict><key>paths</key><array><string>x</string></array><key>synthetic</key><string>y</string></dict></plist>";
        assert!(has_key(manifest.as_bytes(), "synthetic"));
        assert!(!has_key(manifest.as_bytes(), "x"));
        assert!(!has_key(b"bplist00", "x"));
    }
}
