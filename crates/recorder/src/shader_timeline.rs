//! A copy of Apple's template in which the Shader Timeline is switched on.
//! `xctrace record` has no option for it; the template's archive has two switches,
//! off in the stock one. Others record this way; it has never been run against a
//! real Xcode by metalens's authors, and some GPUs refuse: see what comes of it.
//!
//! Template: an archive (`NSKeyedArchiver`), a flat list of objects that name each
//! other by number. A dictionary in it has two lists, keys and values:
//!
//! ```text
//! $objects: … 8: {NS.keys: [9, …], NS.objects: [12, …]}  9: "shaderprofiler"  12: false  …  n: true
//!                                               └─ now n                                    └─ new
//! ```

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use plist::{Dictionary, Uid, Value};
use tempfile::NamedTempFile;

use crate::error::{Error, Result, file};

/// The switches. The first must be there; where one has no value (seen: a null),
/// its instrument has no such setting, and it is left alone.
const SWITCHES: [&str; 2] = ["shaderprofiler", "shaderprofilerinternal"];
/// Apple's template.
const STOCK: &str = "Metal System Trace.tracetemplate";
/// Where it is, in Instruments' own folder: now, and in older Xcodes.
const PLACES: [&str; 2] = [
    "Contents/Packages/GPU.instrdst/Contents/Templates",
    "Contents/Resources/templates",
];
/// Elsewhere it is looked for no further than this.
const DEEPEST: usize = 8;
const MOST_FOLDERS: usize = 5_000;
/// Apple's is a few hundred kilobytes.
const LARGEST: u64 = 16 << 20;

/// A changed copy, which is removed when this is dropped.
#[derive(Debug)]
pub struct Copy {
    file: NamedTempFile,
}

impl Copy {
    /// Makes one of the template that belongs to an `xctrace`.
    ///
    /// # Errors
    ///
    /// If it is not found, or has no such switches.
    pub fn of_template_of(xctrace: &Path) -> Result<Self> {
        let stock = find(xctrace)?;
        let facts = fs::metadata(&stock).map_err(file("read", &stock))?;
        if facts.len() > LARGEST {
            return Err(refused(&stock, "it is far too large"));
        }
        let bytes = fs::read(&stock).map_err(file("read", &stock))?;
        let switched = switch_on(&bytes).map_err(|why| refused(&stock, why))?;
        // Not under Apple's name: `xctrace` refuses that with exit code 30.
        let mut copy = tempfile::Builder::new()
            .prefix("metalens-shader-timeline-")
            .suffix(".tracetemplate")
            .tempfile()
            .map_err(file("create a file in", std::env::temp_dir()))?;
        let path = copy.path().to_owned();
        copy.write_all(&switched).map_err(file("write", path))?;
        Ok(Self { file: copy })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

fn refused(template: &Path, why: &str) -> Error {
    Error::ShaderTimeline(format!(
        "{}: {why}. In Instruments, switch Shader Timeline on in a Metal System Trace, save it as a \
         template, and give that with --template",
        template.display()
    ))
}

/// The template of the Xcode that an `xctrace` is part of.
fn find(xctrace: &Path) -> Result<PathBuf> {
    // Links lead to where it really is.
    let real = fs::canonicalize(xctrace).map_err(file("find", xctrace))?;
    let mut instruments = real
        .ancestors()
        .map(|folder| folder.join("Applications/Instruments.app"));
    let Some(instruments) = instruments.find(|folder| folder.is_dir()) else {
        return Err(Error::ShaderTimeline(format!(
            "{} is in no Xcode, so its template cannot be found",
            real.display()
        )));
    };
    let mut known = PLACES
        .iter()
        .map(|place| instruments.join(place).join(STOCK));
    let found = known.find(|path| path.is_file());
    found.or_else(|| search(&instruments)).ok_or_else(|| {
        Error::ShaderTimeline(format!(
            "there is no `{STOCK}` in {}",
            instruments.display()
        ))
    })
}

/// Anywhere in a folder, the nearest first; links are not followed.
fn search(root: &Path) -> Option<PathBuf> {
    let mut level = vec![root.to_owned()];
    let mut seen = 0;
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for folder in &level {
            seen += 1;
            let candidate = folder.join(STOCK);
            if candidate.is_file() {
                return Some(candidate);
            }
            if seen > MOST_FOLDERS {
                return None;
            }
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let folders = entries.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()));
            next.extend(folders.map(|one| one.path()));
        }
        // The same order on every disk.
        next.sort();
        level = next;
    }
    None
}

