//! Rules about the work: its size, its pattern, its speed.

use metalens_message::{
    Message, Ns, Share, Value, count, counted, kernel, message, moment, number, percent, ungrouped,
};

use super::evidence::{Evidence, bandwidth, is_share, matters, own_idle_ns, share_of};
use super::framework::Knob;
use super::rule::Rule;
use crate::report::{Effort, FrameworkName, Kernel, KernelSpills, Report, Severity, WorkRow};
use crate::subject::kernel_names::UNLABELED_BLIT;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "eager-execution",
        severity: Severity::High,
        effort: Effort::Redesign,
        title: "small kernels run one by one, as in eager execution",
        condition: eager_execution,
        action: "compile or fuse the chain of kernels",
        advice: "Compile or fuse the chain, so that intermediate results stay on the chip. Let \
             many kernels share a command buffer.",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                action: Some("mx.compile the step"),
                advice: "mx.compile the step.",
            },
            Knob {
                framework: FrameworkName::PyTorch,
                action: Some("try torch.compile, and compare the results"),
                advice: "torch.compile fuses, but is young on MPS: compare the results.",
            },
            Knob {
                framework: FrameworkName::Candle,
                action: Some("write the chain as one custom operation"),
                advice: "write the chain as one custom operation.",
            },
        ],
        counter_evidence: "A compiled run has just as many intervals. Then the chain cannot be \
                           fused, and only batching helps.",
        ..Rule::USUAL
    },
    Rule {
        id: "tiny-kernels",
        within: &["eager-execution", "many-encoders-per-buffer", "serialized"],
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "most GPU intervals are too short to be worth their submission",
        condition: tiny_kernels,
        action: "make fewer, larger dispatches",
        advice: "Make fewer and larger dispatches: fuse element-wise chains, give one \
             dispatch more elements, batch independent small problems into one grid.",
        counter_evidence: "Each interval is an encoder with many dispatches, so its length is not the \
             length of a kernel: rows of the shader profiler would show it.",
        ..Rule::USUAL
    },
    Rule {
        id: "many-encoders-per-buffer",
        within: &["queue-starved"],
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "command buffers hold dozens of tiny encoders",
        condition: many_encoders,
        action: "use one encoder for many dispatches",
        advice: "Each encoder costs its own setup and teardown on the GPU. Use one compute \
             encoder for a run of dispatches, with memoryBarrier between dependent ones, \
             instead of one encoder each.",
        counter_evidence: "With merged encoders, the command buffers take just as long.",
        ..Rule::USUAL
    },
    Rule {
        id: "transfers-dominate",
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "copies take much of the GPU time",
        condition: transfers_dominate,
        action: "use shared buffers in place instead of copies",
        advice: "CPU and GPU share memory. Use MTLStorageModeShared buffers in place instead \
             of copies, keep intermediate results where they are, and do not fill what \
             the next kernel overwrites.",
        counter_evidence: "The blits are not copies, but fills or mipmaps that the program needs.",
        ..Rule::USUAL
    },
    Rule {
        id: "small-transfers",
        severity: Severity::Low,
        effort: Effort::SmallChange,
        title: "the program makes many small copies",
        condition: small_transfers,
        action: "gather small copies into one",
        advice: "Gather small copies into one, or let the kernel read its arguments from a \
             shared buffer (setBytes for less than 4 KiB).",
        counter_evidence: "The copies do not move data between CPU and GPU; the work on the GPU \
                           needs them.",
        ..Rule::USUAL
    },
    Rule {
        id: "inefficient-kernels",
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "a kernel uses little of what the chip can do",
        condition: inefficient,
        action: "check its access pattern, occupancy and threadgroup size",
        advice: "By its declared work, this kernel uses little of the memory bandwidth and \
             little of the arithmetic of the chip. Look at its access pattern, its \
             occupancy and its threadgroup size in a GPU capture of Xcode.",
        counter_evidence: "The amounts in work.json are too small or incomplete (bytes without \
                           the flops that bound the kernel), or the work is so short that latency \
                           bounds it.",
        ..Rule::USUAL
    },
    Rule {
        id: "register-spills",
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "kernels spill registers to memory",
        condition: register_spills,
        action: "keep fewer values live at once in the kernels that spill",
        advice: "Keep fewer values live at once: smaller tiles, less unrolling, half instead of \
             float, no local array with a variable index. Fewer threads per threadgroup \
             (max_total_threads_per_threadgroup in the kernel) leave more registers to each.",
        counter_evidence: "The kernels take just as long without the spills.",
        ..Rule::USUAL
    },
    Rule {
        id: "outliers",
        severity: Severity::Low,
        effort: Effort::Investigate,
        title: "some GPU intervals take many times as long as others of the same kernel",
        condition: outliers,
        action: "look at what else runs during the longest intervals",
        advice: "Look at what else happens during them: page faults on first touch, other \
             processes on the GPU, a lower clock, or larger inputs under the same label.",
        counter_evidence: "The same label covers work of different sizes.",
        ..Rule::USUAL
    },
];

