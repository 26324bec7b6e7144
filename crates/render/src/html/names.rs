//! Names of a page by number, so that each is in it once.

use std::collections::HashMap;

use metalens_text::{shorten_all, shown};

use crate::wording::cut;

/// Largest number of bytes that a page spends on names.
const MOST_BYTES: usize = 200_000;
/// Largest number of letters of one name.
pub(super) const LONGEST: usize = 300;

/// Names by number, in the order in which they are asked for.
pub(super) struct Names<'a> {
    numbers: HashMap<&'a str, u64>,
    list: Vec<&'a str>,
    bytes: usize,
}

impl Default for Names<'_> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            list: vec!["(a name left out of this page)"],
            bytes: 0,
        }
    }
}

impl<'a> Names<'a> {
    /// The number of a name; 0 if there is no room for it.
    pub(super) fn number(&mut self, name: &'a str) -> u64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let shown = short(name);
        let bytes = written(&shown);
        if self.bytes + bytes > MOST_BYTES {
            return 0;
        }
        self.bytes += bytes;
        let number = self.list.len() as u64;
        self.list.push(name);
        self.numbers.insert(name, number);
        number
    }

    /// The names, of which no two look alike; the first stands for those left out.
    pub(super) fn into_list(self) -> Vec<String> {
        let list: Vec<_> = self.list.iter().map(|name| shown(name)).collect();
        let list: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
        shorten_all(&list, &|name| name.chars().count() <= LONGEST)
    }
}

/// Returns the length of a text as JSON in a page, with quotes and comma.
fn written(text: &str) -> usize {
    let letter = |letter: char| match letter {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => 6,
        '"' | '\\' => 2,
        letter if letter.is_control() => 6,
        letter => letter.len_utf8(),
    };
    text.chars().map(letter).sum::<usize>() + 3
}

/// A name as a page shows it, not too long for it.
pub(super) fn short(name: &str) -> String {
    cut(&shown(name), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names() {
        assert_eq!(short("é"), "é");
        assert_eq!(short("a\u{202e}b"), "a‹U+202E›b");
        assert_eq!(short(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(short(&"é".repeat(301)), format!("{}…", "é".repeat(300)));
        let mut names = Names::default();
        let many: Vec<String> = (0..900).map(|at| format!("{at:0297}")).collect();
        let numbers: Vec<u64> = many.iter().map(|name| names.number(name)).collect();
        let (shown, left_out) = numbers.split_at(MOST_BYTES / 300);
        assert!(shown.iter().zip(1..).all(|(&number, at)| number == at));
        assert!(left_out.iter().all(|&number| number == 0));
        assert_eq!(names.number(&many[3]), 4);
    }

    /// The room in the page decides what is left out, not the length of the name.
    #[test]
    fn a_name_as_it_is_written() {
        for name in ["abc", "<&>\u{2028}", "\u{1}\"\\", "é🦀"] {
            let json = crate::html::escape::script_json(&[name]).unwrap();
            assert_eq!(written(name), json.len() - 1, "{json}");
        }
    }
}
