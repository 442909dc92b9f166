//! A copy of the crate with every change in it, and its test programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::find::{Change, find};
use super::render::{blamed, render, switch};
use crate::{
    lint,
    workspace::{Workspace, read, write},
};

/// How often what does not compile is left out.
const ROUNDS: u32 = 12;

/// What did not compile, for the next time: a file that stays the same is not built again.
const LEFT_OUT: &str = "left-out.json";

/// The rooms whose code is changed.
const ROOMS: [&str; 2] = ["src/rules", "src/engine"];

/// A change with its file and number.
pub(super) struct Mutant {
    pub(super) number: u32,
    /// Below the root, with slashes.
    pub(super) file: String,
    pub(super) change: Change,
}

/// What is changed, and what must stay.
pub(super) struct Copy<'w> {
    workspace: &'w Workspace,
    /// Where it lies.
    root: PathBuf,
    /// Names of functions that constants are made with.
    keep_const: BTreeSet<String>,
    /// What did not compile, by file and words with the place.
    left_out: BTreeSet<(String, usize, String)>,
    pub(super) mutants: Vec<Mutant>,
}

impl<'w> Copy<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Result<Self> {
        let root = workspace.path("target/mutants/crate");
        std::fs::create_dir_all(&root)?;
        for name in ["tests", "xtask", "pkg-template", "www", "clippy.toml"] {
            let link = root.join(name);
            if !link.exists() {
                std::os::unix::fs::symlink(workspace.path(name), link)?;
            }
        }
        let known = read(&root.join(LEFT_OUT)).unwrap_or_default();
        let (keep_const, left_out) = serde_json::from_str(&known).unwrap_or_default();
        Ok(Self { workspace, root, keep_const, left_out, mutants: Vec::new() })
    }

    /// Writes the copy and leaves out what does not compile, until all does.
    pub(super) fn compile(&mut self) -> Result<()> {
        for _ in 0..ROUNDS {
            self.write()?;
            let mut check = lint::cargo(self.workspace)?;
            check.args(["check", "--lib", "--package", "holdfast"]);
            let faults: Vec<Value> = messages(&mut self.placed(check)?)?
                .into_iter()
                .filter(|own| own["message"]["level"] == "error")
                .collect();
            println!("{} changes, {} do not compile", self.mutants.len(), faults.len());
            if faults.is_empty() {
                let known = serde_json::to_string(&(&self.keep_const, &self.left_out))?;
                return write(&self.root.join(LEFT_OUT), known);
            }
            let before = self.left_out.len() + self.keep_const.len();
            for fault in &faults {
                self.leave_out(&fault["message"])?;
            }
            if self.left_out.len() + self.keep_const.len() == before {
                bail!(
                    "{}",
                    faults
                        .iter()
                        .map(|own| own["message"]["rendered"].to_string())
                        .collect::<String>()
                );
            }
        }
        bail!("it still does not compile after {ROUNDS} rounds");
    }

    /// The test programs by name: the library's own is called `holdfast`.
    pub(super) fn programs(&self, names: &BTreeSet<&str>) -> Result<BTreeMap<String, PathBuf>> {
        let mut build = lint::cargo(self.workspace)?;
        build.args(["test", "--no-run", "--package", "holdfast", "--lib"]);
        build.args(names.iter().flat_map(|name| ["--test", name]));
        let programs: BTreeMap<String, PathBuf> = messages(&mut self.placed(build)?)?
            .iter()
            .filter(|own| own["profile"]["test"] == true)
            .filter_map(|own| {
                let name = own["target"]["name"].as_str()?;
                Some((name.to_owned(), PathBuf::from(own["executable"].as_str()?)))
            })
            .collect();
        anyhow::ensure!(programs.len() > names.len(), "the copy's tests do not compile");
        Ok(programs)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A command of cargo for the copy, which builds beside the workspace: cargo takes one for the other.
    fn placed(&self, mut command: Command) -> Result<Command> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.workspace.path("target"), PathBuf::from);
        command.current_dir(&self.root).args(["--message-format", "json"]);
        command.arg("--target-dir").arg(target.join("mutants")).stderr(Stdio::null());
        Ok(command)
    }

    fn write(&mut self) -> Result<()> {
        for name in ["Cargo.toml", "Cargo.lock"] {
            write(&self.root.join(name), read(&self.workspace.path(name))?)?;
        }
        self.mutants.clear();
        for file in files(&self.workspace.path("src"))? {
            let below = file.strip_prefix(self.workspace.root())?.to_string_lossy().into_owned();
            let text = read(&file)?;
            let text = if is_changed(&below) { self.changed(&below, text)? } else { text };
            self.put(&below, &text)?;
        }
        let lib = read(&self.workspace.path("src/lib.rs"))?;
        self.put("src/lib.rs", &(lib + &switch(self.mutants.len() + 1)))
    }

    /// What is the same stays untouched, so that cargo does not build it again.
    fn put(&self, below: &str, text: &str) -> Result<()> {
        let path = self.root.join(below);
        if read(&path).is_ok_and(|own| own == text) { Ok(()) } else { write(&path, text) }
    }

    fn changed(&mut self, file: &str, mut text: String) -> Result<String> {
        let found = find(&text, &self.keep_const).with_context(|| file.to_owned())?;
        for range in found.consts {
            text.replace_range(range.clone(), &" ".repeat(range.len()));
        }
        let first = self.mutants.len();
        for change in found.changes {
            let key = (file.to_owned(), change.range.start, change.what.clone());
            if !self.left_out.contains(&key) {
                let number = u32::try_from(self.mutants.len() + 1)?;
                self.mutants.push(Mutant { number, file: file.to_owned(), change });
            }
        }
        let own = self.mutants.iter().skip(first).map(|own| (own.number, &own.change));
        Ok(render(&text, &own.collect::<Vec<_>>()))
    }

    /// Leaves out what a compiler's message is about.
    fn leave_out(&mut self, message: &Value) -> Result<()> {
        if message["code"]["code"] == "E0015"
            && let Some(name) = message["message"].as_str().and_then(|text| text.split('`').nth(1))
        {
            self.keep_const.extend(name.rsplit("::").next().map(str::to_owned));
        }
        for span in message["spans"].as_array().into_iter().flatten() {
            let (Some(file), Some(at)) = (span["file_name"].as_str(), span["byte_start"].as_u64())
            else {
                continue;
            };
            if span["is_primary"] == true && is_changed(file) {
                let text = read(&self.root.join(file))?;
                let of_file: Vec<&Mutant> =
                    self.mutants.iter().filter(|own| own.file == file).collect();
                let numbers: Vec<u32> = of_file.iter().map(|own| own.number).collect();
                let blamed = blamed(&text, &numbers, usize::try_from(at)?);
                for own in of_file.iter().filter(|own| blamed.contains(&own.number)) {
                    let key = (file.to_owned(), own.change.range.start, own.change.what.clone());
                    self.left_out.insert(key);
                }
            }
        }
        Ok(())
    }
}

/// Whether a file's code is changed: the tests and the deliberate faults are not.
fn is_changed(below: &str) -> bool {
    ROOMS.iter().any(|room| below.starts_with(room))
        && !below.contains("tests")
        && !below.ends_with("teeth.rs")
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

/// What cargo says, line by line; that it fails is in what it says.
fn messages(command: &mut Command) -> Result<Vec<Value>> {
    let output = command.stdout(Stdio::piped()).output().context("cannot start cargo")?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
