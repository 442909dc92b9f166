//! `tidy`: the rules of this repository that no other tool checks.

mod rooms;
mod text;

use std::{path::Path, process::Command};

use anyhow::{Result, bail};

use crate::{process, workspace::Workspace};

/// A tracked text file.
struct File {
    /// Below the root, with slashes.
    path: String,
    text: String,
}

impl File {
    /// The lines of code with their numbers: no comments, and no tests module at the end.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines_before_tests();
        (1..)
            .zip(self.text.lines().take(lines))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    fn lines_before_tests(&self) -> usize {
        let tests = self.text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        self.text.get(..tests).map_or(0, |before| before.lines().count())
    }

    /// The room of `src/` that the file is in.
    fn room(&self) -> Option<&str> {
        self.path.strip_prefix("src/")?.split_once('/').map(|(room, _)| room)
    }
}

/// Checks every tracked file; an error that lists what is out of order.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let files = tracked(workspace)?;
    let breaches: Vec<String> =
        files.iter().flat_map(|file| check(file, &files, workspace.root())).collect();
    if breaches.is_empty() {
        return Ok(());
    }
    bail!("{} untidy places\n{}", breaches.len(), breaches.join("\n"));
}

fn check(file: &File, all: &[File], root: &Path) -> Vec<String> {
    let mut breaches = rooms::imports(file);
    breaches.extend(rooms::bindings(file));
    breaches.extend(text::length(file));
    breaches.extend(text::private_paths(file, root));
    breaches.extend(text::registries(file));
    breaches.extend(text::services(file, &text::service_names(all)));
    breaches
}

fn tracked(workspace: &Workspace) -> Result<Vec<File>> {
    let mut git = Command::new("git");
    let list = process::output(git.current_dir(workspace.root()).args(["ls-files", "-z"]))?;
    Ok(list
        .split_terminator('\0')
        .filter_map(|path| {
            // What is no text (or deleted and not yet committed) has no rules here.
            let text = std::fs::read_to_string(workspace.path(path)).ok()?;
            Some(File { path: path.to_owned(), text })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        run(&Workspace::find().unwrap()).unwrap();
    }

    #[test]
    fn code_is_without_comments_and_without_the_tests_module() {
        let text = "a\n// b\nc\n#[cfg(test)]\nmod tests {\n  d\n}\n".to_owned();
        let file = File { path: "src/model/x.rs".to_owned(), text };
        let code: Vec<(usize, &str)> = file.code().collect();
        assert_eq!(code, [(1, "a"), (3, "c")]);
    }
}
