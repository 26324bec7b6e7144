//! Finds the template of a recording, and reads the settings of a custom template.
use std::ffi::OsStr;
use std::path::Path;

use plist::{Dictionary, Value};

use super::arguments::RecordOrder;
use super::lists;
use super::misbehavior::Misbehavior;
use super::session::Session;
use super::settings::Exit;

/// The facts about a template that change a recording.
#[derive(Debug)]
pub(super) struct Template {
    /// Name of the template in a table of contents.
    pub(super) name: String,
    /// True if it requests the times of shaders.
    pub(super) shader_timeline: bool,
}

/// Finds the requested template. Messages and codes without a source are guesses.
pub(super) fn find(order: &RecordOrder, session: &mut Session<'_>) -> Result<Template, Exit> {
    let Some(requested) = &order.template else {
        return Ok(named("Blank"));
    };
    let text = requested.to_string_lossy();
    if lists::templates(session).contains(&text.as_ref()) {
        if session.misbehaves(Misbehavior::Exit30) {
            session.print_error(&format!("More than one template is named '{text}'"));
            return Err(Exit::Code(30));
        }
        return Ok(named(&text));
    }

    let path = Path::new(requested);
    if let Some(template) = read(path) {
        return Ok(template);
    }
    let problem = if path.exists() {
        format!("'{text}' is not a template")
    } else {
        format!("Unable to find template with name or path '{text}'")
    };
    session.print_error(&problem);
    Err(Exit::Code(1))
}

fn named(name: &str) -> Template {
    Template {
        name: name.to_owned(),
        shader_timeline: false,
    }
}

/// Reads a custom template, which is a property list.
fn read(path: &Path) -> Option<Template> {
    let archive = Value::from_file(path).ok()?.into_dictionary()?;
    let name = path.file_stem().unwrap_or(OsStr::new("Custom"));
    Some(Template {
        name: name.to_string_lossy().into_owned(),
        shader_timeline: requests_shaders(&archive),
    })
}

/// Key of a custom template that requests the times of shaders.
const SHADERS: &str = "shaderprofiler";

/// Returns whether a dictionary sets the key. An archived dictionary has its keys and values in two
/// lists of references.
fn requests_shaders(archive: &Dictionary) -> bool {
    let objects = archive.get("$objects").and_then(Value::as_array);
    let objects = objects.map(Vec::as_slice).unwrap_or_default();
    archive.get(SHADERS).is_some_and(is_true)
        || objects.iter().any(|object| sets_key(object, objects))
}

fn sets_key(object: &Value, objects: &[Value]) -> bool {
    values_of(SHADERS, object, objects).any(is_true)
}

/// Returns the values of a key in an archived dictionary.
fn values_of<'a>(
    wanted: &'static str,
    object: &'a Value,
    objects: &'a [Value],
) -> impl Iterator<Item = &'a Value> {
    let list = |key| {
        let list = object.as_dictionary()?.get(key)?.as_array();
        list.map(Vec::as_slice)
    };
    let (keys, values) = (list("NS.keys"), list("NS.objects"));
    keys.unwrap_or_default()
        .iter()
        .zip(values.unwrap_or_default())
        .filter(move |(key, _)| resolved(key, objects).as_string() == Some(wanted))
        .map(|(_, value)| resolved(value, objects))
}

fn resolved<'a>(value: &'a Value, objects: &'a [Value]) -> &'a Value {
    let index = value
        .as_uid()
        .and_then(|uid| usize::try_from(uid.get()).ok());
    index.and_then(|index| objects.get(index)).unwrap_or(value)
}

fn is_true(value: &Value) -> bool {
    value.as_boolean() == Some(true) || value.as_unsigned_integer() == Some(1)
}
