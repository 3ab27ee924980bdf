use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueHint};

use binary::elf::{Edits, Rename, Rpath, RpathEdit};

/// Show, edit and compare ELF files outside of a build
///
/// Uses the editor of `rockpack build` for x86-64 and aarch64 libraries and dynamic executables. An
/// edit makes a new file.
#[derive(Debug, Args)]
pub struct ElfArgs {
    #[command(subcommand)]
    pub command: ElfCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum ElfCommand {
    Show(ShowArgs),
    Edit(EditArgs),
    Compare(CompareArgs),
}

/// Show the kind, names and needs of an ELF or PE file
///
/// Prints kind, machine, SONAME, NEEDED, RPATH and RUNPATH, interpreter, oldest sufficient glibc,
/// needed symbol versions, program headers, and invariants that the file breaks: an edit keeps
/// these broken, and breaks no other. For a PE file (Windows), prints kind, machine, name, imports
/// and delay imports.
///
/// Exit status: 0 shown, 1 neither ELF nor PE, cut short or malformed, 2 the file can't be read.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// File to show
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Print the facts that `rockpack plan` uses, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Write a copy of an ELF file with another rpath, SONAME, NEEDED or stack
///
/// All changes are one edit: OUT has all of them, or isn't written. With an rpath option, OUT has
/// RPATH and no RUNPATH. The result is checked against FILE before OUT appears.
///
/// FILE's bytes and holes keep their places, and the same edit of OUT changes nothing. OUT gets
/// FILE's permission bits (not set-user-id and the like) and replaces an existing file, except FILE
/// itself.
///
/// Exit status: 0 written, 1 the file can't be edited, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = EDIT_EXAMPLES)]
#[command(group = ArgGroup::new("changes").args(["rpath", "add_rpath", "convert_rpath", "soname", "rename_needed", "clear_execstack"]).required(true).multiple(true))]
#[command(group = ArgGroup::new("search path").args(["rpath", "add_rpath", "convert_rpath"]))]
pub struct EditArgs {
    /// File to read
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// File to write
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath, required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// Print the steps, check the result, and write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Set RPATH to exactly VALUE, directories separated by `:`; '' removes it
    #[arg(long, value_name = "VALUE", help_heading = "Changes")]
    rpath: Option<String>,

    /// Append directories to the rpath, without duplicates; may be repeated
    #[arg(long, value_name = "VALUE", help_heading = "Changes")]
    add_rpath: Vec<String>,

    /// Only turn RUNPATH into RPATH
    #[arg(long, help_heading = "Changes")]
    convert_rpath: bool,

    /// Set SONAME
    #[arg(long, value_name = "NAME", help_heading = "Changes")]
    soname: Option<String>,

    /// Rename a library in NEEDED and in the version needs; may be repeated
    #[arg(long, value_name = "FROM=TO", value_parser = parse_rename, help_heading = "Changes")]
    rename_needed: Vec<Rename>,

    /// Remove the request for an executable stack, unless the code has trampolines
    ///
    /// glibc 2.41 and later refuse to load a library with this request, in `GNU_STACK` or by its
    /// absence. Linkers write it for nested functions (trampolines), and for assembler sources
    /// without `.note.GNU-stack`. The edit proves that the file has no trampoline of GCC; code that
    /// the program itself writes to its stack can't be found.
    #[arg(long, help_heading = "Changes")]
    clear_execstack: bool,
}

/// Check an edited ELF file against its original
///
/// Works for edits by any tool: differences in rpath, SONAME and NEEDED, and a cleared request for
/// an executable stack, are the edit. Nothing else may differ. Each violation names its invariant (I1 to I18). An invariant that OLD already breaks
/// is a warning.
///
/// Exit status: 0 all invariants hold, 1 one is violated or OLD cannot be edited, 2 a file can't be
/// read.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// File before the edit
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub old: PathBuf,

    /// File after the edit
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub new: PathBuf,
}

