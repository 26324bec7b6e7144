//! Writes the tables of the machine: its GPU and its processes.

use crate::optional::Optional;
use crate::sheet::{ACCELERATOR_ID, table};

table! {
    GPU_INFO: "metal-gpu-info", "Which GPUs there are.";
    |plan, _| for gpu in [&plan.gpu] => {
        "timestamp" "Timestamp" StartTime;
        "gpu-name" "GPU Name" ObjectLabel = gpu;
        "gpu-index" "GPU Index" Uint32 = 1_u64;
        "accelerator-id" "Accelerator ID" Uint64 = ACCELERATOR_ID;
        "mobile" "Mobile" Boolean = true;
    }
}

table! {
    PROCESS_INFO: "process-info", "Which processes were running.";
    |plan, _| for (index, process) in plan.indexed_processes() => {
        "time" "Timestamp" EventTime;
        "pid" "Process ID" Pid = process.pid;
        "unique-id" "Unique Process ID" Uint64 = process.pid;
        "process" "Process" Process = index;
        "process-name" "Process Name" String = &process.name;
    }
}
