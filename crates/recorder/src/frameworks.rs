//! Reads the versions of frameworks where the recorded program lives: Python's packages, Cargo's
//! lock file, or the folder of a Homebrew formula. Nothing is run. What is not certain is left out.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use metalens_analyzer::{FrameworkVersion, VersionSource};
use metalens_xctrace::command::{Launch, Target};
use metalens_xctrace::resolve;
use serde::Deserialize;

use crate::record_request::{RecordRequest, RecordingSubject};

/// Python packages of frameworks that use the GPU, each with the name that programs import.
const PYTHON: [(&str, &str); 6] = [
    ("coremltools", "coremltools"),
    ("llama-cpp-python", "llama_cpp"),
    ("mlx", "mlx"),
    ("mlx-lm", "mlx_lm"),
    ("tinygrad", "tinygrad"),
    ("torch", "torch"),
];
/// Crates of frameworks that use the GPU.
const CRATES: [&str; 8] = [
    "burn",
    "candle-core",
    "llama-cpp-2",
    "mlx-rs",
    "mlx-sys",
    "ort",
    "tch",
    "wgpu",
];
/// Homebrew formulas whose folders have the version in their path.
const FORMULAS: [&str; 2] = ["llama.cpp", "whisper-cpp"];

/// Largest size of a file to read, in bytes. A large workspace has a lock file of one megabyte.
const MOST_BYTES: u64 = 16 << 20;
/// Largest length of a version.
const LONGEST_VERSION: usize = 100;

/// Returns the frameworks in the environment of the program that a recording started, sorted by
/// name. `None` if the environment is not known: nothing was started, or the program is neither a
/// Python, nor built by cargo on this machine, nor a formula of Homebrew.
pub(crate) fn find(request: &RecordRequest, target: &Target) -> Option<Vec<FrameworkVersion>> {
    // A run that is appended shares its file with runs of other programs.
    let is_elsewhere = request.device.is_some() || request.append_run;
    let Target::Launch(launch) = target else {
        return None;
    };
    if is_elsewhere {
        return None;
    }

    let built_in = match &request.subject {
        RecordingSubject::Cargo { .. } => std::env::current_dir().ok(),
        _ => None,
    };
    of_program(launch, built_in.as_deref(), |name| std::env::var_os(name))
}

/// Returns the frameworks of a program. `built_in` is the folder in which cargo just built it.
fn of_program(
    launch: &Launch,
    built_in: Option<&Path>,
    inherited: impl Fn(&str) -> Option<OsString>,
) -> Option<Vec<FrameworkVersion>> {
    let variable = |name: &str| {
        let mut requested = launch.environment.iter();
        let requested = requested.find(|(other, _)| other.as_os_str() == OsStr::new(name));
        requested.map_or_else(|| inherited(name), |(_, value)| Some(value.clone()))
    };

    let program = &launch.program;
    let script = resolve(program.as_os_str(), None, Path::new("/")).ok();
    let interpreter = script.and_then(|script| script.interpreter);
    let mut candidates = [Some(program.clone()), interpreter].into_iter().flatten();
    let mut found = match candidates.find(|path| is_python(path)) {
        Some(python) => python_packages(&python, variable)?,
        None => formula(program)
            .map(|formula| vec![formula])
            .or_else(|| crates(program, built_in))?,
    };
    found.sort();
    Some(found)
}

fn is_python(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    name.to_lowercase().starts_with("python")
}

