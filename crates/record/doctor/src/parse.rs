//! Parses the output of macOS programs. Pure functions: text in, fact out, or None if the text
//! is not understood.

use crate::facts::{Power, Process, ThermalPressure};

/// Returns the value of a line `name: value`.
pub(crate) fn field(text: &str, name: &str) -> Option<String> {
    let mut values = text.lines().filter_map(|line| {
        let rest = line.trim().strip_prefix(name)?;
        let value = rest.strip_prefix(':')?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    });
    values.next()
}

/// Returns the number of a line `name: number`.
pub(crate) fn number(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.parse().ok()
}

/// Parses `xcodebuild -version`, such as `Xcode 26.3` and `Build version 17C529`, into version
/// and build.
pub(crate) fn xcode(text: &str) -> Option<(String, String)> {
    let after = |start: &str| {
        let mut lines = text.lines().map(str::trim);
        let value = lines.find_map(|line| line.strip_prefix(start))?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    Some((after("Xcode ")?, after("Build version ")?))
}

/// Parses the developer folder from `xcode-select -p`.
pub(crate) fn folder(text: &str) -> Option<String> {
    let line = text.lines().next()?.trim();
    line.starts_with('/').then(|| line.to_owned())
}

/// Parses `DevToolsSecurity -status`: returns true if developer mode is on.
pub(crate) fn developer_mode(text: &str) -> Option<bool> {
    if text.contains("currently enabled") {
        Some(true)
    } else if text.contains("currently disabled") {
        Some(false)
    } else {
        None
    }
}

/// Parses the power source from `pmset -g batt`, such as `Now drawing from 'AC Power'`.
pub(crate) fn power(text: &str) -> Option<Power> {
    match text.split('\'').nth(1)? {
        "AC Power" => Some(Power::Mains),
        "Battery Power" => Some(Power::Battery),
        "UPS Power" => Some(Power::Ups),
        _ => None,
    }
}

/// Parses `pmset -g`: returns true in low power mode. Macs with a high-power mode print
/// `powermode`, where 1 is the low one.
pub(crate) fn low_power_mode(text: &str) -> Option<bool> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_mode = matches!(words.next()?, "lowpowermode" | "powermode");
        let mode: u32 = words.next().filter(|_| is_mode)?.parse().ok()?;
        Some(mode == 1)
    })
}

/// Parses `notifyutil -g com.apple.system.thermalpressurelevel`, which prints the name and a
/// number.
pub(crate) fn thermal_pressure(text: &str) -> Option<ThermalPressure> {
    match text.split_whitespace().last()? {
        "0" => Some(ThermalPressure::Nominal),
        "1" => Some(ThermalPressure::Moderate),
        "2" => Some(ThermalPressure::Heavy),
        "3" => Some(ThermalPressure::Trapping),
        "4" => Some(ThermalPressure::Sleeping),
        _ => None,
    }
}

/// Parses the running processes from `ps -axo pid=,comm=`.
pub(crate) fn processes(text: &str) -> Option<Vec<Process>> {
    let processes: Vec<Process> = text.lines().filter_map(process).collect();
    (!processes.is_empty()).then_some(processes)
}

/// Parses one line of `ps`.
fn process(line: &str) -> Option<Process> {
    let (pid, path) = line.trim().split_once(char::is_whitespace)?;
    let path = path.trim();
    Some(Process {
        pid: pid.parse().ok()?,
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
    })
}

/// Parses a number from `ioreg -r -d 1 -w 0 -c IOAccelerator`, such as `"gpu-core-count" = 10`.
pub(crate) fn registry_number(text: &str, name: &str) -> Option<u64> {
    let quoted = format!("\"{name}\"");
    let (_, rest) = text.split_once(&quoted)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "ProductName:\t\tmacOS\nProductVersion:\t\t15.3.1\nBuildVersion:\t\t24D70\n";
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(field(text, name).as_deref(), expected, "{name}");
        };
        check("ProductVersion", Some("15.3.1"));
        check("BuildVersion", Some("24D70"));
        check("Product", None);
        let sysctl = "hw.memsize: 17179869184\n";
        assert_eq!(number(sysctl, "hw.memsize"), Some(17_179_869_184));
        assert_eq!(number(sysctl, "kern.hv_vmm_present"), None);
    }

    #[test]
    fn xcode_versions_are_parsed() {
        let found = xcode("Xcode 26.3\nBuild version 17C529\n").unwrap();
        assert_eq!(found, ("26.3".to_owned(), "17C529".to_owned()));
        let other = "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer \
                     directory '/Library/Developer/CommandLineTools' is a command line tools instance";
        assert_eq!(xcode(other), None);
    }

    #[test]
    fn developer_mode_is_parsed() {
        assert_eq!(
            developer_mode("Developer mode is currently enabled.\n"),
            Some(true)
        );
        assert_eq!(
            developer_mode("Developer mode is currently disabled.\n"),
            Some(false)
        );
        assert_eq!(developer_mode(""), None);
    }

    #[test]
    fn power_and_heat_are_parsed() {
        let laptop = "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t72%; discharging; 3:15 remaining present: true\n";
        assert_eq!(power(laptop), Some(Power::Battery));
        assert_eq!(power("Now drawing from 'AC Power'\n"), Some(Power::Mains));
        assert_eq!(power(""), None);
        let check = |text: &str, expected: Option<bool>| {
            assert_eq!(low_power_mode(text), expected, "{text}");
        };
        let older = "System-wide power settings:\nCurrently in use:\n lowpowermode         1\n standby              1\n";
        check(older, Some(true));
        check(" lowpowermode         0\n", Some(false));
        // A Mac with a high-power mode.
        check("Currently in use:\n powermode            2\n", Some(false));
        check(" powermode            1\n", Some(true));
        check(" standby              1\n", None);

        let level = |level: &str| {
            thermal_pressure(&format!("com.apple.system.thermalpressurelevel {level}\n"))
        };
        assert_eq!(level("0"), Some(ThermalPressure::Nominal));
        assert_eq!(level("2"), Some(ThermalPressure::Heavy));
        assert_eq!(level("9"), None);
        assert_eq!(thermal_pressure(""), None);
    }

    #[test]
    fn processes_are_parsed() {
        let text = "    1 /sbin/launchd\n  438 /Applications/Xcode.app/Contents/Applications/Instruments.app/Contents/MacOS/Instruments\n 9001 -zsh\n";
        let names: Vec<(u32, String)> = processes(text)
            .unwrap()
            .into_iter()
            .map(|process| (process.pid, process.name))
            .collect();
        let expected = [(1, "launchd"), (438, "Instruments"), (9001, "-zsh")];
        assert_eq!(names, expected.map(|(pid, name)| (pid, name.to_owned())));
        assert_eq!(processes(""), None);
    }

    /// The text has the form of Apple silicon.
    #[test]
    fn numbers_of_the_registry_are_parsed() {
        let text = r#"+-o AGXAcceleratorG13X  <class AGXAcceleratorG13X, id 0x1000004cb>
          | {
          |   "gpu-core-count" = 10
          |   "PerformanceStatistics" = {"Device Utilization %"=23,"Tiler Utilization %"=4}
          | }"#;
        assert_eq!(registry_number(text, "gpu-core-count"), Some(10));
        assert_eq!(registry_number(text, "Device Utilization %"), Some(23));
        assert_eq!(registry_number(text, "Renderer Utilization %"), None);
    }
}
