//! What a server answers for reasons that no body of a request shows: keys, limits, engines that fail.

use crate::json::Json;
use crate::output::named_kinds;

use super::error::openai_error;
use super::{Api, Dialect};

named_kinds! {
    /// Why a server does not answer a request, other than what [`ErrorKind`](super::ErrorKind) says.
    pub enum Failure {
        /// The key is missing or not known.
        Authentication = "authentication_error",
        /// There is nothing at this address.
        NotFound = "not_found_error",
        /// The address takes other methods.
        Method = "method_not_allowed",
        /// The body did not arrive as it should.
        Body = "invalid_request_error",
        /// The body took too long to arrive.
        Slow = "request_timeout",
        /// The body is too large.
        TooLarge = "request_too_large",
        /// This client sends too many requests.
        RateLimit = "rate_limit_error",
        /// There are too many requests of all clients.
        Overloaded = "overloaded_error",
        /// The answer took too long.
        Timeout = "timeout_error",
        /// The server or its engine failed.
        Server = "api_error",
    }
}

impl Failure {
    /// The HTTP status. Anthropic has one of its own for too many requests of all clients.
    #[must_use]
    pub const fn status(self, api: Api, dialect: Dialect) -> u16 {
        match (self, api, dialect) {
            (Self::Overloaded, Api::Messages, Dialect::Vendor) => 529,
            (Self::Body, ..) => 400,
            (Self::Authentication, ..) => 401,
            (Self::NotFound, ..) => 404,
            (Self::Method, ..) => 405,
            (Self::Slow, ..) => 408,
            (Self::TooLarge, ..) => 413,
            (Self::RateLimit, ..) => 429,
            (Self::Server, ..) => 500,
            (Self::Overloaded, ..) => 503,
            (Self::Timeout, ..) => 504,
        }
    }

    /// The body of the HTTP response, in the form of [`RequestError::body`](super::RequestError::body).
    ///
    /// ```
    /// use deepseek_codec::protocol::{Api, Dialect, Failure};
    ///
    /// let body = Failure::Overloaded.body(Api::Messages, Dialect::Vendor, "Try again later.");
    /// let text = r#"{"type":"error","error":{"type":"overloaded_error","message":"Try again later."}}"#;
    /// assert_eq!(body.to_string(), text);
    /// ```
    #[must_use]
    pub fn body(self, api: Api, dialect: Dialect, message: &str) -> Json {
        let kind = match (self, api, dialect) {
            (Self::Method | Self::Slow, ..) => "invalid_request_error",
            (_, Api::Messages, Dialect::Vendor) => self.as_str(),
            (Self::NotFound | Self::TooLarge, ..) => "invalid_request_error",
            (Self::Authentication, _, Dialect::Vendor) => "invalid_request_error",
            (Self::Overloaded | Self::Timeout | Self::Server, ..) => "server_error",
            _ => self.as_str(),
        };
        if (api, dialect) == (Api::Messages, Dialect::Vendor) {
            let error = Json::from([("type", kind.into()), ("message", message.into())]);
            return Json::from([("type", "error".into()), ("error", error)]);
        }
        let code = match (self, dialect) {
            (_, Dialect::Deepseek) => kind.into(),
            (Self::Authentication, Dialect::Vendor) => "invalid_api_key".into(),
            (Self::NotFound, Dialect::Vendor) => "unknown_url".into(),
            (Self::RateLimit, Dialect::Vendor) => "rate_limit_exceeded".into(),
            _ => Json::Null,
        };
        openai_error([
            ("message", message.into()),
            ("type", kind.into()),
            ("param", Json::Null),
            ("code", code),
        ])
    }
}

/// The answer to a request that only asks how many tokens its prompt has: `POST /v1/messages/count_tokens` and
/// `POST /v1/responses/input_tokens`. Chat Completions has no such request and gets the form of Messages.
#[must_use]
pub fn count_response(api: Api, tokens: u64) -> Json {
    match api {
        Api::Responses => {
            Json::from([("object", "response.input_tokens".into()), ("input_tokens", tokens.into())])
        }
        Api::Messages | Api::Chat => Json::from([("input_tokens", tokens.into())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_speak_the_language_of_their_api() {
        let show = |failure: Failure, api, dialect| {
            format!("{} {}", failure.status(api, dialect), failure.body(api, dialect, "no"))
        };
        let cases = [
            (
                Failure::Authentication,
                Api::Chat,
                Dialect::Vendor,
                r#"401 {"error":{"message":"no","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            ),
            (
                Failure::Authentication,
                Api::Messages,
                Dialect::Vendor,
                r#"401 {"type":"error","error":{"type":"authentication_error","message":"no"}}"#,
            ),
            (
                Failure::Authentication,
                Api::Messages,
                Dialect::Deepseek,
                r#"401 {"error":{"message":"no","type":"authentication_error","param":null,"code":"authentication_error"}}"#,
            ),
            (
                Failure::Overloaded,
                Api::Responses,
                Dialect::Vendor,
                r#"503 {"error":{"message":"no","type":"server_error","param":null,"code":null}}"#,
            ),
            (
                Failure::Method,
                Api::Messages,
                Dialect::Vendor,
                r#"405 {"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
            ),
            (
                Failure::RateLimit,
                Api::Chat,
                Dialect::Vendor,
                r#"429 {"error":{"message":"no","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}"#,
            ),
            (
                Failure::TooLarge,
                Api::Messages,
                Dialect::Vendor,
                r#"413 {"type":"error","error":{"type":"request_too_large","message":"no"}}"#,
            ),
        ];
        for (failure, api, dialect, wanted) in cases {
            assert_eq!(show(failure, api, dialect), wanted);
        }
    }
}
