//! Compares the truth with timelines drawn by hand. A column is 10 us and the first one starts at
//! 100 us; `#` is a kick, `.` a gap, `e` an encoding on the host.

use metalens_simulator::{Channel, NamedBy, Scenario, Truth, truths};

/// Returns the truth of a process with these streams (TOML bodies), and of another process.
fn truth(target: &[&str], others: &str) -> Truth {
    let stream = |body: &&str| format!("[[process.stream]]\nstart = \"100us\"\n{body}\n");
    let streams: String = target.iter().map(stream).collect();
    let toml = format!(
        "[[process]]\nname = \"t\"\npid = 7\nrole = \"target\"\n{streams}\n\
         [[process]]\nname = \"o\"\npid = 8\n{others}"
    );
    let mut truths = truths(&Scenario::from_toml(&toml).unwrap()).unwrap();
    truths.remove(0)
}

/// Durations of zero for everything that a test does not name.
const QUICK: &str = "encode = \"10us\"\nlaunch = \"0us\"\ncompletion = \"0us\"";

/// With a wait after each dispatch, every gap consists of completion, host, encode and launch.
///
/// ```text
/// host  ee          ee          ee
/// GPU        ####........####........##
/// cause          ccheelll    ccheelll
/// ```
#[test]
fn serialized_gaps_divide_into_their_causes() {
    let stream = "count = 3\nduration = { cycle = [\"40us\", \"40us\", \"20us\"] }\n\
                  encode = \"20us\"\nlaunch = \"30us\"\ncompletion = \"20us\"\nhost = \"10us\"";
    let truth = truth(&[stream], "");
    let window = truth.window.unwrap();
    assert_eq!((window.start_ns, window.end_ns), (150_000, 410_000));
    assert_eq!(truth.busy.unwrap().busy_ns, 100_000);
    let gaps = truth.gaps.unwrap();
    assert_eq!(
        (gaps.count, gaps.total_ns, gaps.median_ns),
        (2, 160_000, Some(80_000))
    );
    let ledger = truth.idle.unwrap();
    assert_eq!((ledger.completion_ns, ledger.host_ns), (40_000, 20_000));
    assert_eq!(ledger.encoding_ns, 40_000);
    // The driver takes up a buffer after 1 us, and submits its encoder 1.5 us later.
    let after_commit = (
        ledger.driver_wait_ns,
        ledger.driver_ns,
        ledger.start_latency_ns,
    );
    assert_eq!(after_commit, (2_000, 3_000, 55_000));
    assert_eq!(ledger.submission_ns, 0);
    assert_eq!(
        (ledger.queued_ns, ledger.contention_ns, ledger.unknown_ns),
        (0, 0, 0)
    );
    assert_eq!(
        (ledger.serialized, ledger.joinable, ledger.pairs),
        (2, 2, 2)
    );
}

/// The encoders of one buffer are encoded long before, so that the gaps between them are queued.
///
/// ```text
/// host  eee
/// GPU      ####..####..####
/// ```
#[test]
fn gaps_inside_a_buffer_are_queued() {
    let stream =
        format!("count = 3\nsubmit = \"batched\"\nduration = \"40us\"\ngap = \"20us\"\n{QUICK}");
    let truth = truth(&[&stream], "");
    let ledger = truth.idle.unwrap();
    assert_eq!(
        (ledger.total_ns, ledger.queued_ns, ledger.serialized),
        (40_000, 40_000, 0)
    );
    assert_eq!(
        (truth.counts.encoders, truth.counts.command_buffers),
        (3, 1)
    );
}

/// Another process used the GPU for part of the queued time, and at the same time as the process.
///
/// ```text
/// t        ####....####....####
/// o         ####         ###
/// foreign      f         ff
/// ```
#[test]
fn queued_time_with_other_processes_is_foreign() {
    let stream =
        format!("count = 3\nsubmit = \"batched\"\nduration = \"40us\"\ngap = \"40us\"\n{QUICK}");
    let other = format!(
        "[[process.stream]]\ncount = 1\nstart = \"130us\"\nduration = \"40us\"\n{QUICK}\n\
                         [[process.stream]]\nchannel = \"Fragment\"\ncount = 1\nstart = \"260us\"\nduration = \"30us\"\n{QUICK}"
    );
    let truth = truth(&[&stream], &other);
    let busy = truth.busy.unwrap();
    assert_eq!(
        (busy.busy_ns, busy.others_busy_ns, busy.others_overlap_ns),
        (120_000, 70_000, 40_000)
    );
    assert_eq!(
        (busy.machine_busy_ns, busy.machine_active_ns),
        (150_000, 150_000)
    );
    let ledger = truth.idle.unwrap();
    assert_eq!((ledger.queued_ns, ledger.contention_ns), (50_000, 30_000));
    let shares: Vec<_> = truth
        .processes
        .iter()
        .map(|share| (share.name.as_str(), share.busy_ns))
        .collect();
    assert_eq!(shares, [("t", 120_000), ("o", 70_000)]);
}

