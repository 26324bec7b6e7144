//! Who ran `sudo`.

use std::ffi::{OsStr, OsString};
use std::str::FromStr;

use rustix::fs::{Gid, Uid};

/// Whom something is to belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

impl Owner {
    /// Who ran `sudo`, if this runs as root for somebody else.
    #[must_use]
    pub fn who_ran_sudo() -> Option<Self> {
        is_root().then(|| Self::of_sudo(std::env::var_os)).flatten()
    }

    /// From `SUDO_UID` and `SUDO_GID`. Root itself is nobody else.
    fn of_sudo(variable: impl Fn(&'static str) -> Option<OsString>) -> Option<Self> {
        let number = |name: &'static str| variable(name).as_deref().and_then(number);
        let (uid, gid) = (number("SUDO_UID")?, number("SUDO_GID")?);
        (uid != 0).then_some(Self { uid, gid })
    }

    pub(crate) fn ids(self) -> (Option<Uid>, Option<Gid>) {
        (Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.gid)))
    }
}

impl FromStr for Owner {
    type Err = String;

    /// Reads `501:20`.
    fn from_str(text: &str) -> Result<Self, String> {
        let ids = text.split_once(':');
        let ids = ids.and_then(|(uid, gid)| Some((number(uid.as_ref())?, number(gid.as_ref())?)));
        let (uid, gid) = ids.ok_or_else(|| format!("`{text}` is no UID:GID, such as 501:20"))?;
        Ok(Self { uid, gid })
    }
}

/// Whether this runs as root.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A whole number that is an id. The largest means nobody to the system.
fn number(text: &OsStr) -> Option<u32> {
    let text = text.to_str()?;
    let is_plain = text.bytes().all(|one| one.is_ascii_digit());
    text.parse().ok().filter(|&id| is_plain && id != u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ran_sudo() {
        let check = |uid: Option<&str>, gid: Option<&str>, expected: Option<(u32, u32)>| {
            let found = Owner::of_sudo(|name| {
                let value = if name == "SUDO_UID" { uid } else { gid };
                value.map(OsString::from)
            });
            assert_eq!(
                found.map(|one| (one.uid, one.gid)),
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

    /// The largest number is nobody's: the system takes it for "leave it as it is".
    #[test]
    fn ids_as_users_write_them() {
        let check = |text: &str, expected: Option<(u32, u32)>| {
            let found = text.parse::<Owner>().ok();
            assert_eq!(found.map(|one| (one.uid, one.gid)), expected, "{text}");
        };
        check("501:20", Some((501, 20)));
        check("4294967294:1", Some((4_294_967_294, 1)));
        check("4294967295:1", None);
        check("1:4294967295", None);
        check("4294967296:1", None);
        check("501", None);
        check("501:", None);
        check("+501:20", None);
        check("a:b", None);
    }
}
