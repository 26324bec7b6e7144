//! Checks which scripts the policy of a page allows.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metalens_files::sha256_of_bytes;

/// Checks that the policy of a page lists each of its scripts by its hash, and allows no other one:
/// neither scripts from elsewhere, nor attributes such as `onclick`.
///
/// # Panics
///
/// If it does not.
pub fn check_policy(page: &str) {
    let start = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                 style-src 'unsafe-inline'; script-src ";
    let (_, policy) = page.split_once(start).unwrap();
    let (policy, _) = policy.split_once("\">").unwrap();
    let scripts = page.split("<script").skip(1);
    let hashes: Vec<String> = scripts
        .filter_map(|script| {
            let (attributes, rest) = script.split_once('>').unwrap();
            let (text, _) = rest.split_once("</script>").unwrap();
            let is_data = attributes.contains("type=\"application/json\"");
            let hash = STANDARD.encode(sha256_of_bytes(text.as_bytes()));
            (!is_data).then(|| format!("'sha256-{hash}'"))
        })
        .collect();
    assert!(!hashes.is_empty());
    assert_eq!(policy, hashes.join(" "));
}
