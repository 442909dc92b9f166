//! The profiles that come with the package, by name.

/// Name and text.
const BUILT_IN: &[(&str, &str)] = &[
    ("azure-lro", include_str!("../../pkg-template/profiles/azure-lro.json")),
    ("google-lro", include_str!("../../pkg-template/profiles/google-lro.json")),
    ("http-async", include_str!("../../pkg-template/profiles/http-async.json")),
    ("cleanedweb", include_str!("../../pkg-template/profiles/cleanedweb.json")),
    ("replay", include_str!("../../pkg-template/profiles/replay.json")),
    ("runharvester", include_str!("../../pkg-template/profiles/runharvester.json")),
];

pub(super) fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}
