//! Compares the versions of the frameworks that both sides had in their environment.

use std::collections::BTreeSet;

use metalens_analyzer::FrameworkVersion;

use crate::runs::Runs;

/// A framework whose versions differ between two sides. A side without it has none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrameworkDifference<'a> {
    pub(crate) package: &'a str,
    pub(crate) base: BTreeSet<&'a str>,
    pub(crate) new: BTreeSet<&'a str>,
}

/// Returns the versions of all runs of a side; `None` if those of a run are not known.
fn versions(runs: &Runs) -> Option<Vec<&FrameworkVersion>> {
    let known: Option<Vec<&Vec<FrameworkVersion>>> =
        runs.frameworks.iter().map(Option::as_ref).collect();
    let known = known.filter(|known| !known.is_empty())?;
    Some(known.into_iter().flatten().collect())
}

/// Returns whether the frameworks of all runs of a side are known.
pub(crate) fn is_known(runs: &Runs) -> bool {
    versions(runs).is_some()
}

/// Returns the frameworks whose versions differ; none if those of a side are not known.
pub(crate) fn differences<'a>(base: &'a Runs, new: &'a Runs) -> Vec<FrameworkDifference<'a>> {
    let (Some(base), Some(new)) = (versions(base), versions(new)) else {
        return Vec::new();
    };
    let packages = base.iter().chain(&new).map(|one| one.package.as_str());
    let packages: BTreeSet<&str> = packages.collect();
    let of = |side: &[&'a FrameworkVersion], package: &str| {
        let of_package = side.iter().filter(|one| one.package == package);
        of_package.map(|one| one.version.as_str()).collect()
    };
    let all = packages.into_iter().map(|package| FrameworkDifference {
        package,
        base: of(&base, package),
        new: of(&new, package),
    });
    all.filter(|one| one.base != one.new).collect()
}

/// Returns the frameworks of a side, each with its versions: `mlx 0.29.1`.
pub(crate) fn all(runs: &Runs) -> Vec<String> {
    let known = versions(runs).into_iter().flatten();
    let shown: BTreeSet<String> = known
        .map(|one| format!("{} {}", one.package, one.version))
        .collect();
    shown.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use metalens_analyzer::VersionSource;

    use super::*;

    fn runs(versions: &[Option<&str>]) -> Runs {
        let parsed = versions.iter().map(|run| {
            let packages = (*run)?.split_whitespace().filter_map(|one| {
                let (package, version) = one.split_once('=')?;
                Some(FrameworkVersion {
                    package: package.to_owned(),
                    version: version.to_owned(),
                    source: VersionSource::PythonPackage,
                })
            });
            Some(packages.collect())
        });
        Runs {
            frameworks: parsed.collect(),
            ..Runs::default()
        }
    }

    #[test]
    fn versions_that_differ_are_found() {
        let check = |base: &[Option<&str>], new: &[Option<&str>], expected: &str| {
            let (base, new) = (runs(base), runs(new));
            let text = |side: &BTreeSet<&str>| side.iter().copied().collect::<Vec<_>>().join("|");
            let found: Vec<String> = differences(&base, &new)
                .iter()
                .map(|one| format!("{}: {} → {}", one.package, text(&one.base), text(&one.new)))
                .collect();
            assert_eq!(found.join(", "), expected);
        };
        check(&[Some("mlx=1")], &[Some("mlx=1")], "");
        check(&[Some("mlx=1")], &[Some("mlx=2")], "mlx: 1 → 2");
        check(&[Some("mlx=1 torch=3")], &[Some("mlx=1")], "torch: 3 → ");
        let mixed = [Some("mlx=1"), Some("mlx=2")];
        check(&mixed, &[Some("mlx=1")], "mlx: 1|2 → 1");
        // Unknown is never called different.
        check(&[None], &[Some("mlx=2")], "");
        check(&[Some("mlx=1"), None], &[Some("mlx=2")], "");
        check(&[], &[Some("mlx=2")], "");
    }
}
