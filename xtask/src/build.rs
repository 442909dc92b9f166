//! `build`: the package's folder, ready to be imported, served or packed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::{Result, bail};

use crate::{
    bindgen, process, readme, scripts, single,
    wasm::{self, Toolchain},
    workspace::{Workspace, read, write},
};

/// Which of the two packages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Variant {
    /// What is published.
    Published,
    /// With named points at which a test harness can kill the process, and the behaviours of stores.
    FailPoints,
}

impl Variant {
    /// Where the package is assembled.
    pub(crate) fn folder(self, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Published => workspace.path("pkg"),
            Self::FailPoints => workspace.path("target/pkg-fail-points"),
        }
    }

    fn work_folder(self, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Published => workspace.path("target/bindgen"),
            Self::FailPoints => workspace.path("target/bindgen-fail-points"),
        }
    }
}

/// Builds a package and returns its folder, once in a run of this program: both variants are compiled
/// to one file, and each would be compiled anew after the other.
pub(crate) fn run(workspace: &Workspace, variant: Variant) -> Result<PathBuf> {
    static BUILT: Mutex<Vec<Variant>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.contains(&variant) {
        build(workspace, variant)?;
        built.push(variant);
    }
    Ok(variant.folder(workspace))
}

fn build(workspace: &Workspace, variant: Variant) -> Result<()> {
    let toolchain = Toolchain::find()?;
    let mut cargo = toolchain.release(workspace)?;
    if variant == Variant::FailPoints {
        cargo.args(["--features", "fail-points,conformance"]);
    }
    process::run(&mut cargo)?;
    let work = variant.work_folder(workspace);
    bindgen::generate(workspace, &wasm::module(workspace), &work)?;
    refuse_private_paths(workspace, &toolchain, &work.join("holdfast.wasm"))?;
    let folder = variant.folder(workspace);
    assemble(workspace, &work, &folder)?;
    if variant == Variant::Published {
        copy_entry(workspace, &folder, "extension.js", &workspace.path("www/extension/holdfast"))?;
    }
    Ok(())
}

/// Puts an entry of a package, and all that it imports, into a folder: an extension has no other place
/// to import it from, and a shop's review reads what is there.
fn copy_entry(workspace: &Workspace, package: &Path, entry: &str, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let mut names = scripts::imported(workspace, package, entry)?;
    names.push("holdfast.wasm".into());
    for name in names {
        write(&to.join(&name), std::fs::read(package.join(&name))?)?;
    }
    Ok(())
}

/// A published module names no folder of the machine that built it.
fn refuse_private_paths(workspace: &Workspace, toolchain: &Toolchain, module: &Path) -> Result<()> {
    let bytes = std::fs::read(module)?;
    for (folder, _) in toolchain.private_folders(workspace)? {
        let name = folder.to_string_lossy();
        if bytes.windows(name.len()).any(|window| window == name.as_bytes()) {
            bail!("the module names a folder of this machine: {name}");
        }
    }
    Ok(())
}