const EDIT_EXAMPLES: &str = "\
Examples:
  Look for needed libraries beside the file and in the core package, nowhere else:
    rockpack elf edit libfoo.so.1 -o out/libfoo.so.1 --rpath '$ORIGIN:$ORIGIN/../../core/lib'

  Another name for a library, and for it in a library that needs it:
    rockpack elf edit libz.so.1 -o out/libz_private.so.1 --soname libz_private.so.1
    rockpack elf edit libfoo.so.1 -o out/libfoo.so.1 --rename-needed libz.so.1=libz_private.so.1

  A library that glibc 2.41 refuses to load for its executable stack:
    rockpack elf edit libfoo.so.1 -o out/libfoo.so.1 --clear-execstack

  The steps of an edit, without making it:
    rockpack elf edit libfoo.so.1 --add-rpath '$ORIGIN/../lib' --dry-run
";

impl EditArgs {
    /// Returns the requested edits. The editor checks the names.
    pub fn edits(&self) -> Edits {
        Edits {
            rpath: self.rpath_edit(),
            soname: self.soname.clone(),
            needed: self.rename_needed.clone(),
            clear_execstack: self.clear_execstack,
        }
    }

    fn rpath_edit(&self) -> RpathEdit {
        match &self.rpath {
            Some(value) => RpathEdit::Set(Rpath::new(value).to_strings()),
            None if self.convert_rpath => RpathEdit::Convert,
            None if self.add_rpath.is_empty() => RpathEdit::Keep,
            None => RpathEdit::Append(
                self.add_rpath.iter().flat_map(|value| Rpath::new(value).to_strings()).collect(),
            ),
        }
    }
}

fn parse_rename(text: &str) -> Result<Rename, &'static str> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok(Rename { from: from.to_owned(), to: to.to_owned() })
        }
        _ => Err("expected the old name, `=` and the new name"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn edits(arguments: &[&str]) -> Result<Edits, clap::Error> {
        let words = ["rockpack", "elf", "edit", "in", "-o", "out"];
        match Cli::try_parse_from(words.iter().chain(arguments))?.command {
            Command::Elf(ElfArgs { command: ElfCommand::Edit(args) }) => Ok(args.edits()),
            command => panic!("{command:?}"),
        }
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn each_option_is_one_edit() {
        let rpath = |arguments: &[&str]| edits(arguments).unwrap().rpath;
        assert_eq!(rpath(&["--rpath", "/a:/b"]), RpathEdit::Set(strings(&["/a", "/b"])));
        assert_eq!(rpath(&["--rpath", ""]), RpathEdit::Set(Vec::new()));
        assert_eq!(
            rpath(&["--add-rpath", "/a:/b", "--add-rpath", "/c"]),
            RpathEdit::Append(strings(&["/a", "/b", "/c"]))
        );
        assert_eq!(rpath(&["--convert-rpath"]), RpathEdit::Convert);
        let names = edits(&["--soname", "s", "--rename-needed", "a=b", "--rename-needed", "c=d=e"])
            .unwrap();
        let rename = |from: &str, to: &str| Rename { from: from.to_owned(), to: to.to_owned() };
        assert_eq!(
            names,
            Edits {
                rpath: RpathEdit::Keep,
                soname: Some("s".to_owned()),
                needed: vec![rename("a", "b"), rename("c", "d=e")],
                clear_execstack: false,
            }
        );
        assert!(edits(&["--clear-execstack"]).unwrap().clear_execstack);
    }

    #[test]
    fn refuses_empty_and_contradictory_edits() {
        for wrong in [
            &[][..],
            &["--rpath", "/a", "--add-rpath", "/b"],
            &["--convert-rpath", "--rpath", "/a"],
            &["--rename-needed", "a="],
        ] {
            assert!(edits(wrong).is_err(), "{wrong:?}");
        }
        assert!(
            Cli::try_parse_from(["rockpack", "elf", "edit", "in", "--rpath", "/a"]).is_err(),
            "an edit needs a file to write"
        );
        assert!(
            Cli::try_parse_from(["rockpack", "elf", "edit", "in", "--rpath", "/a", "--dry-run"])
                .is_ok()
        );
    }
}
