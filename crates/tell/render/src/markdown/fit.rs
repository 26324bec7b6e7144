//! Keeps a page within a limit: drops rows first, then whole sections, the least important first;
//! never a part of a row, of a table's heading or of a block.

use std::cmp::Reverse;

use crate::error::{Error, Result};

/// A part of a page that can be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PagePart {
    /// The name of the part.
    pub(super) name: String,
    /// The order in which parts are dropped: 0 never, else the highest first.
    pub(super) priority: u8,
    /// The number of rows that can be left out instead of the whole part.
    pub(super) rows: usize,
}

/// A function that renders a part with this many of its rows. The last part lists the parts that
/// were left out.
pub(super) type Render<'a> = dyn Fn(usize, usize, &[&str]) -> String + 'a;

/// Room for the sentence about the parts that were left out, in bytes.
const ROOM_TO_TELL: usize = 400;

/// Returns the page, which has at most `limit` bytes.
pub(super) fn fitted(parts: &[PagePart], limit: usize, render: &Render<'_>) -> Result<String> {
    let mut left_out: Vec<&str> = Vec::new();
    let numbered = parts.iter().enumerate();
    let mut texts: Vec<String> = numbered
        .map(|(at, part)| render(at, part.rows, &left_out))
        .collect();
    let room = limit.saturating_sub(ROOM_TO_TELL);

    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| Reverse(parts.get(at).map(|part| part.priority)));
    for at in order {
        let whole: usize = texts.iter().map(String::len).sum();
        let (Some(part), Some(text)) = (parts.get(at), texts.get_mut(at)) else {
            continue;
        };
        if whole <= room || part.priority == 0 {
            break;
        }
        let others = whole - text.len();
        let rest = room.saturating_sub(others);
        let shorter = shortened(part.rows, rest, &|rows| render(at, rows, &[]));
        if shorter.is_empty() && !text.is_empty() {
            left_out.push(&part.name);
        }
        *text = shorter;
    }

    if let Some(last) = texts.last_mut() {
        *last = render(parts.len() - 1, 0, &left_out);
    }
    let page = texts.concat();
    if page.len() > limit {
        let bytes = page.len();
        return Err(Error::TooLong { bytes, limit });
    }
    Ok(page)
}

/// Returns a part with as many rows as there is room for; `None` if not even one fits.
fn shortened(all: usize, room: usize, render: &dyn Fn(usize) -> String) -> String {
    let (mut fits, mut fits_not) = (0, all);
    let mut best = String::new();
    while fits_not - fits > 1 {
        let tried = fits + (fits_not - fits) / 2;
        let text = render(tried);
        if text.len() <= room {
            (fits, best) = (tried, text);
        } else {
            fits_not = tried;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, priority: u8, rows: usize) -> PagePart {
        PagePart {
            name: name.to_owned(),
            priority,
            rows,
        }
    }

    /// Each row is `x` and a line break; the last part lists the missing parts.
    #[test]
    fn the_least_important_is_dropped_first() {
        let parts = [
            part("head", 0, 0),
            part("a", 1, 4),
            part("c", 3, 4),
            part("b", 2, 0),
            part("foot", 0, 0),
        ];
        let render = |at: usize, rows: usize, left_out: &[&str]| match at {
            4 => format!("without {}\n", left_out.join(", ")),
            _ => format!("{}\n{}", parts[at].name, "x\n".repeat(rows)),
        };
        let check = |limit: usize, expected: &str| {
            let page = fitted(&parts, ROOM_TO_TELL + limit, &render).unwrap();
            assert_eq!(page.replace('\n', " "), expected, "{limit}");
        };
        // head 5, a 2 + 8, c 2 + 8, b 2, foot 9.
        check(36, "head a x x x x c x x x x b without  ");
        check(35, "head a x x x x c x x x b without  ");
        check(30, "head a x x x x c x b without  ");
        check(29, "head a x x x x b without c ");
        check(25, "head a x x x x without c, b ");
        check(23, "head a x x x without c, b ");
        check(15, "head without c, b, a ");
    }

    #[test]
    fn mandatory_parts_that_do_not_fit_are_an_error() {
        let head = |_: usize, _: usize, _: &[&str]| "head\n".to_owned();
        assert!(fitted(&[part("head", 0, 0)], 3, &head).is_err());
    }
}