/// Puts the package together, and removes what an earlier one left.
fn assemble(workspace: &Workspace, work: &Path, folder: &Path) -> Result<()> {
    let mut wanted: Vec<(PathBuf, PathBuf)> = Vec::new();
    let template = workspace.path("pkg-template");
    let scripts = shrink_scripts(workspace, &template, work)?;
    for (source, below, end) in [
        (&template, "", ".d.ts"),
        (&template, "", ".schema.json"),
        (&template, "profiles", ".json"),
        (&scripts, "", ".js"),
        (&scripts, "profiles", ".js"),
    ] {
        for from in files(&source.join(below))? {
            let name = from.file_name().unwrap_or_default().to_owned();
            if name.to_string_lossy().ends_with(end) {
                wanted.push((from.clone(), folder.join(below).join(name)));
            }
        }
    }
    for name in ["SECURITY.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        wanted.push((workspace.path(name), folder.join(name)));
    }
    for name in ["glue.d.ts", "holdfast.wasm"] {
        wanted.push((work.join(name), folder.join(name)));
    }
    wanted.push((workspace.path("www/story.svg"), folder.join("story.svg")));
    let documents = documents(workspace, folder)?;
    let names: BTreeSet<PathBuf> = wanted
        .iter()
        .map(|(_, to)| to)
        .chain(documents.iter().map(|own| &own.to))
        .cloned()
        .collect();
    remove_others(folder, &names)?;
    for (from, to) in wanted {
        write_if_changed(&to, &std::fs::read(&from)?)?;
    }
    for Document { text, from, to } in documents {
        let place = to.strip_prefix(folder)?.to_string_lossy().replace('\\', "/");
        let text = readme::shipped(&text, from, &place, |place| {
            names.contains(&folder.join(place))
                || names.iter().any(|name| name.parent() == Some(&folder.join(place)))
        });
        write_if_changed(&to, text.as_bytes())?;
    }
    let manifest = read(&template.join("package.json"))?
        .replace("\"version\": \"0.0.0\"", &format!("\"version\": \"{}\"", workspace.version()));
    write_if_changed(&folder.join("package.json"), manifest.as_bytes())
}

/// A text for people, whose links are changed for the package.
struct Document {
    text: String,
    /// Its folder in the repository.
    from: &'static str,
    to: PathBuf,
}

/// The README, and the guides beside the types.
fn documents(workspace: &Workspace, folder: &Path) -> Result<Vec<Document>> {
    let text = read(&workspace.path("README.md"))?;
    let mut documents = vec![Document { text, from: "", to: folder.join("README.md") }];
    for file in files(&workspace.path("www/docs"))? {
        if file.extension().is_some_and(|end| end == "md") {
            let to = folder.join("docs").join(file.file_name().unwrap_or_default());
            documents.push(Document { text: read(&file)?, from: "www/docs", to });
        }
    }
    Ok(documents)
}

/// Minifies all that is script; returns the folder.
fn shrink_scripts(workspace: &Workspace, template: &Path, work: &Path) -> Result<PathBuf> {
    let small = work.join("scripts");
    if small.exists() {
        std::fs::remove_dir_all(&small)?;
    }
    scripts::minify(workspace, template, &small)?;
    scripts::minify(workspace, work, &small)?;
    let profiles = template.join("profiles");
    scripts::profiles(workspace, &profiles, &work.join("profiles"), &small.join("profiles"))?;
    single::bundle(workspace, &template.join("single"), &work.join("holdfast.wasm"), &small)?;
    Ok(small)
}

/// Removes what is not wanted, but the archive: that is `pack`'s to take away.
fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for below in ["", "profiles", "docs"] {
        let below = folder.join(below);
        if !below.is_dir() {
            continue;
        }
        for file in files(&below)? {
            if !wanted.contains(&file) && !is_archive(&file) {
                std::fs::remove_file(file)?;
            }
        }
    }
    Ok(())
}

/// Whether a file is a package that somebody may have installed from.
pub(crate) fn is_archive(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "tgz")
}

/// A file that stays the same keeps its time, so that what watches it sleeps on.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if std::fs::read(path).is_ok_and(|kept| kept == bytes) {
        return Ok(());
    }
    write(path, bytes)
}

/// The files of one folder, by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_leaves_the_archive_and_nothing_else_of_an_earlier_one() {
        let folder = std::env::temp_dir().join(format!("holdfast-build-{}", std::process::id()));
        for name in ["index.js", "old.js", "holdfast-0.1.0.tgz", "docs/old.md"] {
            write(&folder.join(name), "").expect("a file is written");
        }
        remove_others(&folder, &BTreeSet::from([folder.join("index.js")])).expect("they go");
        let left = files(&folder).expect("the folder is there");
        assert_eq!(left, [folder.join("holdfast-0.1.0.tgz"), folder.join("index.js")]);
        assert!(files(&folder.join("docs")).expect("so is the one below").is_empty());
        std::fs::remove_dir_all(folder).expect("it goes");
    }
}