/// Returns the frameworks among the packages of a Python. One that another folder of Python's
/// search path has too, or in two versions, is left out.
fn python_packages(
    python: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<Vec<FrameworkVersion>> {
    let folders = package_folders(python, &variable)?;
    let first = variable("PYTHONPATH").unwrap_or_default();
    let first: Vec<PathBuf> = std::env::split_paths(&first).collect();
    let is_hidden = |module: &str| {
        let mut first = first.iter();
        first.any(|folder| {
            folder.join(module).is_dir() || folder.join(format!("{module}.py")).is_file()
        })
    };

    let installed: Vec<(String, String)> = folders.iter().flat_map(|one| installed(one)).collect();
    let known = PYTHON.iter().filter(|(_, module)| !is_hidden(module));
    let known = known.filter_map(|(package, _)| {
        let mut versions = installed.iter().filter(|(name, _)| name == package);
        only(versions.by_ref().map(|(_, version)| version))
            .map(|version| known_version(package, version, VersionSource::PythonPackage))?
    });
    Some(known.collect())
}

/// Returns the folders in which a Python finds its packages. A virtual environment is recognized by
/// the path of its executable, which is a link.
fn package_folders(
    python: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<Vec<PathBuf>> {
    let resolved = fs::canonicalize(python).ok()?;
    let base = resolved.parent()?.parent()?;
    let name = resolved.file_name()?.to_string_lossy().into_owned();
    let version = Some(name).filter(|name| name.contains('.'));
    let version = version.as_deref();

    let around = [python.parent(), python.parent().and_then(Path::parent)];
    let mut around = around.into_iter().flatten();
    let Some(environment) = around.find(|folder| folder.join("pyvenv.cfg").is_file()) else {
        let user = variable("HOME").map(PathBuf::from);
        let user = user.and_then(|home| only(user_folders(&home, version).into_iter()));
        let own = site_packages(&base.join("lib"), version, "site-packages");
        let own = only(own.into_iter())?;
        return Some(user.into_iter().chain([own]).collect());
    };

    let own = site_packages(&environment.join("lib"), version, "site-packages");
    let mut folders = vec![only(own.into_iter())?];
    let settings = metalens_files::read(&environment.join("pyvenv.cfg"), MOST_BYTES).ok()?;
    if has_system_packages(&String::from_utf8_lossy(&settings)) {
        let system = site_packages(&base.join("lib"), version, "site-packages");
        folders.push(only(system.into_iter())?);
    }
    Some(folders)
}

/// Returns the folders for packages that a user installed without an environment.
fn user_folders(home: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let number = version.map(|version| version.trim_start_matches("python"));
    let mut all = site_packages(&home.join(".local/lib"), version, "site-packages");
    all.extend(site_packages(
        &home.join("Library/Python"),
        number,
        "lib/python/site-packages",
    ));
    all
}

/// Returns the folders of packages for a version of Python; for each version if it is not known.
fn site_packages(parent: &Path, version: Option<&str>, inner: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let of_version = entries.filter(|entry| {
        let name = entry.file_name();
        version.map_or_else(
            || name.to_string_lossy().starts_with("python"),
            |version| name == version,
        )
    });
    let folders = of_version.map(|entry| entry.path().join(inner));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Returns whether `pyvenv.cfg` lets an environment use the packages of its base.
fn has_system_packages(settings: &str) -> bool {
    let mut pairs = settings.lines().filter_map(|line| line.split_once('='));
    pairs.any(|(key, value)| {
        key.trim() == "include-system-site-packages" && value.trim().eq_ignore_ascii_case("true")
    })
}

/// Returns the name and the version of each package of frameworks in a folder.
fn installed(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let packages = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (name, _) = name.strip_suffix(".dist-info")?.split_once('-')?;
        let name = normal(name);
        if !PYTHON.iter().any(|(package, _)| *package == name) {
            return None;
        }
        let text = metalens_files::read(&entry.path().join("METADATA"), MOST_BYTES).ok()?;
        metadata(&String::from_utf8_lossy(&text)).filter(|(stated, _)| *stated == name)
    });
    packages.collect()
}

/// Returns the name and the version in the header of a package's metadata.
fn metadata(text: &str) -> Option<(String, String)> {
    let header = || text.lines().take_while(|line| !line.trim().is_empty());
    let field = |wanted: &str| {
        let mut fields = header().filter_map(|line| line.split_once(':'));
        let field = fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        field.map(|(_, value)| value.trim().to_owned())
    };
    Some((normal(&field("Name")?), field("Version")?))
}

/// Returns the name of a Python package as all tools compare it.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

/// The part of `Cargo.lock` that is used here.
#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
}

/// Returns the frameworks in the lock file of a program that cargo built on this machine.
fn crates(program: &Path, built_in: Option<&Path>) -> Option<Vec<FrameworkVersion>> {
    let lock = match built_in {
        Some(folder) => lock_above(folder)?,
        None => {
            let program = fs::canonicalize(program).ok()?;
            let mut folders = program.ancestors().skip(1);
            // Only cargo writes this file, into the folder of what it builds.
            let built = folders.find(|folder| folder.join(".rustc_info.json").is_file())?;
            let lock = lock_above(built.parent()?)?;
            // A lock file that changed after the build tells nothing about it.
            (changed(&lock)? <= changed(&program)?).then_some(lock)?
        }
    };
    let text = metalens_files::read(&lock, MOST_BYTES).ok()?;
    locked(&String::from_utf8_lossy(&text))
}

