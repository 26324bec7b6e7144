//! A symbol archive of a bundle: the functions of one binary.
//!
//! ```text
//! symbols/stores/<UUID>.symbolsarchive, little-endian, as of version 7
//! 0x00 u32 7        0x04 u32 length of the file
//! 0x08 u32 segments 0x0c u32 sections 0x10 u32 symbols
//! 0x34 UUID         0x44 u32 CPU type 0x54 u32 length of the names
//! 0x60 segments, 32 bytes each: u64 address, u64 size, name[16]
//!      sections, 24 bytes each: not needed
//!      symbols,  24 bytes each: u32 address, u32 size, u32 flags,
//!                               u32 shown name (0: none), u32 name, u32 -1
//!      …         numbers that are not needed
//!      names     up to the end, each ends with 0
//! ```
//!
//! Addresses count from the start of `__TEXT`. An archive holds only the
//! functions that were met while the trace was recorded.

use super::mangled;
use super::ranges::Ranges;

/// The functions of a binary.
#[derive(Debug)]
pub(crate) struct Archive {
    /// How long `__TEXT` is.
    pub(crate) text_size: u64,
    functions: Ranges<String>,
}

/// Why an archive cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is of another version or of another CPU, of which none was ever seen.
    Unknown,
    /// It contradicts itself.
    Broken,
}

const VERSION: u32 = 7;
const ARM64: u32 = 0x0100_000c;
const HEADER: usize = 0x60;
const SEGMENT: usize = 32;
const SECTION: usize = 24;
const SYMBOL: usize = 24;
/// The longest name that is looked at.
const NAME_LIMIT: usize = 16 << 10;
/// What several functions of the same machine code are called.
const DEDUPLICATED: &str = "<deduplicated_symbol>";

impl Archive {
    /// Reads the archive of the binary of this UUID.
    pub(crate) fn parse(bytes: &[u8], uuid: [u8; 16]) -> Result<Self, Refusal> {
        if word(bytes, 0) != Some(VERSION) || word(bytes, 0x44) != Some(ARM64) {
            return Err(Refusal::Unknown);
        }
        Self::parts(bytes, uuid).ok_or(Refusal::Broken)
    }

    /// The function at a distance from the start of `__TEXT`.
    pub(crate) fn function(&self, offset: u64) -> Option<&str> {
        self.functions.at(offset).map(|(_, name)| name.as_str())
    }

    fn parts(bytes: &[u8], uuid: [u8; 16]) -> Option<Self> {
        let count = |at| word(bytes, at).and_then(|count| usize::try_from(count).ok());
        let whole = count(4)? == bytes.len() && bytes.get(0x34..0x44)? == uuid;
        let segments = bytes.get(HEADER..)?;
        let (segments, rest) = segments.split_at_checked(count(8)?.checked_mul(SEGMENT)?)?;
        let rest = rest.get(count(12)?.checked_mul(SECTION)?..)?;
        let (symbols, rest) = rest.split_at_checked(count(16)?.checked_mul(SYMBOL)?)?;
        let names = rest.get(rest.len().checked_sub(count(0x54)?)?..)?;
        let text_size = text_size(segments)?;
        let symbols = symbols.chunks_exact(SYMBOL);
        let symbols: Option<Vec<Symbol>> = symbols.map(|bytes| symbol(bytes, names)).collect();
        whole.then_some(())?;
        Some(Self {
            text_size,
            functions: Ranges::new(merged(symbols?)),
        })
    }
}

/// Start, size, and name where there is one.
type Symbol = (u64, u64, Option<String>);

/// The length of the one `__TEXT`, which must start at 0.
fn text_size(segments: &[u8]) -> Option<u64> {
    let mut texts = segments.chunks_exact(SEGMENT).filter(|segment| {
        segment
            .get(16..)
            .is_some_and(|name| until_zero(name) == b"__TEXT")
    });
    let text = texts.next()?;
    let only = texts.next().is_none() && long(text, 0)? == 0;
    only.then_some(long(text, 8)?)
}

fn symbol(bytes: &[u8], names: &[u8]) -> Option<Symbol> {
    let name = |at| {
        let names = names.get(usize::try_from(word(bytes, at)?).ok()?..)?;
        let end = memchr::memchr(0, names)?;
        names.get(..end)
    };
    let (shown, name) = (name(12)?, name(16)?);
    // The first name of all is at 0; a shown name there is none.
    let shown = if word(bytes, 12)? == 0 { &[] } else { shown };
    let start = u64::from(word(bytes, 0)?);
    Some((start, u64::from(word(bytes, 4)?), shown_name(shown, name)))
}

/// What a function is called: by its shown name, else by its mangled name. Of
/// a function without a name only its address is noted (`0x…`).
fn shown_name(shown: &[u8], name: &[u8]) -> Option<String> {
    if shown.len().max(name.len()) > NAME_LIMIT {
        return None;
    }
    let (shown, name) = (str::from_utf8(shown).ok()?, str::from_utf8(name).ok()?);
    match shown {
        "" => mangled::readable(name),
        _ if shown.starts_with("0x") || mangled::is_mangled(shown) => None,
        _ => Some(shown.to_owned()),
    }
}

