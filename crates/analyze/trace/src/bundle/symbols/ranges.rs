//! Maps ranges of addresses to items.
//!
//! Overlapping ranges of different items are unknown: their addresses give no item, so that nothing
//! gets a wrong name.

/// Ascending ranges that do not overlap.
#[derive(Debug)]
pub(crate) struct Ranges<T> {
    /// Start, exclusive end, and item if it is certain.
    spans: Vec<(u64, u64, Option<T>)>,
}

impl<T: PartialEq> Ranges<T> {
    /// Returns the ranges of items with start and size, in any order. Equal items at the same place
    /// become one.
    pub(crate) fn new(items: impl IntoIterator<Item = (u64, u64, Option<T>)>) -> Self {
        let items = items.into_iter().filter_map(|(start, size, item)| {
            let end = start.checked_add(size).filter(|&end| end > start)?;
            Some((start, end, item))
        });
        let mut items: Vec<_> = items.collect();
        items.sort_by_key(|&(start, end, _)| (start, end));
        let mut spans: Vec<(u64, u64, Option<T>)> = Vec::new();
        for (start, end, item) in items {
            match spans.last_mut() {
                Some(last) if start < last.1 => {
                    if (last.0, last.1) != (start, end) || last.2 != item {
                        last.2 = None;
                    }
                    last.1 = last.1.max(end);
                }
                _ => spans.push((start, end, item)),
            }
        }
        Self { spans }
    }

    /// Returns the item at an address, and the start of its range.
    pub(crate) fn at(&self, address: u64) -> Option<(u64, &T)> {
        let after = self
            .spans
            .partition_point(|&(start, _, _)| start <= address);
        let (start, end, item) = self.spans.get(after.checked_sub(1)?)?;
        match item {
            Some(item) if address < *end => Some((*start, item)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_ranges_give_no_item() {
        let ranges = Ranges::new([
            (100, 10, Some('b')),
            (10, 10, Some('a')),
            (105, 20, Some('c')),
            (200, 4, Some('d')),
            (200, 4, Some('d')),
            (300, 4, Some('e')),
            (300, 4, Some('f')),
            (400, 0, Some('g')),
            (u64::MAX, 2, Some('h')),
        ]);
        let at = |address| ranges.at(address).map(|(start, &item)| (start, item));
        assert_eq!(at(9), None);
        assert_eq!(at(10), Some((10, 'a')));
        assert_eq!(at(19), Some((10, 'a')));
        assert_eq!(at(20), None);
        assert_eq!((at(101), at(107), at(120)), (None, None, None));
        assert_eq!(at(203), Some((200, 'd')));
        assert_eq!((at(300), at(400), at(u64::MAX)), (None, None, None));
    }
}
