//! Captures the work of the device to a `.gputrace`, until the capture is dropped.
#![expect(
    unsafe_code,
    reason = "the shared manager may be used from one thread at a time"
)]

use std::path::Path;

use objc2::rc::Retained;
use objc2_foundation::NSURL;
use objc2_metal::{MTLCaptureDescriptor, MTLCaptureDestination, MTLCaptureManager};

use super::gpu::Gpu;
use crate::error::{Error, Result};

/// A running capture, which ends when it is dropped.
pub(super) struct Capture {
    manager: Retained<MTLCaptureManager>,
}

impl Capture {
    /// Starts a capture of all work of the device.
    pub(super) fn start(gpu: &Gpu, path: &Path) -> Result<Self> {
        let failed = |why: String| Error::Capture {
            path: path.to_owned(),
            why,
            hint: "start the process with MTL_CAPTURE_ENABLED=1, outside Xcode, and choose a folder that \
                   you may write to",
        };
        let url = NSURL::from_file_path(path)
            .ok_or_else(|| failed("the path is not UTF-8".to_owned()))?;
        // SAFETY: this crate uses the manager from this thread only, and only here.
        let manager = unsafe { MTLCaptureManager::sharedCaptureManager() };
        let document = MTLCaptureDestination::GPUTraceDocument;
        if !manager.supportsDestination(document) {
            return Err(failed(
                "Metal does not allow captures in this process".to_owned(),
            ));
        }

        let descriptor = MTLCaptureDescriptor::new();
        descriptor.set_capture_device(&gpu.device);
        descriptor.setDestination(document);
        descriptor.setOutputURL(Some(&url));

        manager
            .startCaptureWithDescriptor_error(&descriptor)
            .map_err(|error| failed(error.localizedDescription().to_string()))?;
        Ok(Self { manager })
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.manager.stopCapture();
    }
}
