import Foundation
import Metal

final class CommandBufferLog {
    private let file: FileHandle, queue = DispatchQueue(label: "command-buffer-log")
    private var count = 0
    static func now() -> UInt64 { clock_gettime_nsec_np(CLOCK_UPTIME_RAW) }

    init(path: String, program: String) throws {
        FileManager.default.createFile(atPath: path, contents: nil)
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        write(["format": "command-buffer-log/1", "program": program, "pid": ProcessInfo.processInfo.processIdentifier])
    }

    private func write(_ line: [String: Any]) {
        guard var data = try? JSONSerialization.data(withJSONObject: line, options: [.sortedKeys]) else { return }
        data.append(10)
        file.write(data)
    }

    /// Call before `commit`.
    func follow(_ buffer: MTLCommandBuffer, encode: UInt64, kernels: [String: Int]) {
        let commit = Self.now()
        buffer.addCompletedHandler { done in
            let completed = Self.now()
            self.queue.async {
                self.count += 1
                self.write(["command_buffer": self.count, "encode": encode, "commit": commit, "completed": completed,
                            "gpu_start": UInt64(done.gpuStartTime * 1e9), "gpu_end": UInt64(done.gpuEndTime * 1e9),
                            "encoders": [["kind": "compute", "kernels": kernels]]])
            }
        }
    }

    func close() {
        queue.sync { write(["end": Self.now(), "command_buffers": count]) }
        try? file.close()
    }
}
