/// Form of the files in a devel wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DevelLayout {
    /// One archive, expanded on first use.
    Archive,
    /// Members of the wheel; its archive has links and directories alone.
    Files,
}
