//! Tests the changes of templates with archives that are built here, and with a real one where there
//! is one. Python's `plistlib` reads what comes out too.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

/// Returns a template that has all settings.
pub(in super::super) fn template_for_test() -> Vec<u8> {
    bytes(&template(NAMES, [OFF, OFF]))
}

fn uid(at: u64) -> Value {
    Value::Uid(Uid::new(at))
}

fn dictionary(pairs: &[(u64, u64)]) -> Value {
    let mut all = Dictionary::new();
    let side = |side: fn(&(u64, u64)) -> u64| pairs.iter().map(|pair| uid(side(pair))).collect();
    all.insert("NS.keys".to_owned(), Value::Array(side(|pair| pair.0)));
    all.insert("NS.objects".to_owned(), Value::Array(side(|pair| pair.1)));
    Value::Dictionary(all)
}

/// Returns an archive like Apple's, with one `false` and one `true` that all settings share.
fn template(names: [&str; 3], [held, internal]: [Value; 2]) -> Value {
    archive(vec![
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
    ])
}

fn archive(objects: Vec<Value>) -> Value {
    let mut top = Dictionary::new();
    top.insert("$archiver".to_owned(), "NSKeyedArchiver".into());
    top.insert("$objects".to_owned(), Value::Array(objects));
    top.insert("$version".to_owned(), 100_000.into());
    Value::Dictionary(top)
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

/// Returns the objects that the settings of a dictionary refer to.
fn values(archive: &mut Value, at: usize) -> Vec<Value> {
    let all = objects(archive);
    let values = all[at].as_dictionary().unwrap()["NS.objects"]
        .as_array()
        .unwrap();
    let index = |value: &Value| usize::try_from(value.as_uid().unwrap().get()).unwrap();
    values
        .iter()
        .map(|value| all[index(value)].clone())
        .collect()
}

const OFF: Value = Value::Boolean(false);
const ON: Value = Value::Boolean(true);
const NAMES: [&str; 3] = [
    "shaderprofiler",
    "shaderprofilerinternal",
    "countersshaderprofiler",
];

fn null() -> Value {
    Value::Dictionary(Dictionary::new())
}

/// Checks the objects that are appended, the values of the dictionary after the change, and that all
/// else is as before.
#[test]
fn only_the_requested_settings_change() {
    let check = |template: &Value, new: &[Value], [first, other, internal]: [u64; 3]| {
        let mut expected = template.clone();
        let all = objects(&mut expected);
        all.extend(new.iter().cloned());
        all[6] = dictionary(&[(1, first), (3, other), (2, internal)]);
        assert_eq!(parsed(&patched(&bytes(template)).unwrap()), expected);
    };

    check(&template(NAMES, [OFF, OFF]), &[], [5, 4, 5]);
    // A null in the internal switch stays.
    check(&template(NAMES, [OFF, null()]), &[], [5, 4, 12]);
    // A `true` that is missing is appended.
    let mut without = template(NAMES, [OFF, OFF]);
    objects(&mut without)[5] = OFF;
    check(&without, &[ON], [13, 4, 13]);
}

/// A change that is there already changes nothing.
#[test]
fn changes_can_be_repeated() {
    let once = patched(&template_for_test()).unwrap();
    assert_eq!(patched(&once).unwrap(), once);
    assert_eq!(values(&mut parsed(&once), 6), [ON, OFF, ON]);
}

#[test]
fn templates_in_xml_become_binary() {
    let mut xml = Vec::new();
    let stock = template(NAMES, [OFF, OFF]);
    as_in_xml(&stock).to_writer_xml(&mut xml).unwrap();
    assert!(xml.starts_with(b"<?xml"));
    let mut changed = parsed(&patched(&xml).unwrap());
    assert_eq!(values(&mut changed, 6), [ON, OFF, ON]);
}

/// Writes references as `plutil` does, since XML has none.
fn as_in_xml(value: &Value) -> Value {
    match value {
        Value::Uid(uid) => {
            let pair = ("CF$UID".to_owned(), Value::Integer(uid.get().into()));
            Value::Dictionary([pair].into_iter().collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(as_in_xml).collect()),
        Value::Dictionary(all) => {
            let pairs = all
                .iter()
                .map(|(key, value)| (key.clone(), as_in_xml(value)));
            Value::Dictionary(pairs.collect())
        }
        other => other.clone(),
    }
}

#[test]
fn other_files_are_refused() {
    let check = |bytes: &[u8], expected: &str| {
        assert_eq!(patched(bytes).unwrap_err(), expected);
    };
    check(b"not a list", "it is not a property list");
    check(&bytes(&Value::Array(Vec::new())), "it is not an archive");
    let of = |names: [&str; 3], first: Value| bytes(&template(names, [first, OFF]));
    let absent = "it has no switch for the Shader Timeline";
    check(
        &of(["shaderprofilerinternal", "other", "another"], OFF),
        absent,
    );
    check(&of(["Shaderprofiler", "other", "another"], OFF), absent);
    check(&of(NAMES, "no".into()), absent);
}

/// A real archive of Instruments, which has the same switches among 23,000 objects: two references to
/// an object change, and no other object.
#[test]
fn a_real_archive() {
    let Some(folder) = metalens_testing::real_recordings() else {
        return;
    };
    let file = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace/form.template";
    let template = fs::read(folder.join(file)).unwrap();
    let changed = patched(&template).unwrap();
    let (mut before, mut after) = (parsed(&template), parsed(&changed));
    let (old, new) = (objects(&mut before).clone(), objects(&mut after).clone());
    assert_eq!(old.len(), new.len());
    let all = 0..old.len();
    let changed: Vec<usize> = all.filter(|&at| old[at] != new[at]).collect();
    // One is in the template, one in its run; the internal one is a null here.
    assert_eq!(changed.len(), 2);
    for at in changed {
        let pairs = values(&mut before, at)
            .into_iter()
            .zip(values(&mut after, at));
        let different: Vec<_> = pairs.filter(|(old, new)| old != new).collect();
        assert_eq!(different, [(OFF, ON)]);
    }
}

/// Python reads the changed templates, and finds the values that were asked for.
#[test]
#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
fn python_reads_the_same_values() {
    let script = "import plistlib, sys\n\
                  top = plistlib.loads(sys.stdin.buffer.read())\n\
                  all = top['$objects']\n\
                  print(*[all[uid.data] for uid in all[6]['NS.objects']], len(all))";
    let read = |list: &[u8]| {
        let python = std::env::var("METALENS_PYTHON").unwrap_or("python3".to_owned());
        let mut command = Command::new(python);
        command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        child.stdin.take().unwrap().write_all(list).unwrap();
        let output = child.wait_with_output().unwrap();
        Some(String::from_utf8(output.stdout).unwrap())
    };

    let stock = template_for_test();
    let Some(before) = read(&stock) else {
        println!("skipped: there is no python3");
        return;
    };
    assert_eq!(before, "False False False 13\n");
    let found = read(&patched(&stock).unwrap());
    assert_eq!(found.as_deref(), Some("True False True 13\n"));
}

/// An object of a random archive. References may lead anywhere.
fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<u64>().prop_map(|number| Value::Integer(number.into())),
        (-300_i64..300).prop_map(|number| Value::Integer(number.into())),
        (-1e6..1e6_f64).prop_map(Value::Real),
        ".{0,20}".prop_map(Value::String),
        prop::sample::select(NAMES.to_vec()).prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Data),
        (0_u64..400).prop_map(uid),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec(("[a-z.]{1,8}", inner), 0..4)
                .prop_map(|pairs| Value::Dictionary(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Among random objects, the wanted values change, and everything else stays.
    #[test]
    fn random_archives_keep_everything_else(others in prop::collection::vec(object(), 0..300)) {
        let mut before = template(NAMES, [OFF, OFF]);
        objects(&mut before).extend(others);
        let mut after = parsed(&patched(&bytes(&before)).unwrap());
        prop_assert_eq!(values(&mut after, 6), [ON, OFF, ON]);

        let (old, new) = (objects(&mut before).clone(), objects(&mut after).clone());
        prop_assert_eq!(new.len(), old.len());
        for at in (0..old.len()).filter(|&at| at != 6) {
            prop_assert_eq!(&old[at], &new[at]);
        }
    }

    /// No bytes make it panic.
    #[test]
    fn broken_templates_are_errors(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut template = template_for_test();
        let place = at.index(template.len());
        template[place] = byte;
        let _ = patched(&template);
        let _ = patched(&template[..cut.index(template.len())]);
    }
}
