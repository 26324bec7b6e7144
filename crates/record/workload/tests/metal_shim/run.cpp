// Runs the kernels of src/kernels.metal on the CPU, a thread for each of Metal's, and compares their
// results with plain loops. KERNELS is the path of the source.
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <metal_stdlib>

namespace metal {
float sin(float x) { return __builtin_sinf(x); }
float cos(float x) { return __builtin_cosf(x); }
float exp(float x) { return __builtin_expf(x); }
float log(float x) { return __builtin_logf(x); }

static std::barrier<> group(256);
void threadgroup_barrier(mem_flags) { group.arrive_and_wait(); }
} // namespace metal

// One group runs at a time, so that its threads share what is static.
#undef threadgroup
#define threadgroup static
#include KERNELS

typedef std::vector<float> Floats;

static const float PAST_THE_END = -7.0f;

static void check(const char *name, size_t at, double found, double expected)
{
    if (std::fabs(found - expected) > 1e-4 * (1.0 + std::fabs(expected))) {
        std::printf("%s: element %zu is %g, not %g\n", name, at, found, expected);
        std::exit(1);
    }
}

static Floats values(size_t count, float step)
{
    Floats all(count);
    for (size_t at = 0; at < count; at++) {
        all[at] = 0.1f + std::fmod(step * at, 1.0f);
    }
    return all;
}

// Runs a kernel on whole groups, which go past the end of the arrays.
template <typename Kernel, typename Expected>
static void elements(const char *name, Kernel run, Expected expected)
{
    const uint count = 1000;
    Floats in = values(1024, 0.37f), out(1024, PAST_THE_END);
    for (uint at = 0; at < 1024; at++) {
        run(in.data(), out.data(), count, at);
    }
    for (uint at = 0; at < 1024; at++) {
        check(name, at, out[at], at < count ? expected(in[at]) : PAST_THE_END);
    }
}

static void matmul(uint rows)
{
    const uint groups = (rows + 15) / 16;
    const size_t area = rows * rows, with_margin = 16 * groups * (16 * groups + 1);
    Floats left = values(area, 0.37f), right = values(area, 0.73f), out(with_margin, PAST_THE_END);
    std::vector<std::thread> threads;
    for (uint thread = 0; thread < 256; thread++) {
        threads.emplace_back([&, thread] {
            const uint2 in_tile = {thread % 16, thread / 16};
            for (uint group = 0; group < groups * groups; group++) {
                const uint2 at = {16 * (group % groups) + in_tile.x, 16 * (group / groups) + in_tile.y};
                matmul_f32(left.data(), right.data(), out.data(), rows, at, in_tile);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (size_t at = 0; at < with_margin; at++) {
        double sum = at < area ? 0.0 : PAST_THE_END;
        for (uint k = 0; at < area && k < rows; k++) {
            sum += double(left[at / rows * rows + k]) * right[k * rows + at % rows];
        }
        check("matmul_f32", at, out[at], sum);
    }
}

int main()
{
    elements("sin_f32", sin_f32, [](double x) { return std::sin(x); });
    elements("cos_f32", cos_f32, [](double x) { return std::cos(x); });
    elements("exp_f32", exp_f32, [](double x) { return std::exp(x); });
    elements("log_f32", log_f32, [](double x) { return std::log(x); });
    elements("sin_cos_exp_log_f32", sin_cos_exp_log_f32, [](double x) { return std::cos(std::sin(x)); });
    elements(
        "triad_f32",
        [](const float *in, float *out, const uint &count, uint at) {
            triad_f32(in, in, out, count, at);
        },
        [](double x) { return 4.0 * x; });
    for (uint rows : {16u, 17u, 33u, 48u}) {
        matmul(rows);
    }
}
