//! Formats values as JSON documents.

use metalens_text::in_json;
use serde::Serialize;

/// Returns a value as an indented document that ends with a line break. Control characters are
/// escaped, so that a terminal does not act on them.
pub fn document(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    let pretty = serde_json::to_string_pretty(value)?;
    Ok(in_json(&pretty).into_owned() + "\n")
}