fn lock_above(folder: &Path) -> Option<PathBuf> {
    let locks = folder.ancestors().map(|folder| folder.join("Cargo.lock"));
    locks.into_iter().find(|lock| lock.is_file())
}

fn changed(file: &Path) -> Option<std::time::SystemTime> {
    file.metadata().ok()?.modified().ok()
}

/// Returns the frameworks in the text of a lock file. One that is there in two versions is left out.
fn locked(text: &str) -> Option<Vec<FrameworkVersion>> {
    let lock: Lock = toml::from_str(text).ok()?;
    let known = CRATES.iter().filter_map(|name| {
        let packages = lock.package.iter().filter(|one| one.name == *name);
        let version = only(packages.map(|one| &one.version))?;
        known_version(name, version, VersionSource::CargoLock)
    });
    Some(known.collect())
}

/// Returns the version of a Homebrew formula, which is in the path of its programs.
fn formula(program: &Path) -> Option<FrameworkVersion> {
    let program = fs::canonicalize(program).ok()?;
    let parts: Vec<_> = program.iter().map(OsStr::to_string_lossy).collect();
    let place = parts.iter().position(|part| part == "Cellar")?;
    let (name, version) = (parts.get(place + 1)?, parts.get(place + 2)?);
    let name = FORMULAS.into_iter().find(|formula| formula == name)?;
    known_version(name, version, VersionSource::Homebrew)
}

/// Returns a version unless it is none: empty, too long, or more than one line.
fn known_version(package: &str, version: &str, source: VersionSource) -> Option<FrameworkVersion> {
    let is_one = !version.is_empty() && version.len() <= LONGEST_VERSION;
    (is_one && !version.contains(char::is_control)).then(|| FrameworkVersion {
        package: package.to_owned(),
        version: version.to_owned(),
        source,
    })
}

