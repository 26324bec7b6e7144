//! Packs numbers as short text for pages: LEB128, then Base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Packed numbers, one after the other; a small number takes one byte.
#[derive(Debug, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
}

impl Packed {
    /// Appends a number: seven bits per byte, the lowest first.
    pub(super) fn put(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                self.bytes.push(low & 0x7f);
                return;
            }
            self.bytes.push(low | 0x80);
        }
    }

    /// Appends a number with a sign, so that one near zero is short: 0, -1, 1, -2 are 0, 1, 2, 3. No
    /// time of a recording needs more than 64 bits; a larger one would be cut.
    pub(super) fn put_signed(&mut self, number: i128) {
        let folded = (number << 1) ^ (number >> 127);
        self.put(u64::try_from(folded).unwrap_or(u64::MAX));
    }

    /// Appends other numbers.
    pub(super) fn append(&mut self, mut other: Self) {
        self.bytes.append(&mut other.bytes);
    }

    /// Returns the numbers as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the numbers as text.
    pub(super) fn into_text(self) -> String {
        STANDARD.encode(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are those of the DWARF standard's examples, and of the largest number.
    #[test]
    fn numbers_are_leb128() {
        let check = |number: u64, expected: &[u8]| {
            let mut packed = Packed::default();
            packed.put(number);
            assert_eq!(packed.bytes, expected, "{number}");
        };
        check(0, &[0]);
        check(2, &[2]);
        check(127, &[127]);
        check(128, &[0x80, 1]);
        check(129, &[0x81, 1]);
        check(12857, &[0x80 + 57, 100]);
        check(u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn signs_are_in_the_lowest_bit() {
        let check = |number: i128, expected: &[u8]| {
            let mut packed = Packed::default();
            packed.put_signed(number);
            assert_eq!(packed.bytes, expected, "{number}");
        };
        check(0, &[0]);
        check(-1, &[1]);
        check(1, &[2]);
        check(-64, &[127]);
        check(64, &[128, 1]);
    }

    #[test]
    fn text_is_base64() {
        let mut packed = Packed::default();
        for number in [77, 97, 110] {
            packed.put(number);
        }
        assert_eq!(packed.into_text(), "TWFu");
    }
}