/// Functions that lie in one place become one: of one name if they agree, or
/// if the archive says itself that it is code of several.
fn merged(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    symbols.sort();
    let mut one: Vec<Symbol> = Vec::new();
    for (start, size, name) in symbols {
        match one.last_mut() {
            Some(last) if (last.0, last.1) == (start, size) => {
                let shared = [&last.2, &name]
                    .iter()
                    .any(|name| name.as_deref() == Some(DEDUPLICATED));
                if shared {
                    last.2 = Some(DEDUPLICATED.to_owned());
                } else if last.2 != name {
                    last.2 = None;
                }
            }
            _ => one.push((start, size, name)),
        }
    }
    one
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const UUID: [u8; 16] = *b"0123456789abcdef";

    /// An archive of `(address, size, shown name, name)`, as drawn above, with
    /// a `__TEXT` of 0x4000 bytes, one section, and four needless bytes.
    pub(crate) fn archive(uuid: [u8; 16], symbols: &[(u32, u32, &str, &str)]) -> Vec<u8> {
        let mut names = b"MACH_HEADER\0".to_vec();
        let mut at = |name: &str| {
            if name.is_empty() {
                return 0;
            }
            let at = names.len();
            names.extend(name.bytes().chain([0]));
            u32::try_from(at).unwrap()
        };
        let mut table = Vec::new();
        for &(start, size, shown, name) in symbols {
            let words = [start, size, 0x334a_4411, at(shown), at(name), u32::MAX];
            table.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        let mut bytes = vec![0; HEADER];
        for (address, size, name) in [(0x9000_u64, 0x100_u64, "__DATA"), (0, 0x4000, "__TEXT")] {
            bytes.extend(address.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend(name.bytes().chain(std::iter::repeat_n(0, 16 - name.len())));
        }
        bytes.extend([0; SECTION]);
        bytes.extend(table);
        bytes.extend([0; 4]);
        bytes.extend(&names);
        let length = u32::try_from(bytes.len()).unwrap();
        let (count, names) = (symbols.len(), names.len());
        let count = u32::try_from(count).unwrap();
        let names = u32::try_from(names).unwrap();
        for (at, value) in [
            (0, 7),
            (4, length),
            (8, 2),
            (12, 1),
            (16, count),
            (0x44, ARM64),
            (0x54, names),
        ] {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[0x34..0x44].copy_from_slice(&uuid);
        bytes
    }

    fn sample() -> Vec<u8> {
        archive(
            UUID,
            &[
                (0x100, 0x40, "main", "_main"),
                (0x140, 0x10, "0x104a5c140", "0x104a5c140"),
                (0x200, 0x80, "", "__ZN3app4stepEi"),
                (0x300, 0x40, "", "__ZN3app3oneEv"),
                (0x300, 0x40, DEDUPLICATED, DEDUPLICATED),
                (0x300, 0x40, "two", "_two"),
                (0x400, 0x40, "outer", "_outer"),
                (0x410, 0x10, "inner", "_inner"),
                (0x500, 0x40, "alias", "_alias"),
                (0x500, 0x40, "other", "_other"),
                (0x600, 0x10, "", "_unshown"),
            ],
        )
    }

    #[test]
    fn functions() {
        let archive = Archive::parse(&sample(), UUID).unwrap();
        assert_eq!(archive.text_size, 0x4000);
        assert_eq!(archive.function(0xff), None);
        assert_eq!(archive.function(0x100), Some("main"));
        assert_eq!(archive.function(0x13f), Some("main"));
        assert_eq!(archive.function(0x140), None, "a placeholder is no name");
        assert_eq!(archive.function(0x210), Some("app::step(int)"));
        assert_eq!(archive.function(0x300), Some(DEDUPLICATED));
        assert_eq!(archive.function(0x411), None, "one in another");
        assert_eq!(archive.function(0x401), None);
        assert_eq!(archive.function(0x500), None, "two of different names");
        assert_eq!(archive.function(0x600), None);
    }

    #[test]
    fn what_was_never_seen_is_refused() {
        let changed = |at: usize, to: u8| {
            let mut bytes = sample();
            bytes[at] = to;
            Archive::parse(&bytes, UUID).err()
        };
        assert_eq!(changed(0, 8), Some(Refusal::Unknown));
        assert_eq!(changed(0x44, 7), Some(Refusal::Unknown), "Intel");
        assert_eq!(changed(4, 1), Some(Refusal::Broken));
        assert_eq!(changed(0x34, 1), Some(Refusal::Broken), "another binary's");
        assert_eq!(
            changed(0x60 + 32, 1),
            Some(Refusal::Broken),
            "__TEXT not at 0"
        );
        for at in [8, 12, 16, 0x54] {
            for byte in at..at + 4 {
                assert!(changed(byte, 0xff).is_some(), "{byte:#x}");
            }
        }
    }

    #[test]
    fn cut_off_anywhere() {
        let whole = sample();
        for length in 0..whole.len() {
            let mut bytes = whole[..length].to_vec();
            assert!(Archive::parse(&bytes, UUID).is_err());
            // The same with the length that it should have.
            if let Some(header) = bytes.get_mut(4..8) {
                header.copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
            }
            let _ = Archive::parse(&bytes, UUID);
        }
    }

    #[test]
    fn any_byte_changed() {
        let whole = sample();
        for at in 0..whole.len() {
            for to in [0, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = to;
                let Ok(archive) = Archive::parse(&bytes, UUID) else {
                    continue;
                };
                for offset in 0..0x700 {
                    archive.function(offset);
                }
            }
        }
    }
}