/// Overlapping channels are counted once; touching rows leave no gap.
///
/// ```text
/// Vertex      ####...####
/// Fragment       ####....####
/// busy        ###############
/// ```
#[test]
fn overlap_is_counted_once_and_touching_leaves_no_gap() {
    let both = "count = 2\nsubmit = \"batched\"\nduration = \"40us\"\nencode = \"10us\"";
    let vertex = format!("{both}\nchannel = \"Vertex\"\ngap = \"30us\"\nlaunch = \"0us\"");
    let fragment = format!("{both}\nchannel = \"Fragment\"\ngap = \"40us\"\nlaunch = \"30us\"");
    let truth = truth(&[&vertex, &fragment], "");
    let busy = truth.busy.unwrap();
    assert_eq!((busy.busy_ns, busy.sum_ns), (150_000, 160_000));
    assert_eq!(truth.gaps.unwrap().count, 0);
    let channel = |channel: &Channel| (channel.name.clone(), channel.busy_ns);
    let channels: Vec<_> = truth.channels.iter().map(channel).collect();
    assert_eq!(
        channels,
        [
            ("Fragment".to_owned(), 80_000),
            ("Vertex".to_owned(), 80_000)
        ]
    );
}

/// The second pass of an encoder has the encoder's ids, and overlaps the first pass of the next.
///
/// ```text
/// Vertex      ########
/// Fragment        ############
/// ```
#[test]
fn a_second_pass_shares_its_encoder() {
    let stream = format!(
        "channel = \"Vertex\"\nthen = {{ channel = \"Fragment\", duration = \"60us\" }}\n\
                          count = 2\nsubmit = \"batched\"\nduration = \"40us\"\n{QUICK}"
    );
    let truth = truth(&[&stream], "");
    assert_eq!((truth.counts.intervals, truth.counts.encoders), (4, 2));
    let busy = truth.busy.unwrap();
    assert_eq!((busy.busy_ns, busy.sum_ns), (160_000, 200_000));
}

/// A preempted kick is two rows of one encoder, with a queued gap between them.
///
/// ```text
/// planned    ######
/// shown      ##...####
/// ```
#[test]
fn a_split_kick_is_two_rows_of_one_encoder() {
    let stream = format!(
        "count = 1\nduration = \"60us\"\noddities = {{ split-every = 1, split-hole = \"30us\" }}\n{QUICK}"
    );
    let truth = truth(&[&stream], "");
    assert_eq!((truth.counts.intervals, truth.counts.encoders), (2, 1));
    assert_eq!(truth.busy.unwrap().busy_ns, 60_000);
    assert_eq!(truth.gaps.unwrap().total_ns, 30_000);
    assert_eq!(truth.idle.unwrap().queued_ns, 30_000);
}

/// A gap stays unknown if a completion or an encoding is not in the recording.
///
/// ```text
/// GPU     ##.....##.....##.....##
/// lost          e        c     e
/// ```
#[test]
fn gaps_without_a_pair_are_unknown() {
    let stream = format!(
        "count = 4\nduration = \"20us\"\nhost = \"40us\"\n{QUICK}\n\
                          oddities = {{ lose-completion-every = 3, lose-encoder-every = 2 }}"
    );
    let truth = truth(&[&stream], "");
    let ledger = truth.idle.unwrap();
    assert_eq!((ledger.pairs, ledger.joinable), (3, 1));
    assert_eq!(
        (ledger.unknown_ns, ledger.host_ns, ledger.encoding_ns),
        (100_000, 40_000, 10_000)
    );
}

