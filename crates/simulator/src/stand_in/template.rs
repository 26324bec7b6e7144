//! Which template a recording is made with.

use std::ffi::OsStr;
use std::path::Path;

use plist::{Dictionary, Value};

use super::arguments::RecordOrder;
use super::stage::Stage;
use super::{Ending, Misbehaviour, lists};

/// A template, as far as it matters here.
#[derive(Debug)]
pub(super) struct Template {
    /// What a table of contents calls it.
    pub(super) name: String,
    /// Whether it asks for the shaders' times.
    pub(super) shader_timeline: bool,
}

/// Finds the template asked for; what no source tells (words and codes) is a guess.
pub(super) fn find(order: &RecordOrder, stage: &mut Stage<'_>) -> Result<Template, Ending> {
    let Some(asked) = &order.template else {
        return Ok(named("Blank"));
    };
    let text = asked.to_string_lossy();
    if lists::templates(stage).contains(&text.as_ref()) {
        if stage.does(Misbehaviour::Exit30) {
            stage.complain(&format!("More than one template is named '{text}'"));
            return Err(Ending::Code(30));
        }
        return Ok(named(&text));
    }
    let path = Path::new(asked);
    if let Some(template) = read(path) {
        return Ok(template);
    }
    let problem = match path.exists() {
        true => format!("'{text}' is not a template"),
        false => format!("Unable to find template with name or path '{text}'"),
    };
    stage.complain(&problem);
    Err(Ending::Code(1))
}

fn named(name: &str) -> Template {
    Template {
        name: name.to_owned(),
        shader_timeline: false,
    }
}

/// A custom template: a property list.
fn read(path: &Path) -> Option<Template> {
    let archive = Value::from_file(path).ok()?.into_dictionary()?;
    let name = path.file_stem().unwrap_or(OsStr::new("Custom"));
    Some(Template {
        name: name.to_string_lossy().into_owned(),
        shader_timeline: asks_for_shaders(&archive),
    })
}

/// The key that is set in templates patched to have the shaders' times.
const SHADERS: &str = "shaderprofiler";

/// Whether any dictionary says so, or any archived one, whose keys and values are in two lists of
/// references.
fn asks_for_shaders(archive: &Dictionary) -> bool {
    let objects = archive.get("$objects").and_then(Value::as_array);
    let objects = objects.map(Vec::as_slice).unwrap_or_default();
    archive.get(SHADERS).is_some_and(is_true) || objects.iter().any(|one| says_so(one, objects))
}

fn says_so(object: &Value, objects: &[Value]) -> bool {
    let list = |key| object.as_dictionary()?.get(key)?.as_array();
    let (Some(keys), Some(values)) = (list("NS.keys"), list("NS.objects")) else {
        return false;
    };
    let pairs = keys.iter().zip(values);
    let mut named = pairs.filter(|(key, _)| resolved(key, objects).as_string() == Some(SHADERS));
    named.any(|(_, value)| is_true(resolved(value, objects)))
}

fn resolved<'a>(value: &'a Value, objects: &'a [Value]) -> &'a Value {
    let at = value
        .as_uid()
        .and_then(|uid| usize::try_from(uid.get()).ok());
    at.and_then(|at| objects.get(at)).unwrap_or(value)
}

fn is_true(value: &Value) -> bool {
    value.as_boolean() == Some(true) || value.as_unsigned_integer() == Some(1)
}