/// Submitting work shorter than this costs about as much as running it.
const SMALL_NS: Ns = Ns(20_000);
/// A pattern among fewer intervals may be chance.
const MANY: u64 = 100;

fn eager_execution(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.8;
    const NAMED: usize = 6;
    let intervals = report.counts.intervals;
    let is_small = |kernel: &&Kernel| kernel.p95_ns < SMALL_NS;
    let small = report.kernels.iter().filter(is_small);
    let small_intervals: u64 = small.clone().map(|kernel| kernel.instances).sum();

    let alone = report.shape.command_buffers.median_encoders == Some(1);
    let steps = report.steps.first()?;
    let kind = steps.kinds.first().filter(|kind| kind.intervals > 1)?;
    // One kernel per step leaves one stretch of idle time.
    let idle_ns = idle_of_intervals_ns(report);
    let saved_ns = idle_ns - idle_ns / kind.intervals;
    let fires = intervals >= MANY
        && alone
        && is_share(small_intervals, intervals, SHARE)
        && matters(saved_ns, report, 0.0);
    fires.then(|| {
        let names = small.take(NAMED).map(|small| kernel(&small.name));
        let text = message!(
            "{} of {} GPU intervals are of kernels with a 95th percentile below {}: {}; most command \
             buffers have one encoder, and most of the {} steps have {} intervals",
            count(small_intervals),
            count(intervals),
            SMALL_NS,
            Message::joined(names, ", "),
            count(steps.count),
            count(kind.intervals),
        );
        let place = kind.typical.as_ref().map(|typical| {
            message!("typical step: at {}", moment(typical.start_ns))
        });
        Evidence::new(text)
            .at(place)
            .saving_at_most(saved_ns, None)
    })
}

fn tiny_kernels(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.5;
    /// Idle time as a share of the GPU time: below it, submission costs little.
    const IDLE: f64 = 0.5;
    let short = &report.shape.short;
    let intervals = report.counts.intervals;
    let idle_ns = idle_of_intervals_ns(report);
    let fires = intervals >= MANY
        && is_share(short.count, intervals, SHARE)
        && is_share(idle_ns, report.busy.busy_ns, IDLE);
    let kernels = short.kernels.iter().map(|kernel| {
        message!(
            "{}: {} intervals, median {}",
            self::kernel(&kernel.name),
            count(kernel.instances),
            kernel.median_ns
        )
    });

    fires.then(|| {
        let text = message!(
            "{} of {} GPU intervals are shorter than {} and take {} of the GPU time; per interval \
             the GPU was idle for {} on average that fewer intervals would save",
            count(short.count),
            count(intervals),
            short.limit_ns,
            short.busy_ratio.map_or_else(|| "none".into(), percent),
            idle_ns / intervals.max(1),
        );
        Evidence::new(text)
            .at(kernels)
            .saving_at_most(idle_ns, None)
    })
}

