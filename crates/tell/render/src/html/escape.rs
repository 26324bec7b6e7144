//! Escapes text for HTML, and fills frames with it.

use metalens_message::{Message, Segment, Value};
use metalens_text::shown_lines;
use serde::Serialize;

use super::names::short;
use crate::error::{Error, Result};
use crate::wording::{cut, unbroken};

/// Largest length of a sentence: names in it may be long, and a page has less than 3 MB.
const LONGEST_TEXT: usize = 1_000;

/// Escapes text for an element, or for an attribute in double quotes. Characters without a width,
/// and those that change the direction of reading, are shown by name.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in shown_lines(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            letter => out.push(letter),
        }
    }
    out
}

/// Returns a sentence as HTML, with its numbers beside their units.
pub(super) fn sentence(message: &Message) -> String {
    if message.text.chars().count() <= LONGEST_TEXT {
        return moments(message, None);
    }
    escaped(&cut(&unbroken(message), LONGEST_TEXT))
}

/// Returns a sentence as HTML. Its moments know their time, and the length of what happens then:
/// this one, or that of the nearest time in the sentence. The page's script makes links of them.
pub(super) fn moments(message: &Message, length_ns: Option<u64>) -> String {
    let segments = message.segments();
    let written = |(at, segment): (usize, &Segment<'_>)| match moment(&segments, at, length_ns) {
        Some(moment) => moment,
        None => plain(segment),
    };
    segments.iter().enumerate().map(written).collect()
}

/// Returns a part of a sentence as HTML, with a number beside its unit.
fn plain(&(text, value): &Segment<'_>) -> String {
    match value {
        Some(value) if value.value.is_measure() => escaped(&text.replace(' ', "\u{a0}")),
        Some(_) => escaped(text),
        None => with_code(text),
    }
}

/// Returns words as HTML, with what stands between backticks, such as a command, as code.
fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // One without its pair is only a character.
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let parts = parts.into_iter().enumerate();
    let written = parts.map(|(at, part)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    written.collect()
}

/// Returns a part of a sentence as HTML if it is a moment.
fn moment(segments: &[Segment<'_>], at: usize, length_ns: Option<u64>) -> Option<String> {
    let (text, value) = segments.get(at)?;
    let Value::Moment { ns } = value.as_ref()?.value else {
        return None;
    };
    let time = |segment: &Segment<'_>| match segment.1.map(|value| &value.value) {
        Some(Value::Time { ns }) => Some(*ns),
        _ => None,
    };
    let (before, after) = segments.split_at(at);
    let length = length_ns
        .or_else(|| before.iter().rev().find_map(time))
        .or_else(|| after.iter().find_map(time));
    let length = length.map_or(String::new(), |ns| format!(" data-ns=\"{ns}\""));
    let text = escaped(text);
    Some(format!(
        "<span class=\"at\" data-at=\"{ns}\"{length}>{text}</span>"
    ))
}

/// Returns a name as HTML, isolated so that it cannot change the direction of the text beside it.
pub(super) fn name(name: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(&short(name)))
}

/// Returns a sentence as HTML, with each name isolated and shortened.
pub(super) fn named(message: &Message) -> String {
    let segments = message.segments();
    let written = |(at, segment): (usize, &Segment<'_>)| match segment {
        (text, Some(value)) if value.value.is_name() => name(text),
        (_, Some(value)) if value.value.is_measure() => plain(segment),
        (text, _) => {
            let moment = moment(&segments, at, None);
            moment.unwrap_or_else(|| escaped(&cut(text, LONGEST_TEXT)))
        }
    };
    segments.iter().enumerate().map(written).collect()
}

