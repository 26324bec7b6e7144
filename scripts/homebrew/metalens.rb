# A template of the Homebrew formula: .github/workflows/release.yml replaces each name between two @
# by a value of the release. The formula has not been used on a Mac yet.
class Metalens < Formula
  desc "Is my GPU busy, with what, and when it is idle, whose fault is that?"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@HOMEPAGE@/releases/download/v@VERSION@/metalens-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256_AARCH64_APPLE_DARWIN@"
    end
    on_intel do
      url "@HOMEPAGE@/releases/download/v@VERSION@/metalens-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256_X86_64_APPLE_DARWIN@"
    end
  end
  on_linux do
    on_arm do
      url "@HOMEPAGE@/releases/download/v@VERSION@/metalens-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256_AARCH64_UNKNOWN_LINUX_GNU@"
    end
    on_intel do
      url "@HOMEPAGE@/releases/download/v@VERSION@/metalens-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256_X86_64_UNKNOWN_LINUX_GNU@"
    end
  end

  def install
    bin.install Dir["bin/*"]
    pkgshare.install "skills"
    %w[metalens metalens-query].each do |program|
      bash_completion.install "completions/#{program}.bash" => program
      zsh_completion.install "completions/_#{program}"
      fish_completion.install "completions/#{program}.fish"
    end
  end

  test do
    system bin/"metalens", "synth", "eager", "-o", "demo.export"
    assert_match '"schema": "metalens.report/1"',
                 shell_output("#{bin}/metalens analyze demo.export --json")
    assert_match "interval_count",
                 shell_output("#{bin}/metalens query 'SELECT interval_count FROM runs' demo.export")
    assert_match "name: metalens", shell_output("#{bin}/metalens skill")
  end
end