/// Returns the value that all entries have; none for different ones.
fn only<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Writes files, given by their path and their text, into a folder.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn found(
        program: &Path,
        built_in: Option<&Path>,
        python_path: Option<OsString>,
    ) -> Option<Vec<String>> {
        let launch = Launch {
            program: program.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            reads_stdin: false,
            stdout: None,
        };
        let variable = |name: &str| python_path.clone().filter(|_| name == "PYTHONPATH");
        let found = of_program(&launch, built_in, variable)?;
        let shown = found.iter();
        Some(
            shown
                .map(|one| format!("{} {}", one.package, one.version))
                .collect(),
        )
    }

    const MLX: &str = "Metadata-Version: 2.1\nName: mlx\nVersion: 0.29.1\n\nVersion: 9 in the text";
    const OTHER_MLX: &str = "Name: mlx\nVersion: 0.28.0\n";

    #[test]
    fn python_has_the_packages_of_its_environment() {
        let check =
            |more: &[(&str, &str)], program: &str, path: &str, expected: Option<&[&str]>| {
                let mut files = vec![
                    ("base/bin/python3.12", ""),
                    (
                        "base/lib/python3.12/site-packages/torch-2.6.0.dist-info/METADATA",
                        "Name: torch\nVersion: 2.6.0\n",
                    ),
                    ("base/lib/python3.11/site-packages/x", ""),
                    (
                        "venv/pyvenv.cfg",
                        "home = /base/bin\ninclude-system-site-packages = false\n",
                    ),
                    (
                        "venv/lib/python3.12/site-packages/mlx-0.29.1.dist-info/METADATA",
                        MLX,
                    ),
                    (
                        "venv/lib/python3.12/site-packages/numpy-2.0.dist-info/METADATA",
                        "Name: numpy\nVersion: 2.0\n",
                    ),
                    ("shadow/mlx/__init__.py", ""),
                ];
                files.extend(more);
                let folder = folder(&files);
                let at = |path: &str| folder.path().join(path);
                fs::create_dir_all(at("venv/bin")).unwrap();
                symlink(at("base/bin/python3.12"), at("venv/bin/python")).unwrap();
                let script = format!("#!{}\n", at("venv/bin/python").display());
                fs::write(at("venv/bin/mlx_lm.generate"), script).unwrap();
                let executable = fs::Permissions::from_mode(0o755);
                fs::set_permissions(at("venv/bin/mlx_lm.generate"), executable).unwrap();

                let path = (!path.is_empty()).then(|| at(path).into_os_string());
                let expected = expected.map(|all| all.iter().map(ToString::to_string).collect());
                assert_eq!(
                    found(&at(program), None, path),
                    expected,
                    "{program} {more:?}"
                );
            };
        check(&[], "venv/bin/python", "", Some(&["mlx 0.29.1"]));
        check(&[], "venv/bin/mlx_lm.generate", "", Some(&["mlx 0.29.1"]));
        check(&[], "base/bin/python3.12", "", Some(&["torch 2.6.0"]));
        // What PYTHONPATH has comes first, in a version that nothing tells.
        check(&[], "venv/bin/python", "shadow", Some(&[]));
        check(&[], "venv/bin/python", "base", Some(&["mlx 0.29.1"]));
        let system = ("venv/pyvenv.cfg", "include-system-site-packages = true");
        check(
            &[system],
            "venv/bin/python",
            "",
            Some(&["mlx 0.29.1", "torch 2.6.0"]),
        );
        let twice = (
            "venv/lib/python3.12/site-packages/mlx-0.28.0.dist-info/METADATA",
            OTHER_MLX,
        );
        check(&[twice], "venv/bin/python", "", Some(&[]));
        let other = ("venv/bin/server", "no script");
        check(&[other], "venv/bin/server", "", None);
    }

    #[test]
    fn a_program_of_cargo_has_its_lock_file() {
        const LOCK: &str = "version = 4\n[[package]]\nname = \"candle-core\"\nversion = \"0.9.1\"\n\
                            [[package]]\nname = \"wgpu\"\nversion = \"1.0.0\"\n[[package]]\nname = \
                            \"wgpu\"\nversion = \"2.0.0\"\n[[package]]\nname = \"serde\"\nversion = \
                            \"1.0.0\"\n";
        let check = |program: &str,
                     built_in: Option<&str>,
                     lock_is_newer: bool,
                     expected: Option<&[&str]>| {
            let folder = folder(&[
                ("p/Cargo.lock", LOCK),
                ("p/target/.rustc_info.json", "{}"),
                ("p/target/release/infer", ""),
                ("p/bin/infer", ""),
                ("elsewhere/infer", ""),
            ]);
            let at = |path: &str| folder.path().join(path);
            let hour = Duration::from_secs(3_600);
            let lock = fs::File::options()
                .write(true)
                .open(at("p/Cargo.lock"))
                .unwrap();
            let now = SystemTime::now();
            lock.set_modified(if lock_is_newer {
                now + hour
            } else {
                now - hour
            })
            .unwrap();
            let built_in = built_in.map(at);
            let expected = expected.map(|all| all.iter().map(ToString::to_string).collect());
            let found = found(&at(program), built_in.as_deref(), None);
            assert_eq!(found, expected, "{program} {built_in:?}");
        };

        let candle: &[&str] = &["candle-core 0.9.1"];
        check("p/target/release/infer", None, false, Some(candle));
        check("p/target/release/infer", None, true, None);
        check("p/target/release/infer", Some("p"), true, Some(candle));
        check("p/bin/infer", None, false, None);
        check("elsewhere/infer", None, false, None);
        check("elsewhere/infer", Some("p/target"), false, Some(candle));
    }

    #[test]
    fn a_formula_has_its_version_in_its_path() {
        let folder = folder(&[
            ("Cellar/llama.cpp/5092/bin/llama-bench", ""),
            ("Cellar/other/1.0/bin/other", ""),
            ("bin/x", ""),
        ]);
        let at = |path: &str| folder.path().join(path);
        symlink(
            at("Cellar/llama.cpp/5092/bin/llama-bench"),
            at("bin/llama-bench"),
        )
        .unwrap();
        let expected = Some(vec!["llama.cpp 5092".to_owned()]);
        assert_eq!(found(&at("bin/llama-bench"), None, None), expected);
        assert_eq!(found(&at("Cellar/other/1.0/bin/other"), None, None), None);
    }
}
