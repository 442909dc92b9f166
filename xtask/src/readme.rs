//! The README as the package ships it: the repository's, without what leads nowhere from there.
//! A picture that is not shipped is told in the words that stand for it.

/// What only those need who have the repository, from its heading to the licence.
const REPOSITORY_ONLY: [&str; 2] = ["## Work on it", "MIT OR Apache-2.0."];

/// Links to what the package has lead there; what it has not is text without a link.
pub(crate) fn shipped(readme: &str, has: impl Fn(&str) -> bool) -> String {
    let readme = without_repository(readme);
    let mut out = String::with_capacity(readme.len());
    let mut rest = readme.as_str();
    while let Some(start) = rest.find('[') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let Some((label, target, after)) = link(from) else {
            out.push('[');
            rest = &from[1..];
            continue;
        };
        let place = target.strip_prefix("pkg-template/").unwrap_or(target);
        if place.contains("://") || place.starts_with('#') || has(place) {
            out.push_str(&format!("[{label}]({place})"));
        } else {
            if out.ends_with('!') {
                out.pop();
            }
            out.push_str(label);
        }
        rest = after;
    }
    out + rest
}

fn without_repository(readme: &str) -> String {
    let [from, to] = REPOSITORY_ONLY.map(|text| readme.find(text));
    match (from, to) {
        (Some(from), Some(to)) if from < to => [&readme[..from], &readme[to..]].concat(),
        (Some(_) | None, Some(_) | None) => readme.to_owned(),
    }
}

/// The label and target of a link that begins here, and what comes after it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, after) = text.strip_prefix('[')?.split_once(']')?;
    let (target, after) = after.strip_prefix('(')?.split_once(')')?;
    Some((label, target, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_shipped(text: &str) -> String {
        shipped(text, |name| name == "index.d.ts")
    }

    #[test]
    fn a_link_to_what_is_shipped_leads_to_where_the_package_has_it() {
        assert_eq!(
            as_shipped("see [`types`](pkg-template/index.d.ts)."),
            "see [`types`](index.d.ts)."
        );
        assert_eq!(as_shipped("[here](https://a.example/b)"), "[here](https://a.example/b)");
    }

    #[test]
    fn a_link_to_what_is_not_shipped_is_text() {
        assert_eq!(as_shipped("[a page](tests/contracts) and a[0]"), "a page and a[0]");
    }

    #[test]
    fn a_picture_that_is_not_shipped_is_told_in_words() {
        assert_eq!(as_shipped("see:\n\n![Once.](www/a.svg)\n"), "see:\n\nOnce.\n");
    }

    #[test]
    fn what_needs_the_repository_is_left_out() {
        assert_eq!(
            as_shipped("one\n\n## Work on it\n\nmake\n\nMIT OR Apache-2.0.\n"),
            "one\n\nMIT OR Apache-2.0.\n"
        );
    }
}
