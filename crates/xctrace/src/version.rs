//! Which Xcode an `xctrace` belongs to, and what it can therefore do.
//!
//! `xctrace version 26.0 (17C529)` is that of Xcode 26.3: the dotted number is
//! not Xcode's. Only the build code tells, whose number rises with each Xcode and
//! whose letter with each of its updates.

use std::fmt;

/// What `xctrace version` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The number that it gives itself.
    pub dotted: String,
    /// The build code of its Xcode.
    pub build: String,
}

/// Something that not every version can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// `record --no-prompt` and `--window`.
    NoPromptAndWindow,
    /// `record --notify-tracing-started`.
    TracingStarted,
    /// `record --instrument` and `list instruments`.
    Instruments,
    /// `record --run-name`.
    RunName,
    /// `export --time-start`, `--time-end` and `--duration`.
    ExportOfAPart,
}

impl Feature {
    /// The first build that has it, and the Xcode of that build. By Apple's
    /// manual pages; of 27.0 the number was inferred from the builds before it.
    const fn since(self) -> (u32, char, &'static str) {
        match self {
            Self::NoPromptAndWindow => (12, 'E', "12.5"),
            Self::TracingStarted => (13, 'E', "13.3"),
            Self::Instruments => (14, 'A', "14.0"),
            Self::RunName => (17, 'A', "26.0"),
            Self::ExportOfAPart => (18, 'A', "27.0"),
        }
    }

    /// The first Xcode that has it.
    #[must_use]
    pub const fn first_xcode(self) -> &'static str {
        self.since().2
    }
}

impl Version {
    /// Reads `xctrace version 26.0 (17C529)`. None if that is not what it says.
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

    /// Whether it can do something; a build code that cannot be read is taken
    /// for one that can do what Xcode 26 could.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        let (number, letter, _) = feature.since();
        self.code().unwrap_or((17, 'A')) >= (number, letter)
    }

    /// The major number of its Xcode, as far as the rule is known: 14 of `14E222b`,
    /// 26 of `17C529`.
    #[must_use]
    pub fn xcode(&self) -> Option<u32> {
        match self.code()?.0 {
            old @ 12..=16 => Some(old),
            new @ 17.. => Some(new + 9),
            _ => None,
        }
    }

    /// The number and the letter of the build code.
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
    fn versions_as_they_are_printed() {
        let check = |text: &str, expected: Option<(&str, &str, Option<u32>)>| {
            let found = Version::parse(text);
            let found = found
                .as_ref()
                .map(|one| (&*one.dotted, &*one.build, one.xcode()));
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
        check("xctrace version x (y)", Some(("x", "y", None)));
        check("xcrun: error: unable to find utility", None);
        check("", None);
    }

    #[test]
    fn what_each_can_do() {
        let check = |build: &str, expected: [bool; 5]| {
            let version = Version {
                dotted: String::new(),
                build: build.to_owned(),
            };
            let all = [
                Feature::NoPromptAndWindow,
                Feature::TracingStarted,
                Feature::Instruments,
                Feature::RunName,
                Feature::ExportOfAPart,
            ];
            assert_eq!(all.map(|one| version.has(one)), expected, "{build}");
        };
        check("12D4e", [false; 5]);
        check("12E262", [true, false, false, false, false]);
        check("13E113", [true, true, false, false, false]);
        check("14A309", [true, true, true, false, false]);
        check("17F113", [true, true, true, true, false]);
        check("18A5301v", [true; 5]);
        check("?", [true, true, true, true, false]);
    }
}
