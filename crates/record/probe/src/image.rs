//! Tells from the first bytes of a program's file whether this library can be loaded into it.
#![expect(
    unsafe_code,
    reason = "reads a file without std, between fork and exec"
)]

use std::ffi::{CStr, c_char, c_int, c_void};

/// Kind of processor, in the numbers of Mach-O: type, and subtype where it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Processor(u32, u32);

const ARM64: Processor = Processor(0x0100_000c, 0);
const ARM64E: Processor = Processor(0x0100_000c, 2);
const X86_64: Processor = Processor(0x0100_0007, 0);

/// Processor that this library is for.
pub(crate) const OWN: Processor = if cfg!(target_arch = "aarch64") {
    ARM64
} else {
    X86_64
};

/// Bytes of a file that are looked at.
const HEAD: usize = 4_096;
/// Number of processors of one file that are looked at.
const MOST: usize = 8;

/// Processors that a program's file has code for; none if it says nothing of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image([Option<Processor>; MOST]);

impl Image {
    /// Reads the head of a file, or of the interpreter of a script. `None` if it cannot be read.
    pub(crate) fn of_file(path: &CStr) -> Option<Self> {
        let mut head = [0; HEAD];
        let mut length = read_head(path, &mut head)?;
        let script = head.get(..length).and_then(|head| head.strip_prefix(b"#!"));
        if let Some(script) = script {
            let mut name = [0; 1_024];
            let words = script.split(u8::is_ascii_whitespace);
            let interpreter = words.take(8).find(|word| !word.is_empty())?;
            name.get_mut(..interpreter.len())?
                .copy_from_slice(interpreter);
            length = read_head(CStr::from_bytes_until_nul(&name).ok()?, &mut head)?;
        }
        head.get(..length).map(Self::parse)
    }

    /// Reads the processors from the head of a Mach-O or ELF file.
    fn parse(head: &[u8]) -> Self {
        let mut image = Self::default();
        let processor = |at: usize, number: fn([u8; 4]) -> u32| {
            let word = |at: usize| head.get(at..at + 4)?.try_into().ok().map(number);
            // The upper bits of a subtype are capabilities.
            Some(Processor(word(at)?, word(at + 4)? & 0x00ff_ffff))
        };
        match head {
            [0xcf, 0xfa, 0xed, 0xfe, ..] => image.add(0, processor(4, u32::from_le_bytes)),
            [0xca, 0xfe, 0xba, kind @ (0xbe | 0xbf), 0, 0, 0, count, ..] => {
                let size = if *kind == 0xbe { 20 } else { 32 };
                for place in 0..usize::from(*count).min(MOST) {
                    image.add(place, processor(8 + place * size, u32::from_be_bytes));
                }
            }
            [0x7f, b'E', b'L', b'F', class, ..] => {
                let known = match (class, head.get(18)) {
                    (2, Some(62)) => X86_64,
                    (2, Some(183)) => ARM64,
                    _ => Processor(0, 0),
                };
                image.add(0, Some(known));
            }
            _ => {}
        }
        image
    }

    fn add(&mut self, place: usize, processor: Option<Processor>) {
        if let Some(slot) = self.0.get_mut(place) {
            *slot = processor;
        }
    }

    /// Returns whether a library for this processor can be loaded into the program. Where there is code
    /// for `arm64e`, the loader takes that, and a library for `arm64` does not go with it.
    pub(crate) fn takes(self, own: Processor) -> bool {
        let mut processors = self.0.into_iter().flatten().peekable();
        if processors.peek().is_none() {
            return true;
        }
        let is_beyond = |each: Processor| own == ARM64 && each == ARM64E;
        let each = || self.0.into_iter().flatten();
        !each().any(is_beyond) && each().any(|each| each.0 == own.0)
    }
}

/// Reads the beginning of a file. Returns the number of bytes.
fn read_head(path: &CStr, head: &mut [u8; HEAD]) -> Option<usize> {
    unsafe extern "C" {
        fn open(path: *const c_char, flags: c_int, ...) -> c_int;
        fn read(file: c_int, bytes: *mut c_void, count: usize) -> isize;
        fn close(file: c_int) -> c_int;
    }
    const READ_ONLY_AND_CLOSED_BY_EXEC: c_int = if cfg!(target_os = "macos") {
        0x0100_0000
    } else {
        0o2_000_000
    };
    // SAFETY: the path is a C string, and the array has room for what is read.
    let count = unsafe {
        let file = open(path.as_ptr(), READ_ONLY_AND_CLOSED_BY_EXEC);
        if file < 0 {
            return None;
        }
        let count = read(file, head.as_mut_ptr().cast(), HEAD);
        close(file);
        count
    };
    usize::try_from(count).ok()
}

#[cfg(test)]
mod tests {
    use super::{ARM64, Image, Processor, X86_64};

    /// Returns the head of a Mach-O file for one processor: type and subtype.
    fn thin(kind: u32, subtype: u32) -> Vec<u8> {
        let words = [0xfeed_facf_u32, kind, subtype, 2];
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Returns the head of a file for several.
    fn fat(slices: &[(u32, u32)]) -> Vec<u8> {
        let mut words = vec![0xcafe_babe_u32, u32::try_from(slices.len()).unwrap()];
        for &(kind, subtype) in slices {
            words.extend([kind, subtype, 0x4000, 0x1000, 14]);
        }
        words.into_iter().flat_map(u32::to_be_bytes).collect()
    }

    fn elf(class: u8, machine: u8) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..5].copy_from_slice(&[0x7f, b'E', b'L', b'F', class]);
        head[18] = machine;
        head
    }

    #[test]
    fn a_library_goes_only_into_images_that_can_take_it() {
        const ARM: u32 = 0x0100_000c;
        const INTEL: u32 = 0x0100_0007;
        const E: u32 = 0x8000_0002;
        let check = |head: &[u8], own: Processor, expected: bool| {
            assert_eq!(Image::parse(head).takes(own), expected, "{head:?} {own:?}");
        };
        check(&thin(ARM, 0), ARM64, true);
        check(&thin(ARM, E), ARM64, false);
        check(&thin(INTEL, 3), ARM64, false);
        check(&thin(INTEL, 3), X86_64, true);
        check(&thin(ARM, 0), X86_64, false);
        check(&fat(&[(INTEL, 3), (ARM, 0)]), ARM64, true);
        check(&fat(&[(INTEL, 3), (ARM, 0)]), X86_64, true);
        check(&fat(&[(INTEL, 3), (ARM, E)]), ARM64, false);
        check(&fat(&[(ARM, 0), (ARM, E)]), ARM64, false);
        check(&fat(&[(INTEL, 3)]), ARM64, false);
        check(&elf(2, 62), X86_64, true);
        check(&elf(1, 3), X86_64, false);
        check(&elf(2, 183), ARM64, true);
        // What says nothing is handed on as it was.
        for head in [&b""[..], b"MZ", &thin(ARM, 0)[..6]] {
            check(head, ARM64, true);
        }
    }
}
