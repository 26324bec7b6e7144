//! Reads a symbol archive of a bundle: the functions of one binary.
//!
//! ```text
//! symbols/stores/<UUID>.symbolsarchive, little-endian, version 7
//! 0x00 u32 7        0x04 u32 length of the file
//! 0x08 u32 segments 0x0c u32 sections 0x10 u32 symbols
//! 0x34 UUID         0x44 u32 CPU type 0x54 u32 length of the names
//! 0x60 segments, 32 bytes each: u64 address, u64 size, name[16]
//!      sections, 24 bytes each: not needed
//!      symbols,  24 bytes each: u32 address, u32 size, u32 flags,
//!                               u32 shown name (0: none), u32 name, u32 -1
//!      …         other numbers
//!      names     up to the end, each ends with 0
//! ```
//!
//! Addresses are relative to the start of `__TEXT`. An archive contains only the functions that
//! occurred during the recording.

use super::ranges::Ranges;
use crate::bundle::little_endian::{long, word};
use crate::mangled::{self, FunctionName};

/// The functions of a binary.
#[derive(Debug)]
pub(crate) struct SymbolArchive {
    /// Size of `__TEXT`, in bytes.
    pub(crate) text_size: u64,
    pub(crate) cpu: Cpu,
    functions: Ranges<FunctionName>,
}

/// The processor that a binary is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cpu {
    Arm64,
    /// An Intel Mac, or Rosetta.
    Intel64,
}

impl Cpu {
    fn new(cpu_type: u32) -> Option<Self> {
        match cpu_type {
            0x0100_000c => Some(Self::Arm64),
            0x0100_0007 => Some(Self::Intel64),
            _ => None,
        }
    }
}

/// The reason why an archive cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveError {
    /// The archive has an unknown version or CPU.
    Unknown,
    /// The archive is inconsistent.
    Broken,
}

const VERSION: u32 = 7;
const HEADER: usize = 0x60;
const SEGMENT: usize = 32;
const SECTION: usize = 24;
const SYMBOL: usize = 24;
/// Maximum length of a name, in bytes.
const MAX_NAME_LENGTH: usize = 16 << 10;
/// The name of several functions with the same machine code.
const DEDUPLICATED: &str = "<deduplicated_symbol>";

impl SymbolArchive {
    /// Parses the archive of the binary with this UUID.
    pub(crate) fn parse(bytes: &[u8], uuid: [u8; 16]) -> Result<Self, ArchiveError> {
        let is_known = word(bytes, 0) == Some(VERSION);
        let cpu = word(bytes, 0x44).filter(|_| is_known).and_then(Cpu::new);
        let cpu = cpu.ok_or(ArchiveError::Unknown)?;
        Self::parts(bytes, uuid, cpu).ok_or(ArchiveError::Broken)
    }

    /// Returns the function at an offset from the start of `__TEXT`.
    pub(crate) fn function(&self, offset: u64) -> Option<&FunctionName> {
        self.functions.at(offset).map(|(_, name)| name)
    }

    /// Parses an archive of the binary with this UUID. `None` if its sizes or its UUID do not
    /// match.
    fn parts(bytes: &[u8], uuid: [u8; 16], cpu: Cpu) -> Option<Self> {
        let count = |at| word(bytes, at).and_then(|count| usize::try_from(count).ok());
        let is_consistent = count(4)? == bytes.len() && bytes.get(0x34..0x44)? == uuid;
        let segments = bytes.get(HEADER..)?;
        let (segments, rest) = segments.split_at_checked(count(8)?.checked_mul(SEGMENT)?)?;
        let rest = rest.get(count(12)?.checked_mul(SECTION)?..)?;
        let (symbols, rest) = rest.split_at_checked(count(16)?.checked_mul(SYMBOL)?)?;
        let names = rest.get(rest.len().checked_sub(count(0x54)?)?..)?;
        let text_size = text_size(segments)?;
        let symbols = symbols.chunks_exact(SYMBOL);
        let symbols: Option<Vec<Symbol>> = symbols.map(|bytes| symbol(bytes, names)).collect();
        is_consistent.then_some(())?;
        Some(Self {
            text_size,
            cpu,
            functions: Ranges::new(merged(symbols?)),
        })
    }
}

/// The start, the size and the name of a function, if it has a name.
type Symbol = (u64, u64, Option<FunctionName>);