/// Returns JSON for a script element: no text in it can end the element or a line.
pub(super) fn script_json(data: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(data).map_err(|cause| Error::Json {
        what: "the timeline".to_owned(),
        cause,
    })?;
    Ok(json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}

/// Fills the placeholders of a frame, such as `{{ title }}`. Refuses a placeholder without a text,
/// and a text without a placeholder.
pub(super) fn filled(frame: &str, texts: &[(&str, &str)]) -> Result<String> {
    let mut page = String::new();
    let mut used = vec![false; texts.len()];
    let mut rest = frame;
    while let Some((before, after)) = rest.split_once("{{ ") {
        let refused = || Error::Frame(before.chars().rev().take(40).collect());
        let (place, after) = after.split_once(" }}").ok_or_else(refused)?;
        let at = texts.iter().position(|(name, _)| *name == place);
        let at = at.ok_or_else(|| Error::Frame(place.to_owned()))?;
        page.push_str(before);
        if let (Some((_, text)), Some(used)) = (texts.get(at), used.get_mut(at)) {
            page.push_str(text);
            *used = true;
        }
        rest = after;
    }
    page.push_str(rest);
    let mut unused = texts.iter().zip(used).filter(|(_, used)| !used);
    match unused.next() {
        Some(((name, _), _)) => Err(Error::Frame((*name).to_owned())),
        None => Ok(page),
    }
}

#[cfg(test)]
mod tests {
    use metalens_message::{Ns, message, moment as moment_of};

    use super::*;

    #[test]
    fn json_stays_in_its_script() {
        let hostile = "</script><!--<script>&amp;\u{2028}\u{2029}\"'\\";
        let json = script_json(&hostile).unwrap();
        assert!(
            !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(
            escaped("<a b='\"'>&"),
            "&lt;a b=&#x27;&quot;&#x27;&gt;&amp;"
        );
        assert_eq!(escaped("a\u{202e}b"), "a‹U+202E›b");
    }

    #[test]
    fn commands_are_code() {
        let check = |words: &'static str, expected: &str| {
            assert_eq!(sentence(&words.into()), expected);
        };
        check(
            "run `a <b>` or `c`",
            "run <code>a &lt;b&gt;</code> or <code>c</code>",
        );
        check("an odd ` is kept", "an odd ` is kept");
        check("none", "none");
        // Names are shown as they are.
        let odd = metalens_message::kernel("`k`");
        assert_eq!(
            sentence(&message!("{} and `c`", odd)),
            "`k` and <code>c</code>"
        );
    }

    /// `~` in the expected text is the no-break space.
    #[test]
    fn moments_know_their_time_and_length() {
        let check = |said: &Message, expected: &str| {
            assert_eq!(sentence(said).replace('\u{a0}', "~"), expected);
            assert_eq!(named(said).replace('\u{a0}', "~"), expected);
        };
        let at = |ns: u64, long: &str, shown: &str| {
            format!("<span class=\"at\" data-at=\"{ns}\"{long}>{shown}</span>")
        };
        let gap = message!("gap of {} at {}", Ns(358_100), moment_of(Ns(871_618_001)));
        let link = at(871_618_001, " data-ns=\"358100\"", "0.871618s");
        check(&gap, &format!("gap of 358.1~µs at {link}"));
        let slow = message!("at {}: {} of {}", moment_of(Ns(5)), Ns(7_000), Ns(1));
        let link = at(5, " data-ns=\"7000\"", "0.000000s");
        check(&slow, &format!("at {link}: 7.000~µs of 1~ns"));
        check(
            &message!("from {}", moment_of(Ns(5))),
            &format!("from {}", at(5, "", "0.000000s")),
        );
    }

    /// A text that looks like a placeholder is not filled again.
    #[test]
    fn frames_refuse_what_they_do_not_know() {
        let fill = |texts: &[(&str, &str)]| filled("<b>{{ a }}</b>{{ b }}", texts);
        let page = fill(&[("a", "{{ b }}"), ("b", "2")]).unwrap();
        assert_eq!(page, "<b>{{ b }}</b>2");
        assert!(fill(&[("a", "1")]).is_err());
        assert!(fill(&[("a", "1"), ("b", "2"), ("c", "3")]).is_err());
        assert!(filled("{{ a", &[("a", "1")]).is_err());
    }
}