/// Returns the idle time that grows with the number of GPU intervals. Where command buffers hold
/// several, that is their encoding and the gaps between them; the way of a buffer to the GPU and
/// back stays as long with fewer intervals in it.
fn idle_of_intervals_ns(report: &Report) -> Ns {
    let buffers = &report.shape.command_buffers;
    let parts = &report.idle.parts;
    // Nothing shows that idle time of unknown cause has to do with submissions: a window server
    // has little else.
    let known_ns = own_idle_ns(report).saturating_sub(parts.unknown_ns);

    if buffers.median_encoders.is_some_and(|median| median > 1) {
        known_ns.min(parts.encoding_ns + buffers.gaps_inside_ns)
    } else {
        known_ns
    }
}

fn many_encoders(report: &Report) -> Option<Evidence> {
    const ENCODERS: u64 = 32;
    let buffers = &report.shape.command_buffers;
    let median = buffers
        .median_encoders
        .filter(|&median| median >= ENCODERS)?;
    let mean_ns = report.busy.sum_ns / report.counts.intervals.max(1);
    (mean_ns < SMALL_NS).then(|| {
        let text = message!(
            "the median command buffer has {} encoders, the largest {}; the mean interval is {}, \
             and gaps inside command buffers sum to {}",
            ungrouped(median),
            ungrouped(buffers.max_encoders.unwrap_or(median)),
            mean_ns,
            buffers.gaps_inside_ns,
        );
        // No gain: part of the cost of an encoder is in its interval.
        Evidence::new(text).about(report.busy.busy_ns + buffers.gaps_inside_ns)
    })
}

fn is_transfer(kernel: &&Kernel) -> bool {
    kernel.channel.as_deref() == Some("Blit") || kernel.name == UNLABELED_BLIT
}

fn transfers_dominate(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.3;
    let transfers = report.kernels.iter().filter(is_transfer);
    let total_ns: Ns = transfers.clone().map(|kernel| kernel.total_ns).sum();
    let largest = transfers.take(3).map(|kernel| {
        message!(
            "{}: {} in {} intervals",
            self::kernel(&kernel.name),
            kernel.total_ns,
            count(kernel.instances)
        )
    });
    is_share(total_ns, report.busy.sum_ns, SHARE).then(|| {
        let text = message!(
            "blits take {} of the GPU time, {} of {}",
            share_of(total_ns, report.busy.sum_ns),
            total_ns,
            report.busy.sum_ns
        );
        // No gain: copies may be hidden behind other work, or cost a round trip each.
        Evidence::new(text)
            .at(largest)
            .about(total_ns.min(report.busy.busy_ns))
    })
}

fn small_transfers(report: &Report) -> Option<Evidence> {
    let transfers = report.kernels.iter().filter(is_transfer);
    let small: Vec<&Kernel> = transfers
        .filter(|kernel| kernel.med_ns < SMALL_NS)
        .collect();
    let instances: u64 = small.iter().map(|kernel| kernel.instances).sum();
    let total_ns: Ns = small.iter().map(|kernel| kernel.total_ns).sum();
    let others = report.counts.intervals > instances;
    (instances >= MANY && others).then(|| {
        let text = message!(
            "{} blits with a median below {} take {} of GPU time, and each is a submission of its \
             own",
            count(instances),
            SMALL_NS,
            total_ns,
        );
        Evidence::new(text).at(small.iter().take(3).map(|short| kernel(&short.name)))
    })
}

