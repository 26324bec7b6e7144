// The kernels of the workloads. Compiled when a workload starts; their names are
// the labels of the encoders that run them, so that a profiler that sees shaders
// and one that sees labels call them the same.
//
// Arguments: the arrays read, the array written, then the number of elements
// (matmul: of rows). Grids are whole threadgroups, so every kernel checks its end.

#include <metal_stdlib>

using namespace metal;

kernel void sin_f32(device const float *in [[buffer(0)]],
                    device float *out [[buffer(1)]],
                    constant uint &count [[buffer(2)]],
                    uint at [[thread_position_in_grid]])
{
    if (at < count) {
        out[at] = sin(in[at]);
    }
}

kernel void cos_f32(device const float *in [[buffer(0)]],
                    device float *out [[buffer(1)]],
                    constant uint &count [[buffer(2)]],
                    uint at [[thread_position_in_grid]])
{
    if (at < count) {
        out[at] = cos(in[at]);
    }
}

kernel void exp_f32(device const float *in [[buffer(0)]],
                    device float *out [[buffer(1)]],
                    constant uint &count [[buffer(2)]],
                    uint at [[thread_position_in_grid]])
{
    if (at < count) {
        out[at] = exp(in[at]);
    }
}

kernel void log_f32(device const float *in [[buffer(0)]],
                    device float *out [[buffer(1)]],
                    constant uint &count [[buffer(2)]],
                    uint at [[thread_position_in_grid]])
{
    if (at < count) {
        out[at] = log(in[at]);
    }
}

// The four above in one: one pass over memory instead of four.
kernel void sin_cos_exp_log_f32(device const float *in [[buffer(0)]],
                                device float *out [[buffer(1)]],
                                constant uint &count [[buffer(2)]],
                                uint at [[thread_position_in_grid]])
{
    if (at < count) {
        out[at] = log(exp(cos(sin(in[at]))));
    }
}

// STREAM's triad: two arrays read, one written, a multiplication and an addition.
kernel void triad_f32(device const float *left [[buffer(0)]],
                      device const float *right [[buffer(1)]],
                      device float *out [[buffer(2)]],
                      constant uint &count [[buffer(3)]],
                      uint at [[thread_position_in_grid]])
{
    if (at < count) {
        out[at] = left[at] + 3.0f * right[at];
    }
}

#define TILE 16u

// Square matrices by rows, in tiles that a threadgroup shares. Not fast, but of
// known work: 2 n^3 operations.
kernel void matmul_f32(device const float *left [[buffer(0)]],
                       device const float *right [[buffer(1)]],
                       device float *out [[buffer(2)]],
                       constant uint &rows [[buffer(3)]],
                       uint2 at [[thread_position_in_grid]],
                       uint2 in_tile [[thread_position_in_threadgroup]])
{
    threadgroup float left_tile[TILE][TILE];
    threadgroup float right_tile[TILE][TILE];
    float sum = 0.0f;
    for (uint tile = 0; tile < rows; tile += TILE) {
        uint column = tile + in_tile.x;
        uint row = tile + in_tile.y;
        left_tile[in_tile.y][in_tile.x] =
            (at.y < rows && column < rows) ? left[at.y * rows + column] : 0.0f;
        right_tile[in_tile.y][in_tile.x] =
            (row < rows && at.x < rows) ? right[row * rows + at.x] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < TILE; k++) {
            sum += left_tile[in_tile.y][k] * right_tile[k][in_tile.x];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (at.y < rows && at.x < rows) {
        out[at.y * rows + at.x] = sum;
    }
}
