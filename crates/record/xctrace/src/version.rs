//! Parses the version of `xctrace` and decides which features it has.
//!
//! `xctrace version 26.0 (17C529)` belongs to Xcode 26.3: the dotted number is not Xcode's. Only
//! the build code identifies the Xcode. Its number rises with each major version, and its letter
//! with each update. Xcode 26 has 17, and 27 has 27.

use std::fmt;

/// The version that `xctrace version` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The version number with dots, which differs from Xcode's.
    pub dotted: String,
    /// The build code of the Xcode that it belongs to.
    pub build: String,
}

/// A feature that not every version has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Options `record --no-prompt` and `--window`.
    NoPromptAndWindow,
    /// Option `record --notify-tracing-started`.
    TracingStarted,
    /// Option `record --instrument` and command `list instruments`.
    Instruments,
    /// Options `export --time-start`, `--time-end` and `--duration`.
    ExportOfAPart,
}

impl Feature {
    /// Returns the first build that has the feature, and the Xcode of that build. The source is
    /// Apple's manual pages.
    const fn since(self) -> (u32, char, &'static str) {
        match self {
            Self::NoPromptAndWindow => (12, 'E', "12.5"),
            Self::TracingStarted => (13, 'E', "13.3"),
            Self::Instruments => (14, 'A', "14.0"),
            Self::ExportOfAPart => (27, 'A', "27.0"),
        }
    }

    /// Returns the first Xcode that has the feature.
    pub const fn first_xcode(self) -> &'static str {
        self.since().2
    }
}

impl Version {
    /// Parses `xctrace version 26.0 (17C529)`. None if the text has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let rest = line.trim().strip_prefix("xctrace version ")?;
            let (dotted, rest) = rest.split_once(" (")?;
            let build = rest.strip_suffix(')')?;
            let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
            (is_word(dotted) && is_word(build)).then(|| Self {
                dotted: dotted.to_owned(),
                build: build.to_owned(),
            })
        })
    }

    /// Returns true if this version has a feature. An unknown build code counts as Xcode 26.
    pub fn has(&self, feature: Feature) -> bool {
        let (number, letter, _) = feature.since();
        self.code().unwrap_or((17, 'A')) >= (number, letter)
    }

    /// Returns the major version of its Xcode, if the rule is known: 14 for `14E222b`, 26 for
    /// `17C529`, 27 for `27A266a`.
    pub fn xcode(&self) -> Option<u32> {
        match self.code()?.0 {
            17 => Some(26),
            same @ (12..=16 | 27..) => Some(same),
            _ => None,
        }
    }

    /// Returns the number and the letter of the build code.
    fn code(&self) -> Option<(u32, char)> {
        let digits = self.build.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, rest) = self.build.split_at_checked(digits)?;
        Some((number.parse().ok()?, rest.chars().next()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.dotted, self.build)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_versions_are_parsed() {
        let check = |text: &str, expected: Option<(&str, &str, Option<u32>)>| {
            let found = Version::parse(text);
            let found = found
                .as_ref()
                .map(|version| (&*version.dotted, &*version.build, version.xcode()));
            assert_eq!(found, expected, "{text}");
        };

        check(
            "xctrace version 26.0 (17C529)\n",
            Some(("26.0", "17C529", Some(26))),
        );
        check(
            "xctrace version 16.0 (17F113)",
            Some(("16.0", "17F113", Some(26))),
        );
        check(
            "noise\nxctrace version 14.3.1 (14E300c)\n",
            Some(("14.3.1", "14E300c", Some(14))),
        );
        check(
            "xctrace version 27.0 (27A266a)",
            Some(("27.0", "27A266a", Some(27))),
        );
        check("xctrace version x (y)", Some(("x", "y", None)));
        check("xcrun: error: unable to find utility", None);
        check("", None);
    }

    #[test]
    fn features_depend_on_the_build() {
        let check = |build: &str, expected: [bool; 4]| {
            let version = Version {
                dotted: String::new(),
                build: build.to_owned(),
            };
            let all = [
                Feature::NoPromptAndWindow,
                Feature::TracingStarted,
                Feature::Instruments,
                Feature::ExportOfAPart,
            ];
            assert_eq!(all.map(|feature| version.has(feature)), expected, "{build}");
        };

        check("12D4e", [false; 4]);
        check("12E262", [true, false, false, false]);
        check("13E113", [true, true, false, false]);
        check("14A309", [true, true, true, false]);
        check("17F113", [true, true, true, false]);
        check("27A5194q", [true; 4]);
        check("?", [true, true, true, false]);
    }
}
