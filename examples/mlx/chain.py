#!/usr/bin/env python3
"""Run a chain of small element-wise steps with MLX: eager, or with each step compiled into one kernel."""

import argparse
import math
import time

import mlx.core as mx

TOLERANCE = 1e-4


def step(x, bias):
    """Five element-wise operations: five kernels if they run one by one, one if compiled."""
    return mx.tanh(x * 1.25 + bias) * mx.sigmoid(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="compile each step with mx.compile")
    parser.add_argument("--no-wait", action="store_true", help="mx.async_eval per step, instead of mx.eval, which waits")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--size", type=int, default=1 << 20, help="number of elements")
    parser.add_argument("--capture", metavar="FILE.gputrace", help="capture two more steps for Xcode, at the end")
    options = parser.parse_args()

    run = mx.compile(step) if options.compile else step
    evaluate = mx.async_eval if options.no_wait else mx.eval
    start = mx.linspace(-1, 1, options.size)
    bias = mx.linspace(-0.5, 0.5, options.size)
    mx.eval(run(start, bias))  # compiles, and loads the kernels, before the clock starts

    began = time.perf_counter()
    x = start
    for _ in range(options.steps):
        x = run(x, bias)
        evaluate(x)
    mx.eval(x)
    took = time.perf_counter() - began

    check(x, options)
    how = "compiled" if options.compile else "eager"
    device = "GPU" if mx.default_device() == mx.gpu else "CPU"
    print(f"{how} on the {device}: {options.steps} steps, {options.size} elements, "
          f"{took * 1e3:.1f} ms, mean {mx.mean(x).item():.6f}")
    if options.capture:
        capture(options.capture, lambda: mx.eval(run(run(x, bias), bias)))


def check(x, options):
    """Compare three elements with Python's own arithmetic."""
    for index in (0, options.size // 3, options.size - 1):
        ratio = index / (options.size - 1)
        expected, bias = 2 * ratio - 1, ratio - 0.5
        for _ in range(options.steps):
            expected = math.tanh(expected * 1.25 + bias) / (1 + math.exp(-expected))
        found = x[index].item()
        if not abs(found - expected) <= TOLERANCE:
            raise SystemExit(f"error: element {index} is {found}, expected {expected}")


def capture(path, work):
    """Needs MTL_CAPTURE_ENABLED=1 from the start of the process, and a path that does not exist."""
    mx.metal.start_capture(path)
    work()
    mx.metal.stop_capture()


if __name__ == "__main__":
    main()
