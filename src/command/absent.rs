//! Commands of missing features.

#[cfg(not(feature = "projects"))]
pub mod projects {
    use crate::failure::{Failure, absent};

    pub fn run<T>(_: &T) -> Result<(), Failure> {
        Err(absent("projects").into())
    }
}

#[cfg(not(feature = "rewrite"))]
pub mod rewrite {
    use crate::failure::{Failure, absent};

    pub fn run<T>(_: &T) -> Result<(), Failure> {
        Err(absent("rewrite").into())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use crate::cli::Cli;
    use crate::failure::Failure;

    const LINES: [(&str, bool, &str); 7] = [
        ("projects", cfg!(feature = "projects"), "project list --sources s --version 1"),
        ("projects", cfg!(feature = "projects"), "project clone --sources s --version 1"),
        (
            "projects",
            cfg!(feature = "projects"),
            "plan --manifest built-in --artifact-dir none --sources .",
        ),
        (
            "projects",
            cfg!(feature = "projects"),
            "build --manifest built-in --artifact-dir none --sources . -o never",
        ),
        ("rewrite", cfg!(feature = "rewrite"), "wheel promote dist --to 1 -o never"),
        ("rewrite", cfg!(feature = "rewrite"), "wheel split a.whl -o never"),
        ("rewrite", cfg!(feature = "rewrite"), "help versions --release-type dev"),
    ];

    #[test]
    fn a_command_without_its_feature_names_it() {
        for (feature, _, line) in LINES.iter().filter(|(_, has, _)| !has) {
            let words = ["rockpack"].into_iter().chain(line.split(' '));
            let cli = Cli::read(words.map(OsString::from)).unwrap();
            let Err(Failure::Environment(problem)) = crate::command::run(&cli.command) else {
                panic!("{line} needs `{feature}`")
            };
            let text = problem.message();
            assert!(text.contains(&format!("without the feature `{feature}`")), "{line}: {text}");
            assert!(text.contains(&format!("`cargo build --features {feature}`")), "{text}");
        }
    }
}
