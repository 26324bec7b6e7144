import json, os, threading, time

class CommandBufferLog:
    def __init__(self, path, program, **header):
        self.lock, self.count, self.file = threading.Lock(), 0, open(path, "w")
        self.write(format="command-buffer-log/1", program=program, pid=os.getpid(), **header)

    @staticmethod
    def now():
        clock = getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC)
        return time.clock_gettime_ns(clock)

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")

    def buffer(self, encode, commit, gpu_start, gpu_end, kernels):
        """Writes a command buffer that is complete; its GPU times are seconds, as Metal has them."""
        with self.lock:
            self.count += 1
            self.write(command_buffer=self.count, encode=encode, commit=commit,
                       gpu_start=round(gpu_start * 1e9), gpu_end=round(gpu_end * 1e9), completed=self.now(),
                       encoders=[{"kind": "compute", "kernels": kernels}])

    def phase(self, name, start):
        with self.lock:
            self.write(phase=name, start=start, end=self.now())

    def close(self):
        with self.lock:
            self.write(end=self.now(), command_buffers=self.count)
            self.file.close()