/// The same archive with the switches on; nothing else in it means anything else.
fn switch_on(template: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut archive =
        Value::from_reader(Cursor::new(template)).map_err(|_| "it is no property list")?;
    let objects = archive
        .as_dictionary_mut()
        .and_then(|top| top.get_mut("$objects"))
        .and_then(Value::as_array_mut)
        .ok_or("it is no archive")?;
    let places = places(objects);
    if !places.iter().any(|place| place.switch == SWITCHES[0]) {
        return Err("it has no switch for the Shader Timeline");
    }
    // A value of its own: what says `false` now may say it for others too.
    let on = Value::Uid(Uid::new(objects.len() as u64));
    objects.push(Value::Boolean(true));
    for place in places {
        let values = objects
            .get_mut(place.dictionary)
            .and_then(Value::as_dictionary_mut)
            .and_then(|dictionary| dictionary.get_mut("NS.objects"))
            .and_then(Value::as_array_mut);
        if let Some(value) = values.and_then(|values| values.get_mut(place.value)) {
            *value = on.clone();
        }
    }
    let mut switched = Vec::with_capacity(template.len());
    archive
        .to_writer_binary(&mut switched)
        .map_err(|_| "it cannot be written again")?;
    Ok(switched)
}

/// Where the value of a switch stands.
struct Place {
    switch: &'static str,
    dictionary: usize,
    value: usize,
}

fn places(objects: &[Value]) -> Vec<Place> {
    let mut all = Vec::new();
    let dictionaries = objects.iter().enumerate();
    let dictionaries = dictionaries.filter_map(|(at, one)| Some((at, one.as_dictionary()?)));
    for (dictionary, contents) in dictionaries {
        let (keys, values) = (list(contents, "NS.keys"), list(contents, "NS.objects"));
        for (value, (key, held)) in keys.iter().zip(values).enumerate() {
            let named = pointed(objects, key).and_then(Value::as_string);
            let switch = SWITCHES.into_iter().find(|one| named == Some(one));
            let is_switch = pointed(objects, held).and_then(Value::as_boolean).is_some();
            all.extend(switch.filter(|_| is_switch).map(|switch| Place {
                switch,
                dictionary,
                value,
            }));
        }
    }
    all
}

fn list<'a>(dictionary: &'a Dictionary, name: &str) -> &'a [Value] {
    let list = dictionary.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// What a value names, if it is the number of another; else itself.
