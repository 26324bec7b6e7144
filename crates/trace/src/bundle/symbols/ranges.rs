//! What lies where: ranges of addresses, each of one thing.
//!
//! Where ranges of different things overlap, nothing is known: the addresses
//! of all of them stand for nothing, so that nobody is called by another's name.

/// Ranges that do not overlap, ascending.
#[derive(Debug)]
pub(crate) struct Ranges<T> {
    /// Start, end (exclusive), and what lies there, if that is certain.
    spans: Vec<(u64, u64, Option<T>)>,
}

impl<T: PartialEq> Ranges<T> {
    /// Of starts, sizes and things in any order. Things that are equal and lie
    /// in the same place are one.
    pub(crate) fn new(items: impl IntoIterator<Item = (u64, u64, Option<T>)>) -> Self {
        let items = items.into_iter().filter_map(|(start, size, thing)| {
            let end = start.checked_add(size).filter(|&end| end > start)?;
            Some((start, end, thing))
        });
        let mut items: Vec<_> = items.collect();
        items.sort_by_key(|&(start, end, _)| (start, end));
        let mut spans: Vec<(u64, u64, Option<T>)> = Vec::new();
        for (start, end, thing) in items {
            match spans.last_mut() {
                Some(last) if start < last.1 => {
                    if (last.0, last.1) != (start, end) || last.2 != thing {
                        last.2 = None;
                    }
                    last.1 = last.1.max(end);
                }
                _ => spans.push((start, end, thing)),
            }
        }
        Self { spans }
    }

    /// What lies at an address, and where that starts.
    pub(crate) fn at(&self, address: u64) -> Option<(u64, &T)> {
        let after = self
            .spans
            .partition_point(|&(start, _, _)| start <= address);
        let (start, end, thing) = self.spans.get(after.checked_sub(1)?)?;
        match thing {
            Some(thing) if address < *end => Some((*start, thing)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_stand_for_nothing() {
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
        let at = |address| ranges.at(address).map(|(start, &thing)| (start, thing));
        assert_eq!(at(9), None);
        assert_eq!(at(10), Some((10, 'a')));
        assert_eq!(at(19), Some((10, 'a')));
        assert_eq!(at(20), None);
        assert_eq!((at(101), at(107), at(120)), (None, None, None));
        assert_eq!(at(203), Some((200, 'd')));
        assert_eq!((at(300), at(400), at(u64::MAX)), (None, None, None));
    }
}
