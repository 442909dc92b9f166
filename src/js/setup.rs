//! From the app's configuration to the engine's services.

use super::errors::faulty;
use crate::engine::ServiceSetup;
use crate::model::error::{Code, Error};
use crate::model::policy::Retention;
use crate::rules::composition::known;
use crate::rules::options::ServiceConfig;
use crate::rules::profile;

pub(super) fn service(config: ServiceConfig, retention: Retention) -> Result<ServiceSetup, Error> {
    let field = ["services.", config.name.as_str(), ".profile"].concat();
    let text = config.profile;
    let profile = profile::read(&text).map_err(|faults| {
        let error = faulty(Code::InvalidProfile, &faults);
        let pointer = error.field.unwrap_or_default().replace('/', ".");
        Error { field: Some([field.as_str(), &pointer].concat()), ..error }
    })?;
    known(&profile, &config.params).map_err(|fault| {
        let field = ["services.", config.name.as_str(), ".", &fault.field].concat();
        Error::input(field, fault.why)
    })?;
    Ok(ServiceSetup {
        name: config.name,
        profile,
        profile_text: text,
        base_url: config.base_url,
        origin: config.origin,
        derives_keys: config.derives_keys,
        params: config.params,
        retention,
        limits: config.limits,
    })
}
