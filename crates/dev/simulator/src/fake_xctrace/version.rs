//! Reads the version of Xcode from the build in parentheses; the dotted number does not identify it.

/// The start of a build: `17C` of `26.0 (17C529)`, which is Xcode 26.2 or 26.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Build(u32, char);

impl Build {
    /// First build of Xcode 12.0.
    pub(super) const XCODE_12: Self = Self(12, 'A');
    /// First build of Xcode 12.5.
    pub(super) const XCODE_12_5: Self = Self(12, 'E');
    /// First build of Xcode 13.3.
    pub(super) const XCODE_13_3: Self = Self(13, 'E');
    /// First build of Xcode 14.0.
    pub(super) const XCODE_14: Self = Self(14, 'A');
    /// First build of Xcode 26.0. Apple skipped the versions 17 to 25, but not the builds.
    pub(super) const XCODE_26: Self = Self(17, 'A');
    /// First build of Xcode 27.0.
    pub(super) const XCODE_27: Self = Self(27, 'A');

    /// Parses the build in `26.0 (17C529)`.
    pub(super) fn parse(version: &str) -> Option<Self> {
        let (_, build) = version.split_once('(')?;
        let digits = build.find(|character: char| !character.is_ascii_digit())?;
        let (number, rest) = build.split_at_checked(digits)?;
        let letter = rest.chars().next().filter(char::is_ascii_uppercase)?;
        Some(Self(number.parse().ok()?, letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_parsed_and_ordered() {
        let cases = [
            ("26.0 (17C529)", Some(Build(17, 'C'))),
            ("16.0 (17F113)", Some(Build(17, 'F'))),
            ("12.5 (12E262)", Some(Build::XCODE_12_5)),
            ("26.0", None),
            ("26.0 (C529)", None),
        ];
        for (version, expected) in cases {
            assert_eq!(Build::parse(version), expected, "{version}");
        }
        assert!(Build::XCODE_14 > Build::XCODE_13_3);
    }
}