fn pointed<'a>(objects: &'a [Value], value: &'a Value) -> Option<&'a Value> {
    match value.as_uid() {
        Some(uid) => objects.get(usize::try_from(uid.get()).ok()?),
        None => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(at: u64) -> Value {
        Value::Uid(Uid::new(at))
    }

    fn dictionary(pairs: &[(u64, u64)]) -> Value {
        let mut all = Dictionary::new();
        let side =
            |side: fn(&(u64, u64)) -> u64| pairs.iter().map(|pair| uid(side(pair))).collect();
        all.insert("NS.keys".to_owned(), Value::Array(side(|pair| pair.0)));
        all.insert("NS.objects".to_owned(), Value::Array(side(|pair| pair.1)));
        Value::Dictionary(all)
    }

    /// An archive as Apple's: one `false` and one `true`, which all share.
    fn template(names: [&str; 3], held: Value, internal: Value) -> Vec<u8> {
        let objects = vec![
            "$null".into(),                         // 0
            names[0].into(),                        // 1
            names[1].into(),                        // 2
            names[2].into(),                        // 3
            held,                                   // 4
            Value::Boolean(true),                   // 5
            dictionary(&[(1, 4), (3, 4), (2, 12)]), // 6
            dictionary(&[(3, 5)]),                  // 7
            Value::Data(vec![1, 2, 3]),             // 8
            Value::Real(2.5),                       // 9
            Value::Integer((-7).into()),            // 10
            Value::Integer(u64::MAX.into()),        // 11
            internal,                               // 12
        ];
        let mut top = Dictionary::new();
        top.insert("$archiver".to_owned(), "NSKeyedArchiver".into());
        top.insert("$objects".to_owned(), Value::Array(objects));
        top.insert("$version".to_owned(), 100_000.into());
        bytes(&Value::Dictionary(top))
    }

    fn bytes(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.to_writer_binary(&mut bytes).unwrap();
        bytes
    }

    fn parsed(bytes: &[u8]) -> Value {
        Value::from_reader(Cursor::new(bytes)).unwrap()
    }

    fn objects(archive: &mut Value) -> &mut Vec<Value> {
        let top = archive.as_dictionary_mut().unwrap();
        top.get_mut("$objects").unwrap().as_array_mut().unwrap()
    }

    const OFF: Value = Value::Boolean(false);
    const NAMES: [&str; 3] = [
        "shaderprofiler",
        "shaderprofilerinternal",
        "countersshaderprofiler",
    ];

    #[test]
    fn both_switches_and_nothing_else() {
        // Null, where an instrument has no such setting, is left alone.
        for (internal, then) in [(OFF, 13), (Value::Dictionary(Dictionary::new()), 12)] {
            let template = template(NAMES, OFF, internal);
            let mut expected = parsed(&template);
            let all = objects(&mut expected);
            all.push(Value::Boolean(true));
            all[6] = dictionary(&[(1, 13), (3, 4), (2, then)]);
            assert_eq!(parsed(&switch_on(&template).unwrap()), expected);
        }
        // Once more, they still are on.
        let template = template(NAMES, OFF, OFF);
        let switched = switch_on(&template).unwrap();
        let again = parsed(&switch_on(&switched).unwrap());
        let list = again.as_dictionary().unwrap()["$objects"]
            .as_array()
            .unwrap();
        for place in places(list) {
            let contents = list[place.dictionary].as_dictionary().unwrap();
            let value = &super::list(contents, "NS.objects")[place.value];
            assert_eq!(pointed(list, value), Some(&Value::Boolean(true)));
        }
    }

    #[test]
    fn what_is_no_template() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(switch_on(bytes).unwrap_err(), expected);
        };
        check(b"not a list", "it is no property list");
        check(&bytes(&Value::Array(Vec::new())), "it is no archive");
        let absent = "it has no switch for the Shader Timeline";
        let second = ["shaderprofilerinternal", "other", "another"];
        check(&template(second, OFF, OFF), absent);
        let none = ["Shaderprofiler", "other", "another"];
        check(&template(none, OFF, OFF), absent);
        check(&template(NAMES, "no".into(), OFF), absent);
    }

    /// An archive of Instruments' own, which has the same switches among 23,000
    /// objects: it is read and written whole.
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn a_real_archive() {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
        let folder = std::env::var_os("METALENS_REAL").map_or(beside, PathBuf::from);
        let file = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace/form.template";
        let Ok(template) = fs::read(folder.join(file)) else {
            eprintln!("skipped: no real recordings at hand (METALENS_REAL names their folder)");
            return;
        };
        let (mut before, mut after) = (parsed(&template), parsed(&switch_on(&template).unwrap()));
        let (before, after) = (objects(&mut before), objects(&mut after));
        assert_eq!(after.len(), before.len() + 1);
        let all = 0..before.len();
        let changed: Vec<usize> = all.filter(|&at| before[at] != after[at]).collect();
        let places = places(before);
        let expected: Vec<usize> = places.iter().map(|place| place.dictionary).collect();
        // One in the template, one in its run; the internal one is a null here.
        assert_eq!((changed.len(), changed), (2, expected));
    }

    #[test]
    fn where_the_template_is() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let developer = root.join("Xcode.app/Contents/Developer/usr/bin");
        let instruments = root.join("Xcode.app/Contents/Applications/Instruments.app");
        fs::create_dir_all(&developer).unwrap();
        let tool = developer.join("xctrace");
        fs::write(&tool, "").unwrap();
        let error = find(&tool).unwrap_err().to_string();
        assert!(error.contains("is in no Xcode"), "{error}");
        fs::create_dir_all(&instruments).unwrap();
        let error = find(&tool).unwrap_err().to_string();
        assert!(
            error.contains("there is no `Metal System Trace.tracetemplate` in"),
            "{error}"
        );
        let put = |place: &str| {
            let folder = instruments.join(place);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(STOCK), template(NAMES, OFF, OFF)).unwrap();
            assert_eq!(find(&tool).unwrap(), folder.join(STOCK));
        };
        // The known places come before what is found by searching.
        put("Contents/PlugIns/New.instrdst/Contents/Templates");
        put("Contents/Resources/templates");
        put("Contents/Packages/GPU.instrdst/Contents/Templates");

        let copy = Copy::of_template_of(&tool).unwrap();
        let name = copy
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(name != STOCK && name.ends_with(".tracetemplate"));
        let path = copy.path().to_owned();
        assert!(switch_on(&fs::read(&path).unwrap()).is_ok());
        drop(copy);
        assert!(!path.exists());
    }
}
