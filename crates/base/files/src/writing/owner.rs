//! Finds the user who ran `sudo`.

use std::ffi::{OsStr, OsString};

use rustix::fs::{Gid, Uid};

/// A user and a group that own a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Numeric id of the user.
    pub uid: u32,
    /// Numeric id of the group.
    pub gid: u32,
}

impl Owner {
    /// Returns the user who ran `sudo`, if this process runs as root for another user.
    #[must_use]
    pub fn sudo_user() -> Option<Self> {
        is_root()
            .then(|| Self::from_sudo_variables(std::env::var_os))
            .flatten()
    }

    /// Reads `SUDO_UID` and `SUDO_GID`. None if root itself ran `sudo`.
    fn from_sudo_variables(variable: impl Fn(&'static str) -> Option<OsString>) -> Option<Self> {
        let (uid, gid) = (variable("SUDO_UID")?, variable("SUDO_GID")?);
        let (uid, gid) = (parse_id(&uid)?, parse_id(&gid)?);
        (uid != 0).then_some(Self { uid, gid })
    }

    pub(crate) fn ids(self) -> (Option<Uid>, Option<Gid>) {
        (Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.gid)))
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Parses a user or group id. The largest number is not an id: the system takes it for "leave
/// the owner unchanged".
fn parse_id(text: &OsStr) -> Option<u32> {
    let text = text.to_str()?;
    let has_only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|&id| has_only_digits && id != u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_variables_name_the_user() {
        let check = |uid: Option<&str>, gid: Option<&str>, expected: Option<(u32, u32)>| {
            let owner = Owner::from_sudo_variables(|name| {
                let value = if name == "SUDO_UID" { uid } else { gid };
                value.map(OsString::from)
            });
            assert_eq!(
                owner.map(|owner| (owner.uid, owner.gid)),
                expected,
                "{uid:?} {gid:?}"
            );
        };
        check(Some("501"), Some("20"), Some((501, 20)));
        check(Some("0"), Some("0"), None);
        check(Some("501"), None, None);
        check(None, Some("20"), None);
        check(Some("+501"), Some("20"), None);
        check(Some("4294967295"), Some("20"), None);
        check(Some(""), Some("20"), None);
    }
}
