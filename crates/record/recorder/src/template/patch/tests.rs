//! Tests the changes of templates with archives that are built here, and with a real one where there
//! is one. The `plist` crate and Python's `plistlib` read what comes out: two readers that share no
//! code with the change.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::super::change::Clock;
use super::*;

/// Returns a template that has all settings.
pub(in super::super) fn template_for_test() -> Vec<u8> {
    bytes(&template(NAMES, [OFF, OFF], [number(0), number(0)]))
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
fn template(names: [&str; 3], switches: [Value; 2], clock: [Value; 2]) -> Value {
    let ([held, internal], [state, state_internal]) = (switches, clock);
    archive(vec![
        "$null".into(),                                             // 0
        names[0].into(),                                            // 1
        names[1].into(),                                            // 2
        names[2].into(),                                            // 3
        held,                                                       // 4
        Value::Boolean(true),                                       // 5
        dictionary(&[(1, 4), (3, 4), (2, 12), (13, 15), (14, 16)]), // 6
        dictionary(&[(3, 5)]),                                      // 7
        Value::Data(vec![1, 2, 3]),                                 // 8
        Value::Real(2.5),                                           // 9
        Value::Integer((-7).into()),                                // 10
        Value::Integer(u64::MAX.into()),                            // 11
        internal,                                                   // 12
        "gpuperformancestate".into(),                               // 13
        "gpuperformancestateinternal".into(),                       // 14
        state,                                                      // 15
        state_internal,                                             // 16
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
const TIMELINE: TemplateChange = TemplateChange::ShaderTimeline;
const MAXIMUM: TemplateChange = TemplateChange::GpuClock(Clock::Maximum);

fn number(number: u64) -> Value {
    Value::Integer(number.into())
}

fn null() -> Value {
    Value::Dictionary(Dictionary::new())
}

/// Checks the objects that are appended, the values of the dictionary after the change, and that all
/// else is as before.
#[test]
fn only_the_requested_settings_change() {
    let check = |template: &Value, changes: &[TemplateChange], new: &[Value], then: [u64; 5]| {
        let mut expected = template.clone();
        let all = objects(&mut expected);
        all.extend(new.iter().cloned());
        let [first, other, internal, state, state_internal] = then;
        all[6] = dictionary(&[
            (1, first),
            (3, other),
            (2, internal),
            (13, state),
            (14, state_internal),
        ]);
        assert_eq!(
            parsed(&patched(&bytes(template), changes).unwrap()),
            expected
        );
    };

    let stock = template(NAMES, [OFF, OFF], [number(0), number(0)]);
    check(&stock, &[], &[], [4, 4, 12, 15, 16]);
    check(&stock, &[TIMELINE], &[], [5, 4, 5, 15, 16]);
    check(&stock, &[MAXIMUM], &[number(3)], [4, 4, 12, 17, 17]);
    check(
        &stock,
        &[TIMELINE, MAXIMUM],
        &[number(3)],
        [5, 4, 5, 17, 17],
    );
    for (clock, held) in [(Clock::Minimum, 1), (Clock::Medium, 2), (Clock::Default, 4)] {
        let change = [TemplateChange::GpuClock(clock)];
        check(&stock, &change, &[number(held)], [4, 4, 12, 17, 17]);
    }

    // A null in the companion of the Shader Timeline stays.
    let nulls = template(NAMES, [OFF, null()], [number(0), null()]);
    check(&nulls, &[TIMELINE], &[], [5, 4, 12, 15, 16]);
    check(&nulls, &[MAXIMUM], &[number(3)], [4, 4, 12, 17, 17]);
    // The wanted number is there, although no setting has it.
    let mut other = template(NAMES, [OFF, OFF], [number(0), number(0)]);
    objects(&mut other)[9] = number(3);
    check(&other, &[MAXIMUM], &[], [4, 4, 12, 9, 9]);
}

/// Returns the offsets at which two files of one size differ.
fn differences(one: &[u8], other: &[u8]) -> Vec<usize> {
    assert_eq!(one.len(), other.len());
    (0..one.len()).filter(|&at| one[at] != other[at]).collect()
}

#[test]
fn a_change_overwrites_two_references() {
    let stock = template_for_test();
    let changed = patched(&stock, &[TIMELINE]).unwrap();
    let differences = differences(&stock, &changed);
    assert_eq!(differences.len(), 2, "{differences:?}");
    // Both are in one list, five references long.
    assert!(differences[1] - differences[0] < 5, "{differences:?}");
}

/// A value that is appended leaves all bytes before the table of offsets, but for the references.
#[test]
fn an_appended_value_moves_nothing() {
    let stock = template_for_test();
    let changed = patched(&stock, &[MAXIMUM]).unwrap();
    let trailer = stock.last_chunk::<8>().unwrap();
    let table = usize::try_from(u64::from_be_bytes(*trailer)).unwrap();
    assert_eq!(differences(&stock[..table], &changed[..table]).len(), 2);
    assert_eq!(patched(&changed, &[MAXIMUM]).unwrap(), changed);
}

/// A change that is there already changes nothing.
#[test]
fn changes_can_be_repeated() {
    let once = patched(&template_for_test(), &[TIMELINE, MAXIMUM]).unwrap();
    assert_eq!(patched(&once, &[TIMELINE, MAXIMUM]).unwrap(), once);
    let found = values(&mut parsed(&once), 6);
    assert_eq!(found, [ON, OFF, ON, number(3), number(3)]);
}

#[test]
fn templates_in_xml_become_binary() {
    let mut xml = Vec::new();
    let stock = template(NAMES, [OFF, OFF], [number(0), number(0)]);
    as_in_xml(&stock).to_writer_xml(&mut xml).unwrap();
    assert!(xml.starts_with(b"<?xml"));
    let mut changed = parsed(&patched(&xml, &[TIMELINE, MAXIMUM]).unwrap());
    assert_eq!(values(&mut changed, 6), [ON, OFF, ON, number(3), number(3)]);
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
    let check = |bytes: &[u8], change: TemplateChange, expected: &str| {
        assert_eq!(patched(bytes, &[change]).unwrap_err(), expected);
    };
    check(b"not a list", TIMELINE, "it is not a property list");
    check(
        &bytes(&Value::Array(Vec::new())),
        TIMELINE,
        "it is not an archive",
    );
    let numbers = || [number(0), number(0)];
    let of = |names: [&str; 3], first: Value| bytes(&template(names, [first, OFF], numbers()));
    let absent = "it has no switch for the Shader Timeline";
    check(
        &of(["shaderprofilerinternal", "other", "another"], OFF),
        TIMELINE,
        absent,
    );
    check(
        &of(["Shaderprofiler", "other", "another"], OFF),
        TIMELINE,
        absent,
    );
    check(&of(NAMES, "no".into()), TIMELINE, absent);

    let absent = "it has no number for the GPU's performance state";
    for held in [null(), OFF, "0".into()] {
        let template = template(NAMES, [OFF, OFF], [held, number(0)]);
        check(&bytes(&template), MAXIMUM, absent);
    }
}

/// A list that two settings share is left alone: a change of one would change the other.
#[test]
fn shared_lists_are_refused() {
    let mut list = template_for_test();
    let structure = BinaryList::parse(&list).unwrap();
    let objects = Objects::find(&structure).unwrap();
    let two = |index: usize| {
        let Some(Object::Dictionary(found)) = structure.object(objects.elements.to[index]) else {
            panic!("no dictionary");
        };
        structure.value(&found, "NS.objects").unwrap()
    };
    // The second dictionary gets the values of the first.
    let (first, second) = (two(6), two(7));
    let at = list
        .windows(5)
        .position(|bytes| bytes[0] == 0xd2 && usize::from(bytes[4]) == second)
        .unwrap();
    list[at + 4] = first.to_le_bytes()[0];
    assert_eq!(
        patched(&list, &[TIMELINE]).unwrap_err(),
        "some of its settings share one list"
    );
}

/// References of one byte reach 256 objects, and no more.
#[test]
fn a_full_archive_is_refused_or_changed_without_a_new_object() {
    let mut full = template(NAMES, [OFF, OFF], [number(0), number(0)]);
    let size = |archive: &Value| BinaryList::parse(&bytes(archive)).unwrap().all().len();
    let missing = 255 - size(&full);
    let texts = (0..missing).map(|at| Value::String(format!("text {at}")));
    objects(&mut full).extend(texts);
    assert_eq!(size(&full), 255);
    let full = bytes(&full);
    assert_eq!(
        patched(&full, &[MAXIMUM]).unwrap_err(),
        "it has no room for another value"
    );
    assert_eq!(
        values(&mut parsed(&patched(&full, &[TIMELINE]).unwrap()), 6)[..1],
        [ON]
    );
}

/// A real archive of Instruments, which has the same switches among 23,000 objects: two references to
/// an object change, and no other byte. Its clock is a null.
#[test]
fn a_real_archive() {
    let Some(folder) = metalens_testing::real_recordings() else {
        return;
    };
    let file = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace/form.template";
    let template = fs::read(folder.join(file)).unwrap();
    let changed = patched(&template, &[TIMELINE]).unwrap();
    // One is in the template, one in its run; the internal one is a null here. A reference has two
    // bytes.
    let differences = differences(&template, &changed);
    assert!((2..=4).contains(&differences.len()), "{differences:?}");

    let (mut before, mut after) = (parsed(&template), parsed(&changed));
    let (old, new) = (objects(&mut before).clone(), objects(&mut after).clone());
    assert_eq!(old.len(), new.len());
    let all = 0..old.len();
    let changed: Vec<usize> = all.filter(|&at| old[at] != new[at]).collect();
    assert_eq!(changed.len(), 2);
    for at in changed {
        let pairs = values(&mut before, at)
            .into_iter()
            .zip(values(&mut after, at));
        let different: Vec<_> = pairs.filter(|(old, new)| old != new).collect();
        assert_eq!(different, [(OFF, ON)]);
    }
    let refused = patched(&template, &[MAXIMUM]).unwrap_err();
    assert_eq!(refused, "it has no number for the GPU's performance state");
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
    assert_eq!(before, "False False False 0 0 17\n");
    let check = |changes: &[TemplateChange], expected: &str| {
        let found = read(&patched(&stock, changes).unwrap());
        assert_eq!(found.as_deref(), Some(expected));
    };
    check(&[TIMELINE], "True False True 0 0 17\n");
    check(&[MAXIMUM], "False False False 3 3 18\n");
    check(&[TIMELINE, MAXIMUM], "True False True 3 3 18\n");
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
        let mut before = template(NAMES, [OFF, OFF], [number(0), number(0)]);
        objects(&mut before).extend(others);
        let binary = bytes(&before);
        let changed = match patched(&binary, &[TIMELINE, MAXIMUM]) {
            Ok(changed) => changed,
            Err(why) => {
                // Random lists can look like settings, and an archive can be full.
                prop_assert_eq!(why, "it has no room for another value");
                return Ok(());
            }
        };
        let mut after = parsed(&changed);
        let found = values(&mut after, 6);
        prop_assert_eq!(found, [ON, OFF, ON, number(3), number(3)]);

        let (old, new) = (objects(&mut before).clone(), objects(&mut after).clone());
        prop_assert!(new.len() == old.len() || new.len() == old.len() + 1);
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
        let _ = patched(&template, &[TIMELINE, MAXIMUM]);
        let _ = patched(&template[..cut.index(template.len())], &[TIMELINE]);
    }
}
