//! Formats sentences and values as all media write them: numbers beside their units, names
//! isolated.

use metalens_message::{Message, Ns, Quantity, Segment, SignedNs, Value, percent};
use metalens_text::units;

/// A no-break space; every font has it.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// Returns the text of a message whose numbers stay beside their units: `0.44 %` must not end a
/// line with `0.44`.
pub(crate) fn unbroken(message: &Message) -> String {
    let written = |(text, value): Segment<'_>| match value {
        Some(value) if value.value.is_measure() => text.replace(' ', "\u{a0}"),
        _ => text.to_owned(),
    };
    message.segments().into_iter().map(written).collect()
}

/// Returns the first `most` letters of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// Returns a message of plain words.
pub(crate) fn plain(text: impl Into<String>) -> Message {
    Message {
        text: text.into(),
        values: Vec::new(),
    }
}

/// Returns a sentence that ends with a full stop; an empty text stays empty.
pub(crate) fn sentence(mut message: Message) -> Message {
    if !message.text.is_empty() && !message.text.ends_with(['.', '!', '?', '…']) {
        message.text.push('.');
    }
    message
}

/// Splits a message after its first sentence. The rest is empty if there is only one.
pub(crate) fn first_sentence(message: &Message) -> (Message, Message) {
    const END: &str = ". ";
    let mut offset = 0;
    let end = message.segments().into_iter().find_map(|(text, value)| {
        // A name may hold anything.
        let end = text.find(END).filter(|_| value.is_none());
        let end = end.map(|end| offset + end);
        offset += text.len();
        end
    });
    let Some(end) = end else {
        return (message.clone(), Message::default());
    };

    let part = |from: usize, to: usize| {
        let values = message.values.iter();
        let values = values.filter(|value| (from..to).contains(&value.at));
        let values = values.cloned().map(|mut value| {
            value.at -= from;
            value
        });
        Message {
            text: message.text.get(from..to).unwrap_or_default().to_owned(),
            values: values.collect(),
        }
    };
    (part(0, end), part(end + END.len(), message.text.len()))
}

/// Returns a time in three digits, such as `179 µs`, for tables of many columns.
pub(crate) fn short_time(Ns(ns): Ns) -> Message {
    Message::value(units::short_time(ns), Value::Time { ns })
}

/// Returns a time that may be negative because the second moment came first.
pub(crate) fn signed_time(SignedNs(ns): SignedNs) -> Message {
    let sign = if ns < 0 { "-" } else { "" };
    let text = format!("{sign}{}", units::short_time(ns.unsigned_abs()));
    Message::value(text, Value::SignedTime { ns })
}

/// Returns a part as a share of a whole, such as `3.3 %`; a dash if there is no whole.
pub(crate) fn share<Q: Quantity>(part: Q, whole: Q) -> Message {
    known(metalens_message::share(part, whole), percent)
}

/// Returns the text of a known value; a dash for an unknown one.
pub(crate) fn known<T>(value: Option<T>, text: impl FnOnce(T) -> Message) -> Message {
    value.map_or_else(|| "-".into(), text)
}

#[cfg(test)]
mod tests {
    use metalens_message::{Share, counted, kernel, message, percent, time};

    use super::*;

    #[test]
    fn a_message_splits_after_its_first_sentence() {
        let check = |said: &Message, expected: [&str; 2]| {
            let (first, rest) = first_sentence(said);
            assert_eq!([&first.text, &rest.text], expected);
            for part in [&first, &rest] {
                let values = part.values.iter();
                assert!(
                    values
                        .clone()
                        .all(|value| part.text[value.at..].starts_with(&value.text)),
                    "{part:?}"
                );
            }
            assert_eq!(first.values.len() + rest.values.len(), said.values.len());
        };
        check(&"one".into(), ["one", ""]);
        let said = message!("{} ran for {}. Then {}", kernel("a. b"), Ns(5), kernel("c"));
        check(&said, ["a. b ran for 5 ns", "Then c"]);
    }

    /// `~` in the expected text is the no-break space.
    #[test]
    fn numbers_stay_beside_their_units() {
        let check = |said: Message, expected: &str| {
            let held = unbroken(&said);
            assert_eq!(held.replace(NO_BREAK, "~"), expected);
            assert_eq!(held.replace(NO_BREAK, " "), said.text);
        };
        let share = percent(Share(0.04));
        check(
            message!("busy {} of the time", share),
            "busy 4.0~% of the time",
        );
        let (part, whole) = (time(Ns(335_800)), time(Ns(8_387_000)));
        check(message!("{} of {}.", part, whole), "335.8~µs of 8.387~ms.");
        check(
            message!("{}, 48 hours", counted(47, "gap")),
            "47 gaps, 48 hours",
        );
        let named = message!("{}, {}: {}", kernel("3 ms"), kernel("12 s"), Ns(5));
        check(named, "3 ms, 12 s: 5~ns");
    }

    #[test]
    fn sentences_end_with_one_full_stop() {
        let check = |text: &str, expected: &str| assert_eq!(sentence(plain(text)).text, expected);
        check("4 of 4", "4 of 4.");
        check("alles.", "alles.");
        check("", "");
    }
}
