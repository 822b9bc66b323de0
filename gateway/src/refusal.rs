//! Refusals as responses.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use deepseek_codec::json::Json;
use deepseek_codec::protocol::{Api, Dialect, Failure, RequestError};

/// Why a request gets no answer.
#[derive(Debug)]
pub enum Refusal {
    /// Its body.
    Request(RequestError),
    /// Something else.
    Failure(Failure, String),
}

impl Refusal {
    /// A failure with its text.
    pub fn failure(failure: Failure, message: impl Into<String>) -> Self {
        Self::Failure(failure, message.into())
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self, api: Api, dialect: Dialect) -> u16 {
        match self {
            Self::Request(error) => error.status(),
            Self::Failure(failure, _) => failure.status(api, dialect),
        }
    }

    /// The response in the API's own form.
    #[must_use]
    pub fn response(&self, api: Api, dialect: Dialect) -> Response {
        let body = match self {
            Self::Request(error) => error.body(api, dialect),
            Self::Failure(failure, message) => failure.body(api, dialect, message),
        };
        let status = StatusCode::from_u16(self.status(api, dialect)).unwrap_or_default();
        let mut response = json(status, &body);
        if matches!(self, Self::Failure(Failure::RateLimit | Failure::Overloaded, _)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

/// A response with this JSON.
#[must_use]
pub fn json(status: StatusCode, body: &Json) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