/// A kick without a process counts as work of others, although it is the process's.
///
/// ```text
/// rows     ##..??..##
/// ```
#[test]
fn unattributed_work_is_foreign() {
    let stream = format!(
        "count = 3\nsubmit = \"batched\"\nduration = \"20us\"\ngap = \"20us\"\n{QUICK}\n\
                          oddities = {{ unattributed-every = 2 }}"
    );
    let truth = truth(&[&stream], "");
    assert_eq!(
        (
            truth.counts.intervals,
            truth.counts.all_intervals,
            truth.counts.unattributed
        ),
        (2, 3, 1)
    );
    assert_eq!(truth.busy.unwrap().others_busy_ns, 20_000);
    let ledger = truth.idle.unwrap();
    assert_eq!((ledger.queued_ns, ledger.contention_ns), (40_000, 20_000));
}

/// Names come from the encoder, or the command buffer, or the channel.
#[test]
fn kernels_are_named_by_the_best_label() {
    let named = |body: &str| {
        let truth = truth(
            &[&format!(
                "count = 2\nsubmit = \"batched\"\nduration = \"20us\"\n{QUICK}\n{body}"
            )],
            "",
        );
        let kernels = truth.kernels.into_iter();
        kernels
            .map(|kernel| (kernel.name, kernel.named_by, kernel.instances))
            .collect::<Vec<_>>()
    };

    let kernel = |name: &str, by, n| vec![(name.to_owned(), by, n)];
    assert_eq!(
        named("encoder-label = \"mul\"\nbuffer-label = \"step\""),
        kernel("mul", NamedBy::EncoderLabel, 2)
    );
    assert_eq!(
        named("buffer-label = \"step\""),
        kernel("step", NamedBy::CommandBufferLabel, 2)
    );
    assert_eq!(named(""), kernel("(unlabeled Compute)", NamedBy::None, 2));
    assert_eq!(
        named(
            "encoder-label = [\"a\", \"b\"]\noddities = { coalesce-every = 1, coalesced-name = \"labels\" }"
        ),
        kernel("a & b", NamedBy::EncoderLabel, 1)
    );
    assert_eq!(
        named("oddities.coalesce-every = 1"),
        kernel("Coelasced 2 Encoders", NamedBy::EncoderLabel, 1)
    );
}

/// Warm-up and cycles determine the durations. Kernels of equal totals are ordered by name.
#[test]
fn kernel_figures_are_counted_from_their_rows() {
    let stream = format!(
        "count = 4\nsubmit = \"batched\"\nencoder-label = [\"a\", \"b\"]\n{QUICK}\n\
                          duration = {{ cycle = [\"10us\", \"30us\"] }}\nwarm-up = {{ first = 1, factor = 5 }}"
    );
    let truth = truth(&[&stream], "");
    let [a, b] = truth.kernels.as_slice() else {
        panic!("{:?}", truth.kernels)
    };
    assert_eq!(
        (b.name.as_str(), b.total_ns, b.med_ns),
        ("b", 60_000, 30_000)
    );
    assert_eq!((a.name.as_str(), a.total_ns), ("a", 60_000));
    assert_eq!(
        (a.min_ns, a.avg_ns, a.med_ns, a.p95_ns, a.max_ns),
        (10_000, 30_000, 10_000, 50_000, 50_000)
    );
}

/// A bin of the histogram goes from an edge up to, but not including, the next.
#[test]
fn a_gap_as_long_as_an_edge_belongs_above_it() {
    let stream = format!(
        "count = 4\nsubmit = \"batched\"\nduration = \"20us\"\n{QUICK}\n\
                          gap = {{ cycle = [\"999ns\", \"1us\", \"10ms\"] }}"
    );
    let gaps = truth(&[&stream], "").gaps.unwrap();
    let counts: Vec<u64> = gaps.histogram.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [1, 1, 0, 0, 0, 0, 1]);
    assert_eq!(gaps.below_1us, 1);
    assert_eq!(gaps.histogram.last().unwrap().to_ns, None);
}

/// A process that never reached the GPU has no window, and no figures.
#[test]
fn a_target_without_rows_has_no_window() {
    let truth = &truths(&Scenario::preset("no-target-rows").unwrap()).unwrap()[0];
    assert_eq!(truth.process.as_ref().map(|target| target.pid), Some(9001));
    assert!(
        truth.window.is_none()
            && truth.busy.is_none()
            && truth.gaps.is_none()
            && truth.idle.is_none()
    );
    assert_eq!(
        (truth.counts.intervals, truth.counts.all_intervals),
        (0, 35)
    );
    assert_eq!(truth.processes.len(), 2);
}
