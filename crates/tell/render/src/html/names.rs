//! Numbers the names of a page, so that each is in the page once.

use std::collections::HashMap;

use metalens_text::{shorten_all, shown};

use crate::wording::cut;

/// Largest number of bytes that a page spends on names.
const MOST_BYTES: usize = 200_000;
/// Largest number of letters of one name.
pub(super) const LONGEST: usize = 300;

/// Names by number, in the order in which they were added.
pub(super) struct NameTable<'a> {
    numbers: HashMap<&'a str, u64>,
    list: Vec<&'a str>,
    bytes: usize,
}

impl Default for NameTable<'_> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            list: vec!["(a name left out of this page)"],
            bytes: 0,
        }
    }
}

impl<'a> NameTable<'a> {
    /// Returns the number of a name; 0 if there is no room for it.
    pub(super) fn number(&mut self, name: &'a str) -> u64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let shown = short(name);
        let bytes = json_length(&shown);
        if self.bytes + bytes > MOST_BYTES {
            return 0;
        }
        self.bytes += bytes;
        let number = self.list.len() as u64;
        self.list.push(name);
        self.numbers.insert(name, number);
        number
    }

    /// Returns the names, of which no two look alike; the first replaces those that were left out.
    pub(super) fn into_list(self) -> Vec<String> {
        let list: Vec<_> = self.list.iter().map(|name| shown(name)).collect();
        let list: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
        shorten_all(&list, &|name| name.chars().count() <= LONGEST)
    }
}

/// Returns the length of a text as JSON in a page, with quotes and comma.
fn json_length(text: &str) -> usize {
    let letter = |letter: char| match letter {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => 6,
        '"' | '\\' => 2,
        letter if letter.is_control() => 6,
        letter => letter.len_utf8(),
    };
    text.chars().map(letter).sum::<usize>() + 3
}

/// Returns a name shortened for a page.
pub(super) fn short(name: &str) -> String {
    cut(&shown(name), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_and_left_out_beyond_the_room() {
        assert_eq!(short("é"), "é");
        assert_eq!(short("a\u{202e}b"), "a‹U+202E›b");
        assert_eq!(short(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(short(&"é".repeat(301)), format!("{}…", "é".repeat(300)));
        let mut names = NameTable::default();
        let many: Vec<String> = (0..900).map(|at| format!("{at:0297}")).collect();
        let numbers: Vec<u64> = many.iter().map(|name| names.number(name)).collect();
        let (shown, left_out) = numbers.split_at(MOST_BYTES / 300);
        assert!(shown.iter().zip(1..).all(|(&number, at)| number == at));
        assert!(left_out.iter().all(|&number| number == 0));
        assert_eq!(names.number(&many[3]), 4);
    }

    /// A name takes as much room as its JSON, which escapes some characters.
    #[test]
    fn the_length_of_a_name_is_that_of_its_json() {
        for name in ["abc", "<&>\u{2028}", "\u{1}\"\\", "é🦀"] {
            let json = crate::html::escape::script_json(&[name]).unwrap();
            assert_eq!(json_length(name), json.len() - 1, "{json}");
        }
    }
}
