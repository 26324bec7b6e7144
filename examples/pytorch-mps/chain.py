#!/usr/bin/env python3
"""Run a chain of small steps with PyTorch and read a mean of each: at the end, or after every step."""

import argparse
import contextlib
import math
import time

import torch

TOLERANCE = 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--item", action="store_true", help="call .item() in every step, which waits for the GPU")
    parser.add_argument("--signposts", action="store_true", help="emit PyTorch's signposts during the steps")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--size", type=int, default=1 << 20, help="number of elements")
    parser.add_argument("--capture", metavar="NAME", help="capture two more steps to 0000-NAME.gputrace, at the end")
    options = parser.parse_args()

    device = "mps" if torch.backends.mps.is_available() else "cpu"
    if device == "cpu" and (options.signposts or options.capture):
        parser.error("--signposts and --capture need the device mps")
    start = torch.linspace(-1, 1, options.size, device=device)
    bias = torch.linspace(-0.5, 0.5, options.size, device=device)
    step(start, bias).mean().item()  # loads the kernels before the clock starts

    began = time.perf_counter()
    with torch.mps.profiler.profile(mode="interval") if options.signposts else contextlib.nullcontext():
        x, means = run(start, bias, options)
    took = time.perf_counter() - began

    check(x, options)
    how = ".item() per step" if options.item else "read at the end"
    print(f"{how} on {device}: {options.steps} steps, {options.size} elements, {took * 1e3:.1f} ms, mean {means[-1]:.6f}")
    if options.capture:
        capture(options.capture, lambda: step(step(x, bias), bias))


def step(x, bias):
    return torch.tanh(x * 1.25 + bias) * torch.sigmoid(x)


def run(x, bias, options):
    """Both ways compute the same. They differ in when the program asks for the means."""
    means = []
    for _ in range(options.steps):
        x = step(x, bias)
        mean = x.mean()
        means.append(mean.item() if options.item else mean)
    return x, means if options.item else torch.stack(means).tolist()


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


def capture(name, work):
    """Needs MTL_CAPTURE_ENABLED=1 from the start of the process, and a path that does not exist."""
    with torch.mps.profiler.metal_capture(name):
        work()
        torch.mps.synchronize()


if __name__ == "__main__":
    main()