fn inefficient(report: &Report) -> Option<Evidence> {
    /// A mediocre kernel reaches this share of bandwidth or arithmetic.
    const LITTLE: Share = Share(0.2);
    /// A kernel below this share of the GPU time is not worth optimizing.
    const MATTERS: f64 = 0.1;
    let work = report.work.as_ref()?;

    let slow = work.rows.iter().filter(|row| {
        let shares = [row.bandwidth_share, row.peak_share];
        let mut known = shares.iter().flatten().peekable();
        known.peek().is_some() && known.all(|share| share.at_most < LITTLE)
    });
    let rows: Vec<&WorkRow> = slow
        .filter(|row| is_share(row.total_ns, report.busy.sum_ns, MATTERS))
        .collect();
    let first = rows.first()?;
    let rate = match (first.gpu_time.gb_per_s, first.gpu_time.tflop_per_s) {
        (Some(gb), Some(tflop)) => message!("{} and {}", bandwidth(gb), throughput(tflop)),
        (Some(gb), None) => bandwidth(gb),
        (None, Some(tflop)) => throughput(tflop),
        (None, None) => return None,
    };

    let limits = [
        (first.bandwidth_share, "bandwidth"),
        (first.peak_share, "peak arithmetic"),
    ];
    let shares = limits.into_iter().filter_map(|(share, of)| {
        Some(message!("at most {} of the chip's {}", share?.at_most, of))
    });
    let text = message!(
        "{} took {} of GPU time and reached {}: {}",
        kernel(&first.label),
        first.total_ns,
        rate,
        Message::joined(shares, " and "),
    );
    let total_ns: Ns = rows.iter().map(|row| row.total_ns).sum();
    Some(
        Evidence::new(text)
            .at(rows.iter().map(|row| kernel(&row.label)))
            .about(total_ns.min(report.busy.busy_ns)),
    )
}

fn throughput(tflop_per_s: f64) -> Message {
    number(
        format!("{tflop_per_s:.2} TFLOP/s"),
        tflop_per_s,
        |tflop_per_s| Value::Throughput { tflop_per_s },
    )
}

fn register_spills(report: &Report) -> Option<Evidence> {
    /// Less of the GPU time is not worth a change of the kernel.
    const SHARE: f64 = 0.05;
    let all_kernels = report.kernels.iter();
    let kernels = all_kernels.filter_map(|kernel| Some((kernel, kernel.spills?)));
    let mut spilling: Vec<(&Kernel, KernelSpills)> =
        kernels.filter(|(_, spills)| spills.instances > 0).collect();
    spilling.sort_by_key(|(_, spills)| std::cmp::Reverse(spills.total_ns));

    let (&(first, most), _) = spilling.split_first()?;
    let total_ns: Ns = spilling.iter().map(|(_, spills)| spills.total_ns).sum();
    let places = spilling.iter().take(3).map(|(kernel, spills)| {
        message!(
            "{}: up to {}, {} of {}, {}",
            self::kernel(&kernel.name),
            spills.max_bytes,
            count(spills.instances),
            counted(kernel.instances, "interval"),
            spills.total_ns,
        )
    });

    is_share(total_ns, report.busy.sum_ns, SHARE).then(|| {
        let text = message!(
            "GPU intervals with spilled registers take {} of the GPU time, {} of {}, in {}; {} \
             spills up to {}",
            share_of(total_ns, report.busy.sum_ns),
            total_ns,
            report.busy.sum_ns,
            counted(spilling.len() as u64, "kernel"),
            kernel(&first.name),
            most.max_bytes,
        );
        // No gain: the recording does not tell what the spills cost.
        Evidence::new(text)
            .at(places)
            .about(total_ns.min(report.busy.busy_ns))
    })
}

fn outliers(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.05;
    let judged = report.judged();
    let outliers = judged.outliers;
    let places = outliers.top.iter().take(3).map(|outlier| {
        message!(
            "{} at {}: {}, median {}",
            kernel(&outlier.name),
            moment(outlier.start_ns),
            outlier.duration_ns,
            outlier.median_ns
        )
    });
    is_share(outliers.excess_ns, judged.busy_ns, SHARE).then(|| {
        let whose = if outliers.count == 1 { "its" } else { "their" };
        let text = message!(
            "{} took {} more than the median of {} kernel; that is {} of the GPU time of {}",
            counted(outliers.count, "interval"),
            outliers.excess_ns,
            whose,
            share_of(outliers.excess_ns, judged.busy_ns),
            judged.busy_ns,
        );
        Evidence::new(text)
            .at(places)
            .saving_at_most(outliers.excess_ns, None)
    })
}
