use build::provenance::{BuilderId, ProgramSources, Run};

/// Returns this run for a provenance statement. `build.rs` gives the program's sources.
pub fn run(builder: Option<&BuilderId>, invocation: Option<&str>) -> Run {
    Run {
        builder: builder.cloned().unwrap_or_default(),
        invocation: invocation.filter(|id| !id.is_empty()).map(str::to_owned),
        program: program(env!("ROCKPACK_SOURCE")),
    }
}

fn program(text: &str) -> ProgramSources {
    match text.split_once(' ') {
        Some(("commit", commit)) => ProgramSources::Commit(commit.to_owned()),
        Some(("sources", digest)) => ProgramSources::Digest(digest.to_owned()),
        _ => ProgramSources::Unknown,
    }
}