/// Returns the size of the only `__TEXT`, which must start at 0.
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
    // Offset 0 is the first of all names, but for a shown name it means none.
    let shown = if word(bytes, 12)? == 0 { &[] } else { shown };
    let start = u64::from(word(bytes, 0)?);
    Some((start, u64::from(word(bytes, 4)?), shown_name(shown, name)))
}

/// Returns the name of a function: its shown name, or else its demangled name. A function without
/// a name has only its address (`0x…`).
fn shown_name(shown: &[u8], name: &[u8]) -> Option<FunctionName> {
    if shown.len().max(name.len()) > MAX_NAME_LENGTH {
        return None;
    }
    let (shown, name) = (str::from_utf8(shown).ok()?, str::from_utf8(name).ok()?);
    match shown {
        "" => mangled::readable(name),
        _ if shown.starts_with("0x") || mangled::is_mangled(shown) => None,
        _ => Some(FunctionName::sure(shown)),
    }
}

/// Merges functions at the same place into one. It keeps a name if all have the same, or if the
/// archive marks it as the code of several functions.
fn merged(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    symbols.sort();
    let mut merged: Vec<Symbol> = Vec::new();
    for (start, size, name) in symbols {
        match merged.last_mut() {
            Some(last) if (last.0, last.1) == (start, size) => {
                let is_shared = [&last.2, &name]
                    .iter()
                    .any(|name| name.as_ref().is_some_and(|name| name.text == DEDUPLICATED));
                if is_shared {
                    last.2 = Some(FunctionName::sure(DEDUPLICATED));
                } else if last.2 != name {
                    last.2 = None;
                }
            }
            _ => merged.push((start, size, name)),
        }
    }
    merged
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const UUID: [u8; 16] = *b"0123456789abcdef";

    /// Returns an archive of `(address, size, shown name, name)` with a `__TEXT` of 0x4000 bytes,
    /// one section, and four unused bytes.
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
            (0x44, 0x0100_000c),
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
    fn functions_are_found_by_address() {
        let archive = SymbolArchive::parse(&sample(), UUID).unwrap();
        let function = |at| Some(archive.function(at)?.text.as_str());
        assert_eq!(archive.text_size, 0x4000);
        assert_eq!(function(0xff), None);
        assert_eq!(function(0x100), Some("main"));
        assert_eq!(function(0x13f), Some("main"));
        assert_eq!(function(0x140), None, "a placeholder is not a name");
        assert_eq!(function(0x210), Some("app::step(int)"));
        assert_eq!(function(0x300), Some(DEDUPLICATED));
        assert_eq!(function(0x411), None, "one in another");
        assert_eq!(function(0x401), None);
        assert_eq!(function(0x500), None, "two of different names");
        assert_eq!(function(0x600), None);
    }

    #[test]
    fn unknown_and_inconsistent_archives_are_refused() {
        let changed = |at: usize, to: u8| {
            let mut bytes = sample();
            bytes[at] = to;
            SymbolArchive::parse(&bytes, UUID).err()
        };

        assert_eq!(changed(0, 8), Some(ArchiveError::Unknown));
        assert_eq!(changed(0x44, 18), Some(ArchiveError::Unknown), "PowerPC");
        assert_eq!(changed(4, 1), Some(ArchiveError::Broken));
        assert_eq!(
            changed(0x34, 1),
            Some(ArchiveError::Broken),
            "another binary's"
        );
        assert_eq!(
            changed(0x60 + 32, 1),
            Some(ArchiveError::Broken),
            "__TEXT not at 0"
        );

        for at in [8, 12, 16, 0x54] {
            for byte in at..at + 4 {
                assert!(changed(byte, 0xff).is_some(), "{byte:#x}");
            }
        }
    }

    #[test]
    fn archives_may_be_cut_off_anywhere() {
        let whole = sample();
        for length in 0..whole.len() {
            let mut bytes = whole[..length].to_vec();
            assert!(SymbolArchive::parse(&bytes, UUID).is_err());
            // The same with the correct length in the header.
            if let Some(header) = bytes.get_mut(4..8) {
                header.copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
            }
            let _ = SymbolArchive::parse(&bytes, UUID);
        }
    }

    #[test]
    fn any_byte_may_be_changed() {
        let whole = sample();
        for at in 0..whole.len() {
            for to in [0, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = to;
                let Ok(archive) = SymbolArchive::parse(&bytes, UUID) else {
                    continue;
                };
                for offset in 0..0x700 {
                    archive.function(offset);
                }
            }
        }
    }
}
