//! Runs a chain of small steps with candle and reads a mean of each: at the end, or after every step.
//!
//! `candle-chain [--read-each-step] [--steps N] [--size N]`

use std::error::Error;
use std::time::Instant;

use candle_core::{DType, Device, Tensor};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TOLERANCE: f64 = 1e-4;

struct Options {
    read_each_step: bool,
    steps: usize,
    size: usize,
}

impl Options {
    fn parse() -> Result<Self> {
        let mut options = Self {
            read_each_step: false,
            steps: 200,
            size: 1 << 20,
        };

        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--read-each-step" => options.read_each_step = true,
                "--steps" => options.steps = value()?.parse()?,
                "--size" => options.size = value()?.parse()?,
                other => return Err(format!("unknown argument: {other}").into()),
            }
        }
        if options.steps == 0 || options.size < 2 {
            return Err("--steps must be 1 or more, and --size 2 or more".into());
        }
        Ok(options)
    }
}

fn main() -> Result<()> {
    let options = Options::parse()?;
    let device = Device::metal_if_available(0)?;
    let start = line(-1.0, 1.0, options.size, &device)?;
    let bias = line(-0.5, 0.5, options.size, &device)?;

    // Loads the kernels before the clock starts.
    mean(&step(&start, &bias)?)?.to_scalar::<f32>()?;

    let began = Instant::now();
    let (last, means) = run(&start, &bias, &options)?;
    let took = began.elapsed();

    check(&last, &options)?;
    println!(
        "{} on the {}: {} steps, {} elements, {:.1} ms, mean {:.6}",
        if options.read_each_step {
            "read each step"
        } else {
            "read at the end"
        },
        if device.is_metal() { "GPU" } else { "CPU" },
        options.steps,
        options.size,
        took.as_secs_f64() * 1e3,
        means[means.len() - 1],
    );
    Ok(())
}

/// Returns this many numbers in equal steps from the first to the last.
fn line(from: f32, to: f32, size: usize, device: &Device) -> candle_core::Result<Tensor> {
    let unit = Tensor::arange(0u32, size as u32, device)?.to_dtype(DType::F32)?;
    unit.affine(f64::from(to - from) / (size - 1) as f64, f64::from(from))
}

/// tanh(1.25 x + bias) · sigmoid(x), with the sigmoid as (1 + tanh(x / 2)) / 2.
fn step(x: &Tensor, bias: &Tensor) -> candle_core::Result<Tensor> {
    let sigmoid = x.affine(0.5, 0.0)?.tanh()?.affine(0.5, 0.5)?;
    (x.affine(1.25, 0.0)? + bias)?.tanh()? * sigmoid
}

fn mean(x: &Tensor) -> candle_core::Result<Tensor> {
    x.mean(0)
}

/// Both ways compute the same. They differ in when the program asks for the means.
fn run(start: &Tensor, bias: &Tensor, options: &Options) -> Result<(Tensor, Vec<f32>)> {
    let mut x = start.clone();
    let mut waiting = Vec::new();
    let mut means = Vec::new();
    for _ in 0..options.steps {
        x = step(&x, bias)?;
        let mean = mean(&x)?;
        if options.read_each_step {
            means.push(mean.to_scalar()?);
        } else {
            waiting.push(mean);
        }
    }

    if !options.read_each_step {
        means = Tensor::stack(&waiting, 0)?.to_vec1()?;
    }
    Ok((x, means))
}

/// Compares three elements with the arithmetic of this processor.
fn check(last: &Tensor, options: &Options) -> Result<()> {
    let found = last.to_vec1::<f32>()?;
    for index in [0, options.size / 3, options.size - 1] {
        let ratio = index as f64 / (options.size - 1) as f64;
        let (mut expected, bias) = (2.0 * ratio - 1.0, ratio - 0.5);
        for _ in 0..options.steps {
            expected = (expected * 1.25 + bias).tanh() / (1.0 + (-expected).exp());
        }
        let found = f64::from(found[index]);
        if (found - expected).abs() > TOLERANCE || found.is_nan() {
            return Err(format!("element {index} is {found}, expected {expected}").into());
        }
    }
    Ok(())
}
