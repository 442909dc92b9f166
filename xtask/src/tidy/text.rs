//! What no tracked file says, and how long a file may be.

use std::path::Path;

use super::File;

/// Most lines of a source file, before its tests.
const SOURCE_LINES_MAX: usize = 350;

/// Most lines of the document that shows the whole.
const ARCHITECTURE_LINES_MAX: usize = 150;

/// A file that is too long to be read in one go.
pub(super) fn length(file: &File) -> Vec<String> {
    let (lines, most) = match file.path.as_str() {
        "ARCHITECTURE.md" => (file.text.lines().count(), ARCHITECTURE_LINES_MAX),
        path if path.ends_with(".rs") && !path.starts_with("tests/") => {
            (file.lines_before_tests(), SOURCE_LINES_MAX)
        }
        path if path.ends_with(".js") && path.starts_with("pkg-template/") => {
            (file.text.lines().count(), SOURCE_LINES_MAX)
        }
        _ => return Vec::new(),
    };
    if lines <= most {
        return Vec::new();
    }
    vec![format!("{}: {lines} lines, {most} at most", file.path)]
}

/// A path of the machine that a file was written on.
pub(super) fn private_paths(file: &File, root: &Path) -> Vec<String> {
    // Put together here, so that this file does not say them.
    let mut paths = ["root", "home", "Users"].map(|folder| format!("/{folder}/")).to_vec();
    paths.push(root.display().to_string());
    find(file, &paths, "a path of one machine")
}

/// The address of a package registry: a lockfile holds for every mirror.
pub(super) fn registries(file: &File) -> Vec<String> {
    let mut hosts = [("registry", "npmjs.org"), ("index", "crates.io"), ("static", "crates.io")]
        .map(|(name, domain)| format!("{name}.{domain}"))
        .to_vec();
    if file.path.ends_with("package-lock.json") {
        hosts.push("\"resolved\"".to_owned());
    }
    find(file, &hosts, "the address of a registry")
}

fn find(file: &File, needles: &[String], what: &str) -> Vec<String> {
    (1..)
        .zip(file.text.lines())
        .filter(|(_, line)| needles.iter().any(|needle| line.contains(needle.as_str())))
        .map(|(number, _)| format!("{}:{number}: {what}", file.path))
        .collect()
}

/// The services that there are profiles of.
pub(super) fn service_names(all: &[File]) -> Vec<String> {
    all.iter()
        .filter_map(|file| file.path.strip_prefix("pkg-template/profiles/")?.strip_suffix(".json"))
        .map(str::to_owned)
        .collect()
}

/// The code of a service's name: what a service does is in its profile, and only there.
pub(super) fn services(file: &File, names: &[String]) -> Vec<String> {
    let is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
    if !file.path.starts_with("src/") || is_test {
        return Vec::new();
    }
    file.code()
        .filter(|(_, line)| !line.contains("include_str!"))
        .filter(|(_, line)| names.iter().any(|name| holds(line, name)))
        .map(|(number, _)| format!("{}:{number}: the name of a service", file.path))
        .collect()
}

/// Whether a line holds a name in any case, and not only as the beginning of a longer word.
fn holds(line: &str, name: &str) -> bool {
    let lower = line.to_lowercase();
    let mut found = lower.match_indices(name);
    found.any(|(at, _)| {
        let next = line.get(at + name.len()..).and_then(|rest| rest.chars().next());
        !next.is_some_and(|next| next.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_long_source_file_is_found() {
        assert!(length(&file("src/model/a.rs", &"x\n".repeat(350))).is_empty());
        assert_eq!(length(&file("src/model/a.rs", &"x\n".repeat(351))).len(), 1);
    }

    #[test]
    fn a_long_tests_module_does_not_count() {
        let text = format!("x\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(400));
        assert!(length(&file("src/model/a.rs", &text)).is_empty());
    }

    #[test]
    fn a_long_architecture_is_found() {
        assert_eq!(length(&file("ARCHITECTURE.md", &"x\n".repeat(151))).len(), 1);
    }

    #[test]
    fn a_path_of_a_machine_is_found() {
        let text = format!("see /{}/me/x\nand /srv/build/y", "home");
        assert_eq!(private_paths(&file("README.md", &text), Path::new("/srv/build")).len(), 2);
    }

    #[test]
    fn a_registry_is_found() {
        let text = format!("https://registry.{}/x", "npmjs.org");
        assert_eq!(registries(&file("README.md", &text)).len(), 1);
    }

    #[test]
    fn an_address_in_a_lockfile_is_found() {
        let text = format!("\"{}\": \"https://example.com\"", "resolved");
        assert_eq!(registries(&file("tests/package-lock.json", &text)).len(), 1);
    }

    #[test]
    fn a_service_in_the_code_is_found() {
        let names = service_names(&[file("pkg-template/profiles/acme.json", "{}")]);
        assert_eq!(services(&file("src/rules/a.rs", "if name == \"Acme\" {"), &names).len(), 1);
        assert_eq!(services(&file("src/rules/a.rs", "struct AcmeModel;"), &names).len(), 1);
        assert!(services(&file("src/rules/a.rs", "let acmes = 1;"), &names).is_empty());
        let include = "include_str!(\"../profiles/acme.json\")";
        assert!(services(&file("src/js/a.rs", include), &names).is_empty());
    }
}
