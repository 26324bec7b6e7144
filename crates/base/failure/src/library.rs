//! Says in plain words what libraries report about text that somebody wrote: settings, JSON, numbers.

/// Words of libraries, and the same in plain words.
const WORDS: [(&str, &str); 12] = [
    ("EOF while parsing a value", "the text ends too early"),
    ("EOF while parsing an object", "the text ends too early"),
    ("EOF while parsing a list", "the text ends too early"),
    ("EOF while parsing a string", "the text ends too early"),
    ("expected value at line", "this is not JSON at line"),
    ("key must be a string at line", "this is not JSON at line"),
    ("trailing characters at line", "there is more text at line"),
    (
        "invalid digit found in string",
        "this is not a whole number",
    ),
    (
        "cannot parse integer from empty string",
        "a number is missing",
    ),
    (
        "number too large to fit in target type",
        "the number is too large",
    ),
    ("invalid type: ", "wrong kind of value: "),
    (" is not in 1..18446744073709551615", " is less than 1"),
];
/// Types, and names for them that need no knowledge of Rust.
const TYPES: [(&str, &str); 11] = [
    ("u64", "a whole number"),
    ("u32", "a whole number"),
    ("u16", "a whole number"),
    ("u8", "a whole number"),
    ("usize", "a whole number"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("a boolean", "true or false"),
    ("a string", "a text"),
];
/// The words before a type.
const EXPECTED: &str = ", expected ";

/// Returns a text with the words of libraries in plain words.
pub(crate) fn in_plain_words(text: &str) -> String {
    let mut plain = text.to_owned();
    for (words, meaning) in WORDS {
        if plain.contains(words) {
            plain = plain.replace(words, meaning);
        }
    }
    plain = with_known_types(&plain);
    with_ranges(&plain)
}

/// Returns a text with the names of Rust's types in words: `, expected u64`, `, expected struct X`.
fn with_known_types(text: &str) -> String {
    let mut parts = text.split(EXPECTED);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(EXPECTED);
        let is_end = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric());
        let known = TYPES.iter().find_map(|&(name, words)| {
            let rest = part.strip_prefix(name)?;
            is_end(rest).then_some((words, rest))
        });
        let known = known.or_else(|| {
            let rest = part.strip_prefix("struct ")?;
            let end = rest.find(|letter: char| !letter.is_alphanumeric());
            Some(("an object", rest.get(end.unwrap_or(rest.len())..)?))
        });
        match known {
            Some((words, rest)) => plain.extend([words, rest]),
            None => plain.push_str(part),
        }
    }
    plain
}

/// Returns a text with ranges in words: `is not in 1..=999` becomes `is not from 1 to 999`.
fn with_ranges(text: &str) -> String {
    const OUTSIDE: &str = " is not in ";
    let Some((before, after)) = text.split_once(OUTSIDE) else {
        return text.to_owned();
    };
    let Some((from, rest)) = after.split_once("..=") else {
        return text.to_owned();
    };
    if from.parse::<i128>().is_err() {
        return text.to_owned();
    }
    format!("{before} is not from {from} to {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_libraries_are_said_in_plain_words() {
        let check = |text: &str, expected: &str| assert_eq!(in_plain_words(text), expected);
        check(
            "not JSON: EOF while parsing a value at line 2 column 0",
            "not JSON: the text ends too early at line 2 column 0",
        );
        check(
            "invalid type: string \"x\", expected u64",
            "wrong kind of value: string \"x\", expected a whole number",
        );
        check(
            "invalid type: map, expected struct TargetVerdict at line 5",
            "wrong kind of value: map, expected an object at line 5",
        );
        check(
            "unknown field `groww`, expected one of `max`, `min`",
            "unknown field `groww`, expected one of `max`, `min`",
        );
        check(
            "'x' for '--top <N>': invalid digit found in string",
            "'x' for '--top <N>': this is not a whole number",
        );
        check("1000 is not in 1..=999", "1000 is not from 1 to 999");
        check("0 is not in 1..18446744073709551615", "0 is less than 1");
        for same in [
            "",
            "x is not in y",
            "this, expected u640",
            "x is not in a..=b",
        ] {
            check(same, same);
        }
    }
}
