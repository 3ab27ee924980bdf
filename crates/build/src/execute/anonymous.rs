use base::regular;

const LARGEST: u64 = 64 << 10;

/// Returns the anonymous memory of this process in bytes; 0 if the kernel does not report it.
pub(super) fn anonymous() -> u64 {
    let status = regular::read_to_string("/proc/self/status", LARGEST).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_written_memory() {
        let before = anonymous();
        let bytes = vec![7_u8; 64 << 20];
        assert!(anonymous() >= before + (60 << 20), "{before}");
        drop(std::hint::black_box(bytes));
    }
}
